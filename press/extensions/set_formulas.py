"""Sphinx extension: formulas are set when the book is built, as MathML (`press.formulas`).

MathML is what browsers draw themselves, what screen readers read, and what can be copied. A page
with formulas loads no script for them, only a small style and font; others load nothing.
"""

from html import escape

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number
from sphinx.writers.html5 import HTML5Translator

from press.formulas import Unset, mathml

logger = logging.getLogger(__name__)
OPEN = "math notranslate nohighlight"


def set_formula(node: nodes.Node, *, display: bool) -> str:
    """The formula of a node; where it cannot be set a warning, and its source."""
    try:
        return mathml(node.astext(), display=display)
    except Unset as problem:
        logger.warning("%s", problem, location=node)
        return f"<code>{escape(node.astext())}</code>"


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
