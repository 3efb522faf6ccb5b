"""Attention drawn frame by frame: scores, weights, and the blend of the vectors.

The frames of one step belong together. :func:`attention_step` draws all of them at once; a chapter
that takes them one by one draws :func:`bars`, or several with :func:`steps`, and :func:`blend`,
which name the same words in the same order, in the blue of all weights. :func:`matrices` has the
numbers of all words at once.
"""

from collections.abc import Mapping, Sequence
from functools import partial

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_rgba
from matplotlib.figure import Figure
from torch import Tensor

from attnmt.book.figures import svg
from attnmt.book.figures.colours import CENTRE
from attnmt.book.figures.svg import BLUE

ORANGE_BLUE = LinearSegmentedColormap.from_list("", ["#d55e00", "white", BLUE])
DRAWN = 12  # numbers of each vector, blue above zero and orange below
PALE = LinearSegmentedColormap.from_list(  # the page shows through
    "", [to_rgba("#d55e00", 0.5), to_rgba("#888888", 0), to_rgba(BLUE, 0.5)]
)


def attention_step(labels: Sequence[str], query: Tensor, vectors: Tensor) -> Figure:
    """Draw how a query weighs and blends the vectors of S words by their dot products.

    Four rows over the same words, read downwards: the vectors, with the query at their right; bars
    of the scores; bars of the weights in percent; the weighted vectors, with their sum, the
    context, at their right.

    Args:
        labels: of the words, S texts.
        query: (n,).
        vectors: (S, n).

    Raises:
        ValueError: there is not one label for each vector, or the query has a different size.
    """
    if (len(labels), len(query)) != tuple(vectors.shape):
        raise ValueError(
            f"{len(labels)} labels and a query of {len(query)} do not fit vectors of "
            f"{tuple(vectors.shape)}: give (S, n), S labels and a query (n,)"
        )
    scores = vectors @ query
    weights = scores.softmax(dim=0)
    blend = weights[:, None] * vectors
    shape = {"sharex": "col", "width_ratios": (len(labels), 1), "layout": "constrained"}
    figure, axes = plt.subplots(4, 2, figsize=(8, 7.4), **shape)
    _strips(*axes[0], many=vectors[:, :DRAWN], one=query[:DRAWN])
    _bars(*axes[1], scores)
    _bars(*axes[2], 100 * weights)
    _strips(*axes[3], many=blend[:, :DRAWN], one=blend.sum(dim=0)[:DRAWN])
    names = ("the words'\nvectors", "1. score", "2. weight (%)", "3. weight\ntimes vector")
    for ax, name in zip(axes[:, 0], names, strict=True):
        ax.set(ylabel=name)
    axes[0, 1].set(title="query")
    axes[3, 0].set_xticks(np.arange(len(labels)), labels, fontsize=11, parse_math=False)
    axes[3, 1].set_xticks([0], ["sum:\ncontext"], fontsize=11)
    return figure


def _strips(left: plt.Axes, right: plt.Axes, many: Tensor, one: Tensor) -> None:
    """Vectors as columns of stripes, and one more at their right."""
    for ax, columns in ((left, many.T), (right, one[:, None])):
        ax.imshow(columns.numpy(), cmap=ORANGE_BLUE, vmin=-1, vmax=1, aspect="auto")
        ax.grid(False)
        ax.set(yticks=[])


def _bars(left: plt.Axes, right: plt.Axes, values: Tensor) -> None:
    """A number for each word, and nothing at their right."""
    bars = left.bar(range(len(values)), values.tolist(), color=BLUE)
    left.bar_label(bars, [f"{value:.0f}" for value in values.tolist()], fontsize=11)
    left.margins(y=0.2)
    right.axis("off")


def bars(
    words: Sequence[str],
    values: Sequence[float],
    ylabel: str,
    ax: Axes | None = None,
    digits: int = 3,
) -> Axes:
    """A bar over every source word, with its number.

    Minus infinity, a score that a mask has taken out, is written and has no bar.

    Raises:
        ValueError: there are more or fewer numbers than words.
    """
    check_one_each(words, values)
    ax = ax or plt.subplots(figsize=(4.2, 2.2), layout="constrained")[1]
    heights = np.where(np.isfinite(values), values, 0)
    drawn = ax.bar(range(len(words)), heights, width=0.55, color=BLUE)
    shown = [f"{value:.{digits}f}" if np.isfinite(value) else "−∞" for value in values]
    ax.bar_label(drawn, shown, padding=2, fontsize=10)
    ax.set_xticks(range(len(words)), words, parse_math=False)
    ax.axhline(0, color="dimgrey", lw=1)
    ax.set(ylabel=ylabel)
    ax.margins(y=0.3)
    ax.grid(visible=False, axis="x")
    return ax


def steps(words: Sequence[str], panels: Mapping[str, Sequence[float]], alike: int = 1) -> Figure:
    """Steps of one look-up side by side: :func:`bars` of each.

    Args:
        words: S words.
        panels: S numbers of each step, by its title.
        alike: how many of the first panels are drawn on one scale.

    Raises:
        ValueError: there are more or fewer numbers than words.
    """
    shape = {"figsize": (2.25 * len(panels), 2.5), "layout": "constrained"}
    figure, axes = plt.subplots(1, len(panels), squeeze=False, **shape)
    for ax, (title, values) in zip(axes[0], panels.items(), strict=True):
        bars(words, values, "", ax, digits=2)
        ax.tick_params(axis="x", labelsize=10)
        ax.margins(y=0.2)
        ax.set(yticks=[])
        ax.set_title(title, fontsize=11)
    limits = [ax.get_ylim() for ax in axes[0, :alike]]
    for ax in axes[0, :alike]:
        ax.set_ylim(min(low for low, _ in limits), max(high for _, high in limits))
    return figure


def matrices(words: Sequence[str], panels: Mapping[str, Sequence[Sequence[float]]]) -> Figure:
    """Attention to all words at once: matrices one below the other, with a column for each word.

    A notebook shows the figure as SVG, in which each matrix is a frame (:func:`.alignment_svg`).

    Args:
        words: S words.
        panels: of each matrix its rows of S numbers, by the formula at its left.

    Raises:
        ValueError: a row has more or fewer numbers than there are words.
    """
    heights = [len(rows) for rows in panels.values()]
    size = (2.4 + 1.1 * len(words), 0.5 + 0.42 * sum(heights) + 0.16 * len(heights))
    shape = {"sharex": True, "height_ratios": heights, "layout": "constrained"}
    figure, axes = plt.subplots(len(panels), 1, figsize=size, squeeze=False, **shape)
    for ax, (title, rows) in zip(axes[:, 0], panels.items(), strict=True):
        for row in rows:
            check_one_each(words, row)
        numbers = np.array(rows)
        most = max(1.0, np.abs(numbers).max())
        grid = {"edgecolors": svg.GRID, "linewidth": 0.7}
        ax.pcolormesh(numbers, cmap=PALE, vmin=-most, vmax=most, **grid)
        for (row, column), number in np.ndenumerate(numbers):
            middle = (column + 0.5, row + 0.5)
            ax.text(*middle, f"{number:.2f}", ha="center", va="center", fontsize=11)
        ax.set_ylabel(title, rotation=0, ha="right", va="center", fontsize=12)
        ax.set(yticks=[], gid=svg.FRAME)
        ax.invert_yaxis()
        ax.grid(visible=False)
        ax.tick_params(length=0, labelbottom=False)
    axes[0, 0].tick_params(labeltop=True)
    axes[0, 0].set_xticks(np.arange(len(words)) + 0.5, words, fontsize=11, parse_math=False)
    svg.show_in_notebooks()
    return figure


def blend(
    words: Sequence[str],
    h: Sequence[Sequence[float]],
    alpha: Sequence[float],
    *,
    symbol: str = "h",
) -> Axes:
    """Annotations of two numbers as points of a plane, and their blend among them.

    A line leads from the blend to each annotation, the thicker the larger the weight.

    Args:
        words: S source words.
        h: their annotations, (S, 2).
        alpha: their weights, which sum to 1.
        symbol: the letter of an annotation; of values, "v".

    Raises:
        ValueError: an annotation has not two numbers, or words, annotations and weights are not as
            many.
    """
    if not len(words) == len(h) == len(alpha) or any(len(h_j) != 2 for h_j in h):
        raise ValueError("give as many annotations, each of two numbers, and weights as words")
    ax = plt.subplots(figsize=(4.6, 2.9), layout="constrained")[1]
    paper = {"facecolor": "white", "edgecolor": "none", "pad": 0.5, "alpha": 0.8}  # over lines
    note = partial(ax.annotate, textcoords="offset points", fontsize=10, bbox=paper)
    x, y = (sum(a * h_j[k] for a, h_j in zip(alpha, h, strict=True)) for k in (0, 1))
    for number, (word, h_j, a) in enumerate(zip(words, h, alpha, strict=True), 1):
        ax.plot([x, h_j[0]], [y, h_j[1]], color=BLUE, lw=1 + 8 * a, alpha=0.6, zorder=1)
        ax.plot(*h_j, "o", color=BLUE, markersize=9)
        shown = word.replace("$", r"\$")  # in a word it begins no formula
        text = f"${symbol}_{number}$ {shown}\n{a:.0%}"
        note(text, h_j, xytext=(8, 6))
    ax.plot(x, y, "*", color="black", markersize=15, zorder=3)
    note(f"$c$ = (${x:.2f}$, ${y:.2f}$)", (x, y), xytext=(-88, -10))
    ax.set(xlabel="first number", ylabel="second number")
    ax.margins(x=0.4, y=0.3)
    return ax


def window(
    words: Sequence[str],
    align: Sequence[float],
    p: float,
    *,
    D: int,
    weights: Sequence[float] | None = None,
) -> Axes:
    """A step of local attention: bars over the source words, on a window of ``[p - D, p + D]``.

    Args:
        words: S source words.
        align: S numbers, the softmax inside the window.
        p: the window's centre, counted from 0.
        D: positions on either side.
        weights: S numbers, ``align`` times the Gaussian around p, which is drawn, too. None: the
            step has come no further than the softmax.

    Raises:
        ValueError: there are more or fewer numbers than words.
    """
    places = np.arange(len(words))
    check_one_each(words, align)
    check_one_each(words, align if weights is None else weights)
    ax = plt.subplots(figsize=(7.4, 2.9), layout="constrained")[1]
    ax.axvspan(p - D, p + D, color="#fff1c9", zorder=0, label="window")
    ax.axvline(p, color=CENTRE, linestyle=":", label="centre $p_t$")
    if weights is None:
        drawn = ax.bar(places, align, 0.55, color=BLUE, label="softmax in the window")
    else:
        x = np.linspace(-0.5, len(words) - 0.5, 400)
        ax.plot(x, np.exp(-((x - p) ** 2) / (2 * (D / 2) ** 2)), color=CENTRE, label="Gaussian")
        ax.bar(places - 0.2, align, 0.38, color="#a9a9a9", label="softmax in the window")
        drawn = ax.bar(places + 0.2, weights, 0.38, color=BLUE, label="weight $a_t(s)$")
    shown = [f"{bar.get_height():.2f}" if bar.get_height() else "" for bar in drawn]
    ax.bar_label(drawn, shown, padding=1, fontsize=9)
    ax.set_xticks(places, words, rotation=40, ha="right", parse_math=False)
    ax.set(xlim=(-0.5, len(words) - 0.5), xlabel="source words", ylabel="weight (0 to 1)")
    ax.margins(y=0.15)
    ax.grid(visible=False)
    ax.legend(loc="upper left", fontsize=9)
    return ax


def check_one_each(words: Sequence[str], values: Sequence[float]) -> None:
    """Refuse more or fewer numbers than words."""
    if len(words) != len(values):
        raise ValueError(f"{len(values)} numbers for {len(words)} words: {list(words)}")
