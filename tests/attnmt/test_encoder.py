"""encoder.py: an annotation for each source word, whatever the padding."""

from functools import partial

import by_hand
import pytest
import torch

from attnmt.batches import pad
from attnmt.encoder import (
    BidirectionalGRU,
    ForwardGRU,
    StackedLSTM,
)

SENTENCES = [[5, 6, 7, 8], [9], [4, 4, 10]]
M, N = 5, 4

ENCODERS = {
    "forward": ForwardGRU,
    "bidirectional": BidirectionalGRU,
    "lstm": StackedLSTM,
    "lstm layers": partial(StackedLSTM, layers=3),
    "lstm reverse": partial(StackedLSTM, layers=2, reverse=True),
    "lstm both": partial(StackedLSTM, layers=2, bidirectional=True),
    "lstm both reverse": partial(StackedLSTM, layers=2, bidirectional=True, reverse=True),
}
every_encoder = pytest.mark.parametrize("name", ENCODERS)


def made(name):
    torch.manual_seed(0)
    return (
        ENCODERS[name](vocab_size=12, embedding_size=M, hidden_size=N)
        .double()
        .requires_grad_(False)
    )


def states(final):
    """The final state as one tensor, the sentence first: (B, ...)."""
    return torch.stack(final).movedim(2, 0) if isinstance(final, tuple) else final


# -------------------------------------------------------------------------------- every encoder


@every_encoder
def test_a_sentence_is_read_the_same_alone_and_in_company(name):
    encoder = made(name)
    together, final = encoder(pad(SENTENCES, extra=3))
    for row, sentence in enumerate(SENTENCES):
        alone, final_alone = encoder(pad([sentence]))
        real = together.annotations[row, : len(sentence)]
        torch.testing.assert_close(real, alone.annotations[0], rtol=0, atol=1e-12)
        torch.testing.assert_close(states(final)[row], states(final_alone)[0], rtol=0, atol=1e-12)


@every_encoder
def test_annotations_of_padding_are_zero(name):
    memory, _ = made(name)(pad(SENTENCES, extra=2))
    assert (memory.annotations[~memory.mask] == 0).all()


# ---------------------------------------------------------------------------------- Cho, Bahdanau


def test_the_forward_grus_last_annotation_is_its_final_state():
    """c = h_S, what RNNencdec knows of a sentence."""
    memory, final = made("forward")(pad(SENTENCES, extra=2))
    for row, sentence in enumerate(SENTENCES):
        assert torch.equal(memory.annotations[row, len(sentence) - 1], final[row])


def test_annotations_are_forward_and_backward_states_side_by_side():
    """h_j = [h_j(forward); h_j(backward)], by two plain GRUs over one sentence."""
    encoder = made("bidirectional")
    (memory, final), rnn = encoder(pad([SENTENCES[0]])), encoder.rnn
    forward = torch.nn.GRU(M, N, batch_first=True).double()
    backward = torch.nn.GRU(M, N, batch_first=True).double()
    for name in ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"):
        getattr(forward, name).data = getattr(rnn, name).data
        getattr(backward, name).data = getattr(rnn, f"{name}_reverse").data
    embedded = encoder.embedding(torch.tensor([SENTENCES[0]]))
    ahead, _ = forward(embedded)
    behind, _ = backward(embedded.flip(1))
    expected = torch.cat([ahead, behind.flip(1)], dim=-1)
    torch.testing.assert_close(memory.annotations, expected)
    torch.testing.assert_close(final[0], expected[0, 0, N:])  # h_1(backward)


# -------------------------------------------------------------------------------- Sutskever, Luong


def lstm_by_hand(encoder, sentence):
    """Layers of LSTM over one sentence: the top layer's states, each layer's last h and cell."""
    E, layers = encoder.embedding.weight.tolist(), encoder.rnn.num_layers
    h, cell = ([[0.0] * N for _ in range(layers)] for _ in range(2))
    top = []
    for word in sentence:
        x = E[word]
        for layer in range(layers):
            h[layer], cell[layer] = by_hand.lstm(encoder.rnn, layer, x, h[layer], cell[layer])
            x = h[layer]
        top.append(x)
    return top, h, cell


@pytest.mark.parametrize("name", ["lstm", "lstm layers", "lstm reverse"])
def test_a_stacked_lstm_by_hand(name):
    """Read backwards or not, annotation j is about word j: the states are put back in order."""
    encoder = made(name)
    memory, final = encoder(pad(SENTENCES, extra=2))
    order = -1 if encoder.reverse else 1
    for row, sentence in enumerate(SENTENCES):
        top, h, cell = lstm_by_hand(encoder, sentence[::order])
        expected = torch.tensor(top[::order], dtype=torch.double)
        torch.testing.assert_close(memory.annotations[row, : len(sentence)], expected)
        torch.testing.assert_close(states(final)[row], torch.tensor([h, cell], dtype=torch.double))


def test_two_directions_share_an_annotation_of_n_numbers():
    """Forward states in the first half, backward in the second; so are each layer's last states."""
    encoder = made("lstm both")
    memory, (h, cell) = encoder(pad(SENTENCES, extra=2))
    assert encoder.rnn.hidden_size == N // 2
    embedded = encoder.embedding(torch.tensor([SENTENCES[0]]))
    states, (h_n, cell_n) = encoder.rnn(embedded)  # torch: (layers * 2, B, n/2)
    torch.testing.assert_close(memory.annotations[:1, :4], states)
    for layer in range(2):
        for part, whole in ((h, h_n), (cell, cell_n)):
            expected = torch.cat([whole[2 * layer, 0], whole[2 * layer + 1, 0]])
            torch.testing.assert_close(part[layer, 0], expected)
    torch.testing.assert_close(h[1, 0, : N // 2], states[0, 3, : N // 2])  # forward: at the end
    torch.testing.assert_close(h[1, 0, N // 2 :], states[0, 0, N // 2 :])  # backward: at the start


@pytest.mark.parametrize("name", ["forward", "bidirectional", "lstm layers"])
def test_dropout_sits_on_the_embedding(name):
    """A dropout of 1 lets nothing through; annotations themselves are not dropped."""
    encoder, (one, other) = made(name).train(), (pad([[5, 6, 7]]), pad([[8, 9, 10]]))
    encoder.dropout = 1.0
    (deaf, _), (deaf_too, _) = encoder(one), encoder(other)
    torch.testing.assert_close(deaf.annotations, deaf_too.annotations)
    assert (deaf.annotations != 0).all()


def test_dropout_sits_between_the_layers_of_an_lstm():
    encoder, (one, other) = made("lstm layers").train(), (pad([[5, 6, 7]]), pad([[8, 9, 10]]))
    encoder.rnn.dropout = 1.0
    (memory, (h, _)), (memory_too, (h_too, _)) = encoder(one), encoder(other)
    torch.testing.assert_close(memory.annotations, memory_too.annotations)
    assert not torch.allclose(h[0], h_too[0])  # the bottom layer reads words
