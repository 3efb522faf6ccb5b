"""Check the mechanisms that learners wrote, in the notebooks that they handed in.

    python -m press.editions.grade FOLDER                       every notebook in FOLDER and below
    python -m press.editions.grade my.ipynb                     one notebook, before it is handed in
    python -m press.editions.grade FOLDER --gradebook grades.csv

A row is printed as soon as it is known. Of a learner's notebook, what the answer needs is taken:
imports, functions, classes and constants of all cells, in their order. The check and the cells that
it needs come from the book and have names of their own, so changes to them do not help. Each answer
runs as a process of its own, in an empty folder, with limits on time, memory and the size of files,
and all that it started is ended with it. That is no wall: it is other people's code on your
machine. Where Linux has bubblewrap, a container is put around it, without network, and with nothing
of yours to read or write; the first line says whether it is.
"""

import argparse
import ast
import csv
import json
import os
import re
import secrets
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import astuple, dataclass
from functools import cache
from pathlib import Path
from typing import BinaryIO

import nbformat

from press.contents import ROOT, chapters
from press.editions.mechanisms import Mechanism, Misplaced, bound_and_read, mechanisms
from press.source import parse, without_magics

SECONDS = 120  # that an answer may take
MEMORY = 4 * 2**30  # bytes of data
PROCESSES = 64  # beside those that the user has already; an administrator has no limit
FILE = 4 * 2**20  # bytes of a file that an answer writes, its output included
NOTEBOOK = 50 * 2**20  # bytes of a notebook that is read
FEEDBACK = 300  # letters of a message


@dataclass(frozen=True)
class Row:
    """What a gradebook says of an exercise in a notebook; a file that cannot be read has none."""

    student: str
    exercise: str
    points: int
    feedback: str
    file: str


UNCONTAINED = (
    "No container: answers can read and change your files, use the network, and end this program. "
    "On Linux, install bubblewrap, and allow it to make one."
)
COLUMNS = ("student", "exercise", "points", "feedback", "file")

# --------------------------------------------------------------------------- what a learner wrote


@dataclass(frozen=True)
class Statement:
    """A statement of a notebook, and its global names: bound, replaced by what it binds, read."""

    text: str
    bound: set[str]
    replaced: set[str]  # of those bound, the ones whose earlier values no longer count
    read: set[str]
    read_later: set[str]  # of those read, the ones that a function reads when it is called


def statements(notebook: nbformat.NotebookNode) -> tuple[list[Statement], list[str]]:
    """What the code cells say in their order, checks aside; and those that are not Python.

    A cell that is not Python stands among the others as a statement that says nothing.
    """
    found, broken = [], []
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        try:
            nodes = [node for node in parse(cell.source).body if not is_check(node)]
            texts = [ast.unparse(node) for node in nodes]
            found += [statement(text) for text in texts]
        except (SyntaxError, ValueError, RecursionError):
            broken.append(without_magics(cell.source))
    return found, broken


REPLACING = (ast.Assign, ast.AnnAssign, ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)


def statement(text: str) -> Statement:
    """What a statement binds and reads; `A.x = 1` and `a[0] = 1` bind A and a, `import *` "*"."""
    bound, read = bound_and_read(text)
    (node,) = ast.parse(text).body
    replaced = bound if isinstance(node, REPLACING) else set()
    changed, waiting, later = set(), [node], False
    while waiting:
        one = waiting.pop()
        if isinstance(one, ast.ImportFrom) and one.names[0].name == "*":
            changed.add("*")
        if isinstance(one, ast.Attribute | ast.Subscript) and isinstance(one.ctx, ast.Store):
            while isinstance(one, ast.Attribute | ast.Subscript):
                one = one.value
            changed |= {one.id} if isinstance(one, ast.Name) else set()
        if isinstance(one, ast.FunctionDef | ast.ClassDef | ast.Lambda):
            later = True
        else:
            waiting += ast.iter_child_nodes(one)
    return Statement(text, bound | changed, replaced - changed, read, read if later else set())


def answer(written: list[Statement], broken: list[str], name: str) -> str | None:
    """The statements that a name needs, in their order; None if none defines it.

    From the last statement back: what is needed at a place, and what functions read at the end. A
    cell that defines the name and is not Python is the answer if no other defines it: its error is
    the learner's, and is reported when it runs.
    """
    if not any(name in one.bound for one in written):
        seem = [source for source in broken if re.search(rf"\b(def|class) {name}\b", source)]
        return seem[-1] if seem else None
    at_the_end, more = set(), {name}
    while more - at_the_end:
        at_the_end |= more
        needed, chosen = at_the_end | {"*"}, []
        for one in reversed(written):
            if one.bound & needed:
                chosen.append(one.text)
                needed = (needed - one.replaced) | one.read
                more = more | one.read_later
    return "\n\n".join(reversed(chosen))


def is_check(node: ast.stmt) -> bool:
    """The definition of the check, or a call of it."""
    call = getattr(node, "value", None)
    called = isinstance(call, ast.Call) and getattr(call.func, "id", "") == "check"
    return called or (isinstance(node, ast.FunctionDef) and node.name == "check")


# ------------------------------------------------------------------------------------ running it

# What an answer sees of the environment, besides its folder.
SURROUNDINGS = {
    **{key: os.environ[key] for key in ("PATH", "LANG", "SYSTEMROOT") if key in os.environ},
    "PYTHONPATH": str(ROOT / "src"),
    "PYTHONUTF8": "1",
    "MPLBACKEND": "agg",
    "OMP_NUM_THREADS": "1",
}
LIMITED = """\
import os, sys
try:
    import resource
    most_of = {{"RLIMIT_CPU": {seconds}, "RLIMIT_DATA": {memory}, "RLIMIT_FSIZE": {file},
               "RLIMIT_NPROC": {processes}, "RLIMIT_CORE": 0}}
    for what, most in most_of.items():
        try:
            if most is not None:
                resource.setrlimit(getattr(resource, what), (most, most))
        except (AttributeError, OSError, ValueError):
            pass
except ImportError:  # Windows has none
    pass
exec(compile(sys.stdin.read(), "answer", "exec"), {{"__name__": "__main__"}})
"""


@cache
def container(hidden: tuple[Path, ...]) -> tuple[str, ...]:
    """The command that puts bubblewrap's container around another; empty where there is none.

    Nothing can be written, there is no network, no process outside is seen, and of the user's own
    folders, the book and what is `hidden`, only the package and Python can be read.
    """
    own = [
        place for place in (Path.home(), ROOT, *hidden) if place.is_dir() and place.parent != place
    ]
    seen = [ROOT / "src", ROOT / "results", ROOT / "book" / "_live"]
    python = [Path(sys.prefix), Path(sys.base_prefix)]
    seen += [*python, *(place.resolve() for place in python)]  # it may be a link to a hidden place
    seen = [one for one in seen if any(one.is_relative_to(place) for place in own)]  # others are
    command = ["bwrap", "--unshare-all", "--die-with-parent", "--ro-bind", "/", "/"]
    command += ["--dev", "/dev", "--proc", "/proc"]
    command += [word for place in sorted(own) for word in ("--tmpfs", str(place))]
    command += [word for place in seen for word in ("--ro-bind-try", str(place), str(place))]
    command += [word for place in sorted(own) for word in ("--remount-ro", str(place))]
    asked = "from importlib.util import find_spec as f; exit(not (f('torch') and f('attnmt')))"
    try:
        done = subprocess.run(
            [*command, sys.executable, "-c", asked], env=SURROUNDINGS, capture_output=True
        )
    except OSError:  # there is no bubblewrap
        return ()
    if done.returncode:
        print("bubblewrap:", readable(done.stderr.decode(errors="replace").strip()))
        return ()
    return tuple(command)


def verdict(
    mechanism: Mechanism, written: str, seconds: int = SECONDS, hidden: tuple[Path, ...] = ()
) -> str:
    """ "correct", or what went wrong in one line; in a container, answers see nothing `hidden`."""
    end = secrets.token_hex()  # an answer cannot end the program early
    limits = LIMITED.format(seconds=seconds, memory=MEMORY, file=FILE, processes=most_processes())
    around = container(hidden)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name, "answer")
        folder.mkdir()
        home = dict.fromkeys(("HOME", "USERPROFILE", "TMPDIR"), str(folder)) | {"GRADED": end}
        bound = ["--bind", str(folder), str(folder), "--chdir", str(folder)] if around else []
        with Path(name, "out").open("w+b") as out, Path(name, "err").open("w+b") as err:
            process = subprocess.Popen(
                [*around, *bound, sys.executable, "-c", limits],
                stdin=subprocess.PIPE,
                stdout=out,
                stderr=err,
                cwd=folder,
                env=SURROUNDINGS | home,
                start_new_session=True,
            )
            try:
                program = f"{mechanism.program(written)}\n\nprint({end!r})\n"
                with suppress(BrokenPipeError):
                    process.stdin.write(program.encode("utf8", "backslashreplace"))
                    process.stdin.close()
                process.wait(seconds)
            except subprocess.TimeoutExpired:
                return f"not done after {seconds} seconds"
            finally:
                end_all(process, end)
            lines = text_of(out).splitlines()
            if process.returncode or not lines or lines[-1] != end:
                return complaint(text_of(err)) or ended(process.returncode)
    return readable(lines[-2]) if len(lines) > 1 else "it printed nothing"


def most_processes() -> int | None:
    """How many threads and processes the user may have while an answer runs; None: no limit."""
    try:
        own = [
            place for place in Path("/proc").glob("[0-9]*") if place.stat().st_uid == os.getuid()
        ]
        return PROCESSES + sum(len(os.listdir(place / "task")) for place in own)
    except (OSError, AttributeError):  # one has just ended, or this is no Linux
        return None


def end_all(process: subprocess.Popen, mark: str) -> None:
    """End a process with all that it started, also what left its group (Linux tells which)."""
    if os.name != "posix":
        process.kill()
        process.wait()
        return
    for _ in range(5):  # what is started while this runs is ended in the next round
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        for place in Path("/proc").glob("[0-9]*/environ"):
            with suppress(OSError):
                if f"GRADED={mark}".encode() in place.read_bytes():
                    os.kill(int(place.parent.name), signal.SIGKILL)
    process.wait()


def text_of(file: BinaryIO) -> str:
    """What a file holds, which its limit keeps small."""
    file.seek(0)
    return file.read(FILE).decode("utf8", "replace")


def complaint(stderr: str) -> str:
    """The first line of the error's message: it follows the last frame of the traceback."""
    _, found, traceback = stderr.rpartition("Traceback (most recent call last):\n")
    lines = [line for line in traceback.splitlines() if found and line[:1] not in ("", " ")]
    return readable(lines[0]) if lines else ""


def ended(code: int) -> str:
    """Why a program without a message ended."""
    number = code - 128 if code > 128 else -code  # bubblewrap's way, and Python's
    if number in set(signal.Signals):
        return f"it was ended by {signal.Signals(number).name} before its check"
    return "it ended before its check"


def readable(text: str) -> str:
    """A message in one line that cannot move the cursor: what is not printable is written out."""
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return shown if len(shown) <= FEEDBACK else shown[:FEEDBACK] + " ..."


# ------------------------------------------------------------------------------------- the folder


def student_of(path: Path, folder: Path) -> str:
    """Whose notebook it is: its folder, or its name; of Moodle's folders and files the first part.

    Moodle writes ``Anna Meyer_12345_assignsubmission_file_``, and files in it or beginning so.
    """
    parts = path.relative_to(folder).parts
    name = parts[0] if len(parts) > 1 else path.stem
    return re.sub(r"_\d+_assignsubmission_file.*$", "", name, flags=re.DOTALL)


def notebooks(folder: Path) -> list[Path]:
    """The notebooks of a folder and below, links and Jupyter's own copies aside."""
    return [
        path
        for path in sorted(folder.rglob("*.ipynb"))
        if ".ipynb_checkpoints" not in path.parts
        and not any(p.is_symlink() for p in (path, *path.parents) if p.is_relative_to(folder))
        and not path.name.startswith("._")  # what macOS leaves in archives
    ]


def read_notebook(path: Path) -> nbformat.NotebookNode:
    """A notebook with at least a list of cells; ValueError with one line if it is none."""
    if not path.is_file():
        raise ValueError("not a file")
    if path.stat().st_size > NOTEBOOK:
        raise ValueError(f"larger than {NOTEBOOK:,} bytes")
    try:
        notebook = nbformat.reads(path.read_text(encoding="utf-8-sig"), as_version=4)
        for cell in notebook.cells:
            if not (isinstance(cell.cell_type, str) and isinstance(cell.source, str)):
                raise ValueError("a cell has no source")
    except Exception as error:  # whatever a reader of other people's files may raise
        raise ValueError(f"{type(error).__name__}: {error}") from error
    return notebook


def work(
    path: Path, folder: Path, book: list[Mechanism]
) -> Iterator[tuple[Row, Mechanism | None, str]]:
    """The rows of a notebook; with those that are still to be run, the mechanism and the answer."""
    student, file = student_of(path, folder), path.relative_to(folder).as_posix()
    try:
        notebook = read_notebook(path)
    except ValueError as error:
        yield Row(student, "", 0, readable(f"not a notebook: {error}"), file), None, ""
        return
    text = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    cells = statements(notebook)
    found = False
    for mechanism in book:
        written = answer(*cells, mechanism.name)
        if written is None and f":label: {mechanism.label}\n" not in text + "\n":
            continue
        found = True
        row = Row(student, mechanism.label, 0, f"nothing defines {mechanism.name}", file)
        yield row, (mechanism if written is not None else None), written or ""
    if not found:
        yield Row(student, "", 0, "no exercise of the book that can be checked", file), None, ""


def checked_row(row: Row, mechanism: Mechanism | None, written: str, folder: Path) -> Row:
    """The row with its verdict; what goes wrong on our side is one, too."""
    if mechanism is None:
        return row
    try:
        feedback = verdict(mechanism, written, hidden=(folder,))
    except Exception as error:
        feedback = readable(f"could not be run: {type(error).__name__}: {error}")
    return Row(row.student, row.exercise, int(feedback == "correct"), feedback, row.file)


def grade(place: Path, jobs: int = 2) -> Iterator[tuple[Row, int, int]]:
    """Each row as soon as it is known, and how many of how many notebooks and answers are done."""
    book = [m for p in chapters() for m in mechanisms(nbformat.read(p, as_version=4), p.stem)]
    folder = place if place.is_dir() else place.parent
    paths = notebooks(place) if place.is_dir() else [place]
    tasks = [task for path in paths for task in work(path, folder, book)]
    pool = ThreadPoolExecutor(jobs)
    try:
        waiting = [pool.submit(checked_row, *task, folder) for task in tasks]
        for number, done in enumerate(as_completed(waiting), 1):
            yield done.result(), number, len(tasks)
    finally:
        pool.shutdown(cancel_futures=True)


def write_gradebook(rows: list[Row], path: Path) -> None:
    """Write rows as CSV aside, then rename; a field that a spreadsheet would compute gets a '.

    What is no Unicode in the name of a folder, as an archive of old Windows may have, is escaped.
    """
    aside = path.with_name(f".{path.name}.partial")
    with aside.open("w", encoding="utf-8-sig", errors="backslashreplace", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for row in rows:
            fields = [f"'{one}" if str(one)[:1] in tuple("=+-@") else one for one in astuple(row)]
            writer.writerow(fields)
    os.replace(aside, path)


def for_gradescope(rows: list[Row]) -> dict:
    """What Gradescope's autograders write as ``results.json``."""
    tests = [
        {
            "name": row.exercise or row.file,
            "score": row.points,
            "max_score": 1,
            "output": row.feedback,
        }
        for row in rows
    ]
    found = "" if rows else "No notebook (.ipynb) was handed in."
    return {"score": sum(row.points for row in rows), "tests": tests, "output": found}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("answers", type=Path, help="a folder of learners' notebooks, or a notebook")
    parser.add_argument(
        "--gradebook", type=Path, help="write the rows as CSV: " + ", ".join(COLUMNS)
    )
    parser.add_argument("--gradescope", type=Path, help="write them as Gradescope's results.json")
    parser.add_argument("--jobs", type=int, default=2, help="answers at a time (default 2)")
    options = parser.parse_args()
    sys.stdout.reconfigure(errors="backslashreplace")  # a terminal may lack letters of a name
    if not options.answers.exists():
        parser.error(f"there is no {options.answers}")
    if options.gradebook and not options.gradebook.absolute().parent.is_dir():
        parser.error(f"--gradebook: there is no folder {options.gradebook.parent}")
    if options.jobs < 1:
        parser.error(f"--jobs must be at least 1, not {options.jobs}")
    place = options.answers.resolve()
    if ROOT.is_relative_to(place):  # also of `make grade` without ANSWERS
        parser.error(f"{place} holds the book itself: give a folder of answers, or a notebook")
    if place.is_file() and place.suffix != ".ipynb":
        parser.error(f"{options.answers} is no notebook: unpack an archive, and give its folder")
    inside = container((place if place.is_dir() else place.parent,))
    print("Each answer runs in a container of its own." if inside else UNCONTAINED, flush=True)
    rows = []
    try:
        for row, number, of in grade(place, options.jobs):
            rows.append(row)
            if options.gradebook:  # at once: an answer without a container may end this program
                write_gradebook(rows, options.gradebook)
            fields = (row.student, row.exercise or row.file, row.feedback)
            print(f"[{number}/{of}]", *map(readable, fields), sep="  ", flush=True)
    except Misplaced as error:
        parser.error(str(error))
    finally:  # also of a run that was interrupted
        rows.sort(key=astuple)
        if options.gradebook:
            write_gradebook(rows, options.gradebook)
        if options.gradescope:
            options.gradescope.write_text(json.dumps(for_gradescope(rows)), encoding="utf8")
    if not rows:
        parser.error(f"there is no notebook in {options.answers}")
    print(f"{sum(row.points for row in rows)} of {len(rows)} rows are correct")
    return 0


if __name__ == "__main__":
    sys.exit(main())
