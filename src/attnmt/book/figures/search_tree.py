"""A search for one sentence, step by step, and its picture as a tree.

A *reader* is a function from the words written so far, a tuple, to log p of the next words. What a
model answers can so be searched in plain lists, and a search can be drawn::

    next_words = reader(model, model.source_vocabulary.tokenise("Das Kind schläft."))
    draw(next_words, beam=2)
"""

import math
from collections.abc import Callable, Sequence
from functools import cache
from itertools import chain, count
from typing import Any

import matplotlib.pyplot as plt
import torch
from matplotlib.axes import Axes

from attnmt.batches import pad
from attnmt.checks import whole
from attnmt.model import Translator, evaluating
from attnmt.vocab import BOS, EOS, PAD, SPECIALS

Words = tuple[str, ...]
Hypothesis = tuple[Words, float]  # the words written so far, and the sum of their log p
Reader = Callable[[Words], dict[str, float]]

LIMIT = 60  # words of a translation, at most
BEST = "#0072b2"  # colours: of the beam's translation,
ALONE = "#c04f00"  # of greedy search's,
BOTH = "#202020"  # of what they share,
DROPPED = "#6a6a6a"  # and of what fell out of the beam
WIDE = 1.45  # inches of a column
HIGH = 0.4  # and of a step


def reader(model: Translator, sentence: Sequence[str], most: int = 10) -> Reader:
    """For one source sentence: from the words written so far to log p of the likely next words.

    The decoder's state after each beginning is kept, so that a new word takes one step.

    Args:
        model: a translator.
        sentence: its source words.
        most: how many next words are given, the most probable ones. A beam of k needs k of them.
    """
    whole(1, most=most)
    vocabulary = model.target_vocabulary.words
    index = {word: number for number, word in enumerate(vocabulary)}
    with evaluating(model):
        source = pad([model.source_vocabulary.encode(sentence)]).to(model.device)
        memory, first = model.start(source)

    @cache
    def after(words: Words) -> tuple[dict[str, float], Any]:
        """The next words, and the state that is left."""
        y = torch.tensor([index[words[-1]] if words else BOS], device=model.device)
        before = after(words[:-1])[1] if words else first
        with evaluating(model):
            log_p, _, state = model.step(y, before, memory)
        log_p[:, [PAD, BOS]] = -torch.inf
        values, numbers = log_p[0].topk(min(most, len(vocabulary) - 2))
        likely = zip(numbers.tolist(), values.tolist(), strict=True)
        return {vocabulary[number]: value for number, value in likely}, state

    return lambda words: after(words)[0]


def ended(words: Words) -> bool:
    """Whether a hypothesis has written ``</s>``."""
    return words[-1:] == (SPECIALS[EOS],)


def search(next_words: Reader, beam: int, limit: int = LIMIT) -> list[list[Hypothesis]]:
    """Beam search in plain lists: the hypotheses that were kept after each step, best first.

    It stops when the best of them has ended, or after ``limit`` steps.
    """
    whole(1, beam=beam, limit=limit)
    kept: list[Hypothesis] = [((), 0.0)]
    steps = []
    while len(steps) < limit and not ended(kept[0][0]):
        candidates = [one for one in kept if ended(one[0])]
        for words, score in kept:
            if not ended(words):
                more = next_words(words).items()
                candidates += [((*words, word), score + log_p) for word, log_p in more]
        kept = sorted(candidates, key=lambda one: one[1], reverse=True)[:beam]
        steps.append(kept)
    return steps


def draw(next_words: Reader, beam: int) -> Axes:
    """Draw everything that a beam kept as a tree that grows downwards, one row a step.

    Each word has the probability of its hypothesis up to there beside it. The beam's translation is
    blue, that of greedy search orange, what they share black, and what the beam dropped grey.
    """
    steps = search(next_words, beam)
    alone = search(next_words, 1)
    best = steps[-1][0][0]
    greedy = alone[-1][0][0]
    nodes = dict(chain([((), 0.0)], *alone, *steps))
    place = _places(nodes)
    columns, rows = (max(one[k] for one in place.values()) + 1 for k in (0, 1))
    size = (WIDE * columns + 0.8, HIGH * rows + 0.3)
    ax = plt.subplots(figsize=size, layout="constrained")[1]
    for words, (x, y) in place.items():
        ways = words == best[: len(words)], words == greedy[: len(words)]
        colour = {(True, True): BOTH, (True, False): BEST, (False, True): ALONE}.get(ways, DROPPED)
        thick = {"color": colour, "weight": "bold" if any(ways) else "normal"}
        if words:
            above = place[words[:-1]]
            line = {"color": colour, "lw": 2.4 if any(ways) else 1.1}
            ax.plot([above[0], x], [above[1] + 0.3, y - 0.3], **line)
        shown = f"{words[-1] if words else SPECIALS[BOS]}  {math.exp(nodes[words]):.2f}"
        ax.text(x, y, shown, ha="center", va="center", fontsize=11, parse_math=False, **thick)
    ax.set(xlim=(-0.6, columns - 0.4), ylim=(rows - 0.5, -0.5), ylabel="step")
    ax.set_yticks(range(1, rows))
    ax.set_xticks([])
    ax.grid(visible=False)
    for side in ("bottom", "right", "top"):
        ax.spines[side].set_visible(False)
    return ax


def _places(nodes: dict[Words, float]) -> dict[Words, tuple[float, int]]:
    """Column and row of each node: leaves beside each other, the more probable one further left."""
    children: dict[Words, list[Words]] = {words: [] for words in nodes}
    for words in nodes:
        if words:
            children[words[:-1]].append(words)
    place = {}
    columns = count()

    def lay_out(words: Words) -> None:
        below = sorted(children[words], key=nodes.get, reverse=True)
        for child in below:
            lay_out(child)
        across = [place[child][0] for child in below] or [next(columns)]
        place[words] = ((across[0] + across[-1]) / 2, len(words))

    lay_out(())
    return place
