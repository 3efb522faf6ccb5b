"""book/_live/sentences.json: models know every word that a page offers, and each has a gloss."""

import json
from pathlib import Path

import pytest

from attnmt.book import pretrained

ROOT = Path(__file__).resolve().parents[3]
OFFERED = json.loads((ROOT / "book" / "_live" / "sentences.json").read_text(encoding="utf8"))


@pytest.fixture(scope="module")
def vocabulary():
    return pretrained("rnnsearch").source_vocabulary


def test_the_models_know_every_word_of_what_is_offered(vocabulary):
    chained = [sentence for chain in OFFERED["chains"] for sentence in chain]
    for sentence in [*chained, *OFFERED["random"]]:
        assert all(word in vocabulary for word in sentence["german"])


def test_every_word_of_the_vocabulary_has_a_gloss_and_names_are_offered_last(vocabulary):
    words = [word for word in vocabulary.words[4:] if any(letter.isalpha() for letter in word)]
    assert list(OFFERED["glosses"]) == words
    assert sorted(OFFERED["complete"]) == sorted(words)
    assert all(0 < len(gloss) <= 40 for gloss in OFFERED["glosses"].values())
    first = len(OFFERED["complete"]) - OFFERED["names"]
    assert {"Hund", "die", "gekauft"} <= set(OFFERED["complete"][:first])
    assert {"Anna", "München"} <= set(OFFERED["complete"][first:])
