"""recipes.py: each addition to the objective is what it says, and nothing else changes."""

import pytest
import torch
from conftest import batch_of
from torch.testing import assert_close

from attnmt import Recipe, fit, luong, perplexity, recipes
from attnmt.recipes import CrossEntropy, bfloat16_trains


def dot(corpus):
    return luong(corpus, hidden=12, bidirectional=True)


@pytest.mark.kernels
@pytest.mark.parametrize("smoothing", [0.0, 0.3])
def test_the_smoothed_loss_by_hand(corpus, smoothing):
    """``(1 - e) (-log p(y)) + e mean_k (-log p(k))``, with its gradient."""
    model = dot(corpus).double()
    batch = batch_of(model, corpus.train[:7])
    smoothed = CrossEntropy(label_smoothing=smoothing)(model, batch)
    smoothed.mean().backward()
    found = [weights.grad.clone() for weights in model.parameters()]
    model.zero_grad()
    features, _ = model(batch)
    losses = []
    for b, pair in enumerate(corpus.train[:7]):
        for t in range(len(pair.target) + 1):
            log_p = model.decoder.readout(features[b, t]).log_softmax(0)
            right = log_p[batch.target_out[b, t]]
            losses.append(-(1 - smoothing) * right - smoothing * log_p.mean())
    assert_close(smoothed, torch.stack(losses).float())
    (sum(losses) / len(losses)).backward()
    for ours, weights in zip(found, model.parameters(), strict=True):
        assert_close(ours, weights.grad, rtol=1e-5, atol=1e-7)  # the logits are cast to float32


def test_perplexities_on_valid_are_never_smoothed(corpus):
    """So models with and without can be compared."""
    model = dot(corpus)
    recipe = Recipe(epochs=2, batch_size=32, learning_rate=1e-2)
    history = fit(model, corpus, recipe, device="cpu", progress=False, objective=CrossEntropy(0.5))
    last = history.epochs[-1]
    assert last.valid_perplexity == perplexity(model, corpus.valid) < last.train_perplexity


@pytest.mark.kernels
@pytest.mark.skipif(not bfloat16_trains("cpu"), reason="this processor trains no LSTM in bfloat16")
def test_in_bfloat16_the_weights_stay_float32(corpus):
    """The products are rougher, so the gradient is another, but not by much."""
    grads = []
    for precision in ("no", "bf16"):
        model = dot(corpus)
        losses = CrossEntropy(precision=precision)(model, batch_of(model, corpus.train[:7]))
        assert losses.dtype == torch.float32
        losses.mean().backward()
        assert {weights.dtype for weights in model.parameters()} == {torch.float32}
        grads.append(torch.cat([weights.grad.flatten() for weights in model.parameters()]))
    full, half = grads
    assert half.dtype == torch.float32
    assert not torch.equal(full, half)
    assert float((full - half).norm() / full.norm()) < 0.02


def test_where_bfloat16_does_not_train_float32_goes_on_and_says_so(monkeypatch, capsys):
    monkeypatch.setattr(recipes, "bfloat16_trains", lambda kind: False)
    assert recipes.precision_on("cpu", "bf16") == "no"
    line = "attnmt: no bfloat16 on this cpu: training goes on in float32\n"
    assert capsys.readouterr().err == line
    assert recipes.precision_on("cpu", "no") == "no"
    monkeypatch.setenv("RANK", "1")  # of several processes one says so
    assert recipes.precision_on("cpu", "bf16") == "no"
    assert capsys.readouterr().err == ""


def test_where_bfloat16_is_demanded_and_does_not_train_one_line_says_so(corpus, monkeypatch):
    monkeypatch.setattr(recipes, "bfloat16_trains", lambda kind: False)
    with pytest.raises(ValueError, match="no LSTM can learn in bfloat16 on this cpu"):
        fit(dot(corpus), corpus, objective=CrossEntropy(precision="bf16"))


@pytest.mark.kernels
def test_whether_bfloat16_trains_is_seen_without_a_trace():
    """It is tried with weights of its own: the random numbers of a training are untouched."""
    state = torch.get_rng_state()
    bfloat16_trains.__wrapped__("cpu")
    assert torch.get_rng_state().equal(state)
