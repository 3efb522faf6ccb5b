"""Forest plots: the papers' differences and ours on one axis, a claim in each row.

A row has the claim in words, the paper's own difference as a diamond, and ours as a point with the
interval that decides. Differences are counted in the claim's direction, so that what supports a
paper lies to the right of zero. A band shows the margin within which systems count as equal::

    forest([row for row in judge() if row.claim.group == "Luong, Table 4"])

:func:`before_and_after` draws the same claims by two sets of runs.

A notebook shows a plot as HTML: a table of the page's own letters, with a small drawing in each
row. Where there is little room, a claim stands above its drawing and the numbers below it.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from matplotlib.ticker import MaxNLocator

from attnmt.evidence.verdicts import NO_VERDICT, Row, digits, lies

INK = "currentColor"  # of the page: black on white, or white on black
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
COLOURS = {  # seen on white and on black
    "same sign": "#009e73",
    "opposite sign": "#d55e00",
    "no difference": "#0072b2",
    "undecided": INK,
    NO_VERDICT: INK,
}
EARLIER = "#8a8a8a"
PAPER = "#e69f00"
FULL_SCALE = 20  # differences beyond are drawn on a scale that is squeezed ...
LINEAR = 10  # ... from here on
TICKS = (0, 20, -20, 5, -5, 40, -40, 10, -10)  # of such a scale, the first ones first
APART = 0.12  # of an axis, between two of its numbers, at least
BINS = 4  # between the numbers of an axis, at most
ROOM = 0.06  # of an axis, left free at both of its ends

# Narrow as it stands; the query lets the parts of a row stand beside each other.
STYLE = """<style>
.forest{container-type:inline-size;width:100%;font-size:.875em;line-height:1.35;text-align:left}
.forest p{margin:0}
.forest p span{display:inline-block;margin-right:1.2em}
.forest svg{overflow:visible;max-width:none;min-width:0;margin:0}
.forest p svg{width:2em;height:1em;vertical-align:-.15em}
.forest [role=table]{margin-top:.7em}
.forest [role=row]{position:relative;display:grid;padding:.3em 0;border-top:1px solid #8886}
.forest .drawn{position:relative;height:1.7em;margin:0 1.2em}
.forest .drawn svg{position:absolute;left:0;top:0;width:100%;height:100%}
.forest .drawn svg svg{position:static;width:1px;height:1px}
.forest .axis{height:auto;padding-bottom:1.6em}
.forest .axis svg{top:auto;bottom:0;height:1.4em}
.forest .head{position:absolute;clip-path:inset(50%)}
.forest .drawn+* div{display:inline-block;margin-right:.8em}
.forest .quiet{opacity:.75}
@container (min-width:38em){
.forest [role=row]{grid-template-columns:minmax(0,9fr) minmax(0,9fr) minmax(0,7fr);padding:0}
.forest [role=row]>*{align-self:center;padding:.2em 0}
.forest [role=row]>.drawn{align-self:stretch;height:auto;min-height:1.7em;padding:0}
.forest [role=row]>.axis{padding-bottom:1.6em}
.forest [role=row]>.head{position:static;clip-path:none;align-self:end}
}
</style>"""


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


def signed(difference: float, row: Row) -> str:
    """A difference with its sign and the digits of its claim."""
    return f"{difference:+.{digits(row.claim)}f}".replace("-", "−")


def numbers(row: Row) -> str:
    """Our difference with the ends of its interval; "" where there is none."""
    if (found := ours(row)) is None:
        return ""
    difference, low, high = found
    difference = round(difference, digits(row.claim)) + 0.0  # a difference is never −0.0
    return f"{signed(difference, row)} ({signed(low, row)} to {signed(high, row)})"


def words_beside(row: Row) -> list[str]:
    """What stands beside a row: our numbers and the verdict, or why there is none."""
    if row.decision is None:
        return [f"{row.verdict}: {row.missing}"]
    if not row.claim.judged:
        return [numbers(row), "question"]
    kind = f"kind {row.claim.kind}: {row.verdict}"
    kind += ", outside the tally" if row.claim.outside else ""
    return [numbers(row), kind, *place_of_theirs(row)]


def place_of_theirs(row: Row) -> list[str]:
    """Where the paper's number lies, in the claim's direction; empty if it gives none."""
    number, found = theirs(row), ours(row)
    if number is None or found is None:
        return []
    return [f"the paper's {signed(number, row)} is {lies(number, *found[1:])}"]


def colour_of(row: Row) -> str:
    """That of its verdict; a row outside the tally is drawn like a question."""
    return INK if row.claim.outside else COLOURS.get(row.verdict, INK)


def label(row: Row) -> str:
    """A claim. Which lengths a share compares is for the axis and the caption to say."""
    return row.claim.claim.partition(": share of")[0]


@dataclass(frozen=True)
class Mark:
    """What is drawn of a claim, and what stands beside it.

    Attributes:
        row: the claim, and what came out.
        words: that stand beside it.
        colour: of our interval.
        name: whose interval it is.
        paper: the paper's own difference, in the claim's direction, where it is drawn.
    """

    row: Row
    words: list[str]
    colour: str
    name: str = "ours"
    paper: float | None = None


class Forest:
    """A forest plot: what a notebook shows.

    Attributes:
        panels: a list of claims for each unit; of each claim its marks, from top to bottom.
    """

    def __init__(self, claims: Iterable[Sequence[Mark]]):
        panels: dict[str, list[Sequence[Mark]]] = {}
        for marks in claims:
            panels.setdefault(marks[0].row.claim.metric, []).append(marks)
        if not panels:
            raise ValueError("a forest plot needs at least one claim")
        self.panels = list(panels.values())

    def __repr__(self) -> str:
        lines = []
        for panel in self.panels:
            lines.append(f"{UNITS[panel[0][0].row.claim.metric]}:")
            for marks in panel:
                words = "; ".join(", ".join(mark.words) for mark in marks)
                lines.append(f"  {label(marks[0].row)} {words}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        tables = "".join(map(_table, self.panels))
        marks = [mark for panel in self.panels for marks in panel for mark in marks]
        return f'<div class="forest">{STYLE}\n{_key(marks)}{tables}</div>'


def forest(rows: Sequence[Row]) -> Forest:
    """Draw some claims; each unit has a panel of its own.

    Args:
        rows: of :func:`.judge`, drawn from top to bottom.

    Raises:
        ValueError: there are no rows.
    """
    return Forest([Mark(row, words_beside(row), colour_of(row), paper=theirs(row))] for row in rows)


def before_and_after(before: Sequence[Row], after: Sequence[Row], names: tuple[str, str]) -> Forest:
    """Draw the same claims by two sets of runs: grey before, in colour after.

    Args:
        before: rows with a decision.
        after: rows of the same claims, in the same order, with a decision.
        names: what both sets are called beside a row.

    Raises:
        ValueError: there are no rows, they are of different claims, or one has no decision.
    """
    if [row.claim.id for row in before] != [row.claim.id for row in after]:
        raise ValueError("both sets of runs need the same claims in the same order")
    if any(row.decision is None for row in (*before, *after)):
        raise ValueError("every row needs a decision in both sets of runs")

    def mark(name: str, row: Row, colour: str) -> Mark:
        words = f"{name}: {row.verdict if row.claim.judged else numbers(row)}"
        return Mark(row, [words], colour, name)

    return Forest(
        [mark(names[0], old, EARLIER), mark(names[1], new, COLOURS[new.verdict])]
        for old, new in zip(before, after, strict=True)
    )


# --- the axis of a panel


def squeezed(difference: float) -> float:
    """Beyond LINEAR as its logarithm, without a corner between the two."""
    size = abs(difference)
    if size <= LINEAR:
        return difference
    return math.copysign(LINEAR * (1 + math.log(size / LINEAR)), difference)


class Axis:
    """The axis of a panel, with room for all its marks; called, it says where a difference lies.

    Attributes:
        unit: what is counted.
        ticks: differences with a number.
    """

    def __init__(self, marks: Sequence[Mark]):
        drawn = [0.0]
        for mark in marks:
            margin = mark.row.claim.margin or 0.0
            drawn += [*(ours(mark.row) or ()), -margin, margin]
            drawn += [] if mark.paper is None else [mark.paper]
        metric = marks[0].row.claim.metric
        large = metric == "bleu" and max(map(abs, drawn)) > FULL_SCALE
        self.unit = UNITS[metric] + f" (not to scale beyond {LINEAR})" * large
        self.scale = squeezed if large else float
        low, high = self.scale(min(drawn)), self.scale(max(drawn))
        room = ROOM * (high - low) or 1.0
        self.low, self.high = low - room, high + room
        self.ticks: list[float] = []
        for tick in TICKS if large else MaxNLocator(BINS).tick_values(low, high):
            place = self.scale(tick)
            near = [o for o in self.ticks if abs(self.scale(o) - place) < APART * (high - low)]
            if low - room / 2 <= place <= high + room / 2 and not near:
                self.ticks.append(tick)

    def __call__(self, difference: float) -> float:
        """Where it lies, in percent of the width."""
        return 100 * (self.scale(difference) - self.low) / (self.high - self.low)


# --- as HTML


def _table(panel: Sequence[Sequence[Mark]]) -> str:
    """The claims of one unit, a line of HTML for each."""
    across = Axis([mark for marks in panel for mark in marks])
    rows = [_head(across), *(_row(marks, across) for marks in panel)]
    return f'<div role="table" aria-label="{across.unit}">\n{"".join(rows)}</div>\n'


def _head(across: Axis) -> str:
    ticks = []
    for tick in across.ticks:
        x = _percent(across(tick))
        number = f"{tick:+g}".replace("-", "−") if tick else "0"
        ticks.append(
            f'<line x1="{x}" x2="{x}" y1="80%" y2="100%" stroke="{INK}"/>'
            f'<text x="{x}" y="65%" text-anchor="middle">{number}</text>'
        )
    return (
        '<div role="row"><div role="columnheader" class="head">claim</div>'
        f'<div role="columnheader" class="drawn axis">{across.unit}'
        f'<svg fill="{INK}" aria-hidden="true">{"".join(ticks)}</svg></div>'
        '<div role="columnheader" class="head">ours (interval), verdict</div></div>\n'
    )


def _row(marks: Sequence[Mark], across: Axis) -> str:
    row = marks[-1].row
    paper = marks[-1].paper
    zero = _percent(across(0))
    parts = [_margin(row, across)] if row.claim.margin else []
    parts.append(f'<line x1="{zero}" x2="{zero}" y2="100%" stroke="{INK}"/>')
    if paper is not None:
        parts.append(_diamond(across(paper)))
    for number, mark in enumerate(marks, 1):
        parts.append(_interval(mark, across, _percent(100 * number / (len(marks) + 1))))
    words = "".join(f"<div>{_bold(word, m.row)}</div>" for m in marks for word in m.words)
    title = escape("; ".join(_title(mark) for mark in marks))
    quiet = "" if row.decision else ' class="quiet"'
    return (
        f'<div role="row"><div role="rowheader"{quiet}>{escape(label(row))}</div>'
        f'<div role="cell" class="drawn"><svg role="img" fill="{INK}"><title>{title}</title>'
        f'{"".join(parts)}</svg></div><div role="cell"{quiet}>{words}</div></div>\n'
    )


def _title(mark: Mark) -> str:
    """The title of a drawing, for those who point at it or do not see it."""
    found = [] if mark.paper is None else [f"the paper {signed(mark.paper, mark.row)}"]
    found += [f"{mark.name} {numbers(mark.row)}"] if mark.row.decision else []
    return ", ".join(found) or mark.row.verdict


def _bold(words: str, row: Row) -> str:
    name = "outside" if row.claim.outside else row.verdict.replace(" ", "-")  # for the style sheet
    return escape(words).replace(row.verdict, f'<b class="verdict {name}">{row.verdict}</b>', 1)


def _margin(row: Row, across: Axis) -> str:
    left, right = (across(end) for end in (-row.claim.margin, row.claim.margin))
    return (
        f'<rect x="{_percent(left)}" width="{_percent(right - left)}" height="100%" opacity=".2"/>'
    )


def _interval(mark: Mark, across: Axis, y: str) -> str:
    """Our difference and its interval."""
    if (found := ours(mark.row)) is None:
        return ""
    middle, low, high = (_percent(across(value)) for value in found)
    return (
        f'<g fill="{mark.colour}" stroke="{mark.colour}" stroke-width=".2em">'
        f'<line x1="{low}" x2="{high}" y1="{y}" y2="{y}"/>'
        f'<circle cx="{middle}" cy="{y}" r=".2em"/></g>'
    )


def _diamond(x: float) -> str:
    square = (
        f'<rect x="-.35em" y="-.35em" width=".7em" height=".7em" transform="rotate(45)"'
        f' fill="{PAPER}" stroke="{INK}"/>'
    )
    return f'<svg x="{_percent(x)}" y="50%">{square}</svg>'


def _percent(value: float) -> str:
    return f"{value:.1f}%"


def _key(marks: Sequence[Mark]) -> str:
    """What the signs mean that the marks have."""
    signs = []
    if any(mark.paper is not None for mark in marks):
        signs.append((_diamond(50), "the paper"))
    if any(mark.row.decision for mark in marks):
        line = f'<line x2="100%" y1="50%" y2="50%" stroke="{INK}" stroke-width=".2em"/>'
        signs.append((f'{line}<circle cx="50%" cy="50%" r=".3em"/>', "ours, with its interval"))
    if any(mark.row.claim.margin for mark in marks):
        band = '<rect width="100%" height="100%" opacity=".2"/>'
        signs.append((band, "margin: counts as no difference"))
    return "<p>{}</p>\n".format(
        "".join(
            f'<span><svg fill="{INK}" aria-hidden="true">{sign}</svg> {word}</span>'
            for sign, word in signs
        )
    )
