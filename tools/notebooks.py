"""Execute the chapters of the book, and say whether what they store is still true.

    python tools/notebooks.py --in-place                     every chapter that _toc.yml lists
    python tools/notebooks.py --in-place book/03_x.ipynb     one of them
    python tools/notebooks.py --into _build/run              in a copy of the tree

A chapter runs with its own folder as working directory. Its file changes only if every cell passed;
then it also holds a hash of its code and one of the package, by which `stale` tells whether the
outputs belong to the code beside them. What differs from run to run is not stored: timings,
widgets, progress bars and other text on stderr.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import io
import json
import multiprocessing
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Collection
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import nbformat
import yaml
from colab import is_colab_cell, put_cell, source
from PIL import Image
from tqdm import tqdm

ROOT = Path(__file__).resolve().parents[1]
BUDGET = 300  # CPU-seconds that a chapter may use
CELL_TIMEOUT = 600  # seconds
TO_WRITE = "to-write"  # the tag of cells that a reader has to complete; see tools/student.py


def chapters(root: Path = ROOT) -> list[Path]:
    """The notebooks that `_toc.yml` lists, in its order."""
    names: list[str] = []

    def collect(node: object) -> None:
        if isinstance(node, list):
            for item in node:
                collect(item)
        elif isinstance(node, dict):
            for key, value in node.items():
                names.append(value) if key in ("root", "file") else collect(value)

    collect(yaml.safe_load((root / "_toc.yml").read_text(encoding="utf8")))
    found = []
    for name in names:
        candidates = [root / name, root / f"{name}.ipynb", root / f"{name}.md"]
        path = next((path for path in candidates if path.is_file()), None)
        if path is None:
            raise FileNotFoundError(f"_toc.yml lists {name}, and there is no such file")
        if path.suffix == ".ipynb":
            found.append(path)
    return found


def chapter_numbers(root: Path = ROOT) -> dict[str, int]:
    """The numbers that the site gives to chapters, by their file's name without its ending."""
    parts = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf8")).get("parts", [])
    numbered = [part for part in parts if part.get("numbered")]
    names = [Path(chapter["file"]).name for part in numbered for chapter in part["chapters"]]
    return {name: number for number, name in enumerate(names, 1)}


def code_hash(notebook: nbformat.NotebookNode) -> str:
    """SHA-256 of the sources of the code cells; the one for Colab, which runs only there, aside."""
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    sources = [cell.source for cell in cells if not is_colab_cell(cell)]
    return hashlib.sha256(json.dumps(sources).encode()).hexdigest()


def package_hash(package: Path = ROOT / "src") -> str:
    """SHA-256 of the names and bytes of the packages' Python files and word lists."""
    digest = hashlib.sha256()
    names = {path.relative_to(package).as_posix() for path in package.rglob("*")}
    for name in sorted(name for name in names if name.endswith((".py", ".tsv"))):
        digest.update(name.encode() + b"\0" + (package / name).read_bytes() + b"\0")
    return digest.hexdigest()


def stale(path: str | Path) -> str | None:
    """Why the stored outputs of a notebook may not be its code's, or None if they are."""
    notebook = nbformat.read(path, as_version=4)
    stored = notebook.metadata.get("attnmt", {})
    if "code" not in stored or "package" not in stored:
        return "was never executed by `make notebooks`"
    if stored["code"] != code_hash(notebook):
        return "its code changed after it was executed; run `make notebooks`"
    if stored["package"] != package_hash():
        return "the package changed after it was executed; run `make notebooks`"
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


def output_texts(cell: nbformat.NotebookNode) -> list[str]:
    """The outputs of a code cell as text; pixels are left out."""
    texts = []
    for output in cell.get("outputs", []):
        texts += [output.get("text", ""), *output.get("traceback", [])]
        for kind, data in output.get("data", {}).items():
            if kind == "image/svg+xml" or not kind.startswith("image/"):
                texts.append(data if isinstance(data, str) else json.dumps(data))
    return texts


def machine_path(notebook: nbformat.NotebookNode) -> str | None:
    """A complaint if an output names a folder of this machine: the project's, or the user's."""
    places = [str(place) for place in (ROOT, Path.home()) if len(place.parts) > 1]
    for number, cell in enumerate(notebook.cells, 1):
        for place in places:
            if any(place in text for text in output_texts(cell)):
                return f"cell {number} prints a path of this machine, {place}: print names only"
    return None


def shrink(png: str) -> str:
    """The same picture in 256 colours, as base64, if that is smaller."""
    with Image.open(io.BytesIO(base64.b64decode(png))) as picture:
        fewer = picture.convert("RGB").quantize(256, dither=Image.Dither.NONE)
    file = io.BytesIO()
    fewer.save(file, "PNG", optimize=True)
    return min(base64.b64encode(file.getvalue()).decode(), png, key=len)


def tidy(notebook: nbformat.NotebookNode) -> list[str]:
    """Drop what differs from run to run, and store pictures small.

    Returns what was on stderr, progress bars aside.
    """
    said = []
    for number, cell in enumerate(notebook.cells, 1):
        cell.metadata.pop("execution", None)
        if cell.cell_type == "code":
            streams = [output for output in cell.outputs if output.get("name") == "stderr"]
            texts = [output.text.strip() for output in streams if "\r" not in output.text]
            said += [f"cell {number}: {text}" for text in texts if text]
            cell.outputs = [output for output in cell.outputs if output not in streams]
            for output in cell.outputs:
                if "image/png" in output.get("data", {}):
                    output.data["image/png"] = shrink(output.data["image/png"])
    notebook.metadata.pop("widgets", None)
    notebook.metadata.kernelspec = {
        "name": "python3",
        "display_name": "Python 3",
        "language": "python",
    }
    language = notebook.metadata.get("language_info", {})
    kept = ("name", "file_extension", "mimetype", "pygments_lexer")
    notebook.metadata.language_info = {key: language[key] for key in kept if key in language}
    return said


def write(notebook: nbformat.NotebookNode, path: Path) -> None:
    """Write aside, then rename: the file is the old one or the new one, never half of it."""
    aside = path.with_name(f".{path.name}.partial")
    try:
        aside.write_text(nbformat.writes(notebook) + "\n", encoding="utf8", newline="\n")
        os.replace(aside, path)
    finally:
        aside.unlink(missing_ok=True)


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
    stamp = {"code": code_hash(notebook), "package": package_hash()}
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
        client.execute(env=os.environ | {"PYTHONPATH": str(ROOT / "src")})
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


GITS_OWN = (".gitattributes", ".gitignore", ".github")  # hidden, but what a repository needs


def untracked(root: Path, *options: str) -> set[Path]:
    """The files and whole folders that git does not track; none if `root` is no repository."""
    command = ["git", "-C", root, "ls-files", "--others", "--directory", "-z", *options]
    try:
        listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (FileNotFoundError, subprocess.CalledProcessError):
        return set()
    return {root / name for name in listed.split("\0")} - {root}


def copy_tree(target: Path, root: Path = ROOT, besides: Collection[Path] = ()) -> Path:
    """A copy of the working tree without environments, builds, hidden files, and those `besides`.

    Of the hidden files, those that a repository needs are copied.
    """

    def left_out(folder: str, names: list[str]) -> list[str]:
        return [
            name
            for name in names
            if (name.startswith((".", "__pycache__", "_build")) and name not in GITS_OWN)
            or (Path(folder) / name / "pyvenv.cfg").exists()
            or (Path(folder) / name).resolve() == target.resolve()
            or Path(folder) / name in besides
        ]

    return Path(shutil.copytree(root, target, ignore=left_out, dirs_exist_ok=True))


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
