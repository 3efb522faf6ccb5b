"""training.py: recipes are data, and fit follows them."""

import math
from dataclasses import replace

import pytest
import torch
from conftest import made_up_corpus

from attnmt import Corpus, Pair, Recipe, bleu, fast, fit, greedy, perplexity, rnnsearch, training
from attnmt.batches import batches
from attnmt.devices import chosen_device
from attnmt.metrics import texts
from attnmt.recipes import BAHDANAU, LUONG, LUONG_DROPOUT


def weights_of(model):
    return torch.cat([weights.flatten().cpu() for weights in model.parameters()])


@pytest.mark.kernels
def test_perplexity_falls_and_the_history_tells(corpus, capsys):
    model = rnnsearch(corpus, hidden=16)
    before = perplexity(model, corpus.valid)
    recipe = Recipe(epochs=4, batch_size=16, learning_rate=1e-2, halve_after=None)
    history = fit(model, corpus, recipe, device="cpu", measure_bleu=True)
    assert [epoch.epoch for epoch in history.epochs] == [1, 2, 3, 4]
    assert history.epochs[-1].valid_perplexity < before / 2
    assert history.epochs[-1].valid_perplexity == pytest.approx(perplexity(model, corpus.valid))
    tokens = sum(len(pair.target) + 1 for pair in corpus.train)
    for epoch in history.epochs:
        assert epoch.tokens == tokens
        assert epoch.gradient_norm > 0
        assert epoch.cpu_seconds > 0
    assert history.cpu_seconds == pytest.approx(sum(epoch.cpu_seconds for epoch in history.epochs))
    assert history.cpu_seconds > 0
    assert history.device == "cpu"
    translated = texts(model, greedy(model, [pair.source for pair in corpus.valid]))
    references = [pair.target_text for pair in corpus.valid]
    assert history.epochs[-1].bleu == bleu(translated, references, lowercase=True).score
    shown = capsys.readouterr().err
    assert "epoch 4/4" in shown and "tokens/s" in shown


def test_bleu_of_a_target_without_spaces_parts_it_as_the_corpus_says(monkeypatch):
    """By sacreBLEU's usual way a sentence is one word, so one wrong character leaves nothing."""
    lines = [f"我喜欢猫，他也喜欢狗{n}。" for n in range(4)]
    pairs = [Pair(("cats",), (line,), "cats", line) for line in lines]
    corpus = Corpus("own", "en", "zh", pairs, pairs, pairs, vocabulary_size=5)
    wrong = [line.replace("猫", "狗") for line in lines]
    monkeypatch.setattr(training, "texts", lambda *_: wrong)
    history = fit(rnnsearch(corpus, hidden=4), corpus, Recipe(1), measure_bleu=True, progress=False)
    assert history.epochs[-1].bleu == bleu(wrong, lines, True, tokeniser="zh").score > 50


# How far each optimiser's first step takes a weight, at the rate r, of the gradient g.
FIRST_STEPS = {
    "sgd": lambda r, g: -r * g,
    "adam": lambda r, g: -r * g / (g.abs() + 1e-8),  # Kingma and Ba 2015, algorithm 1
    # Zeiler 2012, algorithm 1, with the rho 0.95 and the epsilon 1e-6 of Bahdanau et al. 2015
    "adadelta": lambda r, g: -r * 1e-3 * g / (0.05 * g**2 + 1e-6).sqrt(),
}


@pytest.mark.parametrize("clip", [1e9, 1e-3], ids=["as it is", "clipped"])
@pytest.mark.parametrize(
    ("optimiser", "rate", "per"),
    [
        ("sgd", 0.01, "token"),
        ("sgd", 0.01, "sentence"),
        ("adam", 1e-3, "token"),
        ("adadelta", 1.0, "sentence"),
    ],
)
def test_one_step_by_hand(corpus, optimiser, rate, per, clip):
    """With all of train as the batch; the gradient is of the mean loss, clipped by its norm."""
    size = len(corpus.train)
    recipe = Recipe(1, size, learning_rate=rate, clip=clip, optimiser=optimiser, per=per)
    model, twin = (rnnsearch(corpus, hidden=5).double() for _ in range(2))
    fit(model, corpus, recipe, device="cpu", progress=False)
    (batch,) = batches(corpus.train, twin.source_vocabulary, twin.target_vocabulary, size, 20, 0)
    twin.token_losses(batch).sum().backward()
    tokens = sum(len(pair.target) + 1 for pair in corpus.train)
    grads = [
        weights.grad / {"token": tokens, "sentence": size}[per] for weights in twin.parameters()
    ]
    norm = torch.cat([grad.flatten() for grad in grads]).norm()
    assert 1e-3 < norm < 1e9
    for old, new, grad in zip(twin.parameters(), model.parameters(), grads, strict=True):
        grad = grad * min(1, clip / norm)
        expected = old + FIRST_STEPS[optimiser](rate, grad)
        torch.testing.assert_close(new, expected, rtol=0, atol=1e-6)


def test_the_train_perplexity_is_per_token_padding_left_out(corpus):
    recipe = Recipe(epochs=1, batch_size=7, learning_rate=1e-12)  # as good as not moving
    model = rnnsearch(corpus, hidden=5)
    expected = perplexity(model, corpus.train)
    (epoch,) = fit(model, corpus, recipe, device="cpu", progress=False).epochs
    assert epoch.train_perplexity == pytest.approx(expected, rel=1e-5)


def test_the_seed_decides_everything_and_leaves_the_generator_outside_alone(corpus):
    def train(seed):
        model = rnnsearch(corpus, hidden=5)
        torch.rand(seed + 1)  # whatever was drawn before must not matter
        before = torch.get_rng_state()
        fit(model, corpus, Recipe(epochs=1, batch_size=30), seed, device="cpu", progress=False)
        assert torch.equal(torch.get_rng_state(), before)
        return weights_of(model)

    assert torch.equal(train(0), train(0))
    assert not torch.equal(train(0), train(1))


def test_each_epoch_and_each_seed_reads_the_pairs_in_another_order(corpus, monkeypatch):
    epochs = []

    def seen(*arguments, **more):
        epochs.append([batch.target_out.tolist() for batch in batches(*arguments, **more)])
        return batches(*arguments, **more)

    monkeypatch.setattr(training, "batches", seen)
    for seed in (0, 1):
        model = rnnsearch(corpus, hidden=3)
        fit(model, corpus, Recipe(epochs=2), seed, device="cpu", progress=False)
    assert len(epochs) == 4
    for number, epoch in enumerate(epochs):
        assert epoch not in epochs[:number]


@pytest.mark.parametrize(
    ("recipe", "rates"),
    [
        (Recipe(learning_rate=1.0, halve_after=5), [1, 1, 1, 1, 1, 1 / 2, 1 / 4, 1 / 8]),
        (Recipe(learning_rate=1.0, halve_after=None), [1] * 8),
        (Recipe(learning_rate=1.0, halve_after=2, halve_every=2), [1, 1, 1 / 2, 1 / 2, 1 / 4]),
        (Recipe(4, learning_rate=1.0, halve_after=None, fall=True), [1, 3 / 4, 2 / 4, 1 / 4]),
        (Recipe(4, learning_rate=1.0, halve_after=2, fall=True), [1, 3 / 4, 1 / 4, 1 / 16]),
        # Luong et al. 2015, section 4.1
        (LUONG, [1] * 5 + [1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32]),
        (LUONG_DROPOUT, [1] * 8 + [1 / 2, 1 / 4, 1 / 8, 1 / 16]),
        (Recipe(1_100, learning_rate=1.0, halve_after=0), [2.0**-n for n in range(1, 1_101)]),
    ],
)
def test_the_learning_rate_of_each_epoch(recipe, rates):
    """It is halved after some epochs, or comes down in a straight line, or both."""
    assert [recipe.learning_rate_of(epoch) for epoch in range(1, len(rates) + 1)] == rates


def test_a_falling_rate_falls_from_step_to_step(corpus, monkeypatch):
    rates = []
    step = torch.optim.Adam.step

    def watched(optimiser):
        rates.extend(group["lr"] for group in optimiser.param_groups)
        return step(optimiser)

    monkeypatch.setattr(torch.optim.Adam, "step", watched)
    recipe = Recipe(epochs=2, batch_size=16, learning_rate=1.0, clip=1e-9, halve_after=None)
    model = rnnsearch(corpus, hidden=5)
    fit(model, corpus, replace(recipe, fall=True), device="cpu", progress=False)
    steps = 2 * math.ceil(len(corpus.train) / 16)
    assert rates == pytest.approx([1 - done / steps for done in range(steps)])


def test_the_papers_recipes():
    """Bahdanau et al. 2015, appendix B.2; Luong et al. 2015, section 4.1."""
    assert (BAHDANAU.optimiser, BAHDANAU.learning_rate, BAHDANAU.clip) == ("adadelta", 1, 1)
    assert (BAHDANAU.batch_size, BAHDANAU.pool, BAHDANAU.halve_after) == (80, 20, None)
    for recipe, epochs in ((LUONG, 10), (LUONG_DROPOUT, 12)):
        assert (recipe.optimiser, recipe.clip, recipe.batch_size) == ("sgd", 5, 128)
        assert (recipe.epochs, recipe.per) == (epochs, "sentence")


@pytest.mark.parametrize("keep", ["last", "best"])
def test_the_weights_of_the_epoch_that_the_recipe_names_are_kept(corpus, monkeypatch, keep):
    perplexities, seen = iter([3.0, 2.0, 2.0, 4.0]), []

    def perplexity(model, pairs):
        assert pairs is corpus.valid
        seen.append(weights_of(model))
        return next(perplexities)

    monkeypatch.setattr(training, "perplexity", perplexity)
    model = rnnsearch(corpus, hidden=5)
    history = fit(model, corpus, Recipe(4, 300, keep=keep), device="cpu", progress=False)
    assert history.best.epoch == 2  # the first of equals
    assert torch.equal(weights_of(model), seen[{"last": 3, "best": 1}[keep]])


def test_what_cannot_be_trained_or_where_is_refused_at_once(corpus, monkeypatch):
    model, other = rnnsearch(corpus, hidden=3), rnnsearch(made_up_corpus(train=3, seed=9), hidden=3)
    for part in ("train", "valid"):
        empty = replace(corpus, **{part: []})
        empty.__dict__.update(  # the vocabularies of the whole corpus
            source_vocabulary=corpus.source_vocabulary, target_vocabulary=corpus.target_vocabulary
        )
        with pytest.raises(ValueError, match="made-up needs pairs in both train and valid"):
            fit(model, empty)
    with pytest.raises(ValueError, match=r"source_vocabulary is not that of made-up"):
        fit(other, corpus)
    assert chosen_device().type == ("cuda" if torch.cuda.is_available() else "cpu")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ValueError, match="device is cuda, but PyTorch sees no GPU here"):
        fit(model, corpus, device="cuda")
    with pytest.raises(ValueError, match="device must be cpu or cuda, not 'tpu9'"):
        fit(model, corpus, device="tpu9")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
def test_training_on_a_gpu_gives_the_same_losses(corpus):
    cpu, gpu = rnnsearch(corpus, hidden=8), rnnsearch(corpus, hidden=8)
    recipe = Recipe(epochs=2, batch_size=16)
    on_cpu = fit(cpu, corpus, recipe, device="cpu", progress=False)
    on_gpu = fit(gpu, corpus, recipe, progress=False)
    assert on_gpu.device == "cuda"
    for one, other in zip(on_cpu.epochs, on_gpu.epochs, strict=True):
        assert one.valid_perplexity == pytest.approx(other.valid_perplexity, rel=1e-2)


def test_a_curve_has_its_points_and_changes_nothing_of_the_training(corpus):
    recipe = Recipe(epochs=1, batch_size=16)
    updates = math.ceil(len(corpus.train) / 16)
    more = {"device": "cpu", "progress": False, "curve_every": updates}
    model = rnnsearch(corpus, hidden=5)
    history = fit(model, corpus, recipe, **more)
    (point,) = history.curve
    assert point.updates == updates
    assert point.valid_perplexity == history.epochs[-1].valid_perplexity
    assert history.epochs[-1].bleu is None  # nobody asked for it
    assert point.valid_perplexity == perplexity(model, corpus.valid)
    unseen = rnnsearch(corpus, hidden=5)
    fit(unseen, corpus, recipe, device="cpu", progress=False)
    assert torch.equal(weights_of(model), weights_of(unseen))


@pytest.mark.parametrize("before", [False, True])
def test_numbers_too_small_to_matter_are_zero_in_a_step_and_only_there(before):
    smallest = torch.finfo(torch.float32).tiny
    try:
        if not torch.set_flush_denormal(before):
            pytest.skip("this processor cannot flush denormal numbers")
        with fast.without_denormals():
            assert torch.tensor([smallest]) / 2 == 0
        assert (torch.tensor([smallest]) / 2 == 0) == before
        with pytest.raises(KeyboardInterrupt), fast.without_denormals():
            raise KeyboardInterrupt
        assert (torch.tensor([smallest]) / 2 == 0) == before
    finally:
        torch.set_flush_denormal(False)
