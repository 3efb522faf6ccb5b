"""The package for itself: one version everywhere, what its two sizes hold, what it needs."""

import json
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

import attnmt
from attnmt.book.live import weights
from attnmt.evidence import plan

ROOT = Path(__file__).resolve().parents[1]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf8"))
NEEDED = ("matplotlib", "seaborn", "scipy", "IPython", "pandas")  # by the book alone


def test_the_version_is_the_same_everywhere():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf8"))
    assert citation["version"] == attnmt.__version__
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf8")
    assert f"\n## {attnmt.__version__}" in changes


def test_zenodo_is_told_what_the_citation_says():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf8"))
    zenodo = json.loads((ROOT / ".zenodo.json").read_text(encoding="utf8"))
    for name in ("title", "version", "keywords"):
        assert zenodo[name] == citation[name]
    assert [one["name"] for one in zenodo["creators"]] == [o["name"] for o in citation["authors"]]
    assert zenodo["license"] == citation["license"][0]
    assert citation["license"][1] in zenodo["notes"].replace(" ", "-")
    cited = {found["identifier"] for found in zenodo["related_identifiers"]}
    assert cited == {one.get("doi") or one["url"] for one in citation["references"]}


IMPORTING = f"""
import sys, attnmt, attnmt.cli
print([name for name in {NEEDED} if name in sys.modules])
import matplotlib
before = dict(matplotlib.rcParams)
from attnmt.book.figures import plots
print(dict(matplotlib.rcParams) == before)
plots.theme()
print(dict(matplotlib.rcParams) == before)
"""


def test_importing_needs_nothing_of_the_book_and_the_theme_of_its_figures_is_a_choice():
    """The command, too. To import the figures changes none of somebody else's; `theme` does."""
    command = [sys.executable, "-W", "ignore", "-c", IMPORTING]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ran.stdout.split("\n")[:3] == ["[]", "True", "False"]


def test_what_is_needed_is_small_and_the_rest_are_extras():
    project = SETTINGS["project"]
    always = {Requirement(line).name for line in project["dependencies"]}
    assert not always & {name.lower() for name in NEEDED}
    book = {Requirement(line).name for line in project["optional-dependencies"]["book"]}
    assert {"matplotlib", "scipy", "ipython"} <= book


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
    assert {"attnmt/py.typed", "attnmt/book/live/page/see.mjs", "attnmt/cli.py"} <= set(wheel)
    for names in (sdist, wheel):
        assert not [n for n in names if n.endswith((".safetensors", ".npz")) or "results/" in n]
    modules = {p.relative_to(ROOT / "src").as_posix() for p in (ROOT / "src").rglob("*.py")}
    assert modules <= set(wheel)


def test_the_repositorys_own_wheel_has_what_the_book_reads():
    """Colab installs it from there."""
    wheel = SETTINGS["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert {"src/attnmt", "results", "book/_live"} == set(wheel["only-include"])
