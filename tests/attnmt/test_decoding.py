"""decoding.py: search against plain loops and brute force; ensembles, alignments, unknown words."""

import itertools
import math

import numpy as np
import pytest
import torch
from conftest import FAMILY, sharpened

from attnmt import Corpus, Pair, Vocabulary, decoding
from attnmt.batches import make_batch, pad
from attnmt.decoding import Ensemble, Translation, beam_search, force_align, greedy, replace_unknown
from attnmt.metrics import perplexity
from attnmt.model import luong, rnnencdec, rnnsearch, sutskever
from attnmt.vocab import BOS, EOS, PAD, UNK

KINDS = [
    "rnnencdec",
    "sutskever",
    "rnnsearch",
    "luong dot global",
    "luong general local-m reverse",
    "luong concat local-p bidirectional reverse layers feeding",
]


def decided(name, corpus):
    return sharpened(FAMILY[name](corpus)).requires_grad_(False)


@pytest.fixture(params=KINDS)
def model(request, corpus):
    return decided(request.param, corpus)


def sources(corpus, count=20):
    return [pair.source for pair in corpus.test[:count]]


def assert_same(found, expected):
    """The same words, the same score, the same alignment."""
    assert len(found) == len(expected)
    for ours, theirs in zip(found, expected, strict=True):
        assert ours.words == theirs.words
        assert ours.score == pytest.approx(theirs.score, abs=1e-9)
        assert (ours.alignment is None) == (theirs.alignment is None)
        if ours.alignment is not None:
            assert ours.alignment.dtype == np.float32
            assert ours.alignment.shape == theirs.alignment.shape
            np.testing.assert_allclose(ours.alignment, theirs.alignment, atol=1e-7)


def forced(model, sentence, words):
    """log p of each word and of </s>, and the weights, when a model is made to say ``words``."""
    pair = Pair(tuple(sentence), tuple(words), "", "")
    batch = make_batch([pair], model.source_vocabulary, model.target_vocabulary)
    with torch.no_grad():
        _, align = model(batch)
        return -model.token_losses(batch), None if align is None else align[0].numpy()


def limit(sentence):
    factor, extra = decoding.MAX_LENGTH
    return factor * len(sentence) + extra


# ------------------------------------------------------------------------------------------ greedy


def test_greedy_takes_the_best_word_at_each_step(model, corpus):
    """One sentence at a time, in a plain loop."""
    expected = []
    for sentence in sources(corpus):
        memory, state = model.start(pad([model.source_vocabulary.encode(sentence)]))
        y, words, score, weights = BOS, [], 0.0, []
        while y != EOS and len(words) < limit(sentence):
            log_p, align, state = model.step(torch.tensor([y]), state, memory)
            log_p[0, [PAD, BOS]] = -torch.inf
            y = int(log_p[0].argmax())
            score += float(log_p[0, y])
            if y != EOS:
                words.append(model.target_vocabulary.words[y])
                weights.append(align[0].tolist() if model.attends else None)
        alignment = None
        if model.attends:
            alignment = np.array(weights, dtype=np.float32).reshape(len(words), len(sentence))
        expected.append(Translation(words, score, alignment))
    assert_same(greedy(model, sources(corpus)), expected)


# -------------------------------------------------------------------------------------------- beam


def beam_by_hand(model, sentence, beam, length_penalty=0.0):
    """All hypotheses of one sentence in plain lists, every step, without ever stopping early."""
    memory, first = model.start(pad([model.source_vocabulary.encode(sentence)]))
    hypotheses = [([], 0.0, [], first)]  # words, sum of log p, weights, state

    def rank(hypothesis):
        words, score, *_ = hypothesis
        return score / ((5 + len(words)) / 6) ** length_penalty

    for _ in range(limit(sentence)):
        continued = []
        for words, score, weights, state in hypotheses:
            if words[-1:] == [EOS]:
                continued.append((words, score, weights, state))
                continue
            y = torch.tensor([words[-1] if words else BOS])
            log_p, align, new = model.step(y, state, memory)
            looked = [*weights, align[0].numpy() if model.attends else None]
            for index, value in enumerate(log_p[0].tolist()):
                if index not in (PAD, BOS):
                    continued.append(([*words, index], score + value, looked, new))
        hypotheses = sorted(continued, key=rank, reverse=True)[:beam]
    translations = []
    for indices, score, weights, _ in hypotheses:
        words = model.target_vocabulary.decode(indices[: -1 if indices[-1] == EOS else None])
        alignment = None
        if model.attends:
            rows = np.array(weights[: len(words)], dtype=np.float32)
            alignment = rows.reshape(len(words), len(sentence))
        translations.append(Translation(words, score, alignment))
    return translations


@pytest.mark.parametrize("length_penalty", [0.0, 0.6, 1.5])
def test_beam_search_is_the_plain_one(model, corpus, length_penalty):
    """Side by side, with sentences that leave and searches that stop early: the same answers."""
    sentences = [sentence for sentence in sources(corpus, 30) if len(sentence) < 7][:8]
    for n_best in (2, 3):
        found = beam_search(model, sentences, 3, length_penalty, n_best=n_best)
        for sentence, ours in zip(sentences, found, strict=True):
            assert_same(ours, beam_by_hand(model, sentence, 3, length_penalty)[:n_best])
    best = beam_search(model, sentences, 3, length_penalty)
    assert_same(best, [first for first, *_ in found])


@pytest.fixture(scope="module")
def tiny():
    """Two words a side, so that every translation there is can be written down."""
    pairs = [Pair(("x", "y"), ("a", "b"), "x y", "a b")]
    return Corpus("tiny", "de", "en", pairs, pairs, pairs, vocabulary_size=2)


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("length_penalty", [0.0, 1.0])
def test_a_beam_as_wide_as_the_space_finds_all_there_is(name, length_penalty, tiny, monkeypatch):
    """Brute force: the log p of every sequence of at most 4 words, by teacher forcing."""
    monkeypatch.setattr(decoding, "MAX_LENGTH", (1, 2))
    model, sentence = decided(name, tiny), ("x", "y")
    every = {}
    for length in range(5):
        for words in itertools.product(("<unk>", "a", "b"), repeat=length):
            log_p, _ = forced(model, sentence, words)
            # at the limit of 4 steps a translation of 4 words ends without </s>
            score = float(log_p[:4].sum())
            every[words] = (score / ((5 + min(length + 1, 4)) / 6) ** length_penalty, score)
    ranked = sorted(every, key=every.get, reverse=True)
    assert len(ranked) == 1 + 3 + 9 + 27 + 81
    (found,) = beam_search(model, [sentence], 130, length_penalty, n_best=130)  # no more than 121
    assert [tuple(t.words) for t in found] == ranked
    assert [t.score for t in found] == pytest.approx([every[words][1] for words in ranked])
    (best,) = beam_search(model, [sentence], 121, length_penalty)
    assert tuple(best.words) == ranked[0]


def test_only_hypotheses_with_hope_are_computed(sharp, corpus, monkeypatch):
    """At first one a sentence, then four at most, and none of a sentence that is done."""
    rows, step = [], sharp.step
    monkeypatch.setattr(
        type(sharp), "step", lambda self, y, *rest: (rows.append(len(y)), step(y, *rest))[1]
    )
    beam_search(sharp, sources(corpus), beam=4)
    assert rows[0] == 20
    assert 3 * 20 < max(rows) <= 4 * 20
    assert rows[-1] < max(rows) / 2


def hypotheses(word, score):
    """Of one sentence, each of two words."""
    parts = word, [0] * len(word), score, [2] * len(word)
    return decoding.Hypotheses(*(torch.tensor([part]) for part in parts))


def test_what_ranks_below_the_answers_is_not_continued():
    """One that has ended is the answer. An open one above it may go on, and one below may not."""
    beam, limits = decoding.Beam(4, 0.0, 1, unknown=True), torch.tensor([10])
    for word, score, expected in (
        ([4, EOS, 5, 6], [-1.0, -2.0, -3.0, -torch.inf], [True, False, False, False]),
        ([4, 5, 6, 7], [-1.0, -2.0, -3.0, -torch.inf], [True, True, True, False]),
        ([EOS, EOS, 4, 5], [-1.0, -2.0, -3.0, -4.0], [False, False, False, False]),
    ):
        found = decoding.hopeful(hypotheses(word, score), limits, beam)
        assert found.tolist() == [expected]


def test_no_unknown_words_where_they_are_forbidden(corpus):
    model = rnnsearch(corpus, hidden=4)
    with torch.no_grad():
        model.decoder.W_o.bias[UNK] = 10
    for search in (greedy, beam_search):
        assert any("<unk>" in t.words for t in search(model, sources(corpus)))
        for found in search(model, sources(corpus), unknown=False):
            assert "<unk>" not in found.words


# ------------------------------------------------------------------------------- limits and inputs


def test_a_translation_has_a_greatest_length(corpus):
    """A model that never says </s> is stopped, each sentence at its own limit.

    One that says nothing else has said an empty translation, which has an alignment, too.
    """
    model = rnnsearch(corpus, hidden=4)
    for bias, lengths in ((-1e9, (12, 22)), (1e9, (0, 0))):
        with torch.no_grad():
            model.decoder.W_o.bias[EOS] = bias
        for search in (greedy, beam_search):
            found = search(model, [["w1"], ["w1"] * 6])
            assert tuple(len(translation.words) for translation in found) == lengths
            assert [t.alignment.shape for t in found] == [(lengths[0], 1), (lengths[1], 6)]


def test_long_sentences_go_in_small_batches(sharp, monkeypatch):
    sizes, start = [], sharp.start
    monkeypatch.setattr(
        type(sharp),
        "start",
        lambda self, source: (sizes.append(source.ids.shape), start(source))[1],
    )
    monkeypatch.setattr(decoding, "BATCH_WORDS", 100)
    greedy(sharp, [["w1"] * length for length in (1, 1, 1, 1, 30, 30, 30, 30, 200)])
    assert [tuple(size) for size in sizes] == [(1, 200), (3, 30), (3, 30), (2, 1)]


@pytest.mark.parametrize("search", [greedy, beam_search])
def test_a_sentence_of_5000_words_is_translated(search, corpus):
    model = rnnsearch(corpus, hidden=4)
    with torch.no_grad():
        model.decoder.W_o.bias[EOS] = 2
    long, short = search(model, [["w1", "w2"] * 2_500, ["w1"]])
    assert long.alignment.shape == (len(long.words), 5_000)
    assert short.alignment.shape == (len(short.words), 1)
    np.testing.assert_allclose(long.alignment.sum(axis=1), 1, atol=1e-3)


@pytest.mark.parametrize("search", [greedy, beam_search])
def test_searching_leaves_the_models_mode_alone(search, sharp):
    for training in (True, False):
        search(sharp.train(training), [["w1"]])
        assert sharp.training is training


@pytest.mark.parametrize("search", [greedy, beam_search])
def test_bad_sentences_are_named(search, sharp):
    assert search(sharp, []) == []
    for text in ("w1 w2", ["w1 w2"]):
        with pytest.raises(TypeError, match="lists of words"):
            search(sharp, text)
    with pytest.raises(ValueError, match="sentence 1 is empty"):
        search(sharp, [["w1"], []])
    with pytest.raises(ValueError, match="batch_size must be a whole number of at least 1"):
        search(sharp, [["w1"]], batch_size=0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"beam": 0}, "beam must be a whole number of at least 1, not 0"),
        ({"beam": 2.0}, "not 2.0"),
        ({"beam": 2, "n_best": 3}, "n_best must be a whole number from 1 to beam=2, not 3"),
        ({"n_best": 1.5}, "n_best .* not 1.5"),
        ({"length_penalty": -0.1}, "length_penalty must be 0 or more, not -0.1"),
        ({"length_penalty": math.nan}, "length_penalty .* not nan"),
        ({"length_penalty": math.inf}, "length_penalty .* not inf"),
    ],
)
def test_bad_arguments_of_a_beam_are_named(arguments, message, sharp):
    with pytest.raises(ValueError, match=message):
        beam_search(sharp, [["w1"]], **arguments)


# --------------------------------------------------------------------------------------- ensembles


def test_an_ensemble_of_one_is_the_model(model, corpus):
    alone, pairs = Ensemble([model]), corpus.test[:8]
    for search in (greedy, beam_search):
        assert_same(search(alone, sources(corpus, 8)), search(model, sources(corpus, 8)))
    assert perplexity(alone, pairs) == pytest.approx(perplexity(model, pairs))
    assert alone.attends == model.attends
    if model.attends:
        assert force_align(alone, pairs) == force_align(model, pairs)


@pytest.fixture
def three(corpus):
    """Two that attend, and one that does not."""
    names = ["rnnsearch", "luong concat local-p bidirectional reverse layers feeding", "rnnencdec"]
    return [decided(name, corpus) for name in names]


def test_an_ensembles_probabilities_are_the_members_mean(three, corpus):
    """Members that are ensembles themselves join one by one."""
    source = pad([[4, 5, 6], [7]])
    ensemble = Ensemble([Ensemble(three[:2]), three[2]])
    memory, state = ensemble.start(source)
    each = [model.start(source) for model in three]
    for y in ([BOS, BOS], [4, 9], [5, EOS]):
        log_p, align, state = ensemble.step(torch.tensor(y), state, memory)
        p, looked = torch.zeros_like(log_p), torch.zeros_like(align)
        for number, model in enumerate(three):
            own, own_align, new = model.step(torch.tensor(y), each[number][1], each[number][0])
            each[number] = each[number][0], new
            p += own.exp() / 3
            if own_align is not None:
                looked += own_align / 2  # of those that attend
        torch.testing.assert_close(log_p.exp(), p)
        torch.testing.assert_close(log_p.exp().sum(1), torch.ones(2, dtype=torch.double))
        torch.testing.assert_close(align, looked)


def test_an_ensembles_perplexity_is_of_the_mean_probability(three, corpus):
    total = tokens = 0
    for pair in corpus.test[:16]:
        each = torch.stack([forced(model, pair.source, pair.target)[0] for model in three])
        total -= float(each.exp().mean(0).log().sum())
        tokens += len(pair.target) + 1
    assert perplexity(Ensemble(three), corpus.test[:16]) == pytest.approx(math.exp(total / tokens))


def test_an_ensembles_alignment_is_the_strongest_mean_weight(three, corpus):
    pairs = corpus.test[:16]
    for pair, links in zip(pairs, force_align(Ensemble(three), pairs), strict=True):
        first, second = (forced(model, pair.source, pair.target)[1] for model in three[:2])
        strongest = (first + second).argmax(-1)
        assert links == {(strongest[t], t) for t in range(len(pair.target))}


def test_an_ensemble_that_does_not_attend_has_no_alignment(corpus):
    ensemble = Ensemble([rnnencdec(corpus, hidden=4), sutskever(corpus, hidden=4)])
    assert not ensemble.attends
    assert beam_search(ensemble, [["w1", "w2"]])[0].alignment is None
    for model, name in ((ensemble, "ensemble"), (rnnencdec(corpus, hidden=4), "rnnencdec")):
        with pytest.raises(ValueError, match=rf"this model \({name}\) does not attend, so it has"):
            force_align(model, corpus.test)


def test_no_member_drops_anything_and_each_keeps_its_mode(three, corpus):
    """A member left in training would draw dropout, and answer otherwise each time."""
    three[1] = sharpened(luong(corpus, hidden=12, dropout=0.5))
    ensemble, pairs = Ensemble(three), corpus.test[:5]

    def answers():
        scores = [found.score for found in greedy(ensemble, sources(corpus, 5))]
        return scores, perplexity(ensemble, pairs), force_align(ensemble, pairs)

    expected = answers()
    three[1].train()
    assert answers() == expected
    assert [model.training for model in three] == [False, True, False]


def test_an_ensemble_of_nothing_or_of_unlike_vocabularies_is_refused(corpus):
    with pytest.raises(ValueError, match="at least one model"):
        Ensemble([])
    one = rnnsearch(corpus, hidden=4)
    for side in ("source_vocabulary", "target_vocabulary"):
        other = rnnsearch(corpus, hidden=4)
        setattr(other, side, Vocabulary(["another"], "de"))
        with pytest.raises(ValueError, match=f"member 2 of the ensemble has another {side}"):
            Ensemble([one, one, other])


# ------------------------------------------------------------------- alignments and unknown words


@pytest.mark.parametrize("shift", [0, 1])
def test_force_align_takes_the_strongest_source_word_of_each_target_word(sharp, corpus, shift):
    """Of the word that a_t predicts; or, shifted, of the word that it has just read."""
    assert force_align(sharp, []) == []
    links = force_align(sharp, corpus.test, batch_size=7, shift=shift)
    for pair, found in zip(corpus.test, links, strict=True):
        _, align = forced(sharp, pair.source, pair.target)
        strongest = align.argmax(-1)[shift : shift + len(pair.target)]
        assert found == {(s, t) for t, s in enumerate(strongest)}
        assert sorted(t for _, t in found) == list(range(len(pair.target)))  # </s> is no word


def test_another_shift_is_refused(sharp, corpus):
    with pytest.raises(ValueError, match=r"shift must be 0 .* or 1 .*, not 2"):
        force_align(sharp, corpus.test, shift=2)


def translation(words, strongest, source_words):
    """A translation whose n-th word looked mostly at ``strongest[n]``."""
    alignment = np.full((len(words), source_words), 0.1, dtype=np.float32)
    alignment[range(len(words)), strongest] = 0.6
    return Translation(words, -1.0, alignment)


def test_unknown_words_are_replaced_by_what_the_model_looked_at():
    found = [
        translation(["<unk>", "sees", "<unk>", "."], [0, 1, 2, 3], 4),
        translation([], [], 2),
        translation(["no", "change"], [0, 0], 1),
    ]
    sentences = [["Anna", "sieht", "Xanten", "."], ["ja", "!"], ["nichts"]]
    copied = replace_unknown(found, sentences)
    assert [t.words for t in copied] == [["Anna", "sees", "Xanten", "."], [], ["no", "change"]]
    looked_up = replace_unknown(found, sentences, {"Anna": "Ann", "nichts": "nothing"})
    assert looked_up[0].words == ["Ann", "sees", "Xanten", "."]
    assert [t.score for t in copied] == [-1.0] * 3
    assert all(after.alignment is before.alignment for after, before in zip(copied, found))
    assert found[0].words[0] == "<unk>"  # those given are left alone


@pytest.mark.parametrize(
    ("numbers", "sentences", "message"),
    [
        ([0], [["a", "b"], ["c"]], "1 translations for 2 sentences"),
        ([0, 0], [["a", "b"], ["a", "b", "c"]], "translation 1 has no alignment with the 3 words"),
        ([1], [["a"]], r"translation 0 has no alignment .* must attend"),
    ],
)
def test_translations_that_have_not_looked_at_their_sentences_are_refused(
    numbers, sentences, message
):
    some = translation(["<unk>"], [0], 2), Translation(["<unk>"], 0.0, None)
    with pytest.raises(ValueError, match=message):
        replace_unknown([some[number] for number in numbers], sentences)


def test_a_dictionary_takes_the_most_frequent_partner():
    def pair(source, target):
        return Pair(tuple(source.split()), tuple(target.split()), source, target)

    pairs = [pair("der Hund", "the dog"), pair("ein Hund", "a hound"), pair("Hund da", "dog there")]
    links = [{(0, 0), (1, 1)}, {(0, 0), (1, 1)}, {(0, 0), (0, 1)}]
    expected = {"der": "the", "Hund": "dog", "ein": "a"}  # nothing is linked with "da"
    assert decoding.read_dictionary(links, pairs) == expected
    tie = [pair("Hund", "hound"), pair("Hund", "dog")]
    for order in (tie, tie[::-1]):
        assert decoding.read_dictionary([{(0, 0)}] * 2, order) == {"Hund": "dog"}
    with pytest.raises(ValueError):
        decoding.read_dictionary(links[:2], pairs)
