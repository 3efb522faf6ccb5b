"""The book's pages beside the chapters: what they quote must be what the code says."""

import ast
import re
from pathlib import Path

import nbformat.v4 as nb
import numpy as np
import pytest
from mdit_py_plugins.anchors.index import slugify

import attnmt
from attnmt.book.tables import with_range
from attnmt.evidence.plan import planned, results_folder
from attnmt.evidence.store import load_run, read_study
from press.contents import ROOT
from press.extensions import book_lists
from press.reading import SLIDE_ONLY, tags

BOOK = ROOT / "book"


def page(name: str) -> str:
    return (BOOK / f"{name}.md").read_text(encoding="utf8")


# --- troubleshooting


def literals(source: str) -> str:
    """All texts in a Python source, adjacent ones joined, with … for what an f-string fills in."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.append(node.value)
        elif isinstance(node, ast.JoinedStr):
            parts = [part.value if isinstance(part, ast.Constant) else "…" for part in node.values]
            found.append("".join(parts))
    return "\n".join(found)


@pytest.fixture(scope="module")
def quotable() -> str:
    """Everything that our code, the tests' skips and the Makefile can say."""
    folders = (ROOT / "src", ROOT / "press", ROOT / "studies")
    files = [path for folder in folders for path in folder.rglob("*.py")]
    files.append(ROOT / "tests" / "conftest.py")
    texts = [literals(path.read_text(encoding="utf8")) for path in files]
    return "\n".join([*texts, (ROOT / "Makefile").read_text(encoding="utf8")])


def quoted(text: str) -> list[str]:
    return re.findall(r"^```text\n(.+?)\n```$", text, flags=re.MULTILINE | re.DOTALL)


def unquotable(message: str, quotable: str) -> list[str]:
    """The parts of a message, between its dots, that nothing says."""
    parts = [part.strip(" .,:()") for part in message.split("...")]
    return [part for part in parts if part and part not in quotable]


@pytest.mark.parametrize("message", quoted(page("troubleshooting")))
def test_troubleshooting_quotes_real_messages(message, quotable):
    assert unquotable(message, quotable) == []


# --- the page for lecturers


def minutes(text: str) -> dict[str, int]:
    """The minutes in the table of each lecture and lab."""
    sections = re.findall(r"^### (L\w+ \d).*?\n(.*?)(?=^#|\Z)", text, re.MULTILINE | re.DOTALL)
    number = re.compile(r"^\| (\d+) \|", re.MULTILINE)
    return {name: sum(map(int, number.findall(section))) for name, section in sections}


def test_every_lecture_and_lab_fills_ninety_minutes():
    units = ("Lecture 1", "Lab 1", "Lecture 2", "Lab 2", "Lecture 3", "Lecture 4", "Lab 3")
    assert minutes(page("for_lecturers")) == dict.fromkeys(units, 90)


def sections_that_show(notebook) -> set[str]:
    """The anchors of the sections in which a cell has an output."""
    found, above = set(), []  # the headings over a cell, each within the one before it
    for cell in notebook.cells:
        if SLIDE_ONLY in tags(cell):
            continue
        if cell.cell_type == "code" and cell.outputs:
            found |= {slugify(title) for _, title in above}
        if cell.cell_type == "markdown":
            for marks, title in re.findall("^(#+) (.+)", cell.source, re.MULTILINE):
                above = [(m, t) for m, t in above if len(m) < len(marks)] + [(marks, title)]
    return found


def test_a_cell_dispels_each_misconception():
    table = page("for_lecturers").partition("## Common misconceptions")[2].partition("\n(")[0]
    rows = [line.split(" | ")[1] for line in table.splitlines() if line.startswith("| ")][1:]
    assert len(rows) > 10
    for row in rows:
        links = re.findall(r"\]\((\w+\.ipynb)#([^)]+)\)", row)
        assert links, row
        for name, anchor in links:
            chapter = nb.reads((BOOK / name).read_text(encoding="utf8"))
            assert anchor in sections_that_show(chapter), (name, anchor)


# --- the package, the glossary


def test_every_public_name_is_on_the_package_page():
    names = {name for name in vars(attnmt) if not name.startswith("_")}
    here = Path(attnmt.__file__).parent
    modules = {path.stem for path in here.iterdir()}
    overview = page("api").partition("\n## ")[0].partition("What the chapters share")[0]
    listed = set(re.findall(r"`(?:~attnmt\w*\.(?:\w+\.)?)?(\w+)`", overview)) - {"attnmt"}
    assert listed == names - modules


# --- diagrams

COLUMN, NINE_POINTS = 700, 12  # pixels: a page's width, at which a diagram is shown; a letter


@pytest.mark.parametrize("path", sorted(BOOK.glob("figures/*.svg")), ids=lambda path: path.stem)
def test_a_diagram_has_its_words_as_text_and_no_letter_under_nine_points(path):
    text = path.read_text(encoding="utf8")
    width = float(re.search(r'viewBox="0 0 ([\d.]+)', text)[1])
    sizes = [float(size) for size in re.findall(r'font-size="([\d.]+)"', text)]
    assert "<text" in text and min(sizes) * COLUMN / width >= NINE_POINTS


# --- the claims, and the rule that decides them


def simulated(page_name: str, study: dict) -> dict[str, str]:
    """The numbers of a frozen study, as its page shows them."""
    shown = {"commit": study["commit"][:7]}
    if page_name == "claims":
        none, measured = study["wrong"]["none"], study["wrong"]["as measured"]
        shown |= {"tables": str(len(study["tables"])), "alpha": f"{study['alpha']:.0%}"}
        shown |= {"times": f"{study['repetitions']:,}", "all_rows": str(study["rows"])}
        shown |= {"any": f"{none['any']:.0%}", "any_A": f"{none['kind A']:.0%}"}
        shown |= {"rows": f"{none['rows']:.2f}", "measured": f"{measured['any']:.0%}"}
        return shown | {"measured_A": f"{measured['kind A']:.0%}"}
    cover, tables = study["coverage of the rule"], study["wrong tables"]
    shown |= {name: f"{cover[name]:.1%}" for name in ("lowest", "highest")}
    shown |= {f"found_{row['seeds']}": f"{row['rule']:.0%}" for row in study["power"]}
    shown |= {"tables": f"{tables['Holm']:.0%}", "each": f"{tables['each on its own']:.0%}"}
    half = [row for row in study["failing seeds"] if row["failing"] == 0.5]
    return shown | {f"failing_{row['seeds']}": f"{row['Holm']:.0%}" for row in half}


@pytest.mark.parametrize(
    ("name", "study", "marks"), [("how_to", "truth_rule", 9), ("claims", "whole_list", 10)]
)
def test_the_pages_simulation_is_the_stored_one(name, study, marks):
    expected = simulated(name, read_study(study))
    written = re.findall(r"<!--(\w+)-->(.*?)<!--/-->", page(name))
    assert len(written) == marks
    assert written == [(name, expected[name]) for name, _ in written]


RECORDED = sorted(results_folder().glob("*-*.json"))


@pytest.mark.parametrize("corpus", book_lists.LONG)
def test_the_models_of_full_runs_are_shown_from_their_runs(corpus):
    assert f"{{trained-models}} {corpus}" in page("claims")
    found = [load_run(path.stem) for path in RECORDED if f"-{corpus}-" in path.stem]
    long = book_lists.LONG[corpus]
    lines = book_lists.trained_models(ROOT, corpus)
    last = next(bucket.longest for bucket in found[0].by_length if bucket.shortest == long)
    assert f"| {long} to {last} words |" in lines[0]
    row = next(line for line in lines if line.startswith("| RNNsearch |"))
    of_rnnsearch = [run for run in found if run.name.startswith(f"rnnsearch-{corpus}-")]
    assert f"| {len(of_rnnsearch)} | {of_rnnsearch[0].history.curve[-1].updates:,} |" in row
    assert with_range(run.bleu.score for run in of_rnnsearch) in row
    assert len(lines) == 2 + len({run.name.rsplit("-", 2)[0] for run in found}) + 2


SHORT = planned("U", "L")  # trained for minutes, and said to be


def test_what_is_left_to_gain_at_the_end_of_a_full_run_is_named():
    """The last tenth of the updates gains less than 1% of the perplexity on valid, or little more
    where results/README.md names the run."""
    readme = (results_folder() / "README.md").read_text(encoding="utf8")
    for name in [path.stem for path in RECORDED if path.stem not in SHORT]:
        curve = load_run(name).history.curve
        updates = [point.updates for point in curve]
        perplexities = [point.valid_perplexity for point in curve]
        gain = 1 - perplexities[-1] / np.interp(0.9 * updates[-1], updates, perplexities)
        most = 0.02 if f"`{name}`" in readme else 0.01
        assert gain < most, f"train {name} longer, or name it in results/README.md"
