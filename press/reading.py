"""What a page asks of its reader: words, code, formulas and pictures, and the minutes they take.

An estimate by simple rules, not a timing of readers. Exercises are counted apart: the title of each
says how long it takes, ``:::{exercise} A step in numbers (20 minutes)``. This also counts the pages
of the Korean edition.
"""

import re
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat.v4 import new_markdown_cell, new_notebook

from press.contents import ROOT, chapter_numbers, file_of
from press.run.numbers import bare

WORDS_A_MINUTE = 200
LINES_A_MINUTE = 6  # of code that the page shows without a click
LOOKS_A_MINUTE = 1  # at a picture, or a formula on a line of its own

ROWS = re.compile(r'(?s)<div class="forest".*</div>')  # a drawing in each row: one picture
SHOWN = re.compile(r"(?m)^\s*[:`]{3,}\{(?:figure|image|learn|live)\}|!\[|<img\b|<svg\b|<figure\b")
FENCE = re.compile(r"(?ms)^[ \t]*(`{3,})([^`\n]*)\n(.*?)^[ \t]*\1`*[ \t]*$")
FORMULA = re.compile(r"(?s)\$\$.+?\$\$")
FOLDED = {"hide-input", "hide-cell", "remove-input"}
APART = re.compile(r"(?ms)^(:{3,})\{(?:exercise|solution)\}.*?^\1$")  # from what is read
EXERCISE = re.compile(r"(?m)^:{3,}\{exercise\} (.+)\n:label: ([\w-]+)")
SLIDE_ONLY = "slide-only"  # the tag of a cell that the page does not have
HEADING = re.compile(r"(?m)^## (?:Exercises|연습 문제)$")  # from here on is work
MINUTES = re.compile(r"\((open, |열린 문제, )?(\d+)(?: minutes|분)\)$")

Cell = nbformat.NotebookNode


def core(root: Path = ROOT) -> list[Path]:
    """The pages that a reader of the whole book reads, evidence aside, in their order."""
    names = ["index", "see_it", "ten_minutes", "watch_it_learn", *chapter_numbers(root)]
    return [page(name, root) for name in names]


def page(name: str, root: Path = ROOT) -> Path:
    """The file of a page of the book, Markdown or notebook."""
    return file_of(f"book/{name}", root)


def tags(cell: Cell) -> set[str]:
    return set(cell.metadata.get("tags", []))


def slideshow(cell: Cell) -> dict:
    """What a cell's metadata say of the slides."""
    return cell.metadata.get("slideshow", {})


def notebook(path: Path) -> nbformat.NotebookNode:
    """A page as a notebook; one of Markdown is one cell."""
    if path.suffix == ".md":
        return new_notebook(cells=[new_markdown_cell(path.read_text(encoding="utf-8"))])
    return nbformat.read(path, as_version=4)


def cells_of(path: Path) -> list[Cell]:
    return notebook(path).cells


def title(path: Path) -> str:
    """Of a page: its first heading, which a label may precede."""
    texts = [cell.source for cell in cells_of(path) if cell.cell_type == "markdown"]
    return bare(re.search(r"(?m)^# (.*)$", "\n".join(texts))[1])


def body_cells(path: Path) -> list[Cell]:
    """The cells that a reader sees, up to the exercises."""
    cells = cells_of(path)
    titles = [n for n, cell in enumerate(cells) if HEADING.search(cell.source)]
    kept = cells[: titles[0] + 1 if titles else None]
    if titles:
        kept[-1].source = HEADING.split(kept[-1].source)[0]
    for cell in kept:
        if cell.cell_type == "markdown":
            cell.source = APART.sub("", cell.source)
    hidden = {"remove-cell", SLIDE_ONLY}
    return [cell for cell in kept if cell.source.strip() and not hidden & tags(cell)]


def without_code(text: str) -> str:
    """Markdown without its fenced code; what stands in a fenced directive stays."""
    return FENCE.sub(lambda fence: without_code(fence[3]) if "{" in fence[2] else "", text)


def words(text: str) -> int:
    """Of Markdown, without formulas, code, comments, options of directives, addresses of links."""
    text = without_code(re.sub(r"(?s)<!--.*?-->", "", bare(text)))
    text = re.sub(r"(?s)\$\$.+?\$\$(\s*\([\w-]+\))?|(?<!\\)\$[^$\n]+\$", " ", text)
    text = re.sub(r"(?m)^\s*(:[\w-]+:.*|[:`]{3,}.*|\([\w-]+\)=)$", "", text)
    text = re.sub(r"\{[\w:]+\}`([^`<]*)(<[^>]*>)?`", r"\1", text)  # a role
    return len(re.findall(r"\S*\w\S*", re.sub(r"\]\([^)]*\)|<[^>]+>", " ", text)))


def pictures(cell: Cell) -> int:
    """Of an output in several formats one counts."""
    found = 0
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        drawn = any(kind.startswith("image/") for kind in data)
        html = ROWS.sub("<figure>", "".join(data.get("text/html", "")))
        found += 1 if drawn else len(SHOWN.findall(html))
    return found + (len(SHOWN.findall(cell.source)) if cell.cell_type == "markdown" else 0)


def lines(cell: Cell) -> int:
    """Of code that a reader sees without opening a fold."""
    if cell.cell_type != "code" or tags(cell) & FOLDED:
        return 0
    return sum(1 for line in cell.source.splitlines() if line.strip())


def reading_minutes(path: Path) -> float:
    """The minutes that a page takes to read, its exercises not counted."""
    found = 0.0
    for cell in body_cells(path):
        found += lines(cell) / LINES_A_MINUTE + pictures(cell) / LOOKS_A_MINUTE
        if cell.cell_type == "markdown":
            found += words(cell.source) / WORDS_A_MINUTE
            found += len(FORMULA.findall(cell.source)) / LOOKS_A_MINUTE
    return found


@dataclass(frozen=True)
class Exercise:
    """One exercise, and the minutes that its title allows for it."""

    label: str
    title: str
    minutes: int
    open: bool


def exercises(path: Path) -> list[Exercise]:
    """The exercises of a page, in order; ValueError for a title that ends without minutes."""
    found = []
    for cell in cells_of(path):
        for title, label in EXERCISE.findall(cell.source):
            minutes = MINUTES.search(title)
            if minutes is None:
                raise ValueError(
                    f"{path.name}: end the title of {label} with its minutes: {title} (20 minutes)"
                )
            found.append(Exercise(label, title, int(minutes[2]), bool(minutes[1])))
    return found
