"""The package for itself: one version everywhere, what its two sizes hold, what it needs."""

import json
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
import yaml

import attnmt
from attnmt.book.live import weights
from attnmt.evidence import plan

ROOT = Path(__file__).resolve().parents[1]
NEEDED = ("matplotlib", "seaborn", "scipy", "IPython", "pandas")  # by the book alone


def test_the_version_is_the_same_everywhere():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf8"))
    zenodo = json.loads((ROOT / ".zenodo.json").read_text(encoding="utf8"))
    assert citation["version"] == zenodo["version"] == attnmt.__version__
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf8")
    assert f"\n## {attnmt.__version__}" in changes


IMPORTING = f"""
import sys, attnmt, attnmt.cli
print([name for name in {NEEDED} if name in sys.modules])
import attnmt.book
attnmt.book.pretrained
print("seaborn" in sys.modules)
import matplotlib
before = dict(matplotlib.rcParams)
from attnmt.book.figures import plots
print(dict(matplotlib.rcParams) == before)
plots.theme()
print(dict(matplotlib.rcParams) == before)
"""


def test_importing_needs_nothing_of_the_book_and_the_theme_of_its_figures_is_a_choice():
    """The command, too; `attnmt.book` reads figures only when one is asked for. To import them
    changes none of somebody else's; `theme` does."""
    command = [sys.executable, "-W", "ignore", "-c", IMPORTING]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ran.stdout.split("\n")[:4] == ["[]", "False", "True", "False"]


def test_a_package_without_the_books_files_says_where_they_are(monkeypatch, tmp_path):
    monkeypatch.setattr(plan, "CHECKOUT", tmp_path)
    with pytest.raises(FileNotFoundError, match=r"no recorded runs.*from the book's repository"):
        plan.results_folder()
    (tmp_path / weights.CHECKSUMS).write_text("rnnsearch.safetensors 0\n")
    with pytest.raises(FileNotFoundError, match=r"no trained models.*from the book's repository"):
        weights.pretrained("rnnsearch", folder=tmp_path)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The names of the files in the sdist, and in the wheel that is built from it, and its size."""
    folder = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "build", "--outdir", str(folder), str(ROOT)]
    ran = subprocess.run(build, capture_output=True, text=True)
    if ran.returncode and "No matching distribution found for hatchling" in ran.stdout + ran.stderr:
        pytest.skip("there is no package registry to fetch hatchling from")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    (sdist,), (wheel,) = folder.glob("*.tar.gz"), folder.glob("*.whl")
    with tarfile.open(sdist) as packed, zipfile.ZipFile(wheel) as installed:
        return packed.getnames(), installed.namelist(), wheel.stat().st_size


@pytest.mark.slow
def test_a_release_is_the_package_alone(built):
    sdist, wheel, size = built
    assert size < 500_000
    page = [path.name for path in (ROOT / "book" / "_live").glob("*.mjs")]
    page = {f"attnmt/book/live/page/{n}" for n in page if not n.startswith(("learn", "embedded"))}
    assert {"attnmt/py.typed", *page, "attnmt/book/live/page/see.css"} <= set(wheel)  # of `show`
    for names in (sdist, wheel):
        assert not [n for n in names if n.endswith((".safetensors", ".npz")) or "results/" in n]
    modules = {p.relative_to(ROOT / "src").as_posix() for p in (ROOT / "src").rglob("*.py")}
    assert modules <= set(wheel)
