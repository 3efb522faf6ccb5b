"""studies/strongest_seeds.py: validation chooses, and the test captions are measured after it."""

import json
from dataclasses import replace

from attnmt.corpus import MULTI30K_TESTS
from attnmt.evidence.plan import planned
from attnmt.text.subwords import in_pieces
from studies import other_pictures, strongest_seeds
from studies.strongest_seeds import (
    CORPUS,
    PENALTIES,
    RECIPES,
    SEEDS,
    STORE,
    chosen,
    measured,
    path_of,
    trained,
)
from studies.strongest_trials import SEEDS as OF_TRIALS
from studies.strongest_trials import changes_of

STUDY = json.loads(STORE.read_text(encoding="utf-8"))


def test_no_seed_is_that_of_the_trials():
    assert OF_TRIALS[CORPUS] not in SEEDS


def test_every_recipe_has_all_its_seeds_and_what_was_chosen_is_what_is_measured():
    for system, recipes in RECIPES.items():
        valid, test = STUDY[system]["valid"], STUDY[system]["test"]
        assert {what: set(runs) for what, runs in valid.items()} == {
            what: {str(seed) for seed in SEEDS} for what in recipes
        }
        assert (test["what"], test["penalty"]) == chosen(valid)
        assert len(test["seeds"]) == len(SEEDS)
        for found in (*test["seeds"], test["together"]):
            assert found["greedy"].keys() == found["beam"].keys() == MULTI30K_TESTS.keys()


def test_both_kinds_have_the_newer_ideas():
    (recurrent,), (_, transformer) = RECIPES.values()
    ours, theirs = (changes_of(CORPUS, *of) for of in zip(RECIPES, (recurrent, transformer)))
    assert ours == {"units": 1.5} | theirs


def test_the_wider_models_runs_are_in_the_plan():
    """So the study has not the recurrent model's best trial."""
    assert f"tied-wider-{CORPUS}-0" in planned()


def scored(score):
    return {"1|tok:13a": 0.0, "1|tok:none": score}


def test_the_mean_over_the_seeds_chooses_not_the_best_seed():
    def run(*of):
        return {"valid": {f"{p}": scored(score) for p, score in zip(PENALTIES, of, strict=True)}}

    one = {"0": run(1, 9, 1, 1), "1": run(1, 1, 1, 1)}
    other = {"0": run(1, 1, 6, 1), "1": run(1, 1, 5, 1)}
    assert chosen({"one": one, "other": other}) == ("other", 1.8)


def test_a_seed_is_kept_and_together_they_are_measured_on_each_test(corpus, tmp_path, monkeypatch):
    small = in_pieces(corpus, 15, joint=True)
    asked = []

    def load_corpus(name, test):
        asked.append(test)
        return small

    monkeypatch.setattr(strongest_seeds, "MODELS", tmp_path)
    monkeypatch.setattr(other_pictures, "load_corpus", load_corpus)
    monkeypatch.setattr(strongest_seeds, "corpus_of", lambda *_: replace(small, test=[]))
    monkeypatch.setattr(strongest_seeds, "SEEDS", (0, 1))
    quick = {"units": 1 / 64, "recipe": {"epochs": 1, "halve_after": None, "batch_size": 32}}
    monkeypatch.setattr(strongest_seeds, "changes_of", lambda *_: quick)
    runs = {"quick": {str(seed): trained("tied", "quick", seed) for seed in (0, 1)}}
    assert runs["quick"]["0"]["valid"]["perplexity"] != runs["quick"]["1"]["valid"]["perplexity"]
    assert all(path_of("tied", "quick", seed).exists() for seed in (0, 1))
    found = measured("tied", runs)
    assert asked == 6 * list(MULTI30K_TESTS)  # two models and both together, by two searches
    assert found["what"] == "quick"
    assert len(found["seeds"]) == 2
    assert found["together"]["beam"].keys() == MULTI30K_TESTS.keys()
