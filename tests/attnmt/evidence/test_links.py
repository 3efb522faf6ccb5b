"""links.py: yardsticks for alignment error, where a model looks, and gold links of real text."""

import json
import os
from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attnmt import Pair, alignment_error_rate, force_align
from attnmt.corpus import multi30k
from attnmt.evidence.links import (
    BY,
    Drawn,
    agreement,
    best_possible,
    diagonal,
    error_of,
    gold_links,
    gold_mass,
    gold_pairs,
    jump,
    off_diagonal,
    read_links,
    spread_of_scores,
    weights_on,
    windows_on,
    words_and_links,
)
from attnmt.evidence.plan import results_folder
from attnmt.model import luong

lengths = st.integers(1, 60)


def pair_of(S, T, sure=frozenset(), possible=None):
    words = (tuple(f"s{k}" for k in range(S)), tuple(f"t{k}" for k in range(T)))
    possible = sure if possible is None else possible
    return Pair(*words, *(" ".join(side) for side in words), sure=sure, possible=possible)


@given(lengths, lengths)
def test_the_diagonal_takes_the_nearest_word(S, T):
    pair = pair_of(S, T)
    links = diagonal(pair)
    assert sorted(t for _, t in links) == list(range(T))
    for s, t in links:
        assert 0 <= s < S
        assert abs(off_diagonal(pair, s, t)) <= 0.5 + 1e-9


@given(lengths, lengths, st.data())
def test_a_jump_is_the_longest_way_off_the_diagonal_in_source_words(S, T, data):
    link = st.tuples(st.integers(0, S - 1), st.integers(0, T - 1))
    sure = data.draw(st.frozensets(link, min_size=1, max_size=8))
    longest = max(abs((s + 0.5) / S - (t + 0.5) / T) * S for s, t in sure)
    assert jump(pair_of(S, T, sure)) == pytest.approx(longest)


@given(st.data())
def test_no_one_link_a_word_is_better_than_the_best(data):
    S, T = 4, 3
    link = st.tuples(st.integers(0, S - 1), st.integers(0, T - 1))
    sure = data.draw(st.frozensets(link, min_size=1, max_size=5))
    pair = pair_of(S, T, sure, sure | data.draw(st.frozensets(link, max_size=4)))
    other = {(data.draw(st.integers(0, S - 1)), t) for t in range(T)}
    linked = {t for _, t in best_possible(pair)}  # words that have no link may go without
    other = {(s, t) for s, t in other if t in linked}
    assert error_of(best_possible, [pair]) <= alignment_error_rate([other], [pair]) + 1e-12


def test_weights_are_those_of_forced_decoding(sharp, corpus):
    links = force_align(sharp, corpus.test)
    for pair, of_pair in zip(corpus.test[:5], links, strict=False):
        weights = weights_on(sharp, pair)
        assert weights.shape == (len(pair.target), len(pair.source))
        assert torch.allclose(weights.sum(-1), torch.ones_like(weights[:, 0]))
        assert {(int(s), t) for t, s in enumerate(weights.argmax(-1))} == of_pair


def test_words_and_links_count_every_target_word_once(sharp, corpus):
    pairs = corpus.test[:20]
    table = words_and_links(sharp, pairs)
    assert int(table.sum()) == sum(len(pair.target) for pair in pairs)
    forced = force_align(sharp, pairs)
    hits = sum(len(links & pair.possible) for links, pair in zip(forced, pairs, strict=True))
    assert int(table[:, 1].sum()) == hits


@pytest.mark.parametrize("feeding", [False, True])
@pytest.mark.parametrize("window", ["local-m", "local-p"])
def test_windows_are_those_that_the_weights_come_from(corpus, window, feeding, monkeypatch):
    """In a batch as alone, in one call as step by step."""
    monkeypatch.setattr("attnmt.evidence.links.SIDE_BY_SIDE", 4)
    arguments = {"score": "general", "D": 2, "feeding": feeding, "hidden": 8, "seed": 0}
    model = luong(corpus, window=window, **arguments).eval()
    pairs = corpus.test[:10]
    for pair, (p, weights) in zip(pairs, windows_on(model, pairs), strict=True):
        S, T = len(pair.source), len(pair.target)
        assert p.shape == (T,)
        assert torch.allclose(weights, weights_on(model, pair), atol=1e-6)
        far = (torch.arange(S) - p[:, None]).abs() > 2
        assert torch.equal(weights == 0, far)
        if window == "local-m":
            assert p.tolist() == [min(t, S - 1) for t in range(T)]


def test_gold_mass_is_the_weight_on_a_words_own_links(sharp, corpus):
    """By hand, word by word; a word without a link does not count, one with two has both."""
    pair = replace(corpus.test[0], sure=frozenset({(0, 1), (1, 1), (1, 0)}))
    weights = weights_on(sharp, pair)
    by_hand = (float(weights[1, 0] + weights[1, 1]) + float(weights[0, 1])) / 2
    assert gold_mass(sharp, [pair]) == pytest.approx(by_hand)
    other = replace(corpus.test[1], sure=frozenset({(0, 0)}))
    together = (2 * by_hand + float(weights_on(sharp, other)[0, 0])) / 3
    assert gold_mass(sharp, [pair, other]) == pytest.approx(together, rel=1e-5)


def test_scores_differ_as_the_logarithms_of_the_weights(corpus):
    """Against the scores themselves, of sentences of two lengths."""
    model = luong(corpus, score="general", hidden=8, seed=0)
    scores = []
    hook = model.decoder.attention.score.register_forward_hook(
        lambda *given: scores.append(given[2])
    )
    pairs = sorted(corpus.test, key=lambda pair: len(pair.source))
    pairs = [pairs[-1], next(pair for pair in pairs if len(pair.source) > 1)]
    found = spread_of_scores(model, pairs)
    hook.remove()
    (e,) = scores
    of_words = [
        float(e[k, t, : len(pair.source)].std())
        for k, pair in enumerate(pairs)
        for t in range(len(pair.target))
    ]
    assert len(pairs[0].source) > len(pairs[1].source)
    assert found == pytest.approx(sum(of_words) / len(of_words), rel=1e-3)


# --------------------------------------------------------------------------------- gold links

LINKS = st.sets(st.tuples(st.integers(0, 4), st.integers(0, 6)), max_size=12)


@given(LINKS, LINKS)
def test_links_are_read_as_they_are_written(sure, more):
    more -= sure
    written = [f"{s}-{t}" for s, t in sure] + [f"{s}?{t}" for s, t in more]
    drawn = read_links(" ".join(sorted(written)))
    assert drawn == Drawn(frozenset(sure), frozenset(sure | more))


def test_the_file_has_three_drawings_of_150_pairs_and_no_word_of_a_caption():
    text = (results_folder() / "gold" / "multi30k_de-en.json").read_text("utf-8")
    for pair in json.loads(text)["pairs"]:
        assert set(pair) == {"index", "sha256", "words", *BY}
        assert set("".join(pair[who] for who in BY)) <= set("0123456789-? ")
    links = gold_links()
    assert len({gold.index for gold in links}) == len(links) == 150
    for gold in links:  # what is settled was in doubt only where the readings differed
        first, second, settled = (gold.by[who] for who in BY)
        assert first.sure and second.sure
        assert first.sure & second.sure <= settled.sure <= first.sure | second.sure
        either = first.possible | second.possible
        assert first.possible & second.possible <= settled.possible <= either


def test_other_words_get_no_links_and_a_global_window_has_no_centre(sharp, corpus):
    pair = Pair(("ein", "haus"), ("a", "house"), "Ein Haus", "A house")
    captions = replace(corpus, test=[pair] * 1_000, name="multi30k-de-en", lower=True)
    with pytest.raises(ValueError, match="not the words that were linked"):
        gold_pairs(captions)
    with pytest.raises(ValueError, match="not of made-up"):
        gold_pairs(corpus)
    with pytest.raises(ValueError, match="by must be one of first, second, settled"):
        gold_pairs(captions, by="third")
    with pytest.raises(ValueError, match="only local windows have a centre"):
        windows_on(sharp, corpus.test[:1])


def test_agreement_of_a_small_example():
    one = [Drawn(frozenset({(0, 0), (1, 1)}), frozenset({(0, 0), (1, 1), (2, 1)}))]
    other = [Drawn(frozenset({(0, 0)}), frozenset({(0, 0), (1, 1)}))]
    found = agreement(one, other)
    assert found["sure"] == pytest.approx(2 * 1 / 3)
    assert found["all"] == pytest.approx(2 * 2 / 5)
    assert found["kind"] == 0.5  # (1, 1) is sure to one, possible to the other
    assert found["pairs"] == 0
    assert agreement(one, one) == {"sure": 1, "all": 1, "kind": 1, "pairs": 1}


@pytest.mark.skipif("ATTNMT_DATA" not in os.environ, reason="needs ATTNMT_DATA, the captions")
def test_the_links_fit_the_captions():
    """The same pairs with case and without; and each reading aligns as the other does."""
    corpus = multi30k("de-en", train=100)
    pairs = gold_pairs(corpus)
    assert len(pairs) == 150
    assert [p.sure for p in gold_pairs(multi30k("de-en", train=100, lower=False))] == [
        p.sure for p in pairs
    ]
    for pair, gold in zip(pairs, gold_links(), strict=True):
        assert (len(pair.source), len(pair.target)) == gold.words
        assert all(s < gold.words[0] and t < gold.words[1] for s, t in pair.possible)
        last = (len(pair.source) - 1, len(pair.target) - 1)
        if pair.source[-1] == pair.target[-1] == ".":
            assert last in pair.sure
    sure = [pair.sure for pair in gold_pairs(corpus, "first")]
    assert alignment_error_rate(sure, gold_pairs(corpus, "second")) < 0.1
