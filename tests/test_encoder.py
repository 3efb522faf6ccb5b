"""encoder.py: an annotation for each source word, whatever the padding."""

import pytest
import torch

from attnmt.batches import pad
from attnmt.encoder import BidirectionalGRU

SENTENCES = [[5, 6, 7, 8], [9], [4, 4, 10]]


@pytest.fixture
def encoder():
    torch.manual_seed(0)
    return BidirectionalGRU(words=12, embedding=5, hidden=3).double()


def test_shapes(encoder):
    memory, final = encoder(pad(SENTENCES))
    assert memory.annotations.shape == (3, 4, 6)
    assert memory.mask.shape == (3, 4)
    assert memory.lengths.tolist() == [4, 1, 3]
    assert final.shape == (3, 3)


def test_annotations_are_forward_and_backward_states_side_by_side(encoder):
    """h_j = [h_j(forward); h_j(backward)], by two plain GRUs over one sentence."""
    (memory, final), rnn = encoder(pad([SENTENCES[0]])), encoder.rnn
    forward = torch.nn.GRU(5, 3, batch_first=True).double()
    backward = torch.nn.GRU(5, 3, batch_first=True).double()
    for name in ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"):
        getattr(forward, name).data = getattr(rnn, name).data
        getattr(backward, name).data = getattr(rnn, f"{name}_reverse").data
    embedded = encoder.embedding(torch.tensor([SENTENCES[0]]))
    ahead, _ = forward(embedded)
    behind, _ = backward(embedded.flip(1))
    expected = torch.cat([ahead, behind.flip(1)], dim=-1)
    torch.testing.assert_close(memory.annotations, expected)
    torch.testing.assert_close(final[0], expected[0, 0, 3:])  # h_1(backward)


def test_a_sentence_is_read_the_same_alone_and_in_company(encoder):
    together, final = encoder(pad(SENTENCES, extra=3))
    for row, sentence in enumerate(SENTENCES):
        alone, final_alone = encoder(pad([sentence]))
        real = together.annotations[row, : len(sentence)]
        torch.testing.assert_close(real, alone.annotations[0], rtol=0, atol=1e-12)
        torch.testing.assert_close(final[row], final_alone[0], rtol=0, atol=1e-12)


def test_annotations_of_padding_are_zero(encoder):
    memory, _ = encoder(pad(SENTENCES, extra=2))
    assert (memory.annotations[~memory.mask] == 0).all()


def test_each_annotation_knows_words_on_both_sides(encoder):
    changed = pad([[5, 11, 7, 8]])
    before, after = (encoder(source)[0].annotations for source in (pad([SENTENCES[0]]), changed))
    assert (before != after).any(dim=-1).all()


def test_select_takes_rows(encoder):
    memory, _ = encoder(pad(SENTENCES))
    rows = torch.tensor([2, 2, 0])
    taken = memory.select(rows)
    torch.testing.assert_close(taken.annotations, memory.annotations[rows])
    assert taken.lengths.tolist() == [3, 3, 4]
    assert taken.mask.tolist() == memory.mask[rows].tolist()
    assert taken.keys is None
