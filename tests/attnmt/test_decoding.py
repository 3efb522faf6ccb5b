"""decoding.py: search against plain loops and brute force; ensembles, alignments, unknown words."""

import itertools
import math
from typing import NamedTuple

import numpy as np
import pytest
import torch
from conftest import made_up_corpus, sharpened

from attnmt import Corpus, Pair, Vocabulary, decoding, fit
from attnmt.batches import make_batch, pad
from attnmt.decoding import Ensemble, Translation, beam_search, force_align, greedy, replace_unknown
from attnmt.metrics import perplexity
from attnmt.model import luong, rnnencdec, rnnsearch, sutskever
from attnmt.recipes import Recipe
from attnmt.vocab import BOS, EOS, PAD, UNK

FAMILY = {
    "rnnencdec": rnnencdec,
    "sutskever": lambda corpus, **sizes: sutskever(corpus, layers=2, reverse=True, **sizes),
    "rnnsearch": rnnsearch,
    "luong-dot": luong,
    "luong-local-m-reversed": lambda corpus, **sizes: luong(
        corpus, score="general", window="local-m", D=2, reverse=True, **sizes
    ),
    "luong-local-p-feeding": lambda corpus, **sizes: luong(
        corpus, score="concat", window="local-p", D=2, feeding=True, bidirectional=True, **sizes
    ),
}


def decided(make, corpus, seed=3):
    return sharpened(make(corpus, hidden=12, seed=seed)).requires_grad_(False)


@pytest.fixture(params=FAMILY)
def model(request, corpus):
    return decided(FAMILY[request.param], corpus)


@pytest.fixture(scope="module")
def learned():
    """A small model that has learned most of the made-up language."""
    corpus = made_up_corpus(train=1_000)
    model = luong(corpus, score="general", hidden=32)
    recipe = Recipe(epochs=6, batch_size=16, learning_rate=1e-2, halve_after=4)
    fit(model, corpus, recipe, device="cpu", progress=False)
    return model


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


# ------------------------------------------------------------- a model whose probabilities we write


class Written(NamedTuple):
    words: torch.Tensor  # (B, t)

    def select(self, rows):
        return Written(self.words[rows])


class Scripted(torch.nn.Module):
    """What search asks of a model, and no more: p is looked up by the words written before.

    Of a source position it "looks at" the one whose number is that of the words written, so that an
    alignment shows at which time it was made, and adds 0.1 for each ``b`` among them, so that it
    shows by which hypothesis.
    """

    def __init__(self, **script):
        super().__init__()
        self.script = script
        self.source_vocabulary = Vocabulary(["x"], "de")
        self.target_vocabulary = Vocabulary(["a", "b"], "en")
        self.device, self.attends = torch.device("cpu"), True

    def start(self, source):
        return Written(source.ids), Written(torch.empty(len(source.ids), 0, dtype=torch.long))

    def step(self, y, state, memory):
        written = torch.cat([state.words, y[:, None]], dim=1)  # <s> first
        p = torch.zeros(len(y), 6, dtype=torch.double)
        align = torch.zeros(memory.words.shape, dtype=torch.double)
        for row, words in enumerate(written[:, 1:].tolist()):
            name = "".join(self.target_vocabulary.decode(words)) or "start"
            p[row, 3:] = torch.tensor(self.script.get(name, (1.0, 0.0, 0.0)))  # </s>, a, b
            align[row, min(len(words), align.size(1) - 1)] = 1 + 0.1 * name.count("b")
        return p.log(), align, Written(written)


GARDEN_PATH = {  # p of </s>, a and b
    "start": (0.0, 0.6, 0.4),
    "a": (0.2, 0.4, 0.4),
    "b": (0.0, 0.1, 0.9),
    "aa": (0.9, 0.1, 0.0),
    "ab": (0.9, 0.1, 0.0),
    "bb": (1.0, 0.0, 0.0),
}


def test_a_beam_finds_what_greedy_walks_past():
    """The best first word is ``a``, but of the whole sentences ``b b`` is the most probable."""
    model = Scripted(**GARDEN_PATH)
    (walked,) = greedy(model, [["x"] * 4])
    assert walked.words == ["a", "a"]
    assert walked.score == pytest.approx(math.log(0.6 * 0.4 * 0.9))
    (found,) = beam_search(model, [["x"] * 4], beam=2)
    assert found.words == ["b", "b"]
    assert found.score == pytest.approx(math.log(0.4 * 0.9 * 1.0))


def test_an_alignment_is_that_of_the_hypothesis_not_of_its_place_in_the_beam():
    """``b b`` starts in the second place of the beam and ends in the first."""
    (found,) = beam_search(Scripted(**GARDEN_PATH), [["x"] * 4], beam=2)
    np.testing.assert_allclose(found.alignment, [[1, 0, 0, 0], [0, 1.1, 0, 0]])


def test_n_best_is_in_order_and_the_weights_are_each_ones_own():
    (found,) = beam_search(Scripted(**GARDEN_PATH), [["x"] * 4], beam=20, n_best=3)
    assert [t.words for t in found] == [["b", "b"], ["a", "a"], ["a", "b"]]
    expected = [math.log(p) for p in (0.36, 0.6 * 0.4 * 0.9, 0.6 * 0.4 * 0.9)]
    assert [t.score for t in found] == pytest.approx(expected)
    looked = [[1, 0, 0, 0], [0, 1, 0, 0]]
    np.testing.assert_allclose(found[1].alignment, looked)


def test_the_length_penalty_by_hand():
    """p = 0.5 in 1 word and </s>, against 0.4 in 3 words and </s>: with lp, 0.4 can win."""
    model = Scripted(
        start=(0.0, 0.5, 0.5), a=(1.0, 0.0, 0.0), b=(0.0, 0.0, 1.0), bb=(0.0, 0.8, 0.2)
    )
    short, long = math.log(0.5), math.log(0.5 * 0.8)
    for alpha in (0.0, 0.5, 0.7, 1.0, 2.0):
        lp = {length: ((5 + length) / 6) ** alpha for length in (2, 4)}
        (found,) = beam_search(model, [["x"] * 3], beam=4, length_penalty=alpha)
        best = max((short / lp[2], short, ["a"]), (long / lp[4], long, ["b", "b", "a"]))
        assert found.words == best[2]
        assert found.score == pytest.approx(best[1])  # log p itself, not divided
    assert short / (7 / 6) > long / (9 / 6) and short / (7 / 6) ** 2 < long / (9 / 6) ** 2


def test_an_empty_translation_is_one_too():
    for search in (greedy, beam_search):
        (found,) = search(Scripted(start=(0.9, 0.1, 0.0)), [["x", "x"]])
        assert (found.words, found.alignment.shape) == ([], (0, 2))
        assert found.score == pytest.approx(math.log(0.9))


def test_a_list_of_the_best_is_shorter_where_there_are_not_so_many():
    model = Scripted(start=(0.5, 0.5, 0.0), a=(1.0, 0.0, 0.0))
    (found,) = beam_search(model, [["x"]], beam=5, n_best=5)
    assert sorted(t.words for t in found) == [[], ["a"]]


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


def test_the_made_up_language_is_learned(learned, corpus):
    """The whole path works: most test sentences come out right, and looked at the right words."""
    for search in (greedy, beam_search):
        found = search(learned, sources(corpus, 50))
        right = [t.words == list(p.target) for t, p in zip(found, corpus.test, strict=True)]
        assert np.mean(right) > 0.6
        looked = np.concatenate([t.alignment.argmax(axis=1) for t, ok in zip(found, right) if ok])
        gold = [np.arange(len(p.source))[::-1] for p, ok in zip(corpus.test, right) if ok]
        assert np.mean(looked == np.concatenate(gold)) > 0.6


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


def hypotheses(word, score, row=None, length=None):
    """Of one sentence, with a row and a length that nobody asks for unless they are given."""
    nothing = [0] * len(word)
    integers = (torch.tensor([part]) for part in (word, row or nothing))
    return decoding.Hypotheses(*integers, torch.tensor([score]), torch.tensor([length or nothing]))


def test_one_expansion_by_hand():
    """Two hypotheses and five words: one is open, and one has ended and stays as it is."""
    beam = hypotheses(word=[4, EOS], score=[-1.0, -2.0], length=[3, 2])
    log_p = torch.tensor([[-9.0, -9.0, -9.0, -0.5, -0.1], [-0.3, -0.3, -0.3, -0.3, -0.3]])
    found = decoding.expand(beam, log_p)
    assert found.word.tolist() == [[4, EOS, EOS, EOS]]
    assert found.row.tolist() == [[0, 0, 1, 1]]
    assert found.length.tolist() == [[4, 4, 2, 2]]
    expected = torch.tensor([[-1.1, -1.5, -2.0, -torch.inf]])
    torch.testing.assert_close(found.score, expected)


def test_the_best_candidates_are_kept_by_rank_not_by_score():
    candidates = hypotheses(
        word=[4, 5, 6, 7], row=[0, 0, 1, 1], score=[-3.0, -2.0, -2.5, -4.0], length=[9, 1, 4, 1]
    )
    best = decoding.keep(candidates, decoding.Beam(2, 0.0, 1, unknown=True))
    assert (best.word.tolist(), best.row.tolist()) == ([[5, 6]], [[0, 1]])
    best = decoding.keep(candidates, decoding.Beam(2, 1.0, 1, unknown=True))
    assert best.word.tolist() == [[4, 6]]  # -3 / (14/6) > -2.5 / (9/6) > -2 / 1
    assert best.score.tolist() == [[-3.0, -2.5]]


@pytest.mark.parametrize(
    ("word", "score", "n_best", "length_penalty", "expected"),
    [
        ([EOS, 4], [-1.0, -1.5], 1, 0.0, True),  # log p only falls: 4 stays below
        ([EOS, 4], [-1.0, -1.5], 1, 1.0, False),  # but -1.5 / (15/6) would beat -1 / (7/6)
        ([EOS, 4], [-1.0, -3.0], 1, 1.0, True),  # -3 / (15/6) would not
        ([4, EOS], [-1.0, -1.5], 1, 0.0, False),  # the best is open
        ([EOS, 4], [-1.0, -1.5], 2, 0.0, False),  # of two answers the second is open
        ([EOS, EOS], [-1.0, -1.5], 2, 1.0, True),
    ],
)
def test_a_search_ends_when_no_open_hypothesis_has_hope(
    word, score, n_best, length_penalty, expected
):
    beam = decoding.Beam(2, length_penalty, n_best, unknown=True)
    done = decoding.finished(hypotheses(word, score, length=[2, 2]), torch.tensor([10]), beam)
    assert done.tolist() == [expected]


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


@pytest.mark.parametrize("length_penalty", [0.0, 1.0])
def test_beam_of_one_is_greedy(model, corpus, length_penalty):
    expected = greedy(model, sources(corpus))
    assert_same(beam_search(model, sources(corpus), 1, length_penalty), expected)


@pytest.fixture(scope="module")
def tiny():
    """Two words a side, so that every translation there is can be written down."""
    pairs = [Pair(("x", "y"), ("a", "b"), "x y", "a b")]
    return Corpus("tiny", "de", "en", pairs, pairs, pairs, vocabulary_size=2)


@pytest.mark.parametrize("name", FAMILY)
@pytest.mark.parametrize("length_penalty", [0.0, 1.0])
def test_a_beam_as_wide_as_the_space_finds_all_there_is(name, length_penalty, tiny, monkeypatch):
    """Brute force: the log p of every sequence of at most 4 words, by teacher forcing."""
    monkeypatch.setattr(decoding, "MAX_LENGTH", (1, 2))
    model, sentence = decided(FAMILY[name], tiny), ("x", "y")
    every = {}
    for length in range(5):
        for words in itertools.product(("<unk>", "a", "b"), repeat=length):
            log_p, _ = forced(model, sentence, words)
            # at the limit of 4 steps a translation of 4 words ends without </s>
            score = float(log_p[:4].sum())
            every[words] = (score / ((5 + min(length + 1, 4)) / 6) ** length_penalty, score)
    ranked = sorted(every, key=every.get, reverse=True)
    assert len(ranked) == 1 + 3 + 9 + 27 + 81
    (found,) = beam_search(model, [sentence], 121, length_penalty, n_best=121)
    assert [tuple(t.words) for t in found] == ranked
    assert [t.score for t in found] == pytest.approx([every[words][1] for words in ranked])
    (best,) = beam_search(model, [sentence], 121, length_penalty)
    assert tuple(best.words) == ranked[0]


def test_scores_and_alignments_are_those_of_forcing_that_very_translation(model, corpus):
    sentences = sources(corpus, 8)
    checked = 0
    for sentence, found in zip(sentences, beam_search(model, sentences, beam=4, n_best=4)):
        for translation in found:
            words = translation.words
            log_p, align = forced(model, sentence, words)
            steps = min(len(words) + 1, limit(sentence))  # at the limit there is no </s>
            assert translation.score == pytest.approx(float(log_p[:steps].sum()), abs=1e-9)
            assert (translation.alignment is None) == (not model.attends)
            if model.attends:
                assert translation.alignment.shape == (len(words), len(sentence))
                np.testing.assert_allclose(translation.alignment, align[: len(words)], atol=1e-7)
            checked += len(words) > 0
    assert checked > 16


def test_order_and_company_of_sentences_change_nothing(model, corpus):
    sentences = sources(corpus, 8)
    for search in (greedy, beam_search, lambda m, s, **b: beam_search(m, s, 3, 1.0, **b)):
        expected = [search(model, [sentence])[0] for sentence in sentences]
        assert_same(search(model, sentences), expected)
        assert_same(search(model, sentences[::-1])[::-1], expected)
        assert_same(search(model, sentences, batch_size=3), expected)


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


def test_what_ranks_below_the_answers_is_not_continued():
    """One that has ended is the answer. An open one above it may go on, and one below may not."""
    beam, limits = decoding.Beam(4, 0.0, 1, unknown=True), torch.tensor([10])
    for word, score, expected in (
        ([4, EOS, 5, 6], [-1.0, -2.0, -3.0, -torch.inf], [True, False, False, False]),
        ([4, 5, 6, 7], [-1.0, -2.0, -3.0, -torch.inf], [True, True, True, False]),
        ([EOS, EOS, 4, 5], [-1.0, -2.0, -3.0, -4.0], [False, False, False, False]),
    ):
        found = decoding.hopeful(hypotheses(word, score, length=[2] * 4), limits, beam)
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
    """A model that never says </s> is stopped, each sentence at its own limit."""
    model = rnnsearch(corpus, hidden=4)
    with torch.no_grad():
        model.decoder.W_o.bias[EOS] = -1e9
    for search in (greedy, beam_search):
        found = search(model, [["w1"], ["w1"] * 6])
        assert [len(translation.words) for translation in found] == [12, 22]
        assert [t.alignment.shape for t in found] == [(12, 1), (22, 6)]


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
def test_unknown_words_control_characters_and_emoji_are_unknown_words(search, learned):
    (found,) = search(learned, [["never", "\x07", "🦉", "</s>"]])
    assert found.alignment.shape == (len(found.words), 4)
    assert_same([found], search(learned, [["<unk>"] * 4]))


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
    makers = [(rnnsearch, 3), (FAMILY["luong-local-p-feeding"], 5), (rnnencdec, 4)]
    return [decided(make, corpus, seed) for make, seed in makers]


def test_an_ensembles_probabilities_are_the_members_mean(three, corpus):
    source = pad([[4, 5, 6], [7]])
    ensemble = Ensemble(three)
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
    with pytest.raises(ValueError, match=r"this model \(ensemble\) does not attend"):
        force_align(ensemble, corpus.test)


def test_members_of_an_ensemble_join_another_one_by_one(three):
    ensemble = Ensemble([Ensemble(three[:2]), three[2]])
    assert list(ensemble.members) == three


def test_an_ensemble_is_a_module_of_its_members(three, corpus):
    """What PyTorch does to a module it does to every member: device, precision, parameters."""
    ensemble = Ensemble(three)
    assert sum(w.numel() for w in ensemble.parameters()) == sum(
        w.numel() for model in three for w in model.parameters()
    )
    meta = Ensemble([rnnsearch(corpus, hidden=4), luong(corpus, hidden=4)]).to("meta")
    assert meta.device.type == "meta"
    assert {member.device.type for member in meta.members} == {"meta"}
    ensemble.float()
    assert greedy(ensemble, sources(corpus, 2))  # all in one precision
    assert all(w.dtype == torch.float for model in three for w in model.parameters())


def test_no_member_drops_anything_and_each_keeps_its_mode(three, corpus):
    """A member left in training would draw dropout, and answer otherwise each time."""
    three[1] = decided(lambda corpus, **sizes: luong(corpus, dropout=0.5, **sizes), corpus)
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
    links = force_align(sharp, corpus.test, batch_size=7, shift=shift)
    for pair, found in zip(corpus.test, links, strict=True):
        _, align = forced(sharp, pair.source, pair.target)
        strongest = align.argmax(-1)[shift : shift + len(pair.target)]
        assert found == {(s, t) for t, s in enumerate(strongest)}
        assert sorted(t for _, t in found) == list(range(len(pair.target)))  # </s> is no word


def test_bad_input_to_force_align_is_named(sharp, corpus):
    assert force_align(sharp, []) == []
    with pytest.raises(ValueError, match=r"\(rnnencdec\) does not attend, so it has no alignment"):
        force_align(rnnencdec(corpus, hidden=4), corpus.test)
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


def test_bad_input_to_replace_unknown_is_named():
    found = translation(["<unk>"], [0], 2)
    with pytest.raises(ValueError, match="1 translations for 2 sentences"):
        replace_unknown([found], [["a", "b"], ["c"]])
    with pytest.raises(ValueError, match="translation 1 has no alignment with the 3 words"):
        replace_unknown([found, found], [["a", "b"], ["a", "b", "c"]])
    with pytest.raises(ValueError, match=r"translation 0 has no alignment .* must attend"):
        replace_unknown([Translation(["<unk>"], 0.0, None)], [["a"]])


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


@pytest.mark.parametrize("penalty", [15.0, 15.1, 60.0, 1e4, 1e300])
def test_no_length_penalty_loses_an_answer(penalty, sharp, corpus):
    sentences = [pair.source for pair in corpus.test[:5]]
    found = beam_search(sharp, sentences, beam=3, length_penalty=penalty)
    assert [len(one.words) for one in found] == [2 * len(words) + 10 for words in sentences]


def test_a_large_penalty_ranks_as_its_power_would(monkeypatch):
    score, length = -torch.rand(50) * 9, torch.randint(1, 90, (50,))
    usual = decoding.Beam(3, 9.0, 1, unknown=True).rank(score.double(), length)
    monkeypatch.setattr(decoding, "LARGEST_POWER", 1)
    large = decoding.Beam(3, 9.0, 1, unknown=True).rank(score, length)
    assert torch.equal(large.argsort(), usual.argsort())
