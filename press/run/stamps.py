"""Stamps: whether what a notebook stores belongs to its code and to the package.

An executed notebook holds a hash of its code, one of the modules that it imports, the versions that
`requirements.txt` pinned of the libraries that these import, and the size at which its knob stood.
By them `stale` tells whether the outputs belong to the code beside them. A change elsewhere in
`src/`, as of the command line, or of another pin leaves it fresh.
`python -m press.run.stamps FILE ...` tells of notebooks that are not.
"""

import contextlib
import hashlib
import json
import os
import sys
from collections.abc import Sequence
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import nbformat

from press.colab.cell import is_colab_cell
from press.contents import ROOT
from press.run.imports import SRC, asked, data_files, needed
from press.source import parse, without_magics

SIZE = "ATTNMT_SIZE"  # the environment variable that turns every knob (attnmt.book.sizes)
SHOWN = "chapter"  # the size that the book shows
MOST_BYTES = 1_000_000  # bytes; a larger notebook is not shown on web sites
TO_WRITE = "raises-exception"  # the tag of cells that a reader has to complete


def code_hash(notebook: nbformat.NotebookNode) -> str:
    """SHA-256 of the sources of the code cells; the one for Colab, which runs only there, aside."""
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    sources = [cell.source for cell in cells if not is_colab_cell(cell)]
    return hashlib.sha256(json.dumps(sources).encode()).hexdigest()


def python_of(notebook: nbformat.NotebookNode) -> str:
    """The code cells' Python as one text, without what only IPython reads."""
    sources = []
    for cell in notebook.cells:
        if cell.cell_type == "code" and not is_colab_cell(cell):
            with contextlib.suppress(SyntaxError):  # a cell that cannot run imports nothing
                parse(cell.source)
                sources.append(without_magics(cell.source))
    return "\n".join(sources)


def imported(notebook: nbformat.NotebookNode, src: Path = SRC) -> dict[str, Path]:
    """The modules of `src/` that a notebook's code needs, and their files."""
    return needed(python_of(notebook), src)


def package_hash(notebook: nbformat.NotebookNode, src: Path = SRC) -> str:
    """SHA-256 of the names and bytes of the modules that a notebook needs, and of their data."""
    digest = hashlib.sha256()
    modules = imported(notebook, src)
    for path in (*modules.values(), *data_files(modules)):
        name = path.relative_to(src).as_posix()
        digest.update(name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


@cache
def pinned(requirements: Path) -> dict[str, str]:
    """The libraries that a file of requirements pins, and their versions."""
    lines = requirements.read_text(encoding="utf8").splitlines()
    return dict(line.lower().split("==") for line in lines if "==" in line and line[0] != "#")


distributions = cache(packages_distributions)  # of each module's name: who brings it


def pins(
    notebook: nbformat.NotebookNode, src: Path = SRC, requirements: Path = ROOT / "requirements.txt"
) -> dict[str, str]:
    """The pinned versions of what a notebook imports, and of what its modules import."""
    sources = [python_of(notebook)]
    sources += [path.read_text(encoding="utf8") for path in imported(notebook, src).values()]
    names = {module.partition(".")[0] for source in sources for module, _ in asked(source)}
    libraries = {library.lower() for name in names for library in distributions().get(name, [])}
    versions = pinned(requirements)
    return {library: versions[library] for library in sorted(libraries & set(versions))}


def stamp(notebook: nbformat.NotebookNode) -> dict[str, str | dict[str, str]]:
    """What an executed notebook holds of its code, of the package and of other libraries."""
    return {
        "code": code_hash(notebook),
        "package": package_hash(notebook),
        "pins": pins(notebook),
        "size": os.environ.get(SIZE) or SHOWN,
    }


def stale(path: str | Path) -> str | None:
    """Why the stored outputs of a notebook may not be its code's, or None if they are."""
    notebook = nbformat.read(path, as_version=4)
    stored = notebook.metadata.get("attnmt", {})
    now = stamp(notebook)
    if not now.keys() <= stored.keys():
        return "was never executed by `make notebooks`"
    if stored["code"] != now["code"]:
        return "its code changed after it was executed; run `make notebooks`"
    if stored["package"] != now["package"]:
        return "a module that it imports changed after it was executed; run `make notebooks`"
    if stored["size"] != SHOWN:
        return f"was executed with its knob at {stored['size']}; run `make notebooks`"
    then, pinned_now = stored["pins"], now["pins"]
    for name in sorted(then.keys() | pinned_now.keys()):
        if then.get(name) != pinned_now.get(name):
            versions = f"{then.get(name, 'unpinned')}, and is {pinned_now.get(name, 'unpinned')}"
            return f"{name} was {versions} in requirements.txt; run `make notebooks`"
    return None


def faults(path: str | Path) -> list[str]:
    """Everything that makes the stored outputs of a notebook unfit to be published."""
    found = [reason] if (reason := stale(path)) else []
    if (size := Path(path).stat().st_size) >= MOST_BYTES:
        found.append(
            f"has {size:,} bytes, and less than {MOST_BYTES:,} are allowed: store smaller pictures"
        )
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
