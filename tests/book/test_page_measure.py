"""The pages of the book that are written to a measure keep it."""

import nbformat
import pytest

from press import measure
from press.contents import ROOT

core = pytest.mark.parametrize("name", measure.CORE)
measured = pytest.mark.parametrize("name", measure.MEASURED)


def read(name: str) -> nbformat.NotebookNode:
    return nbformat.read(ROOT / "book" / f"{name}.ipynb", as_version=4)


@core
def test_a_core_page_is_read_in_one_sitting(name):
    found = measure.measure(read(name), name)
    assert found.words <= measure.WORDS
    assert found.cells <= measure.CELLS


@core
def test_a_core_page_has_pictures(name):
    assert measure.measure(read(name), name).pictured >= measure.PICTURES


@core
def test_a_core_page_begins_with_something_to_look_at(name):
    assert measure.opens_with_a_hook(read(name))


@measured
def test_imports_are_folded(name):
    assert measure.bare_imports(read(name)) == []


@measured
def test_code_fits_the_page(name):
    assert measure.wide(read(name)) == []


def test_the_first_trained_heat_map_comes_soon():
    found = measure.first_heat_map()
    assert found.name == "ten_minutes"
    assert found.words <= measure.FIRST_WORDS
    assert found.lines <= measure.FIRST_LINES
