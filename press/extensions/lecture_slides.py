"""Sphinx extension: the slides of each chapter stand in the site, and its page links to them."""

from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging

from press import slides
from press.contents import lectures

logger = logging.getLogger(__name__)
FOLDER = "slides"  # beside the folder of the pages


def add_button(
    app: Sphinx, pagename: str, templatename: str, context: dict, doctree: nodes.document | None
) -> None:
    """A chapter's page leads to its slides."""
    decks = {path.stem for path in lectures(Path(app.srcdir))}
    if doctree is None or Path(pagename).name not in decks:
        return
    context["header_buttons"].append(
        {
            "type": "link",
            "url": context["pathto"](f"{FOLDER}/{Path(pagename).name}.html", resource=True),
            "tooltip": "Slides of this chapter",
            "text": "",
            "icon": "fas fa-person-chalkboard",
            "label": "slides-button",
        }
    )


def write_slides(app: Sphinx, error: Exception | None) -> None:
    """After the pages: the decks, from the same notebooks."""
    if error is not None or app.builder.format != "html":
        return
    source = Path(app.srcdir)
    for path in lectures(source):
        try:
            slides.write([path], Path(app.outdir, FOLDER), "../_static", root=source, back=back)
        except ValueError as problem:
            logger.warning("no slides: %s", problem)


def back(name: str) -> str:
    return f'<a href="../book/{name}.html">The chapter</a>'


def setup(app: Sphinx) -> dict:
    app.connect("html-page-context", add_button, priority=900)
    app.connect("build-finished", write_slides)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
