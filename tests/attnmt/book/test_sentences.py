"""sentences.py: what a page offers comes out of the grammar, and is there for every word."""

from itertools import pairwise
from pathlib import Path

import pytest

from attnmt.book import pretrained
from attnmt.book.live import sentences
from attnmt.book.live.sentences import CHAINS, GROWTH, RANDOM, offers
from attnmt.grammar import written

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def vocabulary():
    return pretrained("rnnsearch").source_vocabulary


@pytest.fixture(scope="module")
def offered(vocabulary):
    return offers(vocabulary)


@pytest.fixture(scope="module")
def every_sentence(offered):
    return [*(sentence for chain in offered["chains"] for sentence in chain), *offered["random"]]


def test_each_sentence_grows_out_of_the_one_before(offered):
    assert len({written(chain[0]["german"]) for chain in offered["chains"]}) == CHAINS
    for chain in offered["chains"]:
        for shorter, longer in pairwise(chain):
            for side in ("german", "english"):
                kept = len(shorter[side]) - 1  # all but the full stop
                assert longer[side][:kept] == shorter[side][:kept]
        for sentence, (least, most) in zip(chain, GROWTH, strict=True):
            assert least <= len(sentence["german"]) <= most


def test_random_sentences_are_of_all_lengths_and_none_twice(offered):
    lengths = [len(sentence["german"]) for sentence in offered["random"]]
    assert {length: lengths.count(length) for length in RANDOM} == RANDOM
    assert len({sentence["german"] for sentence in offered["random"]}) == sum(RANDOM.values())


def test_the_models_know_every_word_of_what_is_offered(every_sentence, vocabulary):
    for sentence in every_sentence:
        assert all(word in vocabulary for word in sentence["german"])


# ---------------------------------------------------------------------------------- glosses


def test_every_word_of_the_vocabulary_has_a_gloss(offered, vocabulary):
    words = [word for word in vocabulary.words[4:] if any(letter.isalpha() for letter in word)]
    assert list(offered["glosses"]) == words
    assert sorted(offered["complete"]) == sorted(words)
    assert all(0 < len(gloss) <= 40 for gloss in offered["glosses"].values())


@pytest.mark.parametrize(
    ("german", "gloss"),
    [
        ("Männern", "men"),  # inflected: dative plural
        ("Hausschlüssel", "house key / house keys"),  # one word for two, and one form for two
        ("aufzustehen", "to get up"),
        ("musste", "had to"),  # a modal with its helper
        ("sie", "they / she"),
        ("im", "in the / in"),
        ("um", "in order"),  # whose links are possible ones only
        ("Frau", "woman / Mrs."),  # a noun before a title
        ("auf", "for / on / at"),  # without the verbs of auf: aufstehen
        ("mit", "with / along"),  # brachte ... mit: brought along
    ],
)
def test_a_gloss_is_what_the_lexicon_says(german, gloss, offered):
    assert offered["glosses"][german] == gloss


def test_a_word_that_the_grammar_lacks_is_refused(vocabulary, monkeypatch):
    monkeypatch.setattr(
        sentences, "glosses", lambda words: dict.fromkeys(words, "") | {"der": "the"}
    )
    with pytest.raises(ValueError, match=r"the grammar has no translation of .*Frau"):
        offers(vocabulary)


# --------------------------------------------------------------------------------- the file


def test_the_pages_file_is_what_the_command_writes(tmp_path, monkeypatch, vocabulary, offered):
    monkeypatch.setattr(sentences, "offers", lambda of: offered if of == vocabulary else None)
    sentences.write(tmp_path / "sentences.json")
    content = (tmp_path / "sentences.json").read_bytes()
    assert (ROOT / sentences.PAGE).read_bytes() == content
    assert len(content) < 150_000
