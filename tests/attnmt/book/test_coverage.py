"""coverage.py: what a translation says twice and what it leaves out."""

from collections import Counter
from dataclasses import replace

import pytest

from attnmt import Pair, Vocabulary
from attnmt.book.coverage import content_words, measure_coverage, partners_of

LINKS = frozenset({(0, 0), (1, 1), (2, 2), (3, 3), (4, 4)})
PAIR = Pair(
    source=("der", "Hund", "sucht", "den", "Hund"),
    target=("the", "dog", "seeks", "the", "dog"),
    source_text="Der Hund sucht den Hund",
    target_text="The dog seeks the dog",
    sure=LINKS,
    possible=LINKS,
    classes=("article", "noun", "verb", "article", "noun"),
)
CONTENT = {"dog", "seeks", "cat"}


@pytest.mark.parametrize(
    ("written", "skipped", "repeated"),
    [
        ("the dog seeks the dog", [], {}),
        ("dog dog seeks", [], {}),  # neither places nor other words count
        ("the dog seeks", [4], {}),  # the second dog is missing
        ("the dog dog dog the", [2], {"dog": 1}),
        ("", [1, 2, 4], {}),
        ("the cat cat cat seeks", [1, 4], {"cat": 2}),  # the first is invented, no repetition
    ],
)
def test_what_is_skipped_and_repeated(written, skipped, repeated):
    assert measure_coverage(PAIR, written.split(), CONTENT) == (skipped, Counter(repeated))


def test_a_word_with_two_partners_is_skipped_when_both_are_missing():
    two = replace(PAIR, sure=LINKS | {(2, 1)})
    assert partners_of(two, 2, CONTENT) == {1, 2}
    assert 2 not in measure_coverage(two, ["dog", "dog"], CONTENT).skipped
    assert 2 in measure_coverage(two, ["the"], CONTENT).skipped


def test_content_words_are_those_that_mostly_are_and_that_are_known():
    vocabulary = Vocabulary(["dog", "the", "seeks"], "en")
    assert content_words([PAIR], vocabulary) == {"dog", "seeks"}
    other = replace(PAIR, classes=("noun", "article", "verb", "noun", "article"))
    assert content_words([PAIR, PAIR, other], vocabulary) == {"dog", "seeks"}
