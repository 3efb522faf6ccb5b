"""studies/score_recipes.py: what a trial changes, and what its store must hold."""

from dataclasses import replace

import pytest
import torch

from attnmt.evidence.plan import model_arguments, planned, read_plan, recipe_of
from attnmt.evidence.store import read_study
from studies.score_recipes import EPOCHS, SEED, SHARES, SYSTEMS, begin, recipe, settings

STORE = read_study("score_recipes")
TRIALS = [(name, trial) for name in EPOCHS for trial in STORE["trials"][name]]


def key_of(trial):
    return trial["system"], trial["first_weights"], trial["share"]


@pytest.mark.parametrize("corpus_name", EPOCHS)
@pytest.mark.parametrize("share", SHARES)
def test_a_trial_has_the_plans_recipe_with_a_share_of_its_rate(corpus_name, share):
    whole = read_plan()["corpora"][corpus_name]["recipe"]
    found = recipe(corpus_name, share)
    assert found.batch_size == whole["batch_size"]
    assert found.learning_rate_of(1) == pytest.approx(share * whole["learning_rate"])
    assert found.epochs < whole["epochs"]
    assert found.learning_rate_of(found.epochs) == pytest.approx(found.learning_rate_of(1) / 2)


def test_the_seed_of_the_trials_is_no_recorded_runs():
    assert STORE["seed"] == SEED
    assert SEED not in {seed for _, _, seed in planned().values()}


def test_first_weights_differ_in_what_they_say(corpus):
    models = {
        init: begin(corpus, "grammar", "luong-general", init).state_dict()
        for init in ("torch", "paper", "identity")
    }
    W_a = "decoder.attention.score.W_a.weight"
    assert torch.equal(models["identity"][W_a], torch.eye(*models["identity"][W_a].shape))
    for name, weights in models["torch"].items():
        assert torch.equal(weights, models["identity"][name]) == (name != W_a), name
    assert all(weights.abs().max() <= 0.1 for weights in models["paper"].values())
    assert models["torch"][W_a].abs().max() != models["paper"][W_a].abs().max()


def test_identity_is_asked_of_general_alone():
    for system in set().union(*SYSTEMS.values()):
        has = "identity" in {init for init, _ in settings(system)}
        assert has == (read_plan()["systems"][system]["score"] == "general")


@pytest.mark.parametrize("name", EPOCHS)
def test_each_system_has_all_its_trials(name):
    made = [key_of(trial) for one, trial in TRIALS if one == name]
    assert len(made) == len(set(made))
    assert set(made) == {(s, *setting) for s in SYSTEMS[name] for setting in settings(s)}


@pytest.mark.parametrize(("name", "trial"), TRIALS)
def test_a_trial_was_trained_to_its_end_or_diverged(name, trial):
    assert len(trial["valid_perplexity"]) in (0, EPOCHS[name])
    assert all(perplexity > 1 for perplexity in trial["valid_perplexity"])


TUNED = sorted({(system, corpus_name) for system, corpus_name, _ in planned("H").values()})


@pytest.mark.parametrize(("tuned", "corpus_name"), TUNED)
def test_a_tuned_system_differs_from_the_plain_one_in_what_its_trials_found(tuned, corpus_name):
    system = tuned.rpartition("-")[0]
    ended = [one for name, one in TRIALS if (name, one["system"]) == (corpus_name, system)]
    best = min(ended, key=lambda one: (one["valid_perplexity"] or [float("inf")])[-1])
    made = {"init": "torch"} | model_arguments(tuned, corpus_name)
    assert made == model_arguments(system, corpus_name) | {"init": best["first_weights"]}
    recipe = recipe_of(system, corpus_name)
    rate = best["share"] * recipe.learning_rate
    assert recipe_of(tuned, corpus_name) == replace(recipe, learning_rate=rate)
