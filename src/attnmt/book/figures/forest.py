"""Forest plots: the papers' differences and ours on one axis, a claim in each row.

A row has the claim in words, the paper's own difference as a diamond, and ours as a point with the
interval that decides. Differences are counted in the claim's direction, so that what supports a
paper lies to the right of zero. A band shows the margin within which systems count as equal::

    forest([row for row in judge() if row.claim.group == "Luong, Table 4"])

:func:`twice` draws what two sets of runs say of the same claims. A notebook stores either figure
also as it fits a phone, with the words of a row above its interval.
"""

import base64
import io
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from attnmt.evidence.claims import NO_VERDICT, NOT_RUN, WAITING, Row, digits

UNITS = {
    "bleu": "difference in BLEU",
    "aer": "difference in alignment error rate",
    "nats": "difference in log perplexity (nats per token)",
    "share": "difference in the share of BLEU that is kept",
    "length": "difference in words written per word of the reference",
    "monotone": "difference in the share of steps that do not go back",
    "entropy": "difference in entropy (bits)",
    "cpu_seconds": "difference in CPU-seconds",
}
COLOURS = {
    "agrees": "#00795a",
    "opposite": "#b8400a",
    "no difference": "#0072b2",
    "undecided": "#444444",
    NO_VERDICT: "#444444",
    WAITING: "#707070",
    NOT_RUN: "#707070",
}
EARLIER = "#8a8a8a"
PAPER = "#e69f00"
MARGIN = "#e2e2e2"
NARROW = "application/vnd.attnmt.narrow+png"  # the picture for a phone, in a notebook's output
HEIGHT = 0.45  # inches of a row
PANEL = 0.75  # and of a panel's axis
WIDTH = 9
APART = 0.4  # rows between two intervals of a claim
PHONE = 4.4  # inches, where words stand above: a phone shows nearly all of their size
PHONE_DPI = 150
LINE = 0.2  # inches of a line of such words
GAP = 0.5  # lines between a row and the next
FULL_SCALE = 20  # differences beyond are drawn on a scale that is squeezed ...
LINEAR = 10  # ... from here on
TICKS = (-60, -20, -5, 0, 5, 20, 60)
LABEL = 46  # characters of a line of a claim
BESIDE = 36  # and of the words beside it
ABOVE = 52  # and of either on a phone


def direction(row: Row) -> int:
    """1, or -1 where the claim expects a difference below 0."""
    return -1 if row.claim.expected == "below" else 1


def ours(row: Row) -> tuple[float, float, float] | None:
    """Our difference and the ends of its interval, in the claim's direction."""
    if row.decision is None:
        return None
    sign = direction(row)
    low, high = sorted((sign * row.decision.low, sign * row.decision.high))
    return sign * row.decision.difference, low, high


def theirs(row: Row) -> float | None:
    """The paper's own difference, in the claim's direction."""
    found = row.claim.their_difference
    return None if found is None else direction(row) * found


def said(row: Row) -> str:
    """What stands beside a row: our numbers with the verdict, or why there is none."""
    if (found := ours(row)) is None:
        return textwrap.shorten(f"{row.verdict}: {row.missing}", 3 * BESIDE, placeholder=" ...")
    middle, low, high = (f"{x:+.{digits(row.claim)}f}".replace("-", "−") for x in found)
    kind = "question" if row.claim.kind == "Q" else f"kind {row.claim.kind}: {row.verdict}"
    return f"{middle} ({low} to {high})\n{kind}"


def _short(row: Row) -> str:
    """The verdict alone, or a question's numbers."""
    return row.verdict if row.claim.judged else said(row).partition("\n")[0]


def label(row: Row, width: int = LABEL) -> str:
    """A claim in lines. Which lengths a share compares is for the axis and the caption to say."""
    return textwrap.fill(row.claim.claim.partition(": share of")[0], width)


@dataclass(frozen=True)
class Mark:
    """An interval, and what is said of it."""

    row: Row
    words: str
    colour: str
    ink: str  # the colour of the words
    paper: float | None = None  # the paper's own difference, in the claim's direction


class Forest(Figure):
    """A figure of which a notebook also stores another, ``narrow``, for phones."""

    narrow: Figure

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        file = io.BytesIO()
        self.narrow.savefig(file, format="png", dpi=PHONE_DPI, bbox_inches="tight")
        return {NARROW: base64.b64encode(file.getvalue()).decode()}


def forest(rows: Sequence[Row]) -> Forest:
    """Draw some claims; each unit has a panel of its own.

    Args:
        rows: of :func:`.judge`, drawn from top to bottom.

    Raises:
        ValueError: there are no rows.
    """
    if not rows:
        raise ValueError("a forest plot needs at least one claim")
    figure = _figure([[_mark(row)] for row in rows])
    for each, columns in ((figure, 4), (figure.narrow, 1)):
        each.legend(handles=_key(rows), loc="outside lower center", ncols=columns, fontsize=9)
    return figure


def twice(before: Sequence[Row], after: Sequence[Row], names: tuple[str, str]) -> Forest:
    """Draw the same claims by two sets of runs: thin and grey before, in colour after.

    Args:
        before: rows with a decision.
        after: rows of the same claims, in the same order, with a decision.
        names: what the words call both sets.

    Raises:
        ValueError: there are no rows, they are of different claims, or one has no decision.
    """
    if [row.claim.id for row in before] != [row.claim.id for row in after]:
        raise ValueError("both sets of runs need the same claims in the same order")
    if any(row.decision is None for row in (*before, *after)):
        raise ValueError("every row needs a decision in both sets of runs")
    if not after:
        raise ValueError("a forest plot needs at least one claim")
    return _figure(
        [
            [
                Mark(old, f"{names[0]}: {_short(old)}", EARLIER, COLOURS[NOT_RUN]),
                Mark(new, f"{names[1]}: {_short(new)}", *2 * [COLOURS[new.verdict]]),
            ]
            for old, new in zip(before, after, strict=True)
        ]
    )


def _mark(row: Row) -> Mark:
    colour = COLOURS[row.verdict]
    return Mark(row, said(row), colour, colour, theirs(row))


def _figure(claims: Sequence[Sequence[Mark]]) -> Forest:
    """Claims, each with its marks, in a panel for each unit: wide, and narrow for a phone."""
    units = list(dict.fromkeys(marks[0].row.claim.metric for marks in claims))
    panels = [[m for m in claims if m[0].row.claim.metric == unit] for unit in units]
    figure = plt.figure(FigureClass=Forest, layout="constrained")
    figure.narrow = Figure(layout="constrained")
    wide = [HEIGHT * len(panel) + PANEL for panel in panels]
    for ax, panel in zip(_axes(figure, WIDTH, wide), panels, strict=True):
        _draw(panel, ax)
    narrow = [LINE * sum(map(_lines, panel)) + PANEL for panel in panels]
    for ax, panel in zip(_axes(figure.narrow, PHONE, narrow), panels, strict=True):
        _draw_narrow(panel, ax)
    return figure


def _axes(figure: Figure, width: float, heights: Sequence[float]) -> Sequence[Axes]:
    """Axes of some heights below each other, all in inches, and room for a legend."""
    figure.set_size_inches(width, sum(heights) + 0.4)
    return figure.subplots(len(heights), height_ratios=heights, squeeze=False)[:, 0]


def draw(rows: Sequence[Row], ax: Axes) -> None:
    """Draw claims of one unit.

    Raises:
        ValueError: they have several units.
    """
    units = {row.claim.metric for row in rows}
    if len(units) != 1:
        raise ValueError(f"one axis cannot have several units: {', '.join(sorted(units))}")
    _draw([[_mark(row)] for row in rows], ax)


def _draw(panel: Sequence[Sequence[Mark]], ax: Axes) -> None:
    """Claims to the left of their intervals, and what is said to the right."""
    across = ax.get_yaxis_transform()
    for at, marks in enumerate(panel):
        _margin(marks[0].row, at, ax)
        for number, mark in enumerate(marks):
            y = at + APART * (number - (len(marks) - 1) / 2)
            _interval(mark, y, ax)
            words = "\n".join(textwrap.fill(line, BESIDE) for line in mark.words.splitlines())
            ax.text(1.02, y, words, transform=across, va="center", fontsize=9, color=mark.ink)
    ax.set_yticks(range(len(panel)), [label(marks[-1].row) for marks in panel], fontsize=9)
    for text, marks in zip(ax.get_yticklabels(), panel, strict=True):
        text.set_color(_ink(marks))
    ax.set(ylim=(len(panel) - 0.4, -0.6))
    _finish(panel, ax)


def _draw_narrow(panel: Sequence[Sequence[Mark]], ax: Axes) -> None:
    """Claims, and what is said, above their intervals; heights are counted in lines."""
    place = {"transform": ax.get_yaxis_transform(), "va": "center", "fontsize": 10}
    place |= {"bbox": {"facecolor": "white", "linewidth": 0, "pad": 1.2}}  # hides zero's line
    y = 0.5
    for marks in panel:
        row = marks[-1].row
        for line in label(row, ABOVE).splitlines():
            ax.text(0.01, y, line, color=_ink(marks), **place)
            y += 1
        for mark in marks:
            for line in _narrow_words(mark):
                ax.text(0.01, y, line, color=mark.ink, **place)
                y += 1
        _margin(row, y + (len(marks) - 1) / 2, ax, len(marks))
        for mark in marks:
            _interval(mark, y, ax)
            y += 1
        y += GAP
    ax.set_yticks([])
    ax.set(ylim=(y - 0.5, 0))
    _finish(panel, ax)


def _narrow_words(mark: Mark) -> list[str]:
    return textwrap.wrap(mark.words.replace("\n", "; "), ABOVE)


def _lines(marks: Sequence[Mark]) -> float:
    """How many lines a claim takes where words stand above intervals."""
    words = label(marks[-1].row, ABOVE).splitlines()
    return len(words) + sum(1 + len(_narrow_words(mark)) for mark in marks) + GAP


def _ink(marks: Sequence[Mark]) -> str:
    return "black" if marks[-1].row.decision else COLOURS[NOT_RUN]


def _margin(row: Row, y: float, ax: Axes, height: float = 1) -> None:
    if row.claim.margin:
        width = 2 * row.claim.margin
        left = -row.claim.margin
        ax.barh(y, width, left=left, height=0.8 * height, color=MARGIN, linewidth=0)


def _interval(mark: Mark, y: float, ax: Axes) -> None:
    """Our difference and its interval, over the paper's."""
    if mark.paper is not None:
        ax.plot(mark.paper, y, "D", markersize=7, color=PAPER, markeredgecolor="black")
    if (found := ours(mark.row)) is None:
        return
    middle, low, high = found
    ax.plot([low, high], [y, y], color=mark.colour, linewidth=2.5, solid_capstyle="butt")
    ax.plot(middle, y, "o", markersize=7, color=mark.colour)


def _finish(panel: Sequence[Sequence[Mark]], ax: Axes) -> None:
    """Zero, the unit, and room for all that is drawn."""
    rows = [mark.row for marks in panel for mark in marks]
    ax.axvline(0, color="#444444", linewidth=1)
    ax.set_xlabel(UNITS[rows[0].claim.metric], fontsize=10)
    ax.tick_params(axis="x", labelsize=9)
    ax.grid(visible=False, axis="y")
    _limits(rows, ax)


def _limits(rows: Sequence[Row], ax: Axes) -> None:
    """Room for all that is drawn; beyond LINEAR the scale is squeezed, where it has to be."""
    shown = [value for row in rows for value in (*(ours(row) or ()), theirs(row), 0.0)]
    shown += [sign * row.claim.margin for row in rows if row.claim.margin for sign in (-1, 1)]
    values = np.array([value for value in shown if value is not None])
    low = values.min()
    high = values.max()
    if np.abs(values).max() > FULL_SCALE and rows[0].claim.metric == "bleu":
        ax.set_xscale("symlog", linthresh=LINEAR)
        ax.set_xlabel(f"{ax.get_xlabel()} (not to scale beyond {LINEAR})")
        ticks = [t for t in TICKS if low * 1.1 <= t <= high * 1.1]
        ax.set_xticks(ticks, [f"{t:+d}".replace("-", "−") if t else "0" for t in ticks])
        ax.minorticks_off()
        ax.set_xlim(1.3 * low - 0.5, 1.3 * high + 0.5)
        return
    room = 0.06 * (high - low) or 1.0
    ax.set_xlim(low - room, high + room)
    ax.locator_params(axis="x", nbins=6)  # numbers that do not touch


def _key(rows: Sequence[Row]) -> list:
    """The legend's entries, of what the rows have."""
    line = {"color": COLOURS["undecided"], "linewidth": 2.5, "marker": "o"}
    paper = {"linestyle": "", "marker": "D", "color": PAPER, "markeredgecolor": "black"}
    entries = []
    if any(theirs(row) is not None for row in rows):
        entries.append(Line2D([], [], label="the paper", **paper))
    if any(row.decision for row in rows):
        entries.append(Line2D([], [], label="ours, with its interval", **line))
    if any(row.claim.margin for row in rows):
        entries.append(Patch(color=MARGIN, label="margin: counts as no difference"))
    return entries
