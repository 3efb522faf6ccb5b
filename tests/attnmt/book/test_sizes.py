"""sizes.py: the knob, and that it repeats the recorded runs."""

import pytest

from attnmt.book.sizes import SIZES
from attnmt.evidence.plan import planned
from attnmt.evidence.store import load_run


def test_a_live_training_reads_fresh_pairs_once_and_overnight_repeats_the_recorded_recipe():
    assert SIZES["chapter"].live_recipe.epochs == 1
    assert SIZES["chapter"].live_recipe.fall
    run = load_run("rnnsearch-grammar-0")
    assert SIZES["overnight"].live_recipe == run.recipe
    assert SIZES["overnight"].live_pairs == run.corpus["train"]


def test_a_chapter_trains_on_captions_as_the_runs_that_stand_in_for_it():
    chapter = SIZES["chapter"]
    found = [load_run(name) for name in planned("L")]
    assert {run.corpus["train"] for run in found} == {chapter.real_pairs}
    assert {run.model["hidden"] for run in found} == {chapter.hidden}
    assert all(run.recipe == chapter.real_recipe for run in found)


def test_an_environment_variable_turns_every_knob_and_a_wrong_name_is_told(monkeypatch):
    assert SIZES["chapter"].live_pairs > SIZES["quick"].live_pairs
    assert SIZES["chapter"].tested == SIZES["overnight"].tested == 1_000  # as the pages say
    monkeypatch.setenv("ATTNMT_SIZE", "quick")
    assert SIZES["chapter"] is SIZES["overnight"] is SIZES["quick"]
    monkeypatch.setenv("ATTNMT_SIZE", "Quick")
    with pytest.raises(ValueError, match="quick"):
        SIZES["chapter"]
