"""model.py: the losses, saving and loading, and the promise that padding changes nothing."""

import functools
import json
import os
import pickle

import numpy as np
import pytest
import torch
from conftest import made_up_corpus
from safetensors.torch import save_file

from attnmt import Translator, greedy, rnnsearch
from attnmt import decoding as decoding_module
from attnmt.attention import Global
from attnmt.batches import make_batch, pad
from attnmt.encoder import BidirectionalGRU
from attnmt.vocab import EOS

# ------------------------------------------- padding and batch size change nothing (design rule 2)


def losses_of(model, pairs, size, extra):
    """-log p of every target token, pair by pair, in batches of a size with extra padding."""
    found = []
    for start in range(0, len(pairs), size):
        chosen = pairs[start : start + size]
        batch = make_batch(chosen, model.source_vocabulary, model.target_vocabulary, extra)
        with torch.no_grad():
            found.append(model.token_losses(batch))
    return torch.cat(found)


def alignments_of(model, pairs, size, extra):
    """The weights of every target position over the real source words, flat."""
    found = []
    for start in range(0, len(pairs), size):
        chosen = pairs[start : start + size]
        batch = make_batch(chosen, model.source_vocabulary, model.target_vocabulary, extra)
        with torch.no_grad():
            _, align = model(batch)
        for row, pair in enumerate(chosen):
            real = align[row, : len(pair.target) + 1]
            assert (real[:, len(pair.source) :] == 0).all()
            found.append(real[:, : len(pair.source)].flatten())
    return torch.cat(found)


COMPANY = [(7, 0), (50, 0), (50, 30), (1, 30)]  # sentences a batch, extra columns of padding


def difference(model, pairs, size, extra):
    """The largest change of a loss or a weight against each pair alone."""
    losses = losses_of(model, pairs, size, extra) - losses_of(model, pairs, 1, 0)
    weights = alignments_of(model, pairs, size, extra) - alignments_of(model, pairs, 1, 0)
    return max(float(losses.abs().max()), float(weights.abs().max()))


@pytest.mark.parametrize(("size", "extra"), COMPANY)
def test_loss_and_alignment_do_not_depend_on_company_or_padding(sharp, corpus, size, extra):
    assert len(corpus.test) == 50
    assert difference(sharp, corpus.test, size, extra) < 1e-9
    losses = losses_of(sharp.float(), corpus.test, size, extra)
    torch.testing.assert_close(losses, losses_of(sharp, corpus.test, 1, 0), rtol=0, atol=1e-5)


@pytest.mark.parametrize(("size", "extra"), COMPANY)
def test_greedy_output_does_not_depend_on_company_or_padding(
    sharp, corpus, size, extra, monkeypatch
):
    sentences = [pair.source for pair in corpus.test]
    alone = [greedy(sharp, [sentence])[0] for sentence in sentences]
    monkeypatch.setattr(decoding_module, "pad", functools.partial(pad, extra=extra))
    together = greedy(sharp, sentences, batch_size=size)
    assert len({tuple(translation.words) for translation in alone}) > 20  # the test has content
    for one, other in zip(alone, together, strict=True):
        assert one.words == other.words
        assert one.score == pytest.approx(other.score, abs=1e-9)
        np.testing.assert_allclose(one.alignment, other.alignment, atol=1e-6)  # float32


def see_padding(self, query, memory, time):
    return torch.ones_like(memory.mask)[:, None], None


def read_padding(self, source):
    everything = torch.full_like(source.lengths, source.ids.size(1))
    return forward(self, type(source)(source.ids, everything, source.mask))


forward = BidirectionalGRU.forward


@pytest.mark.parametrize(
    ("part", "broken"), [(Global, see_padding), (BidirectionalGRU, read_padding)]
)
def test_without_the_mask_or_the_lengths_these_tests_would_fail(
    sharp, corpus, monkeypatch, part, broken
):
    monkeypatch.setattr(part, "forward", broken)
    with pytest.raises(AssertionError):
        test_loss_and_alignment_do_not_depend_on_company_or_padding(sharp, corpus, 50, 30)


def test_a_loss_over_padding_would_be_noticed(sharp, corpus):
    """The mean over all columns, as tutorials compute it, changes with padding; ours does not."""

    def careless(extra):
        batch = make_batch(corpus.test, sharp.source_vocabulary, sharp.target_vocabulary, extra)
        logits = sharp.decoder.readout(sharp(batch)[0])
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), batch.target_out.flatten())
        return float(loss.detach())

    assert abs(careless(0) - careless(30)) > 0.01
    assert float(losses_of(sharp, corpus.test, 50, 0).mean()) == pytest.approx(
        float(losses_of(sharp, corpus.test, 50, 30).mean()), abs=1e-9
    )


# -------------------------------------------------------------------------------------- the model


def test_token_losses_are_minus_log_p_step_by_step(sharp, corpus):
    """The training path against the searching path, one word at a time."""
    pair = corpus.test[0]
    memory, state = sharp.start(pad([sharp.source_vocabulary.encode(pair.source)]))
    y, expected = torch.tensor([2]), []
    for word in [*sharp.target_vocabulary.encode(pair.target), EOS]:
        log_p, _, state = sharp.step(y, state, memory)
        assert float(log_p.exp().sum()) == pytest.approx(1)
        expected.append(-float(log_p[0, word]))
        y = torch.tensor([word])
    assert losses_of(sharp, [pair], 1, 0).tolist() == pytest.approx(expected)


def test_the_seed_decides_the_weights_and_nothing_outside(corpus):
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    one, same, other = (rnnsearch(corpus, hidden=4, seed=seed) for seed in (1, 1, 2))
    assert torch.equal(torch.rand(3), expected)  # the generator outside was not touched
    for name, weights in one.state_dict().items():
        assert torch.equal(weights, same.state_dict()[name])
    assert any(not torch.equal(w, other.state_dict()[n]) for n, w in one.state_dict().items())


def test_sizes_are_the_papers_when_asked_for(corpus):
    model = rnnsearch(corpus, hidden=10, embedding=6, alignment=9, maxout=5)
    assert model.encoder.rnn.input_size == 6
    assert model.decoder.attention.score.W_a.weight.shape == (9, 10)
    assert model.decoder.attention.score.U_a.weight.shape == (9, 20)
    assert model.decoder.maxout.weight.shape == (2 * 5, 10 + 6 + 20)


# -------------------------------------------------------------------------------- save and load


def test_a_loaded_model_is_the_same_bit_for_bit(corpus, tmp_path):
    model = rnnsearch(corpus, hidden=6, output_state="current", seed=4)
    model.save(tmp_path / "model.safetensors")
    loaded = Translator.load(tmp_path / "model.safetensors")
    assert os.listdir(tmp_path) == ["model.safetensors"]
    assert loaded.config == model.config
    assert loaded.source_vocabulary == model.source_vocabulary
    assert loaded.target_vocabulary == model.target_vocabulary
    assert torch.equal(losses_of(model, corpus.test, 50, 0), losses_of(loaded, corpus.test, 50, 0))


class Bomb:
    def __reduce__(self):
        return print, ("a checkpoint ran code",)


def damaged_files(corpus, tmp_path):
    model = rnnsearch(corpus, hidden=3)
    whole = tmp_path / "whole"
    model.save(whole)
    data = whole.read_bytes()
    (tmp_path / "truncated").write_bytes(data[: len(data) // 2])
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "pickle").write_bytes(pickle.dumps(Bomb()))
    save_file({"x": torch.zeros(2)}, tmp_path / "foreign")
    other = made_up_corpus(train=3, seed=9)
    assert len(other.source_vocabulary) != len(corpus.source_vocabulary)
    model.config["hidden"] = 5
    model.save(tmp_path / "other-size")
    model.config["model"] = "unheard-of"
    model.save(tmp_path / "other-model")
    model.config["model"] = "rnnsearch"
    model.config["hidden"] = 3
    model.source_vocabulary = other.source_vocabulary
    model.save(tmp_path / "other-vocabulary")


@pytest.mark.parametrize(
    "name",
    ["truncated", "empty", "pickle", "foreign", "other-size", "other-model", "other-vocabulary"],
)
def test_a_damaged_or_foreign_file_is_refused_by_name(corpus, tmp_path, name, capsys):
    damaged_files(corpus, tmp_path)
    with pytest.raises(ValueError, match=str(tmp_path / name)):
        Translator.load(tmp_path / name)
    assert "ran code" not in capsys.readouterr().out


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        Translator.load(tmp_path / "nowhere")


def test_the_metadata_is_json(corpus, tmp_path):
    from safetensors import safe_open

    rnnsearch(corpus, hidden=3).save(tmp_path / "model")
    with safe_open(tmp_path / "model", framework="pt") as file:
        metadata = file.metadata()
    assert json.loads(metadata["config"])["model"] == "rnnsearch"
    assert json.loads(metadata["source_vocabulary"])["language"] == "de"
