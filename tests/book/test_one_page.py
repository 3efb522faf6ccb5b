"""*A whole translator on one page*: a program of its own, and the file that holds it."""

import ast

import nbformat
import pytest

from press.plain_file import NOTEBOOK, plain, plain_file

CORPORA = {"DataUnavailable", "grammar_corpus", "multi30k"}
BRIDGE = "# The bridge to the book"


@pytest.fixture(scope="module")
def text() -> str:
    return plain(nbformat.read(NOTEBOOK, as_version=4))


def imports(text: str) -> set[str]:
    """The names that a text imports from the package and from all that belongs to the book."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.module.split(".")[0] in {"attnmt", "press"}:
            found |= {alias.name for alias in node.names}
        if isinstance(node, ast.Import):
            found |= {a.name for a in node.names if a.name.split(".")[0] in {"attnmt", "press"}}
    return found


def test_the_plain_file_is_the_notebooks_code(text):
    """After a change: `python -m press.plain_file`."""
    assert plain_file(NOTEBOOK).read_text(encoding="utf8") == text


def test_the_plain_file_is_python_without_what_only_the_book_needs(text):
    compile(text, "one_page.py", "exec")
    assert "write_numbers" not in text and "REPOSITORY" not in text


def test_imports_are_found():
    code = "import torch\nfrom attnmt import a, b\nif a:\n    import attnmt.fast"
    assert imports(code) == {"a", "b", "attnmt.fast"}


def test_the_page_takes_only_its_sentences_from_the_package(text):
    """Until the bridge, where both are compared."""
    before, bridge, after = text.partition(BRIDGE)
    assert imports(before) == CORPORA
    assert "rnnsearch" in imports(bridge + after)
