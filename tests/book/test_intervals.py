"""One comparison, one interval: whatever page shows a row of the claims' list shows the list's."""

import re
from functools import cache

import nbformat
import pytest

from attnmt.book.figures import forest
from attnmt.evidence.tables import verdict_table
from attnmt.evidence.verdicts import judge
from press.contents import ROOT
from press.reading import cells_of

BOOK = ROOT / "book"
PAGES = sorted([*BOOK.glob("*.ipynb"), *BOOK.glob("*.md")])
NUMBER = r"[+−]\d[\d.,]*"
INTERVAL = re.compile(rf"({NUMBER}) \({NUMBER} to {NUMBER}\)")
MARK = re.compile(r"<!--\w+-->(.*?)<!--/-->", flags=re.DOTALL)
AGAIN = "execute this page again, or let it read the row by judge([id])"
# Cells of chapter 8 with scores made up for the lesson: a difference may happen to read like one of
# the list's.
OTHERS = {"3b02d8ff", "fam-holm"}


rows = cache(judge)


@cache
def listed() -> dict[str, set[str]]:
    """The list's intervals, by the difference as it is printed; also as forest plots turn them."""
    found: dict[str, set[str]] = {}
    for row in rows():
        for interval in filter(None, (row.ours, forest.numbers(row))):
            found.setdefault(INTERVAL.fullmatch(interval)[1], set()).add(interval)
    return found


def shown(cell: nbformat.NotebookNode) -> str:
    """What a reader sees of a cell as text."""
    if cell.cell_type == "markdown":
        return cell.source
    kinds = ("text/markdown", "text/plain")
    data = [one.get("data", {}).get(kind, "") for one in cell.get("outputs", []) for kind in kinds]
    return "\n".join([*data, *(one.get("text", "") for one in cell.get("outputs", []))])


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_every_interval_and_every_row_of_verdicts_on_a_page_is_the_lists(path):
    """Of a difference that the list has; between a sentence's marks, any interval."""
    ours = {row.ours for row in rows()}
    whole = verdict_table(rows()).splitlines()
    heads = {whole[0], "| claim | where | theirs | ours | seeds | verdict |"}
    for cell in cells_of(path):
        text = shown(cell)
        for found in INTERVAL.finditer(text) if cell.get("id") not in OTHERS else ():
            assert found[0] in listed().get(found[1], {found[0]}), AGAIN
        if cell.cell_type == "markdown":
            marked = [found[0] for mark in MARK.findall(text) for found in INTERVAL.finditer(mark)]
            assert set(marked) <= ours, AGAIN
        elif heads & set(text.splitlines()):
            lines = [line for line in text.splitlines() if line.startswith("| ")]
            assert [line for line in lines if line not in whole] == [], AGAIN
