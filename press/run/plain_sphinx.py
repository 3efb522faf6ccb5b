"""The way out of jupyter-book 1: build the book by Sphinx alone, and compare the pages.

    python -m press.run.plain_sphinx       compares with `_build/strict`, which `make strict` builds

A copy of the tree gets the `conf.py` that jupyter-book writes, without jupyter-book's own
extensions. A page that differs in its text, or is on one side only, is named, and the exit code
is 1.
"""

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from difflib import unified_diff
from pathlib import Path

from bs4 import BeautifulSoup

from press.contents import ROOT, copy_tree

BUILT = ROOT / "_build" / "strict" / "_build" / "html"
GOES = ("jupyter_book", "sphinx_thebe", "sphinx_comments")  # what comes with jupyter-book alone


def plain(settings: str) -> str:
    """The text of `conf.py` without the extensions that go."""
    return re.sub(rf"'(?:{'|'.join(GOES)})'(?:, )?", "", settings)


def build(source: Path, target: Path) -> Path:
    """Build a copy of the book in `source` by Sphinx alone; returns the pages' folder."""
    copy_tree(source)
    scripts = Path(sys.executable).parent
    subprocess.run([scripts / "jupyter-book", "config", "sphinx", source], check=True)
    settings = source / "conf.py"
    settings.write_text(plain(settings.read_text(encoding="utf8")), encoding="utf8")
    command = [scripts / "sphinx-build", "-b", "html", "-q", source, target]
    subprocess.run(command, check=True, cwd=source)
    return target


def texts(site: Path) -> dict[str, list[str]]:
    """The pieces of text of each page's article."""
    found = {}
    for path in sorted(site.rglob("*.html")):
        soup = BeautifulSoup(path.read_text(encoding="utf8"), "html.parser")
        if article := soup.find("article", class_="bd-article"):
            found[path.relative_to(site).as_posix()] = list(article.stripped_strings)
    return found


def differences(one: dict[str, list[str]], other: dict[str, list[str]]) -> Iterator[str]:
    """For each page that is not the same on both sides, what differs."""
    for name in sorted(one.keys() | other.keys()):
        if one.get(name) != other.get(name):
            lines = unified_diff(one.get(name, []), other.get(name, []), n=0, lineterm="")
            yield "\n".join([name, *lines])


def main() -> int:
    if not (before := texts(BUILT)):
        sys.exit(f"there are no pages in {BUILT}: run `make strict`")
    with tempfile.TemporaryDirectory(prefix="sphinx-") as name:
        after = texts(build(Path(name, "book"), Path(name, "html")))
    found = list(differences(before, after))
    print(*found, f"{len(before)} pages, {len(found)} differ", sep="\n")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
