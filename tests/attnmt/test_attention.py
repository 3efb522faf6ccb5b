"""attention.py: scores and windows, against plain loops in the papers' indices (by_hand.py)."""

from inspect import isabstract, isclass

import by_hand
import pytest
import torch
from conftest import ATTENTIONS, make_attention, make_memory
from hypothesis import given
from hypothesis import strategies as st

from attnmt import attention
from attnmt.attention import (
    SCORES,
    WINDOWS,
    Attention,
    Dot,
    Location,
    Monotonic,
    Predictive,
    ScaledDot,
    Score,
)

B, T, S, N = 3, 8, 6, 4  # T goes past the end of every sentence
LENGTHS = [6, 2, 1]
CONTENT = [name for name, score in SCORES.items() if score.reads_contents]
every_attention = pytest.mark.parametrize("kind", ATTENTIONS, ids=" ".join)


@pytest.fixture
def query():
    torch.manual_seed(2)
    return torch.randn(B, T, N, dtype=torch.double)


def made(kind, D=1):
    """An attention by its names, its weights enlarged so that it is decided, and its memory.

    A location score knows fewer positions than the longest sentence has.
    """
    d = N if SCORES[kind[0]].equal_sizes else 5  # numbers in an annotation
    attention = make_attention(*kind, N, d, D, max_length=4).double().requires_grad_(False)
    for weights in attention.parameters():
        weights.mul_(3)
    return attention, attention.prepare(make_memory(LENGTHS, S, d))


# ----------------------------------------------------------------------------------- the papers'


def test_every_score_has_a_name_and_is_done_by_hand():
    classes = {one for one in vars(attention).values() if isclass(one) and issubclass(one, Score)}
    assert {one for one in classes if not isabstract(one)} == set(SCORES.values())
    assert set(SCORES) == set(by_hand.SCORES)


@pytest.mark.parametrize("D", [1, 2, 7])
@pytest.mark.parametrize("name", WINDOWS)
def test_every_window_is_the_papers_by_hand(name, D, query):
    """Who takes part, and with what weight: local-p's Gaussian has sigma = D/2; S is true."""
    attention, memory = made(("dot", name), D)
    mask, weight = attention.window(query, memory, time=0)
    weight = mask.double() if weight is None else weight * mask
    for b in range(B):
        for t in range(T):
            expected = by_hand.WINDOWS[name](attention.window, query[b, t].tolist(), LENGTHS[b], t)
            found = weight.expand(B, T, S)[b, t].tolist()
            assert found == pytest.approx([expected.get(s, 0) for s in range(S)], abs=1e-12)


@every_attention
def test_every_attention_is_the_papers_by_hand(kind, query):
    """a_t = softmax over the window, times its weight; c_t = the sum of a_t(s) hbar_s."""
    attention, memory = made(kind)
    context, align = attention(query, memory, time=0)
    for b in range(B):
        hbar = memory.annotations[b, : LENGTHS[b]].tolist()
        for t in range(T):
            c_t, a_t = by_hand.attend(kind, attention, query[b, t].tolist(), hbar, t)
            assert context[b, t].tolist() == pytest.approx(c_t, abs=1e-12)
            padding = [0.0] * (S - LENGTHS[b])
            assert align[b, t].tolist() == pytest.approx(a_t + padding, abs=1e-12)


# ------------------------------------------------------------------------------------ properties


some_lengths = st.lists(st.integers(1, 9), min_size=1, max_size=4)


@given(lengths=some_lengths, D=st.integers(0, 12), time=st.integers(0, 20))
def test_a_monotonic_window(lengths, D, time):
    """Never empty, at most 2D + 1 positions, none on padding, all within D of p_t."""
    memory = make_memory(lengths, S=10, d=N)
    mask, weight = Monotonic(D)(torch.zeros(len(lengths), 3, N), memory, time)
    assert weight is None
    for b, length in enumerate(lengths):
        for t in range(3):
            inside = mask[b, t].nonzero().flatten().tolist()
            assert 1 <= len(inside) <= 2 * D + 1
            assert inside == list(range(inside[0], inside[-1] + 1)) and inside[-1] < length
            assert all(abs(s - min(time + t, length - 1)) <= D for s in inside)


@given(lengths=some_lengths, D=st.integers(1, 12), share=st.floats(0, 1), scale=st.floats(0, 3))
def test_a_predictive_window(lengths, D, share, scale):
    """As a monotonic one, wherever p_t falls, edges and whole numbers included; sum below one."""
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


@given(lengths=some_lengths, seed=st.integers(0, 9), size=st.floats(0, 4))
def test_p_t_is_inside_the_sentence(lengths, seed, size):
    """0 < p_t < S, the sentence's own S, however much of the batch is padding."""
    torch.manual_seed(seed)
    window = Predictive(N, D=2).double()
    query = size * torch.randn(len(lengths), 5, N, dtype=torch.double)
    p = window.centre(query, make_memory(lengths, S=30, d=N), time=0)
    assert (p > 0).all() and (p < torch.tensor(lengths)[:, None]).all()
    alone = window.centre(query[:1], make_memory(lengths[:1], S=lengths[0], d=N), time=0)
    torch.testing.assert_close(alone, p[:1])


# ------------------------------------------------------------------------------------- gradients


@pytest.mark.parametrize("score", CONTENT)
def test_p_t_learns_through_the_gaussian_alone(score, query, monkeypatch):
    """A window's edge tells p_t nothing: without the Gaussian W_p and v_p have no gradient."""
    attention, memory = made((score, "local-p"))
    window = attention.window.requires_grad_()

    def learned():
        context, _ = attention(query.requires_grad_(), memory, time=0)
        grads = torch.autograd.grad(context.sum(), list(window.parameters()), allow_unused=True)
        return [g is not None and bool((g != 0).any()) for g in grads]

    assert learned() == [True, True]
    weight = Predictive.weight
    monkeypatch.setattr(Predictive, "weight", lambda self, s, p_t: weight(self, s, p_t).detach())
    assert learned() == [False, False]


# ---------------------------------------------------------------------------------- clear errors


def whole(name, least):
    return f"{name} must be a whole number of at least {least}, not "


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Dot(4, 6), "one size, not 4 and 6: make them equal, or use General"),
        (lambda: ScaledDot(4, 6), "one size, not 4 and 6"),
        (lambda: Attention(Location(N, 9), Monotonic(2)), "location score .* the global window"),
        (lambda: Attention(Location(N, 9), Predictive(N, 2)), "location score .* global window"),
        (lambda: Monotonic(-1), whole("D", 0) + "-1"),
        (lambda: Monotonic(2.5), whole("D", 0) + "2.5"),  # a window has whole words
        (lambda: Predictive(N, 0), whole("D", 1) + "0"),
        (lambda: Location(N, True), whole("max_length", 1) + "True"),
    ],
)
def test_what_makes_no_sense_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
