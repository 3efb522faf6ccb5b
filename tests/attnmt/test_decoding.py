"""decoding.py: search against plain loops and brute force; ensembles, alignments, unknown words."""

import itertools
import math
from functools import partial

import numpy as np
import pytest
import torch
from conftest import FAMILY, batch_of, made_up_corpus, sharpened

from attnmt import Corpus, Pair, Vocabulary, decoding, fit
from attnmt.alignment import force_align, read_dictionary, replace_unknown
from attnmt.batches import pad
from attnmt.decoding import Ensemble, Translation, beam_search, greedy
from attnmt.metrics import perplexity
from attnmt.model import luong, rnnencdec, rnnsearch
from attnmt.recipes import Recipe
from attnmt.vocab import BOS, EOS, PAD, UNK

SOME = [
    "rnnencdec",
    "sutskever",
    "rnnsearch",
    "luong dot global",
    "luong general local-m reverse",
    "luong concat local-p bidirectional reverse layers feeding",
]


def decided(name, corpus):
    return sharpened(FAMILY[name](corpus)).requires_grad_(False)


@pytest.fixture(params=SOME)
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
    batch = batch_of(model, [Pair(tuple(sentence), tuple(words), "", "")])
    with torch.no_grad():
        _, align = model(batch)
        return -model.token_losses(batch), None if align is None else align[0].numpy()


def limit(sentence):
    factor, extra = decoding.MAX_LENGTH
    return factor * len(sentence) + extra


# ------------------------------------------------------------------------- greedy and beam search


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


def test_greedy_is_a_beam_of_one_and_both_are_the_plain_search(model, corpus):
    sentences = sources(corpus, 10)
    expected = [beam_by_hand(model, sentence, 1)[0] for sentence in sentences]
    assert_same(greedy(model, sentences), expected)
    for length_penalty in (0.0, 1.0):
        assert_same(beam_search(model, sentences, 1, length_penalty), expected)


@pytest.mark.parametrize("length_penalty", [0.0, 0.6, 1.5])
def test_beam_search_is_the_plain_one(model, corpus, length_penalty):
    """Side by side, with sentences that leave and searches that stop early: the same answers."""
    sentences = [sentence for sentence in sources(corpus, 30) if len(sentence) < 7][:4]
    found = beam_search(model, sentences, 3, length_penalty, n_best=2)
    for sentence, ours in zip(sentences, found, strict=True):
        assert_same(ours, beam_by_hand(model, sentence, 3, length_penalty)[:2])
    best = beam_search(model, sentences, 3, length_penalty)
    assert_same(best, [first for first, *_ in found])


@pytest.fixture(scope="module")
def tiny():
    """Two words a side, so that every translation there is can be written down."""
    pairs = [Pair(("x", "y"), ("a", "b"), "x y", "a b")]
    return Corpus("tiny", "de", "en", pairs, pairs, pairs, vocabulary_size=2)


@pytest.mark.parametrize(("name", "length_penalty"), [*zip(SOME, [0.0, 1.0] * 3)])
def test_a_beam_as_wide_as_the_space_finds_all_there_is(name, length_penalty, tiny, monkeypatch):
    """Brute force: the log p of every sequence of at most 4 words, by teacher forcing.

    A list of the best is shorter than asked for where there are not so many.
    """
    monkeypatch.setattr(decoding, "MAX_LENGTH", (1, 2))
    model, sentence = decided(name, tiny), ("x", "y")
    every = {}
    for length in range(5):
        possible = [*itertools.product(("<unk>", "a", "b"), repeat=length)]
        pairs = [Pair(sentence, words, "", "") for words in possible]
        losses = model.token_losses(batch_of(model, pairs)).view(-1, length + 1)
        # at the limit of 4 steps a translation of 4 words ends without </s>
        for words, score in zip(possible, (-losses[:, :4].sum(1)).tolist()):
            every[words] = (score / ((5 + min(length + 1, 4)) / 6) ** length_penalty, score)
    ranked = sorted(every, key=every.get, reverse=True)
    assert len(ranked) == 1 + 3 + 9 + 27 + 81
    (found,) = beam_search(model, [sentence], 130, length_penalty, n_best=130)
    assert [tuple(t.words) for t in found] == ranked
    assert [t.score for t in found] == pytest.approx([every[words][1] for words in ranked])
    (best,) = beam_search(model, [sentence], 130, length_penalty)
    assert tuple(best.words) == ranked[0]


def test_scores_and_alignments_are_those_of_forcing_that_very_translation(model, corpus):
    sentences = sources(corpus, 5)
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
    assert checked > 10


def test_order_and_company_of_sentences_change_nothing(model, corpus):
    sentences = sources(corpus, 4)
    for search in (greedy, partial(beam_search, beam=3, length_penalty=1.0)):
        expected = [search(model, [sentence])[0] for sentence in sentences]
        assert_same(search(model, sentences), expected)
        assert_same(search(model, sentences[::-1])[::-1], expected)
        assert_same(search(model, sentences, batch_size=3), expected)


def test_no_unknown_words_where_they_are_forbidden(corpus):
    model = rnnsearch(corpus, hidden=4)
    with torch.no_grad():
        model.decoder.W_o.bias[UNK] = 10
    for search in (greedy, beam_search):
        assert any("<unk>" in t.words for t in search(model, sources(corpus)))
        for found in search(model, sources(corpus), unknown=False):
            assert "<unk>" not in found.words


# ------------------------------------------------------------------------------- limits and inputs


@pytest.mark.parametrize("search", [greedy, beam_search])
@pytest.mark.parametrize(("bias", "lengths"), [(-1e9, [12, 22]), (1e9, [0, 0])])
def test_a_translation_has_a_greatest_length_and_may_be_empty(search, bias, lengths, corpus):
    """A model that never says </s> is stopped, each sentence at its own limit."""
    model = rnnsearch(corpus, hidden=4)
    with torch.no_grad():
        model.decoder.W_o.bias[EOS] = bias
    found = search(model, [["w1"], ["w1"] * 6])
    assert [len(translation.words) for translation in found] == lengths
    assert [t.alignment.shape for t in found] == list(zip(lengths, (1, 6)))


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
def test_searching_leaves_the_models_mode_alone(search, sharp):
    for training in (True, False):
        search(sharp.train(training), [["w1"]])
        assert sharp.training is training


@pytest.mark.parametrize(
    ("sentences", "message"),
    [
        ("w1 w2", "lists of words"),
        (["w1 w2"], "lists of words"),
        ([["w1"], []], "sentence 1 is empty"),
    ],
)
@pytest.mark.parametrize("search", [greedy, beam_search])
def test_bad_input_to_a_search_is_named(search, sentences, message, sharp):
    assert search(sharp, []) == []
    with pytest.raises((TypeError, ValueError), match=message):
        search(sharp, sentences)
    with pytest.raises(TypeError, match=r"model must be a model, not 'my\.model'"):
        search("my.model", [["w1"]])


def test_the_made_up_language_is_learned():
    """The whole path works: most test sentences come out right, and looked at the right words."""
    corpus = made_up_corpus(train=1_000)
    model = luong(corpus, score="general", hidden=32)
    recipe = Recipe(epochs=6, batch_size=16, learning_rate=1e-2, halve_after=4)
    fit(model, corpus, recipe, device="cpu", progress=False)
    for search in (greedy, beam_search):
        found = search(model, sources(corpus, 50))
        right = [t.words == list(p.target) for t, p in zip(found, corpus.test, strict=True)]
        assert np.mean(right) > 0.6
        looked = np.concatenate([t.alignment.argmax(axis=1) for t, ok in zip(found, right) if ok])
        gold = [np.arange(len(p.source))[::-1] for p, ok in zip(corpus.test, right) if ok]
        assert np.mean(looked == np.concatenate(gold)) > 0.6


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
    return [decided(name, corpus) for name in ("rnnsearch", SOME[-1], "rnnencdec")]


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


def test_an_ensemble_forced_to_say_a_translation_takes_means_too(three, corpus):
    """Its perplexity is of the mean probability, its links of the strongest mean weight."""
    total, pairs, links = 0.0, corpus.test[:16], []
    for pair in pairs:
        losses, weights = zip(*(forced(model, pair.source, pair.target) for model in three))
        total -= float(torch.stack(losses).exp().mean(0).log().sum())
        strongest = (weights[0] + weights[1]).argmax(-1)  # the third model does not attend
        links.append({(strongest[t], t) for t in range(len(pair.target))})
    tokens = sum(len(pair.target) + 1 for pair in pairs)
    assert perplexity(Ensemble(three), pairs) == pytest.approx(math.exp(total / tokens))
    assert force_align(Ensemble(three), pairs) == links


def test_an_ensemble_is_a_module_of_its_members(three, corpus):
    """What PyTorch does to a module it does to every member."""
    ensemble = Ensemble([Ensemble(three[:2]), three[2]])
    assert list(ensemble.members) == three  # an ensemble joins another member by member
    assert sum(w.numel() for w in ensemble.parameters()) == sum(
        w.numel() for model in three for w in model.parameters()
    )
    ensemble.float()
    assert greedy(ensemble, sources(corpus, 2))  # all in one precision
    assert all(w.dtype == torch.float for model in three for w in model.parameters())


def test_no_member_drops_anything_and_each_keeps_its_mode(three, corpus):
    """A member left in training would draw dropout, and answer otherwise each time."""
    three[1] = sharpened(luong(corpus, hidden=8, dropout=0.5)).requires_grad_(False)
    ensemble, pairs = Ensemble(three), corpus.test[:5]

    def answers():
        scores = [found.score for found in greedy(ensemble, sources(corpus, 5))]
        return scores, perplexity(ensemble, pairs), force_align(ensemble, pairs)

    expected = answers()
    three[1].train()
    assert answers() == expected
    assert [model.training for model in three] == [False, True, False]


def test_what_makes_no_ensemble_is_refused(corpus):
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
    fixed = rnnencdec(corpus, hidden=4)
    for model, name in ((fixed, "rnnencdec"), (Ensemble([fixed, fixed]), "ensemble")):
        assert beam_search(model, [["w1", "w2"]])[0].alignment is None
        with pytest.raises(ValueError, match=rf"\({name}\) does not attend"):
            force_align(model, corpus.test)


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
    assert read_dictionary(links, pairs) == expected
    tie = [pair("Hund", "hound"), pair("Hund", "dog")]
    for order in (tie, tie[::-1]):
        assert read_dictionary([{(0, 0)}] * 2, order) == {"Hund": "dog"}
    with pytest.raises(ValueError):
        read_dictionary(links[:2], pairs)
    beside = pair("▁ oder", "▁ or")  # of a text that has this character
    assert read_dictionary([{(0, 0)}, *links], [beside, *pairs]) == expected | {"▁": "▁"}


@pytest.mark.parametrize("side", ["source", "target"])
@pytest.mark.parametrize("pieces", [("▁ein", "▁H", "und"), ("▁ein", "▁Hund")])
def test_a_dictionary_is_not_read_off_pieces(side, pieces):
    """Links join words, so the first piece would be taken for the first word, and so on."""
    words = {"source": ("ein", "Hund"), "target": ("ein", "Hund")} | {side: pieces}
    pair = Pair(**words, source_text="ein Hund", target_text="ein Hund")
    with pytest.raises(ValueError, match=rf"the {side} of these pairs is in pieces.*in_words"):
        read_dictionary([{(0, 0), (1, 1)}], [pair])


@pytest.mark.parametrize("penalty", [15.0, 15.1, 60.0, 1e4, 1e300])
def test_no_length_penalty_loses_an_answer(penalty, sharp, corpus):
    sentences = [pair.source for pair in corpus.test[:5]]
    found = beam_search(sharp, sentences, beam=3, length_penalty=penalty)
    assert [len(one.words) for one in found] == [2 * len(words) + 10 for words in sentences]
