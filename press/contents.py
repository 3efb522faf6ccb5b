"""Where the book lies, what `_config.yml` and `_toc.yml` say, and copies of the working tree."""

import shutil
import subprocess
from collections.abc import Collection
from copy import deepcopy
from functools import cache
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]


read_yaml = cache(yaml.safe_load)  # it takes a tenth of a second, and is asked for each page


def settings(root: Path = ROOT, name: str = "_config.yml") -> dict:
    """What a file of Jupyter Book's says: `_config.yml`, or `_toc.yml`."""
    return deepcopy(read_yaml((root / name).read_text(encoding="utf8")))


def parts(root: Path = ROOT) -> list[dict]:
    """The parts of `_toc.yml`; a book without any is one."""
    toc = settings(root, "_toc.yml")
    return toc.get("parts", [toc])


def top_pages(part: dict) -> list[str]:
    """The pages of a part that are below no other page, as `book/index`."""
    return [page["file"] for page in part.get("chapters", ())]


def pages_of(part: dict) -> list[str]:
    """All pages of a part; those below a page (its `sections`) come right after it."""
    found = []
    for page in [*part.get("chapters", ()), *part.get("sections", ())]:
        found += [page["file"], *pages_of(page)]
    return found


def listed(root: Path = ROOT) -> list[tuple[str, list[str]]]:
    """The parts of the book and their pages, as `_toc.yml` has them; the first page is before."""
    named = [(part.get("caption", ""), pages_of(part)) for part in parts(root)]
    return [("", [settings(root, "_toc.yml")["root"]]), *named]


def file_of(page: str, root: Path = ROOT) -> Path:
    """The file of a page; FileNotFoundError if there is none."""
    for ending in (".md", ".ipynb"):
        if (path := root / f"{page}{ending}").is_file():
            return path
    raise FileNotFoundError(f"there is no page {page}; name it as _toc.yml does: book/index")


def chapters(root: Path = ROOT) -> list[Path]:
    """The notebooks that `_toc.yml` lists, in its order."""
    files = [file_of(page, root) for _, pages in listed(root) for page in pages]
    return [path for path in files if path.suffix == ".ipynb"]


def lectures(root: Path = ROOT) -> list[Path]:
    """The notebooks that have slides: a cell with a slide type."""
    return [path for path in chapters(root) if '"slide_type"' in path.read_text(encoding="utf8")]


def chapter_numbers(root: Path = ROOT) -> dict[str, int]:
    """The numbers that the site gives to chapters, by their file's name without its ending."""
    numbered = [page for part in parts(root) if part.get("numbered") for page in top_pages(part)]
    return {Path(page).name: number for number, page in enumerate(numbered, 1)}


# --- copies of the tree

GITS_OWN = (
    ".devcontainer",
    ".gitattributes",
    ".gitignore",
    ".github",
    ".gitlab-ci.yml",
)  # hidden, but what a repository needs


def untracked(root: Path, *options: str) -> set[Path]:
    """The files and whole folders that git does not track; none if `root` is no repository."""
    command = ["git", "-C", root, "ls-files", "--others", "--directory", "-z", *options]
    try:
        listed = subprocess.run(command, capture_output=True, encoding="utf8", check=True).stdout
    except (FileNotFoundError, subprocess.CalledProcessError):
        return set()
    return {root / name for name in listed.split("\0")} - {root}


def copy_tree(target: Path, root: Path = ROOT, besides: Collection[Path] = ()) -> Path:
    """A copy of the working tree without environments, builds, hidden files and `besides`."""

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


def renew(target: Path, root: Path, ours: bool, besides: Collection[Path] = ()) -> None:
    """A copy of the working tree in place of an older one; FileExistsError if not `ours`.

    The folder may be a repository of its own: its `.git` stays.
    """
    old = [path for path in target.iterdir() if path.name != ".git"] if target.is_dir() else []
    if target.is_file() or (old and not ours):
        raise FileExistsError(f"{target} holds something else than this edition; give a new folder")
    for path in old:
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    copy_tree(target, root, besides)
