"""What executes the chapters and stamps them."""

import base64
import io
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


def test_chapters_are_executed_and_one_that_raises_is_left_as_it_was(tmp_path, monkeypatch, capsys):
    """The good one is stored, its sentence with its number, and without what it wrote to stderr."""
    says = "import sys\nfrom attnmt.book import write_numbers\n\nwrite_numbers(kept=f'{19}%')\n"
    good = notebook_of(
        "x = 1", f"{says}print(6, flush=True); print('note', file=sys.stderr); print(7)"
    )
    good.cells[0].source += "\n\nIt keeps <!--kept-->?<!--/--> of it."
    paths = [tmp_path / "good.ipynb", tmp_path / "raises.ipynb"]
    for notebook, path in zip((good, notebook_of("x = 1", "1 / 0")), paths):
        nbformat.write(notebook, path)
    before = paths[1].read_bytes()
    command = ["execute.py", "--in-place", "--jobs", "1", *map(str, paths)]
    monkeypatch.setattr(sys, "argv", command)
    assert execute.main() == 1
    told = capsys.readouterr().out
    assert "raises.ipynb: cell 4 failed" in told and "ZeroDivisionError" in told
    assert "good.ipynb wrote to stderr, cell 4: note" in told
    assert sorted(tmp_path.iterdir()) == paths
    assert paths[1].read_bytes() == before
    assert stale(paths[0]) is None
    good = nbformat.read(paths[0], as_version=4)
    assert [cell.get("execution_count") for cell in good.cells] == [None, 1, 2, 3]
    numbers, printed = good.cells[3].outputs
    assert (numbers.output_type, printed.text) == ("display_data", "6\n7\n")
    assert good.cells[0].source.endswith("It keeps <!--kept-->19%<!--/--> of it.")
    assert good.metadata.attnmt.cpu_seconds >= 0


@pytest.mark.parametrize(
    ("shown", "printed", "failure"),
    [
        ("It keeps <!--lost-->?<!--/-->.", "", "cell 1 shows lost, and no cell says it"),
        ("", Path.home() / "secret.txt", "cell 4 prints a path of this machine"),
        ("", ROOT / "book", "cell 4 prints a path of this machine"),
    ],
)
def test_what_ran_and_must_not_be_shown_is_not_stored(
    shown, printed, failure, tmp_path, monkeypatch
):
    """A number that no cell says, a folder of this machine."""
    notebook = notebook_of("x = 1", "print(place)")
    notebook.cells[0].source += shown
    nbformat.write(notebook, path := tmp_path / "chapter.ipynb")
    before = path.read_bytes()

    def ran(notebook, path):
        notebook.cells[3].outputs = [nbformat.v4.new_output("stream", text=str(printed))]

    monkeypatch.setattr(execute, "run", ran)
    assert execute.execute(path, for_others=True).failure.startswith(failure)
    assert path.read_bytes() == before


def test_what_the_book_shows_is_not_executed_at_another_size(monkeypatch, capsys):
    monkeypatch.setenv("ATTNMT_SIZE", "quick")
    monkeypatch.setattr(sys, "argv", ["execute.py", "--in-place"])
    with pytest.raises(SystemExit):
        execute.main()
    assert "ATTNMT_SIZE is 'quick'" in capsys.readouterr().err
