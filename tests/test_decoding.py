"""decoding.py: greedy search and forced alignment."""

import numpy as np
import pytest
import torch
from conftest import made_up_corpus

from attnmt import decoding as decoding_module
from attnmt import fit, force_align, greedy, rnnsearch
from attnmt.batches import make_batch, pad
from attnmt.training import Recipe
from attnmt.vocab import BOS, EOS, PAD


@pytest.fixture(scope="module")
def learned():
    """A small RNNsearch that has learned most of the made-up language."""
    corpus = made_up_corpus(train=2_000)
    model = rnnsearch(corpus, hidden=32, seed=0)
    recipe = Recipe(epochs=12, batch_size=32, learning_rate=8e-3, halve_after=8)
    fit(model, corpus, recipe, device="cpu", progress=False)
    return model


def sources(corpus):
    return [pair.source for pair in corpus.test]


def test_greedy_takes_the_best_word_at_each_step(sharp, corpus):
    """One sentence at a time, in a plain loop."""
    for sentence, found in zip(sources(corpus), greedy(sharp, sources(corpus)), strict=True):
        memory, state = sharp.start(pad([sharp.source_vocabulary.encode(sentence)]))
        y, words, score, weights = BOS, [], 0.0, []
        while y != EOS and len(words) < 2 * len(sentence) + 10:
            log_p, align, state = sharp.step(torch.tensor([y]), state, memory)
            log_p[0, [PAD, BOS]] = -torch.inf
            y = int(log_p[0].argmax())
            score += float(log_p[0, y])
            if y != EOS:
                words.append(sharp.target_vocabulary.words[y])
                weights.append(align[0].tolist())
        assert found.words == words
        assert found.score == pytest.approx(score)
        assert found.alignment.shape == (len(words), len(sentence))
        assert found.alignment.dtype == np.float32
        expected = np.array(weights).reshape(found.alignment.shape)
        np.testing.assert_allclose(found.alignment, expected, atol=1e-6)


def test_the_score_is_the_models_own_log_probability(learned, corpus):
    for sentence, found in zip(sources(corpus), greedy(learned, sources(corpus)), strict=True):
        if len(found.words) < 2 * len(sentence) + 10:  # ended by </s>, not by the limit
            pair = corpus.test[0].__class__(sentence, tuple(found.words), "", "")
            batch = make_batch([pair], learned.source_vocabulary, learned.target_vocabulary)
            with torch.no_grad():
                loss = float(learned.token_losses(batch).sum())
            assert found.score == pytest.approx(-loss, abs=1e-3)


def test_the_made_up_language_is_learned(learned, corpus):
    """The whole path works: most test sentences come out right, and looked at the right words."""
    found = greedy(learned, sources(corpus))
    right = [t.words == list(p.target) for t, p in zip(found, corpus.test, strict=True)]
    assert np.mean(right) > 0.6
    looked = np.concatenate([t.alignment.argmax(axis=1) for t, ok in zip(found, right) if ok])
    gold = np.concatenate(
        [np.arange(len(p.source))[::-1] for p, ok in zip(corpus.test, right) if ok]
    )
    assert np.mean(looked == gold) > 0.6


def test_a_translation_has_a_greatest_length(corpus):
    """A model that never says </s> is stopped, each sentence at its own limit."""
    model = rnnsearch(corpus, hidden=4)
    with torch.no_grad():
        model.decoder.W_o.bias[EOS] = -1e9
    found = greedy(model, [["w1"], ["w1"] * 6])
    assert [len(translation.words) for translation in found] == [12, 22]


def test_results_come_in_the_order_of_the_sentences(learned, corpus):
    there = greedy(learned, sources(corpus), batch_size=7)
    back = greedy(learned, sources(corpus)[::-1], batch_size=7)[::-1]
    assert [t.words for t in there] == [t.words for t in back]


def test_searching_leaves_the_models_mode_alone(learned):
    learned.train()
    greedy(learned, [["w1"]])
    assert learned.training
    learned.eval()


def test_unknown_words_control_characters_and_emoji_are_unknown_words(learned):
    (found,) = greedy(learned, [["never", "\x07", "🦉"]])
    assert found.alignment.shape[1] == 3


def test_no_sentences_give_no_translations(learned):
    assert greedy(learned, []) == []


def test_bad_input_is_named(learned):
    with pytest.raises(TypeError, match="lists of words"):
        greedy(learned, ["w1 w2"])
    with pytest.raises(TypeError, match="lists of words"):
        greedy(learned, "w1 w2")
    with pytest.raises(ValueError, match="sentence 1 is empty"):
        greedy(learned, [["w1"], []])


def test_force_align_takes_the_strongest_source_word_of_each_target_word(sharp, corpus):
    links = force_align(sharp, corpus.test, batch_size=7)
    for pair, found in zip(corpus.test, links, strict=True):
        batch = make_batch([pair], sharp.source_vocabulary, sharp.target_vocabulary)
        with torch.no_grad():
            _, align = sharp(batch)
        strongest = align[0, : len(pair.target)].argmax(-1).tolist()
        assert found == {(s, t) for t, s in enumerate(strongest)}
        assert sorted(t for _, t in found) == list(range(len(pair.target)))  # </s> is no word


def test_force_align_needs_a_model_that_attends(learned, corpus, monkeypatch):
    monkeypatch.setattr(learned.decoder, "attention", None)
    with pytest.raises(ValueError, match="does not attend"):
        force_align(learned, corpus.test)


def test_the_greatest_length_is_in_proportion_to_the_source():
    factor, extra = decoding_module.MAX_LENGTH
    assert factor > 1 and extra > 0
