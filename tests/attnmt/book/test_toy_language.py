"""toy_language.py: the table is a language, and the package's searches agree with all of it."""

import math

import pytest

from attnmt import beam_search, greedy
from attnmt.book.toy_language import TABLE, TableModel, next_words


def everything(words=(), score=0.0):
    """Each finished sentence with log p: brute force."""
    if words[-1:] == ("</s>",):
        return [(words[:-1], score)]
    more = next_words(words).items()
    return [one for word, p in more for one in everything((*words, word), score + p)]


def test_each_row_is_a_distribution_and_so_is_the_language():
    for row in TABLE.values():
        assert sum(row.values()) == pytest.approx(1)
    assert sum(math.exp(score) for _, score in everything()) == pytest.approx(1)


def test_a_beam_as_wide_as_the_language_finds_all_of_it_in_order():
    expected = sorted(everything(), key=lambda one: one[1], reverse=True)
    (found,) = beam_search(TableModel(), [["x"]], beam=20, n_best=20)
    assert [tuple(one.words) for one in found] == [words for words, _ in expected]
    assert [one.score for one in found] == pytest.approx([s for _, s in expected], abs=1e-6)
    (greedily,) = greedy(TableModel(), [["x"]])
    assert (greedily.words, list(expected[0][0])) == (["a"], ["b", "a", "b"])  # it misses the best
