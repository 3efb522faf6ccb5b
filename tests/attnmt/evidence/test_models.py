"""models.py: what the core lacks is what the paper says, and can be read back."""

import pytest
import torch
from torch.testing import assert_close

from attnmt import Translator, greedy, luong
from attnmt.batches import make_batch
from attnmt.evidence.models import MODELS, concat_fixed, load

SMALL = {
    "rnnencdec": {"hidden": 4},
    "rnnsearch": {"hidden": 4},
    "sutskever": {"hidden": 4},
    "luong": {"hidden": 4},
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
    batch = make_batch(corpus.test[:5], corpus.source_vocabulary, corpus.target_vocabulary)
    with torch.no_grad():
        assert_close(fixed(batch), concat(batch))  # so their first weights are the same, too
    parameters = (sum(w.numel() for w in model.parameters()) for model in (concat, fixed))
    assert next(parameters) - next(parameters) == 6 * 6  # the identity is not learned
    query, hbar = torch.randn(6), torch.randn(6)
    alone = fixed.decoder.attention.score
    by_hand = alone.v_a.weight[0] @ torch.tanh(alone.W_a.weight @ query + hbar)
    keys = alone.prepare(hbar[None, None])
    assert_close(alone(query[None, None], keys)[0, 0, 0], by_hand)


@pytest.mark.parametrize("name", MODELS)
def test_what_was_saved_is_what_is_loaded(name, corpus, tmp_path):
    model = MODELS[name](corpus, **SMALL[name], seed=5)
    model.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert loaded.config == model.config
    sentences = [pair.source for pair in corpus.test[:5]]
    ours, theirs = greedy(model, sentences), greedy(loaded, sentences)
    assert [one.words for one in ours] == [one.words for one in theirs]


def test_the_core_alone_cannot_read_them_and_says_so(corpus, tmp_path):
    concat_fixed(corpus, hidden=4).save(tmp_path / "model")
    with pytest.raises(ValueError, match="does not fit this version of attnmt"):
        Translator.load(tmp_path / "model")


def test_a_file_of_another_model_is_refused(corpus, tmp_path):
    with pytest.raises(FileNotFoundError, match="no model at"):
        load(tmp_path / "nothing")
    model = concat_fixed(corpus, hidden=4)
    model.config["hidden"] = 5
    model.save(tmp_path / "other")
    with pytest.raises(ValueError, match="does not fit this version of attnmt: RuntimeError"):
        load(tmp_path / "other")
