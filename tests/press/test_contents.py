"""press/contents.py: the order of the pages, and that no notebook is left out of it."""

import pytest

from press.contents import ROOT, chapter_numbers, chapters, lectures, listed
from press.editions.catalogue import pages

TOC = """format: jb-book
root: book/index
parts:
  - caption: Start
    chapters:
      - file: book/see
      - file: book/one_page
  - caption: Chapters
    numbered: 1
    chapters:
      - file: book/a
        sections:
          - file: book/evidence_a
            sections:
              - file: book/deeper
          - file: book/beside_a
      - file: book/b
"""


@pytest.fixture
def book(tmp_path):
    (tmp_path / "book").mkdir()
    (tmp_path / "_toc.yml").write_text(TOC)
    for name in ("index.md", "see.md", *(f"{name}.ipynb" for name in NOTEBOOKS)):
        (tmp_path / "book" / name).touch()
    return tmp_path


NOTEBOOKS = ["one_page", "a", "evidence_a", "deeper", "beside_a", "b"]


def test_pages_below_a_chapter_are_listed_after_it(book):
    names = ["a", "evidence_a", "deeper", "beside_a", "b"]
    assert listed(book)[2] == ("Chapters", [f"book/{name}" for name in names])
    assert [path.stem for path in chapters(book)] == NOTEBOOKS


def test_pages_below_a_chapter_have_no_number_and_no_slides(book):
    assert chapter_numbers(book) == {"a": 1, "b": 2}
    assert [path.stem for path in lectures(book)] == ["a", "b"]


def test_the_notebooks_of_the_book_are_those_listed():
    """By `chapters` they are executed, checked and graded, by `listed` printed and translated."""
    stored = {path for path in (ROOT / "book").glob("*.ipynb") if path.name != "_template.ipynb"}
    assert set(chapters()) == stored and len(chapters()) == len(stored)
    assert len(pages()) == len(set(pages()))
