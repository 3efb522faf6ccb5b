"""A copy of the working tree, without what git does not track."""

import shutil
import subprocess
from collections.abc import Collection
from pathlib import Path

from press.contents import ROOT

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
