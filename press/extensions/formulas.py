"""Sphinx extension: formulas are set as MathML while the book is built; no page sets them itself.

MathML is what browsers draw themselves, what screen readers read, and what can be copied. Temml
makes it, a JavaScript library that QuickJS runs inside Python: node is not needed. Of the formulas'
font, STIX Two Math, the site gets the signs that it shows.
"""

import functools
import html
import logging
import re
from collections.abc import Iterable
from pathlib import Path
from xml.etree import ElementTree

import quickjs
from docutils import nodes
from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont
from sphinx.application import Sphinx
from sphinx.util.logging import getLogger
from sphinx.util.math import get_node_equation_number
from sphinx.writers.html5 import HTML5Translator

from press.extensions.stylesheet import names_in, prune

logger = getLogger(__name__)
logging.getLogger("fontTools").setLevel(logging.WARNING)  # it tells of every table

VENDOR = Path(__file__).parents[1] / "_vendor"
OPEN = "math notranslate nohighlight"
FONT = VENDOR / "stix" / "STIXTwoMath-Regular.ttf"
FOLDER = "math"  # under _static: what pages with formulas load
STYLE = """@font-face{font-family:STIX2;src:url(math.woff) format("woff");font-display:swap}
math{font-size:1.08em}
div.math{margin-bottom:1rem}.formula{flex:1;min-width:0;overflow:auto hidden}
.formula>math.tml-display{min-width:100%;width:max-content}
"""
FEATURES = ["ss01", "ss04"]  # script capitals and primes; the style asks for them
SET = """(tex, display) => temml
    .renderToString(tex, { displayMode: display, throwOnError: true }).split("").join("")"""
FORMULA = re.compile(r"<math\b.*?</math>", re.DOTALL)
# where a letter's italic stands; that of h is older than the others
ITALICS = {"A": 0x1D434, "a": 0x1D44E, "Α": 0x1D6E2, "α": 0x1D6FC}
PLANCK = 0x210E
DRAWN = "√"  # a root has an element, but no sign
LETTERS = {"mi", "mn", "msub", "msup", "msubsup"}
APPLY = "\u2061"  # stands, unseen, behind the name of a function


class Unset(ValueError):
    """A formula that cannot be set."""


@functools.cache
def engine() -> quickjs.Function:
    """Temml's function that sets a formula."""
    context = quickjs.Context()
    temml = (VENDOR / "temml" / "temml.min.js").read_text(encoding="utf8")
    context.eval(f"var window = globalThis; {temml}; var set = {SET};")
    return context.get("set")


@functools.cache
def mathml(tex: str, *, display: bool = False) -> str:
    """A formula of LaTeX as MathML; Unset where Temml does not understand it."""
    # Sphinx counts equations: LaTeX's own environments must not
    tex = re.sub(r"(\\(?:begin|end)\{(?:equation|align|gather))\}", r"\1*}", tex.strip())
    if r"\\" in tex and r"\begin" not in tex:
        tex = rf"\begin{{split}}{tex}\end{{split}}"
    try:
        return spaced(engine()(tex, display))
    except quickjs.JSException as problem:
        reason = str(problem).partition("\n")[0]
        raise Unset(f"the formula {tex} cannot be set: {reason}") from problem


def spaced(formula: str) -> str:
    """A formula with a thin space before names of functions, and with small arrows over letters."""
    root = ElementTree.fromstring(formula)
    for row in [*root.iter("mrow"), *root.iter("mtd")]:
        for place in range(len(row) - 1, 0, -1):
            name = row[place]
            if row[place - 1].tag in LETTERS and len(name) > 1 and name[-1].text == APPLY:
                row.insert(place, ElementTree.Element("mspace", width="0.1667em"))
    for arrow in root.iterfind(".//mover/mo[@stretchy='true']"):
        arrow.attrib.pop("style", None)
    return ElementTree.tostring(root, encoding="unicode", short_empty_elements=False)


def signs(pages: Iterable[str]) -> set[int]:
    """The code points that the formulas of pages show; a letter alone is shown in italics."""
    found = set(map(ord, DRAWN))
    for page in pages:
        for formula in FORMULA.findall(page):
            found.update(map(ord, html.unescape(re.sub(r"<[^>]+>", "", formula))))
    for first, italic in ITALICS.items():
        letters = {code for code in found if 0 <= code - ord(first) < 26}
        found |= {italic + code - ord(first) for code in letters}
    return found | {PLANCK}


def write_style(folder: Path, pages: Iterable[str]) -> None:
    """Write the formulas' style and font for some pages, given as HTML."""
    pages = list(pages)
    folder.mkdir(parents=True, exist_ok=True)
    style = (VENDOR / "temml" / "Temml-STIX2.css").read_text(encoding="utf8")
    style = re.sub(r"@font-face \{.*?\}", "", style, flags=re.DOTALL)
    used = names_in("".join(formula for page in pages for formula in FORMULA.findall(page)))
    (folder / "math.css").write_text(STYLE + prune(style, used), encoding="utf8", newline="\n")
    write_font(FONT, signs(pages), folder / "math.woff", features=FEATURES)


def write_font(source: Path, codes: Iterable[int], target: Path, features: list[str]) -> None:
    """Write those glyphs of a font that some code points need, as WOFF."""
    options = Options(layout_features=features, hinting=False, notdef_outline=True)
    font = TTFont(source, recalcTimestamp=False)
    subsetter = Subsetter(options)
    subsetter.populate(unicodes=codes)
    subsetter.subset(font)
    font.flavor = "woff"
    font.save(target)


# --- in Sphinx


def set_formula(node: nodes.Node, *, display: bool) -> str:
    """The formula of a node; where it cannot be set a warning, and its source."""
    try:
        return mathml(node.astext(), display=display)
    except Unset as problem:
        logger.warning("%s", problem, location=node)
        return f"<code>{html.escape(node.astext())}</code>"


def visit_inline(self: HTML5Translator, node: nodes.math) -> None:
    self.body.append(self.starttag(node, "span", "", CLASS=OPEN))
    self.body.append(set_formula(node, display=False) + "</span>")
    raise nodes.SkipNode


def visit_block(self: HTML5Translator, node: nodes.math_block) -> None:
    self.body.append(self.starttag(node, "div", CLASS=OPEN))
    if node["number"]:
        number = get_node_equation_number(self, node)
        self.body.append(f'<span class="eqno">({number})')
        self.add_permalink_ref(node, "Link to this equation")
        self.body.append("</span>")
    self.body.append(f'<div class="formula">{set_formula(node, display=True)}</div></div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict:
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
