"""Run chapters as Colab would, as far as a machine without Colab can tell.

    python -m press.colab.as_in_colab                              Ten minutes
    python -m press.colab.as_in_colab book/03_x.ipynb book/04_y.ipynb

A new virtual environment gets Colab's Python if this machine has it, otherwise this one, and what
the book needs in Colab's versions (`versions.txt`). A copy of the tree, stamped with its own file
address, plays the repository on the network. Each chapter lies alone in an empty folder, and its
first code cell has to do the rest. At the end, nothing that Colab has may have changed its version.
On Linux, `PIP_EXTRA_INDEX_URL` can name PyTorch's index of CPU builds, which saves gigabytes. Where
no package registry is reached, nothing is run, or with `ATTNMT_COLAB=required` it fails.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient

from press.colab.cell import stamped
from press.colab.publish import publish
from press.contents import ROOT, copy_tree
from press.run.execute import children_seconds

PYTHON = "python3.13"  # Colab's


def reachable(folder: Path) -> bool:
    """Whether pip reaches a package registry: it is asked for one small package."""
    pip = [sys.executable, "-m", "pip", "--retries=0", "--timeout=15", "download", "--no-deps"]
    return not subprocess.run([*pip, "--dest", folder, "sacrebleu"], capture_output=True).returncode


def environment(folder: Path) -> Path:
    """A virtual environment like Colab's; returns its Python."""
    found = shutil.which(PYTHON)
    if found is None or subprocess.run([found, "-V"], capture_output=True).returncode:
        found = sys.executable  # there is none, or a manager of Pythons has it switched off
    subprocess.run([found, "-m", "venv", folder], check=True)
    python = folder / "bin" / "python"
    pip = [python, "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
    subprocess.run([*pip, "-r", Path(__file__).with_name("versions.txt")], check=True)
    return python


def versions(python: Path) -> dict[str, str]:
    """Version of each package that is installed."""
    command = [python, "-m", "pip", "list", "--format=json", "--disable-pip-version-check"]
    listed = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return {package["name"].lower(): package["version"] for package in listed}


def repository(folder: Path) -> Path:
    """This working tree as a git repository that has an address, its own."""
    copy_tree(folder)
    publish(folder.as_uri(), root=folder)
    git = ["git", "-C", folder, "-c", "user.name=book", "-c", "user.email=book@localhost"]
    git += ["-c", "commit.gpgsign=false", "-c", "core.hooksPath=/dev/null"]  # not the user's own
    start = ["init", "--quiet", "--initial-branch", stamped(folder)["branch"]]
    for command in (start, ["add", "--all"], ["commit", "--quiet", "-m", "book"]):
        subprocess.run([*git, *command], check=True)
    return folder


def run(notebook: Path, folder: Path, python: Path) -> None:
    """Execute a chapter that lies alone in a new folder."""
    folder.mkdir()
    notebook = shutil.copy(notebook, folder)
    kernel = folder.parent / "jupyter" / "kernels" / "colab"
    kernel.mkdir(parents=True, exist_ok=True)
    command = [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec = {"argv": command, "display_name": "As in Colab", "language": "python"}
    (kernel / "kernel.json").write_text(json.dumps(spec))
    os.environ["JUPYTER_PATH"] = str(kernel.parents[1])
    os.environ.pop("PYTHONPATH", None)
    NotebookClient(
        nbformat.read(notebook, as_version=4),
        timeout=1200,
        kernel_name="colab",
        resources={"metadata": {"path": str(folder)}},
    ).execute()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("notebooks", nargs="*", type=Path, help="default: Ten minutes")
    paths = [path.resolve() for path in parser.parse_args().notebooks] or [
        ROOT / "book" / "ten_minutes.ipynb"
    ]
    if shutil.which("git") is None:
        parser.error("git is not on this machine, and Colab gets the package by it")
    with tempfile.TemporaryDirectory(prefix="colab-") as name:
        folder = Path(name).resolve()
        if os.environ.get("ATTNMT_COLAB") != "required" and not reachable(folder / "asked"):
            print("Skipped: pip reaches no package registry, and Colab's versions come from there.")
            return 0
        copy = repository(folder / "repository")
        python = environment(folder / "venv")
        before = versions(python)
        version = subprocess.run([python, "-V"], check=True, capture_output=True, text=True).stdout
        print(version.strip(), *(f"{name} {before[name]}" for name in ("torch", "numpy")), sep=", ")
        for path in paths:
            began = time.monotonic()
            used = children_seconds()
            run(copy / path.relative_to(ROOT), folder / path.stem, python)
            seconds = time.monotonic() - began
            used = children_seconds() - used
            print(f"{path.name} ran through in {seconds:.0f} s, {used:.0f} CPU-seconds", flush=True)
        after = versions(python)
    changed = {name: after.get(name) for name in before if after.get(name) != before[name]}
    added = sorted(name for name in after if name not in before)
    print(f"Installed by the first cell: {', '.join(added)}. Changed: {changed or 'nothing'}.")
    return int(bool(changed) or "attnmt" not in added)


if __name__ == "__main__":
    sys.exit(main())
