"""Attention drawn frame by frame: a number for every source word, and the blend of their vectors.

The frames of one step belong together: scores, weights, context. Each is one picture, and all name
the same source words in the same order and the same colours.
"""

from collections.abc import Sequence

import matplotlib.pyplot as plt
import seaborn as sns
from matplotlib.axes import Axes


def bars(
    words: Sequence[str], values: Sequence[float], ylabel: str, ax: Axes | None = None
) -> Axes:
    """A bar over every source word, with its number.

    Args:
        words: S source words.
        values: S numbers, such as scores or weights.
        ylabel: what they are.
        ax: where to draw.

    Raises:
        ValueError: there are more or fewer numbers than words.
    """
    if len(words) != len(values):
        raise ValueError(f"{len(values)} numbers for {len(words)} words: {list(words)}")
    ax = ax or plt.subplots(figsize=(4.2, 2.2), layout="constrained")[1]
    drawn = ax.bar(range(len(words)), values, width=0.55, color=colours(len(words)))
    ax.bar_label(drawn, [f"{value:.3f}" for value in values], padding=2, fontsize=10)
    ax.set_xticks(range(len(words)), words)
    ax.axhline(0, color="dimgrey", lw=1)
    ax.set(ylabel=ylabel)
    ax.margins(y=0.3)
    ax.grid(visible=False, axis="x")
    return ax


def blend(
    words: Sequence[str],
    h: Sequence[Sequence[float]],
    alpha: Sequence[float],
    ax: Axes | None = None,
) -> Axes:
    """Annotations of two numbers as points of a plane, and their blend among them.

    A line leads from the blend to each annotation, the thicker the larger the weight.

    Args:
        words: S source words.
        h: their annotations, (S, 2).
        alpha: their weights, which sum to 1.
        ax: where to draw.

    Raises:
        ValueError: an annotation has not two numbers, or words, annotations and weights are not as
            many.
    """
    if not len(words) == len(h) == len(alpha) or any(len(h_j) != 2 for h_j in h):
        raise ValueError("give as many annotations, each of two numbers, and weights as words")
    ax = ax or plt.subplots(figsize=(4.6, 2.9), layout="constrained")[1]
    x, y = (sum(a * h_j[k] for a, h_j in zip(alpha, h, strict=True)) for k in (0, 1))
    for number, (word, h_j, a) in enumerate(zip(words, h, alpha, strict=True), 1):
        colour = colours(len(words))[number - 1]
        ax.plot([x, h_j[0]], [y, h_j[1]], color=colour, lw=1 + 8 * a, alpha=0.6, zorder=1)
        ax.plot(*h_j, "o", color=colour, markersize=9)
        text = f"$h_{number}$ {word}\n{a:.0%}"
        ax.annotate(text, h_j, xytext=(8, 6), textcoords="offset points", fontsize=10)
    ax.plot(x, y, "*", color="black", markersize=15, zorder=3)
    text = f"$c$ = ({x:.2f}, {y:.2f})"
    ax.annotate(text, (x, y), xytext=(-88, -10), textcoords="offset points", fontsize=10)
    ax.set(xlabel="first number", ylabel="second number")
    ax.margins(x=0.4, y=0.3)
    return ax


def colours(count: int) -> list[tuple[float, float, float]]:
    """The colours of the source words, one after the other."""
    return sns.color_palette("colorblind", count)
