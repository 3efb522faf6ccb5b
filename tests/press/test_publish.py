"""A copy's address: the first cell of every chapter, `make publish`, the buttons on the pages."""

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import nbformat
import pytest
import yaml

from press.colab.cell import (
    cell_text,
    is_colab_cell,
    put_cell,
    repository,
    source,
    stamp_config,
    stamped,
)
from press.colab.publish import main, publish
from press.contents import ROOT, chapters
from press.run.stamps import code_hash

ADDRESS = "https://github.com/someone/somewhere"
TEMPLATE = ROOT / "book" / "_template.ipynb"


@pytest.mark.parametrize("path", [*chapters(), TEMPLATE], ids=lambda path: path.stem)
def test_the_first_code_cell_of_a_chapter_is_the_one_that_installs(path):
    code = [c for c in nbformat.read(path, as_version=4).cells if c.cell_type == "code"]
    assert code[0].source == cell_text(source())
    assert {"colab", "remove-cell"} <= set(code[0].metadata.tags)
    assert code[0].outputs == []
    assert [is_colab_cell(cell) for cell in code].count(True) == 1


# --- hosts that a notebook may be opened on

PIP = """\
import pathlib, sys
here = pathlib.Path(__file__).parents[1]
with (here / "asked").open("a") as file:
    print(*sys.argv[1:], file=file)
if (here / "offline").exists():
    sys.exit("ERROR: Could not find a version that satisfies the requirement hatchling")
(here / "attnmt").mkdir()
"""
COLAB = {"torch": "2.11.0+cu128", "numpy": "2.1.3", "ipython": "7.34.0"}


class Host:
    """A Python of its own with stand-ins for pip and for what is installed; and a folder."""

    def __init__(self, folder: Path, installed: dict[str, str]):
        venv.create(folder / "venv", with_pip=False)
        windows = folder / "venv" / "Scripts" / "python.exe"
        self.python = windows if windows.exists() else folder / "venv" / "bin" / "python"
        self.beside = folder / "beside"
        self.beside.mkdir()
        (self.packages,) = (folder / "venv").glob("[Ll]ib/**/site-packages")
        (self.packages / "pip").mkdir()
        (self.packages / "pip" / "__main__.py").write_text(PIP)
        for name, version in installed.items():
            info = self.packages / f"{name}-{version}.dist-info"
            info.mkdir()
            (info / "METADATA").write_text(f"Name: {name}\nVersion: {version}\n")

    def run(self, address: str, then: str = "") -> str:
        """Run the cell, and what follows it; returns what stopped it."""
        kept = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        command = [self.python, "-c", f"{cell_text(address)}\n{then}"]
        done = subprocess.run(command, cwd=self.beside, env=kept, capture_output=True, text=True)
        assert bool(done.returncode) == bool(done.stderr), done.stderr
        return done.stderr

    def asked(self) -> list[str]:
        """What pip was asked to do."""
        path = self.packages / "asked"
        return path.read_text().splitlines() if path.exists() else []


@pytest.fixture
def host(tmp_path):
    """A host with Colab's versions, or with others."""
    return lambda installed=COLAB: Host(tmp_path, installed)


@pytest.mark.parametrize("installed", [COLAB, {}, {"torch": "2.15.0", "numpy": "3.0.0"}])
def test_the_cell_installs_the_package_and_the_next_cell_has_it(host, installed):
    """In Colab; in a Jupyter that has nothing; where all is newer. Run twice, it does nothing."""
    here = host(installed)
    assert here.run(f"{ADDRESS}@course", then="import attnmt") == ""
    assert here.asked() == [f"install -q attnmt[book] @ git+{ADDRESS}@course"]
    assert here.run(f"{ADDRESS}@course", then="import attnmt") == ""
    assert len(here.asked()) == 1


def test_where_the_package_is_the_cell_does_nothing(host):
    """Whatever else is there: this is how the book itself runs."""
    here = host({"numpy": "1.26.4"})
    (here.packages / "attnmt").mkdir()
    assert here.run("") == here.run(ADDRESS) == ""
    assert here.asked() == []


@pytest.mark.parametrize(
    ("name", "version", "enough"),
    [
        ("numpy", "2.0.2", False),
        ("numpy", "1.26.4", False),
        ("torch", "2.10.0+cpu", False),
        ("torch", "2.12.0.dev20260101", True),
        ("numpy", "2.10.0", True),
    ],
)
def test_what_a_host_has_must_be_new_enough_for_the_package(host, name, version, enough):
    """It is not replaced, so the cell names it and stops before anything is installed."""
    here = host(COLAB | {name: version})
    stopped = here.run(ADDRESS)
    assert stopped == ("" if enough else f"{name} {version} is too old: update it and restart\n")
    assert len(here.asked()) == enough


def test_an_older_version_behind_the_one_that_is_imported_does_not_stop_it(host):
    here = host()
    behind = here.beside / "behind" / "numpy-1.26.4.dist-info"
    behind.mkdir(parents=True)
    (behind / "METADATA").write_text("Name: numpy\nVersion: 1.26.4\n")
    (here.packages / "behind.pth").write_text(str(behind.parent))
    assert here.run(ADDRESS) == ""


@pytest.mark.parametrize("name", ["attnmt-2.0.0-py3-none-any.whl", "learning-to-align-student.zip"])
def test_a_file_beside_the_notebook_is_installed_without_an_address(host, name):
    here = host()
    (here.beside / name).touch()
    assert here.run("", then="import attnmt") == ""
    assert here.asked() == [f"install -q ./{name}[book]"]


def test_without_a_network_or_an_address_one_sentence_says_what_it_takes(host):
    here = host()
    stopped = here.run("")
    assert stopped == "Not installed: this takes a network, and an address or a wheel here\n"
    assert here.asked() == []
    (here.packages / "offline").touch()
    pip, line = here.run(ADDRESS, then="print('went on')").splitlines()
    assert pip.startswith("ERROR")
    assert f"{line}\n" == stopped


def test_the_cell_goes_before_all_code_and_leaves_the_hash():
    new = nbformat.v4
    notebook = new.new_notebook(cells=[new.new_markdown_cell("# A"), new.new_code_cell("x = 1")])
    before = code_hash(notebook)
    put_cell(notebook, "")
    put_cell(notebook, ADDRESS)
    assert [cell.cell_type for cell in notebook.cells] == ["markdown", "code", "code"]
    assert f'REPOSITORY = "{ADDRESS}"' in notebook.cells[1].source
    assert code_hash(notebook) == before


@pytest.mark.parametrize("branch", ["course", "2026", "1.10", "yes"])
def test_the_address_is_stamped_and_nothing_else_changes(branch):
    text = (ROOT / "_config.yml").read_text(encoding="utf8")
    other = stamp_config(text, ADDRESS, branch)
    assert yaml.safe_load(other)["repository"] == {"url": ADDRESS, "branch": branch}
    assert stamp_config(other, repository(), stamped()["branch"]) == text
    with pytest.raises(ValueError):
        stamp_config("title: no repository\n", ADDRESS, "main")


def test_a_published_copy_has_its_address_everywhere_and_no_output_is_stale(tmp_path):
    """A copy of two chapters; that each chapter has the cell, the first test tells."""
    (tmp_path / "book").mkdir()
    shutil.copy(ROOT / "_config.yml", tmp_path)
    (tmp_path / "_toc.yml").write_text("root: book/primer\nchapters: [{file: book/ten_minutes}]\n")
    for name in ("primer", "ten_minutes"):
        shutil.copy(ROOT / "book" / f"{name}.ipynb", tmp_path / "book")
    old = {path: code_hash(nbformat.read(path, as_version=4)) for path in chapters(tmp_path)}
    assert publish(ADDRESS, "course", root=tmp_path) == [tmp_path / "_config.yml", *old]
    assert repository(tmp_path) == ADDRESS and len(old) == 2
    for path, before in old.items():
        assert f'REPOSITORY = \\"{ADDRESS}@course\\"' in path.read_text(encoding="utf8")
        assert code_hash(nbformat.read(path, as_version=4)) == before
    assert publish(ADDRESS, root=tmp_path) == []  # without a branch, that one stays


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["someone/somewhere"], "not of the form https://github.com/someone/somewhere"),
        ([ADDRESS, "--branch", 'a"b'], 'a"b is no name of a branch'),
    ],
)
def test_an_address_of_another_form_is_refused(arguments, message, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["publish.py", *arguments])
    with pytest.raises(SystemExit, match="2"):
        main()
    assert message in capsys.readouterr().err
