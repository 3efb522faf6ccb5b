"""A linear probe: which source words can be read off the vector that an encoder hands over."""

from collections.abc import Sequence

import torch
from torch import Tensor

from attnmt.batches import pad
from attnmt.corpus import Pair
from attnmt.model import Translator

CHUNK = 500  # sentences that are read at once


def handed_over(model: Translator, pairs: Sequence[Pair]) -> Tensor:
    """The last encoder state of every pair's source, with a 1 for the bias: (pairs, n + 1).

    Args:
        model: whose encoder ends in one vector, as RNNencdec's does.
        pairs: whose sources are read.
    """
    rows = []
    with torch.no_grad():
        for start in range(0, len(pairs), CHUNK):
            some = pairs[start : start + CHUNK]
            ids = [model.source_vocabulary.encode(pair.source) for pair in some]
            rows.append(model.encoder(pad(ids))[1].double())
    c = torch.cat(rows)
    return torch.cat([c, torch.ones(len(c), 1, dtype=c.dtype)], dim=1)


def fit_probe(c: Tensor, y: Tensor, words: int) -> Tensor:
    """Weights (n + 1, words) that map vectors to one-hot words by damped least squares.

    Args:
        c: (pairs, n + 1), as :func:`handed_over` gives them.
        y: (pairs,), the index of each pair's word.
        words: size of the vocabulary.

    Raises:
        ValueError: there are more or fewer words than vectors.
    """
    if len(c) != len(y):
        raise ValueError(f"{len(c)} vectors for {len(y)} words: give one word for each vector")
    hits = c.new_zeros(words, c.size(1)).index_add(0, y, c).T  # (n + 1, words)
    return torch.linalg.solve(c.T @ c + torch.eye(c.size(1), dtype=c.dtype), hits)
