"""encoder.py: an annotation for each source word, whatever the padding."""

from dataclasses import replace
from functools import partial

import by_hand
import pytest
import torch

from attnmt.batches import pad
from attnmt.encoder import (
    BidirectionalGRU,
    ForwardGRU,
    StackedLSTM,
    reversed_positions,
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
def test_shapes(name):
    encoder = made(name)
    memory, final = encoder(pad(SENTENCES, extra=1))
    assert encoder.annotation_size == (2 * N if name == "bidirectional" else N)
    assert memory.annotations.shape == (3, 5, encoder.annotation_size)
    assert memory.mask.shape == (3, 5)
    assert memory.lengths.tolist() == [4, 1, 3]
    if name.startswith("lstm"):  # state and cell of each layer
        assert [part.shape for part in final] == 2 * [(encoder.rnn.num_layers, 3, N)]
    else:
        assert final.shape == (3, N)


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


@every_encoder
def test_which_words_an_annotation_knows(name):
    """Word 1 changes: later annotations know, earlier ones only of a backward reading."""
    encoder = made(name)
    source, changed = pad([[5, 6, 7, 8]]), pad([[5, 11, 7, 8]])
    before, after = (encoder(each)[0].annotations[0] for each in (source, changed))
    ahead, behind = [False, True, True, True], [True, True, False, False]
    everywhere = [True] * 4
    knows = (before != after).any(dim=-1).tolist()
    if "both" in name or name == "bidirectional":
        assert knows == everywhere
    else:
        assert knows == (behind if "reverse" in name else ahead)


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


def test_lengths_follow_from_the_mask():
    """So the two cannot disagree, whoever changes the memory."""
    source = pad(SENTENCES, extra=2)
    memory, _ = made("forward")(source)
    assert memory.lengths.tolist() == source.lengths.tolist() == [len(s) for s in SENTENCES]
    shorter = replace(memory, mask=memory.mask & (torch.arange(memory.mask.size(1)) < 2))
    assert shorter.lengths.tolist() == [min(2, len(s)) for s in SENTENCES]


def test_turning_round_leaves_padding_and_twice_is_nothing():
    order = reversed_positions(pad(SENTENCES, extra=1))
    assert order.tolist() == [[3, 2, 1, 0, 4], [0, 1, 2, 3, 4], [2, 1, 0, 3, 4]]
    assert (order.gather(1, order) == torch.arange(5)).all()


@pytest.mark.parametrize("name", ["forward", "bidirectional", "lstm layers"])
def test_dropout_sits_on_the_embedding(name):
    """A dropout of 1 lets nothing through; annotations themselves are not dropped."""
    encoder, (one, other) = made(name).train(), (pad([[5, 6, 7]]), pad([[8, 9, 10]]))
    plain = encoder(one)[0].annotations
    assert torch.equal(encoder.eval()(one)[0].annotations, plain)  # 0 changes nothing
    encoder.dropout = 1.0
    assert torch.equal(encoder(one)[0].annotations, plain)  # nor does any in eval mode
    (deaf, _), (deaf_too, _) = encoder.train()(one), encoder(other)
    torch.testing.assert_close(deaf.annotations, deaf_too.annotations)
    assert (deaf.annotations != 0).all()


def test_dropout_sits_between_the_layers_of_an_lstm():
    encoder, (one, other) = made("lstm layers").train(), (pad([[5, 6, 7]]), pad([[8, 9, 10]]))
    encoder.rnn.dropout = 1.0
    (memory, (h, _)), (memory_too, (h_too, _)) = encoder(one), encoder(other)
    torch.testing.assert_close(memory.annotations, memory_too.annotations)
    assert not torch.allclose(h[0], h_too[0])  # the bottom layer reads words


def test_select_takes_rows():
    memory, _ = made("bidirectional")(pad(SENTENCES))
    rows = torch.tensor([2, 2, 0])
    taken = memory.select(rows)
    torch.testing.assert_close(taken.annotations, memory.annotations[rows])
    assert taken.lengths.tolist() == [3, 3, 4]
    assert taken.mask.tolist() == memory.mask[rows].tolist()
    assert taken.keys is None


def test_half_a_unit_is_refused():
    with pytest.raises(ValueError, match="hidden must be even for a bidirectional encoder, not 5"):
        StackedLSTM(12, M, 5, bidirectional=True)
