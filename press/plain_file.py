"""The code of *A whole translator on one page* as a plain Python file to download.

`python -m press.plain_file` writes `book/one_page.py`: the code cells of the notebook, one after
the other, each section under its heading. Cells that readers do not see are left out.
"""

import re
from pathlib import Path

import nbformat

from press.contents import ROOT

NOTEBOOK = ROOT / "book" / "one_page.ipynb"
HEADING = re.compile(r"(?m)^##? (.+)$")


def plain(notebook: nbformat.NotebookNode) -> str:
    """The text of the file."""
    parts, heading = [], ""
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            titles = HEADING.findall(cell.source)
            heading = f"# {titles[-1]}\n" if titles else heading
        elif "remove-cell" not in cell.metadata.get("tags", []):
            parts.append(heading + cell.source)
            heading = ""
    return "\n\n\n".join(parts) + "\n"


def plain_file(path: Path) -> Path:
    """Where a notebook's plain file is stored."""
    return path.with_suffix(".py")


if __name__ == "__main__":
    text = plain(nbformat.read(NOTEBOOK, as_version=4))
    plain_file(NOTEBOOK).write_text(text, encoding="utf8")
