"""Numbers in sentences: put between their marks, complained of, and shown without the marks."""

from types import SimpleNamespace

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from attnmt.book import corpus_has
from attnmt.book.numbers import MIME
from press.run.numbers import faults, fill, without_marks


def says(**facts: str):
    """A cell that was executed and said this."""
    return new_code_cell("write_numbers(...)", outputs=[new_output("display_data", {MIME: facts})])


def notebook(*cells):
    return new_notebook(cells=[new_markdown_cell(c) if isinstance(c, str) else c for c in cells])


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


def test_a_chapter_with_a_text_of_ones_own_keeps_the_numbers_of_cells_that_were_left_out(capsys):
    corpus = SimpleNamespace(source_language="it", test=(), name="mine")
    assert not corpus_has(corpus, "sentences")
    left_out = new_code_cell("...", outputs=[new_output("stream", text=capsys.readouterr().out)])
    page = notebook("<!--kept-->1%<!--/-->, <!--lost-->2%<!--/-->".join("ab"), says(kept="19%"))
    assert fill(page)
    page.cells.append(left_out)
    assert fill(page) is None
    assert page.cells[0].source == "a<!--kept-->19%<!--/-->, <!--lost-->2%<!--/-->b"
    assert faults(page) == []


def test_other_comments_and_code_stay_as_they_are():
    page = notebook("Text <!-- of several words --> and more.", new_code_cell('x = "<!--kept-->"'))
    before = nbformat.writes(page)
    assert fill(page) is None
    assert nbformat.writes(without_marks(page)) == before


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("Only <!--lost-->1%<!--/--> and <!--kept-->1%<!--/-->", "cell 2 shows lost, and no cell"),
        ("Only 19%", "cell 1 says kept, and no Markdown shows <!--kept-->"),
        ("Only <!--kept-->19%", "cell 2: <!--kept--> is in no pair"),
        ("Only <!-- kept -->19%<!--/-->", "cell 2: <!-- kept --> is in no pair"),
        ("Text\n\n<!--kept-->19%<!--/--> is left", "cell 2: a mark begins a line"),
        ("Text `<!--kept-->19%<!--/-->`", "cell 2: a mark stands in code or in a formula"),
        ("Text $x = <!--kept-->19<!--/-->$", "cell 2: a mark stands in code or in a formula"),
    ],
)
def test_what_does_not_fit_is_told_and_nothing_is_changed(text, complaint):
    page = notebook(says(kept="7%"), text)
    assert complaint in fill(page)
    assert page.cells[1].source == text
    assert any(complaint in fault for fault in faults(page))


def test_a_sentence_that_lags_behind_is_a_fault():
    page = notebook(says(kept="20%"), "Only <!--kept-->19%<!--/-->")
    assert faults(page) == [
        "cell 2 shows kept as '19%', and cell 1 says '20%': run `make notebooks`"
    ]
    twice = notebook(says(kept="19%"), says(kept="20%"), "Only <!--kept-->19%<!--/-->")
    assert fill(twice) == "cell 2 says kept, and so does cell 1"
