"""The book's figures: learning curves, BLEU by length, alignments, links.

A label that begins with a system's title, such as "dot, live", has that system's colour.
"""

from collections.abc import Mapping, Sequence, Set
from functools import partial
from itertools import cycle

import matplotlib.pyplot as plt
import numpy as np
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from numpy.typing import ArrayLike

from attnmt.book.figures import labels, svg
from attnmt.book.figures.colours import CENTRE, GOLD, MARKERS, OTHERS, in_order, style_of
from attnmt.book.figures.colours import shade as shade  # for pages
from attnmt.metrics import Bucket
from attnmt.pairs import Link, Pair
from attnmt.training import History, Point


def theme() -> None:
    """Give all figures that follow the book's look: a white grid, colours that no system has."""
    sns.set_theme(style="whitegrid", palette=OTHERS)


def learning_curves(histories: Mapping[str, History], ax: Axes | None = None) -> Axes:
    """Perplexity on training (dashed) and validation pairs (solid) after each epoch."""
    ax = ax or plt.subplots(figsize=(6.4, 4))[1]
    for name, marker in zip(in_order(histories), cycle(MARKERS), strict=False):
        epochs = histories[name].epochs
        numbers = [epoch.epoch for epoch in epochs]
        valid = [epoch.valid_perplexity for epoch in epochs]
        style = {"marker": marker} | style_of(name)
        (line,) = ax.plot(numbers, valid, label=f"{name}, validation", **style)
        style |= {"color": line.get_color(), "linestyle": "--"}
        train = [epoch.train_perplexity for epoch in epochs]
        ax.plot(numbers, train, label=f"{name}, train", **style)
    ax.set(xlabel="epoch", ylabel="perplexity per target token (log scale)")
    ax.xaxis.get_major_locator().set_params(integer=True)
    return _log_perplexity(ax)


def curves_by_updates(curves: Mapping[str, Sequence[Point]], ax: Axes | None = None) -> Axes:
    """Validation perplexity against the number of updates, on logarithmic scales.

    Args:
        curves: ``history.curve`` of each training, by its name.
        ax: where to draw.
    """
    ax = ax or plt.subplots(figsize=(6.4, 4))[1]
    for name, marker in zip(in_order(curves), cycle(MARKERS), strict=False):
        updates = [point.updates for point in curves[name]]
        valid = [point.valid_perplexity for point in curves[name]]
        ax.plot(updates, valid, markersize=4, label=name, **{"marker": marker} | style_of(name))
    ax.set(xlabel="updates (log scale)", ylabel="validation perplexity (log scale)", xscale="log")
    ax.xaxis.set_major_formatter("{x:,.0f}")
    return _log_perplexity(ax)


def _log_perplexity(ax: Axes) -> Axes:
    """A logarithmic axis from 1 to the highest perplexity, with round numbers; and the legend."""
    highest = ax.dataLim.ymax
    ax.set(yscale="log")
    ticks = [t for t in (1, 2, 3, 5, 10, 20, 30, 50, 100, 200, 500, 1000) if t < highest * 1.3]
    ax.set_yticks(ticks, [str(tick) for tick in ticks])
    ax.minorticks_off()
    ax.legend()
    return ax


def bleu_by_length(
    systems: Mapping[str, list[Bucket]], ax: Axes | None = None, longest_trained: int | None = None
) -> Axes:
    """BLEU in each bucket of source length, with 95% bootstrap intervals and sentence counts.

    The counts are left out where the systems were measured on different numbers of sentences.

    Args:
        systems: buckets of each system, by its name; those of fewer than 5 sentences are not drawn.
        ax: where to draw.
        longest_trained: draw a line at the longest source sentence of the training pairs.
    """
    ax = ax or plt.subplots(figsize=(6.4, 4))[1]
    for name, marker in zip(in_order(systems), cycle(MARKERS), strict=False):
        buckets = [bucket for bucket in systems[name] if bucket.bleu.sentences >= 5]
        middle = [(bucket.shortest + bucket.longest) / 2 for bucket in buckets]
        scores = np.array([bucket.bleu.score for bucket in buckets])
        ends = [(bucket.bleu.low, bucket.bleu.high) for bucket in buckets]
        low, high = np.array(ends, dtype=float).reshape(-1, 2).T
        spread = np.nan_to_num([np.maximum(scores - low, 0), np.maximum(high - scores, 0)])
        style = {"marker": marker} | style_of(name)
        ax.errorbar(middle, scores, yerr=spread, capsize=3, label=name, **style)
    note = partial(ax.annotate, textcoords="offset points", color="dimgrey")
    counts = {tuple(bucket.bleu.sentences for bucket in some) for some in systems.values()}
    for x, bucket in zip(middle, buckets, strict=True):
        if len(counts) == 1:  # the same sentences for every system
            note(bucket.bleu.sentences, (x, 0), xytext=(0, -11), ha="center", fontsize=9)
    ax.set(xlabel="source sentence length (words)", ylabel="BLEU (0 to 100)")
    ax.set_ylim(bottom=-0.08 * ax.get_ylim()[1] if len(counts) == 1 else 0)  # room for counts
    if longest_trained is not None:
        edge = longest_trained + 0.5
        across = ("data", "axes fraction")
        ax.axvline(edge, color="dimgrey", linestyle=":")
        text = "longer than\nany training\nsentence"
        note(text, (edge, 1), xycoords=across, xytext=(5, -5), va="top", fontsize=9)
        ax.set_ylim(top=1.16 * ax.get_ylim()[1])  # above the lines
    ax.legend()
    return ax


def alignment(
    source: Sequence[str],
    words: Sequence[str],
    weights: ArrayLike,
    gold: Set[Link] | None = None,
    ax: Axes | None = None,
    bar: bool = True,
) -> Axes:
    """Where the model looked: source words across, target words down, weight as depth of blue.

    A notebook shows the figure as SVG: a cell under the mouse says its words and its weight
    (:func:`.alignment_svg`).

    Args:
        source: S source words.
        words: T target words.
        weights: (T, S), each row the weights of one target word.
        gold: known links (source index, target index), drawn as frames.
        ax: where to draw.
        bar: whether a bar beside it says what each blue means.
    """
    weights = np.asarray(weights)
    if len(words) == 0:
        ax = ax or plt.subplots(figsize=(4.6, 1))[1]
        ax.text(0.5, 0.5, "no word was written", ha="center", va="center")
        ax.axis("off")
        return ax
    needed = (len(words), len(source))
    if weights.shape != needed:
        raise ValueError(f"weights are {weights.shape}; these words need {needed}, target x source")
    if ax is None:
        S, T = len(source), len(words)
        size = (2.6 + labels.distance(S, 0.36) * S, 1.5 + labels.distance(T, 0.3) * T)
        ax = plt.subplots(figsize=size, layout="constrained")[1]
    grid = {"gid": svg.ALIGNMENT, "linewidths": 0.5, "linecolor": "#e4e4e4"}
    grid |= {"xticklabels": False, "yticklabels": False}
    beside = {"cbar": bar, "cbar_kws": {"label": "attention weight", "shrink": 0.8}}
    sns.heatmap(weights, vmin=0, vmax=1, cmap=svg.BLUES, ax=ax, **grid, **beside)
    svg.show_in_notebooks()
    for s, t in gold or ():
        ax.add_patch(Rectangle((s + 0.06, t + 0.06), 0.88, 0.88, fill=False, ec=GOLD, lw=1.6))
    ax.xaxis.tick_top()
    ax.xaxis.set_label_position("top")
    ax.tick_params(length=0)
    ax.grid(visible=False)
    steep = 60 if len(source) <= labels.MANY else 90
    upright = {"rotation": steep, "ha": "left", "rotation_mode": "anchor"}
    labels.label(ax.xaxis, source, **upright | ({"va": "center"} if steep == 90 else {}))
    labels.label(ax.yaxis, words, rotation=0)
    ax.set(xlabel="source words", ylabel="target words")
    return ax


def window(p: ArrayLike, D: int, ax: Axes) -> Axes:
    """Draw windows of local attention over an :func:`alignment`: words outside are grey.

    A green dot marks the centre of each window.

    Args:
        p: centres ``p_t`` of the T target words, (T,), in source positions from 0.
        D: positions on either side.
        ax: of the alignment.

    Raises:
        ValueError: there are more or fewer centres than target words.
    """
    p = np.asarray(p, dtype=float)
    if len(p) == 0:  # of a translation without words
        return ax
    T = round(abs(np.diff(ax.get_ylim())).item())
    S = round(ax.get_xlim()[1])
    if p.shape != (T,):
        raise ValueError(f"centres are {p.shape}; this alignment needs {(T,)}, one a target word")
    rows = np.arange(T) + 0.5  # the middle of a cell
    first = np.clip(np.ceil(p - D), 0, S)
    end = np.clip(np.floor(p + D) + 1, 0, S)
    grey = {"height": 1, "color": "#888888", "alpha": 0.4, "linewidth": 0}
    limits = ax.get_xlim(), ax.get_ylim()
    for frame in ax.patches:
        frame.set_zorder(1.5)  # known links are seen on grey, too
    ax.barh(rows, first, **grey)
    ax.barh(rows, S - end, left=end, **grey)
    ax.plot(p + 0.5, rows, "o-", color=CENTRE, markersize=4, linewidth=1)
    ax.set(xlim=limits[0], ylim=limits[1])
    return ax


def links(pair: Pair) -> Axes:
    """A pair as two columns of words, read downwards, with a line for each link.

    Solid blue links are sure, dashed orange ones only possible.

    Args:
        pair: with links.

    Raises:
        ValueError: the pair has no links, as pairs of real text.
    """
    if pair.possible is None:
        raise ValueError("this pair has no links to draw: real text comes without them")
    longest = max(len(pair.source), len(pair.target))
    ax = plt.subplots(figsize=(4.2, 1 + 0.3 * longest), layout="constrained")[1]
    for s, t in sorted(pair.possible):
        style, color = ("-", svg.BLUE) if (s, t) in pair.sure else ("--", GOLD)
        ax.plot([0, 1], [s, t], style, color=color)
    for x, side, words in ((-0.05, "right", pair.source), (1.05, "left", pair.target)):
        for y, word in enumerate(words):
            ax.text(x, y, word, ha=side, va="center", parse_math=False)
    ax.set(xlim=(-0.9, 1.9))
    ax.invert_yaxis()
    ax.axis("off")
    return ax
