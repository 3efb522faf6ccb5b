"""Sentences side by side: padding, lengths, masks, and batches of sentences of similar length.

The mask's polarity is born here and holds everywhere: ``mask: True = a real token``.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from attnmt.checks import whole
from attnmt.pairs import Pair
from attnmt.vocab import BOS, EOS, PAD, Vocabulary


@dataclass(frozen=True)
class Source:
    """Source sentences as a model reads them.

    ``ids`` (B, S) word indices, PAD behind the end; ``lengths`` (B,) true lengths; ``mask`` (B, S)
    True = a real token.
    """

    ids: Tensor
    lengths: Tensor
    mask: Tensor

    def to(self, device: torch.device | str) -> "Source":
        """The same sentences on a device."""
        return Source(self.ids.to(device), self.lengths.to(device), self.mask.to(device))


@dataclass(frozen=True)
class Batch:
    """Pairs of sentences as a model learns from them.

    ``target_in`` (B, T) is ``<s> y_1 ... y_n``, what the decoder reads; ``target_out`` (B, T) is
    ``y_1 ... y_n </s>``, what it should say; ``target_mask`` (B, T) True = a real token.
    """

    source: Source
    target_in: Tensor
    target_out: Tensor
    target_mask: Tensor

    @cached_property
    def tokens(self) -> int:
        """Target tokens, ``</s>`` included."""
        return int(self.target_mask.sum())

    @cached_property
    def sentences(self) -> int:
        """Pairs of sentences."""
        return len(self.target_in)

    def count(self, per: str) -> int:
        """What a recipe's loss is divided by: ``"token"`` or ``"sentence"``."""
        return self.tokens if per == "token" else self.sentences

    def to(self, device: torch.device | str) -> "Batch":
        """The same batch on a device."""
        sides = (self.target_in, self.target_out, self.target_mask)
        return Batch(self.source.to(device), *(side.to(device) for side in sides))


def pad(sequences: Sequence[Sequence[int]], extra: int = 0) -> Source:
    """Write sequences below each other and fill with PAD: (B, S), with lengths and mask.

    >>> pad([[4, 5, 6], [7]]).mask.tolist()
    [[True, True, True], [True, False, False]]

    Args:
        sequences: word indices, each at least one.
        extra: further columns of padding. They must change nothing, which the tests use.

    Raises:
        ValueError: no sequences, or an empty one.
    """
    lengths = torch.tensor([len(sequence) for sequence in sequences])  # (B,)
    if len(sequences) == 0 or lengths.min() == 0:
        raise ValueError("a batch needs at least one sentence, and a sentence at least one word")
    ids = torch.full((len(sequences), int(lengths.max()) + extra), PAD)  # (B, S)
    for row, sequence in zip(ids, sequences, strict=True):
        row[: len(sequence)] = torch.tensor(sequence)
    mask = torch.arange(ids.size(1)) < lengths[:, None]  # (B, S)
    return Source(ids, lengths, mask)


def make_batch(
    pairs: Sequence[Pair], source: Vocabulary, target: Vocabulary, extra: int = 0
) -> Batch:
    """Encode and pad some pairs.

    >>> vocabulary = Vocabulary(["Hund"], "de")
    >>> pair = Pair(("Hund",), ("Hund",), "Hund", "Hund")
    >>> make_batch([pair], vocabulary, vocabulary).target_out.tolist()
    [[4, 3]]
    """
    words = [target.encode(pair.target) for pair in pairs]
    target_in = pad([[BOS, *ids] for ids in words], extra)
    target_out = pad([[*ids, EOS] for ids in words], extra)
    encoded = pad([source.encode(pair.source) for pair in pairs], extra)
    return Batch(encoded, target_in.ids, target_out=target_out.ids, target_mask=target_out.mask)


def by_length(
    lengths: Sequence[tuple[int, ...]], batch_size: int, pool: int | None, seed: int
) -> list[list[int]]:
    """Group indices of sentences into batches of similar length.

    As in Bahdanau et al. 2015, appendix B: take the sentences of ``pool`` batches at a time, sort
    those by length, and cut them into batches. Here the sentences are shuffled before, and the
    batches after. ``pool=1`` only sorts within each shuffled batch. ``pool=None`` sorts all
    sentences and shuffles nothing, for evaluation.
    """
    whole(1, batch_size=batch_size, pool=1 if pool is None else pool)
    order = list(range(len(lengths)))
    shuffler = random.Random(seed)
    if pool is not None:
        shuffler.shuffle(order)
    pool_size = len(order) if pool is None else pool * batch_size
    batches = []
    for start in range(0, len(order), max(pool_size, 1)):
        pooled = sorted(order[start : start + pool_size], key=lambda index: lengths[index])
        batches += [pooled[i : i + batch_size] for i in range(0, len(pooled), batch_size)]
    if pool is not None:
        shuffler.shuffle(batches)
    return batches


def batches(
    pairs: Sequence[Pair],
    source: Vocabulary,
    target: Vocabulary,
    batch_size: int,
    pool: int | None = 20,
    seed: int = 0,
) -> Iterator[Batch]:
    """All pairs once, in padded batches of similar length; order and content follow the seed."""
    lengths = [(len(pair.target), len(pair.source)) for pair in pairs]
    for group in by_length(lengths, batch_size, pool, seed=seed):
        yield make_batch([pairs[index] for index in group], source, target)
