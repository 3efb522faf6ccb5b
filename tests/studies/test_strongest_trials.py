"""studies/strongest_trials.py: each trial changes one thing; validation alone measures it."""

import json
import math
import random
from dataclasses import replace

import pytest
import torch
from torch.testing import assert_close

from attnmt import Recipe, fit, luong
from attnmt.batches import make_batch
from attnmt.evidence.modern import Modern
from attnmt.evidence.plan import planned, read_plan
from attnmt.text.subwords import Pieces, cut, in_pieces, in_words, letters_of
from studies import strongest_trials
from studies.strongest_trials import (
    SEEDS,
    STORE,
    TOGETHER,
    TRIALS,
    Agreeing,
    CutByChance,
    Dropping,
    Warming,
    averaged,
    begin,
    changes_of,
    cut_by_chance,
    trial,
    twice,
)

STUDY = json.loads(STORE.read_text(encoding="utf-8"))
ALL = [
    (name, system, what)
    for name, systems in TRIALS.items()
    for system in systems
    for what in systems[system]
]


def test_each_trial_changes_one_thing():
    for name, system, what in ALL:
        assert name in read_plan()["corpora"]
        assert system in read_plan()["systems"]
        changed = [
            len(of.keys() - {"halve_after"}) if isinstance(of, dict) else 1  # which epochs entail
            for of in TRIALS[name][system][what].values()
        ]
        assert sum(changed) == (what != "as it is"), what


def test_what_is_stored_is_what_the_study_would_do():
    for name, systems in STUDY["trials"].items():
        for system, trials in systems.items():
            for what, found in trials.items():
                assert found["changes"] == changes_of(name, system, what)


def test_changes_together_are_all_of_each():
    (all_three,) = (what for what in TOGETHER["tied"] if what.count("+") == 2)
    recipe = {"epochs": 32, "halve_after": 32}
    expected = {"units": 1.5, "modern": {"smoothing": 0.2}, "recipe": recipe}
    assert changes_of("german-shared", "tied", all_three) == expected


def test_two_changes_of_a_recipe_are_both_made(monkeypatch):
    one, other = {"recipe": {"epochs": 2}}, {"recipe": {"batch_size": 8}}
    monkeypatch.setitem(TRIALS, "some", {"tied": {"one": one, "other": other}})
    assert changes_of("some", "tied", "one + other") == {"recipe": {"epochs": 2, "batch_size": 8}}
    assert one == {"recipe": {"epochs": 2}}  # the list itself is as it was


def test_both_kinds_of_model_have_the_same_list():
    """What only one of them has, such as recurrent weights, comes on top."""
    shared = TRIALS["german-shared"]
    assert shared["transformer-tied"].items() <= shared["tied"].items()
    old = TRIALS["pieces"]
    assert len(old["strongest"]) == len(old["transformer"])


def test_no_recorded_run_has_the_seed_of_the_new_trials():
    assert SEEDS["german-shared"] not in {seed for _, _, seed in planned().values()}


@pytest.mark.parametrize(("name", "system", "what"), ALL)
def test_a_trial_begins_as_it_says(corpus, name, system, what):
    """Of a small corpus, so that the model is soon made; the sizes are those of the trial."""
    changes = TRIALS[name][system][what]
    plain = begin(corpus, name, system, {}, seed=0).config
    changed = begin(corpus, name, system, changes, seed=0).config
    differ = {key for key in plain | changed if plain.get(key) != changed.get(key)}
    of_model = {"dropout", "more_layers", "units", "tied", "model"} & changes.keys()
    assert len(differ) == len(of_model)
    if "units" in changes:
        assert changed["hidden"] == changes["units"] * plain["hidden"]
    if "dropout" in changes:
        assert changed["dropout"] == pytest.approx(plain["dropout"] + changes["dropout"])


def test_a_trial_is_measured_on_validation_alone(corpus, monkeypatch):
    """There is no test set; and the mean of the weights is another model than the last."""
    small = replace(in_pieces(corpus, 15, joint=True), test=[])
    recipe = Recipe(epochs=4, batch_size=32, learning_rate=1e-2, halve_after=None, keep="last")
    monkeypatch.setattr(strongest_trials, "recipe_of", lambda *_: recipe)
    monkeypatch.setattr(strongest_trials, "LAST", 2)
    monkeypatch.setattr(strongest_trials, "scores", lambda model, of, part, **_: {"part": part})
    found = trial(small, "german-shared", "tied", {"units": 1 / 64})
    assert found["last"]["perplexity"] != found["mean"]["perplexity"]
    assert found["last"]["greedy"] == found["last"]["1.2"] == {"part": "valid"}


@pytest.fixture
def letters(corpus):
    """A small corpus in a few joint pieces."""
    return in_pieces(corpus, 15, joint=True)


PIECES = ["▁", "h", "u", "n", "d", "e", "i", "hu", "nd", "▁hu", "▁hund", "▁hunde", "ei", "ne"]
RANK = {piece: number for number, piece in enumerate(PIECES)}


@pytest.mark.parametrize("word", ["hunde", "undei", "einei", "nenei", "xei"])
def test_a_word_that_no_chance_cuts_is_cut_as_ever(word):
    """Of *einei*, for instance, ``ei`` is joined twice before ``ne`` can be."""
    assert cut_by_chance(word, RANK, 0.0, random.Random(0)) == cut(word, RANK)
    assert cut_by_chance(word, RANK, 1.0, random.Random(0)) == letters_of(word)


def test_a_word_has_many_cuts_by_chance_all_in_known_pieces():
    draw = random.Random(0)
    drawn = {tuple(cut_by_chance("hunde", RANK, 0.5, draw)) for _ in range(200)}
    assert {("▁hunde",), ("▁hund", "e"), ("▁hu", "nd", "e"), ("▁", *"hunde")} < drawn
    assert all(Pieces(PIECES).join(pieces) == ["hunde"] for pieces in drawn)
    assert {piece for pieces in drawn for piece in pieces} <= RANK.keys()


def test_a_joint_is_left_out_with_the_given_probability():
    """Of one joint alone, which is possible once."""
    draw = random.Random(0)
    parted = [len(cut_by_chance("a", {"▁a": 0}, 0.1, draw)) == 2 for _ in range(4_000)]
    assert sum(parted) / 4_000 == pytest.approx(0.1, abs=0.02)


def test_pairs_are_cut_anew_each_time_and_say_the_same(letters):
    pairs = CutByChance(letters, 0.5, seed=0)
    assert len(pairs) == len(letters.train)
    units = Pieces(letters.pieces[0])
    seen = set()
    for _ in range(5):
        for number, pair in enumerate(pairs):
            as_words = in_words(letters).train[number]
            assert tuple(units.join(pair.source)) == as_words.source
            assert tuple(units.join(pair.target)) == as_words.target
        seen.add(pair.source)
    assert len(seen) > 1
    again = CutByChance(letters, 0.5, seed=0)
    assert list(again) == list(CutByChance(letters, 0.5, seed=0))


def test_a_trial_learns_from_cuts_by_chance_and_not_validation(letters, monkeypatch):
    """With no joint left, a model learns from letters, and is measured on pieces."""
    seen = {}

    def fit(model, corpus, *_, **__):
        seen.update(train=corpus.train[0], valid=corpus.valid)
        raise StopIteration

    monkeypatch.setattr(strongest_trials, "fit", fit)
    with pytest.raises(StopIteration):
        trial(letters, "german-shared", "tied", {"units": 1 / 64, "cut_by_chance": 1.0})
    assert seen["train"].source == tuple(
        letter for word in in_words(letters).train[0].source for letter in letters_of(word)
    )
    assert seen["valid"] == letters.valid


def test_without_dropout_two_readings_agree(corpus):
    """Then nothing is added to the smoothed loss, and the gradient is the same."""
    model = luong(corpus, hidden=12).train()
    batch = make_batch(corpus.train[:20], model.source_vocabulary, model.target_vocabulary)
    gradients = []
    for objective in (Modern(smoothing=0.1), Agreeing(smoothing=0.1, weight=5.0)):
        losses = objective(model, batch)
        losses.mean().backward()
        gradients.append({name: of.grad.clone() for name, of in model.named_parameters()})
        model.zero_grad()
        assert losses.shape == (int(batch.target_mask.sum()),)
    for name, gradient in gradients[0].items():
        assert_close(gradients[1][name], gradient, msg=name)


def test_two_readings_that_differ_cost_their_divergence(corpus):
    """An independent count, of PyTorch's Kullback-Leibler divergence in both directions."""
    model = luong(corpus, hidden=12, dropout=0.5).train()
    batch = make_batch(corpus.train[:20], model.source_vocabulary, model.target_vocabulary)
    with torch.random.fork_rng():
        torch.manual_seed(3)
        losses = Agreeing(smoothing=0.0, weight=2.0)(model, batch)
        torch.manual_seed(3)
        both = twice(batch)
        features, _ = model(both)
        logits = model.decoder.readout(features[both.target_mask])
    of_words = [torch.distributions.Categorical(logits=half) for half in logits.chunk(2)]
    words = batch.target_out[batch.target_mask]
    loss = -(of_words[0].log_prob(words) + of_words[1].log_prob(words)) / 2
    divergence = torch.distributions.kl_divergence
    apart = divergence(*of_words) + divergence(*reversed(of_words))
    assert apart.min() > 0
    assert_close(losses, loss + 2.0 / 4 * apart)


@pytest.mark.parametrize("epochs", [1, 3, 4])
def test_the_mean_of_the_last_epochs_is_kept_beside_the_last_weights(corpus, epochs):
    recipe = Recipe(epochs=4, batch_size=32, learning_rate=1e-2, halve_after=None, keep="last")
    steps = math.ceil(len(corpus.train) / 32)
    model, after = luong(corpus, hidden=12, dropout=0.1), []
    mean, join = averaged(model, first=(4 - epochs + 1) * steps)

    def watch(model, updates):
        join(model, updates)
        after.append({name: weights.clone() for name, weights in model.state_dict().items()})

    fit(model, corpus, recipe, device="cpu", progress=False, curve_every=steps, watch=watch)
    assert len(after) == 4
    for name, weights in model.state_dict().items():
        expected = torch.stack([one[name] for one in after[-epochs:]]).mean(0)
        assert_close(mean.module.state_dict()[name], expected)
        assert torch.equal(weights, after[-1][name])


def test_a_warm_up_raises_the_rate_from_near_zero():
    recipe = Warming(epochs=2, learning_rate=0.5, warm_up=4, updates_per_epoch=3)
    moments = [(1, 0), (1, 1 / 3), (1, 2 / 3), (2, 0), (2, 1 / 3), (2, 2 / 3)]
    rates = [recipe.learning_rate_of(*moment) / 0.5 for moment in moments]
    assert rates == pytest.approx([0.25, 0.5, 0.75, 1, 1, 1])


def test_recurrent_weights_are_dropped_in_an_update_and_kept_between_updates(corpus):
    """A weight that was dropped has no gradient; the others have that of the weights with zeros."""
    model = luong(corpus, hidden=12).train()
    batch = make_batch(corpus.train[:20], model.source_vocabulary, model.target_vocabulary)
    before = {name: weights.clone() for name, weights in model.state_dict().items()}
    losses = Dropping(Modern(), share=0.5)(model, batch)
    losses.mean().backward()
    found = {name: weights.grad.clone() for name, weights in model.named_parameters()}
    model.zero_grad()
    for name, weights in model.named_parameters():
        assert torch.equal(weights, before[name])
        share = float((found[name] == 0).float().mean())
        assert ("weight_hh" not in name) or 0.3 < share < 0.7
        if "weight_hh" in name:
            weights.data.mul_(2 * (found[name] != 0))  # as dropout does: the rest is larger
    again = Modern()(model, batch)
    assert_close(again, losses)
    again.mean().backward()
    for name, weights in model.named_parameters():
        kept = 2 * (found[name] != 0) if "weight_hh" in name else torch.ones_like(weights)
        assert_close(weights.grad * kept, found[name])
