"""*A whole translator on one page*: a program of its own, and the file that holds it."""

import ast

import nbformat
import pytest

from press.plain_file import NOTEBOOK, plain, plain_file

BRIDGE = "# The bridge to the book"


@pytest.fixture(scope="module")
def text() -> str:
    return plain(nbformat.read(NOTEBOOK, as_version=4))


def test_the_plain_file_is_the_notebooks_code(text):
    """After a change: `python -m press.plain_file`."""
    assert plain_file(NOTEBOOK).read_text(encoding="utf8") == text


def test_the_page_takes_only_its_sentences_from_the_package(text):
    """Until the bridge, where both are compared."""
    taken = set()
    for node in ast.walk(ast.parse(text.partition(BRIDGE)[0])):
        if isinstance(node, ast.Import):
            assert not {alias.name.split(".")[0] for alias in node.names} & {"attnmt", "press"}
        elif isinstance(node, ast.ImportFrom) and node.module.split(".")[0] in {"attnmt", "press"}:
            taken |= {alias.name for alias in node.names}
    assert taken == {"DataUnavailable", "grammar_corpus", "multi30k"}
