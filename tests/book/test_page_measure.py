"""What a page asks of its reader: words, cells and pictures; exercises do not count."""

import re
from pathlib import Path

import nbformat
import pytest

from press.contents import lectures
from press.run.numbers import bare

WORDS, CELLS, PICTURES = 2_500, 40, 3  # at most, at most, at least in 1,000 words
IMPORTS = 3  # lines of imports in a cell that is not folded, at most
SHOWN = re.compile(r"(?m)^\s*[:`]{3,}\{(?:figure|image|live)\}|!\[|<img\b|<svg\b|<figure\b")
CORE = [path for path in lectures() if path.stem != "primer"]
each = pytest.mark.parametrize("path", CORE, ids=lambda path: path.stem)


def tags(cell: nbformat.NotebookNode) -> set[str]:
    return set(cell.metadata.get("tags", []))


def told(path: Path) -> list[nbformat.NotebookNode]:
    """The cells that a reader sees, up to the exercises."""
    cells = nbformat.read(path, as_version=4).cells
    titles = [n for n, cell in enumerate(cells) if re.search(r"(?m)^## Exercises", cell.source)]
    kept = cells[: titles[0] + 1 if titles else None]
    if titles:
        kept[-1].source = kept[-1].source.partition("## Exercises")[0]
    return [cell for cell in kept if cell.source.strip() and "remove-cell" not in tags(cell)]


def words(text: str) -> int:
    """Of Markdown, without formulas, code, comments, options of directives, addresses of links."""
    text = re.sub(r"(?s)<!--.*?-->|^(`{3,})\w*\n.*?^\1", "", bare(text), flags=re.MULTILINE)
    text = re.sub(r"(?s)\$\$.+?\$\$(\s*\([\w-]+\))?|(?<!\\)\$[^$\n]+\$", " ", text)
    text = re.sub(r"(?m)^\s*(:[\w-]+:.*|[:`]{3,}.*|\([\w-]+\)=)$", "", text)
    text = re.sub(r"\{[\w:]+\}`([^`<]*)(<[^>]*>)?`", r"\1", text)  # a role
    return len(re.findall(r"\S*\w\S*", re.sub(r"\]\([^)]*\)|<[^>]+>", " ", text)))


def pictures(cell: nbformat.NotebookNode) -> int:
    """Of an output in several formats one counts."""
    found = 0
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        drawn = any(kind.startswith("image/") for kind in data)
        found += 1 if drawn else len(SHOWN.findall("".join(data.get("text/html", ""))))
    return found + (len(SHOWN.findall(cell.source)) if cell.cell_type == "markdown" else 0)


def test_words_are_those_that_a_reader_reads():
    text = (
        "It keeps <!--k-->19%<!--/--> of $a$; see {doc}`the primer <primer>` and [a b](https://c)."
    )
    assert words(text + "\n\n```python\nx = 1\n```\n\n:::{figure} a.svg\n:alt: unseen\n:::") == 10


@each
def test_a_page_is_read_in_one_sitting(path):
    cells = told(path)
    said = sum(words(cell.source) for cell in cells if cell.cell_type == "markdown")
    shown = sum(map(pictures, cells))
    assert said <= WORDS, f"{path.name} has {said} words before its exercises; {WORDS} are allowed"
    assert len(cells) <= CELLS, f"{path.name} has {len(cells)} cells; {CELLS} are allowed"
    least = f"{path.name} has {shown} pictures in {said} words; {PICTURES} in 1,000 are asked for"
    assert 1000 * shown >= PICTURES * said, least


@each
def test_a_page_begins_with_something_to_look_at(path):
    cells = [c for c in told(path) if c.cell_type == "code" or pictures(c)]
    first = next(c for c in cells if pictures(c) or not tags(c) & {"hide-input"})
    what = f"{path.name}: begin with a picture, a live view or an output, before any other code"
    assert pictures(first) or first.get("outputs"), what


@each
def test_many_imports_are_folded(path):
    cells = [c for c in told(path) if c.cell_type == "code" and not tags(c) & {"hide-input"}]
    for cell in cells:
        lines = re.findall(r"(?m)^(?:import|from) .*", cell.source)
        assert len(lines) <= IMPORTS, f"{path.name}: give {lines[0]!r} the tag hide-input"


def test_the_first_heat_map_of_a_trained_model_comes_soon():
    said = 0
    for cell in told(CORE[0]):
        if any("alignment" in str(output.get("data", {})) for output in cell.get("outputs", [])):
            assert CORE[0].stem == "ten_minutes" and said <= 900, f"{said} words stand before it"
            return
        said += words(cell.source) if cell.cell_type == "markdown" else 0
    raise AssertionError(f"{CORE[0].name} shows no heat map")
