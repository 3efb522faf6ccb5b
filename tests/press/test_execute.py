"""What executes the chapters and stamps them, and the strict build that guards the book."""

import base64
import io
import re
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import matplotlib.pyplot as plt
import nbformat
import numpy as np
import pytest
from PIL import Image

from press.colab.cell import stamp_config
from press.contents import ROOT, copy_tree
from press.run import execute
from press.run.outputs import shrink
from press.run.stamps import stale, stamp


def read(path: Path) -> nbformat.NotebookNode:
    return nbformat.read(path, as_version=4)


# --- the tool that executes


def notebook_of(*sources: str, executed: bool = False) -> nbformat.NotebookNode:
    """A notebook of code cells; `executed` gives each the stamp and count of one that ran."""
    new = nbformat.v4
    cells = [new.new_markdown_cell("# A chapter"), *map(new.new_code_cell, sources)]
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    notebook = new.new_notebook(cells=cells, metadata=metadata)
    notebook.metadata.language_info = {"name": "python", "pygments_lexer": "ipython3"}
    if executed:
        for count, cell in enumerate(cells[1:], 1):
            cell.execution_count = count
            cell.outputs = [new.new_output("stream", name="stdout", text="2\n")]
        notebook.metadata.attnmt = stamp(notebook)
    return notebook


def test_stale_says_why(tmp_path):
    path = tmp_path / "chapter.ipynb"
    notebook = notebook_of("print(1 + 1)", executed=True)
    nbformat.write(notebook, path)
    assert stale(path) is None
    notebook.metadata.attnmt.package = "0" * 64
    nbformat.write(notebook, path)
    assert "a module that it imports changed" in stale(path)
    notebook.metadata.attnmt = stamp(notebook) | {"pins": {"torch": "1.0"}}
    nbformat.write(notebook, path)
    assert "torch was 1.0, and is unpinned in requirements.txt" in stale(path)
    notebook.metadata.attnmt = stamp(notebook) | {"size": "quick"}
    nbformat.write(notebook, path)
    assert "with its knob at quick" in stale(path)
    notebook.cells[1].source = "print(1 + 2)"
    nbformat.write(notebook, path)
    assert "code changed" in stale(path)
    del notebook.metadata["attnmt"]
    nbformat.write(notebook, path)
    assert "never executed" in stale(path)


def test_pictures_are_stored_small_and_look_the_same():
    figure, ax = plt.subplots()
    ax.imshow(np.random.default_rng(0).random((9, 9)), cmap="Blues")
    ax.set_title("a picture")
    file = io.BytesIO()
    figure.savefig(file, format="png")
    plt.close(figure)
    before = base64.b64encode(file.getvalue()).decode()
    after = shrink(before)
    assert len(after) < 0.8 * len(before)
    one, other = (
        np.asarray(Image.open(io.BytesIO(base64.b64decode(png))).convert("RGB")).astype(int)
        for png in (before, after)
    )
    assert np.abs(one - other).max() < 32
    assert np.abs(one - other).mean() < 1


@pytest.mark.slow
def test_chapters_are_executed_and_failures_change_nothing(tmp_path):
    """One good chapter is stored; one that raises and one that prints its folder are not."""
    path_printed = f"print({str(Path.home() / 'secret.txt')!r})"
    sources = {
        "good": "import sys; print(6, flush=True); print('note', file=sys.stderr); print(7)",
        "raises": "1 / 0",
        "tells": path_printed,
    }
    for name, source in sources.items():
        nbformat.write(notebook_of("x = 1", source), tmp_path / f"{name}.ipynb")
    before = {name: (tmp_path / f"{name}.ipynb").read_bytes() for name in sources}
    command = [sys.executable, "-m", "press.run.execute", "--in-place"]
    paths = [tmp_path / f"{name}.ipynb" for name in sources]
    done = subprocess.run([*command, *paths], cwd=ROOT, capture_output=True, text=True)

    assert done.returncode == 1
    assert "raises.ipynb: cell 4 failed" in done.stdout
    assert "ZeroDivisionError" in done.stdout
    assert "tells.ipynb: cell 4 prints a path of this machine" in done.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(path.name for path in paths)
    for name in ("raises", "tells"):
        assert (tmp_path / f"{name}.ipynb").read_bytes() == before[name]
    good = read(tmp_path / "good.ipynb")
    assert [cell.get("execution_count") for cell in good.cells] == [None, 1, 2, 3]
    assert [(one.name, one.text) for one in good.cells[3].outputs] == [("stdout", "6\n7\n")]
    assert "good.ipynb wrote to stderr, cell 4: note" in done.stdout
    assert stale(tmp_path / "good.ipynb") is None
    assert good.metadata.attnmt.cpu_seconds >= 0


def test_only_what_is_stale_is_executed_where_that_is_asked_for(tmp_path, monkeypatch, capsys):
    fresh, changed = tmp_path / "fresh.ipynb", tmp_path / "changed.ipynb"
    nbformat.write(notebook_of("print(6 * 7)", executed=True), fresh)
    nbformat.write(edited(notebook_of("print(6 * 7)", executed=True)), changed)
    executed = []

    def failing(path, for_others):
        executed.append(path)
        return execute.Outcome(path.name, 0, 0, failure="it failed", said=[])

    monkeypatch.setattr(execute, "execute", failing)
    pool = SimpleNamespace(map=map)
    monkeypatch.setattr(execute, "ProcessPoolExecutor", lambda *_, **__: nullcontext(pool))
    command = ["execute.py", "--in-place", str(fresh), str(changed)]
    monkeypatch.setattr(sys, "argv", command)
    assert execute.main() == 1
    assert executed == [fresh, changed]
    capsys.readouterr()
    monkeypatch.setattr(sys, "argv", [*command, "--stale"])
    assert execute.main() == 1
    assert executed[2:] == [changed]
    said = capsys.readouterr().out
    assert "1 of 2 chapters are as stored" in said
    assert "changed.ipynb: its code changed after it was executed" in said
    assert "fresh.ipynb" not in said


def test_what_the_book_shows_is_not_executed_at_another_size(monkeypatch, capsys):
    monkeypatch.setenv("ATTNMT_SIZE", "quick")
    monkeypatch.setattr(sys, "argv", ["execute.py", "--in-place"])
    with pytest.raises(SystemExit):
        execute.main()
    assert "ATTNMT_SIZE is 'quick'" in capsys.readouterr().err


# --- the strict build


PAGE = """# A book

See {{ref}}`{ref}`, {cite} and {code}.

(a-label)=
## A section

```{{bibliography}}
```
"""


ADDRESS = "https://github.com/someone/somewhere"


def strict_build(folder: Path, page: str, notebook: nbformat.NotebookNode) -> tuple[int, str]:
    """Build a book of one page and one chapter, with this project's configuration and an address.

    Pages of a book without an address are looked at in the browser.
    """
    copy = copy_tree(folder)
    config = copy / "_config.yml"
    config.write_text(stamp_config(config.read_text(encoding="utf8"), ADDRESS, "main"))
    (copy / "_toc.yml").write_text(
        "format: jb-book\nroot: book/index\nchapters:\n- file: book/tiny\n"
    )
    (copy / "book" / "index.md").write_text(page)
    nbformat.write(notebook, copy / "book" / "tiny.ipynb")
    command = [sys.executable, "-c", "from jupyter_book.cli.main import main; main()", "build", "."]
    command += ["-W", "--keep-going", "-n"]
    done = subprocess.run(command, cwd=copy, capture_output=True, text=True)
    assert (copy / "_build/html/book/tiny.html").is_file(), done.stdout + done.stderr
    return done.returncode, done.stdout + done.stderr


def edited(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    notebook.cells[1].source = "print(1 / 0)"
    return notebook


@pytest.mark.slow
def test_strict_build_passes_and_fails_as_it_should(tmp_path):
    good = PAGE.format(ref="a-label", cite="{cite:t}`bahdanau2015`", code="`code`")
    wrong = {"ref": "no-label", "cite": "{cite:t}`nobody1900`", "code": "{py:func}`attnmt.no_name`"}
    notebook = notebook_of("print(1 + 1)", executed=True)
    code, log = strict_build(tmp_path / "good", good, notebook)
    assert code == 0, log
    html = (tmp_path / "good/_build/html/book/tiny.html").read_text(encoding="utf8")
    links = re.findall(r'<a href="([^"]*)"[^>]*class="btn[^"]*"', html)
    place = "someone/somewhere/blob/main/book/tiny.ipynb"
    assert f"https://colab.research.google.com/github/{place}" in html
    assert f"{ADDRESS}/edit/main/book/tiny.ipynb" in links
    code, log = strict_build(tmp_path / "broken", PAGE.format(**wrong), edited(notebook))
    assert code != 0
    warnings = "\n".join(line for line in log.splitlines() if "WARNING" in line)
    for told in ("no-label", "nobody1900", "attnmt.no_name", "its code changed after it was exec"):
        assert told in warnings
