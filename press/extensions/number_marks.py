"""Sphinx extension: the marks around numbers in sentences are gone before a page is read.

They are comments (`press.numbers`), but in a title, a search entry or a caption they would be text.
"""

import nbformat
from sphinx.application import Sphinx

from press.numbers import without_marks


def take_out(app: Sphinx, docname: str, source: list[str]) -> None:
    """Hand a notebook on without its marks."""
    if app.env.doc2path(docname).endswith(".ipynb") and "<!--" in source[0]:
        source[0] = nbformat.writes(without_marks(nbformat.reads(source[0], as_version=4)))


def setup(app: Sphinx) -> dict:
    app.connect("source-read", take_out)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
