"""The template of a chapter: what is begun from it passes the tests that chapters must pass."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from press.contents import copy_tree

TEMPLATE = "book/_template.ipynb"
NEW = "book/10_new.ipynb"
TESTS = ["book/test_book.py", *(f"press/test_{name}.py" for name in ("publish", "student"))]


def run(*command: str, cwd: Path) -> str:
    """What a Python command says; it must succeed."""
    path = os.pathsep.join([str(cwd / "src"), str(cwd)])
    there = os.environ | {"PYTHONPATH": path}
    done = subprocess.run(
        [sys.executable, *command], cwd=cwd, env=there, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.nightly
def test_a_chapter_that_is_begun_from_the_template_passes_all_tests(tmp_path):
    """Copied, listed, executed, tested, built strictly, shown as slides, as CONTRIBUTING says."""
    copy = copy_tree(tmp_path / "book")
    (copy / TEMPLATE).rename(copy / NEW)
    toc = copy / "_toc.yml"
    listed = toc.read_text(encoding="utf8")
    after = "      - file: book/09_lookup\n"
    assert after in listed
    toc.write_text(listed.replace(after, f"{after}      - file: {NEW.removesuffix('.ipynb')}\n"))
    run("-m", "press.run.execute", "--in-place", NEW, cwd=copy)
    said = run("-m", "pytest", "-k", "10_new", *(f"tests/{name}" for name in TESTS), cwd=copy)
    assert " passed" in said

    toc.write_text(
        f"format: jb-book\nroot: {NEW.removesuffix('.ipynb')}\nchapters:\n- file: book/references\n"
    )
    build = "from jupyter_book.cli.main import main; main()"
    run("-c", build, "build", ".", "-W", "--keep-going", "-n", cwd=copy)
    assert (copy / "_build/html/slides/10_new.html").is_file()
