"""The student edition holds no solution, and every mechanism's check tells right from wrong."""

import contextlib
import functools
import io
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import nbformat
import pytest
import torch
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from press.contents import ROOT, chapters, lectures
from press.editions import student
from press.editions.mechanisms import (
    BLANK,
    Misplaced,
    blank,
    checked,
    mechanisms,
    names,
    parted,
    without_solutions,
)
from press.run import numbers
from press.run.stamps import faults


@functools.cache
def read(path: Path) -> nbformat.NotebookNode:
    return nbformat.read(path, as_version=4)


BOOK = chapters()
EXERCISED = [path for path in lectures() if path.stem != "ten_minutes"]
MECHANISMS = [m for p in BOOK for m in mechanisms(read(p), p.stem)]
each_chapter = pytest.mark.parametrize("path", BOOK, ids=lambda path: path.stem)
each_with_exercises = pytest.mark.parametrize("path", EXERCISED, ids=lambda path: path.stem)
each_mechanism = pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda m: m.label)


@pytest.fixture(scope="module")
def edition(tmp_path_factory) -> Path:
    """The edition as `make student` writes it."""
    folder = tmp_path_factory.mktemp("student") / "edition"
    student.make_edition(folder)
    return folder


@functools.cache
def everything(edition: Path) -> str:
    """All that stands in the edition's notebooks and pages."""
    texts = [path.read_text(encoding="utf8") for path in (edition / "book").glob("*.md")]
    for path in (edition / "book").glob("*.ipynb"):
        texts += [cell.source for cell in read(path).cells]
    return "\n".join(texts)


def run(program: str) -> str:
    """Execute code in a namespace of its own; returns what it printed."""
    output, precision = io.StringIO(), torch.get_default_dtype()
    try:
        with contextlib.redirect_stdout(output):
            exec(compile(program, "cells", "exec"), {"__name__": "cells"})
    finally:
        torch.set_default_dtype(precision)  # the primer computes in double precision
    return output.getvalue()


# --- nothing of a solution is left


GATED = re.compile(r":::\{solution-start\}.*?:::\{solution-end\}", flags=re.DOTALL)


def lines(text: str) -> set[str]:
    """The lines that are long enough to tell something."""
    return {line.strip() for line in text.splitlines() if len(line.strip()) > 30}


@pytest.fixture(scope="module")
def whole() -> dict[str, str]:
    """Every chapter's cells as one text."""
    return {path.stem: "\n".join(cell.source for cell in read(path).cells) for path in BOOK}


@each_with_exercises
def test_no_solution_is_in_the_edition(path, edition, whole):
    solutions = GATED.findall(whole[path.stem])
    assert len(solutions) >= 5
    elsewhere = set().union(*(lines(GATED.sub("", text)) for text in whole.values()))
    assert lines("\n".join(solutions)) & lines(everything(edition)) <= elsewhere
    assert "{solution" not in everything(edition)
    assert len(lines("\n".join(solutions)) - elsewhere) > 10  # so the line above says something


@each_chapter
def test_what_is_kept_is_the_chapter(path, edition):
    """Every exercise, and all cells outside of solutions, in their order."""
    book, found = read(path), read(edition / path.relative_to(ROOT))
    labels = re.findall(r"\{exercise\}.*\n:label: (\S+)", "\n".join(c.source for c in book.cells))
    text = "\n".join(cell.source for cell in found.cells)
    assert labels == re.findall(r"\{exercise\}.*\n:label: (\S+)", text)
    assert labels or path not in EXERCISED
    parts = [(f"@{cell.id}@", *cell.source.partition("\n")) for cell in book.cells]
    texts = [f"{mark}\n{first}\n{mark}\n{rest}" for mark, first, _, rest in parts]
    marks = Counter(re.findall(r"(?m)^@(.*)@$", GATED.sub("", "\n".join(texts))))
    whole = [name for name, count in marks.items() if count == 2]
    assert [cell.id for cell in found.cells] == whole
    assert len(whole) > 0.6 * len(book.cells)


@each_chapter
def test_no_cell_needs_what_only_a_solution_defined(path, edition):
    defined = set()
    for cell in read(edition / path.relative_to(ROOT)).cells:
        if cell.cell_type == "code" and "colab" not in cell.metadata.get("tags", []):
            new, used = names(cell.source)
            assert used <= defined, cell.source
            defined |= new


@each_chapter
def test_numbers_in_sentences_need_no_solution(path, edition):
    """What a solution shows, a solution says, and the other way round."""
    assert numbers.faults(read(edition / path.relative_to(ROOT))) == []


@each_chapter
def test_outputs_that_stay_are_those_of_the_code(path, edition):
    """Unless those of the book itself are stale."""
    assert faults(edition / path.relative_to(ROOT)) == [] or faults(path) != []


def test_the_edition_stands_alone(edition):
    for name in (
        "README.md",
        "Makefile",
        "_config.yml",
        "requirements.txt",
        ".devcontainer/devcontainer.json",
        ".gitattributes",
        ".gitignore",
        ".github/workflows/book.yml",
        "src/attnmt",
        "results",
    ):
        assert (edition / name).exists(), name
    assert not (edition / "tests").exists()
    assert len(chapters(edition)) == len(BOOK)  # and every page of the contents is there
    assert 'url: ""' in (edition / "_config.yml").read_text(encoding="utf8")
    page = (ROOT / "book" / "for_lecturers.md").read_text(encoding="utf8")
    assert len(lines(page)) > 50
    assert lines(page) & lines(everything(edition)) == set()


@pytest.mark.slow
@pytest.mark.nightly
def test_the_edition_builds_without_a_warning(edition, tmp_path):
    """Outputs that are stale in the book itself aside."""
    copy = shutil.copytree(edition, tmp_path / "edition")
    command = [sys.executable, "-c", "from jupyter_book.cli.main import main; main()", "build", "."]
    done = subprocess.run([*command, "-n"], cwd=copy, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    output = [line for line in done.stderr.splitlines() if re.search("WARNING|ERROR", line)]
    assert [line for line in output if "WARNING: stored outputs:" not in line] == []


def make(edition: Path, *arguments: str) -> subprocess.CompletedProcess:
    """Run make in the edition, with a Python that installs nothing."""
    command = ["make", "--no-print-directory", "PYTHON=false", *arguments]
    return subprocess.run(command, cwd=edition, capture_output=True, text=True)


def test_the_edition_names_and_has_only_targets_that_work_in_it(edition):
    targets = re.findall(r"^([a-z-]+):", (edition / "Makefile").read_text(), flags=re.MULTILINE)
    for text in (everything(edition), (edition / "README.md").read_text()):
        named = re.findall(r"(?m)(?:`|^ *|=\w+ )make ([a-z-]+)(?=[` \n])", text)
        assert set(named) <= {*targets, "test", "colab"}, named  # of the whole book
    assert "nbval strict" in make(edition, "--dry-run", "course-test").stdout
    assert make(edition, "--dry-run", "strict").stdout.count("jupyter-book build . ") == 1
    assert make(edition, "--dry-run", "student").returncode


def test_what_git_does_not_track_stays_out(tmp_path):
    root, new = tmp_path / "root", tmp_path / "edition"
    (root / "book").mkdir(parents=True)
    (root / "answers").mkdir()
    (root / "Makefile").touch()
    shutil.copy(ROOT / "_config.yml", root)
    (root / "_toc.yml").write_text("format: jb-book\nroot: book/one\n")
    nbformat.write(new_notebook(cells=[EXERCISE]), root / "book" / "one.ipynb")
    for command in (["init", "--quiet"], ["add", "--all"]):
        subprocess.run(["git", "-C", root, *command], check=True)
    for name in ("answers/a.md", "book/Prüfung.md"):
        (root / name).touch()
    student.make_edition(new, root)
    assert (new / "book" / "one.ipynb").exists()
    assert not (new / "answers").exists()
    assert not (new / "book" / "Prüfung.md").exists()
    (new / ".git").mkdir()
    (new / "old.md").touch()
    student.make_edition(new, root)  # once more: the folder may be a repository of its own
    assert (new / ".git").is_dir()
    assert not (new / "old.md").exists()


# --- every mechanism


@each_with_exercises
def test_every_chapter_has_a_mechanism(path):
    assert [one.label for one in MECHANISMS if one.chapter == path.stem]


def filled_in(mechanism) -> str:
    """The answer that the solution is: its cell, and the learner's name for it."""
    solved = f"{mechanism.name} = {checked(mechanism.solution)}"
    return f"{parted(mechanism.solution)[0]}\n\n{solved}"


def spoiled(value):
    """An answer that is wrong a little, whatever it is made of."""
    if isinstance(value, torch.Tensor):
        return ~value if value.dtype == torch.bool else value + 1
    if isinstance(value, tuple):
        return tuple(map(spoiled, value))
    if isinstance(value, dict):
        return {key: spoiled(one) for key, one in value.items()}
    if isinstance(value, list):
        return [*value, "word"]
    return None if value is None else value + 1


# What learners get wrong, most of it from for_lecturers: words of the solution, and theirs.
TYPICAL = {
    "ex-primer-write": ("i, f, g, o =", "i, f, o, g ="),
    "ex-text-batch": ("mask[row, : len(ids) + 1]", "mask[row, : len(ids)]"),
    "ex-fixed-mean": ("memory.lengths[:, None]", "memory.mask.size(1)"),
    "ex-align-write": (".masked_fill(~mask, -torch.inf)", " * mask"),
    "ex-global-write": ("[context, h]", "[h, context]"),
    "ex-local-write": ("lengths[:, None] *", "scores.size(-1) *"),
    "ex-feed-write": ("[Ey, h_tilde]", "[Ey, h]"),
    "ex-decoding-write": ("kept[0][0][-1] == EOS", "any(one[0][-1] == EOS for one in kept)"),
    "ex-family-ibm1": ("of_source[s]", "of_source[t]"),
    "ex-lookup-write": ("(n // heads) ** 0.5", "n**0.5"),
}

# After a mechanism's program, in its namespaces: answers that are wrong, and the edition's cell.
OTHERS = """
from {test} import spoiled
theirs["spoiled"] = spoiled
for wrong in {wrong!r}:
    exec(wrong, theirs)
    try:
        book["check"](eval({given!r}, theirs))
    except AssertionError:
        print("refused")
try:
    exec({blank!r}, book)
except NotImplementedError as error:
    print(error)
"""


@each_mechanism
def test_its_check_passes_the_solution_and_neither_a_wrong_answer_nor_the_blank(mechanism, edition):
    """One program, so that what all three need is made once."""
    path = next(path for path in BOOK if path.stem == mechanism.chapter)
    cells = read(edition / path.relative_to(ROOT)).cells
    (cell,) = [c for c in cells if BLANK in c.source and checked(c.source) == mechanism.name]
    assert cell.outputs == []
    name = mechanism.name
    wrong = f"right = {name}\ndef {name}(*given):\n    return spoiled(right(*given))"
    if f"class {name}" in mechanism.cell:
        wrong = (
            f"class Wrong({name}):\n    def forward(self, *given, **more):\n"
            f"        return spoiled(super().forward(*given, **more))\n{name} = Wrong"
        )
    given = parted(mechanism.cell)[1].removeprefix("check(").removesuffix(")")
    solved = filled_in(mechanism)
    wrong = [wrong]
    if mechanism.label in TYPICAL:
        right, theirs = TYPICAL[mechanism.label]
        assert right in solved
        wrong.append(solved.replace(right, theirs))
    others = OTHERS.format(test=__name__, wrong=wrong, given=given, blank=cell.source)
    said = run(mechanism.program(solved) + others)
    assert said.endswith("correct\n" + "refused\n" * len(wrong) + "write me\n")


# --- what is wrong is said


def solution(text: str, *tags: str) -> nbformat.NotebookNode:
    return new_markdown_cell(text, metadata={"tags": list(tags)})


EXERCISE = new_markdown_cell(":::{exercise} One\n:label: ex-one\n\nWhy?\n:::")
START = ":::{solution-start} ex-one\n:class: dropdown\n:::"
END = "Because.\n\n:::{solution-end}\n:::"


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ([solution(START, "solution"), solution(END)], "cell 3 belongs to a solution: give it"),
        ([solution(START), solution(END, "solution")], "cell 2 belongs to a solution: give it"),
        (
            [solution(f"{START}\n\n{END}", "solution"), solution("After it.", "solution")],
            "cell 3 is tagged `solution`",
        ),
        ([solution(f"{START}\n\n{EXERCISE.source}", "solution")], "an exercise and a solution"),
    ],
)
def test_tags_that_do_not_fit_are_told(cells, message):
    with pytest.raises(Misplaced, match=message):
        without_solutions(new_notebook(cells=[EXERCISE, *cells]), "c")


def test_an_answer_written_into_the_edition_can_be_checked():
    """Students write into its chapters, and may leave a cell that is not Python."""
    source = (
        "def f(x):\n    'Doc.'\n    return None  # write it here\n\n\n"
        "def check(f):\n    assert f(1) == 1\n    print('correct')\n\n\ncheck(f)"
    )
    mechanism = new_code_cell(source, metadata={"tags": ["mechanism"]})
    passed = new_code_cell("check(abs)", metadata={"tags": ["solution"]})
    whole = [EXERCISE, new_code_cell("def g("), mechanism, solution(START, "solution"), passed]
    edition = student.student_chapter(new_notebook(cells=[*whole, solution(END, "solution")]), "c")
    edition.cells[2].source = edition.cells[2].source.replace(BLANK, "return x")
    (found,) = mechanisms(edition, "c")
    assert run(found.program("def f(x):\n    return x")) == "correct\n"


def test_a_blank_keeps_signature_and_docstring():
    source = (
        'def f(\n    a,\n):\n    """Doc."""\n    # write it here\n    return None\n\n\ncheck(f)'
    )
    left = f'def f(\n    a,\n):\n    """Doc."""\n    {BLANK}\n\n\ncheck(f)'
    assert blank(source) == left
    assert parted(left)[0].endswith(f"{BLANK}\n\n")


def test_the_edition_checks_answers_as_the_book_does(edition):
    """The same mechanisms, by the same checks, without a solution."""
    found = [m for p in chapters(edition) for m in mechanisms(read(p), p.stem)]
    assert [one.label for one in found] == [one.label for one in MECHANISMS]
    assert not [one for one in found if one.solution]
    mine, theirs = (
        next(one for one in some if one.label == "ex-primer-write") for some in (MECHANISMS, found)
    )
    assert run(theirs.program(filled_in(mine))).endswith("correct\n")
