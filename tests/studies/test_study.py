"""The store that the studies of ``studies/`` share: filled step by step, never lost."""

import json

import pytest

from studies.study import open_store, save_store

HEAD = {"command": "make study NAME=some", "corpus": {"fingerprint": "abc"}, "cases": []}


def test_a_new_study_begins_with_its_head(tmp_path):
    assert open_store(tmp_path / "some.json", HEAD, "cases") == HEAD


def test_what_is_stored_is_there_at_the_next_start(tmp_path):
    path = tmp_path / "some.json"
    save_store(path, HEAD | {"command": "an older one", "cases": ["Straße"], "more": 1})
    again = open_store(path, HEAD, "cases")
    assert again == HEAD | {"cases": ["Straße"]}  # the head is this start's
    assert open_store(path, HEAD) == HEAD | {"more": 1}  # no names: all that the head lacks
    assert "Straße" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("key", ["corpus", "corpora"])
def test_the_store_of_another_corpus_is_refused_and_left(tmp_path, key):
    path = tmp_path / "some.json"
    save_store(path, HEAD | {key: {"fingerprint": "xyz"}})
    before = path.read_bytes()
    with pytest.raises(SystemExit, match=r"some\.json is of another corpus"):
        open_store(path, HEAD, "cases")
    assert path.read_bytes() == before


def test_a_store_can_be_read_while_it_is_written(tmp_path, monkeypatch):
    """The file is replaced in one step: until then the old one stands."""
    path = tmp_path / "some.json"
    save_store(path, HEAD)

    def no_space(*_):
        raise OSError("no space left")

    monkeypatch.setattr("os.replace", no_space)
    monkeypatch.setattr("pathlib.Path.replace", no_space)
    with pytest.raises(OSError, match="no space"):
        save_store(path, HEAD | {"cases": [1]})
    assert json.loads(path.read_text(encoding="utf-8")) == HEAD
