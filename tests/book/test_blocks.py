"""No helper stands in two chapters: what they share is in attnmt.book."""

import ast
import re
from collections import defaultdict

import nbformat

from press.contents import ROOT

LINES = 5  # identical lines in a row, blank ones not counted, that two notebooks may not share
IMPORT = re.compile(r"\s*(import|from) ")
NOTEBOOKS = sorted((ROOT / "book").glob("[!_]*.ipynb"))  # chapters begin as the template


def lines_of(source: str) -> list[str]:
    """The lines of a cell that count, a statement's in one: neither magics nor imports."""
    kept = ["" if line.startswith(("%", "!")) else line for line in source.splitlines()]
    lines = ast.unparse(ast.parse("\n".join(kept))).splitlines()
    return [line.strip() for line in lines if line.strip() and not IMPORT.match(line)]


def shared_blocks(notebooks: dict[str, list[str]]) -> dict[tuple[str, ...], set[str]]:
    """The blocks that stand in more than one notebook, from the sources of each one's cells."""
    places: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for name, cells in notebooks.items():
        for lines in map(lines_of, cells):
            for start in range(len(lines) - LINES + 1):
                places[tuple(lines[start : start + LINES])].add(name)
    return {block: names for block, names in places.items() if len(names) > 1}


def cells_of(path) -> list[str]:
    """The sources of a notebook's code, but for the cell that every notebook has for Colab."""
    cells = nbformat.read(path, as_version=4).cells
    return [
        cell.source
        for cell in cells
        if cell.cell_type == "code" and "colab" not in cell.metadata.get("tags", [])
    ]


def test_blocks_are_found():
    block = "\n\n".join(f"x = {number}" for number in range(LINES))
    others = "import os\nfrom a import (\n    b,\n    c,\n    d,\n    e,\n)\n%pip list\n"
    indented = "def f():\n" + "\n".join(f"    {line}" for line in block.splitlines())
    found = shared_blocks({"1": [others, block], "2": [others, indented], "3": [block[:-5]]})
    assert list(found.values()) == [{"1", "2"}]
    assert shared_blocks({"1": [block, block]}) == {}


def test_no_block_of_code_stands_in_two_notebooks():
    found = shared_blocks({path.name: cells_of(path) for path in NOTEBOOKS})
    told = (f"{', '.join(sorted(names))}:\n" + "\n".join(block) for block, names in found.items())
    assert not found, "write it once, in src/attnmt/book, and import it:\n\n" + "\n\n".join(told)
