"""probes.py: what a vector holds, looks that are moved, gradients between attentions, depth."""

import pytest
import torch
from conftest import batch_of
from torch.testing import assert_close

from attnmt import greedy, luong, pad, rnnencdec
from attnmt.book.probes import deepest, fit_probe, handed_over, influence, next_look, unroll


def test_a_vector_is_that_of_the_sentence_alone(corpus):
    model = rnnencdec(corpus, hidden=8, seed=0)
    found = handed_over(model, corpus.test[:3])
    assert found.shape == (3, 9)
    assert (found[:, -1] == 1).all()
    for row, pair in zip(found, corpus.test, strict=False):
        with torch.no_grad():
            _, alone = model.encoder(pad([model.source_vocabulary.encode(pair.source)]))
        assert_close(row[:-1].float(), alone[0])


def test_a_word_that_is_a_direction_is_read():
    """Against NumPy's least squares, of vectors and the square root of the damping below them."""
    torch.manual_seed(0)
    y = torch.randint(0, 4, (200,))
    c = torch.nn.functional.one_hot(y, 4).double() + 0.1 * torch.randn(200, 4).double()
    A = fit_probe(c, y, 6)
    assert ((c @ A).argmax(dim=1) == y).all()
    below = torch.cat([c, torch.eye(4).double()])
    wanted = torch.cat([torch.nn.functional.one_hot(y, 6).double(), torch.zeros(4, 6).double()])
    assert_close(A, torch.linalg.lstsq(below, wanted).solution)
    with pytest.raises(ValueError, match="200 vectors for 199 words"):
        fit_probe(c, y[1:], 6)


# ---------------------------------------------------------------- with feeding and without

each = pytest.mark.parametrize("feeding", [False, True])


def make(corpus, feeding, score="dot"):
    """Untrained, in double precision."""
    return luong(corpus, score=score, feeding=feeding, hidden=8, seed=2).double().eval()


def read(model, corpus, pairs=3):
    batch = batch_of(model, corpus.test[:pairs])
    return batch, model.encoder(batch.source)


@each
def test_the_loop_is_that_of_the_decoder(corpus, feeding):
    model = make(corpus, feeding)
    batch, memory = read(model, corpus)
    aligns, vectors = unroll(model.decoder, batch.target_in, *memory)
    features, align = model.decoder(batch.target_in, *memory)
    assert_close(torch.cat(aligns, dim=1), align)
    assert_close(torch.stack(vectors, dim=1), features)


@each
def test_only_with_feeding_a_weight_depends_on_an_earlier_row(corpus, feeding):
    model = make(corpus, feeding)
    batch, memory = read(model, corpus, pairs=1)
    aligns, vectors = unroll(model.decoder, batch.target_in, *memory)
    found = [influence(aligns, t, k) > 0 for t in range(1, len(aligns)) for k in range(t)]
    assert set(found) == {feeding}
    assert deepest(vectors[-1]) == (len(aligns) if feeding else 1)
    features, _ = model.decoder(batch.target_in, *memory)
    assert deepest(features[0, -1]) == deepest(vectors[-1])


def test_what_is_fed_can_be_cut_or_be_the_question(corpus):
    model = make(corpus, feeding=True)
    batch, memory = read(model, corpus, pairs=1)
    for feed in (lambda h_t, h_tilde: h_tilde.detach(), lambda h_t, h_tilde: h_t):
        aligns, vectors = unroll(model.decoder, batch.target_in, *memory, feed=feed)
        assert influence(aligns, 1, 0) == 0
        assert deepest(vectors[-1]) == 1


@each
def test_the_next_look_is_that_of_the_translation(corpus, feeding):
    """Without a place, what greedy search does after its own first words."""
    model = make(corpus, feeding)
    for pair in corpus.test[:2]:
        (own,) = greedy(model, [pair.source])
        for t in range(1, len(own.words)):
            weights, word = next_look(model, pair.source, own.words[:t])
            assert_close(weights, torch.as_tensor(own.alignment[t], dtype=weights.dtype))
            assert word == own.words[t]


@each
def test_moving_a_look_moves_the_next_one_only_with_feeding(corpus, feeding):
    model = make(corpus, feeding)
    pair = max(corpus.test, key=lambda pair: len(pair.source))
    as_it_is, _ = next_look(model, pair.source, pair.target[:2])
    for place in range(len(pair.source)):
        moved, _ = next_look(model, pair.source, pair.target[:2], found_at=place)
        assert_close(moved.sum(), torch.ones_like(moved.sum()))
        assert torch.equal(moved, as_it_is) != feeding
