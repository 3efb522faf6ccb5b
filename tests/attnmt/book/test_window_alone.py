"""book/window_alone.py: the same numbers and gradients as of attention with a mask."""

import pytest
import torch
from conftest import ATTENTIONS, make_attention, make_memory
from hypothesis import given
from hypothesis import strategies as st

from attnmt import Attention, Dot, Predictive
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


lengths = st.lists(st.integers(1, 9), min_size=1, max_size=4)


@given(lengths=lengths, D=st.integers(1, 12), share=st.floats(0, 1), scale=st.floats(0, 3))
def test_wherever_the_centre_falls(lengths, D, share, scale):
    """Edges and whole numbers included."""
    attention = Attention(Dot(N, N), Predictive(N, D).double())
    p_t = torch.tensor(lengths)[:, None].double() * share  # (B, 1)
    attention.window.centre = lambda *_: p_t
    memory = attention.prepare(make_memory(lengths, S=10, d=N))
    query = torch.full((len(lengths), 1, N), scale, dtype=torch.double)
    within = attend_within(attention, query, memory, time=0)
    torch.testing.assert_close(within, attention(query, memory, time=0), rtol=0, atol=1e-12)
