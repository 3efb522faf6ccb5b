"""What a page asks of its reader: words, cells and pictures; exercises do not count."""

import re

import nbformat
import nbformat.v4 as nb
import pytest

from press.contents import ROOT, chapters, lectures
from press.extensions.book_lists import time_to_learn
from press.reading import (
    core,
    exercises,
    page,
    pictures,
    reading_minutes,
    tags,
    told,
    words,
)

WORDS, CELLS, PICTURES = 2_500, 40, 3  # at most, at most, at least in 1,000 words
HOURS = 9  # of reading the core, fewer
IMPORTS = 3  # lines of imports in a cell that is not folded, at most
CORE = [path for path in lectures() if path.stem != "primer"]
each = pytest.mark.parametrize("path", CORE, ids=lambda path: path.stem)


def test_words_are_those_that_a_reader_reads():
    text = (
        "It keeps <!--k-->19%<!--/--> of $a$; see {doc}`the primer <primer>` and [a b](https://c)."
    )
    assert words(text + "\n\n```python\nx = 1\n```\n\n:::{figure} a.svg\n:alt: unseen\n:::") == 10


def test_words_behind_a_fence_count_and_code_in_it_does_not():
    """The end of a directive is no beginning of code."""
    lists = "One two.\n\n```{a-list}\n```\n\nThree four.\n\n```{note}\nFive.\n```\n\nSix.\n\n"
    code = "1. Seven:\n\n   ```sh\n   make x\n   ```\n\n````{note}\n```sh\nmake\n```\nEight.\n````"
    assert words(lists + code) == 9  # the number of the item is read, too


@each
def test_a_page_is_read_in_one_sitting(path):
    cells = told(path)
    said = sum(words(cell.source) for cell in cells if cell.cell_type == "markdown")
    shown = sum(map(pictures, cells))
    assert said <= WORDS, f"{path.name} has {said} words before its exercises; {WORDS} are allowed"
    assert len(cells) <= CELLS, f"{path.name} has {len(cells)} cells; {CELLS} are allowed"
    least = f"{path.name} has {shown} pictures in {said} words; {PICTURES} in 1,000 are asked for"
    assert 1000 * shown >= PICTURES * said, least


@each
def test_a_page_begins_with_something_to_look_at(path):
    cells = [c for c in told(path) if c.cell_type == "code" or pictures(c)]
    first = next(c for c in cells if pictures(c) or not tags(c) & {"hide-input"})
    what = f"{path.name}: begin with a picture, a live view or an output, before any other code"
    assert pictures(first) or first.get("outputs"), what


@each
def test_many_imports_are_folded(path):
    cells = [c for c in told(path) if c.cell_type == "code" and not tags(c) & {"hide-input"}]
    for cell in cells:
        lines = re.findall(r"(?m)^(?:import|from) .*", cell.source)
        assert len(lines) <= IMPORTS, f"{path.name}: give {lines[0]!r} the tag hide-input"


def test_the_first_heat_map_of_a_trained_model_comes_soon():
    said = 0
    for cell in told(CORE[0]):
        if any("alignment" in str(output.get("data", {})) for output in cell.get("outputs", [])):
            assert CORE[0].stem == "ten_minutes" and said <= 900, f"{said} words stand before it"
            return
        said += words(cell.source) if cell.cell_type == "markdown" else 0
    raise AssertionError(f"{CORE[0].name} shows no heat map")


def test_minutes_of_a_page_are_counted_by_the_rules_that_lecturers_read(tmp_path):
    rules = "200 words or six lines of code a minute, and a minute for each picture and each"
    assert rules in " ".join(page("for_lecturers").read_text("utf-8").split())
    text = "word " * 199 + "\n\n![a](b.png)\n\n$$\na\n$$\n"
    set_apart = ":::{exercise} One (20 minutes)\n:label: ex-a\n\nMany words.\n:::\n"
    (tmp_path / "a.md").write_text(text + set_apart)
    assert reading_minutes(tmp_path / "a.md") == 3
    code = ["x = 1\n\n" * 6, "## Exercises\n\nwords"]
    cells = [nb.new_code_cell(code[0]), nb.new_markdown_cell(code[1])]
    folded = nb.new_code_cell(code[0], metadata={"tags": ["hide-input"]})
    nbformat.write(nb.new_notebook(cells=[folded, *cells]), tmp_path / "b.ipynb")
    assert reading_minutes(tmp_path / "b.ipynb") == 1
    assert [(one.minutes, one.open) for one in exercises(tmp_path / "a.md")] == [(20, False)]


def test_a_korean_page_is_counted_as_well(tmp_path):
    cells = ["단어 " * 200, "## 연습 문제\n\n" + "단어 " * 200]
    cells += [
        f":::{{exercise}} 제목 ({how_long})\n:label: ex-{number}\n:::"
        for number, how_long in enumerate(("15분", "열린 문제, 60분"))
    ]
    cells = [nb.new_markdown_cell(cell) for cell in cells]
    nbformat.write(nb.new_notebook(cells=cells), tmp_path / "a.ipynb")
    assert reading_minutes(tmp_path / "a.ipynb") == 1
    found = [(one.minutes, one.open) for one in exercises(tmp_path / "a.ipynb")]
    assert found == [(15, False), (60, True)]


@pytest.mark.parametrize(
    "path",
    [*chapters(), page("watch_it_learn"), page("_template")],
    ids=lambda path: path.stem,
)
def test_each_exercise_says_how_long_it_takes(path):
    """`exercises` refuses a title without minutes."""
    found = exercises(path)
    assert all(5 <= one.minutes <= 90 for one in found)
    source = path.read_text(encoding="utf-8")
    assert len(found) == len(re.findall(r":{3,}\{exercise\}", source))


def test_the_core_is_read_in_hours_that_how_to_names():
    hours = sum(map(reading_minutes, core())) / 60
    assert hours < HOURS
    said = re.search(r"takes about ([\d.]+) hours to read", page("how_to").read_text("utf-8"))
    assert float(said[1]) == round(2 * hours) / 2


def test_lecturers_see_the_sums_of_every_page():
    assert "{time-to-learn}" in page("for_lecturers").read_text("utf-8")
    lines = time_to_learn(ROOT)
    numbers = [line.split(" | ") for line in lines[2:]]
    total = next(n for n, row in enumerate(numbers) if row[0].startswith("| **"))
    work = sum(int(row[3].strip(" |")) for row in numbers[:total] if row[2] != "–")
    assert total == len(core()) and numbers[total][3] == f"**{work / 60:.0f} hours** |"
    shown = {re.search(r"\]\((\w+)\.", row[0])[1] for row in numbers if "[" in row[0]}
    assert {path.stem for path in chapters() if exercises(path)} <= shown
