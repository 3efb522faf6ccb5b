"""Execute the chapters of the book, and store what they show.

    python -m press.run.execute --in-place                     every chapter that _toc.yml lists
    python -m press.run.execute --in-place book/03_x.ipynb     one of them
    python -m press.run.execute --into _build/run --stale      only stale ones, in a copy

A chapter runs with its own folder as working directory. Its file changes only if every cell passed;
then it also holds its stamp (`press.run.stamps`), and its sentences the numbers that its cells said
(`press.run.numbers`). What differs from run to run is not stored: timings,
widgets, progress bars and other text on stderr.
"""

import argparse
import multiprocessing
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import nbformat
from tqdm import tqdm

from press.colab.cell import put_cell, source
from press.contents import ROOT, chapters, copy_tree
from press.run.imports import SRC
from press.run.numbers import fill
from press.run.outputs import machine_path, tidy, write
from press.run.stamps import SHOWN, SIZE, faults, stamp

BUDGET = 300  # CPU-seconds that a chapter may use
STORED = "ATTNMT_STORED"  # what is stored holds no model: as attnmt.book.live.view.STORED
CELL_TIMEOUT = 600  # seconds


@dataclass
class Outcome:
    """What came of one chapter."""

    chapter: str
    cpu_seconds: float
    seconds: float
    failure: str | None
    stderr: list[str]


def children_seconds() -> float:
    """CPU time of the child processes that ended: of the kernels. Windows does not tell it: 0."""
    times = os.times()
    return times.children_user + times.children_system


def run(notebook: nbformat.NotebookNode, path: Path) -> str | None:
    """Run all cells in a kernel of its own; returns the number of the cell that failed, and why."""
    from nbclient import NotebookClient
    from nbclient.exceptions import CellControlSignal, CellExecutionError, DeadKernelError

    begun = [0]
    client = NotebookClient(
        notebook,
        timeout=CELL_TIMEOUT,
        kernel_name="python3",
        record_timing=False,
        store_widget_state=False,
        resources={"metadata": {"path": str(path.parent)}},
        on_cell_execute=lambda cell, cell_index: begun.append(cell_index),
    )
    try:
        client.execute(env=os.environ | {"PYTHONPATH": str(SRC), STORED: "1"})
    except (CellExecutionError, CellControlSignal, DeadKernelError) as error:
        return f"cell {begun[-1] + 1} failed\n\n{error}"
    return None


def execute(path: Path, for_others: bool) -> Outcome:
    """Run one chapter, and store it if every cell passed.

    What is stored `for_others` must not name folders of this machine; a copy that only its maker
    reads may, as when a cell says in which folder it found no data.
    """
    notebook = nbformat.read(path, as_version=4)
    put_cell(notebook, source())
    made_of = stamp(notebook)
    began = time.monotonic()
    used = children_seconds()
    failure = run(notebook, path)
    stderr = [] if failure else tidy(notebook)
    failure = failure or fill(notebook)
    if failure is None and for_others:
        failure = machine_path(notebook)
    cpu_seconds = children_seconds() - used or time.monotonic() - began
    if failure is None:
        notebook.metadata.attnmt = made_of | {"cpu_seconds": round(cpu_seconds)}
        write(notebook, path)
    seconds = time.monotonic() - began
    return Outcome(path.name, cpu_seconds, seconds, failure=failure, stderr=stderr)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--in-place", action="store_true", help="refresh the stored outputs")
    where.add_argument("--into", type=Path, metavar="DIR", help="execute a copy of the tree in DIR")
    parser.add_argument(
        "--stale", action="store_true", help="only those whose stored outputs are not their code's"
    )
    parser.add_argument("--jobs", type=int, default=2, help="chapters at a time (default 2)")
    parser.add_argument("notebooks", nargs="*", type=Path, help="default: all of _toc.yml")
    options = parser.parse_args()

    if options.in_place and os.environ.get(SIZE, SHOWN) != SHOWN:
        parser.error(
            f"{SIZE} is {os.environ[SIZE]!r}, and the book shows {SHOWN!r}: unset it, then store"
        )

    paths = [path.resolve() for path in options.notebooks] or chapters()
    if missing := [str(path) for path in paths if not path.is_file()]:
        parser.error(f"there is no {', '.join(missing)}")
    if options.into:
        copy = copy_tree(options.into).resolve()
        paths = [copy / path.relative_to(ROOT) for path in paths]
    if options.stale:
        found = {path: faults(path) for path in paths}
        print(f"{sum(not why for why in found.values())} of {len(paths)} chapters are as stored")
        paths = [path for path in paths if found[path]]
        print(*(f"{path.name}: {found[path][0]}" for path in paths), sep="\n", flush=True)
        if not paths:
            return 0

    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(options.jobs, mp_context=spawn) as pool:
        done = pool.map(partial(execute, for_others=options.in_place), paths)
        outcomes = list(tqdm(done, total=len(paths), unit="chapter", mininterval=1))

    for outcome in outcomes:
        for text in outcome.stderr:
            print(f"\n{outcome.chapter} wrote to stderr, {text}")
        if outcome.failure:
            print(f"\n{outcome.chapter}: {outcome.failure}")
    print(f"\n{'chapter':32}{'CPU s':>8}{'of':>6}{'wall s':>8}")
    for outcome in outcomes:
        note = "failed, not stored" if outcome.failure else ""
        note = note or ("over the budget" if outcome.cpu_seconds > BUDGET else "")
        times = f"{outcome.cpu_seconds:8.0f}{BUDGET:6}{outcome.seconds:8.0f}"
        print(f"{outcome.chapter:32}{times}  {note}".rstrip())
    return int(any(outcome.failure for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main())
