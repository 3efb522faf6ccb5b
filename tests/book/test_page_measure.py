"""What a page asks of its reader: words, cells and pictures; exercises do not count."""

import re

import nbformat
import nbformat.v4 as nb
import pytest

from press.contents import ROOT, chapters
from press.extensions.book_lists import time_to_learn
from press.reading import body_cells, core, exercises, page, pictures, reading_minutes, tags, words

WORDS, CELLS, PICTURES = 2_500, 40, 3  # at most, at most, at least in 1,000 words
HOURS = 9  # of reading the core, fewer
CORE = [path for path in core() if path.suffix == ".ipynb"]


@pytest.mark.parametrize("path", CORE, ids=lambda path: path.stem)
def test_a_page_is_read_in_one_sitting_and_begins_with_something_to_look_at(path):
    cells = body_cells(path)
    count = sum(words(cell.source) for cell in cells if cell.cell_type == "markdown")
    shown = sum(map(pictures, cells))
    assert count <= WORDS, (
        f"{path.name} has {count} words before its exercises; {WORDS} are allowed"
    )
    assert len(cells) <= CELLS, f"{path.name} has {len(cells)} cells; {CELLS} are allowed"
    least = f"{path.name} has {shown} pictures in {count} words; {PICTURES} in 1,000 are asked for"
    assert 1000 * shown >= PICTURES * count, least
    seen = (
        c for c in cells if pictures(c) or (c.cell_type == "code" and "hide-input" not in tags(c))
    )
    first = next(seen)
    what = f"{path.name}: begin with a picture, a live view or an output, before any other code"
    assert pictures(first) or first.get("outputs"), what


def test_minutes_of_a_page_are_counted_by_the_rules_that_lecturers_read(tmp_path):
    rules = "200 words or six lines of code a minute, and a minute for each picture and each"
    assert rules in " ".join(page("for_lecturers").read_text("utf-8").split())
    text = "word " * 199 + "\n\n![a](b.png)\n\n$$\na\n$$\n"
    set_apart = ":::{exercise} One (20 minutes)\n:label: ex-a\n\nMany words.\n:::\n"
    (tmp_path / "a.md").write_text(text + set_apart)
    assert reading_minutes(tmp_path / "a.md") == 3
    code = "x = 1\n\n" * 6
    cells = [nb.new_code_cell(code), nb.new_markdown_cell("## Exercises\n\nwords")]
    folded = nb.new_code_cell(code, metadata={"tags": ["hide-input"]})
    nbformat.write(nb.new_notebook(cells=[folded, *cells]), tmp_path / "b.ipynb")
    assert reading_minutes(tmp_path / "b.ipynb") == 1
    assert [(one.minutes, one.open) for one in exercises(tmp_path / "a.md")] == [(20, False)]


@pytest.mark.parametrize("path", [*chapters(), page("watch_it_learn")], ids=lambda path: path.stem)
def test_each_exercise_says_how_long_it_takes(path):
    """`exercises` refuses a title without minutes."""
    found = exercises(path)
    assert all(5 <= one.minutes <= 90 for one in found)
    source = path.read_text(encoding="utf-8")
    assert len(found) == len(re.findall(r":{3,}\{exercise\}", source))


def test_the_core_is_read_in_hours_that_how_to_names():
    hours = sum(map(reading_minutes, core())) / 60
    assert hours < HOURS
    stated = re.search(r"takes about ([\d.]+) hours to read", page("how_to").read_text("utf-8"))
    assert float(stated[1]) == round(2 * hours) / 2


def test_lecturers_see_the_sums_of_every_page():
    numbers = [line.split(" | ") for line in time_to_learn(ROOT)[2:]]
    total = next(n for n, row in enumerate(numbers) if row[0].startswith("| **"))
    work = sum(int(row[3].strip(" |")) for row in numbers[:total] if row[2] != "–")
    assert total == len(core()) and numbers[total][3] == f"**{work / 60:.0f} hours** |"
    shown = {re.search(r"\]\((\w+)\.", row[0])[1] for row in numbers if "[" in row[0]}
    assert {path.stem for path in chapters() if exercises(path)} <= shown
