"""book/window_alone.py: the same numbers and gradients as of attention with a mask."""

import pytest
import torch
from conftest import ATTENTIONS, make_attention, make_memory

from attnmt import Attention
from attnmt.attention import SCORES
from attnmt.book.window_alone import attend_within
from attnmt.encoder import Memory

N = 4
LOCAL = [kind for kind in ATTENTIONS if kind[1] != "global"]


@pytest.mark.parametrize("S", [6, 40])
@pytest.mark.parametrize("kind", LOCAL, ids=" ".join)
def test_only_the_window_is_touched_and_nothing_changes(kind, S):
    d = N if SCORES[kind[0]].equal_sizes else 5
    attention = make_attention(*kind, N, d, D=2).double()
    memory = make_memory([S, S - 1, 3, 1], S, d)
    torch.manual_seed(0)
    query = torch.randn(4, 9, N, dtype=torch.double, requires_grad=True)
    annotations = memory.annotations.requires_grad_()
    learned = [query, annotations, *attention.parameters()]
    for time in (0, S - 4):
        found = []
        for attend in (Attention.forward, attend_within):
            prepared = attention.prepare(Memory(annotations, memory.mask))
            context, align = attend(attention, query, prepared, time)
            summed = (context * torch.arange(d)).sum() + align.square().sum()
            found.append((context, align, torch.autograd.grad(summed, learned)))
        torch.testing.assert_close(*found, rtol=0, atol=1e-9)
