"""results/studies/first_words.json: what chapter 2 shows of the first words of translations."""

import json

import pytest

from attnmt.corpus import Pair
from attnmt.evidence.store import load_run, load_translations
from studies.first_words import PLACES, SEEDS, STORE, SYSTEMS, count, recorded, right_before_wrong

STUDY = json.loads(STORE.read_text(encoding="utf-8"))
COUNTS = STUDY["counts"]


def pair(english: str) -> Pair:
    return Pair(source=("x",), target=tuple(english.split()), source_text="x", target_text=english)


def test_words_are_counted_up_to_the_first_wrong_one():
    assert right_before_wrong(["The", "dog", "sees", "it"], ["the", "dog", "saw", "it"]) == 2
    assert right_before_wrong(["the"], ["the", "dog"]) == 1
    assert right_before_wrong([], ["the"]) == 0


def test_a_word_is_asked_only_after_right_ones_and_only_where_the_reference_has_one():
    found = count([pair("the dog sleeps"), pair("he sees it")], ["The dog eats", "She sees it"])
    assert found["asked"][:4] == [2, 1, 1, 0]
    assert found["right"][:4] == [1, 1, 0, 0]


def test_every_recorded_run_is_counted():
    """Start the study again when runs were added."""
    names = [
        f"{system}-grammar-{seed}"
        for system in SYSTEMS
        for seed in range(len(recorded(f"{system}-grammar", SEEDS)))
    ]
    assert list(COUNTS) == names


@pytest.mark.parametrize("name", COUNTS)
def test_counts_are_of_the_recorded_translations(name):
    """An oracle without the corpus: whoever is asked for a word was right before it."""
    assert load_run(name).corpus["fingerprint"] == STUDY["corpus"]["fingerprint"]
    asked, right = COUNTS[name]["asked"], COUNTS[name]["right"]
    assert asked[0] == STUDY["sentences"] < len(load_translations(name)["test"])
    assert asked[1:] == right[:-1]  # these references have more than PLACES words
    assert len(right) == PLACES
    assert right == sorted(right, reverse=True)
