"""*A whole translator on one page*: a program of its own."""

import ast

import nbformat
import pytest

from press.contents import file_of
from press.extensions.notebooks import PLAIN, plain

BRIDGE = "# The bridge to the book"


@pytest.fixture(scope="module")
def text() -> str:
    return plain(nbformat.read(file_of(PLAIN), as_version=4))


def test_the_page_takes_only_its_sentences_from_the_package(text):
    """Until the bridge, where both are compared."""
    taken = set()
    for node in ast.walk(ast.parse(text.partition(BRIDGE)[0])):
        if isinstance(node, ast.Import):
            assert not {alias.name.split(".")[0] for alias in node.names} & {"attnmt", "press"}
        elif isinstance(node, ast.ImportFrom) and node.module.split(".")[0] in {"attnmt", "press"}:
            taken |= {alias.name for alias in node.names}
    assert taken == {"DataUnavailable", "grammar_corpus", "multi30k"}
