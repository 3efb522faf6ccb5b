"""studies/back_translation.py: new text that no test set has, read backwards, then learned from."""

import json
from dataclasses import replace

import pytest

from attnmt import luong
from attnmt.corpus import MULTI30K_TESTS
from attnmt.text.subwords import in_pieces
from attnmt.vocab import UNK
from studies import back_translation as study
from studies.strongest import in_moses_words

RUNS = json.loads(study.STORE.read_text(encoding="utf-8"))["runs"]


@pytest.fixture
def pieces(corpus):
    return in_pieces(replace(corpus, lower=True, bleu_of_words=True), 15, joint=True)


@pytest.fixture
def small(pieces, monkeypatch):
    """The study on a made-up corpus, with three new descriptions, and some that are left out."""
    known = [pieces.test[0], pieces.valid[0], pieces.train[0]]
    texts = [pair.target_text for pair in known]
    texts += ["v1 V2 v3", "v1 v2  v3", "", "v4 v4 v4", "v0 " * 51, "v5 v5 v5"]
    monkeypatch.setattr(study, "load_corpus", lambda name, **others: pieces)
    monkeypatch.setattr(study, "descriptions", lambda language: texts)
    return pieces


def test_a_description_that_any_part_of_the_corpus_has_is_left_out(small):
    found, counts = study.new_targets("any", "en")
    assert [words for _, words in found] == [("v1", "v2", "v3"), ("v4",) * 3, ("v5",) * 3]
    left_out = {"in the corpus": 3, "twice": 1, "no words or too many": 2}
    assert counts == {"read": 9} | left_out


def test_every_test_set_is_held_out(pieces, monkeypatch):
    asked = []

    def load(name, test):
        asked.append(test)
        return pieces

    monkeypatch.setattr(study, "load_corpus", load)
    known = study.held_out("any")
    assert asked == list(MULTI30K_TESTS)
    assert {tuple(pair.target_text.split()) for pair in pieces.test} <= known


def test_true_pairs_stand_twice_and_the_others_once(small, monkeypatch):
    """The others are cut into the pieces of the corpus: no unit of theirs is unknown."""
    written = [["w3", "w2"], [], ["w5"]]  # an empty one is left out
    monkeypatch.setattr(study, "read_backwards", lambda name, texts: written[: len(texts)])
    found, facts = study.larger("any")
    true, made = found.train[: 2 * len(small.train)], found.train[2 * len(small.train) :]
    assert true == 2 * small.train
    units = small.source_vocabulary.units, small.target_vocabulary.units
    assert [units[0].join(pair.source) for pair in made] == [["w3", "w2"], ["w5"]]
    assert [units[1].join(pair.target) for pair in made] == [["v1", "v2", "v3"], ["v5"] * 3]
    assert facts["pairs"]["synthetic pairs"] == 2
    assert facts["descriptions"] == {"words": 3, "without a full stop": 1}
    assert not any(UNK in small.source_vocabulary.encode(pair.source) for pair in made)
    assert (found.valid, found.test) == (small.valid, small.test)


def test_what_was_read_backwards_is_read_once(pieces, monkeypatch, tmp_path):
    """A line a text, its pieces joined to words; the second time from the file."""
    backwards = replace(pieces, source_language="en", target_language="de")
    model = luong(backwards, hidden=8)
    monkeypatch.setattr(study, "KEPT", tmp_path / "models")
    monkeypatch.setattr(study, "READS", {"any": "some-run"})
    monkeypatch.setattr(study, "trained_model", lambda name: model)
    found = study.read_backwards("any", ["w1 w2", "w3"])
    assert len(found) == 2
    assert all("▁" not in word for line in found for word in line)
    monkeypatch.delattr(study, "trained_model")
    assert study.read_backwards("any", ["w1 w2", "w3"]) == found


@pytest.mark.parametrize("name", study.READS)
def test_what_is_stored_adds_up(name):
    found = RUNS[name]
    pairs = found["pairs"]
    left = pairs["read"] - pairs["in the corpus"] - pairs["twice"] - pairs["no words or too many"]
    assert 0.99 * left < pairs["synthetic pairs"] <= left
    assert pairs["true pairs"] == 29_000
    assert found["elsewhere"].keys() == MULTI30K_TESTS.keys()
    assert found["elsewhere"]["flickr2016"] == in_moses_words(found["test"]["beam"])
