"""One step of attention, frame by frame: vectors, scores, weights, and their blend."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from torch import Tensor

ORANGE_BLUE = LinearSegmentedColormap.from_list("", ["#d55e00", "white", "#0072b2"])
BLUE = "#0072b2"


def attention_step(labels: Sequence[str], query: Tensor, vectors: Tensor, some: int = 12) -> Figure:
    """Draw how a query weighs and blends the vectors of S words by their dot products.

    Four rows over the same words, read downwards: the vectors, with the query at their right; bars
    of the scores; bars of the weights in percent; the weighted vectors, with their sum, the
    context, at their right.

    Args:
        labels: of the words, S texts.
        query: (n,).
        vectors: (S, n).
        some: numbers of each vector that are drawn, blue above zero and orange below.

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
    _strips(*axes[0], many=vectors[:, :some], one=query[:some])
    _bars(*axes[1], scores)
    _bars(*axes[2], 100 * weights)
    _strips(*axes[3], many=blend[:, :some], one=blend.sum(dim=0)[:some])
    names = ("the words'\nvectors", "1. score", "2. weight (%)", "3. weight\ntimes vector")
    for ax, name in zip(axes[:, 0], names, strict=True):
        ax.set(ylabel=name)
    axes[0, 1].set(title="query")
    axes[3, 0].set_xticks(np.arange(len(labels)), labels, fontsize=11)
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
