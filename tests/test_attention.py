"""attention.py: scores and windows, against plain loops in the papers' indices."""

import math

import pytest
import torch

from attnmt.attention import Additive, Attention, Global
from attnmt.encoder import Memory

B, T, S, N, D = 2, 3, 5, 4, 6
LENGTHS = [5, 2]


@pytest.fixture
def memory():
    torch.manual_seed(1)
    lengths = torch.tensor(LENGTHS)
    return Memory(
        torch.randn(B, S, D, dtype=torch.double), torch.arange(S) < lengths[:, None], lengths
    )


@pytest.fixture
def query():
    torch.manual_seed(2)
    return torch.randn(B, T, N, dtype=torch.double)


@pytest.fixture
def attention():
    torch.manual_seed(3)
    return Attention(Additive(N, D, 7), Global()).double()


def test_additive_score_is_bahdanaus_formula(memory, query):
    """e_ij = v_a^T tanh(W_a s_{i-1} + U_a h_j), one number at a time."""
    torch.manual_seed(0)
    score = Additive(N, D, hidden=7).double()
    e = score(query, score.prepare(memory.annotations)).detach()
    W, U, v = (part.weight.detach() for part in (score.W_a, score.U_a, score.v_a))
    for b in range(B):
        for i in range(T):
            for j in range(S):
                by_hand = 0.0
                for k in range(7):
                    inner = sum(float(W[k, a] * query[b, i, a]) for a in range(N))
                    inner += sum(float(U[k, a] * memory.annotations[b, j, a]) for a in range(D))
                    by_hand += float(v[0, k]) * math.tanh(inner)
                assert float(e[b, i, j]) == pytest.approx(by_hand, abs=1e-12)


def test_context_is_the_weighted_sum_of_annotations(attention, memory, query):
    memory = attention.prepare(memory)
    with torch.no_grad():
        context, align = attention(query, memory, time=0)
        e = attention.score(query, memory.keys)
    for b in range(B):
        for i in range(T):
            exps = [math.exp(float(e[b, i, j])) for j in range(LENGTHS[b])]
            alpha = [x / sum(exps) for x in exps]
            assert align[b, i, : LENGTHS[b]].tolist() == pytest.approx(alpha)
            for k in range(D):
                c = sum(a * float(memory.annotations[b, j, k]) for j, a in enumerate(alpha))
                assert float(context[b, i, k]) == pytest.approx(c)


def test_global_weights_are_a_distribution_over_real_words(attention, memory, query):
    _, align = attention(query, attention.prepare(memory), time=0)
    assert align.shape == (B, T, S)
    assert (align >= 0).all()
    torch.testing.assert_close(align.sum(-1), torch.ones(B, T, dtype=torch.double))
    assert (align.masked_select(~memory.mask[:, None].expand_as(align)) == 0).all()


def test_what_stands_on_padding_changes_nothing(attention, memory, query):
    context, align = attention(query, attention.prepare(memory), time=0)
    memory.annotations[~memory.mask] = 1e3
    context_2, align_2 = attention(query, attention.prepare(memory), time=0)
    torch.testing.assert_close(context, context_2)
    torch.testing.assert_close(align, align_2)


def test_one_step_equals_many(attention, memory, query):
    """A query has a time axis: T steps at once are T single steps."""
    memory = attention.prepare(memory)
    context, align = attention(query, memory, time=0)
    for t in range(T):
        context_t, align_t = attention(query[:, t : t + 1], memory, time=t)
        torch.testing.assert_close(context_t[:, 0], context[:, t])
        torch.testing.assert_close(align_t[:, 0], align[:, t])


def test_a_source_of_one_word_gets_all_the_weight(attention, query):
    memory = Memory(
        torch.randn(B, 1, D, dtype=torch.double),
        torch.ones(B, 1, dtype=torch.bool),
        torch.ones(B, dtype=torch.long),
    )
    context, align = attention(query, attention.prepare(memory), time=0)
    assert (align == 1).all()
    torch.testing.assert_close(context, memory.annotations.expand(B, T, D))


def test_gradients(memory, query, attention):
    annotations = memory.annotations.requires_grad_()

    def attend(query, annotations):
        here = Memory(annotations, memory.mask, memory.lengths)
        return attention(query, attention.prepare(here), time=0)

    assert torch.autograd.gradcheck(attend, (query.requires_grad_(), annotations))
