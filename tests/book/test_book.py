"""The book as it is stored, the tool that stores it, and the strict build that guards it."""

import base64
import contextlib
import gzip
import io
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import matplotlib.pyplot as plt
import nbformat
import numpy as np
import pytest
from PIL import Image

from press.contents import ROOT, chapters
from press.outputs import output_texts, shrink
from press.stamps import code_hash, package_hash, stale
from press.tree import copy_tree

BOOK = chapters()
each_chapter = pytest.mark.parametrize("path", BOOK, ids=lambda path: path.stem)
each_notebook = pytest.mark.parametrize(
    "path", sorted((ROOT / "book").glob("*.ipynb")), ids=lambda path: path.stem
)


def read(path: Path) -> nbformat.NotebookNode:
    return nbformat.read(path, as_version=4)


def code_cells(path: Path) -> list[nbformat.NotebookNode]:
    return [cell for cell in read(path).cells if cell.cell_type == "code" and cell.source.strip()]


def is_marked(cell: nbformat.NotebookNode) -> bool:
    tags = cell.metadata.get("tags", [])
    return "nbval-check-output" in tags or "NBVAL_CHECK_OUTPUT" in cell.source


# --- what is stored


def test_the_book_has_chapters():
    assert BOOK


@each_notebook
def test_notebook_is_valid_and_small(path):
    nbformat.validate(read(path))
    assert path.stat().st_size < 1_000_000
    assert path in BOOK, f"{path.name} is not in _toc.yml"


@each_chapter
def test_notebook_was_run_from_top_to_bottom(path):
    counts = [cell.execution_count for cell in code_cells(path)]
    assert counts == list(range(1, len(counts) + 1))
    kinds = [output.output_type for cell in code_cells(path) for output in cell.outputs]
    assert "error" not in kinds


@each_chapter
def test_outputs_are_those_of_the_code(path):
    assert stale(path) is None


@each_chapter
def test_outputs_name_no_folder_of_a_machine(path):
    places = re.compile(r"(?<![\w.])/(home|root|tmp|work|Users)/|\b[A-Z]:\\(Users|\w+\\)")
    for cell in code_cells(path):
        for text in output_texts(cell):
            assert not places.search(text), text[:500]


@each_chapter
def test_marked_cells_compare_something(path):
    """nbval compares nothing, and passes, where a marked cell has no count or no output."""
    marked = [cell for cell in code_cells(path) if is_marked(cell)]
    assert len(marked) >= 5
    for cell in marked:
        assert cell.execution_count is not None
        assert cell.outputs, cell.source


@each_chapter
def test_pictures_have_a_text_alternative(path):
    for cell in code_cells(path):
        kinds = {kind for output in cell.outputs for kind in output.get("data", {})}
        if kinds & {"image/png", "image/jpeg", "image/svg+xml"}:
            alt = cell.metadata.get("mystnb", {}).get("image", {}).get("alt", "")
            assert len(alt) > 15, f"no mystnb.image.alt in the metadata of:\n{cell.source}"
        for text in output_texts(cell):
            for tag in re.findall(r"<img\b[^>]*>", text):
                assert re.search(r'\balt="[^"]+"', tag), cell.source
            if "<svg" in text:
                assert "<title" in text or "aria-label=" in text, cell.source


# --- Multi30k's sentences stay out


def repository_files() -> list[Path]:
    """The files that git tracks or would; without git, those of the folders that hold text."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    with contextlib.suppress(OSError, subprocess.CalledProcessError):
        names = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True).stdout
        return [ROOT / name for name in names.splitlines() if (ROOT / name).is_file()]
    folders = ("book", "src", "tests", "results", "press", "studies")
    return [path for name in folders for path in (ROOT / name).rglob("*") if path.is_file()]


def strings(node: object) -> list[str]:
    """All strings in a JSON value, so that escapes and line breaks cannot hide a sentence."""
    if isinstance(node, str):
        return [node]
    if isinstance(node, dict):
        node = list(node.values())
    return [text for item in node for text in strings(item)] if isinstance(node, list) else []


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def occurs(text: str, sentences: dict[tuple[str, ...], list[list[str]]], first: int) -> list[str]:
    """The sentences whose words stand in the text one after the other, whatever is between them."""
    found, stream = [], words(text)
    for start in range(len(stream) - first + 1):
        for sentence in sentences.get(tuple(stream[start : start + first]), ()):
            if stream[start : start + len(sentence)] == sentence:
                found.append(" ".join(sentence))
    return found


def test_occurrences_are_found():
    sentences = {("a", "b"): [["a", "b", "c"]]}
    assert occurs("x\nA b, \n['c']", sentences, first=2) == ["a b c"]
    assert occurs("a b d", sentences, first=2) == []


def test_nothing_stored_holds_a_sentence_of_multi30k():
    folder = Path(os.environ.get("ATTNMT_DATA", "~/.cache/attnmt")).expanduser() / "multi30k"
    files = sorted(folder.glob("*.gz"))
    if not files:
        pytest.skip("Multi30k is not on this machine")
    sentences: dict[tuple[str, ...], list[list[str]]] = {}
    for path in files:
        for line in gzip.decompress(path.read_bytes()).decode("utf8").splitlines():
            if len(sentence := words(line)) >= 6:
                sentences.setdefault(tuple(sentence[:6]), []).append(sentence)
    assert len(sentences) > 1_000
    for path in repository_files():
        try:
            text = path.read_text(encoding="utf8")
        except UnicodeDecodeError:
            continue
        if path.suffix in {".ipynb", ".json"}:
            text = "\n".join(strings(json.loads(text)))
        assert not occurs(text, sentences, first=6), path


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
        notebook.metadata.attnmt = {"code": code_hash(notebook), "package": package_hash()}
    return notebook


def test_stale_says_why(tmp_path):
    path = tmp_path / "chapter.ipynb"
    notebook = notebook_of("print(1 + 1)", executed=True)
    nbformat.write(notebook, path)
    assert stale(path) is None
    notebook.metadata.attnmt.package = "0" * 64
    nbformat.write(notebook, path)
    assert "package changed" in stale(path)
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


def test_package_hash_sees_names_and_bytes(tmp_path):
    (tmp_path / "a.py").write_text("1")
    first = package_hash(tmp_path)
    (tmp_path / "notes.txt").write_text("not code")
    assert package_hash(tmp_path) == first
    (tmp_path / "a.py").write_text("2")
    second = package_hash(tmp_path)
    (tmp_path / "a.py").rename(tmp_path / "b.py")
    assert len({first, second, package_hash(tmp_path)}) == 3


@pytest.mark.slow
def test_chapters_are_executed_and_failures_change_nothing(tmp_path):
    """One good chapter is stored; one that raises and one that prints its folder are not."""
    path_printed = f"print({str(Path.home() / 'secret.txt')!r})"
    sources = {
        "good": "import sys; print(6 * 7); print('note', file=sys.stderr)",
        "raises": "1 / 0",
        "tells": path_printed,
    }
    for name, source in sources.items():
        nbformat.write(notebook_of("x = 1", source), tmp_path / f"{name}.ipynb")
    before = {name: (tmp_path / f"{name}.ipynb").read_bytes() for name in sources}
    command = [sys.executable, "-m", "press.execute", "--in-place"]
    paths = [tmp_path / f"{name}.ipynb" for name in sources]
    done = subprocess.run([*command, *paths], capture_output=True, text=True)

    assert done.returncode == 1
    assert "raises.ipynb: cell 4 failed" in done.stdout
    assert "ZeroDivisionError" in done.stdout
    assert "tells.ipynb: cell 4 prints a path of this machine" in done.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(path.name for path in paths)
    for name in ("raises", "tells"):
        assert (tmp_path / f"{name}.ipynb").read_bytes() == before[name]
    good = read(tmp_path / "good.ipynb")
    assert [cell.get("execution_count") for cell in good.cells] == [None, 1, 2, 3]
    assert [output.get("name") for output in good.cells[3].outputs] == ["stdout"]
    assert "good.ipynb wrote to stderr, cell 4: note" in done.stdout
    assert stale(tmp_path / "good.ipynb") is None
    assert good.metadata.attnmt.cpu_seconds >= 0


# --- the strict build


PAGE = """# A book

See {{ref}}`a-label`, {cite} and {code}.

(a-label)=
## A section

```{{bibliography}}
```
"""


def strict_build(folder: Path, page: str, notebook: nbformat.NotebookNode) -> tuple[int, str]:
    """Build a book of one page and one chapter, with this project's configuration."""
    copy = copy_tree(folder)
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
    good_page = PAGE.format(cite="{cite:t}`bahdanau2015`", code="`code`")
    broken = {
        "reference": (good_page.replace("`a-label`", "`no-label`"), "no-label"),
        "citation": (good_page.replace("bahdanau2015", "nobody1900"), "nobody1900"),
        "code": (good_page.replace("`code`", "{py:func}`attnmt.no_name`"), "attnmt.no_name"),
    }

    def build(name: str) -> tuple[int, str]:
        page = broken.get(name, (good_page,))[0]
        notebook = notebook_of("print(1 + 1)", executed=True)
        return strict_build(tmp_path / name, page, edited(notebook) if name == "cell" else notebook)

    names = ["good", "cell", *broken]
    with ThreadPoolExecutor(2) as pool:
        results = dict(zip(names, pool.map(build, names), strict=True))

    code, log = results.pop("good")
    assert code == 0, log
    code, log = results.pop("cell")
    assert code != 0
    assert "its code changed after it was executed" in log
    for name, (code, log) in results.items():
        assert code != 0, f"a broken {name} passed"
        assert broken[name][1] in log
