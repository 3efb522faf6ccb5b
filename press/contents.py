"""Where the book lies, what `_toc.yml` lists, and copies of the working tree."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Collection
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]


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


EVIDENCE = "Evidence"  # the caption of the part whose pages stand beside chapters


def lectures(root: Path = ROOT) -> list[Path]:
    """The notebooks that have slides: all but those of the part that holds the evidence."""
    parts = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf8")).get("parts", [])
    beside = [part["chapters"] for part in parts if part["caption"] == EVIDENCE]
    names = {Path(page["file"]).name for pages in beside for page in pages}
    return [path for path in chapters(root) if path.stem not in names]


def chapter_numbers(root: Path = ROOT) -> dict[str, int]:
    """The numbers that the site gives to chapters, by their file's name without its ending."""
    parts = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf8")).get("parts", [])
    numbered = [part for part in parts if part.get("numbered")]
    names = [Path(chapter["file"]).name for part in numbered for chapter in part["chapters"]]
    return {name: number for number, name in enumerate(names, 1)}


def listed(root: Path = ROOT) -> list[tuple[str, list[str]]]:
    """The parts of the book and their pages, as `_toc.yml` has them."""
    toc = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf8"))
    parts = [(part["caption"], [c["file"] for c in part["chapters"]]) for part in toc["parts"]]
    return [("", [toc["root"]]), *parts]


# --- copies of the tree

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
