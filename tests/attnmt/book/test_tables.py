"""tables.py: numbers of several seeds in few characters."""

import pytest

from attnmt.book.tables import listed, mean, seeds, spread, table, with_range


def test_mean_and_spread():
    assert mean([1.0, 2.0, 6.0]) == 3.0
    assert spread([2.0, 6.0, 1.0]) == 5.0
    with pytest.raises(ValueError, match="no values, so no mean"):
        mean([])


def test_every_value_and_a_dash_where_there_is_none():
    assert listed([20.14, None, 3.0]) == "20.1, –, 3.0"
    assert listed([0.5], digits=2) == "0.50"


def test_mean_lowest_and_highest():
    assert with_range([1.0, 2.0, 6.0]) == "3.0 (1.0–6.0)"
    assert with_range([0.25, None], digits=2) == "0.25 (1 seed)"
    assert with_range([None, None]) == with_range([]) == "–"


def test_seeds_in_words():
    assert [seeds(some) for some in ([], [3], [3, 4])] == ["0 seeds", "1 seed", "2 seeds"]


def test_a_table_keeps_its_columns():
    lines = table(["a", "b"], [["1", "2 | 3"]]).data.splitlines()
    assert lines == ["| a | b |", "|---|---|", r"| 1 | 2 \| 3 |"]
    with pytest.raises(ValueError, match="1 cells for 2 columns"):
        table(["a", "b"], [["1"]])
