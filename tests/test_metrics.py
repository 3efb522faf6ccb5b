"""metrics.py: perplexity, BLEU, BLEU by length, AER, against cases worked by hand."""

import math
from collections import Counter
from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attnmt import Pair, alignment_error_rate, bleu, bleu_by_length, greedy, perplexity
from attnmt.batches import make_batch
from attnmt.metrics import texts

# ------------------------------------------------------------------------------------ perplexity


def test_perplexity_is_the_exponential_of_the_mean_loss_per_token(sharp, corpus):
    total = tokens = 0
    for pair in corpus.test:
        batch = make_batch([pair], sharp.source_vocabulary, sharp.target_vocabulary)
        with torch.no_grad():
            total += float(sharp.token_losses(batch).sum())
        tokens += len(pair.target) + 1  # </s> is a token
    assert perplexity(sharp, corpus.test, batch_size=7) == pytest.approx(math.exp(total / tokens))


def test_perplexity_does_not_depend_on_batch_size(sharp, corpus):
    values = [perplexity(sharp, corpus.test, batch_size=size) for size in (1, 7, 50)]
    assert values == pytest.approx([values[0]] * 3, rel=1e-12)


def test_a_model_that_knows_nothing_is_as_perplexed_as_there_are_words(sharp, corpus):
    with torch.no_grad():
        sharp.decoder.W_o.weight.zero_()
        sharp.decoder.W_o.bias.zero_()
    assert perplexity(sharp, corpus.test) == pytest.approx(len(corpus.target_vocabulary))


def test_perplexity_of_nothing_is_refused(sharp):
    with pytest.raises(ValueError, match="at least one pair"):
        perplexity(sharp, [])


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
    return 100 * penalty * math.exp(sum(math.log(p) for p in precisions) / 4)


def test_bleu_is_papinenis():
    hypotheses = ["the small cat sat on the mat", "a dog runs over the green field today"]
    references = ["the small cat sat on a mat", "a dog runs across the green field"]
    score = bleu(hypotheses, references)
    assert score.score == pytest.approx(bleu_by_hand(hypotheses, references))
    assert score.sentences == 2


def test_bleu_is_of_the_corpus_not_the_mean_of_sentences():
    hypotheses = ["a b c d e", "a b c x y z u v w"]
    references = ["a b c d e", "a b c d e f g h i"]
    mean = sum(bleu([h], [r]).score for h, r in zip(hypotheses, references, strict=True)) / 2
    assert abs(bleu(hypotheses, references).score - mean) > 5


def test_case_counts_unless_it_is_told_not_to():
    assert bleu(["The cat sat down ."], ["the cat sat down ."]).score < 100
    lower = bleu(["The cat sat down ."], ["the cat sat down ."], lowercase=True)
    assert lower.score == pytest.approx(100)
    assert "case:lc" in lower.signature and "tok:13a" in lower.signature


def test_too_short_is_punished():
    score = bleu(["the small cat sat"], ["the small cat sat on the mat"])
    assert score.precisions == (100, 100, 100, 100)
    assert score.brevity_penalty == pytest.approx(math.exp(1 - 7 / 4))


def test_the_bootstrap_interval_holds_the_score():
    hypotheses = [f"the {n} cats sat on the mat" if n % 3 else "no" for n in range(60)]
    references = [f"the {n} cats sat on the mat" for n in range(60)]
    score = bleu(hypotheses, references, bootstrap=200)
    assert score.low < score.score < score.high
    assert bleu(hypotheses, references).low is None


def test_bad_input_to_bleu_is_named():
    with pytest.raises(TypeError, match="lists of sentences"):
        bleu("a cat", "a cat")
    with pytest.raises(ValueError, match="1 hypotheses for 2 references"):
        bleu(["a"], ["a", "b"])
    with pytest.raises(ValueError, match="there must be some"):
        bleu([], [])


def pair_of(length, reference):
    return Pair(("w",) * length, ("v",), "", reference)


def test_bleu_by_length_is_bleu_of_each_bucket():
    pairs = [pair_of(n, f"these are {n} of the words") for n in (3, 5, 6, 10, 99)]
    hypotheses = ["these are 3 of the words", "bad", *[p.target_text for p in pairs[2:]]]
    short, middle = bleu_by_length(hypotheses, pairs, edges=(1, 6, 11, 21))
    assert (short.shortest, short.longest, short.bleu.sentences) == (1, 5, 2)
    expected = bleu(hypotheses[:2], [p.target_text for p in pairs[:2]], lowercase=True)
    assert short.bleu.score == pytest.approx(expected.score)
    assert (middle.shortest, middle.longest, middle.bleu.sentences) == (6, 10, 2)
    assert middle.bleu.score == pytest.approx(100)


def test_bleu_by_length_needs_a_hypothesis_a_pair():
    with pytest.raises(ValueError, match="0 hypotheses for 1 pairs"):
        bleu_by_length([], [pair_of(3, "x")])


def test_texts_are_detokenised(corpus, sharp):
    (translation,) = greedy(sharp, [["w1"]])
    with_comma = replace(translation, words=["a", "dog", ",", "a", "cat", "."])
    assert texts(sharp, [with_comma]) == ["a dog, a cat."]


# ------------------------------------------------------------------------------------------- AER


def aligned(sure, possible=()):
    sure = frozenset(sure)
    return Pair(("a",) * 5, ("b",) * 5, "", "", sure, sure | frozenset(possible))


def test_aer_of_cases_worked_by_hand():
    pair = aligned({(0, 0), (1, 1)}, {(2, 2)})
    assert alignment_error_rate([{(0, 0), (1, 1)}], [pair]) == 0
    assert alignment_error_rate([{(3, 3), (4, 4)}], [pair]) == 1
    assert alignment_error_rate([{(0, 0), (1, 1), (2, 2)}], [pair]) == 0  # a possible link is free
    # A = {00, 22, 34}: |A & S| = 1, |A & P| = 2, |A| + |S| = 5
    assert alignment_error_rate([{(0, 0), (2, 2), (3, 4)}], [pair]) == pytest.approx(1 - 3 / 5)


def test_aer_is_over_all_links_not_a_mean_over_pairs():
    pairs = [aligned({(0, 0)}), aligned({(i, i) for i in range(4)})]
    assert alignment_error_rate([set(), set(pairs[1].sure)], pairs) == pytest.approx(1 - 8 / 9)


links = st.frozensets(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=8)


@given(st.lists(st.tuples(links.filter(bool), links, links), min_size=1, max_size=5))
def test_aer_against_counting_link_by_link(cases):
    pairs = [aligned(sure, possible) for sure, possible, _ in cases]
    hits = size = 0
    for pair, (_, _, predicted) in zip(pairs, cases, strict=True):
        for s in range(5):
            for t in range(5):
                if (s, t) in predicted:
                    hits += ((s, t) in pair.sure) + ((s, t) in pair.possible)
                size += ((s, t) in predicted) + ((s, t) in pair.sure)
    found = alignment_error_rate([predicted for _, _, predicted in cases], pairs)
    assert found == pytest.approx(1 - hits / size)
    assert 0 <= found <= 1


def test_aer_needs_known_alignments():
    with pytest.raises(ValueError, match="no known alignment"):
        alignment_error_rate([set()], [pair_of(3, "x")])
    with pytest.raises(ValueError, match="0 sets of links for 1 pairs"):
        alignment_error_rate([], [aligned({(0, 0)})])
