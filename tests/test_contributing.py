"""CONTRIBUTING.md is true: what it names is there, and the hooks' commands run."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from press.contents import ROOT

TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf8")
HOOKS = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf8"))["repos"][0]["hooks"]
PLACES = ("src/", "tests/", "book/", "studies/", "press/", "results/")


def test_the_files_that_it_names_are_there():
    named = {word for word in re.findall(r"`([\w./-]+)`", TEXT) if word.startswith(PLACES)}
    made_up = {word for word in named if re.search(r"(\b|_)name\b", word)}
    assert {name for name in named - made_up if not (ROOT / name).exists()} == set()


def test_its_targets_are_those_of_the_makefile():
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text("utf8"), re.MULTILINE))
    assert set(re.findall(r"`make ([a-z]+)", TEXT)) <= targets


def test_it_tells_the_commands_of_the_hooks():
    for hook in HOOKS:
        command = hook["entry"].removesuffix(" --force-exclude")
        assert f"\n{command} " in TEXT


@pytest.mark.parametrize("hook", HOOKS, ids=lambda hook: hook["id"])
def test_a_hook_passes_what_is_good_and_refuses_what_is_not(hook, tmp_path):
    """With a notebook that is stale, large, badly written and badly formatted at once."""
    assert hook["language"] == "system"  # nothing is downloaded
    command = shlex.split(hook["entry"])
    command[0] = str(Path(sys.executable).parent / Path(command[0]).name)
    bad = tmp_path / "bad.ipynb"
    source = "import os\\nx = 'a'" + " " * 10**6
    cell = f'{{"cell_type": "code", "id": "a", "metadata": {{}}, "source": "{source}"'
    cell += ', "outputs": [], "execution_count": null}'
    bad.write_text(f'{{"cells": [{cell}], "metadata": {{}}, "nbformat": 4, "nbformat_minor": 5}}')
    refused = subprocess.run([*command, bad], cwd=ROOT, capture_output=True, text=True)
    assert refused.returncode == 1, refused.stdout + refused.stderr
    assert "bad.ipynb" in refused.stdout + refused.stderr
    good = [ROOT / "studies" / "study.py"] if "ruff" in hook["id"] else []
    passed = subprocess.run([*command, *good], cwd=ROOT, capture_output=True, text=True)
    assert passed.returncode == 0, passed.stdout + passed.stderr
