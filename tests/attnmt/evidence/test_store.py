"""store.py: a recorded run is one file that says everything, and nothing half-written is read."""

import json
import os
from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest

from attnmt.evidence import store
from attnmt.evidence.plan import model_arguments, planned, read_plan, recipe_of, results_folder
from attnmt.evidence.store import (
    CLOSE,
    NOT_TESTED,
    fall,
    load_run,
    load_statistics,
    packed_chrf,
    recorded,
    save_run,
    trained,
    unpacked_chrf,
)
from attnmt.metrics import chrf_of, chrf_statistics, perplexity_of


def test_what_is_kept_of_sentences_is_what_is_loaded(run, statistics, tmp_path):
    save_run(run, statistics, tmp_path)
    loaded = load_statistics(run.name, tmp_path)
    assert loaded.keys() == statistics.keys()
    for name, rows in loaded.items():
        assert np.array_equal(rows, statistics[name])
    with np.load(tmp_path / "counts" / f"{run.name}.npz") as later:  # nothing that is hashed
        assert later.files == ["test_chrf"]
    first = {file: file.read_bytes() for file in tmp_path.rglob("*.*")}
    save_run(run, statistics, tmp_path)
    assert {file: file.read_bytes() for file in tmp_path.rglob("*.*")} == first


def test_counts_of_chrf_are_packed_without_loss():
    """Also of sentences shorter than six characters, or empty."""
    ours = ["a dog sees it", "", "ab", "a dog", "abcdef", "the same"]
    theirs = ["the dog sees", "a", "", "a do", "x", "the same"]
    rows = chrf_statistics(ours, theirs)
    assert np.array_equal(unpacked_chrf(packed_chrf(rows)), rows)


@pytest.mark.parametrize("folder", ["sentences", "counts"])
def test_sentences_that_are_damaged_or_not_there_are_named(run, statistics, tmp_path, folder):
    with pytest.raises(FileNotFoundError, match="'tiny-made-0' kept nothing"):
        load_statistics(run.name, tmp_path)
    save_run(run, statistics, tmp_path)
    file = tmp_path / folder / f"{run.name}.npz"
    file.write_bytes(file.read_bytes()[:30])
    with pytest.raises(ValueError, match=rf"{file} is damaged .*attnmt record tiny-made-0"):
        load_statistics(run.name, tmp_path)


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


def test_each_recorded_run_belongs_to_this_version_of_the_book():
    """Its recipe, corpus and model are those that its command would use today."""
    for name in RECORDED:
        print(name)  # the last one is seen where it fails
        check(name)


def check(name):
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
    if not (system.endswith("-doubled") or corpus_name in ("live", "french")):
        kept = load_statistics(name)
        assert len(kept["test_bleu"]) == run.corpus["test"]
        assert perplexity_of(kept["test_losses"]) == pytest.approx(run.test_perplexity, rel=1e-4)
    if corpus_name in ("grammar", "grammar750"):
        kept = load_statistics(name)
        for part, pairs in {"test": run.corpus["test"], "long": 300, "names": 300}.items():
            assert len(kept[f"{part}_chrf"]) == pairs


CHRF = {  # by sacreBLEU itself, of the translations that commit 50c1aaa still had
    "rnnencdec-doubled-grammar-0": 68.85674744519063,
    "rnnencdec-doubled-grammar-1": 68.95472521358639,
    "luong-local-p-feeding-grammar750-0": 49.120297200893155,
    "luong-local-p-feeding-grammar750-1": 75.64623407892879,
}


@pytest.mark.parametrize("name", CHRF)
def test_stored_counts_give_the_chrf_of_the_translations(name):
    rows = load_statistics(name)["test_chrf"]
    assert float(chrf_of(rows.sum(axis=0))) == pytest.approx(CHRF[name], abs=1e-9)


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


# --------------------------------------------------------------------- cost and convergence


def runs_with_bleu(*scores: float) -> list:
    run = load_run("rnnsearch-grammar-0")
    return [
        replace(run, parts=run.parts | {"test": replace(run.bleu, score=score)}) for score in scores
    ]


def load(*scores: float):
    """Recorded are these scores of the doubled system, and nothing else."""
    doubled = runs_with_bleu(*scores)
    return lambda name, seeds: doubled[:seeds] if name == "rnnsearch-doubled-grammar" else []


@pytest.mark.parametrize(
    ("doubled", "state"),
    [
        ((95.3, 95.3), "converged after 6,250 updates: twice as many move BLEU by +0.3"),
        ((95.5, 95.5), "not converged after 6,250 updates: twice as many move BLEU by +0.5"),
        ((94.0, 94.8), "not converged after 6,250 updates: twice as many move BLEU by −0.6"),
        ((99.0,), NOT_TESTED),  # one doubled seed decides nothing
    ],
)
def test_two_doubled_seeds_decide(doubled, state):
    """The mean of seeds 0 and 1; a third seed of the plain system plays no part."""
    runs = runs_with_bleu(94.0, 96.0, 10.0)
    assert trained("rnnsearch-grammar", runs, load(*doubled)).converged == state
    assert CLOSE == 0.5


def test_the_fall_is_that_of_a_tenth_of_the_updates_before_the_first_halving():
    run = load_run("rnnsearch-grammar-0")  # 6,250 updates in 5 epochs, halved after the second
    points = [
        replace(run.history.curve[0], updates=updates, valid_perplexity=perplexity)
        for updates, perplexity in ((0, 9.0), (1_875, 4.0), (2_500, 3.0), (6_250, 1.0))
    ]
    made_up = replace(run, history=replace(run.history, curve=points))
    assert fall(made_up) == pytest.approx(1 / 4)
    constant = replace(made_up, recipe=replace(run.recipe, halve_after=None))
    assert fall(constant) == 0
