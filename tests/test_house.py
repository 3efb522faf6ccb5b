"""The house rules: who may import whom, and commands that pages name."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from press.contents import copy_tree

ROOT = Path(__file__).resolve().parents[1]


def lint_imports(folder: Path) -> subprocess.CompletedProcess:
    command = "import sys; sys.path[:0] = ['.', 'src']; import importlinter.cli as c; "
    command += "sys.exit(c.lint_imports(no_cache=True))"
    return subprocess.run(
        [sys.executable, "-c", command], cwd=folder, capture_output=True, text=True
    )


def test_imports_run_one_way():
    done = lint_imports(ROOT)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("src/attnmt/vocab.py", "from attnmt.model import Translator"),
        ("src/attnmt/metrics.py", "import attnmt.evidence.store"),
        ("src/attnmt/grammar/__init__.py", "import attnmt.vocab"),
        ("src/attnmt/evidence/store.py", "import studies.study"),
        ("press/editions/slides.py", "import studies.study"),
        ("src/attnmt/new.py", '"""A module without a place in the order."""'),
    ],
)
def test_an_import_the_other_way_is_refused(tmp_path, file, line):
    others = [path for path in ROOT.iterdir() if path.name not in ("src", "press", "studies")]
    copy_tree(tmp_path, besides=[path for path in others if path.name != "pyproject.toml"])
    with (tmp_path / file).open("a", encoding="utf8") as changed:
        changed.write(f"\n{line}\n")
    done = lint_imports(tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    assert Path(file).stem.replace("__init__", "attnmt.grammar") in done.stdout


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "book/for_lecturers.md"])
def test_commands_that_a_page_names_are_targets(page):
    makefile = (ROOT / "Makefile").read_text(encoding="utf8")
    targets = set(re.findall(r"^(\w+):", makefile, flags=re.MULTILINE))
    commands = set(re.findall(r"`make ([a-z]+)", (ROOT / page).read_text(encoding="utf8")))
    assert commands and commands <= targets
