"""The first code cell of every chapter: where the book's package is missing, it installs it.

The repository's address stands in one place, `_config.yml`. `make notebooks` writes the cell into
each chapter that it executes, and `make publish` into all of them. The cell is tagged: the pages
leave it out, and a chapter's hash of its code does not depend on it.
"""

import re
import tomllib
from pathlib import Path

import nbformat

from press.contents import ROOT, settings

TAG = "colab"
KEPT = ("torch", "numpy")  # what a host has of these is not replaced, so it must be new enough

CELL = """\
# Where the book's package is missing, as in Colab, this installs it. Else nothing.
import sys
from glob import glob
from importlib import metadata, util
from subprocess import call

REPOSITORY = "{repository}"
if not util.find_spec("attnmt"):
    for name, least in (("torch", {torch}), ("numpy", {numpy})):
        for found in [*metadata.distributions(name=name)][:1]:  # the one imported
            if tuple(map(int, found.version.split(".")[:2])) < least:
                sys.exit(f"{{name}} {{found.version}} is too old: update it and restart")
    files = glob("attnmt*.whl") + glob("learning-to-align*.zip")
    book = f"./{{files[0]}}[book]" if files else f"attnmt[book] @ git+{{REPOSITORY}}"
    pip = [sys.executable, "-m", "pip", "install", "-q", book]
    if not (files or REPOSITORY) or call(pip):
        sys.exit("Not installed: this takes a network, and an address or a wheel here")"""


def floors(root: Path = ROOT) -> dict[str, tuple[int, ...]]:
    """The oldest versions of `KEPT` that the package takes, as `pyproject.toml` has them."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf8"))["project"]
    least = dict(one.split(">=") for one in project["dependencies"])
    return {name: tuple(map(int, least[name].split("."))) for name in KEPT}


def cell_text(repository: str, root: Path = ROOT) -> str:
    """The cell of a book with this address; empty if it has none."""
    return CELL.format(repository=repository, **floors(root))


def stamped(root: Path = ROOT) -> dict[str, str]:
    """What `_config.yml` says of the repository: its `url`, empty if it has none, and `branch`."""
    return settings(root)["repository"]


def repository(root: Path = ROOT) -> str:
    """The repository's address; empty if it has none yet."""
    return stamped(root)["url"]


def site_address(given: str = "", root: Path = ROOT) -> str:
    """Where the pages stand: as given, or GitHub's pages of the repository; or nothing."""
    if given:
        return given.rstrip("/") + "/"
    found = re.fullmatch(r"https://github\.com/([\w.-]+)/([\w.-]+)", repository(root))
    return f"https://{found[1].lower()}.github.io/{found[2]}/" if found else ""


def source(root: Path = ROOT) -> str:
    """What pip installs in Colab: a branch of the repository; empty if it has no address yet."""
    return "{url}@{branch}".format(**stamped(root)) if repository(root) else ""


def is_colab_cell(cell: nbformat.NotebookNode) -> bool:
    return TAG in cell.metadata.get("tags", [])


def put_cell(notebook: nbformat.NotebookNode, source: str) -> None:
    """Give the notebook its cell, before all other code; its outputs stay as they are."""
    text = cell_text(source)
    for cell in notebook.cells:
        if is_colab_cell(cell):
            cell.source = text
            return
    new = nbformat.v4.new_code_cell(text, metadata={"tags": [TAG, "remove-cell"]}, id=TAG)
    kinds = [*(cell.cell_type for cell in notebook.cells), "code"]
    notebook.cells.insert(kinds.index("code"), new)


def stamp_config(text: str, address: str, branch: str) -> str:
    """The text of `_config.yml` with another address and branch; the rest stays as it is."""
    block = f'repository:\n  url: "{address}"\n  branch: "{branch}"\n'
    new, times = re.subn(r"^repository:\n(?:[ ]+.*\n)*", block, text, flags=re.MULTILINE)
    if times != 1:
        raise ValueError("_config.yml has no repository, or two")
    return new
