"""A copy of the book's pages whose knobs stand at "quick", to see that their code runs.

    python -m press.run.quick _build/quick

What the book shows is executed at its own size by `press.run.execute`, and its stamps prove it.
"""

import shutil
import sys
from pathlib import Path

from press.contents import ROOT

KNOB, QUICK = (f'SIZES[\\"{size}\\"]' for size in ("chapter", "quick"))  # as JSON has them


def copy_quick(target: Path, root: Path = ROOT) -> list[Path]:
    """Copy the folder `book` into `target`; returns the notebooks whose knob was turned."""
    book = target / "book"
    shutil.rmtree(book, ignore_errors=True)
    shutil.copytree(root / "book", book)
    turned = []
    for path in sorted(book.glob("*.ipynb")):
        text = path.read_text(encoding="utf8")
        if KNOB in text:
            path.write_text(text.replace(KNOB, QUICK), encoding="utf8")
            turned.append(path)
    return turned


if __name__ == "__main__":
    print(f"{len(copy_quick(Path(sys.argv[1])))} knobs stand at quick")
