"""Check the mechanisms that learners wrote, in the notebooks that they handed in.

    python -m press.editions.grade FOLDER             every notebook in FOLDER and below
    python -m press.editions.grade FOLDER --csv       the same table for a spreadsheet

Of a learner's notebook only the cell that defines the mechanism is used. The check and the cells
that it needs come from the book and have names of their own, so changes to them do not help. Each
answer runs as a process of its own with a time limit, but that is no wall: it is other people's
code on your machine, and code that wants to deceive can change PyTorch itself. Read it, or use a
machine that holds nothing else.
"""

import argparse
import ast
import csv
import os
import secrets
import subprocess
import sys
from pathlib import Path

import nbformat

from press.contents import ROOT, chapters
from press.editions.mechanisms import Mechanism, mechanisms, names
from press.source import parse

SECONDS = 120  # that an answer may take


def answer(notebook: nbformat.NotebookNode, name: str) -> str | None:
    """What a learner wrote: the last cell that defines the name, without its check."""
    cells = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    for source in reversed(cells):
        try:
            if name not in names(source)[0]:
                continue
        except SyntaxError:
            if f"def {name}(" in source or f"class {name}" in source:
                return source  # the error is the learner's: it is reported when the cell runs
            continue
        tree = parse(source)
        tree.body = [node for node in tree.body if not is_check(node)]
        return ast.unparse(tree)
    return None


def is_check(node: ast.stmt) -> bool:
    """The definition of the check, or a call of it."""
    call = getattr(node, "value", None)
    called = isinstance(call, ast.Call) and getattr(call.func, "id", "") == "check"
    return called or (isinstance(node, ast.FunctionDef) and node.name == "check")


def verdict(mechanism: Mechanism, written: str, seconds: int = SECONDS) -> str:
    """ "correct", or what went wrong in one line."""
    source = str(ROOT / "src")
    end = secrets.token_hex()  # an answer cannot end the program early
    try:
        done = subprocess.run(
            [sys.executable, "-"],
            input=f"{mechanism.program(written)}\n\nprint({end!r})\n",
            cwd=ROOT / "book",
            env=os.environ | {"PYTHONPATH": source, "MPLBACKEND": "agg", "OMP_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
            timeout=seconds,
        )
    except subprocess.TimeoutExpired:
        return f"not done after {seconds} seconds"
    said = done.stdout.splitlines()
    if done.returncode or not said or said[-1] != end:
        return complaint(done.stderr) or "it ended before its check"
    return said[-2] if len(said) > 1 else "it printed nothing"


def complaint(stderr: str) -> str:
    """The first line of the error's message: it follows the last frame of the traceback."""
    _, found, traceback = stderr.rpartition("Traceback (most recent call last):\n")
    lines = [line for line in traceback.splitlines() if found and line[:1] not in ("", " ")]
    return lines[0] if lines else ""


def grade(folder: Path) -> list[tuple[str, str, str]]:
    """Notebook, exercise and verdict, for each mechanism whose exercise a notebook holds."""
    book = [m for p in chapters() for m in mechanisms(nbformat.read(p, as_version=4), p.stem)]
    rows = []
    for path in sorted(folder.rglob("*.ipynb")):
        where = path.relative_to(folder).as_posix()
        try:
            notebook = nbformat.read(path, as_version=4)
        except (nbformat.reader.NotJSONError, UnicodeDecodeError, KeyError) as error:
            rows.append((where, "", f"not a notebook: {type(error).__name__}"))
            continue
        text = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
        for mechanism in book:
            if f":label: {mechanism.label}\n" in text + "\n":
                written = answer(notebook, mechanism.name)
                missing = f"nothing defines {mechanism.name}"
                found = missing if written is None else verdict(mechanism, written)
                rows.append((where, mechanism.label, found))
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="where the learners' notebooks are")
    parser.add_argument("--csv", action="store_true", help="print comma-separated values")
    options = parser.parse_args()
    if not options.folder.is_dir():
        parser.error(f"{options.folder} is not a folder")
    rows = grade(options.folder)
    if not rows:
        parser.error(f"no notebook in {options.folder} has an exercise that can be checked")
    if options.csv:
        csv.writer(sys.stdout).writerows([("notebook", "exercise", "verdict"), *rows])
        return 0
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for where, label, found in rows:
        print(f"{where:{widths[0]}}  {label:{widths[1]}}  {found}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
