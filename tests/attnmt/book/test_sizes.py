"""sizes.py: the knob, and that the middle size repeats the recorded runs."""

import pytest

from attnmt.book.sizes import SIZES
from attnmt.evidence.runs import load_run, recorded


def test_the_sizes_grow():
    quick, chapter, overnight = SIZES["quick"], SIZES["chapter"], SIZES["overnight"]
    for field in ("live_pairs", "grammar_pairs", "real_pairs", "hidden"):
        assert getattr(quick, field) < getattr(chapter, field) < getattr(overnight, field)


def test_a_live_training_reads_fresh_pairs_once_and_overnight_repeats_the_recorded_recipe():
    assert SIZES["chapter"].live_recipe.epochs == 1
    assert SIZES["chapter"].live_recipe.fall
    run = load_run("rnnsearch-grammar-0")
    assert SIZES["overnight"].live_recipe == run.recipe
    assert SIZES["overnight"].live_pairs == run.corpus["train"]


@pytest.mark.parametrize(
    ("corpus_name", "pairs", "recipe"),
    [
        ("grammar", "grammar_pairs", "grammar_recipe"),
        ("multi30k", "real_pairs", "real_recipe"),
    ],
)
def test_a_chapter_trains_as_the_recorded_runs_beside_it(corpus_name, pairs, recipe):
    chapter = SIZES["chapter"]
    for run in recorded("luong-dot", corpus_name):
        assert run.corpus["train"] == getattr(chapter, pairs)
        assert run.model["hidden"] == chapter.hidden
        assert run.recipe == getattr(chapter, recipe)
