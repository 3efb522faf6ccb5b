"""training.py: recipes are data, and fit follows them."""

import math

import pytest
import torch
from conftest import made_up_corpus

from attnmt import Recipe, fit, perplexity, rnnsearch
from attnmt.batches import batches
from attnmt.training import best_device


def weights_of(model):
    return torch.cat([weights.flatten().cpu() for weights in model.parameters()])


def test_perplexity_falls_and_the_history_tells(corpus, capsys):
    model = rnnsearch(corpus, hidden=16)
    before = perplexity(model, corpus.valid)
    recipe = Recipe(epochs=6, batch_size=16, learning_rate=1e-2, halve_after=None)
    history = fit(model, corpus, recipe, device="cpu")
    assert [epoch.epoch for epoch in history.epochs] == [1, 2, 3, 4, 5, 6]
    assert history.epochs[-1].valid_perplexity < before / 2
    assert history.epochs[-1].valid_perplexity == pytest.approx(perplexity(model, corpus.valid))
    tokens = sum(len(pair.target) + 1 for pair in corpus.train)
    for epoch in history.epochs:
        assert epoch.tokens == tokens
        assert epoch.gradient_norm > 0
        assert epoch.cpu_seconds > 0
    assert history.cpu_seconds == pytest.approx(sum(epoch.cpu_seconds for epoch in history.epochs))
    assert history.seconds > 0
    assert history.device == "cpu"
    shown = capsys.readouterr().err
    assert "epoch 6/6" in shown and "tokens/s" in shown


def test_the_first_step_is_adam_on_the_mean_loss_by_hand(corpus):
    """Adam's first step moves each weight by the learning rate against its gradient's sign."""
    recipe = Recipe(epochs=1, batch_size=len(corpus.train), learning_rate=1e-3, clip=1e9)
    model, twin = rnnsearch(corpus, hidden=5), rnnsearch(corpus, hidden=5)
    fit(model, corpus, recipe, device="cpu", progress=False)
    vocabularies = twin.source_vocabulary, twin.target_vocabulary
    (batch,) = batches(corpus.train, *vocabularies, len(corpus.train), 20, 0)
    loss = twin.token_losses(batch).mean()
    loss.backward()
    for moved, weights in zip(model.parameters(), twin.parameters(), strict=True):
        step = -1e-3 * weights.grad / (weights.grad.abs() + 1e-8)
        torch.testing.assert_close(moved, weights + step, rtol=0, atol=2e-5)


def test_the_train_perplexity_is_per_token_padding_left_out(corpus):
    recipe = Recipe(epochs=1, batch_size=7, learning_rate=1e-12)  # as good as not moving
    model = rnnsearch(corpus, hidden=5)
    expected = perplexity(model, corpus.train)
    (epoch,) = fit(model, corpus, recipe, device="cpu", progress=False).epochs
    assert epoch.train_perplexity == pytest.approx(expected, rel=1e-5)


def test_the_seed_decides_everything(corpus):
    def train(seed):
        model = rnnsearch(corpus, hidden=5)
        torch.rand(seed + 1)  # whatever was drawn before must not matter
        fit(model, corpus, Recipe(epochs=1, batch_size=30), seed, device="cpu", progress=False)
        return weights_of(model)

    assert torch.equal(train(0), train(0))
    assert not torch.equal(train(0), train(1))


def test_training_leaves_the_random_generator_outside_alone(corpus):
    torch.manual_seed(5)
    expected = torch.rand(2)
    torch.manual_seed(5)
    fit(rnnsearch(corpus, hidden=3), corpus, Recipe(epochs=1), device="cpu", progress=False)
    assert torch.equal(torch.rand(2), expected)


def test_the_gradient_is_clipped(corpus):
    one = Recipe(epochs=1, batch_size=len(corpus.train), learning_rate=1e-3, clip=1e-9)
    model = rnnsearch(corpus, hidden=5)
    before = weights_of(model)
    fit(model, corpus, one, device="cpu", progress=False)
    # Adam divides by |g| + 1e-8: a gradient of norm 1e-9 in all moves weights far less than 1e-3
    assert float((weights_of(model) - before).detach().abs().max()) < 1e-4


def test_the_learning_rate_is_halved_after_some_epochs():
    recipe = Recipe(learning_rate=1.0, halve_after=5)
    assert [recipe.learning_rate_of(epoch) for epoch in (1, 5, 6, 7, 8)] == [1, 1, 0.5, 0.25, 0.125]
    constant = Recipe(learning_rate=1.0, halve_after=None)
    assert constant.learning_rate_of(100) == 1


@pytest.mark.parametrize("name", ["epochs", "batch_size", "learning_rate", "clip", "pool"])
@pytest.mark.parametrize("value", [0, -1, math.nan])
def test_a_recipe_must_make_sense(name, value):
    with pytest.raises(ValueError, match=f"{name} must be positive"):
        Recipe(**{name: value})


def test_a_model_of_another_vocabulary_is_refused(corpus):
    other = made_up_corpus(train=3, seed=9)
    with pytest.raises(ValueError, match=r"source_vocabulary is not that of made-up"):
        fit(rnnsearch(other, hidden=3), corpus)


def test_a_loss_that_is_no_number_stops_the_training(corpus):
    model = rnnsearch(corpus, hidden=3)
    with torch.no_grad():
        model.decoder.W_o.bias[0] = math.nan
    with pytest.raises(FloatingPointError, match="epoch 1, batch 1, at learning rate"):
        fit(model, corpus, Recipe(epochs=1), device="cpu", progress=False)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
def test_training_on_a_gpu_gives_the_same_losses(corpus):
    cpu, gpu = rnnsearch(corpus, hidden=8), rnnsearch(corpus, hidden=8)
    recipe = Recipe(epochs=2, batch_size=16)
    on_cpu = fit(cpu, corpus, recipe, device="cpu", progress=False)
    on_gpu = fit(gpu, corpus, recipe, progress=False)
    assert on_gpu.device == "cuda"
    for one, other in zip(on_cpu.epochs, on_gpu.epochs, strict=True):
        assert one.valid_perplexity == pytest.approx(other.valid_perplexity, rel=1e-2)


def test_the_device_is_chosen_by_itself():
    assert best_device().type == ("cuda" if torch.cuda.is_available() else "cpu")
