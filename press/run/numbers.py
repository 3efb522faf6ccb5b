"""Numbers in sentences: a notebook's Markdown shows what its cells said.

A cell calls `write_numbers(kept="19%")` (of `attnmt.book`), and a sentence has the name between
marks: `keeps <!--kept-->19%<!--/--> of its BLEU`. `execute` puts what was said between the marks;
the site and the slides show the sentence without them.
"""

import re
from collections.abc import Iterator

from nbformat import NotebookNode

from attnmt.book.numbers import MIME

MARK = re.compile(r"<!--\s*(\w+|/)\s*-->")
PAIR = re.compile(r"<!--(\w+)-->(.*?)<!--/-->", flags=re.DOTALL)
# A line that a mark begins, after what makes it an item or a quotation, is HTML to CommonMark.
FIRST = re.compile(r"(?m)^[ \t]*(?:(?:[-*+>]|\d+[.)])[ \t]+)*<!--(?:\w+|/)-->")
LEFT_OUT = "Left out: this cell needs"  # as `attnmt.book.corpus_has` says it
LITERAL = re.compile(r"(?ms)^(`{3,}).*?^\1|(`+)(?!`).+?(?<!`)\2(?!`)|\$\$.+?\$\$|\$[^$\n]+\$")


def places(notebook: NotebookNode) -> Iterator[tuple[int, NotebookNode, str]]:
    """The texts that may hold marks: of each the number of its cell, from 1, its holder and key."""
    for number, cell in enumerate(notebook.cells, 1):
        if cell.cell_type == "markdown":
            yield number, cell, "source"
        figure = cell.metadata.get("mystnb", {}).get("figure", {})
        if "caption" in figure:
            yield number, figure, "caption"


def bare(text: str) -> str:
    """A text without its marks."""
    return MARK.sub("", text)


def without_marks(notebook: NotebookNode) -> NotebookNode:
    """The notebook itself, its texts without marks."""
    for _, holder, key in places(notebook):
        holder[key] = bare(holder[key])
    return notebook


def written_numbers(notebook: NotebookNode) -> tuple[dict[str, tuple[str, int]], list[str]]:
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


def misplaced(text: str) -> Iterator[str]:
    """Marks of a text that are not in pairs, or stand where they would be seen."""
    if left := MARK.search(PAIR.sub(r"\2", text)):
        pair = "<!--name-->its number<!--/-->, without spaces"
        yield f"{left[0]} is in no pair of marks; write {pair}"
    if FIRST.search(text):
        yield "a mark begins a line, which is HTML then; let a word begin it"
    if any(MARK.search(found[0]) for found in LITERAL.finditer(text)):
        yield "a mark stands in code or in a formula, where Colab shows it"


def leaves_out(notebook: NotebookNode) -> bool:
    """Whether cells were left out, since the chapter has a text of one's own.

    Its sentences then keep the book's numbers, where no cell says others.
    """
    outputs = (output for cell in notebook.cells for output in cell.get("outputs", []))
    return any(output.get("text", "").startswith(LEFT_OUT) for output in outputs)


def unfit(notebook: NotebookNode) -> list[str]:
    """Marks that are broken, names that nobody says, and names that nothing shows."""
    facts, found = written_numbers(notebook)
    own_text = leaves_out(notebook)
    shown = set()
    for number, holder, key in places(notebook):
        found += [f"cell {number}: {fault}" for fault in misplaced(holder[key])]
        for name, _ in PAIR.findall(holder[key]):
            shown.add(name)
            if name not in facts and not own_text:
                found.append(f"cell {number} shows {name}, and no cell says it")
    for name in sorted(facts.keys() - shown):
        found.append(f"cell {facts[name][1]} says {name}, and no Markdown shows <!--{name}-->")
    return found


def fill(notebook: NotebookNode) -> str | None:
    """Put what the outputs say between the marks; a complaint, and no change, if it does not fit.

    Where a sentence shows what the cells no longer say, the outputs win.
    """
    if found := unfit(notebook):
        return "\n".join(found)
    facts, _ = written_numbers(notebook)
    for _, holder, key in places(notebook):
        holder[key] = PAIR.sub(
            lambda pair: f"<!--{pair[1]}-->{facts.get(pair[1], (pair[2],))[0]}<!--/-->", holder[key]
        )
    return None


def faults(notebook: NotebookNode) -> list[str]:
    """Everything that is wrong with the numbers of a stored notebook."""
    facts, _ = written_numbers(notebook)
    old = [
        f"cell {number} shows {name} as {text!r}, and cell {facts[name][1]} says "
        f"{facts[name][0]!r}: run `make notebooks`"
        for number, holder, key in places(notebook)
        for name, text in PAIR.findall(holder[key])
        if name in facts and text != facts[name][0]
    ]
    return unfit(notebook) + old
