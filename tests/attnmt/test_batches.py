"""batches.py: padding, lengths, masks, and batches of similar length."""

import pytest
import torch
from conftest import made_up_corpus
from hypothesis import given
from hypothesis import strategies as st

from attnmt.batches import batches, by_length, make_batch, pad
from attnmt.vocab import BOS, EOS, PAD


def test_pad_fills_the_end_and_the_mask_is_true_on_real_tokens():
    source = pad([[5, 6, 7], [8]], extra=1)
    assert source.ids.tolist() == [[5, 6, 7, PAD], [8, PAD, PAD, PAD]]
    assert source.lengths.tolist() == [3, 1]
    assert source.mask.tolist() == [[True, True, True, False], [True, False, False, False]]


@pytest.mark.parametrize("nothing", [[], [[]], [[4], []]])
def test_a_batch_needs_sentences_and_a_sentence_words(nothing):
    with pytest.raises(ValueError, match="at least one"):
        pad(nothing)


def test_the_decoder_reads_the_target_one_step_late(corpus):
    pair = corpus.train[0]
    batch = make_batch([pair], corpus.source_vocabulary, corpus.target_vocabulary)
    ids = corpus.target_vocabulary.encode(pair.target)
    assert batch.target_in.tolist() == [[BOS, *ids]]
    assert batch.target_out.tolist() == [[*ids, EOS]]
    assert batch.target_mask.sum() == len(pair.target) + 1


some_lengths = st.lists(st.tuples(st.integers(1, 50)), max_size=200)


@given(some_lengths, st.integers(1, 10), st.none() | st.integers(1, 5), st.integers(0, 3))
def test_every_sentence_is_in_exactly_one_batch(lengths, batch_size, pool, seed):
    groups = by_length(lengths, batch_size, pool, seed)
    assert sorted(index for group in groups for index in group) == list(range(len(lengths)))
    assert all(0 < len(group) <= batch_size for group in groups)


def test_order_follows_the_seed():
    lengths = [(length % 17,) for length in range(400)]
    assert by_length(lengths, 8, 20, seed=1) == by_length(lengths, 8, 20, seed=1)
    assert by_length(lengths, 8, 20, seed=1) != by_length(lengths, 8, 20, seed=2)


def test_evaluation_batches_are_sorted_by_length():
    lengths = [(length * 7 % 50,) for length in range(50)]
    order = [lengths[index] for group in by_length(lengths, 8, None, 0) for index in group]
    assert order == sorted(order)


def test_bucketing_saves_padding():
    corpus = made_up_corpus(train=2_000)
    vocabularies = corpus.source_vocabulary, corpus.target_vocabulary

    def padded(pool):
        made = list(batches(corpus.train, *vocabularies, batch_size=20, pool=pool))
        return sum(b.target_mask.numel() for b in made) / sum(
            int(b.target_mask.sum()) for b in made
        )

    assert padded(pool=20) < 1.1 < 1.5 < padded(pool=1)


def test_to_moves_every_tensor(corpus):
    batch = make_batch(corpus.train[:2], corpus.source_vocabulary, corpus.target_vocabulary)
    moved = batch.to("meta")
    tensors = [*vars(moved.source).values(), moved.target_in, moved.target_out, moved.target_mask]
    assert all(tensor.device == torch.device("meta") for tensor in tensors)
