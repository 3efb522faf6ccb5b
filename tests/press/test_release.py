"""press/editions/release.py: what a release offers, from parts that were made."""

import hashlib
import zipfile

import pytest

from attnmt import __version__
from press.editions.release import NAME, Unmade, gather


@pytest.fixture
def made(tmp_path):
    """A build with one page and one deck, and a package."""
    build, dist = tmp_path / "build", tmp_path / "dist"
    deck = (
        '<p class="back"><a href="../book/a.html">The chapter</a></p><img src="../_images/b.png">'
    )
    files = {
        "html/index.html": "site",
        "html/book/a.html": "page",
        "html/slides/a.html": f'<link href="../_static/slides.css">{deck}',
        "html/_static/slides.css": "css",
        "html/_static/live/see.mjs": "mjs",
        "html/_images/b.png": "b",
        "html/_images/c.png": "c",
        "student/README.md": "student",
        "pdf/learning-to-align.pdf": "pdf",
        "epub/learning-to-align.epub": "epub",
    }
    for name, text in files.items():
        path = build / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    dist.mkdir()
    for end in (".tar.gz", "-py3-none-any.whl"):
        (dist / f"attnmt-{__version__}{end}").write_text(end)
    return build, dist


def names(path):
    with zipfile.ZipFile(path) as packed:
        return {name.partition("/")[2] for name in packed.namelist()}


def test_a_release_has_every_part_and_their_checksums(made):
    build, dist = made
    found = {path.name for path in gather(build, dist)}
    ends = ["-site.zip", "-slides.zip", "-student.zip", ".pdf", ".epub"]
    package = {f"attnmt-{__version__}.tar.gz", f"attnmt-{__version__}-py3-none-any.whl"}
    assert found == {NAME + end for end in ends} | package | {"SHA256SUMS"}
    lines = (dist / "SHA256SUMS").read_text().splitlines()
    sums = dict(reversed(line.split("  ")) for line in lines)
    assert sums.keys() == found - {"SHA256SUMS"}
    for name, digest in sums.items():
        assert hashlib.sha256((dist / name).read_bytes()).hexdigest() == digest


def test_slides_come_with_what_they_show_and_no_more(made):
    build, dist = made
    gather(build, dist)
    slides = names(dist / f"{NAME}-slides.zip")
    shown = {"slides/a.html", "_static/slides.css", "_static/live/see.mjs", "_images/b.png"}
    assert slides == shown | {"index.html", "READ_ME.txt"}
    with zipfile.ZipFile(dist / f"{NAME}-slides.zip") as packed:
        assert b"The chapter" not in packed.read(f"{NAME}-slides/slides/a.html")
        assert b'href="slides/a.html"' in packed.read(f"{NAME}-slides/index.html")
    assert names(dist / f"{NAME}-site.zip") >= {"index.html", "book/a.html", "_images/c.png"}


def test_the_same_files_make_the_same_zips(made):
    build, dist = made
    gather(build, dist)
    first = (dist / "SHA256SUMS").read_text()
    (build / "html" / "index.html").touch()
    gather(build, dist)
    assert (dist / "SHA256SUMS").read_text() == first


@pytest.mark.parametrize("part", ["pdf/learning-to-align.pdf", "student/README.md"])
def test_what_was_not_made_is_named(made, part):
    build, dist = made
    (build / part).unlink()
    with pytest.raises(Unmade, match=r"learning-to-align\.pdf|student"):
        gather(build, dist)
