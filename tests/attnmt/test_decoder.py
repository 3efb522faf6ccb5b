"""decoder.py: one step is the paper's equations, and the loop only repeats it."""

import by_hand
import pytest
import torch
from conftest import ATTENTIONS, make_attention, make_memory
from torch.func import functional_call

from attnmt.attention import SCORES, FixedContext
from attnmt.decoder import (
    BahdanauDecoder,
    LuongDecoder,
    SutskeverDecoder,
)
from attnmt.encoder import Memory

B, S, T, N, M, L, V = 2, 4, 6, 3, 2, 2, 9  # T goes past the end of both sentences
A = 5  # numbers in an annotation; as many as in a state where a score needs equal sizes
LENGTHS = [4, 2]
TARGET_IN = torch.tensor([[2, 5, 7, 5, 6, 4], [2, 8, 4, 7, 4, 5]])


def size_for(kind):
    return N if kind and SCORES[kind[0]].equal_sizes else A


def bahdanau(kind=("additive", "global"), output_state="previous"):
    torch.manual_seed(0)
    d = size_for(kind)
    attention = make_attention(*kind, N, d) if kind else FixedContext()
    return BahdanauDecoder(V, M, N, attention, d, L, output_state).double()


def luong(kind=("general", "global"), feeding=False, layers=2):
    torch.manual_seed(0)
    d = size_for(kind)
    return LuongDecoder(V, M, N, make_attention(*kind, N, d), d, layers, feeding=feeding).double()


def sutskever(layers=2):
    torch.manual_seed(0)
    return SutskeverDecoder(V, M, N, layers).double()


def memory_for(kind=None):
    return make_memory(LENGTHS, S, size_for(kind))


@pytest.fixture
def memory():
    return memory_for()


def last_states(layers=None):
    """What an encoder leaves: of a GRU one state, of an LSTM each layer's state and cell."""
    torch.manual_seed(2)
    if layers is None:
        return torch.randn(B, N, dtype=torch.double)
    return torch.randn(2, layers, B, N, dtype=torch.double).unbind(0)


@pytest.fixture
def final():
    return last_states()


some_attention = pytest.mark.parametrize(
    "kind", [None, *ATTENTIONS], ids=lambda kind: " ".join(kind or ["no attention"])
)

# -------------------------------------------------------------------------- the papers' equations


def check_by_hand(decoder, memory, final, run):
    """p(y | ...) and the weights of each sentence and step, against plain lists."""
    with torch.no_grad():
        features, align = decoder(TARGET_IN, memory, final)
        p = decoder.readout(features).softmax(-1)
    for b in range(B):
        p_hand, align_hand = run(b, TARGET_IN[b].tolist(), memory.annotations[b, : LENGTHS[b]])
        for t in range(T):
            assert p[b, t].tolist() == pytest.approx(p_hand[t], abs=1e-12)
            if align is not None:
                assert align[b, t, : LENGTHS[b]].tolist() == pytest.approx(align_hand[t], abs=1e-12)
    assert (align is None) == (not decoder.attends)


@pytest.mark.parametrize("output_state", ["previous", "current"])
@some_attention
def test_bahdanaus_decoder_is_the_papers_by_hand(kind, output_state, final):
    """Without attention it is RNNencdec, which reads h_S, the last real state, at every step."""
    decoder = bahdanau(kind, output_state)
    check_by_hand(
        decoder,
        memory_for(kind),
        final,
        lambda b, y, h: by_hand.gru_decoder(decoder, kind, y, h.tolist(), final[b].tolist()),
    )


def of_sentence(final, b):
    """h_0 and c_0 of one sentence, layer by layer, as lists."""
    return [[layer[b].tolist() for layer in part] for part in final]


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("feeding", [False, True])
@some_attention
def test_luongs_and_sutskevers_decoders_are_the_papers_by_hand(kind, feeding, layers):
    """h_t -> a_t -> c_t -> h~_t, and h~_t into the next step where it is fed; Sutskever: h_t."""
    decoder = luong(kind, feeding, layers) if kind else sutskever(layers)
    final = last_states(layers)
    check_by_hand(
        decoder,
        memory_for(kind),
        final,
        lambda b, y, h: by_hand.lstm_decoder(
            decoder, kind, feeding and kind is not None, y, h.tolist(), of_sentence(final, b)
        ),
    )


# ------------------------------------------------------------------------------------- gradients


class Whole(torch.nn.Module):
    """All that a decoder does, so that its weights may be replaced in one call."""

    def __init__(self, decoder):
        super().__init__()
        self.decoder = decoder

    def forward(self, memory, final):
        features, align = self.decoder(TARGET_IN[:, :3], memory, final)
        logits = self.decoder.readout(features)
        return logits if align is None else (logits, align)


def check_gradients(decoder, memory, final):
    """Of annotations, first state and every parameter, by finite differences."""
    whole, several = Whole(decoder), isinstance(final, tuple)
    names, weights = zip(*whole.named_parameters())
    states = [state.requires_grad_() for state in (final if several else (final,))]

    def run(annotations, *values):
        first = values[: len(states)] if several else values[0]
        here = Memory(annotations, memory.mask)
        return functional_call(whole, dict(zip(names, values[len(states) :])), (here, first))

    inputs = memory.annotations.requires_grad_(), *states, *weights
    assert torch.autograd.gradcheck(run, inputs, fast_mode=True)


@pytest.mark.parametrize("feeding", [False, True])
@some_attention
def test_gradients_are_those_of_the_formula(kind, feeding):
    """A local window's edge is a jump, without a derivative: these p_t keep off it."""
    if not feeding:
        check_gradients(bahdanau(kind), memory_for(kind), last_states())
    decoder = luong(kind, feeding) if kind else sutskever()
    check_gradients(decoder, memory_for(kind), last_states(2))


# --------------------------------------------------------------------------------------- dropout


def silenced(decoder, between_layers=0.0, elsewhere=0.0):
    """In training mode, and with a dropout of 1 nothing gets through where it sits."""
    decoder.rnn.dropout, decoder.dropout = between_layers, elsewhere
    return decoder.train()


@pytest.mark.parametrize("feeding", [False, True])
def test_dropout_sits_before_the_lstm_between_its_layers_and_before_the_output(feeding, memory):
    """And nowhere else: states pass from step to step unharmed (Zaremba et al. 2014)."""
    one, other = TARGET_IN, TARGET_IN.flip(1)
    final = last_states(2)
    inputs = silenced(luong(feeding=feeding), elsewhere=1.0)
    features, align = inputs(one, memory, final)
    torch.testing.assert_close((features, align), inputs(other, memory, final))  # no word read
    assert not torch.allclose(features[:, 0], features[:, 1])  # but the states go on
    torch.testing.assert_close(inputs.readout(features), inputs.W_out.bias.expand(B, T, V))

    between = silenced(luong(), between_layers=1.0)
    read = [between.rnn(between.embedding(y), final) for y in (one, other)]
    torch.testing.assert_close(read[0][0], read[1][0])  # the top layer hears nothing
    assert not torch.allclose(read[0][1][0][0], read[1][1][0][0])  # the bottom layer does


@pytest.mark.parametrize("kind", [("additive", "global"), None], ids=["rnnsearch", "rnnencdec"])
def test_dropout_of_bahdanaus_decoder_sits_on_the_words_and_before_the_softmax(kind, memory):
    """And nowhere else: the state, the context and the alignment pass unharmed."""
    decoder, final = bahdanau(kind).train(), last_states()
    decoder.dropout = 1.0
    features, align = decoder(TARGET_IN, memory, final)
    torch.testing.assert_close(
        (features, align), decoder(TARGET_IN.flip(1), memory, final), rtol=0, atol=0
    )  # no word is read
    words = features[..., N : N + M]
    assert not words.any()
    assert (features[..., :N] != 0).all() and (features[..., N + M :] != 0).all()
    assert not torch.allclose(features[:, 0], features[:, 1])  # the state goes on
    torch.testing.assert_close(decoder.readout(features), decoder.W_o.bias.expand(B, T, V))


def test_gates_and_output_layer_of_a_step_read_the_same_dropped_word(memory):
    decoder = bahdanau().train()
    decoder.dropout = 0.5
    seen = []
    decoder.W_gates.register_forward_hook(lambda _, given, __: seen.append(given[0]))
    features, _ = decoder(TARGET_IN, memory, last_states())
    read = torch.stack(seen, dim=1)  # (B, T, m)
    assert torch.equal(features[..., N : N + M], read)
    kept = read != 0
    assert kept.any() and not kept.all()
    plain = decoder.embedding(TARGET_IN)
    torch.testing.assert_close(read[kept], 2 * plain[kept])  # what is left weighs more
