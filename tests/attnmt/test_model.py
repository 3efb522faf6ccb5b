"""model.py: losses, constructors named after the papers, saving and loading.

What holds for all models alike, padding first of all, is in test_family.py.
"""

import math
import os
import pickle

import numpy as np
import pytest
import torch
from conftest import FAMILY, bahdanau, made_up_corpus
from safetensors.torch import save_file

from attnmt.attention import SCORES, Dot
from attnmt.batches import make_batch
from attnmt.model import Translator, luong, rnnencdec, rnnsearch, seeded, sutskever

CONSTRUCTORS = [rnnencdec, rnnsearch, sutskever, luong]
every_constructor = pytest.mark.parametrize("make", CONSTRUCTORS, ids=lambda make: make.__name__)
CONSTRUCTED = [name for name in FAMILY if not name.startswith("bahdanau")]


# ------------------------------------------------------------------------------------ constructors


@every_constructor
def test_the_seed_decides_the_weights_and_nothing_outside(make, corpus):
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    one, same, other = (make(corpus, hidden=4, seed=seed).state_dict() for seed in (1, 1, 2))
    assert torch.equal(torch.rand(3), expected)  # the generator outside was not touched
    assert all(torch.equal(weights, same[name]) for name, weights in one.items())
    assert any(not torch.equal(weights, other[name]) for name, weights in one.items())


def sizes_of(model):
    """The sizes that a model was made with, read off its weights."""
    encoder, decoder = model.encoder, model.decoder
    found = {"hidden": encoder.rnn.hidden_size, "embedding": decoder.embedding.embedding_dim}
    assert encoder.embedding.embedding_dim == found["embedding"]
    if hasattr(decoder, "rnn"):
        assert encoder.rnn.num_layers == decoder.rnn.num_layers
        return found | {"layers": decoder.rnn.num_layers}
    found["maxout"] = decoder.W_o.in_features
    assert decoder.maxout.out_features == 2 * found["maxout"]
    if model.attends:
        found["alignment"] = decoder.attention.score.v_a.in_features
    return found


PAPER = {
    rnnencdec: {"hidden": 1000, "embedding": 620, "maxout": 500},
    rnnsearch: {"hidden": 1000, "embedding": 620, "alignment": 1000, "maxout": 500},
    sutskever: {"hidden": 1000, "embedding": 1000, "layers": 4},
    luong: {"hidden": 1000, "embedding": 1000, "layers": 4},
}


@every_constructor
def test_sizes_are_the_papers_when_asked_for_and_one_may_differ(make, corpus):
    with torch.device("meta"):  # shapes without numbers: the paper's sizes cost nothing
        assert sizes_of(make(corpus, sizes="paper")) == PAPER[make]
        assert sizes_of(make(corpus, sizes="paper", hidden=64)) == PAPER[make] | {"hidden": 64}
        found = sizes_of(make(corpus, hidden=20))  # on a laptop all are as hidden
        assert found.pop("layers", 1) == 1 and set(found.values()) == {20}


@every_constructor
def test_dropout_and_reversal_reach_every_part_and_change_no_first_weight(make, corpus):
    deep = {"layers": 2} if "layers" in PAPER[make] else {}
    options = deep | {"reverse": True} if deep else {}
    model, plain = make(corpus, hidden=4, dropout=0.3, **options), make(corpus, hidden=4, **deep)
    assert (model.config["dropout"], plain.config["dropout"]) == (0.3, 0)
    for part in (model.encoder, model.decoder):
        assert part.dropout == 0.3
        assert not deep or part.rnn.dropout == 0.3  # between layers
    assert not deep or model.encoder.reverse
    torch.testing.assert_close(model.state_dict(), plain.state_dict(), rtol=0, atol=0)


def is_drawn_with(std, weights):
    """Whether the spread of n numbers round zero is what chance allows: five standard errors."""
    n = weights.numel()
    return abs(weights.mean()) < 5 * std / math.sqrt(n) and abs(
        weights.std() - std
    ) < 5 * std / math.sqrt(2 * n)


@pytest.mark.parametrize("make", [rnnencdec, rnnsearch], ids=lambda make: make.__name__)
def test_bahdanaus_initialisation(make, corpus):
    """Appendix B.1: U orthogonal; W_a, U_a N(0, 0.001^2); v_a, biases 0; the rest N(0, 0.01^2)."""
    model = make(corpus, hidden=30, embedding=40, init="paper").double()
    found = dict.fromkeys(["orthogonal", "zero", "0.001", "0.01"], 0)
    for name, weights in model.named_parameters():
        weights = weights.detach()
        if name.startswith("encoder.rnn.weight_hh") or (".U" in name and "U_a" not in name):
            kind = "orthogonal"
            for U in weights.split(30):
                assert torch.allclose(U @ U.T, torch.eye(30).double(), atol=1e-5), name
        elif "bias" in name or "v_a" in name:
            kind = "zero"
            assert (weights == 0).all(), name
        else:
            kind = "0.001" if "W_a" in name or "U_a" in name else "0.01"
            assert is_drawn_with(float(kind), weights), name
        found[kind] += 1
    directions = 2 if make is rnnsearch else 1
    assert found["orthogonal"] == directions + 2  # of the encoder, and U_zr and U
    assert found["0.001"] == (2 if make is rnnsearch else 0)


@pytest.mark.parametrize(("make", "bound"), [(sutskever, 0.08), (luong, 0.1)])
def test_sutskevers_and_luongs_initialisation(make, bound, corpus):
    """Every parameter uniform in [-bound, bound]: of that width, the deviation is bound/sqrt 3."""
    options = {"score": "general", "window": "local-p"} if make is luong else {}
    model = make(corpus, hidden=30, layers=2, init="paper", **options)
    for name, weights in model.named_parameters():
        assert weights.abs().max() <= bound, name
        if weights.numel() > 100:
            assert weights.abs().max() > 0.95 * bound, name
            assert is_drawn_with(bound / math.sqrt(3), weights.detach()), name


class Scaled(Dot):
    """A dot product with a learned scale, which starts at 5."""

    def __init__(self, query_size, annotation_size):
        super().__init__(query_size, annotation_size)
        self.scale = torch.nn.Parameter(torch.tensor(5.0))


def test_what_a_score_learns_besides_its_layers_keeps_its_own_first_value(corpus, monkeypatch):
    """The papers' initialisations speak of matrices and biases."""
    monkeypatch.setitem(SCORES, "scaled", Scaled)
    model = luong(corpus, score="scaled", hidden=4, init="paper")
    assert float(model.decoder.attention.score.scale.detach()) == 5
    assert model.decoder.W_c.weight.abs().max() <= 0.1


@pytest.mark.parametrize(
    ("make", "argument", "message"),
    [
        (
            luong,
            {"score": "no-such-score"},
            "score must be one of .*dot.*general.*location.* not 'no-such-score'",
        ),
        (luong, {"window": "wide"}, "window must be one of global, local-m, local-p, not 'wide'"),
        (luong, {"score": "location", "window": "local-m"}, "location score .* global window"),
        (luong, {"window": "local-m", "D": -1}, "D must be a whole number of at least 0, not -1"),
        (luong, {"window": "local-p", "D": 0}, "D must be a whole number of at least 1, not 0"),
        (luong, {"hidden": 5, "bidirectional": True}, "hidden must be even .* not 5"),
        (luong, {"layers": 0}, "layers must be a whole number of at least 1, not 0"),
        (sutskever, {"layers": 1.5}, "layers must be a whole number of at least 1, not 1.5"),
        (rnnsearch, {"alignment": 0}, "alignment must be a whole number of at least 1, not 0"),
        (rnnsearch, {"output_state": "next"}, "one of previous, current, not 'next'"),
        (rnnencdec, {"output_state": "next"}, "one of previous, current, not 'next'"),
        (rnnencdec, {"dropout": 1}, "dropout must be from 0 to below 1, not 1"),
        (rnnsearch, {"dropout": 1}, "dropout must be from 0 to below 1, not 1"),
        (sutskever, {"dropout": -0.1}, "dropout"),
        (luong, {"dropout": 1.5}, "dropout"),
    ],
)
def test_what_makes_no_model_is_refused(make, argument, message, corpus):
    with pytest.raises(ValueError, match=message):
        make(corpus, **{"hidden": 4} | argument)


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ({"sizes": "large"}, "sizes must be one of laptop, paper, not 'large'"),
        ({"init": "xavier"}, "init must be one of torch, paper, not 'xavier'"),
        ({"hidden": 0}, "hidden must be a whole number of at least 1, not 0"),
        ({"hidden": 2.5}, "hidden must be a whole number of at least 1, not 2.5"),
        ({"hidden": True}, "hidden must be a whole number of at least 1, not True"),
        ({"units": 4}, "unexpected keyword argument 'units'"),
    ],
)
@every_constructor
def test_wrong_sizes_and_unknown_names_are_refused_by_all(make, argument, message, corpus):
    with pytest.raises((ValueError, TypeError), match=message):
        make(corpus, **{"hidden": 4} | argument)


@pytest.mark.parametrize("make", [rnnencdec, rnnsearch], ids=lambda make: make.__name__)
def test_training_without_dropout_draws_no_random_number(make, corpus):
    batch = make_batch(corpus.train[:5], corpus.source_vocabulary, corpus.target_vocabulary)
    model = make(corpus, hidden=4).train()
    before = torch.get_rng_state()
    losses = model.token_losses(batch)
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.equal(model.eval().token_losses(batch), losses)


# -------------------------------------------------------------------------------- save and load


@pytest.mark.parametrize("name", CONSTRUCTED)
def test_a_loaded_model_is_the_same_bit_for_bit(name, corpus, tmp_path):
    """Its weights are not those of its seed, and they have the precision that they had."""
    model = FAMILY[name](corpus).double()
    with torch.no_grad():
        for weights in model.parameters():
            weights += 1 / 3
    model.save(tmp_path / "model.safetensors")
    loaded = Translator.load(tmp_path / "model.safetensors")
    assert os.listdir(tmp_path) == ["model.safetensors"]
    assert loaded.config == model.config
    assert loaded.source_vocabulary == model.source_vocabulary
    assert loaded.target_vocabulary == model.target_vocabulary
    torch.testing.assert_close(loaded.state_dict(), model.state_dict(), rtol=0, atol=0)


def test_loading_draws_no_weights(corpus, tmp_path, monkeypatch):
    rnnsearch(corpus, hidden=4, init="paper").save(tmp_path / "model")
    drawn, normal_ = [], torch.nn.init.normal_

    def seen(tensor, *args, **kwargs):
        drawn.append(tensor.device.type)
        return normal_(tensor, *args, **kwargs)

    monkeypatch.setattr(torch.nn.init, "normal_", seen)
    rnnsearch(corpus, hidden=4, init="paper")
    assert "cpu" in drawn
    drawn.clear()
    Translator.load(tmp_path / "model")
    assert set(drawn) == {"meta"}


def test_seeding_leaves_the_generators_of_gpus_alone(monkeypatch):
    asked = []
    monkeypatch.setattr(torch.cuda, "manual_seed_all", asked.append)
    torch.manual_seed(0)
    assert asked == [0]  # so torch.manual_seed would be seen
    before = torch.get_rng_state()
    with seeded(1):
        first = torch.rand(3)
    with seeded(1):
        assert torch.rand(3).equal(first)
    assert torch.get_rng_state().equal(before)
    assert asked == [0]


@pytest.mark.parametrize("hidden", [np.int64(4), np.uint8(4)])
def test_numpys_whole_numbers_are_saved_as_numbers(hidden, corpus, tmp_path):
    rnnsearch(corpus, hidden=hidden).save(tmp_path / "model")
    assert Translator.load(tmp_path / "model").config["hidden"] == 4


def test_a_model_put_together_by_hand_is_not_saved_only_to_be_lost(corpus, tmp_path):
    """No constructor could make it again, so ``save`` says so, not ``load``."""
    with pytest.raises(ValueError, match="put together by hand"):
        bahdanau(corpus, "dot", "global").save(tmp_path / "model")
    assert os.listdir(tmp_path) == []


class Bomb:
    def __reduce__(self):
        return print, ("a checkpoint ran code",)


def test_a_damaged_or_foreign_file_is_refused_by_name(corpus, tmp_path, capsys):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        Translator.load(tmp_path / "nowhere")
    rnnsearch(corpus, hidden=3).save(tmp_path / "truncated")
    whole = (tmp_path / "truncated").read_bytes()
    (tmp_path / "truncated").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "pickle").write_bytes(pickle.dumps(Bomb()))
    save_file({"x": torch.zeros(2)}, tmp_path / "foreign")
    for name, lie in (
        ("size", {"hidden": 5}),
        ("model", {"model": "unheard-of"}),
        ("constructor", {"model": "luong"}),
        ("window", {"model": "luong", "score": "dot", "window": "local-p"}),
    ):
        model = rnnsearch(corpus, hidden=3)
        model.config |= lie
        model.save(tmp_path / name)
    model = rnnsearch(corpus, hidden=3)
    model.source_vocabulary = made_up_corpus(train=3, seed=9).source_vocabulary
    model.save(tmp_path / "vocabulary")
    damaged = list(tmp_path.iterdir())
    assert len(damaged) == 9
    for path in damaged:
        with pytest.raises(ValueError, match=str(path)):
            Translator.load(path)
    assert "ran code" not in capsys.readouterr().out
