"""store.py: a recorded run is one file that says everything, and nothing half-written is read."""

import json
import os
from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest

from attnmt.evidence import record as recording
from attnmt.evidence import store
from attnmt.evidence.folders import results_folder
from attnmt.evidence.plan import model_arguments, planned, read_plan, recipe_of
from attnmt.evidence.store import (
    load_run,
    load_statistics,
    load_translations,
    read_study,
    recorded,
    save_run,
)
from attnmt.metrics import perplexity_of


def test_what_is_kept_of_sentences_is_what_is_loaded(run, sentences, tmp_path):
    ours = replace(sentences, translations={"test": ["a b", ""], "long": ["ä <unk>"]})
    save_run(run, ours, tmp_path)
    assert load_translations(run.name, tmp_path) == ours.translations
    loaded = load_statistics(run.name, tmp_path)
    assert loaded.keys() == sentences.statistics.keys()
    for name, rows in loaded.items():
        assert np.array_equal(rows, sentences.statistics[name])
    first = {file: file.read_bytes() for file in tmp_path.rglob("*.*")}
    save_run(run, ours, tmp_path)
    assert {file: file.read_bytes() for file in tmp_path.rglob("*.*")} == first


@pytest.mark.parametrize("load", [load_statistics, load_translations])
def test_sentences_that_are_damaged_or_not_there_are_named(run, sentences, tmp_path, load):
    ours = replace(sentences, translations={"test": ["a b"] * 99})
    with pytest.raises(FileNotFoundError, match="'tiny-made-0' kept no"):
        load(run.name, tmp_path)
    save_run(run, ours, tmp_path)
    for file in tmp_path.glob("*/*"):
        file.write_bytes(file.read_bytes()[:30])
    with pytest.raises(ValueError, match=r"is damaged .*attnmt record tiny-made-0"):
        load(run.name, tmp_path)


def test_what_was_stored_is_what_is_loaded(run, tmp_path):
    path = save_run(run, folder=tmp_path)
    assert os.listdir(tmp_path) == ["tiny-made-0.json"]
    assert load_run("tiny-made-0", tmp_path) == run
    data = json.loads(path.read_text())
    assert data["command"] == "attnmt record tiny-made-0"
    assert data["format"] == "attnmt-run-2"


def test_a_run_that_is_not_there_is_named_and_those_there_are_listed(run, tmp_path):
    save_run(run, folder=tmp_path)
    with pytest.raises(FileNotFoundError, match=r"'other' .*There are: tiny-made-0"):
        load_run("other", tmp_path)


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[: len(text) // 2],
        lambda text: "[]",
        lambda text: text.replace("attnmt-run-2", "something-else"),
        lambda text: text.replace('"seed":0', '"seed":"zero"'),
        lambda text: "\x80",
    ],
)
def test_a_damaged_or_foreign_file_is_refused_by_name(run, tmp_path, damage):
    path = save_run(run, folder=tmp_path)
    path.write_bytes(damage(path.read_text()).encode("latin-1", errors="replace"))
    with pytest.raises(ValueError, match=rf"{path} is damaged .*attnmt record tiny-made-0"):
        load_run("tiny-made-0", tmp_path)


RECORDED = sorted(path.stem for path in results_folder().glob("*-*.json"))


@pytest.mark.parametrize("name", RECORDED)
def test_a_recorded_run_belongs_to_this_version_of_the_book(name):
    """Its recipe, corpus and model are those that its command would use today."""
    run = load_run(name)
    system, corpus_name, seed = planned()[name]
    assert run.name == name
    assert run.command == f"attnmt record {name}"
    assert run.format == "attnmt-run-2"
    settings = model_arguments(system, corpus_name)
    assert run.recipe == recipe_of(system, corpus_name)
    assert run.seed == run.model["seed"] == seed
    assert settings.items() <= run.model.items()
    assert len(run.history.epochs) == run.recipe.epochs
    assert len(run.samples) == len(read_plan()["corpora"][corpus_name]["samples"])
    assert "case:lc" in run.bleu.signature
    assert run.corpus["train"] == read_plan()["corpora"][corpus_name]["train"]
    kept = load_statistics(name)
    assert len(kept["test_bleu"]) == run.corpus["test"]
    assert perplexity_of(kept["test_losses"]) == pytest.approx(run.test_perplexity, rel=1e-4)
    if corpus_name in ("grammar", "grammar750"):
        assert {part: len(some) for part, some in load_translations(name).items()} == {
            part: len(kept[f"{part}_bleu"]) for part in recording.TRANSLATED
        }


def test_the_runs_of_a_corpus_learned_from_the_same_pairs():
    fingerprints = defaultdict(set)
    for name in RECORDED:
        fingerprints[planned()[name][1]].add(load_run(name).corpus["fingerprint"])
    assert {corpus_name for corpus_name, found in fingerprints.items() if len(found) > 1} == set()


def test_the_runs_of_a_system_come_in_order_up_to_the_first_missing_one(monkeypatch, tmp_path, run):
    monkeypatch.setattr(store, "results_folder", lambda: tmp_path)
    for seed in (0, 1, 3):
        save_run(replace(run, name=f"tiny-made-{seed}", seed=seed), folder=tmp_path)
    assert [found.seed for found in recorded("tiny-made", 8)] == [0, 1]
    assert [found.seed for found in recorded("tiny-made", 1)] == [0]
    assert recorded("no-such-system", 3) == []


def test_a_study_is_read_by_its_name():
    assert read_study("live_recipes")["chosen"]
    with pytest.raises(FileNotFoundError, match=r"no study 'nothing' in .* live_recipes"):
        read_study("nothing")
