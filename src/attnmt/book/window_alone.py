"""Local attention that touches nothing outside its window.

A window that is only a mask saves nothing: all scores are computed, and most are thrown away. Here
the words of each window are gathered first. The numbers are the same. It pays for texts of hundreds
of words (the frozen study ``local_cost``), so the package itself, which reads sentences, does
without.
"""

import torch
from torch import Tensor

from attnmt.attention import Attention, weigh
from attnmt.encoder import Memory


def attend_within(
    attention: Attention, query: Tensor, memory: Memory, time: int
) -> tuple[Tensor, Tensor]:
    """As :meth:`.Attention.forward`, touching only the W = 2D + 1 words of each window.

    Args:
        attention: with a local window.
        query: (B, T, n).
        memory: prepared, of S source positions.
        time: target position of the first query, counted from 0.

    Returns:
        context (B, T, d), and align (B, T, S).
    """
    B, T, _ = query.shape
    S = memory.mask.size(1)
    D = attention.window.D
    p_t = attention.window.centre(query, memory, time)[..., None]  # (B, T, 1)
    first = (p_t.detach() - D).ceil().long().clamp(min=0)  # (B, T, 1)
    s = first + torch.arange(2 * D + 1, device=query.device)  # (B, T, W)
    mask = ((s - p_t).abs() <= D) & (s < memory.lengths[:, None, None])  # (B, T, W)
    weight = attention.window.weight(s, p_t)  # (B, T, W), or None
    s = s.clamp(max=S - 1)  # past the end, where no word takes part, any position will do
    rows = torch.arange(B, device=query.device)[:, None, None]  # (B, 1, 1)
    keys = memory.keys[rows, s]  # (B, T, W, k)
    annotations = memory.annotations[rows, s]  # (B, T, W, d)
    # each query meets its own window: B T sentences of W words, one query each
    scores = attention.score(query.flatten(0, 1)[:, None], keys.flatten(0, 1))  # (B T, 1, W)
    weights = weigh(scores.view(mask.shape), mask, weight)  # (B, T, W)
    context = (weights[:, :, None] @ annotations).squeeze(2)  # (B, T, d)
    align = weights.new_zeros(B, T, S).scatter_add(2, s, weights)
    return context, align
