"""Write the student edition: the book without its solutions, mechanisms left blank.

    python -m press.editions.student                  into _build/student
    python -m press.editions.student --into DIR

The edition is a tree that stands alone: it can be installed, run and built like the book. What is
taken out: every solution, the outputs of the cells that check an answer, the page for lecturers,
the tests, what git does not track, and the book's address, from which Colab would open chapters
that have solutions.
"""

import argparse
import re
import shutil
import sys
from pathlib import Path

import nbformat

from press.colab.cell import put_cell, stamp_config
from press.contents import ROOT, chapters, renew, untracked
from press.editions.mechanisms import (
    BLANK,
    MECHANISM,
    Misplaced,
    blank,
    mechanisms,
    tagged,
    without_solutions,
)
from press.run.outputs import write
from press.run.stamps import TO_WRITE, stale, stamp

LEFT_OUT = (
    "tests",
    "press/editions/student.py",
    "press/editions/autograder",
    "press/editions/catalogue.py",
    "press/editions/korean.py",
    "locale",
    "book/for_lecturers.md",
    "book/_template.ipynb",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "CODE_OF_CONDUCT.md",
    ".github/ISSUE_TEMPLATE",
    ".pre-commit-config.yaml",
)

BELOW = "# ------------------------------------------------------- what the student edition"
PAGES = Path(__file__).parent / "student_pages"  # stand in place of the book's
PLACES = {"README.md": ".", "exercises.md": "book", "for_lecturers.md": "book"}


def student_chapter(notebook: nbformat.NotebookNode, chapter: str) -> nbformat.NotebookNode:
    """The chapter without solutions; its mechanisms are blank, and have no outputs."""
    notebook = without_solutions(notebook, chapter)
    for cell in notebook.cells:
        if tagged(cell, MECHANISM):
            cell.source = blank(cell.source, chapter)
            cell.metadata.tags.append(TO_WRITE)
    return notebook


def without_solution_blocks(page: str) -> str:
    """A Markdown page without its solutions, which are one block each: ``:::{solution} label``."""
    return re.sub(r"^:::\{solution\}.*?^:::\n+", "", page, flags=re.DOTALL | re.MULTILINE)


# What lecturers and maintainers read on pages that students read, too: sections, and words.
SECTIONS = (
    ("how_to.md", "Teach"),
    ("troubleshooting.md", "Tests that fail"),
    ("publish.md", "The next version of the book"),
    ("publish.md", "A release"),
)
WORDS = (
    ("index.md", " If you teach, begin with {doc}`for_lecturers`.", ""),
    ("index.md", "\nTo ask or cite: `README.md`.", ""),
    ("publish.md", " `make colab` runs a chapter in a new environment made like Colab's.", ""),
    ("how_to.md", "# How to read, run and teach this book", "# How to read and run this book"),
)


def for_students(name: str, page: str) -> str:
    """A Markdown page without its solutions, and without what it says to others than students.

    A row of a table that leads to the page for lecturers goes, and a paragraph on `make test`.
    """
    page = without_solution_blocks(page)
    for file, title in SECTIONS:
        if file == name:
            page = re.sub(rf"(?ms)^## {title}$.*?(?=^## |\Z)", "", page)
    for file, words, others in WORDS:
        if file == name:
            page = page.replace(words, others)
    page = re.sub(r"(?m)^\|.*\{doc\}`for_lecturers`.*\|\n", "", page)
    return re.sub(r"(?m)^.*`make test`.*\n(?:.+\n)*\n", "", page)


def is_edition(folder: Path) -> bool:
    name = "for_lecturers.md"
    page = folder / "book" / name
    return page.is_file() and page.read_bytes() == (PAGES / name).read_bytes()


def make_edition(target: Path, root: Path = ROOT) -> list[Path]:
    """Write the edition of the book in `root`; returns its chapters. An old one is replaced."""
    edited = {}
    for path in chapters(root):  # all are read before anything is written
        notebook = nbformat.read(path, as_version=4)
        true = stale(path) is None
        notebook = student_chapter(notebook, path.stem)
        put_cell(notebook, "")
        if true:  # the outputs that stay are still those of the code beside them
            notebook.metadata.attnmt.update(stamp(notebook))
        edited[path.relative_to(root)] = notebook
    renew(target, root, ours=is_edition(target), besides=untracked(root))
    for name in LEFT_OUT:
        place = target / name
        shutil.rmtree(place) if place.is_dir() else place.unlink(missing_ok=True)
    for name, folder in PLACES.items():
        shutil.copyfile(PAGES / name, target / folder / name)
    for page in (target / "book").glob("*.md"):
        text = for_students(page.name, page.read_text(encoding="utf8"))
        page.write_text(text, encoding="utf8", newline="\n")
    makefile = (target / "Makefile").read_text(encoding="utf8")
    (target / "Makefile").write_text(makefile.partition(BELOW)[0], encoding="utf8", newline="\n")
    config = target / "_config.yml"
    stamped = stamp_config(config.read_text(encoding="utf8"), "", "main")
    config.write_text(stamped, encoding="utf8", newline="\n")
    for name, notebook in edited.items():
        write(notebook, target / name)
    return [target / name for name in edited]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--into", type=Path, default=ROOT / "_build" / "student", metavar="DIR")
    target = parser.parse_args().into.resolve()
    try:
        paths = make_edition(target)
    except (Misplaced, OSError) as error:
        parser.error(str(error))
    blanks = sum(path.read_text(encoding="utf8").count(BLANK.replace('"', '\\"')) for path in paths)
    print(f"{len(paths)} notebooks without solutions, {blanks} mechanisms to write: {target}")
    for path in paths:
        found = mechanisms(nbformat.read(path, as_version=4), path.stem)
        print(f"{path.name}: {', '.join(f'{one.name} ({one.label})' for one in found) or 'none'}")
    others = [path.relative_to(ROOT) for path in untracked(ROOT, "--exclude-standard")]
    if names := sorted(path.as_posix() for path in others if not (target / path).exists()):
        print(f"Left out, for git does not track it: {', '.join(names)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
