"""model.py: losses, constructors named after the papers, saving and loading.

What holds for all models alike, padding first of all, is in test_family.py.
"""

import inspect
import math
import os

import pytest
import torch
from conftest import FAMILY, PAIRWISE, bahdanau, batch_of, made_up_corpus

from attnmt.attention import SCORES, Dot
from attnmt.attention_only import attention_only
from attnmt.model import Translator, luong, rnnencdec, rnnsearch, sutskever

CONSTRUCTORS = [rnnencdec, rnnsearch, sutskever, luong]
every_constructor = pytest.mark.parametrize("make", CONSTRUCTORS, ids=lambda make: make.__name__)
every_kind = pytest.mark.parametrize(
    "make", [*CONSTRUCTORS, attention_only], ids=lambda make: make.__name__
)
CONSTRUCTED = [name for name in PAIRWISE if not name.startswith("bahdanau")]


# ------------------------------------------------------------------------------------ constructors


@every_kind
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


@every_constructor
def test_laptop_sizes_are_all_as_hidden(make, corpus):
    for hidden, chosen in [(128, {}), (20, {"hidden": 20})]:
        expected = dict.fromkeys(PAPER[make], hidden) | {"layers": 1}
        found = sizes_of(make(corpus, **chosen))
        assert found == {name: expected[name] for name in found}


def test_the_papers_options_are_the_defaults():
    """Where the papers are clear: the appendix's s_{i-1}, reversal, D = 10, no feeding."""
    defaults = {
        make: {name: p.default for name, p in inspect.signature(make).parameters.items()}
        for make in CONSTRUCTORS
    }
    assert defaults[rnnsearch]["output_state"] == "previous"
    assert defaults[rnnencdec]["output_state"] == "current"
    assert defaults[sutskever]["reverse"] is True
    assert (defaults[luong]["D"], defaults[luong]["max_length"]) == (10, 50)
    assert not any(defaults[luong][name] for name in ("feeding", "bidirectional", "reverse"))


@every_constructor
def test_dropout_reaches_both_sides_and_changes_no_first_weight(make, corpus):
    """Layers of an LSTM drop between them; one alone has no between."""
    plain, model = (make(corpus, hidden=4, dropout=share) for share in (0, 0.3))
    for one, share in ((plain, 0), (model, 0.3)):
        assert one.encoder.dropout == one.decoder.dropout == one.config["dropout"] == share
    first = model.state_dict()
    for name, weights in plain.state_dict().items():
        assert torch.equal(weights, first[name]), name
    for layers in (1, 2) if make in (sutskever, luong) else ():
        model = make(corpus, hidden=4, layers=layers, dropout=0.3)
        assert model.encoder.rnn.dropout == model.decoder.rnn.dropout == (layers > 1) * 0.3


@every_kind
def test_dropout_is_for_training_alone_and_0_draws_nothing(make, corpus):
    some, none = (make(corpus, hidden=8, dropout=share) for share in (0.5, 0.0))
    batch = batch_of(some, corpus.train[:3])
    plain = none.eval().token_losses(batch)
    assert torch.equal(some.eval().token_losses(batch), plain)
    before = torch.get_rng_state()
    torch.testing.assert_close(none.train().token_losses(batch), plain)
    assert torch.equal(torch.get_rng_state(), before)
    one, other = (some.train().token_losses(batch) for _ in range(2))
    assert not torch.allclose(one, other) and not torch.allclose(one, plain)


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
        (luong, {"score": "location", "window": "local-m"}, "location score .* global window"),
        (luong, {"hidden": 5, "bidirectional": True}, "hidden must be even .* not 5"),
        (rnnsearch, {"output_state": "next"}, "one of previous, current, not 'next'"),
        (sutskever, {"units": 4}, "unexpected keyword argument 'units'"),
        (attention_only, {"hidden": 10, "heads": 4}, "not 10 of 4"),
        (attention_only, {"hidden": 9, "heads": 3}, "not 9 of 3"),
    ],
)
def test_what_makes_no_model_is_refused(make, argument, message, corpus):
    """Each argument by itself is in test_arguments.py."""
    with pytest.raises((TypeError, ValueError), match=message):
        make(corpus, **{"hidden": 4} | argument)


# -------------------------------------------------------------------------------- save and load


@pytest.mark.parametrize("name", CONSTRUCTED)
def test_a_loaded_model_is_the_same_bit_for_bit(name, corpus, tmp_path):
    """Its weights, that is: those saved, not those of its seed, and in the precision they had."""
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
    for part, weights in loaded.state_dict().items():
        assert torch.equal(weights, model.state_dict()[part]), part
    batch = batch_of(model, corpus.test)
    torch.testing.assert_close(loaded.token_losses(batch), model.token_losses(batch))


def test_a_model_put_together_by_hand_is_not_saved_only_to_be_lost(corpus, tmp_path):
    """No constructor could make it again, so ``save`` says so, not ``load``."""
    with pytest.raises(ValueError, match="put together by hand"):
        bahdanau(corpus, "dot", "global").save(tmp_path / "model")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("other", [{"hidden": 5}, {"model": "unheard-of"}, {"model": "luong"}])
def test_a_foreign_file_is_refused_by_name(other, corpus, tmp_path):
    """Whole, but its texts do not fit its tensors; damage is in test_files.py."""
    path, model = tmp_path / "model", rnnsearch(corpus, hidden=3)
    model.config |= other
    model.save(path)
    with pytest.raises(ValueError, match=str(path)):
        Translator.load(path)
    model.config |= {"model": "rnnsearch", "hidden": 3}
    model.source_vocabulary = made_up_corpus(train=3, seed=9).source_vocabulary
    model.save(path)
    with pytest.raises(ValueError, match=str(path)):
        Translator.load(path)
    with pytest.raises(FileNotFoundError, match="nowhere"):
        Translator.load(tmp_path / "nowhere")
