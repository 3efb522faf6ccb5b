"""Colours that mean the same in every figure: one for each system, and others for all else.

A system has one colour and one marker wherever it is drawn, on pages, slides and in live boxes.
What is no system, such as words, lengths or seeds, is slate and sand: :func:`.plots.theme` makes
these the colours of all axes.
"""

from collections.abc import Iterable
from typing import Any

from matplotlib.colors import to_hex, to_rgb

from attnmt.evidence.plan import TITLES

SYSTEMS = {  # by title, in the order of all figures
    "RNNencdec": "#d08300",
    "no attention": "#bd8378",
    "no attention, reversed": "#8c564b",
    "RNNsearch": "#0173b2",
    "location": "#d0469b",
    "dot": "#029e73",
    "scaled dot": "#7a7a00",
    "general": "#3f9fd4",
    "concat": "#008b9c",
    "dot, both directions": "#ab8a00",
    "local-m dot": "#55730d",
    "local-p dot": "#7d1d52",
    "local-m general": "#7b9a20",
    "local-p general": "#9683d9",
    "dot + feed": "#d55e00",
    "local-p general + feed": "#5b3fa0",
    "attention only": "#c0392b",
}
MARKERS = "osD^vPX*<>"
SHORT = {"linestyle": ":", "markerfacecolor": "white"}  # a live run, or another short one
OTHERS = ("#2b3440", "#a8874f", "#8591a0", "#6f5a36", "#5d6b7a")
GOLD = "#d55e00"  # known links
CENTRE = "#00936e"  # of a window


def system_of(label: str) -> str | None:
    """The title that a label begins with, as in "dot, live" or "dot (8)"; None if it has none."""
    label = TITLES.get(label, label)
    begun = (title for title in SYSTEMS if f"{label},".replace(" (", ",").startswith(f"{title},"))
    return max(begun, key=len, default=None)


def style_of(label: str) -> dict[str, Any]:
    """Colour and marker of a system; a short run is dotted and hollow, a beam's colour is darker.

    Args:
        label: a system's title or its name in the plan, alone or before ", live",
            ", short run", ", full run" and the search. Of another label the style is empty: it
            takes the next colour of the axes.
    """
    style: dict[str, Any] = {}
    title = system_of(label)
    rest = label.split(", ")
    if title:
        marker = MARKERS[list(SYSTEMS).index(title) % len(MARKERS)]
        darker = -0.4 if any(part.startswith("beam") for part in rest) else 0
        style = {"color": shade(title, darker), "marker": marker}
    return style | (SHORT if {"live", "short run"} & {*rest} else {})


def shade(label: str, by: float) -> str:
    """A system's colour, lighter (up to 1, white) or darker (down to -1, black)."""
    title = system_of(label)
    if title is None:
        raise ValueError(f"{label!r} begins with no system's title: see attnmt.book.TITLES")
    end = float(by > 0)
    return to_hex([(1 - abs(by)) * part + abs(by) * end for part in to_rgb(SYSTEMS[title])])


def in_order(labels: Iterable[str]) -> list[str]:
    """The labels in the order of all figures: system by system, a full run before a live one."""
    order = [*SYSTEMS, None]

    def place(label: str) -> tuple[int, bool]:
        title = system_of(label)
        return order.index(title), title is not None and "linestyle" in style_of(label)

    return sorted(labels, key=place)
