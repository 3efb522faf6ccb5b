"""Measuring by several processes: each takes every so-maniest batch, and all get every answer.

The batches are those that one process would make, so that a sentence keeps its company: even the
last bit of its loss, and with it each word of its translation, is what one process finds.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from accelerate import Accelerator
from accelerate.utils import gather_object

from attnmt.batches import by_length
from attnmt.corpus import Pair
from attnmt.decoding import BATCH_WORDS, Translation
from attnmt.metrics import MOST, sentence_losses
from attnmt.model import Translator

SIDE_BY_SIDE = 64  # sentences a batch, as of the core's search and measurement


def shared_by(
    accelerator: Accelerator,
    groups: Sequence[Sequence[int]],
    answer: Callable[[Sequence[int]], Sequence[Any]],
) -> list[Any]:
    """Answer groups of items, each by one process; all processes get all answers, by item.

    Args:
        accelerator: whose processes they are.
        groups: numbers of items, each number once.
        answer: the answers to one group, in its order.
    """
    found: list[tuple[int, Any]] = []
    for rows in groups[accelerator.process_index :: accelerator.num_processes]:
        found += zip(rows, answer(rows), strict=True)
    answers = dict(gather_object(found))
    return [answers[item] for item in sorted(answers)]


def losses_by(accelerator: Accelerator, model: Translator, pairs: Sequence[Pair]) -> np.ndarray:
    """As :func:`attnmt.metrics.sentence_losses`, by several processes: (N, 2).

    Raises:
        ValueError: no pairs.
    """
    if not pairs:
        raise ValueError("perplexity needs at least one pair")
    lengths = [(len(pair.target), len(pair.source)) for pair in pairs]
    groups = by_length(lengths, SIDE_BY_SIDE, pool=None, seed=0)

    def answer(rows: Sequence[int]) -> list[list[float]]:
        return sentence_losses(model, [pairs[row] for row in rows], SIDE_BY_SIDE).tolist()

    return np.array(shared_by(accelerator, groups, answer))


def perplexity_by(accelerator: Accelerator, model: Translator, pairs: Sequence[Pair]) -> float:
    """As :func:`attnmt.metrics.perplexity`, by several processes."""
    total, tokens = losses_by(accelerator, model, pairs).sum(axis=0)
    return math.inf if total / tokens > MOST else math.exp(total / tokens)


def translated_by(
    accelerator: Accelerator,
    search: Callable[[list[Sequence[str]]], list[Translation]],
    sentences: Sequence[Sequence[str]],
) -> list[Translation]:
    """Translate sentences by several processes.

    Args:
        accelerator: whose processes they are.
        search: greedy or beam search of a model, which takes lists of words.
        sentences: lists of words, none of them empty.
    """

    def answer(rows: Sequence[int]) -> list[Translation]:
        return search([sentences[row] for row in rows])

    return shared_by(accelerator, as_searched([len(words) for words in sentences]), answer)


def as_searched(lengths: Sequence[int]) -> list[list[int]]:
    """The groups in which the core's search translates sentences of these lengths."""
    waiting = sorted(range(len(lengths)), key=lambda number: -lengths[number])
    groups = []
    while waiting:
        count = max(1, min(SIDE_BY_SIDE, BATCH_WORDS // (lengths[waiting[0]] + 1)))
        groups.append(waiting[:count])
        waiting = waiting[count:]
    return groups
