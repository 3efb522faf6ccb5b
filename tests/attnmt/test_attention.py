"""attention.py: scores and windows, against plain loops in the papers' indices (by_hand.py).

Gradients of every score and window are checked with a decoder, in test_decoder.py.
"""

import by_hand
import pytest
import torch
from conftest import ATTENTIONS, make_attention, make_memory
from hypothesis import given
from hypothesis import strategies as st

from attnmt.attention import (
    SCORES,
    WINDOWS,
    Attention,
    Dot,
    General,
    Local,
    Location,
    Monotonic,
    Predictive,
    ScaledDot,
)

B, T, S, N = 2, 8, 6, 4  # T goes past the end of both sentences
LENGTHS = [6, 2]
CONTENT = [name for name, score in SCORES.items() if score.reads_contents]
every_attention = pytest.mark.parametrize("kind", ATTENTIONS, ids=" ".join)


def size_for(score):
    """d, the size of an annotation: not the query's, unless the score needs equal sizes."""
    return N if SCORES[score].equal_sizes else 5


@pytest.fixture
def query():
    torch.manual_seed(2)
    return torch.randn(B, T, N, dtype=torch.double)


def made(kind, D=1, lengths=LENGTHS, S=S, d=None):
    """An attention by its names, its weights enlarged so that it is decided, and its memory.

    A location score has fewer places than the longer sentence has words.
    """
    d = d or size_for(kind[0])
    attention = make_attention(*kind, N, d, D, max_length=4).double().requires_grad_(False)
    for weights in attention.parameters():
        weights.mul_(3)
    return attention, attention.prepare(make_memory(lengths, S, d))


# ----------------------------------------------------------------------------------- the papers'


@pytest.mark.parametrize("d", [N, None], ids=["equal sizes", "unequal sizes"])
@pytest.mark.parametrize("name", SCORES)
def test_every_score_is_the_papers_by_hand(name, d, query):
    """The score of each query and each annotation, one number at a time."""
    attention, memory = made((name, "global"), d=d)
    e = attention.score(query, memory.keys)
    for b in range(B):
        for t in range(T):
            for s in range(S):
                h_t, hbar_s = query[b, t].tolist(), memory.annotations[b, s].tolist()
                expected = by_hand.SCORES[name](attention.score, h_t, hbar_s, s)
                assert float(e[b, t, s]) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("D", [0, 1, 2, 7])
@pytest.mark.parametrize("name", WINDOWS)
def test_every_window_is_the_papers_by_hand(name, D, query):
    """Who takes part, and with what weight: local-p's Gaussian has sigma = D/2; S is true.

    The window has one word, some, or more than the sentence; local-p's has three or more.
    """
    attention, memory = made(("dot", name), max(D, 1) if name == "local-p" else D)
    mask, weight = attention.window(query, memory, time=0)
    weight = mask.double() if weight is None else weight * mask
    for b in range(B):
        for t in range(T):
            expected = by_hand.WINDOWS[name](attention.window, query[b, t].tolist(), LENGTHS[b], t)
            found = weight.expand(B, T, S)[b, t].tolist()
            assert found == pytest.approx([expected.get(s, 0) for s in range(S)], abs=1e-12)


@pytest.mark.parametrize("D", [1, 2])
@every_attention
def test_every_attention_is_the_papers_by_hand(kind, D, query):
    """a_t = softmax over the window, times its weight; c_t = the sum of a_t(s) hbar_s.

    By hand a sentence has no padding; here it has some, and what stands on it is large.
    """
    attention, memory = made(kind, D)
    memory.annotations[~memory.mask] = 1e3
    memory = attention.prepare(memory)
    context, align = attention(query, memory, time=0)
    for b in range(B):
        hbar = memory.annotations[b, : LENGTHS[b]].tolist()
        for t in range(T):
            c_t, a_t = by_hand.attend(kind, attention, query[b, t].tolist(), hbar, t)
            assert context[b, t].tolist() == pytest.approx(c_t, abs=1e-12)
            padding = [0.0] * (S - LENGTHS[b])
            assert align[b, t].tolist() == pytest.approx(a_t + padding, abs=1e-12)


# ------------------------------------------------------------------------------------ properties


@every_attention
def test_one_step_equals_many(kind, query):
    """A query has a time axis: T steps at once are T single steps, each told its time."""
    attention, memory = made(kind)
    context, align = attention(query, memory, time=0)
    for t in range(T):
        context_t, align_t = attention(query[:, t : t + 1], memory, time=t)
        torch.testing.assert_close(context_t[:, 0], context[:, t])
        torch.testing.assert_close(align_t[:, 0], align[:, t])


some_lengths = st.lists(st.integers(1, 9), min_size=1, max_size=4)


@given(lengths=some_lengths, D=st.integers(1, 12), share=st.floats(0, 1), scale=st.floats(0, 3))
def test_a_predictive_window(lengths, D, share, scale):
    """Never empty, within D of p_t, wherever p_t falls, edges and whole numbers included."""
    memory = make_memory(lengths, S=10, d=N)
    attention = Attention(Dot(N, N), Predictive(N, D).double())
    p = torch.tensor(lengths)[:, None].double() * share  # (B, 1)
    attention.window.centre = lambda *_: p
    query = torch.full((len(lengths), 1, N), scale, dtype=torch.double)
    _, align = attention(query, attention.prepare(memory), time=0)
    for b, length in enumerate(lengths):
        inside = align[b, 0].nonzero().flatten().tolist()
        assert 1 <= len(inside) <= 2 * D + 1 and inside[-1] < length
        assert all(abs(s - float(p[b])) <= D for s in inside)
        assert float(align[b].sum()) <= 1


# ---------------------------------------------------------------------------------- clear errors


def test_what_makes_no_sense_is_refused():
    with pytest.raises(TypeError, match="abstract"):
        Local(2)  # a local window must say where its centre is
    with pytest.raises(ValueError, match="one size, not 4 and 6: make them equal, or use General"):
        Dot(4, 6)
    with pytest.raises(ValueError, match="one size, not 4 and 6"):
        ScaledDot(4, 6)
    General(4, 6)
    for window in (Monotonic(2), Predictive(N, 2)):
        with pytest.raises(ValueError, match=r"location score .* takes the global window"):
            Attention(Location(N, 9), window)
    with pytest.raises(ValueError, match="D must be a whole number of at least 1, not 0"):
        Predictive(N, 0)  # of which the Gaussian would have no width
