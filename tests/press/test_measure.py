"""The measure of a page: what counts, and what is counted."""

import sys

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from press import measure
from press.contents import ROOT
from press.measure import (
    Measure,
    bare_imports,
    counted,
    first_heat_map,
    opens_with_a_hook,
    pages,
    pictures,
    wide,
    words,
)

SVG = '<svg class="alignment" width="1"></svg>'


def code(source: str, *tags: str, **data: str):
    outputs = [new_output("display_data", data)] if data else []
    return new_code_cell(source, outputs=outputs, metadata={"tags": list(tags)})


def page(*cells):
    """Of texts and code cells."""
    return new_notebook(cells=[new_markdown_cell(c) if isinstance(c, str) else c for c in cells])


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("# Two words", 2),
        ("It keeps <!--kept-->19%<!--/--> of it.", 5),
        ("A formula $a + b = c$ and\n\n$$\na + b\n$$ (eq-ab)\n\nanother", 4),
        ("See {doc}`the primer <primer>`, {cite:t}`luong2015` and [a link](https://a.b/c d).", 7),
        (
            ":::{figure} figures/a.svg\n:alt: words that are not seen at all\nA caption.\n:::",
            2,
        ),
        ("(a-label)=\n- one\n- two", 2),
        ("| a | b |\n|---|---|\n| 1 | – |", 3),
        ("Code `x + y`:\n\n```python\nx = 1\n```\n", 3),
        ("<!-- a note --> seen", 1),
    ],
)
def test_words_are_those_that_a_reader_reads(text, number):
    assert words(text) == number


def texts(*cells) -> list[str]:
    return [text.strip() for text, _ in counted(page(*cells))]


def test_exercises_and_solutions_do_not_count():
    """Under their heading and elsewhere, with all their cells."""
    assert texts(
        "one",
        "two\n\n:::{exercise} A\n:label: a\n\ntext\n:::",
        code("own"),
        ":::{solution-start} a\n:class: dropdown\n:::\n\nbecause",
        code("solution"),
        ":::{solution-end}\n:::\n\nthree",
        code("four", "hide-input"),
        "## Exercises\n\ntext\n\n### The last exercise",
        code("text"),
        "### More\n\ntext",
        "## Further reading",
        code("colab", "colab", "remove-cell"),
    ) == ["one", "two", "three", "four", "## Further reading"]


def test_a_heading_in_code_is_none():
    assert texts("a\n```python\n# Exercises\n```\nb", "c") == [
        "a\n```python\n# Exercises\n```\nb",
        "c",
    ]


def test_an_exercise_without_a_solution_ends_at_a_heading():
    assert texts(":::{exercise} A\nx\n:::", "y", "## Next") == ["## Next"]


def test_pictures_are_counted_once():
    both = code("draw()", **{"image/png": "x", "image/svg+xml": SVG})
    assert pictures("draw()", both) == 1
    assert pictures("", code("show()", **{"text/html": f"<p>{SVG}</p><img src='a'>"})) == 2
    assert pictures("", code("print()", **{"text/plain": "<svg>"})) == 0
    text = ":::{figure} a.svg\n:::\n\n:::{live} rnnsearch\n:::\n\n![a](b.png)"
    assert pictures(text, new_markdown_cell(text)) == 3


def test_a_page_is_measured():
    found = measure.measure(
        page("# Four words in all", code("a = 1\n\n# note\nb"), code("import c", "hide-cell")), "x"
    )
    assert found == Measure("x", words=4, cells=3, lines=2, folded=1)
    assert Measure("x", words=500, pictures=2).pictured == 4
    assert Measure("x", words=500).minutes == 2.5


def test_the_way_to_the_first_trained_heat_map_is_measured():
    drawn = code("plots.alignment(a)", **{"image/svg+xml": SVG})
    by_hand = page("one two", drawn, "three")
    assert not measure.measure(by_hand, "x", to_heat_map=True).heat_map
    again = code("plots.alignment(b)", **{"image/svg+xml": SVG})
    trained = page("one two", drawn, code("model = pretrained('x')"), "three", again, "four")
    found = measure.measure(trained, "x", to_heat_map=True)
    assert (found.heat_map, found.words, found.lines) == (True, 3, 2)


def test_a_hook_is_something_shown_before_a_cell_that_shows_nothing():
    shows = code("x", **{"text/plain": "1"})
    assert opens_with_a_hook(page("# A", shows, code("import a")))
    assert opens_with_a_hook(page("# A\n\n:::{live} rnnsearch\n:::", code("import a")))
    assert opens_with_a_hook(page("# A", code("import a", "remove-cell"), shows))
    assert not opens_with_a_hook(page("# A", code("import a", "hide-cell"), shows))
    assert not opens_with_a_hook(page("# A", "text"))


def test_many_imports_are_folded():
    source = "import a\nimport b\nfrom c import d\nimport e"
    assert bare_imports(page(code(source))) == ["import a"]
    assert bare_imports(page(code(source, "hide-input"), code("import a\nx"))) == []


def test_wide_lines_are_found():
    assert wide(page(code("x" * 88 + "\n" + "y" * 89))) == ["y" * 89]
    assert wide(page(code("x" * 99, "colab"))) == []


def test_the_tool_measures_every_page(capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["measure"])
    assert measure.main() == 0
    said = capsys.readouterr().out
    for path in pages():
        assert f"\n{path.stem} " in said
    assert len(pages()) > 20
    assert "Before the first heat map of a trained model, in " in said
    assert f"{first_heat_map(ROOT).words:,} words" in said


def test_a_file_that_is_missing_is_told(capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["measure", "book/nothing.ipynb"])
    with pytest.raises(SystemExit):
        measure.main()
    assert "there is no book/nothing.ipynb" in capsys.readouterr().err
