"""Gather a release in `dist`, beside the wheel and the sdist: `make release` runs this last.

    learning-to-align-VERSION-site.zip      the pages; index.html in it opens without a server
    learning-to-align-VERSION-slides.zip    the slides alone
    learning-to-align-VERSION-student.zip   the student edition
    learning-to-align-VERSION.pdf and .epub
    SHA256SUMS                              of all of them

The parts must have been made: `make html pdf epub student`, and the package by `python -m build`.
"""

import hashlib
import re
import shutil
import sys
import zipfile
from pathlib import Path
from urllib.parse import unquote, urldefrag

from attnmt import __version__
from press.contents import ROOT

NAME = f"learning-to-align-{__version__}"
LINK = re.compile(r'(?:src|href|data-src|data-background-image)="([^"#?]+)')
BACK = re.compile(r'<p class="back">.*?</p>')  # from a deck to its chapter, which is not there
READ = """Learning to Align {version}

Open {first} in a browser. Formulas, figures, folded solutions and the search work as they are.
The models in the pages, and speaker notes, need a server, for browsers run no modules from files:

    python3 -m http.server

in this folder, then http://localhost:8000/{first}. Nothing is fetched from elsewhere.

Text and figures: CC BY 4.0. Code: MIT License.
"""


class Unmade(RuntimeError):
    """A part of the release that was not made."""


def pack(target: Path, files: dict[str, bytes]) -> None:
    """Write a zip whose bytes depend on its files alone."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
        for name, content in sorted(files.items()):
            packed.writestr(zipfile.ZipInfo(f"{target.stem}/{name}"), content, zipfile.ZIP_DEFLATED)


def files_below(folder: Path) -> dict[str, bytes]:
    """Name -> content of the files in a folder; Unmade if there are none."""
    paths = [path for path in folder.rglob("*") if path.is_file()]
    if not paths:
        raise Unmade(f"{folder} is empty or not there: make release makes it")
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def slides_of(site: dict[str, bytes]) -> dict[str, bytes]:
    """Of a site's files, the slides, what they show, and the models that run in them."""
    decks = [name for name in site if name.startswith("slides/")]
    wanted = {name for name in site if name.startswith(("_static/live/", "_static/math/"))}
    found = {}
    for deck in decks:
        page = BACK.sub("", site[deck].decode())
        found[deck] = page.encode()
        for address in LINK.findall(page):
            wanted.add(urldefrag(unquote(address)).url.removeprefix("../"))
    links = "".join(f'<li><a href="{deck}">{Path(deck).stem}</a></li>\n' for deck in sorted(decks))
    page = f'<!doctype html><meta charset="utf-8"><title>Slides</title>\n<ul>\n{links}</ul>\n'
    return found | {"index.html": page.encode()} | {name: site[name] for name in wanted & set(site)}


def gather(build: Path, dist: Path) -> list[Path]:
    """Put what was built into `dist`; returns all files of the release, or raises Unmade."""
    package = [dist / f"attnmt-{__version__}{end}" for end in (".tar.gz", "-py3-none-any.whl")]
    printed = [build / kind / f"learning-to-align.{kind}" for kind in ("pdf", "epub")]
    if missing := [path.name for path in (*package, *printed) if not path.is_file()]:
        raise Unmade(f"{', '.join(missing)} was not made: run make release")
    site = files_below(build / "html")
    read = READ.format(version=__version__, first="index.html").encode()
    pack(dist / f"{NAME}-site.zip", site | {"READ_ME.txt": read})
    pack(dist / f"{NAME}-slides.zip", slides_of(site) | {"READ_ME.txt": read})
    pack(dist / f"{NAME}-student.zip", files_below(build / "student"))
    for path in printed:
        shutil.copyfile(path, dist / f"{NAME}{path.suffix}")
    paths = sorted([*package, *dist.glob(f"{NAME}*")])
    sums = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in paths]
    (dist / "SHA256SUMS").write_text("".join(sums), encoding="utf8", newline="\n")
    return [*paths, dist / "SHA256SUMS"]


def main() -> int:
    try:
        paths = gather(ROOT / "_build", ROOT / "dist")
    except Unmade as error:
        sys.exit(str(error))
    for path in paths:
        print(f"{path.stat().st_size / 1e6:8.2f} MB  {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
