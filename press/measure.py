"""What a page asks of its reader: words, cells, minutes, pictures, code.

    python -m press.measure                            every page that _toc.yml lists
    python -m press.measure book/03_x.ipynb            some notebooks

Exercises do not count: a directive `{exercise}` with everything up to the end of its solution, and
all that stands under a heading *Exercises*. Of what is left,

- *words* are those of the Markdown, without formulas, comments, options of directives and the
  addresses of links;
- *cells* are those that a page shows: not the one for Colab, nor others tagged `remove-cell`;
- *lines* of code are neither blank nor comments, and *folded* are those in cells that a page folds;
- *pictures* are figures, drawn by a cell or included, and live models;
- *minutes* are those of reading the words, at 200 a minute.

At the end: how much the notebooks have before the first heat map of a trained model, in the order
of `_toc.yml`. (*See it* has one that is live, below its first 200 words.)
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell, new_notebook

from press.colab import is_colab_cell
from press.contents import ROOT, chapters, listed
from press.numbers import bare

# The pages that are written to the measure of the house; the others follow.
CORE = (
    "ten_minutes",
    "01_parallel_text",
    "02_fixed_length",
    "03_learning_to_align",
    "04_global_attention",
    "05_local_attention",
    "06_input_feeding",
    "07_decoding",
    "08_whole_family",
    "09_lookup",
)
BESIDE = (
    "evidence_1",
    "evidence_2",
    "evidence_3",
    "evidence_4",
    "locking_on",
    "evidence_5",
    "evidence_6",
    "evidence_7",
    "evidence_8",
    "evidence_9",
    "gold_links",
    "how_far",
    "what_it_costs",
)
MEASURED = (*CORE, *BESIDE)

WORDS = 2_500  # of a page of CORE, at most
CELLS = 40
PICTURES = 3  # in 1,000 words, at least
IMPORTS = 3  # lines of imports in a cell that is not folded, at most
COLUMNS = 88  # of a line of code in a notebook
FIRST_WORDS = 900  # before the first heat map of a trained model
FIRST_LINES = 60

PACE = 200  # words a minute
FOLDED = {"hide-cell", "hide-input"}
ALIGNMENT = 'class="alignment'  # so begins a heat map as attnmt.book.figures.svg stores it
TRAINED = re.compile(r"\b(fit|pretrained|recorded|load_run|demonstrate|demonstration)\b")
FENCE = re.compile(r"\s*(:{3,}|`{3,}|~{3,})\{?([\w-]*)\}?")
HEADING = re.compile(r"(#+)\s+(.*)")


@dataclass
class Reader:
    """Goes through a page line by line and tells what belongs to exercises."""

    section: int = 0  # the level of the heading Exercises that is open
    exercise: bool = False  # one began, and its solution has not ended
    ending: bool = False  # the last directive of a solution is open
    code: str = ""  # the fence of quoted code that is open

    @property
    def counts(self) -> bool:
        """Whether what comes next counts."""
        return not (self.section or self.exercise)

    def line(self, line: str) -> bool:
        """Go on by a line of Markdown; returns whether it counts."""
        fence = FENCE.match(line)
        if self.code or (fence and fence[1][0] != ":" and "{" not in line):
            closes = self.code and line.strip() == self.code
            self.code = "" if closes else self.code or fence[1]
            return self.counts
        if heading := HEADING.match(line):
            self.heading(len(heading[1]), heading[2])
        elif fence and fence[2] in ("exercise", "exercise-start"):
            self.exercise = True
        elif fence and fence[2] == "solution-end":
            self.ending = True
        elif self.ending and fence and not fence[2]:
            self.ending = False
            self.exercise = False
            return False
        return self.counts

    def heading(self, level: int, title: str) -> None:
        self.exercise = False
        if level <= self.section:
            self.section = 0
        if not self.section and re.match(r"exercises?\b", title, flags=re.IGNORECASE):
            self.section = level


def counted(notebook: NotebookNode) -> Iterator[tuple[str, NotebookNode]]:
    """The text of each cell that counts, with the cell."""
    reader = Reader()
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            text = "\n".join(line for line in cell.source.splitlines() if reader.line(line))
        else:
            text = cell.source if reader.counts else ""
        if text.strip() and "remove-cell" not in cell.metadata.get("tags", []):
            yield text, cell


def words(text: str) -> int:
    """Of Markdown."""
    text = re.sub(r"(?s)<!--.*?-->", "", bare(text))
    text = re.sub(r"(?s)^(`{3,})\w*\n.*?^\1", "", text, flags=re.MULTILINE)
    text = re.sub(r"(?s)\$\$.+?\$\$(\s*\([\w-]+\))?|(?<!\\)\$[^$\n]+\$", " ", text)
    text = re.sub(r"(?m)^\s*(:[\w-]+:.*|[:`]{3,}.*|\([\w-]+\)=)$", "", text)
    text = re.sub(r"\{[\w:]+\}`([^`<]*)(<[^>]*>)?`", r"\1", text)  # a role
    text = re.sub(r"\]\([^)]*\)|<[^>]+>", " ", text)
    return len(re.findall(r"\S*\w\S*", text))


def pictures(text: str, cell: NotebookNode) -> int:
    """That a cell shows."""
    if cell.cell_type == "markdown":
        return len(re.findall(r"(?m)^\s*[:`]{3,}\{(?:figure|image|live)\}|!\[|<img\b|<svg\b", text))
    bundles = [output.get("data", {}) for output in cell.outputs]
    drawn = [bundle for bundle in bundles if any(kind.startswith("image/") for kind in bundle)]
    shown = ["".join(bundle.get("text/html", "")) for bundle in bundles if bundle not in drawn]
    return len(drawn) + sum(len(re.findall(r"<svg\b|<img\b|<figure\b", html)) for html in shown)


def lines(source: str) -> list[str]:
    """The lines of a cell that are neither blank nor comments."""
    return [line for line in source.splitlines() if line.strip() and line.lstrip()[0] != "#"]


def is_folded(cell: NotebookNode) -> bool:
    return bool(FOLDED & set(cell.metadata.get("tags", [])))


def is_trained_heat_map(cell: NotebookNode, before: str) -> bool:
    """A heat map of weights, drawn by a cell after one that has a trained model."""
    texts = ["".join(o.get("data", {}).get("image/svg+xml", "")) for o in cell.get("outputs", [])]
    texts += ["".join(o.get("data", {}).get("text/html", "")) for o in cell.get("outputs", [])]
    return any(ALIGNMENT in text for text in texts) and bool(TRAINED.search(before + cell.source))


@dataclass
class Measure:
    """Of one page."""

    name: str
    words: int = 0
    cells: int = 0
    lines: int = 0
    folded: int = 0
    pictures: int = 0
    heat_map: bool = False

    @property
    def minutes(self) -> float:
        return self.words / PACE

    @property
    def pictured(self) -> float:
        """Pictures in 1,000 words."""
        return 1000 * self.pictures / self.words if self.words else 0

    def row(self) -> str:
        return (
            f"{self.name:24}{self.words:8,}{self.cells:7}{self.minutes:9.0f}{self.lines:7}"
            f"{self.folded:8}{self.pictures:10}{self.pictured:12.1f}"
        )


HEAD = f"{'page':24}{'words':>8}{'cells':>7}{'minutes':>9}{'lines':>7}{'folded':>8}{'pictures':>10}"
HEAD += f"{'in 1,000':>12}"


def measure(notebook: NotebookNode, name: str, to_heat_map: bool = False) -> Measure:
    """Measure a page, or what of it stands before the first heat map of a trained model."""
    found = Measure(name)
    before = ""
    for text, cell in counted(notebook):
        found.heat_map = found.heat_map or is_trained_heat_map(cell, before)
        if found.heat_map and to_heat_map:
            break
        found.cells += 1
        found.pictures += pictures(text, cell)
        if cell.cell_type == "markdown":
            found.words += words(text)
        elif is_folded(cell):
            found.folded += len(lines(text))
        else:
            found.lines += len(lines(text))
        before += cell.source if cell.cell_type == "code" else ""
    return found


def read(path: Path) -> NotebookNode:
    """A notebook, or a page of Markdown as one."""
    if path.suffix == ".md":
        return new_notebook(cells=[new_markdown_cell(path.read_text(encoding="utf8"))])
    return nbformat.read(path, as_version=4)


def pages(root: Path = ROOT) -> list[Path]:
    """All pages that `_toc.yml` lists."""
    names = [root / page for _, some in listed(root) for page in some]
    both = [(name.with_suffix(".ipynb"), name.with_suffix(".md")) for name in names]
    return [path for pair in both for path in pair if path.is_file()]


def first_heat_map(root: Path = ROOT) -> Measure:
    """What notebooks have before the first heat map of a trained model, in the reading order."""
    total = Measure("")
    for path in chapters(root):
        part = measure(read(path), path.stem, to_heat_map=True)
        total.words += part.words
        total.lines += part.lines
        total.folded += part.folded
        if part.heat_map:
            total.name = path.stem
            return total
    return total


def opens_with_a_hook(notebook: NotebookNode) -> bool:
    """Whether a page shows something before the first of its cells that shows nothing."""
    for text, cell in counted(notebook):
        if pictures(text, cell) or cell.get("outputs"):
            return True
        if cell.cell_type == "code":
            return False
    return False


def bare_imports(notebook: NotebookNode) -> list[str]:
    """First lines of the cells that import much and are not folded."""
    cells = [cell for _, cell in counted(notebook) if cell.cell_type == "code"]
    found = [re.findall(r"(?m)^(?:import|from) .*", c.source) for c in cells if not is_folded(c)]
    return [some[0] for some in found if len(some) > IMPORTS]


def wide(notebook: NotebookNode) -> list[str]:
    """Lines of code with more than COLUMNS."""
    cells = [c for c in notebook.cells if c.cell_type == "code" and not is_colab_cell(c)]
    return [line for cell in cells for line in cell.source.splitlines() if len(line) > COLUMNS]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="*", type=Path, help="default: all that _toc.yml lists")
    paths = parser.parse_args().pages or pages()
    if missing := [str(path) for path in paths if not path.is_file()]:
        parser.error(f"there is no {', '.join(missing)}")
    rows = [measure(read(path), path.stem) for path in paths]
    print(HEAD, *(row.row() for row in rows), sep="\n")
    total = Measure("all")
    for key in ("words", "cells", "lines", "folded", "pictures"):
        setattr(total, key, sum(getattr(row, key) for row in rows))
    print(total.row())
    first = first_heat_map()
    where = f"the first heat map of a trained model, in {first.name}" if first.name else "the end"
    print(f"\nBefore {where}: {first.words:,} words and {first.lines:,} lines of code")
    print(f"(and {first.folded} folded lines), in the notebooks in the order of _toc.yml")
    return 0


if __name__ == "__main__":
    sys.exit(main())
