"""A copy's address: the Colab cell of every chapter, `make publish`, the buttons on the pages."""

import re
import subprocess
import sys
from types import ModuleType

import nbformat
import pytest
import yaml
from IPython.core.interactiveshell import InteractiveShell

from press.colab import as_in_colab
from press.colab.cell import (
    CELL,
    LACKING,
    is_colab_cell,
    put_cell,
    repository,
    source,
    stamp_config,
    stamped,
)
from press.colab.publish import main, publish
from press.contents import ROOT, chapters, copy_tree
from press.run.stamps import code_hash, stale

ADDRESS = "https://github.com/someone/somewhere"


@pytest.mark.parametrize("path", chapters(), ids=lambda path: path.stem)
def test_the_first_code_cell_of_a_chapter_is_the_one_for_colab(path):
    code = [c for c in nbformat.read(path, as_version=4).cells if c.cell_type == "code"]
    assert code[0].source == CELL.format(repository=source(), lacking=LACKING)
    assert {"colab", "remove-cell"} <= set(code[0].metadata.tags)
    assert code[0].outputs == []
    assert [is_colab_cell(cell) for cell in code].count(True) == 1


@pytest.fixture
def shell(monkeypatch):
    """Runs the cell in IPython; returns what %pip was asked to do, and the error if any."""
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)  # another than that of the tests
    shell = InteractiveShell()

    def run(address: str, colab: bool):
        asked = []
        shell.register_magic_function(asked.append, "line", "pip")
        if colab:
            monkeypatch.setitem(sys.modules, "google.colab", ModuleType("google.colab"))
        result = shell.run_cell(CELL.format(repository=address, lacking=LACKING))
        return asked, result.error_in_exec

    yield run
    shell.history_manager.end_session()
    InteractiveShell.clear_instance()


def test_in_colab_the_cell_installs_the_package_and_what_colab_lacks(shell):
    asked, error = shell(f"{ADDRESS}@course", colab=True)
    assert error is None
    assert asked == [
        f"install --quiet {LACKING}",
        f"install --quiet --no-deps git+{ADDRESS}@course",
    ]
    assert not re.search("torch|numpy|ipython", " ".join(asked))


def test_in_colab_without_an_address_the_cell_says_so(shell, capsys):
    asked, error = shell("", colab=True)
    assert asked == []
    assert "has no address yet: see `make publish`" in str(error)
    assert "has no address yet" in capsys.readouterr().out


@pytest.mark.parametrize("address", ["", ADDRESS])
def test_elsewhere_the_cell_does_nothing(shell, address, capsys):
    assert shell(address, colab=False) == ([], None)
    assert capsys.readouterr().out == ""


def test_what_colab_lacks_are_requirements_of_the_package():
    required = (ROOT / "pyproject.toml").read_text(encoding="utf8")
    for name in LACKING.split():
        assert f'"{name}>=' in required


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
    copy = copy_tree(tmp_path / "copy")
    old = {path.name: stale(path) for path in chapters(copy)}
    changed = publish(ADDRESS, "course", root=copy)
    assert changed == [copy / "_config.yml", *chapters(copy)]
    assert repository(copy) == ADDRESS
    for path in chapters(copy):
        assert f'REPOSITORY = \\"{ADDRESS}@course\\"' in path.read_text(encoding="utf8")
        assert stale(path) == old[path.name]
    assert publish(ADDRESS, root=copy) == []  # without a branch, that one stays


@pytest.fixture
def command(monkeypatch):
    """Runs `press.colab.publish` with these arguments."""

    def run(*arguments: str) -> int:
        monkeypatch.setattr(sys, "argv", ["publish.py", *arguments])
        return main()

    return run


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["someone/somewhere"], "not of the form https://github.com/someone/somewhere"),
        ([ADDRESS, "--branch", 'a"b'], 'a"b is no name of a branch'),
    ],
)
def test_an_address_of_another_form_is_refused(command, arguments, message, capsys):
    with pytest.raises(SystemExit, match="2"):
        command(*arguments)
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(("on_github", "mark"), [("true", "::warning::"), (None, "")])
def test_a_check_compares_and_changes_nothing(command, monkeypatch, capsys, on_github, mark):
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    if on_github:
        monkeypatch.setenv("GITHUB_ACTIONS", on_github)
    before = (ROOT / "_config.yml").read_bytes()
    assert command("--check", ADDRESS, "--branch", "course") == 0
    said = capsys.readouterr().out
    assert said.startswith(f"{mark}The book's address is")
    assert f"make publish REPOSITORY={ADDRESS} BRANCH=course" in said
    assert (ROOT / "_config.yml").read_bytes() == before


# --- as in Colab


def test_the_repository_for_colab_takes_no_settings_of_the_user(tmp_path, monkeypatch):
    """Neither signatures nor hooks, and it has the branch that the first cell installs."""
    (tmp_path / "pre-commit").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "pre-commit").chmod(0o755)
    settings = f"[commit]\ngpgsign = true\n[gpg]\nprogram = false\n[core]\nhooksPath = {tmp_path}\n"
    (tmp_path / "gitconfig").write_text(settings)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    copy = as_in_colab.repository(tmp_path / "repository")
    command = ["git", "-C", copy, "log", "--format=%s", stamped(copy)["branch"], "--"]
    assert subprocess.run(command, capture_output=True, text=True).stdout == "book\n"


def test_without_a_registry_nothing_runs_as_in_colab_unless_it_must(monkeypatch, capsys):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", "")
    monkeypatch.setattr(sys, "argv", ["as_in_colab.py"])
    monkeypatch.setenv("ATTNMT_COLAB", "")
    assert as_in_colab.main() == 0
    assert "Skipped: pip reaches no package registry" in capsys.readouterr().out
    monkeypatch.setenv("ATTNMT_COLAB", "required")
    monkeypatch.setattr(as_in_colab, "repository", lambda folder: folder)  # tested above
    with pytest.raises(subprocess.CalledProcessError, match="pip"):
        as_in_colab.main()
