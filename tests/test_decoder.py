"""decoder.py: one step is the paper's equations, and the loop only repeats it."""

import math

import pytest
import torch

from attnmt.attention import Additive, Attention, Global
from attnmt.decoder import BahdanauDecoder, BahdanauState, Decoder
from attnmt.encoder import Memory

B, S, T, N, M, A, L, V = 2, 4, 3, 3, 2, 5, 2, 9
LENGTHS = [4, 2]


def bahdanau(output_state: str = "previous") -> BahdanauDecoder:
    torch.manual_seed(0)
    attention = Attention(Additive(N, A, hidden=4), Global())
    return BahdanauDecoder(V, M, N, attention, A, L, output_state).double()


@pytest.fixture
def memory():
    torch.manual_seed(1)
    lengths = torch.tensor(LENGTHS)
    return Memory(
        torch.randn(B, S, A, dtype=torch.double), torch.arange(S) < lengths[:, None], lengths
    )


@pytest.fixture
def final():
    torch.manual_seed(2)
    return torch.randn(B, N, dtype=torch.double)


def sigma(x):
    return 1 / (1 + math.exp(-x))


def dot(matrix, vector):
    matrix = matrix.tolist() if isinstance(matrix, torch.Tensor) else matrix
    return [sum(float(w) * x for w, x in zip(row, vector, strict=True)) for row in matrix]


def rnnsearch_by_hand(decoder, words, h, final):
    """Appendix A of Bahdanau et al. 2015 in plain loops, for one sentence.

    Takes y_{i-1} for each i, the annotations h_j as lists, and h_1(backward). Returns p(y_i | ...)
    and alpha_i for each i.
    """
    E = decoder.embedding.weight.tolist()
    W_z, W_r, W = (block.tolist() for block in decoder.W_gates.weight.chunk(3))
    b_z, b_r, b = (block.tolist() for block in decoder.W_gates.bias.chunk(3))
    C_z, C_r, C = (block.tolist() for block in decoder.C_gates.weight.chunk(3))
    U_z, U_r = (block.tolist() for block in decoder.U_zr.weight.chunk(2))
    U = decoder.U.weight.tolist()
    U_o, V_o, C_o = (block.tolist() for block in decoder.maxout.weight.split([N, M, A], dim=1))
    b_o = decoder.maxout.bias.tolist()
    W_a, U_a = decoder.attention.score.W_a.weight, decoder.attention.score.U_a.weight
    v_a = decoder.attention.score.v_a.weight[0].tolist()

    s = [
        math.tanh(x + b) for x, b in zip(dot(decoder.W_s.weight, final), decoder.W_s.bias.tolist())
    ]
    distributions, alphas = [], []
    for y in words:
        e = []
        for h_j in h:
            inner = zip(dot(W_a, s), dot(U_a, h_j), strict=True)
            e.append(sum(v * math.tanh(p + q) for v, (p, q) in zip(v_a, inner, strict=True)))
        alpha = [math.exp(x) / sum(math.exp(y) for y in e) for x in e]
        c = [sum(a * h_j[k] for a, h_j in zip(alpha, h, strict=True)) for k in range(A)]
        Ey = E[y]
        z = [sigma(sum(x)) for x in zip(dot(W_z, Ey), dot(U_z, s), dot(C_z, c), b_z)]
        r = [sigma(sum(x)) for x in zip(dot(W_r, Ey), dot(U_r, s), dot(C_r, c), b_r)]
        rs = [r_k * s_k for r_k, s_k in zip(r, s)]
        s_tilde = [math.tanh(sum(x)) for x in zip(dot(W, Ey), dot(U, rs), dot(C, c), b)]
        s_new = [(1 - z_k) * s_k + z_k * t_k for z_k, s_k, t_k in zip(z, s, s_tilde)]
        s_out = s if decoder.output_state == "previous" else s_new
        t_tilde = [sum(x) for x in zip(dot(U_o, s_out), dot(V_o, Ey), dot(C_o, c), b_o)]
        t = [max(t_tilde[2 * k], t_tilde[2 * k + 1]) for k in range(L)]
        energies = [x + b for x, b in zip(dot(decoder.W_o.weight, t), decoder.W_o.bias.tolist())]
        total = sum(math.exp(x) for x in energies)
        distributions.append([math.exp(x) / total for x in energies])
        alphas.append(alpha)
        s = s_new
    return distributions, alphas


@pytest.mark.parametrize("output_state", ["previous", "current"])
def test_bahdanaus_decoder_is_the_papers_by_hand(memory, final, output_state):
    decoder = bahdanau(output_state)
    target_in = torch.tensor([[2, 5, 7], [2, 8, 4]])
    features, align = decoder(target_in, memory, final)
    p = decoder.readout(features).softmax(-1)
    for b in range(B):
        h = memory.annotations[b, : LENGTHS[b]].tolist()
        words = target_in[b].tolist()
        p_hand, alpha_hand = rnnsearch_by_hand(decoder, words, h, final[b].tolist())
        for i in range(T):
            assert p[b, i].tolist() == pytest.approx(p_hand[i], abs=1e-12)
            assert align[b, i, : LENGTHS[b]].tolist() == pytest.approx(alpha_hand[i], abs=1e-12)


def test_the_first_query_is_the_first_state_not_the_new_one(memory, final):
    """Bahdanau attends with s_{i-1}: the first alignment cannot depend on the first word read."""
    decoder = bahdanau()
    prepared, state = decoder.start(memory, final)
    _, align_1, after_1 = decoder.step(decoder.embedding(torch.tensor([2, 2])), state, prepared)
    _, align_2, after_2 = decoder.step(decoder.embedding(torch.tensor([6, 6])), state, prepared)
    torch.testing.assert_close(align_1, align_2, rtol=0, atol=0)
    assert not torch.allclose(after_1.s, after_2.s)


def test_the_loop_only_repeats_the_step(memory, final):
    decoder = bahdanau()
    target_in = torch.tensor([[2, 5, 7], [2, 8, 4]])
    features, align = decoder(target_in, memory, final)
    prepared, state = decoder.start(memory, final)
    for t in range(T):
        feature, weights, state = decoder.step(decoder.embedding(target_in[:, t]), state, prepared)
        torch.testing.assert_close(features[:, t], feature, rtol=0, atol=0)
        torch.testing.assert_close(align[:, t], weights, rtol=0, atol=0)
    assert state.time == T


def test_a_step_leaves_the_state_it_was_given_alone(memory, final):
    decoder = bahdanau()
    prepared, state = decoder.start(memory, final)
    before = state.s.clone()
    first = decoder.step(decoder.embedding(torch.tensor([2, 2])), state, prepared)
    decoder.step(decoder.embedding(torch.tensor([5, 6])), first[2], prepared)
    again = decoder.step(decoder.embedding(torch.tensor([2, 2])), state, prepared)
    torch.testing.assert_close(state.s, before, rtol=0, atol=0)
    torch.testing.assert_close(first[0], again[0], rtol=0, atol=0)


def test_selected_rows_go_on_as_they_would_have(memory, final):
    """What a beam does: repeat and reorder hypotheses."""
    decoder = bahdanau()
    prepared, state = decoder.start(memory, final)
    rows = torch.tensor([1, 0, 1])
    y = torch.tensor([3, 4])
    features, align, _ = decoder.step(decoder.embedding(y), state, prepared)
    taken = decoder.step(decoder.embedding(y[rows]), state.select(rows), prepared.select(rows))
    torch.testing.assert_close(taken[0], features[rows])
    torch.testing.assert_close(taken[1], align[rows])


def test_maxout_takes_the_larger_of_each_two():
    decoder = bahdanau()
    with torch.no_grad():
        decoder.maxout.weight.zero_()
        decoder.maxout.bias.copy_(torch.tensor([1.0, 2.0, -3.0, -4.0]))
        logits = decoder.readout(torch.zeros(N + M + A, dtype=torch.double))
        expected = decoder.W_o(torch.tensor([2.0, -3.0], dtype=torch.double))
    torch.testing.assert_close(logits, expected)


def test_gradients(memory, final):
    decoder = bahdanau()
    annotations = memory.annotations.requires_grad_()

    def run(annotations, final):
        here = Memory(annotations, memory.mask, memory.lengths)
        features, align = decoder(torch.tensor([[2, 5], [2, 8]]), here, final)
        return decoder.readout(features), align

    assert torch.autograd.gradcheck(run, (annotations, final.requires_grad_()))


def test_state_is_a_value():
    state = BahdanauState(torch.zeros(2, N), 0)
    with pytest.raises(AttributeError):
        state.time = 1


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="output_state must be 'previous' or 'current'"):
        bahdanau("next")
    with pytest.raises(TypeError, match="abstract"):
        Decoder()
