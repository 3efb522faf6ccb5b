"""One comparison, one interval: whatever page shows a row of the claims' list shows the list's."""

import re
from functools import cache
from pathlib import Path

import nbformat
import nbformat.v4 as nb
import pytest

from attnmt.book.figures import forest
from attnmt.evidence.verdicts import judge, verdict_table
from press.contents import ROOT
from press.reading import cells_of

BOOK = ROOT / "book"
NUMBER = r"[+−]\d[\d.,]*"
INTERVAL = re.compile(rf"({NUMBER}) \({NUMBER} to {NUMBER}\)")
MARK = re.compile(r"<!--\w+-->(.*?)<!--/-->", flags=re.DOTALL)
AGAIN = "execute this page again, or let it read the row by judge([id])"
# Cells of chapter 8 with scores made up for the lesson: a difference may happen to read like one of
# the list's.
OTHERS = {"3b02d8ff", "fam-holm"}


@cache
def listed() -> dict[str, set[str]]:
    """The list's intervals, by the difference as it is printed; also as forest plots turn them."""
    found: dict[str, set[str]] = {}
    for row in judge():
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


def other_intervals(cells: list[nbformat.NotebookNode]) -> list[str]:
    """Intervals that are not the list's although the difference is, and all such in sentences."""
    wrong = []
    for cell in cells:
        if cell.get("id") in OTHERS:
            continue
        text = shown(cell)
        for found in INTERVAL.finditer(text):
            theirs = listed().get(found[1], set())
            if theirs and found[0] not in theirs:
                wrong.append(found[0])
        if cell.cell_type == "markdown":
            quoted = [found[0] for mark in MARK.findall(text) for found in INTERVAL.finditer(mark)]
            wrong += [one for one in quoted if one not in {row.ours for row in judge()}]
    return wrong


def other_rows(cells: list[nbformat.NotebookNode]) -> list[str]:
    """Lines of tables of verdicts that are not the list's."""
    whole = verdict_table(judge()).splitlines()
    tables = [shown(cell) for cell in cells if cell.cell_type == "code"]
    heads = {whole[0], "| claim | where | theirs | ours | seeds | verdict |"}
    tables = [text.splitlines() for text in tables if heads & set(text.splitlines())]
    lines = [line for table in tables for line in table if line.startswith("| ")]
    return [line for line in lines if line not in whole]


def pages() -> list[Path]:
    return sorted([*BOOK.glob("*.ipynb"), *BOOK.glob("*.md")])


@pytest.mark.parametrize("path", pages(), ids=lambda path: path.name)
def test_every_interval_on_a_page_is_the_lists(path):
    assert other_intervals(cells_of(path)) == [], AGAIN


@pytest.mark.parametrize("path", pages(), ids=lambda path: path.name)
def test_every_table_of_verdicts_on_a_page_is_the_lists(path):
    assert other_rows(cells_of(path)) == [], AGAIN


def test_another_interval_for_a_row_of_the_list_is_noticed():
    (row,) = judge(["l4-dot-location"])
    narrow = row.ours.replace(" to +", " to +9")
    right = nb.new_markdown_cell(f"It is <!--gain-->{row.ours}<!--/--> BLEU.")
    assert other_intervals([right]) == []
    assert other_intervals([nb.new_markdown_cell(f"It is {narrow}.")]) == [narrow]
    quoted = nb.new_markdown_cell("It is <!--gain-->+77.7 (+77.0 to +78.0)<!--/--> BLEU.")
    assert other_intervals([quoted]) == ["+77.7 (+77.0 to +78.0)"]
    assert other_intervals([nb.new_markdown_cell("Made up: +77.7 (+77.0 to +78.0)")]) == []


def test_another_row_in_a_table_of_verdicts_is_noticed():
    def cell(table: str) -> nbformat.NotebookNode:
        output = nb.new_output("display_data", {"text/markdown": table})
        return nb.new_code_cell("", outputs=[output])

    table = verdict_table(judge(["l4-dot-location", "b1-search"]))
    assert other_rows([cell(table)]) == []
    assert len(other_rows([cell(table.replace("same sign", "opposite sign"))])) == 2
