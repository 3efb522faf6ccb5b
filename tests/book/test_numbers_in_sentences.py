"""Numbers in the sentences of notebooks: those that cells said, or else with a citation."""

import re

import nbformat
import pytest

from press.contents import chapters
from press.run.numbers import PAIR, faults, places

NUMBER = r"(?<![\w.])(?:\d[\d,]*(?:\.\d+)?|\.\d+)"
SCORE = r"(?:BLEU|AER|[Pp]erplexit(?:y|ies))"
LINK = r"(?:of|is|was|are|at|to|from|about|below|above|under|over|than|only|by|between|falls|"
LINK += r"rises|reaches|has|gets)"
BESIDE = re.compile(
    rf"(?P<before>{NUMBER})"
    rf"(?:\s*%|\s+percent\b|\s+(?:points? of )?{SCORE}|[\s-]+(?:CPU-)?seconds?\b)"
    rf"|{SCORE}[\s:=(]+(?:{LINK}\s+){{0,2}}(?P<after>{NUMBER})(?![\d.,]*\d)"
    r"(?!(?: to \d+)? (?:words|sentences|seeds|updates|epochs|pairs))"
)
UNIT = re.compile(rf"%|{SCORE}|seconds")
ENDS = {"0", "1", "100"}  # of scales, which are definitions
LITERAL = re.compile(
    r"(?ms)^(`{3,}).*?^\1|(?P<role>\{[\w:]+\})?`[^`]*`|\$\$.+?\$\$|\$[^$\n]+\$"  # roles stay
)


def sentences(text: str) -> list[str]:
    """The sentences of a paragraph; formulas, code, roles and bold words stay in one piece."""
    text = " ".join(text.split())
    masked = re.sub(r"`[^`]*`|\$[^$]*\$", lambda found: "§" * len(found[0]), text)
    ends = [found.end() for found in re.finditer(r"[.?!][*)\"”]* (?=[A-Z*(§“\[_{])", masked)]
    ends = [end for end in ends if masked[:end].count("**") % 2 == 0]
    return [text[a:b].strip() for a, b in zip([0, *ends], [*ends, None], strict=True)]


def typed(text: str) -> list[str]:
    """Sentences and rows with a number beside its unit that no cell said and that cite nothing."""
    text = LITERAL.sub(lambda match: (match["role"] or "") + "…", PAIR.sub("…", text))
    found = []
    for block in re.split(r"\n\s*\n|\n(?=\s*(?:[-*+]|\d+\.)\s)", text):
        if block.lstrip().startswith("|"):
            found += typed_rows(block.strip().splitlines())
            continue
        for sentence in sentences(block):
            plain = re.sub(r"95% (?=(?:\w+ )?intervals?)", "", sentence)
            beside = (hit["before"] or hit["after"] for hit in BESIDE.finditer(plain))
            if "{cite" not in sentence and set(beside) - ENDS:
                found.append(sentence)
    return found


def typed_rows(rows: list[str]) -> list[str]:
    """Of a table: rows with a bare number in a cell, or below the name, of a unit."""
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    units = [UNIT.search(cell) for cell in cells[0]]
    found = []
    for row, line in zip(cells[2:], rows[2:], strict=True):
        bare = any(unit and re.search(NUMBER, cell) for unit, cell in zip(units, row))
        if (bare or any(map(BESIDE.search, row))) and "{cite" not in line + rows[0]:
            found.append(line)
    return found


@pytest.mark.parametrize("path", chapters(), ids=lambda path: path.stem)
def test_sentences_show_what_the_cells_said(path):
    assert faults(nbformat.read(path, as_version=4)) == []


@pytest.mark.parametrize("path", chapters(), ids=lambda path: path.stem)
def test_no_result_is_typed(path):
    """Beside BLEU, AER, %, perplexity or seconds."""
    notebook = nbformat.read(path, as_version=4)
    found = [
        f"cell {number}: {sentence}"
        for number, holder, key in places(notebook)
        for sentence in typed(holder[key])
    ]
    assert found == []
