"""Forest plots: the papers' differences and ours on one axis, a claim in each row.

A row has the claim in words, the paper's own difference as a diamond, and ours as a point with the
interval that decides. Differences are counted in the claim's direction, so that what supports a
paper lies to the right of zero. A band shows the margin within which systems count as equal::

    forest([row for row in judge() if row.claim.group == "Luong, Table 4"])

:func:`twice` draws what two sets of runs say of the same claims.
"""

import textwrap
from collections.abc import Sequence

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
HEIGHT = 0.45  # inches of a row
PANEL = 0.75  # and of a panel's axis
WIDTH = 9
FULL_SCALE = 20  # differences beyond are drawn on a scale that is squeezed ...
LINEAR = 10  # ... from here on
TICKS = (-60, -20, -5, 0, 5, 20, 60)
LABEL = 46  # characters of a line of a claim
BESIDE = 36  # and of the words beside it


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
        short = textwrap.shorten(f"{row.verdict}: {row.missing}", 3 * BESIDE, placeholder=" ...")
        return textwrap.fill(short, BESIDE)
    middle, low, high = (f"{x:+.{digits(row.claim)}f}".replace("-", "−") for x in found)
    kind = "question" if row.claim.kind == "Q" else f"kind {row.claim.kind}: {row.verdict}"
    return f"{middle} ({low} to {high})\n{kind}"


def _short(row: Row) -> str:
    """The verdict alone, or a question's numbers."""
    return row.verdict if row.claim.judged else said(row).partition("\n")[0]


def label(row: Row) -> str:
    """A claim in lines. Which lengths a share compares is for the axis and the caption to say."""
    return textwrap.fill(row.claim.claim.partition(": share of")[0], LABEL)


def forest(rows: Sequence[Row]) -> Figure:
    """Draw some claims; each unit has a panel of its own.

    Args:
        rows: of :func:`.judge`, drawn from top to bottom.

    Raises:
        ValueError: there are no rows.
    """
    figure, panels = _panels(rows)
    for ax, panel in panels:
        draw(panel, ax)
    figure.legend(handles=_key(rows), loc="outside lower center", ncols=4, fontsize=9)
    return figure


def twice(before: Sequence[Row], after: Sequence[Row], names: tuple[str, str]) -> Figure:
    """Draw the same claims by two sets of runs: thin and grey before, in colour after.

    Args:
        before: rows with a decision.
        after: rows of the same claims, in the same order, with a decision.
        names: what the legend calls both sets.

    Raises:
        ValueError: there are no rows, they are of different claims, or one has no decision.
    """
    if [row.claim.id for row in before] != [row.claim.id for row in after]:
        raise ValueError("both sets of runs need the same claims in the same order")
    if any(row.decision is None for row in (*before, *after)):
        raise ValueError("every row needs a decision in both sets of runs")
    earlier = {row.claim.id: row for row in before}
    figure, panels = _panels(after)
    for ax, panel in panels:
        for y, row in enumerate(panel):
            old = earlier[row.claim.id]
            _margin(row, y, ax)
            _interval(old, y - 0.2, ax, color=EARLIER)
            _interval(row, y + 0.2, ax, color=COLOURS[row.verdict])
            _beside(f"{names[0]}: {_short(old)}", y - 0.2, ax, color=COLOURS[NOT_RUN])
            _beside(f"{names[1]}: {_short(row)}", y + 0.2, ax, color=COLOURS[row.verdict])
        _finish(panel, ax, [*panel, *(earlier[row.claim.id] for row in panel)])
    return figure


def _panels(rows: Sequence[Row]) -> tuple[Figure, list[tuple[Axes, list[Row]]]]:
    """A figure with an axis for each unit, and the unit's rows."""
    if not rows:
        raise ValueError("a forest plot needs at least one claim")
    units = list(dict.fromkeys(row.claim.metric for row in rows))
    panels = [[row for row in rows if row.claim.metric == unit] for unit in units]
    heights = [HEIGHT * len(panel) + PANEL for panel in panels]
    figure, axes = plt.subplots(
        len(panels),
        1,
        figsize=(WIDTH, sum(heights) + 0.4),
        height_ratios=heights,
        layout="constrained",
        squeeze=False,
    )
    return figure, list(zip(axes[:, 0], panels, strict=True))


def draw(rows: Sequence[Row], ax: Axes) -> None:
    """Draw claims of one unit.

    Raises:
        ValueError: they have several units.
    """
    units = {row.claim.metric for row in rows}
    if len(units) != 1:
        raise ValueError(f"one axis cannot have several units: {', '.join(sorted(units))}")
    for y, row in enumerate(rows):
        _margin(row, y, ax)
        if (paper := theirs(row)) is not None:
            ax.plot(paper, y, "D", markersize=7, color=PAPER, markeredgecolor="black")
        _interval(row, y, ax, color=COLOURS[row.verdict])
        _beside(said(row), y, ax, color=COLOURS[row.verdict])
    _finish(rows, ax, rows)


def _margin(row: Row, y: float, ax: Axes) -> None:
    if row.claim.margin:
        width = 2 * row.claim.margin
        ax.barh(y, width, left=-row.claim.margin, height=0.8, color=MARGIN, linewidth=0)


def _interval(row: Row, y: float, ax: Axes, *, color: str) -> None:
    """Our difference and its interval."""
    if (found := ours(row)) is None:
        return
    middle, low, high = found
    ax.plot([low, high], [y, y], color=color, linewidth=2.5, solid_capstyle="butt")
    ax.plot(middle, y, "o", markersize=7, color=color)


def _beside(text: str, y: float, ax: Axes, *, color: str) -> None:
    across = ax.get_yaxis_transform()
    ax.text(1.02, y, text, transform=across, va="center", fontsize=9, color=color)


def _finish(rows: Sequence[Row], ax: Axes, drawn: Sequence[Row]) -> None:
    """The claims at the left, zero, the unit, and room for all that is drawn."""
    ax.set_yticks(range(len(rows)), [label(row) for row in rows], fontsize=9)
    for text, row in zip(ax.get_yticklabels(), rows, strict=True):
        text.set_color("black" if row.decision else COLOURS[NOT_RUN])
    ax.axvline(0, color="#444444", linewidth=1)
    ax.set(ylim=(len(rows) - 0.4, -0.6))
    ax.set_xlabel(UNITS[rows[0].claim.metric], fontsize=10)
    ax.tick_params(axis="x", labelsize=9)
    ax.grid(visible=False, axis="y")
    _limits(drawn, ax)


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
