"""The store that the studies of ``studies/`` share: filled step by step, never lost."""

import json
from importlib import import_module

import pytest

from attnmt.evidence.folders import results_folder
from studies.study import open_store, save_store, start, studies

HEAD = {"command": "make study NAME=some", "corpus": {"fingerprint": "abc"}}


def test_a_new_study_begins_with_its_head(tmp_path):
    assert open_store(tmp_path / "some.json", HEAD) == HEAD


def test_what_is_stored_is_there_at_the_next_start(tmp_path):
    path = tmp_path / "some.json"
    save_store(path, HEAD | {"command": "an older one", "cases": ["Straße"]})
    assert open_store(path, HEAD) == HEAD | {"cases": ["Straße"]}  # the head is this start's
    assert "Straße" in path.read_text(encoding="utf-8")


def test_the_store_of_another_corpus_is_refused_and_left(tmp_path):
    path = tmp_path / "some.json"
    save_store(path, HEAD | {"corpus": {"fingerprint": "xyz"}})
    before = path.read_bytes()
    with pytest.raises(SystemExit, match=r"some\.json is of another corpus"):
        open_store(path, HEAD)
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


@pytest.mark.parametrize("name", studies())
def test_a_study_is_named_as_its_results(name):
    study = import_module(f"studies.{name}")
    expected = results_folder() / "studies" / f"{name}.json"
    assert expected == study.STORE
    assert callable(study.main)


def test_every_study_has_results_and_every_result_its_study():
    found = {path.stem for path in (results_folder() / "studies").glob("*.json")}
    of_benchmarks = {"benchmarks", "costs", "watch_it_learn"}
    assert found - of_benchmarks == set(studies())


def test_a_study_is_started_by_its_name(monkeypatch):
    started = []
    monkeypatch.setattr("studies.coverage.main", lambda: started.append("coverage"))
    start(["coverage"])
    assert started == ["coverage"]
    for wrong in ([], ["live-recipes"], ["study"], ["searches", "coverage"]):
        with pytest.raises(SystemExit, match=r"Which study\? There are: back_translation, caption"):
            start(wrong)
