"""Numbers in sentences: a notebook's Markdown shows what its cells said.

A cell says `say(kept="19%")` (`attnmt.book.said`), and a sentence has the name between marks:
`keeps <!--kept-->19%<!--/--> of its BLEU`. `execute` puts what was said between the marks;
the site and the slides show the sentence without them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from nbformat import NotebookNode

from attnmt.book.said import MIME

MARK = re.compile(r"<!--\s*(\w+|/)\s*-->")
PAIR = re.compile(r"<!--(\w+)-->(.*?)<!--/-->", flags=re.DOTALL)
# A line that a mark begins, after what makes it an item or a quotation, is HTML to CommonMark.
FIRST = re.compile(r"(?m)^[ \t]*(?:(?:[-*+>]|\d+[.)])[ \t]+)*<!--(?:\w+|/)-->")
LITERAL = re.compile(r"(?ms)^(`{3,}).*?^\1|(`+)(?!`).+?(?<!`)\2(?!`)|\$\$.+?\$\$|\$[^$\n]+\$")


@dataclass(frozen=True)
class Place:
    """A text of a notebook that may hold marks: a Markdown cell, or the caption of a figure."""

    number: int  # of its cell, from 1
    holder: NotebookNode
    key: str

    @property
    def text(self) -> str:
        return self.holder[self.key]

    def put(self, new: str) -> None:
        self.holder[self.key] = new


def places(notebook: NotebookNode) -> Iterator[Place]:
    """The texts that may hold marks."""
    for number, cell in enumerate(notebook.cells, 1):
        if cell.cell_type == "markdown":
            yield Place(number, cell, key="source")
        figure = cell.metadata.get("mystnb", {}).get("figure", {})
        if "caption" in figure:
            yield Place(number, figure, key="caption")


def bare(text: str) -> str:
    """A text without its marks."""
    return MARK.sub("", text)


def without_marks(notebook: NotebookNode) -> NotebookNode:
    """The notebook itself, its texts without marks."""
    for place in places(notebook):
        place.put(bare(place.text))
    return notebook


def said(notebook: NotebookNode) -> tuple[dict[str, tuple[str, int]], list[str]]:
    """What the outputs say by name, each with the number of its cell; and what is said twice."""
    found: dict[str, tuple[str, int]] = {}
    twice = []
    for number, cell in enumerate(notebook.cells, 1):
        for output in cell.get("outputs", []):
            for name, text in output.get("data", {}).get(MIME, {}).items():
                if name in found:
                    twice.append(f"cell {number} says {name}, and so does cell {found[name][1]}")
                found[name] = (text, number)
    return found, twice


def misplaced(place: Place) -> list[str]:
    """Marks of a text that are not in pairs, or stand where they would be seen."""
    where = f"cell {place.number}"
    faults = []
    if left := MARK.search(PAIR.sub(r"\2", place.text)):
        pair = "<!--name-->its number<!--/-->, without spaces"
        faults.append(f"{where}: {left[0]} is in no pair of marks; write {pair}")
    if FIRST.search(place.text):
        faults.append(f"{where}: a mark begins a line, which is HTML then; let a word begin it")
    if any(MARK.search(found[0]) for found in LITERAL.finditer(place.text)):
        faults.append(f"{where}: a mark stands in code or in a formula, where Colab shows it")
    return faults


def unfit(notebook: NotebookNode) -> list[str]:
    """Marks that are broken, names that nobody says, and names that nothing shows."""
    facts, found = said(notebook)
    shown = set()
    for place in places(notebook):
        found += misplaced(place)
        for name, _ in PAIR.findall(place.text):
            shown.add(name)
            if name not in facts:
                found.append(f"cell {place.number} shows {name}, and no cell says it")
    for name in sorted(facts.keys() - shown):
        found.append(f"cell {facts[name][1]} says {name}, and no Markdown shows <!--{name}-->")
    return found


def fill(notebook: NotebookNode) -> str | None:
    """Put what the outputs say between the marks; a complaint, and no change, if it does not fit.

    Where a sentence shows what the cells no longer say, the outputs win.
    """
    if found := unfit(notebook):
        return "\n".join(found)
    facts, _ = said(notebook)
    for place in places(notebook):
        place.put(PAIR.sub(lambda pair: f"<!--{pair[1]}-->{facts[pair[1]][0]}<!--/-->", place.text))
    return None


def faults(notebook: NotebookNode) -> list[str]:
    """Everything that is wrong with the numbers of a stored notebook."""
    facts, _ = said(notebook)
    shown = [(place, pair) for place in places(notebook) for pair in PAIR.findall(place.text)]
    old = [
        f"cell {place.number} shows {name} as {text!r}, and cell {facts[name][1]} says "
        f"{facts[name][0]!r}: run `make notebooks`"
        for place, (name, text) in shown
        if name in facts and text != facts[name][0]
    ]
    return unfit(notebook) + old
