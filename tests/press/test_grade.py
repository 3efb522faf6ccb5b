"""Grading: whatever learners hand in is a row, and nothing that an answer does reaches further."""

import contextlib
import csv
import json
import os
import socket
import subprocess
import sys
import time
from importlib.metadata import packages_distributions
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from press.contents import ROOT
from press.editions import grade
from press.editions.mechanisms import Mechanism, checked, mechanisms, parted
from press.run.imports import asked, needed

CELL = "def f(x):\n    'Doc.'\n    return x  # write it here\n\n\ncheck(f)"
CHECK = "def check(f):\n    assert f(1) == 1, 'it differs'\n    print('correct')"
ONE = Mechanism("c", "ex-one", "f", CELL, solution="", context=[CHECK])
RIGHT = "def f(x):\n    return x"


def notebook(*sources: str, label: str = "ex-one"):
    exercise = new_markdown_cell(f":::{{exercise}} One\n:label: {label}\n\nWhy?\n:::")
    return new_notebook(cells=[exercise, *map(new_code_cell, sources)])


def taken(*sources: str) -> str | None:
    return grade.answer(*grade.statements(notebook(*sources)), "f")


def verdict(*sources: str, seconds: int = grade.SECONDS) -> str:
    return grade.verdict(ONE, taken(*sources), seconds)


# --------------------------------------------------------------------------- what is taken


@pytest.mark.parametrize(
    "sources",
    [
        ("import math as m", "def f(x):\n    return m.floor(x)"),
        ("def helper(x):\n    return x * ONE", "ONE = 1", "def f(x):\n    return helper(x)"),
        ("class A:\n    one = 1", "from math import floor", "def f(x):\n    return floor(A.one)"),
        ("def f(x):\n    return 2", "%%time\nold = f\n\ndef f(x):\n    return old(x) - 1"),
        ("this is no Python", RIGHT),
        ("raise SystemExit", "import no_such_module", RIGHT, "model = train_for_an_hour()"),
        (RIGHT, "check = lambda f: 1 / 0", "def check(f):\n    1 / 0", "check(f)"),
        ("f = lambda x: x",),
        ("if True:\n    def f(x):\n        return x",),
        ("k = 0\nk += 1\ndef f(x):\n    return k * x",),
        ("k = train_for_an_hour()\nn = k", "k = 1\nn = k\ndef f(x):\n    return n * x"),
        ("def f(x):\n    return g(x)", "k = 1\ndef g(x):\n    return k * x", "k = f(1)"),
        ("from math import *", "def f(x):\n    return floor(x)"),
        ("%matplotlib inline\n! pip list\nnames = !ls\nlen?\n?len\n" + RIGHT,),
        (
            "class A:\n    pass",
            "A.one = 1\nk = {}\nk['one'] = A",
            "def f(x):\n    return k['one'].one",
        ),
    ],
)
def test_what_works_in_the_notebook_works_here(sources):
    assert verdict(*sources) == "correct"


def test_the_last_definition_counts_and_none_is_told():
    assert verdict(RIGHT, "def f(x):\n    return 2") == "AssertionError: it differs"
    assert taken("x = 1", "g = f") is None
    assert verdict("def f(x) return x") == "SyntaxError: expected ':'"


# --------------------------------------------------------------------------- hostile answers


@pytest.mark.parametrize(
    ("written", "message"),
    [
        (f"{RIGHT}\n    check = print", "correct"),
        ("def f(x):\n    print('correct')\n    raise SystemExit", "it ended before its check"),
        ("import os\ndef f(x):\n    os._exit(0)", "it ended before its check"),
        ("import os, signal\ndef f(x):\n    os.kill(os.getpid(), 9)", "it was ended by SIGKILL"),
        ("def f(x):\n    print('x' * 10**9)", ("MemoryError", "OSError")),
        ("def f(x):\n    return [0] * 10**11", "MemoryError"),
        ("def f(x):\n    raise ValueError('\\x1b[2K\\rcorrect')", "ValueError: \\x1b[2K"),
        ("def f(x):\n    raise ValueError('a' * 10**5)", f"ValueError: {'a' * 200}"),
        ("def f(x):\n    return open('../book/primer.ipynb').read()", "FileNotFoundError"),
        ("def f(x):\n    open('big', 'wb').write(b'x' * 10**8)", "OSError"),
        ("def f(x):\n    return '\\ud800' + x", "TypeError"),
    ],
)
def test_what_a_hostile_answer_does_is_a_line(written, message):
    found = verdict(written)
    assert found.startswith(message)
    assert found.isprintable()
    assert len(found) < 400


def running(mark: str) -> list[str]:
    """Processes whose command line has a mark."""
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
    return [line for line in listed.stdout.splitlines() if mark in line]


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.skipif(not os.path.isdir("/proc"), reason="only Linux tells what left its group")
def test_what_an_answer_leaves_running_is_ended_and_holds_nobody(apart):
    mark = f"61.0{os.getpid()}{int(apart)}"
    started = f"subprocess.Popen(['sleep', '{mark}'], start_new_session={apart})"
    began = time.monotonic()
    assert verdict(f"import subprocess\ndef f(x):\n    {started}\n    return x") == "correct"
    assert time.monotonic() - began < 60
    assert running(f"sleep {mark}") == []


REACHED = """\
import os, socket
def f(x):
    found = []
    for name, done in {
        "kill": lambda: os.kill(%d, 0),
        "read": lambda: open(%r).read(),
        "write": lambda: open(%r, "a"),
        "list": lambda: os.listdir(%r).index("press"),
        "network": lambda: socket.create_connection(("127.0.0.1", %d), 2),
    }.items():
        try:
            done()
            found.append(name)
        except (OSError, ValueError):
            pass
    raise ValueError(found)
"""


def test_in_a_container_an_answer_reaches_nothing(tmp_path, monkeypatch):
    """Neither the grader, other answers, the solutions, nor a server; without it, all of them."""
    if not grade.container((tmp_path,)):
        pytest.skip("no bubblewrap, or it may not be used here")
    other = tmp_path / "other.ipynb"
    other.write_text("")
    with socket.create_server(("127.0.0.1", 0)) as server:
        places = (os.getpid(), str(other), str(other), str(ROOT), server.getsockname()[1])
        written = REACHED % places
        assert grade.verdict(ONE, written, hidden=(tmp_path,)) == "ValueError: []"
        monkeypatch.setattr(grade, "container", lambda hidden: ())
        found = grade.verdict(ONE, written, hidden=(tmp_path,))
    assert found == "ValueError: ['kill', 'read', 'write', 'list', 'network']"


@pytest.mark.parametrize("hidden", ["answers", "."])
def test_an_environment_behind_a_link_is_seen_in_the_container(tmp_path, hidden):
    """Wherever the link and the environment lie: one of them, or both, in what is hidden."""
    if not grade.container((tmp_path,)):
        pytest.skip("no bubblewrap, or it may not be used here")
    (tmp_path / "answers").mkdir()
    (tmp_path / "venv").symlink_to(sys.prefix)
    python = tmp_path / "venv" / "bin" / Path(sys.executable).name
    asked = "import pathlib, sys; from press.editions.grade import container as c; "
    asked += "print(sys.prefix); print(bool(c((pathlib.Path(sys.argv[1]),))))"
    done = subprocess.run(
        [python, "-c", asked, tmp_path / hidden], capture_output=True, text=True, cwd=ROOT
    )
    assert done.stdout.split() == [str(tmp_path / "venv"), "True"], done.stdout + done.stderr


@pytest.mark.slow
def test_a_check_finds_what_it_reads_of_the_book(tmp_path):
    """In a container, too, where most of the book is hidden: models and their sentences."""
    path = ROOT / "book" / "02_fixed_length.ipynb"
    (one,) = mechanisms(nbformat.read(path, as_version=4), path.stem)
    solved = f"{parted(one.solution)[0]}\n\n{one.name} = {checked(one.solution)}"
    assert grade.verdict(one, solved, hidden=(tmp_path,)) == "correct"


def test_an_answer_that_never_ends_is_told():
    assert verdict("def f(x):\n    while x:\n        pass", seconds=1) == "not done after 1 seconds"


def test_an_answer_runs_in_an_empty_folder_that_goes_with_it(tmp_path):
    (tmp_path / "page.md").write_text("a page")
    with contextlib.chdir(tmp_path):
        found = verdict("import os\ndef f(x):\n    raise ValueError(os.listdir(), os.getcwd())")
    assert found.startswith("ValueError: ([], '")
    assert not os.path.exists(found.split("'")[1])
    assert (tmp_path / "page.md").exists()


def test_the_environment_of_the_lecturer_is_not_shown(monkeypatch):
    monkeypatch.setenv("A_TOKEN", "secret")
    found = verdict("import os\ndef f(x):\n    raise ValueError('A_TOKEN' in os.environ)")
    assert found == "ValueError: False"


# --------------------------------------------------------------------------- the folder


BROKEN = {
    "empty.ipynb": b"",
    "list.ipynb": b"[]",
    "none.ipynb": b"null",
    "cells.ipynb": b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}}',
    "number.ipynb": b'{"cells": 3, "nbformat": 4, "nbformat_minor": 5, "metadata": {}}',
    "strings.ipynb": b'{"cells": ["x"], "nbformat": 4, "nbformat_minor": 5, "metadata": {}}',
    "latin.ipynb": "Grüße".encode("latin-1"),
    "deep.ipynb": b"[" * 100_000,
    "future.ipynb": b'{"cells": [], "nbformat": 99, "nbformat_minor": 0, "metadata": {}}',
    "esc\x1b[2J.ipynb": b"{",
    "J\udcfcrgen.ipynb": b"{",  # no Unicode, as in archives of old Windows
}


@pytest.fixture
def handed_in(tmp_path, monkeypatch):
    """A folder with right, wrong and broken notebooks, and what is not to be read."""
    monkeypatch.setattr(grade, "chapters", list)
    monkeypatch.setattr(grade, "mechanisms", lambda *_: [ONE])
    monkeypatch.setattr(grade, "chapters", lambda: [tmp_path / "book.ipynb"])
    nbformat.write(notebook(), tmp_path / "book.ipynb")
    folder = tmp_path / "answers"
    moodle = folder / "Anna Meyer_12345_assignsubmission_file_"
    moodle.mkdir(parents=True)
    nbformat.write(notebook(RIGHT), moodle / "03 (1).ipynb")
    nbformat.write(notebook("x = 1"), folder / "=1+1.ipynb")
    nbformat.write(notebook(f"{RIGHT} + 1"), folder / "Bo_7_assignsubmission_file_ch3.ipynb")
    nbformat.write(notebook(label="ex-other"), folder / "other.ipynb")
    for name, content in BROKEN.items():
        (folder / name).write_bytes(content)
    (folder / "a folder.ipynb").mkdir()
    (moodle / ".ipynb_checkpoints").mkdir()
    nbformat.write(notebook(RIGHT), moodle / ".ipynb_checkpoints" / "03-checkpoint.ipynb")
    (folder / "link.ipynb").symlink_to(moodle / "03 (1).ipynb")
    return folder


def test_every_file_is_a_row_and_the_gradebook_has_them(handed_in, monkeypatch, capsys):
    book = handed_in.parent / "grades.csv"
    command = ["grade", str(handed_in), "--gradebook", str(book), "--jobs", "1"]
    monkeypatch.setattr(sys, "argv", command)
    assert grade.main() == 0
    printed = capsys.readouterr().out
    assert "\x1b" not in printed
    assert f"[1/{len(BROKEN) + 5}]" in printed
    with book.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["student", "exercise", "points", "feedback", "file"]
    found = {row["student"]: (row["exercise"], row["points"], row["feedback"]) for row in rows}
    assert found["Anna Meyer"] == ("ex-one", "1", "correct")
    assert found["Bo"] == ("ex-one", "0", "AssertionError: it differs")
    assert found["'=1+1"] == ("ex-one", "0", "nothing defines f")
    assert found["other"][2] == "no exercise of the book that can be checked"
    unread = [row for row in rows if row["feedback"].startswith("not a notebook: ")]
    assert len(unread) == len(BROKEN) + 1
    assert not [row for row in rows if "checkpoint" in row["file"] or "link" in row["file"]]


def test_one_notebook_can_be_checked_before_it_is_handed_in(handed_in, monkeypatch, capsys):
    mine = handed_in / "Bo_7_assignsubmission_file_ch3.ipynb"
    monkeypatch.setattr(sys, "argv", ["grade", str(mine)])
    assert grade.main() == 0
    assert "ex-one  AssertionError: it differs" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none"], "there is no none"),
        (["."], "there is no notebook in ."),
        ([".", "--jobs", "0"], "--jobs must be at least 1"),
        ([".", "--gradebook", "none/grades.csv"], "there is no folder none"),
        ([str(ROOT)], "holds the book itself: give a folder of answers"),
        ([str(ROOT / "Makefile")], "is no notebook: unpack an archive"),
    ],
)
def test_what_cannot_be_graded_is_told(arguments, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["grade", *arguments])
    with pytest.raises(SystemExit):
        grade.main()
    assert message in capsys.readouterr().err


def test_gradescope_gets_its_results(handed_in, tmp_path, monkeypatch):
    results = tmp_path / "results.json"
    monkeypatch.setattr(sys, "argv", ["grade", str(handed_in), "--gradescope", str(results)])
    assert grade.main() == 0
    found = json.loads(results.read_text())
    assert (found["score"], found["output"]) == (1, "")
    assert "No notebook" in grade.for_gradescope([])["output"]
    assert {"name": "ex-one", "score": 1, "max_score": 1, "output": "correct"} in found["tests"]


def test_gradescope_installs_what_the_check_imports():
    """Of other people's packages; the autograder has none of the book's requirements."""
    installed = (ROOT / "press/editions/autograder/setup.sh").read_text().split()
    files = needed("import press.editions.grade", ROOT).values()
    modules = {name for file in files for name, _ in asked(file.read_text(encoding="utf8"))}
    others = {name.partition(".")[0] for name in modules} - sys.stdlib_module_names - {"press"}
    libraries = {library for name in others for library in packages_distributions()[name]}
    assert {"nbformat", "PyYAML"} <= libraries
    assert {library.lower() for library in libraries} <= set(installed)


def test_the_first_complaint_is_told():
    """Of an error that another one led to, and whose message has lines like errors."""
    code = (
        "try:\n    1 / 0\nexcept ZeroDivisionError:\n"
        "    raise AssertionError('Not close!\\n\\nGreatest relative difference: 2 at (0,)')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert grade.complaint(done.stderr) == "AssertionError: Not close!"
    assert grade.complaint("UserWarning: it is late\n") == ""
