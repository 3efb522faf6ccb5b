"""tables.py: numbers of several seeds in few characters, and the package's code as it stands."""

import pytest

from attnmt import Attention
from attnmt.book.tables import listed, mean, seeds, show_source, spread, table, with_range


def test_scores_of_several_seeds():
    assert (mean([1.0, 2.0, 6.0]), spread([2.0, 6.0, 1.0])) == (3.0, 5.0)
    assert listed([20.14, None, 3.0]) == "20.1, –, 3.0"
    assert with_range([1.0, 2.0, 6.0]) == "3.0 (1.0–6.0)"
    assert with_range([0.25, None], digits=2) == "0.25 (1 seed)"
    assert with_range([None, None]) == with_range([]) == "–"
    assert [seeds(some) for some in ([], [3], [3, 4])] == ["0 seeds", "1 seed", "2 seeds"]
    with pytest.raises(ValueError, match="no values, so no mean"):
        mean([])


def test_a_table_keeps_its_columns():
    lines = table(["a", "b"], [["1", "2 | 3"]]).data.splitlines()
    assert lines == ["| a | b |", "|---|---|", r"| 1 | 2 \| 3 |"]
    with pytest.raises(ValueError, match="1 cells for 2 columns"):
        table(["a", "b"], [["1"]])


def test_show_source_shows_what_the_package_holds():
    shown = show_source(Attention.forward, Attention.prepare).data
    assert shown.startswith("```python\ndef forward(self, query")  # not indented
    assert "align @ memory.annotations" in shown and "\n\n\ndef prepare" in shown
    assert shown.endswith("\n```") and shown.count("```") == 2
