"""The picture that a link to a page shows where it is shared (Open Graph): title and a heat map."""

import textwrap
from pathlib import Path

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from press.cover import sample

FOLDER = "share"  # under _static
INCHES = (12, 6.3)  # 1,200 x 630 pixels, what Open Graph asks for
DPI = 100
BACK = "#10243f"
FRONT = "#ffffff"
QUIET = "#b9cbe3"
LETTERS = 16  # in a line of the title


def draw(title: str, number: str, book: str, path: Path) -> Path:
    """Draw the picture of a page: its title, and the alignment of the book's first page.

    Args:
        title: of the page.
        number: of the chapter; may be empty.
        book: the book's title.
        path: the PNG to write.
    """
    figure = Figure(figsize=INCHES, dpi=DPI, facecolor=BACK)
    FigureCanvasAgg(figure)
    lines = textwrap.wrap(title, LETTERS) or [""]
    size = min(46, 180 / len(lines))
    figure.text(0.06, 0.86, f"Chapter {number}" if number else "", color=QUIET, fontsize=24)
    figure.text(
        0.06, 0.52, "\n".join(lines), color=FRONT, fontsize=size, va="center", weight="bold"
    )
    figure.text(0.06, 0.1, "" if title == book else book, color=QUIET, fontsize=26)
    ax = figure.add_axes((0.62, 0.12, 0.34, 0.76))
    ax.imshow(np.asarray(sample().alignment), cmap="Blues", aspect="auto", vmin=0, vmax=1)
    ax.set_axis_off()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, facecolor=BACK, metadata={"Software": None})
    return path
