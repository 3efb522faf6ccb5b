"""tied.py: a word has one row of weights, which both reads it and writes it."""

from dataclasses import replace

import pytest
import torch
from torch.testing import assert_close

from attnmt import Recipe, Translator, fit
from attnmt.batches import make_batch
from attnmt.book.live.view import show_live
from attnmt.corpus import grammar_corpus
from attnmt.evidence.models import MODELS, load
from attnmt.evidence.tied import untied
from attnmt.fast import sooner
from attnmt.text.subwords import in_pieces

KINDS = ("luong_tied", "attention_only_tied")
SIZE = 80


@pytest.fixture(scope="module")
def corpus():
    """Some hundred pairs of words."""
    return grammar_corpus(train=300, lengths=(4, 9), valid=20, test=40, long=0, names=10)


@pytest.fixture(scope="module")
def shared(corpus):
    """The corpus in pieces that both sides share."""
    return in_pieces(corpus, SIZE, joint=True)


def made(corpus, kind: str, **arguments) -> Translator:
    return MODELS[kind](corpus, hidden=12, seed=3, **arguments)


@pytest.mark.parametrize("kind", KINDS)
def test_what_writes_a_word_is_what_reads_it(shared, kind):
    """Nothing else of the model has a row for each word, but the bias."""
    model = made(shared, kind)
    words = len(shared.target_vocabulary)
    rows = {name for name, weights in model.named_parameters() if len(weights) == words}
    assert rows == {"encoder.embedding.weight", "decoder.bias"}  # the first name of all three
    assert model.encoder.embedding is model.decoder.embedding
    unit = torch.eye(model.decoder.embedding.embedding_dim)
    if kind == "luong_tied":
        with torch.no_grad():
            model.decoder.W_out.weight.copy_(torch.eye(12))
    assert_close(model.eval().decoder.readout(unit).T, model.decoder.embedding.weight)


@pytest.mark.parametrize("kind", KINDS)
def test_with_pieces_of_each_side_the_encoder_keeps_its_own(corpus, kind):
    model = made(corpus, kind)
    assert model.encoder.embedding is not model.decoder.embedding


@pytest.mark.parametrize("kind", KINDS)
def test_small_weights_are_read_as_if_they_were_not(shared, kind):
    embedding = made(shared, kind).decoder.embedding
    read = embedding(torch.arange(len(shared.target_vocabulary))).detach()
    assert float(read.square().mean()) == pytest.approx(1, abs=0.25)
    assert float(embedding.weight.detach().square().mean()) == pytest.approx(1 / 12, rel=0.25)


@pytest.mark.parametrize("kind", KINDS)
def test_trained_saved_and_read_back_it_is_still_tied(shared, kind, tmp_path):
    model = made(shared, kind)
    recipe = Recipe(epochs=1, batch_size=32)
    fit(model, shared, recipe, device="cpu", progress=False)
    model.save(tmp_path / "tied.safetensors")
    again = load(tmp_path / "tied.safetensors")
    assert again.config == model.config
    batch = make_batch(shared.valid, shared.source_vocabulary, shared.target_vocabulary)
    assert_close(again.token_losses(batch), model.token_losses(batch))
    fit(again, shared, recipe, device="cpu", progress=False)  # goes on as one matrix
    assert again.encoder.embedding.weight is again.decoder.embedding.weight
    assert sum(w.numel() for w in again.parameters()) == sum(w.numel() for w in model.parameters())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("pieces", ["shared", "corpus"])
def test_untied_it_is_the_core_s_model_and_computes_the_same(request, kind, pieces):
    """So a page that knows the core's models can show it."""
    corpus = request.getfixturevalue(pieces)
    tied = made(corpus, kind).eval()
    plain = untied(tied)
    assert plain.config | {"model": kind} == tied.config
    assert plain.config["model"] == kind.removesuffix("_tied")
    batch = make_batch(corpus.valid, corpus.source_vocabulary, corpus.target_vocabulary)
    with sooner(tied):
        assert_close(tied.token_losses(batch), plain.token_losses(batch))
    assert untied(plain) is plain
    view = show_live(tied)
    assert view.model.config == plain.config


def test_one_list_of_pieces_is_learned_from_both_sides(corpus, shared):
    assert shared.pieces[0] == shared.pieces[1]
    assert len(shared.pieces[0]) == SIZE
    apart = in_pieces(corpus, SIZE)
    assert apart.pieces[0] != apart.pieces[1]
    turned = replace(
        corpus,
        train=[replace(p, source=p.target, target=p.source) for p in corpus.train],
        valid=[],
        test=[],
    )
    assert set(in_pieces(turned, SIZE, joint=True).pieces[0]) == set(shared.pieces[0])
