"""Sphinx extension: what a build does with notebooks, before it reads them.

Their sentences lose their marks.

A build that executes nothing warns about outputs that are not the code's: under `-W` a cell that
was edited after its execution, a cell that was never executed, and a stored error cannot be
published unseen. `ATTNMT_STALE=allowed` in the environment is for those who work on pages while
chapters wait to be executed.

*A whole translator on one page* can be downloaded as a plain Python file, which the build writes.
"""

import os
import re
from pathlib import Path

import nbformat
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

from attnmt.files import write_aside
from press.run.numbers import without_marks
from press.run.stamps import faults

logger = logging.getLogger(__name__)
PLAIN = "book/one_page"  # the page whose code is a file, too
HEADING = re.compile(r"(?m)^##? (.+)$")


def check(app: Sphinx, env: BuildEnvironment, docnames: list[str]) -> None:
    """Look at every notebook of the book, also at those that this build need not read again."""
    if app.config.nb_execution_mode != "off" or os.environ.get("ATTNMT_STALE") == "allowed":
        return
    for docname in sorted(env.found_docs):
        path = env.doc2path(docname)
        if path.endswith(".ipynb"):
            for fault in faults(path):
                logger.warning("stored outputs: %s", fault, location=docname)


def take_out(app: Sphinx, docname: str, source: list[str]) -> None:
    """Hand a notebook on without its marks: in a title or a caption they would be text."""
    if app.env.doc2path(docname).endswith(".ipynb") and "<!--" in source[0]:
        source[0] = nbformat.writes(without_marks(nbformat.reads(source[0], as_version=4)))


def plain(notebook: nbformat.NotebookNode) -> str:
    """The code that readers see, each section under its heading."""
    parts, heading = [], ""
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            titles = HEADING.findall(cell.source)
            heading = f"# {titles[-1]}\n" if titles else heading
        elif "remove-cell" not in cell.metadata.get("tags", []):
            parts.append(heading + cell.source)
            heading = ""
    return "\n\n\n".join(parts) + "\n"


def write_plain(app: Sphinx) -> None:
    """Put the plain file beside its page, whose link copies it into the site."""
    path = Path(app.srcdir, f"{PLAIN}.ipynb")
    if path.is_file():
        text = plain(nbformat.read(path, as_version=4))
        write_aside(path.with_suffix(".py"), text.encode())


def setup(app: Sphinx) -> dict:
    app.connect("builder-inited", write_plain)
    app.connect("env-before-read-docs", check)
    app.connect("source-read", take_out)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
