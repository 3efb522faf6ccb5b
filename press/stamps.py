"""Stamps: whether what a notebook stores belongs to its code and to the package.

An executed notebook holds a hash of its code and one of the modules that it imports, by which
`stale` tells whether the outputs belong to the code beside them. A change elsewhere in `src/`, as
of the command line, leaves it fresh. `python -m press.stamps FILE ...` tells of notebooks that are
not.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import nbformat

from press.colab import is_colab_cell
from press.imports import SRC, data_files, needed
from press.mechanisms import parse

TO_WRITE = "to-write"  # the tag of cells that a reader has to complete; see press/student.py


def code_hash(notebook: nbformat.NotebookNode) -> str:
    """SHA-256 of the sources of the code cells; the one for Colab, which runs only there, aside."""
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    sources = [cell.source for cell in cells if not is_colab_cell(cell)]
    return hashlib.sha256(json.dumps(sources).encode()).hexdigest()


def imported(notebook: nbformat.NotebookNode, src: Path = SRC) -> dict[str, Path]:
    """The modules of `src/` that a notebook's code needs, and their files."""
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    found: dict[str, Path] = {}
    for cell in cells:
        if not is_colab_cell(cell):
            with contextlib.suppress(SyntaxError):  # a cell that cannot run imports nothing
                found |= needed(ast.unparse(parse(cell.source)), src)
    return dict(sorted(found.items()))


def package_hash(notebook: nbformat.NotebookNode, src: Path = SRC) -> str:
    """SHA-256 of the names and bytes of the modules that a notebook needs, and of their data."""
    digest = hashlib.sha256()
    modules = imported(notebook, src)
    for path in (*modules.values(), *data_files(modules)):
        name = path.relative_to(src).as_posix()
        digest.update(name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def stale(path: str | Path) -> str | None:
    """Why the stored outputs of a notebook may not be its code's, or None if they are."""
    notebook = nbformat.read(path, as_version=4)
    stored = notebook.metadata.get("attnmt", {})
    if "code" not in stored or "package" not in stored:
        return "was never executed by `make notebooks`"
    if stored["code"] != code_hash(notebook):
        return "its code changed after it was executed; run `make notebooks`"
    if stored["package"] != package_hash(notebook):
        return "a module that it imports changed after it was executed; run `make notebooks`"
    return None


def faults(path: str | Path) -> list[str]:
    """Everything that makes the stored outputs of a notebook unfit to be published."""
    found = [reason] if (reason := stale(path)) else []
    for number, cell in enumerate(nbformat.read(path, as_version=4).cells, 1):
        if cell.cell_type != "code" or not cell.source.strip():
            continue
        if TO_WRITE in cell.metadata.get("tags", []):
            continue
        if cell.execution_count is None:
            found.append(f"cell {number} was not executed")
        if any(output.output_type == "error" for output in cell.outputs):
            found.append(f"cell {number} stored an error")
    return found


def main(paths: Sequence[str]) -> int:
    """Say what makes the outputs of some notebooks unfit to be published; returns the exit code."""
    found = [f"{path}: {fault}" for path in paths for fault in faults(path)]
    print(*found, sep="\n", end="\n" if found else "")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
