"""models.py: what the core lacks is what the paper says, and can be read back."""

import pytest
import torch
from conftest import batch_of
from torch.testing import assert_close

from attnmt import Translator, greedy, luong
from attnmt.corpus import grammar_corpus
from attnmt.evidence.models import MODELS, concat_fixed, load
from attnmt.text.subwords import in_pieces

SMALL = {  # what the core lacks; its own models are saved and loaded in test_model.py
    "concat_fixed": {"hidden": 4, "feeding": True},
    "attention_only": {"hidden": 8, "heads": 2, "blocks": 1},
    "luong_tied": {"hidden": 6, "embedding": 4},
    "attention_only_tied": {"hidden": 8, "heads": 2, "blocks": 1},
}


def test_the_fixed_part_of_concat_is_the_identity(corpus):
    """As concat, when the half of W_a that meets hbar_s is set to the identity."""
    fixed = concat_fixed(corpus, hidden=6, seed=4)
    concat = luong(corpus, score="concat", hidden=6, seed=4)
    score = concat.decoder.attention.score
    with torch.no_grad():
        score.W_a.weight[:, 6:] = torch.eye(6)
    batch = batch_of(fixed, corpus.test[:5])
    with torch.no_grad():
        assert_close(fixed(batch), concat(batch))  # so their first weights are the same, too
    parameters = (sum(w.numel() for w in model.parameters()) for model in (concat, fixed))
    assert next(parameters) - next(parameters) == 6 * 6  # the identity is not learned
    query, hbar = torch.randn(6), torch.randn(6)
    alone = fixed.decoder.attention.score
    by_hand = alone.v_a.weight[0] @ torch.tanh(alone.W_a.weight @ query + hbar)
    keys = alone.prepare(hbar[None, None])
    assert_close(alone(query[None, None], keys)[0, 0, 0], by_hand)


@pytest.mark.parametrize("name", SMALL)
def test_what_was_saved_is_what_is_loaded(name, corpus, tmp_path):
    model = MODELS[name](corpus, **SMALL[name], seed=5)
    model.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert loaded.config == model.config
    sentences = [pair.source for pair in corpus.test[:5]]
    ours, theirs = greedy(model, sentences), greedy(loaded, sentences)
    assert [one.words for one in ours] == [one.words for one in theirs]


# ----------------------------------------------------------------------------- tied embeddings

KINDS = ("luong_tied", "attention_only_tied")
SIZE = 80


@pytest.fixture(scope="module")
def words():
    """Some hundred pairs of words."""
    return grammar_corpus(train=300, lengths=(4, 9), valid=20, test=40, long=0, names=10)


@pytest.fixture(scope="module")
def shared(words):
    """The corpus in pieces that both sides share."""
    return in_pieces(words, SIZE, joint=True)


def made(corpus, kind: str, **arguments) -> Translator:
    return MODELS[kind](corpus, hidden=12, seed=3, **arguments)


@pytest.mark.parametrize("kind", KINDS)
def test_what_writes_a_word_is_what_reads_it(shared, kind):
    """Nothing else of the model has a row for each word, but the bias."""
    model = made(shared, kind)
    size = len(shared.target_vocabulary)
    rows = {name for name, weights in model.named_parameters() if len(weights) == size}
    assert rows == {"encoder.embedding.weight", "decoder.bias"}  # the first name of all three
    assert model.encoder.embedding is model.decoder.embedding
    unit = torch.eye(model.decoder.embedding.embedding_dim)
    if kind == "luong_tied":
        with torch.no_grad():
            model.decoder.W_out.weight.copy_(torch.eye(12))
    assert_close(model.eval().decoder.readout(unit).T, model.decoder.embedding.weight)


@pytest.mark.parametrize("kind", KINDS)
def test_small_weights_are_read_as_if_they_were_not(shared, kind):
    embedding = made(shared, kind).decoder.embedding
    read = embedding(torch.arange(len(shared.target_vocabulary))).detach()
    assert float(read.square().mean()) == pytest.approx(1, abs=0.25)
    assert float(embedding.weight.detach().square().mean()) == pytest.approx(1 / 12, rel=0.25)
