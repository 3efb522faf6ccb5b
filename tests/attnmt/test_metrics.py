"""metrics.py: perplexity, BLEU, chrF, BLEU by length, AER, against cases worked by hand."""

import math
import sys
from collections import Counter
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch
from conftest import batch_of
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU, CHRF

from attnmt import (
    Ensemble,
    Pair,
    alignment_error_rate,
    beam_search,
    bleu,
    bleu_by_length,
    luong,
    perplexity,
)
from attnmt.alignment import alignment_error_by_class, alignment_statistics
from attnmt.metrics import (
    bleu_by_protocol,
    bleu_statistics,
    chrf,
    chrf_of,
    chrf_statistics,
    paired_bootstrap,
    references,
    sentence_losses,
    texts,
    without_unknown,
)
from attnmt.pairs import Corpus, take_pairs
from attnmt.text.subwords import in_pieces

# ------------------------------------------------------------------------------------ perplexity


def test_perplexity_is_the_exponential_of_the_mean_loss_per_token(sharp, corpus):
    total = tokens = 0
    for pair in corpus.test:
        with torch.no_grad():
            total += float(sharp.token_losses(batch_of(sharp, [pair])).sum())
        tokens += len(pair.target) + 1  # </s> is a token
    for size in (7, 50):
        found = perplexity(sharp, corpus.test, batch_size=size)
        assert found == pytest.approx(math.exp(total / tokens), rel=1e-12)
    rows = sentence_losses(sharp, corpus.test, batch_size=5)  # in the order of the pairs
    assert rows.sum(axis=0) == pytest.approx([total, tokens])
    assert rows[:, 1].tolist() == [len(pair.target) + 1 for pair in corpus.test]


def test_a_perplexity_larger_than_any_number_is_infinite(sharp, corpus):
    with torch.no_grad():
        sharp.decoder.W_o.bias[0] = 1e4  # it is sure of padding
    assert perplexity(sharp, corpus.test) == math.inf


# ------------------------------------------------------------------------------------------ BLEU


def bleu_by_hand(hypotheses, references):
    """Papineni et al. 2002 over words split at spaces, without smoothing."""
    matched, proposed = [0] * 4, [0] * 4
    length = reference_length = 0
    for hypothesis, reference in zip(hypotheses, references, strict=True):
        h, r = hypothesis.split(), reference.split()
        length, reference_length = length + len(h), reference_length + len(r)
        for n in range(1, 5):
            ours = Counter(tuple(h[i : i + n]) for i in range(len(h) - n + 1))
            theirs = Counter(tuple(r[i : i + n]) for i in range(len(r) - n + 1))
            matched[n - 1] += sum(min(count, theirs[gram]) for gram, count in ours.items())
            proposed[n - 1] += sum(ours.values())
    precisions = [m / p for m, p in zip(matched, proposed, strict=True)]
    penalty = min(1.0, math.exp(1 - reference_length / length))
    score = 100 * penalty * math.exp(sum(math.log(p) for p in precisions) / 4)
    return score, [100 * p for p in precisions], penalty


@pytest.mark.parametrize("ending", ["", " this afternoon"], ids=["longer", "too short"])
def test_bleu_is_papinenis(ending):
    hypotheses = ["the small cat sat on the mat", "a dog runs over the green field today"]
    references = ["the small cat sat on a mat", "a dog runs across the green field" + ending]
    found = bleu(hypotheses, references)
    score, precisions, penalty = bleu_by_hand(hypotheses, references)
    assert found.score == pytest.approx(score)
    assert found.precisions == pytest.approx(precisions)
    assert found.brevity_penalty == pytest.approx(penalty)
    assert (penalty < 1) == bool(ending)
    assert (found.sentences, found.low, found.high) == (2, None, None)


def test_case_counts_unless_it_is_told_not_to():
    assert bleu(["The cat sat down ."], ["the cat sat down ."]).score < 100
    lower = bleu(["The cat sat down ."], ["the cat sat down ."], lowercase=True)
    assert lower.score == pytest.approx(100)
    assert "case:lc" in lower.signature and "tok:13a" in lower.signature


@pytest.mark.parametrize(("score", "metric"), [(bleu, BLEU), (chrf, CHRF)])
@pytest.mark.parametrize("resamples", [2, 39, 40])
def test_the_bootstrap_interval_is_that_of_resampling_by_hand(resamples, score, metric):
    """The mean of the resamples' scores, and half the range of the middle 95% on either side."""
    hypotheses = [f"the {n} cats sat on the mat" if n % 3 else "no" for n in range(60)]
    references = [f"the {n} cats sat on the mat" for n in range(60)]
    draws = np.random.default_rng(12345).choice(60, size=(resamples, 60), replace=True)
    scores = sorted(
        metric().corpus_score([hypotheses[k] for k in draw], [[references[k] for k in draw]]).score
        for draw in draws
    )
    half = (scores[-1 - resamples // 40] - scores[resamples // 40]) / 2
    found = score(hypotheses, references, bootstrap=resamples)
    assert found.low == pytest.approx(np.mean(scores) - half, abs=1e-5)
    assert found.high == pytest.approx(np.mean(scores) + half, abs=1e-5)


def pair_of(length, reference):
    return Pair(("w",) * length, ("v",), "", reference)


def test_bleu_by_length_is_bleu_of_each_bucket():
    pairs = [pair_of(n, f"these are {n} of the words") for n in (3, 5, 6, 10, 99)]
    hypotheses = ["these are 3 of the words", "bad", *[p.target_text for p in pairs[2:]]]
    short, middle = bleu_by_length(hypotheses, pairs, edges=(1, 6, 11, 21))
    assert (short.shortest, short.longest, short.bleu.sentences) == (1, 5, 2)
    assert short.bleu == bleu(hypotheses[:2], references(pairs[:2]), True, bootstrap=200)
    assert (middle.shortest, middle.longest, middle.bleu.sentences) == (6, 10, 2)
    assert middle.bleu.score == pytest.approx(100)


def test_bleu_of_words_is_that_of_words_as_they_are_parted(caplog):
    """What sacreBLEU would cut stays whole, and nothing is said of it."""
    ours, theirs = ["a red,hot house ."] * 120, ["a red , hot house ."] * 120
    words = bleu(ours, theirs, tokenised=True)
    assert words.precisions[:2] == pytest.approx([100 * 3 / 4, 100 * 1 / 3])
    counted = bleu_statistics(ours[:1], theirs[:1], tokenised=True)[0]
    assert counted.tolist() == [4, 6, 3, 1, 0, 0, 4, 3, 2, 1]
    assert "tok:none" in words.signature
    assert not caplog.records
    cut = bleu(ours[:9], theirs[:9])
    assert cut.score == pytest.approx(100)
    assert "tok:13a" in cut.signature


def test_bleu_of_words_by_length_compares_with_the_pairs_words():
    pairs = [Pair(("a",) * 3, ("b", ".", "-", "c"), "", "B.-c")]
    (bucket,) = bleu_by_length(["b . - c"], pairs, tokenised=True, bootstrap=2)
    assert bucket.bleu.score == pytest.approx(100)
    assert references(pairs) == ["B.-c"]
    assert references(pairs, tokenised=True) == ["b . - c"]


def pair(source, target):
    return Pair(tuple(source.split()), tuple(target.split()), source, target)


def test_without_unknown_are_the_pairs_whose_words_are_all_known(corpus):
    pairs = [pair("w1 w2", "v1"), pair("w1 new", "v1"), pair("w3", "v1 new"), pair("w4", "v4")]
    assert without_unknown(pairs, corpus) == [0, 3]
    assert without_unknown([pair("<unk>", "v1")], corpus) == []
    assert without_unknown(corpus.train, corpus) == list(range(len(corpus.train)))


# ----------------------------------------------------------------------------- two systems compared


def two_systems(better):
    """References, and two systems with mistakes of their own; the second makes fewer."""
    references = [f"sentence {n} has some words of its own , as number {n * n}" for n in range(20)]
    first = [r.replace("words", "work") if n % 2 else r for n, r in enumerate(references)]
    second = [r.replace("some", "sum") if n % better == 0 else r for n, r in enumerate(references)]
    return first, second, references


def test_the_p_value_is_that_of_resampling_by_hand():
    """Koehn 2004 as sacreBLEU does it: both systems on the same draws of the sentences."""
    first, second, references = two_systems(better=3)
    draws = np.random.default_rng(12345).choice(20, size=(200, 20), replace=True)
    differences = []
    for draw in draws:
        a, b, r = ([side[k] for k in draw] for side in (first, second, references))
        scores = [BLEU().corpus_score(side, [r]).score for side in (a, b)]
        differences.append(abs(scores[0] - scores[1]))
    found = paired_bootstrap(first, second, references, resamples=200)
    above = np.array(differences) - np.mean(differences) > abs(found.difference)
    assert found.p_value == pytest.approx((above.sum() + 1) / 201)
    assert 0.005 < found.p_value < 1
    scores = [bleu(side, references).score for side in (first, second)]
    assert (found.baseline, found.system) == pytest.approx(scores)
    assert found.difference == found.system - found.baseline > 0
    assert "bs:200|seed:12345|case:mixed" in found.signature


def test_a_target_without_spaces_is_parted_in_each_bucket_and_each_draw():
    lines = [f"我喜欢猫，他也喜欢狗{n}。" for n in range(4)]
    wrong = [line.replace("猫", "狗") for line in lines]
    expected = bleu(wrong, lines, tokeniser="zh").score
    pairs = [Pair(("cats",), (line,), "cats", line) for line in lines]
    (bucket,) = bleu_by_length(wrong, pairs, lowercase=False, bootstrap=2, tokeniser="zh")
    assert bucket.bleu.score == pytest.approx(expected) and expected > 50
    found = paired_bootstrap(wrong, lines, lines, resamples=10, tokeniser="zh")
    assert found.baseline == pytest.approx(expected)
    assert found.difference == pytest.approx(100 - expected)


@pytest.mark.parametrize("measure", [bleu, partial(paired_bootstrap, ["猫"])])
def test_a_tokeniser_without_its_library_is_told_in_one_line(measure, monkeypatch):
    monkeypatch.setitem(sys.modules, "MeCab", None)
    monkeypatch.delitem(sys.modules, "sacrebleu.tokenizers.tokenizer_ja_mecab", raising=False)
    with pytest.raises(ValueError, match=r"^sacreBLEU's tokeniser ja-mecab does not run here: .+$"):
        measure(["猫"], ["猫"], tokeniser="ja-mecab")


# ------------------------------------------------------------------------------------------- AER


def aligned(sure, possible=()):
    sure = frozenset(sure)
    return Pair(("a",) * 5, ("b",) * 5, "", "", sure, sure | frozenset(possible))


links = st.frozensets(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=8)


def aer_by_counting(pairs, predictions, word_class=None):
    """Every place of the table of links, one by one; None where there is nothing to count."""
    hits = size = 0
    for pair, predicted in zip(pairs, predictions, strict=True):
        for s in range(5):
            for t in range(5):
                if word_class is None or pair.classes[t] == word_class:
                    if (s, t) in predicted:
                        hits += ((s, t) in pair.sure) + ((s, t) in pair.possible)
                    size += ((s, t) in predicted) + ((s, t) in pair.sure)
    return 1 - hits / size if size else None


classes = st.tuples(*[st.sampled_from(["noun", "verb", "name"])] * 5)


@given(st.lists(st.tuples(links.filter(bool), links, links, classes), min_size=1, max_size=5))
def test_aer_against_counting_link_by_link(cases):
    pairs = [replace(aligned(s, p), classes=names) for s, p, _, names in cases]
    predictions = [predicted for _, _, predicted, _ in cases]
    found = alignment_error_rate(predictions, pairs)
    assert found == pytest.approx(aer_by_counting(pairs, predictions))
    assert 0 <= found <= 1
    in_sure, in_possible, predicted, sure = alignment_statistics(predictions, pairs).sum(axis=0)
    assert 1 - (in_sure + in_possible) / (predicted + sure) == pytest.approx(found)
    by_class = alignment_error_by_class(predictions, pairs)
    for word_class in ("noun", "verb", "name"):
        counted = aer_by_counting(pairs, predictions, word_class)
        assert by_class.get(word_class) == (counted if counted is None else pytest.approx(counted))
    assert list(by_class) == sorted(by_class)


def test_an_unknown_word_counts_as_one_word():
    """sacreBLEU's own tokeniser would cut it into three, and charge for each of them."""
    reference = ["the old man sleeps in the garden"]
    unknown, wrong = ["the old <unk> sleeps in the garden"], ["the old dog sleeps in the garden"]
    assert bleu(unknown, reference).score == bleu(wrong, reference).score
    assert bleu_statistics(unknown, reference)[0, 0] == 7
    compared = paired_bootstrap(unknown, wrong, reference, resamples=10)
    assert compared.difference == 0


def test_bleu_follows_from_what_is_counted_in_each_sentence():
    ours = ["a b c d e", "The cat, it sat.", "x <unk> y", "a b c d f g"]
    references = ["a b c d f", "the cat; it sat.", "x z y", "a b c d g"]
    for lowercase in (False, True):
        rows = bleu_statistics(ours, references, lowercase)
        assert rows.shape == (4, 10)
        for chosen in ([0, 1, 2, 3], [0, 0, 3], [1, 3]):
            one, other, *counts = rows[chosen].sum(axis=0).tolist()
            score = BLEU.compute_bleu(counts[:4], counts[4:], one, other, "exp").score
            by_package = bleu([ours[k] for k in chosen], [references[k] for k in chosen], lowercase)
            assert score == pytest.approx(by_package.score)


CHRF_CASES = (
    ["The cat sits.", "a <unk> dog", "", "ab", "völlig falsch", "the same"],
    ["the cat sat", "a small dog", "the cat", "a", "", "the same"],
)


@pytest.mark.parametrize("lowercase", [False, True])
def test_chrf_is_sacrebleus_and_follows_from_what_is_counted_in_each_sentence(lowercase):
    """Also where a side is empty, or shorter than an n-gram."""
    rows = chrf_statistics(*CHRF_CASES, lowercase)
    assert rows.shape == (6, 18)
    for chosen in ([0, 1, 2, 3, 4, 5], [0, 0, 3], [2], [3, 4]):
        ours, theirs = ([side[k] for k in chosen] for side in CHRF_CASES)
        expected = CHRF(lowercase=lowercase).corpus_score(ours, [theirs])
        found = chrf(ours, theirs, lowercase)
        assert found.score == pytest.approx(expected.score)
        assert chrf_of(rows[chosen].sum(axis=0)) == pytest.approx(expected.score)
    assert ("case:lc" in found.signature) == lowercase and "nc:6|nw:0" in found.signature
    assert chrf_of(np.stack([rows[:2].sum(axis=0), 0 * rows[0]])).tolist() == [
        pytest.approx(chrf(*(side[:2] for side in CHRF_CASES), lowercase).score),
        0,
    ]


# --------------------------------------------------------------------------- BLEU by protocol

RAW = [
    ("Anna's Hund schläft, oder?", "Anna's dog sleeps, doesn't it?"),
    ("Der alte Mann sieht Anna.", "The old man sees Anna."),
    ("Peter mag keine Hunde.", "Peter doesn't like dogs."),
]


@pytest.mark.parametrize("subwords", [None, 45])
@pytest.mark.parametrize("lower", [True, False])
def test_each_protocol_is_sacrebleus(lower, subwords):
    """Words are joined from pieces before they are counted; an ensemble is measured alike."""
    pairs = take_pairs(RAW, ("de", "en"), lower, max_length=50, report={})
    plain = Corpus("tiny", "de", "en", pairs, pairs, pairs, vocabulary_size=50, lower=lower)
    cut = in_pieces(plain, subwords)
    model = Ensemble([luong(cut, hidden=8, seed=seed) for seed in (0, 1)])
    found = beam_search(model, [pair.source for pair in cut.test])
    # what an untrained model writes has no n-gram of the reference, so give it some
    found = [replace(one, words=list(pair.target)[:-2]) for one, pair in zip(found, cut.test)]
    *printed, words = bleu_by_protocol(model, found, plain.test, words=True)
    theirs = [english for _, english in RAW]
    ours = texts(model, found)
    expected = [BLEU(lowercase=True)] if lower else [BLEU(lowercase=True), BLEU()]
    assert [one.score for one in printed] == [
        metric.corpus_score(ours, [theirs]).score for metric in expected
    ]
    assert ["case:lc" in one.signature for one in printed] == [True, False][: len(expected)]
    joined = [list(one.words) for one in found]
    if subwords:
        joined = ["".join(one).replace("▁", " ").split() for one in joined]
    wanted = [[" ".join(pair.target) for pair in plain.test]]
    by_words = BLEU(lowercase=True, tokenize="none").corpus_score(
        [" ".join(one) for one in joined], wanted
    )
    assert words.score == by_words.score > 0
    assert "tok:none" in words.signature


# ------------------------------------------------------------------------------------- bad input

UNALIGNED = pair_of(3, "x")
ALIGNED = aligned({(0, 0)})


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: perplexity(None, []), "at least one pair"),
        (lambda: bleu([], []), "there must be some"),
        (lambda: bleu(np.array(["a"]), np.array(["a", "b"])), "1 hypotheses for 2 ref"),
        (lambda: chrf("a cat", "a cat"), "lists of sentences"),
        (lambda: paired_bootstrap(["a", "b"], ["a"], ["a", "b"]), "1 hypotheses for 2 ref"),
        (lambda: alignment_error_rate([set()], [UNALIGNED]), "no known alignment"),
        (lambda: alignment_error_rate([], [ALIGNED]), "0 sets of links for 1 pairs"),
        (lambda: alignment_error_rate([], []), "no links"),
        (lambda: alignment_error_by_class([set()], [ALIGNED]), "no word classes"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call()
