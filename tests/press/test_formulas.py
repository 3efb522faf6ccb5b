"""Formulas set at build time: every one of the book, their structure, and the font's signs."""

import re
from xml.etree import ElementTree

import nbformat

from press.contents import ROOT, chapters
from press.extensions.formulas import APPLY, mathml

MATH = re.compile(r"(?s)(\$\$)(.+?)\$\$|(?<![\\$`])\$(?!\s)([^$`]+?)(?<![\s\\])\$(?!\d)")
# elements of MathML Core, which browsers draw, and menclose, whose line Firefox and Safari draw;
# elsewhere the style does
CORE = """math mrow mi mn mo mtext mspace mfrac msqrt msub msup msubsup munder mover munderover
mtable mtr mtd mstyle mpadded menclose"""


def written() -> list[tuple[str, bool]]:
    """The book's formulas as LaTeX, each with whether it is displayed."""
    texts = [path.read_text(encoding="utf8") for path in (ROOT / "book").glob("*.md")]
    for path in chapters():
        cells = nbformat.read(path, as_version=4).cells
        texts += [cell.source for cell in cells if cell.cell_type == "markdown"]
    found = []
    for text in texts:
        prose = re.sub(r"(?s)```.*?```|`[^`\n]*`", "", text)
        found += [(match[2] or match[3], bool(match[1])) for match in MATH.finditer(prose)]
    return found


def shape(tex: str, *, display: bool = False) -> ElementTree.Element:
    return ElementTree.fromstring(mathml(tex, display=display))


def test_every_formula_of_the_book_is_set_in_elements_that_browsers_draw():
    book = written()
    assert len(book) > 300
    for tex, display in book:
        root = ElementTree.fromstring(mathml(tex, display=display))
        assert {element.tag for element in root.iter()} <= set(CORE.split()), tex
        assert (root.get("display") == "block") == display
        assert "\\" not in "".join(root.itertext()), tex


def test_the_font_has_the_signs_of_all_formulas():
    """What is kept of it, its README says. (A letter alone is shown in italics, which are.)"""
    readme = (ROOT / "book" / "_vendor" / "README.md").read_text(encoding="utf8")
    kept = {ord(APPLY)}  # is not drawn
    for first, last in re.findall(r"([0-9A-F]+)-([0-9A-F]+)[,\n]", readme.split("--unicodes=")[1]):
        kept |= set(range(int(first, 16), int(last, 16) + 1))
    drawn = "".join("".join(shape(tex, display=display).itertext()) for tex, display in written())
    assert {chr(code) for code in set(map(ord, drawn)) - kept} == set()
