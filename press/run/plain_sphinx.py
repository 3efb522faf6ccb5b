"""The way out of jupyter-book 1: build the book by Sphinx alone, and compare the pages.

    python -m press.run.plain_sphinx       compares with `_build/strict`, which `make strict` builds

A copy of the tree gets the `conf.py` that jupyter-book writes, without jupyter-book's own
extensions. A page that differs in its text, or is on one side only, is named, and the exit code
is 1.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from bs4 import BeautifulSoup

from press.contents import ROOT, copy_tree

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


def texts(site: Path) -> dict[str, str]:
    """The words of each page's article."""
    found = {}
    for path in sorted(site.rglob("*.html")):
        soup = BeautifulSoup(path.read_text(encoding="utf8"), "html.parser")
        if article := soup.find("article", class_="bd-article"):
            found[path.relative_to(site).as_posix()] = " ".join(article.get_text(" ").split())
    return found


def differences(one: dict[str, str], other: dict[str, str]) -> list[str]:
    """A line for each page that is not the same on both sides."""
    found = [f"{name} is on one side only" for name in sorted(one.keys() ^ other.keys())]
    for name in sorted(one.keys() & other.keys()):
        if one[name] != other[name]:
            pairs = enumerate(zip(one[name], other[name], strict=False))
            shorter = min(len(one[name]), len(other[name]))
            at = next((place for place, (a, b) in pairs if a != b), shorter)
            here, there = (text[max(0, at - 30) : at + 30] for text in (one[name], other[name]))
            found.append(f"{name}: ...{here}... is ...{there}...")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    built = ROOT / "_build" / "strict" / "_build" / "html"
    parser.add_argument("--site", type=Path, default=built, help="the pages by jupyter-book")
    site = parser.parse_args().site
    if not (before := texts(site)):
        parser.error(f"there are no pages in {site}: run `make strict`")
    with tempfile.TemporaryDirectory(prefix="sphinx-") as name:
        after = texts(build(Path(name, "book"), Path(name, "html")))
    found = differences(before, after)
    print(*found, f"{len(before)} pages, {len(found)} differ", sep="\n")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
