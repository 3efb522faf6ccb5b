"""search_tree.py: a search in plain lists is the package's, and its picture shows it."""

import pytest

from attnmt import beam_search
from attnmt.book import toy_language
from attnmt.book.figures.search_tree import ALONE, BEST, BOTH, DROPPED, draw, ended, reader, search

pytestmark = pytest.mark.usefixtures("close_figures")


@pytest.mark.parametrize("beam", [1, 3])
def test_the_search_in_lists_is_the_packages(sharp, corpus, beam):
    for pair in corpus.test[:3]:
        next_words = reader(sharp, pair.source, most=beam)
        limit = 2 * len(pair.source) + 10
        words, score = search(next_words, beam, limit)[-1][0]
        (found,) = beam_search(sharp, [pair.source], beam=beam)
        assert [word for word in words if word != "</s>"] == found.words
        assert score == pytest.approx(found.score, abs=1e-6)


def test_a_reader_answers_in_any_order(sharp, corpus):
    """Also about a beginning whose own beginning it was never asked about."""
    source = corpus.test[0].source
    one, other = reader(sharp, source), reader(sharp, source)
    first = next(iter(one(())))
    second = next(iter(one((first,))))
    assert other((first, second)) == one((first, second))
    assert list(one(()).values()) == sorted(one(()).values(), reverse=True)
    assert not {"<pad>", "<s>"} & set(one(()))
    words = len(corpus.target_vocabulary)
    assert len(reader(sharp, source, most=words)(())) == words - 2, "all but these two"


def test_a_finished_hypothesis_stays_and_competes():
    steps = search(toy_language.next_words, beam=2)
    ends = [words for words, _ in steps[1] if ended(words)]
    assert ends == [("a", "</s>")]
    assert [words for words, _ in steps[-1]] == [("b", "a", "b", "</s>"), ("a", "</s>")]


def test_the_tree_shows_every_hypothesis_that_was_kept():
    ax = draw(toy_language.next_words, beam=2)
    shown = {text.get_text(): text.get_color() for text in ax.texts}
    expected = {"<s>  1.00": BOTH} | dict.fromkeys(("a  0.50", "</s>  0.23"), ALONE)
    expected |= dict.fromkeys(("b  0.40", "a  0.38", "b  0.30", "</s>  0.27"), BEST)
    assert {name: color for name, color in shown.items() if name in expected} == expected
    assert len(ax.texts) == len(expected)
    assert len(ax.lines) == len(expected) - 1  # from each word to the one before it
    ax = draw(toy_language.next_words, beam=3)
    kept = {words for step in search(toy_language.next_words, 3) for words, _ in step}
    grey = [text for text in ax.texts if text.get_color() == DROPPED]
    assert len(ax.texts) == len(kept) + 1
    assert (
        len(grey) == len(kept) - 4 - 2
    )  # fell out: the best sentence has four words, greedy's two
