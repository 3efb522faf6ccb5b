"""Sphinx extension: formulas are set as MathML while the book is built; no page sets them itself.

MathML is what browsers draw themselves, what screen readers read, and what can be copied. Temml
makes it, a JavaScript library that QuickJS runs inside Python: node is not needed. Its style and
its font, STIX Two Math, lie in `book/_vendor/temml`.
"""

import functools
import html
import re
from pathlib import Path
from xml.etree import ElementTree

import quickjs
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.logging import getLogger
from sphinx.util.math import get_node_equation_number
from sphinx.writers.html5 import HTML5Translator

logger = getLogger(__name__)

TEMML = Path(__file__).parents[1] / "_vendor" / "temml" / "temml.min.js"
OPEN = "math notranslate nohighlight"
SET = """(tex, display) => temml
    .renderToString(tex, { displayMode: display, throwOnError: true, trust: true })
    .split("").join("")"""  # trusted: for \\class{name}{a part}
LETTERS = {"mi", "mn", "msub", "msup", "msubsup"}
APPLY = "\u2061"  # stands, unseen, behind the name of a function


class Unset(ValueError):
    """A formula that cannot be set."""


@functools.cache
def engine() -> quickjs.Function:
    """Temml's function that sets a formula."""
    context = quickjs.Context()
    temml = TEMML.read_text(encoding="utf8")
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
