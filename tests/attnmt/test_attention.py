"""attention.py: scores and windows, against plain loops in the papers' indices (by_hand.py)."""

import math
from dataclasses import replace
from inspect import isabstract, isclass

import by_hand
import pytest
import torch
from conftest import ATTENTIONS, make_attention, make_memory
from hypothesis import given
from hypothesis import strategies as st
from torch.func import functional_call

from attnmt import attention
from attnmt.attention import (
    SCORES,
    WINDOWS,
    Additive,
    Attention,
    Concat,
    Dot,
    FixedContext,
    General,
    Global,
    Local,
    Location,
    Monotonic,
    Predictive,
    ScaledDot,
    Score,
)
from attnmt.encoder import Memory

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
    """An attention by its names, its weights enlarged so that it is decided, and its memory."""
    d = d or size_for(kind[0])
    attention = make_attention(*kind, N, d, D).double().requires_grad_(False)
    for weights in attention.parameters():
        weights.mul_(3)
    return attention, attention.prepare(make_memory(lengths, S, d))


# ----------------------------------------------------------------------------------- the papers'


def test_every_score_has_a_name_and_is_done_by_hand():
    classes = {one for one in vars(attention).values() if isclass(one) and issubclass(one, Score)}
    assert {one for one in classes if not isabstract(one)} == set(SCORES.values())
    assert set(SCORES) == set(by_hand.SCORES)


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


def test_local_p_on_paper():
    """S = 8, D = 2, v_p = 0, so p_t = 4: positions 2...6, each 1/5 times the Gaussian."""
    window = Predictive(N, D=2).double()
    torch.nn.init.zeros_(window.v_p.weight)
    attention = Attention(Dot(N, N), window)
    memory = make_memory([8], S=9, d=N)
    memory = attention.prepare(replace(memory, annotations=torch.ones_like(memory.annotations)))
    _, align = attention(torch.ones(1, 1, N, dtype=torch.double), memory, time=0)
    at_2, at_1 = math.exp(-2) / 5, math.exp(-1 / 2) / 5  # distance 2 is two sigmas, sigma = 1
    expected = [0, 0, at_2, at_1, 1 / 5, at_1, at_2, 0, 0]
    assert align[0, 0].tolist() == pytest.approx(expected, abs=1e-12)


def test_concat_is_additive_asked_by_h_t(query):
    """W_a [h; hbar] = W h + U hbar: the same score with the same weights."""
    torch.manual_seed(0)
    concat, additive = Concat(N, 5, 7).double(), Additive(N, 5, 7).double()
    additive.W_a.weight.data, additive.U_a.weight.data = concat.W_a.weight.data.split([N, 5], dim=1)
    additive.v_a.weight.data = concat.v_a.weight.data
    h = make_memory(LENGTHS, S, 5).annotations
    e = concat(query, concat.prepare(h))
    torch.testing.assert_close(e, additive(query, additive.prepare(h)))


def test_a_location_score_does_not_look_at_contents_nor_beyond_its_length(query):
    attention = Attention(Location(N, max_length=3), Global()).double()
    one, other = (attention.prepare(make_memory([6, 2], S, 5, seed=seed)) for seed in (1, 2))
    _, align = attention(query, one, time=0)
    torch.testing.assert_close(align, attention(query, other, time=0)[1], rtol=0, atol=0)
    assert (align[0, :, :3] > 0).all() and (align[0, :, 3:] == 0).all()
    torch.testing.assert_close(align.sum(-1), torch.ones(B, T, dtype=torch.double))


def test_a_fixed_context_is_the_last_real_annotation():
    memory = make_memory(LENGTHS, S, 5)
    context, align = FixedContext()(torch.zeros(B, T, N), memory, time=0)
    assert align is None
    for b, length in enumerate(LENGTHS):
        for t in range(T):
            assert torch.equal(context[b, t], memory.annotations[b, length - 1])


# ------------------------------------------------------------------------------------ properties


@every_attention
def test_weights(kind, query):
    """Not negative, and none on padding; global and local-m sum to one, local-p to less."""
    attention, memory = made(kind)
    _, align = attention(query, memory, time=0)
    assert align.shape == (B, T, S)
    assert (align >= 0).all()
    assert (align.masked_select(~memory.mask[:, None].expand_as(align)) == 0).all()
    if kind[1] == "local-p":
        assert (align.sum(-1) > 0).all() and (align.sum(-1) < 1).all()
    else:
        torch.testing.assert_close(align.sum(-1), torch.ones(B, T, dtype=torch.double))


@every_attention
def test_what_stands_on_padding_changes_nothing(kind, query):
    attention, memory = made(kind)
    littered = replace(memory, annotations=memory.annotations.clone())
    littered.annotations[~memory.mask] = 1e3
    torch.testing.assert_close(
        attention(query, attention.prepare(littered), time=0), attention(query, memory, time=0)
    )


@every_attention
def test_one_step_equals_many(kind, query):
    """A query has a time axis: T steps at once are T single steps, each told its time."""
    attention, memory = made(kind)
    context, align = attention(query, memory, time=0)
    for t in range(T):
        context_t, align_t = attention(query[:, t : t + 1], memory, time=t)
        torch.testing.assert_close(context_t[:, 0], context[:, t])
        torch.testing.assert_close(align_t[:, 0], align[:, t])


@every_attention
def test_a_source_of_one_word_gets_all_the_weight(kind, query):
    attention, memory = made(kind, lengths=[1, 1], S=1)
    context, align = attention(query, memory, time=0)
    weight = attention.window(query, memory, time=0)[1] if kind[1] == "local-p" else 1
    torch.testing.assert_close(align, torch.ones_like(align) * weight)
    torch.testing.assert_close(context, memory.annotations * align)


@pytest.mark.parametrize("score", CONTENT)
def test_a_window_wider_than_the_sentence_is_global(score, query):
    """local-m exactly; local-p in the limit, as its Gaussian flattens to 1."""
    globally, memory = made((score, "global"))
    expected = globally(query, memory, time=0)
    monotonic = Attention(globally.score, Monotonic(D=S))
    torch.testing.assert_close(monotonic(query, memory, time=0), expected, rtol=0, atol=0)
    predictive = Attention(globally.score, Predictive(N, D=10**6).double())
    torch.testing.assert_close(predictive(query, memory, time=0), expected, rtol=0, atol=1e-9)


def test_local_m_follows_the_diagonal_and_waits_at_the_end(query):
    """With D = 0 all the weight is on word t, and on the last word once t is behind it."""
    attention, memory = made(("dot", "local-m"), D=0)
    _, align = attention(query, memory, time=0)
    assert align.argmax(-1).tolist() == [[0, 1, 2, 3, 4, 5, 5, 5], [0, 1, 1, 1, 1, 1, 1, 1]]
    assert ((align == 0) | (align == 1)).all()


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


class Prepared(torch.nn.Module):
    """Attention from unprepared memory on, so that its weights may be replaced for both."""

    def __init__(self, attention):
        super().__init__()
        self.attention = attention

    def forward(self, query, memory):
        return self.attention(query, self.attention.prepare(memory), time=0)


@pytest.mark.parametrize("D", [1, 30])
@every_attention
def test_gradients_are_those_of_the_formula(kind, D, query):
    """By finite differences, of query, annotations and every parameter.

    A local window's edge is a jump, which has no derivative. With D = 30 no edge is inside the
    sentence; with D = 1 we look that no word stands on one.
    """
    attention, memory = made(kind, D)
    attention.requires_grad_()
    if kind[1] != "global":
        p = attention.window.centre(query, memory, time=0).detach()
        distance = (torch.arange(S) - p[..., None]).abs()
        assert kind[1] == "local-m" or ((distance - D).abs() > 1e-4).all()
    whole = Prepared(attention)
    names = [name for name, _ in whole.named_parameters()]

    def attend(query, annotations, *weights):
        here = Memory(annotations, memory.mask)
        return functional_call(whole, dict(zip(names, weights)), (query, here))

    inputs = query.requires_grad_(), memory.annotations.requires_grad_(), *attention.parameters()
    assert torch.autograd.gradcheck(attend, inputs)


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
    for D in (-1, 2.5, True):  # a window has whole words
        with pytest.raises(ValueError, match=f"D must be a whole number of at least 0, not {D}"):
            Monotonic(D)
    for D in (0, -1, 2.5, True):
        with pytest.raises(ValueError, match=f"D must be a whole number of at least 1, not {D}"):
            Predictive(N, D)
    for longest in (0, -1, 2.5, True):
        with pytest.raises(ValueError, match=f"max_length must be a whole .* 1, not {longest}"):
            Location(N, longest)
