"""Numbers in sentences: put between their marks, complained of, and shown without the marks."""

import re

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from attnmt.book.numbers import MIME
from press.run.execute import execute
from press.run.numbers import bare, faults, fill, without_marks
from press.run.outputs import write
from press.run.stamps import stale


def says(**facts: str):
    """A cell that was executed and said this."""
    return new_code_cell("write_numbers(...)", outputs=[new_output("display_data", {MIME: facts})])


def notebook(*cells):
    return new_notebook(cells=[new_markdown_cell(c) if isinstance(c, str) else c for c in cells])


# --- put in


def test_a_number_is_put_between_its_marks_wherever_it_stands():
    page = notebook(
        "# Only <!--kept-->?<!--/--> kept",
        "It keeps **<!--kept-->**old**<!--/-->**, which is <!--kept--><!--/-->.",
        says(kept="19%"),
        "| kept |\n|---|\n| <!--kept-->1%<!--/--> |",
    )
    assert fill(page) is None
    assert [cell.source for cell in page.cells if cell.cell_type == "markdown"] == [
        "# Only <!--kept-->19%<!--/--> kept",
        "It keeps **<!--kept-->19%<!--/-->**, which is <!--kept-->19%<!--/-->.",
        "| kept |\n|---|\n| <!--kept-->19%<!--/--> |",
    ]
    assert faults(page) == []


def test_a_caption_has_numbers_too():
    page = notebook(says(kept="19%"), new_code_cell("plot()"))
    page.cells[1].metadata.mystnb = {"figure": {"caption": "It keeps <!--kept-->1%<!--/-->."}}
    assert faults(page)
    assert fill(page) is None
    assert page.cells[1].metadata.mystnb.figure.caption == "It keeps <!--kept-->19%<!--/-->."
    assert without_marks(page).cells[1].metadata.mystnb.figure.caption == "It keeps 19%."


def test_a_text_is_put_in_as_it_is():
    page = notebook(says(odd=r"\1 \g<0>"), "Here <!--odd-->x<!--/-->.")
    assert fill(page) is None
    assert bare(page.cells[1].source) == r"Here \1 \g<0>."


def test_other_comments_and_code_stay_as_they_are():
    page = notebook("Text <!-- of several words --> and more.", new_code_cell('x = "<!--kept-->"'))
    before = nbformat.writes(page)
    assert fill(page) is None
    assert nbformat.writes(without_marks(page)) == before


# --- complaints


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("Only <!--lost-->1%<!--/--> and <!--kept-->1%<!--/-->", "cell 2 shows lost, and no cell"),
        ("Only 19%", "cell 1 says kept, and no Markdown shows <!--kept-->"),
        ("Only <!--kept-->19%", "cell 2: <!--kept--> is in no pair"),
        ("Only <!--kept-->19%<!--/--> or 20%<!--/-->", "cell 2: <!--/--> is in no pair"),
        ("Only <!--kept-->1<!--kept-->9%<!--/-->", "cell 2: <!--kept--> is in no pair"),
        ("Only <!-- kept -->19%<!--/-->", "cell 2: <!-- kept --> is in no pair"),
        ("Text\n\n<!--kept-->19%<!--/--> is left", "cell 2: a mark begins a line"),
        ("Text\n- <!--kept-->19%<!--/--> is left", "cell 2: a mark begins a line"),
        ("Text `<!--kept-->19%<!--/-->`", "cell 2: a mark stands in code or in a formula"),
        ("Text\n```\nx <!--kept-->19%<!--/-->\n```", "cell 2: a mark stands in code"),
        ("Text $x = <!--kept-->19<!--/-->$", "cell 2: a mark stands in code or in a formula"),
    ],
)
def test_what_does_not_fit_is_told_and_nothing_is_changed(text, complaint):
    page = notebook(says(kept="7%"), text)
    assert complaint in fill(page)
    assert page.cells[1].source == text
    assert any(complaint in fault for fault in faults(page))


def test_a_name_is_said_once():
    page = notebook(says(kept="19%"), says(kept="20%"), "Only <!--kept-->19%<!--/-->")
    assert fill(page) == "cell 2 says kept, and so does cell 1"


def test_a_sentence_that_lags_behind_is_a_fault():
    page = notebook(says(kept="20%"), "Only <!--kept-->19%<!--/-->")
    assert faults(page) == [
        "cell 2 shows kept as '19%', and cell 1 says '20%': run `make notebooks`"
    ]


# --- executed, shown


SAYS = """\
from attnmt.book import write_numbers

write_numbers(kept=f"{19}%")
"""
TEXT = """\
## Kept: <!--kept-->?<!--/-->

It keeps **<!--kept-->?<!--/--> of all**.

- an item with <!--kept-->?<!--/--> in it

| what | share |
|---|---|
| kept | <!--kept-->?<!--/--> |
"""


@pytest.fixture(scope="module")
def chapter(tmp_path_factory):
    """A chapter as the book has it, executed and stored."""
    folder = tmp_path_factory.mktemp("chapter")
    page = notebook("# Only <!--kept-->?<!--/--> kept\n\nIt begins.", new_code_cell(SAYS), TEXT)
    page.cells[1].metadata.tags = ["remove-cell"]
    page.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    write(page, folder / "chapter.ipynb")
    return execute(folder / "chapter.ipynb", for_others=True), folder / "chapter.ipynb"


@pytest.mark.slow
def test_an_execution_fills_the_sentences_in_and_the_stamp_stays_true(chapter):
    outcome, path = chapter
    assert outcome.failure is None
    stored = nbformat.read(path, as_version=4)
    assert stored.cells[-1].source == TEXT.replace("?", "19%")
    assert faults(stored) == []
    assert stale(path) is None
    stored.cells[-1].source = TEXT.replace("?", "20%")
    write(stored, path.with_name("other.ipynb"))
    assert stale(path.with_name("other.ipynb")) is None


@pytest.mark.slow
def test_a_mark_that_nobody_said_fails_the_execution(chapter, tmp_path):
    page = nbformat.read(chapter[1], as_version=4)
    page.cells[-1].source += "\n\nAnd <!--lost-->1%<!--/-->."
    write(page, tmp_path / "lost.ipynb")
    before = (tmp_path / "lost.ipynb").read_bytes()
    failure = execute(tmp_path / "lost.ipynb", for_others=False).failure
    assert re.fullmatch(r"cell \d shows lost, and no cell says it", failure)
    assert (tmp_path / "lost.ipynb").read_bytes() == before
