"""Execute the chapters of the book, and store what they show.

    python -m press.execute --in-place                     every chapter that _toc.yml lists
    python -m press.execute --in-place book/03_x.ipynb     one of them
    python -m press.execute --into _build/run              in a copy of the tree

A chapter runs with its own folder as working directory. Its file changes only if every cell passed;
then it also holds its stamp (`press.stamps`). What differs from run to run is not stored: timings,
widgets, progress bars and other text on stderr.
"""

from __future__ import annotations

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

from attnmt_book.live import STORED
from press.colab import put_cell, source
from press.contents import ROOT, chapters
from press.outputs import machine_path, tidy, write
from press.stamps import code_hash, package_hash
from press.tree import copy_tree

BUDGET = 300  # CPU-seconds that a chapter may use
CELL_TIMEOUT = 600  # seconds


@dataclass
class Outcome:
    """What came of one chapter."""

    chapter: str
    cpu_seconds: float
    seconds: float
    failure: str | None
    said: list[str]


SLOT = 0  # the line of the terminal that this worker's bar has


def start_worker(lock, slots) -> None:
    global SLOT
    tqdm.set_lock(lock)
    with slots.get_lock():
        SLOT, slots.value = slots.value, slots.value + 1


def children_seconds() -> float:
    """CPU time of the child processes that ended: of the kernels."""
    import resource

    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def execute(path: Path, for_others: bool) -> Outcome:
    """Run one chapter in a kernel of its own, and store it if every cell passed.

    What is stored `for_others` must not name folders of this machine; a copy that only its maker
    reads may, as when a cell says in which folder it found no data.
    """
    from nbclient import NotebookClient
    from nbclient.exceptions import CellControlSignal, CellExecutionError, DeadKernelError

    notebook = nbformat.read(path, as_version=4)
    put_cell(notebook, source())
    stamp = {"code": code_hash(notebook), "package": package_hash(notebook)}
    current = 0

    def starts(cell: nbformat.NotebookNode, cell_index: int) -> None:
        nonlocal current
        current = cell_index
        lines = [line for line in cell.source.splitlines() if line.strip() and line[0] not in "#%"]
        bar.set_postfix_str(lines[0][:40] if lines else "")

    total = sum(cell.cell_type == "code" and bool(cell.source.strip()) for cell in notebook.cells)
    live = sys.stderr.isatty()
    bar = tqdm(
        total=total,
        desc=path.stem,
        unit="cell",
        position=SLOT if live else 0,
        leave=not live,
        mininterval=0.1 if live else 10,
        bar_format="{desc}: {n_fmt}/{total_fmt} cells, {elapsed}{postfix}",
    )
    client = NotebookClient(
        notebook,
        timeout=CELL_TIMEOUT,
        kernel_name="python3",
        record_timing=False,
        store_widget_state=False,
        resources={"metadata": {"path": str(path.parent)}},
        on_cell_execute=starts,
        on_cell_executed=lambda **_: bar.update(),
    )
    began, used, failure = time.monotonic(), children_seconds(), None
    said: list[str] = []
    try:
        client.execute(env=os.environ | {"PYTHONPATH": str(ROOT / "src"), STORED: "1"})
        said = tidy(notebook)
        failure = machine_path(notebook) if for_others else None
    except (CellExecutionError, CellControlSignal, DeadKernelError) as error:
        failure = f"cell {current + 1} failed\n\n{error}"
    bar.close()
    cpu_seconds = children_seconds() - used
    if failure is None:
        notebook.metadata.attnmt = stamp | {"cpu_seconds": round(cpu_seconds)}
        write(notebook, path)
    return Outcome(path.name, cpu_seconds, time.monotonic() - began, failure, said)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--in-place", action="store_true", help="refresh the stored outputs")
    where.add_argument("--into", type=Path, metavar="DIR", help="execute a copy of the tree in DIR")
    parser.add_argument("--jobs", type=int, default=2, help="chapters at a time (default 2)")
    parser.add_argument("notebooks", nargs="*", type=Path, help="default: all of _toc.yml")
    options = parser.parse_args()

    paths = [path.resolve() for path in options.notebooks] or chapters()
    if missing := [str(path) for path in paths if not path.is_file()]:
        parser.error(f"there is no {', '.join(missing)}")
    if options.into:
        copy = copy_tree(options.into).resolve()
        paths = [copy / path.relative_to(ROOT) for path in paths]

    context = multiprocessing.get_context("spawn")
    shared = (context.RLock(), context.Value("i", 0))
    with ProcessPoolExecutor(options.jobs, context, start_worker, shared) as pool:
        outcomes = list(pool.map(partial(execute, for_others=options.in_place), paths))

    for outcome in outcomes:
        for text in outcome.said:
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
