"""Sphinx extension: a build that executes nothing warns about outputs that are not the code's.

Under `-W` the warning fails the build: a cell edited after its execution, a cell that was never
executed, and a stored error cannot be published unseen.
"""

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

from press.stamps import faults

logger = logging.getLogger(__name__)


def check(app: Sphinx, env: BuildEnvironment, docnames: list[str]) -> None:
    """Look at every notebook of the book, also at those that this build need not read again."""
    if app.config.nb_execution_mode != "off":
        return
    for docname in sorted(env.found_docs):
        path = env.doc2path(docname)
        if path.endswith(".ipynb"):
            for fault in faults(path):
                logger.warning("stored outputs: %s", fault, location=docname)


def setup(app: Sphinx) -> dict:
    app.connect("env-before-read-docs", check)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
