"""What executes the chapters and stamps them."""

import base64
import io
import subprocess
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import nbformat
import numpy as np
import pytest
from PIL import Image

from press.contents import ROOT
from press.run import execute
from press.run.outputs import shrink
from press.run.stamps import stale, stamp


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
    file = io.BytesIO()
    figure.savefig(file, format="png")
    plt.close(figure)
    before = base64.b64encode(file.getvalue()).decode()
    after = shrink(before)
    assert len(after) < 0.8 * len(before)
    pictures = (Image.open(io.BytesIO(base64.b64decode(png))) for png in (before, after))
    one, other = (np.asarray(picture.convert("RGB")).astype(int) for picture in pictures)
    assert np.abs(one - other).max() < 32 and np.abs(one - other).mean() < 1


@pytest.mark.slow
def test_chapters_are_executed_and_failures_change_nothing(tmp_path):
    """One good chapter is stored, its sentence with its number; others are not: one that raises,
    one that prints its folder, and one with a number that no cell says."""
    path_printed = f"print({str(Path.home() / 'secret.txt')!r})"
    says = "from attnmt.book import write_numbers\n\nwrite_numbers(kept=f'{19}%')\nimport sys\n"
    sources = {
        "good": f"{says}print(6, flush=True); print('note', file=sys.stderr); print(7)",
        "raises": "1 / 0",
        "tells": path_printed,
        "lost": "x",
    }
    for name, source in sources.items():
        notebook = notebook_of("x = 1", source)
        if name in ("good", "lost"):
            notebook.cells[0].source += "\n\nIt keeps <!--kept-->?<!--/--> of it."
        nbformat.write(notebook, tmp_path / f"{name}.ipynb")
    before = {name: (tmp_path / f"{name}.ipynb").read_bytes() for name in sources}
    command = [sys.executable, "-m", "press.run.execute", "--in-place"]
    paths = [tmp_path / f"{name}.ipynb" for name in sources]
    done = subprocess.run([*command, *paths], cwd=ROOT, capture_output=True, text=True)

    assert done.returncode == 1
    assert "raises.ipynb: cell 4 failed" in done.stdout
    assert "ZeroDivisionError" in done.stdout
    assert "tells.ipynb: cell 4 prints a path of this machine" in done.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(path.name for path in paths)
    assert "lost.ipynb: cell 1 shows kept, and no cell says it" in done.stdout
    for name in ("raises", "tells", "lost"):
        assert (tmp_path / f"{name}.ipynb").read_bytes() == before[name]
    good = nbformat.read(tmp_path / "good.ipynb", as_version=4)
    assert [cell.get("execution_count") for cell in good.cells] == [None, 1, 2, 3]
    numbers, printed = good.cells[3].outputs
    assert (numbers.output_type, printed.text) == ("display_data", "6\n7\n")
    assert good.cells[0].source.endswith("It keeps <!--kept-->19%<!--/--> of it.")
    assert "good.ipynb wrote to stderr, cell 4: note" in done.stdout
    assert stale(tmp_path / "good.ipynb") is None
    assert good.metadata.attnmt.cpu_seconds >= 0


def test_what_the_book_shows_is_not_executed_at_another_size(monkeypatch, capsys):
    monkeypatch.setenv("ATTNMT_SIZE", "quick")
    monkeypatch.setattr(sys, "argv", ["execute.py", "--in-place"])
    with pytest.raises(SystemExit):
        execute.main()
    assert "ATTNMT_SIZE is 'quick'" in capsys.readouterr().err
