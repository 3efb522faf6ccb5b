"""book/_live/sentences.json: models know every word that a page offers, and each has a gloss."""

import json
from itertools import pairwise
from pathlib import Path

import pytest

from attnmt.book import pretrained
from attnmt.grammar import fresh_names, names, select

ROOT = Path(__file__).resolve().parents[3]
OFFERED = json.loads((ROOT / "book" / "_live" / "sentences.json").read_text(encoding="utf8"))


@pytest.fixture(scope="module")
def vocabulary():
    return pretrained("rnnsearch").source_vocabulary


def test_each_sentence_grows_out_of_the_one_before():
    for chain in OFFERED["chains"]:
        for shorter, longer in pairwise(chain):
            for side in ("german", "english"):
                kept = len(shorter[side]) - 1  # all but the full stop
                assert longer[side][:kept] == shorter[side][:kept]
        assert len(chain[0]["german"]) <= 8 and len(chain[-1]["german"]) >= 52


def test_the_models_know_every_word_of_what_is_offered(vocabulary):
    chained = [sentence for chain in OFFERED["chains"] for sentence in chain]
    for sentence in [*chained, *OFFERED["random"]]:
        assert all(word in vocabulary for word in sentence["german"])


def test_growing_sentences_have_no_made_up_names():
    made_up = {german for kind in ("person", "town") for _, german in names(kind).known}
    made_up -= {row.german for row in select("names", kind="person town")}
    assert made_up | fresh_names()
    for chain in OFFERED["chains"]:
        assert made_up.isdisjoint(chain[-1]["german"])


def test_every_word_of_the_vocabulary_has_a_gloss_and_names_are_offered_last(vocabulary):
    words = [word for word in vocabulary.words[4:] if any(letter.isalpha() for letter in word)]
    assert list(OFFERED["glosses"]) == words
    assert sorted(OFFERED["complete"]) == sorted(words)
    assert all(0 < len(gloss) <= 40 for gloss in OFFERED["glosses"].values())
    first = len(OFFERED["complete"]) - OFFERED["names"]
    assert {"Hund", "die", "gekauft"} <= set(OFFERED["complete"][:first])
    assert {"Anna", "München"} <= set(OFFERED["complete"][first:])


def test_every_noun_is_glossed_by_its_row_of_the_lexicon():
    seen = 0
    for row in select("nouns"):
        for german, english in ((row.german, row.english), (row.plural, row.english_plural)):
            if german in OFFERED["glosses"]:
                seen += 1
                assert english in OFFERED["glosses"][german].split(" / ")
    assert seen > 80
