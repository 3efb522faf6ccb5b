"""What the study of several processes and streams must have found."""

import json

import pytest

from studies.scale import KILLS, PAIRS, RECIPES, STORE, UPDATES

STORED = json.loads(STORE.read_text(encoding="utf8"))


@pytest.mark.parametrize(
    "row", STORED["same"], ids=lambda row: f"{row['recipe']}, {row['processes']}"
)
def test_several_processes_are_one_training(row):
    assert row["updates"] == UPDATES
    assert row["loss"] < 1e-5
    assert row["weights"] < 1e-6


def test_two_and_four_processes_and_every_optimiser_were_tried():
    tried = {(row["recipe"], row["processes"]) for row in STORED["same"]}
    assert tried == {(name, size) for name in RECIPES for size in (2, 4)}


def test_every_kill_was_survived():
    rows = STORED["kills"]
    assert len(rows) == KILLS and {row["victim"] for row in rows} == {0, 1}
    assert all(row["same"] for row in rows)
    assert all(row["survivor"] != -999 for row in rows)  # none hung


def test_memory_does_not_grow_with_what_is_streamed():
    found = STORED["streamed"]
    assert found["pass"][-1]["pairs"] == PAIRS
    for marks in (found["pass"], found["epoch"]):
        assert marks[-1]["MB"] - marks[1]["MB"] < 20
