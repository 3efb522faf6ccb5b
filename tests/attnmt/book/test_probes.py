"""probes.py: what a linear map reads off the vector that an encoder hands over."""

import pytest
import torch
from torch.testing import assert_close

from attnmt import rnnencdec
from attnmt.batches import pad
from attnmt.book.probes import fit_probe, handed_over


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


def test_each_vector_needs_a_word():
    with pytest.raises(ValueError, match="3 vectors for 2 words"):
        fit_probe(torch.zeros(3, 2), torch.zeros(2, dtype=torch.long), 4)
