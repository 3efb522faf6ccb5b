"""Tables and listings: scores of every seed in few characters, and pieces of the package's code."""

import inspect
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

from IPython.display import Markdown

NOTHING = "–"  # where there is no number


def mean(values: Sequence[float]) -> float:
    """The mean; ValueError where there are no values."""
    if not len(values):
        raise ValueError("no values, so no mean: was the run recorded?")
    return sum(values) / len(values)


def spread(values: Sequence[float]) -> float:
    """The distance between the lowest and the highest."""
    return max(values) - min(values)


def listed(values: Iterable[float | None], digits: int = 1) -> str:
    """All values, ``20.1, 21.4, 19.8``; a dash for None."""
    return ", ".join(NOTHING if value is None else f"{value:.{digits}f}" for value in values)


def with_range(values: Iterable[float | None], digits: int = 1) -> str:
    """Mean, lowest and highest: ``20.4 (19.8–21.4)``; a dash where there is nothing but None."""
    known = [value for value in values if value is not None]
    if not known:
        return NOTHING
    middle, low, high = (f"{x:.{digits}f}" for x in (mean(known), min(known), max(known)))
    return f"{middle} ({low}–{high})" if len(known) > 1 else f"{middle} (1 seed)"


def seeds(runs: Sequence[object]) -> str:
    """How many runs there are, for a sentence: ``1 seed``, ``5 seeds``."""
    return "1 seed" if len(runs) == 1 else f"{len(runs)} seeds"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Markdown:
    """A table in Markdown.

    Raises:
        ValueError: a row has more or fewer cells than the head.
    """
    lines = [_line(head), "|---" * len(head) + "|"]
    for row in rows:
        if len(row) != len(head):
            raise ValueError(f"{len(row)} cells for {len(head)} columns: {list(row)}")
        lines.append(_line(row))
    return Markdown("\n".join(lines))


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def show_source(*things: Any) -> Markdown:
    """The source of classes, methods or functions as it stands in the package, highlighted."""
    sources = (textwrap.dedent(inspect.getsource(thing)).rstrip() for thing in things)
    return Markdown("```python\n{}\n```".format("\n\n\n".join(sources)))
