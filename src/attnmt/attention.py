"""Attention: compare a query with every annotation, weigh, and blend.

``Attention(score, window)`` is put together of two small parts. A *score* says how well each source
position matches the query; a *window* says which positions may take part, and what multiplies their
weights afterwards. A query always has a time axis: one decoder step is T = 1, a whole sentence T
steps at once.
"""

from dataclasses import replace

import torch
from torch import Tensor, nn

from attnmt.encoder import Memory


class Additive(nn.Module):
    """Bahdanau's alignment model: ``e_ij = v_a^T tanh(W_a s_{i-1} + U_a h_j)``.

    Bahdanau et al. 2015, appendix A.1.2.

    Args:
        query: n, size of the query s_{i-1}.
        annotation: size of an annotation h_j (2n for a bidirectional encoder).
        hidden: units of the alignment model.
    """

    def __init__(self, query: int, annotation: int, hidden: int):
        super().__init__()
        self.W_a = nn.Linear(query, hidden, bias=False)
        self.U_a = nn.Linear(annotation, hidden, bias=False)
        self.v_a = nn.Linear(hidden, 1, bias=False)

    def prepare(self, annotations: Tensor) -> Tensor:
        """``U_a h_j`` does not depend on i: (B, S, d) -> (B, S, hidden), once a sentence."""
        return self.U_a(annotations)

    def forward(self, query: Tensor, keys: Tensor) -> Tensor:
        """Scores of queries (B, T, n) against prepared keys (B, S, hidden): (B, T, S)."""
        hidden = torch.tanh(self.W_a(query)[:, :, None] + keys[:, None])  # (B, T, S, hidden)
        return self.v_a(hidden).squeeze(-1)  # (B, T, S)


class Global(nn.Module):
    """The window that is none: every real source word takes part."""

    def forward(self, query: Tensor, memory: Memory, time: int) -> tuple[Tensor, Tensor | None]:
        """Which positions take part, and what multiplies their weights.

        Args:
            query: (B, T, n).
            memory: of S source positions.
            time: the target position of the first query, counted from 0.

        Returns:
            keep (B, T, S) or (B, 1, S), True = takes part; gain, of the same shape, or None for 1.
        """
        return memory.mask[:, None], None


class Attention(nn.Module):
    """A score and a window, put together."""

    def __init__(self, score: nn.Module, window: nn.Module):
        super().__init__()
        self.score = score
        self.window = window

    def prepare(self, memory: Memory) -> Memory:
        """Compute once for a sentence what does not depend on the query."""
        return replace(memory, keys=self.score.prepare(memory.annotations))

    def forward(self, query: Tensor, memory: Memory, time: int) -> tuple[Tensor, Tensor]:
        """Attend with T queries, the first of them at target position ``time``.

        Args:
            query: (B, T, n).
            memory: prepared, of S source positions.
            time: target position of the first query, counted from 0.

        Returns:
            context (B, T, d), the weighted sum of annotations; align (B, T, S), the weights.
        """
        keep, gain = self.window(query, memory, time)
        scores = self.score(query, memory.keys).masked_fill(~keep, -torch.inf)  # (B, T, S)
        align = scores.softmax(dim=-1)  # zero wherever keep is False
        align = align if gain is None else align * gain
        return align @ memory.annotations, align
