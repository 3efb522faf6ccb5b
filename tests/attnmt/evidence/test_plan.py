"""plan.py: what runs.toml says of systems, corpora and tiers."""

from dataclasses import replace
from inspect import signature
from itertools import pairwise

import pytest

from attnmt import Recipe
from attnmt.evidence.models import MODELS
from attnmt.evidence.plan import CORPORA, model_arguments, planned, read_plan, recipe_of
from attnmt.evidence.record import make_run
from attnmt.recipes import BAHDANAU


def test_the_plan_names_corpora_that_there_are():
    for name, table in read_plan()["corpora"].items():
        parameters = signature(CORPORA[table.get("corpus", name)]).parameters
        assert {"train", *table.get("arguments", {})} <= set(parameters)
        assert {"train", "curve", "recipe", "samples"} <= set(table), name  # what each run needs
    assert {tier["corpus"] for tier in read_plan()["tiers"]} <= set(read_plan()["corpora"])


def test_short_and_long_joined_captions_make_as_many_updates():
    tables = read_plan()["corpora"]
    updates = {
        tables[name]["train"] / tables[name]["recipe"]["batch_size"]
        for name in ("joined", "joined30")
    }
    assert len(updates) == 1
    assert updates.pop() == 2 * tables["joined"]["curve"] == 2 * tables["joined30"]["curve"]


def test_a_system_has_its_own_arguments_before_those_of_the_corpus(use):
    of_luong = {"hidden": 8, "dropout": 0.3}
    here = {
        "systems": {
            "plain": {"model": "luong", "score": "dot"},
            "bare": {"model": "luong", "dropout": 0.0, "recipe": {"learning_rate": 1e-3}},
            "other": {"model": "rnnsearch", "recipe": "bahdanau"},
        },
        "corpora": {"text": {"recipe": {"epochs": 7}, "models": {"luong": of_luong}}},
    }
    use(here)
    plain = {"model": "luong", "score": "dot", "hidden": 8, "dropout": 0.3}
    assert model_arguments("plain", "text") == plain
    assert model_arguments("bare", "text") == {"model": "luong", "hidden": 8, "dropout": 0.0}
    assert model_arguments("other", "text") == {"model": "rnnsearch"}
    assert recipe_of("plain", "text") == Recipe(epochs=7)
    assert recipe_of("bare", "text") == Recipe(epochs=7, learning_rate=1e-3)
    assert recipe_of("other", "text") == BAHDANAU


@pytest.mark.parametrize(
    ("system", "corpus_name"), sorted({(system, on) for system, on, _ in planned().values()})
)
def test_every_system_of_the_plan_can_be_made(system, corpus_name, corpus):
    """With its own arguments, but small."""
    arguments = model_arguments(system, corpus_name) | {"hidden": 8}
    arguments |= {"embedding": 4} if "embedding" in arguments else {}
    model = MODELS[arguments.pop("model")](corpus, **arguments, seed=2)
    assert model.config["model"] == read_plan()["systems"][system]["model"]
    assert arguments.items() <= model.config.items()
    recipe_of(system, corpus_name)  # a recipe refuses what makes no sense


def test_a_doubled_system_is_the_same_one_with_twice_the_updates():
    doubled = {(system, on) for system, on, _ in planned("V").values()}
    assert doubled
    for system, corpus_name in doubled:
        plain = system.removesuffix("-doubled")
        assert model_arguments(system, corpus_name) == model_arguments(plain, corpus_name)
        short, long = (recipe_of(name, corpus_name) for name in (plain, system))
        assert long.epochs == 2 * short.epochs
        rates = [short.learning_rate_of(epoch + 1) for epoch in range(short.epochs)]
        twice = [long.learning_rate_of(epoch + 1) for epoch in range(long.epochs)]
        assert twice == [rate for rate in rates for _ in range(2)]
        same = {"epochs": short.epochs, "halve_after": short.halve_after}
        assert replace(long, halve_every=short.halve_every, **same) == short


def test_the_ladder_is_climbed_one_step_at_a_time():
    """From rung to rung of Luong et al. 2015, Table 1, one thing is added."""
    rungs = [model_arguments(f"ladder-{rung}", "multi30k") for rung in LADDER]
    added = [
        {key: value for key, value in above.items() if below.get(key) != value}
        for below, above in pairwise(rungs)
    ]
    attention = {"model": "luong", "score": "location", "bidirectional": False}
    assert added == [
        {"reverse": True},
        {"dropout": 0.2},
        attention,
        {"feeding": True},
        {"score": "general", "window": "local-p"},
    ]
    assert {rung["layers"] for rung in rungs} == {2}


LADDER = ("base", "reverse", "dropout", "location", "feeding", "local-p")


def test_runs_come_seed_by_seed_and_a_system_may_have_a_recipe_of_its_own(corpus, use):
    of_corpus = {"train": 1, "recipe": {"epochs": 1}, "samples": [], "curve": 9}
    special = {"model": "rnnsearch", "hidden": 6, "recipe": "bahdanau"}
    here = {
        "tiers": [
            {"name": "A", "corpus": "made", "seeds": [0, 1], "systems": ["special", "plain"]},
            {"name": "B", "corpus": "other", "seeds": [0], "systems": ["plain"]},
            {"name": "A", "corpus": "other", "seeds": [1], "systems": ["plain"]},  # its second part
        ],
        "systems": {"plain": {"model": "rnnsearch", "hidden": 6}, "special": special},
        "corpora": {"made": of_corpus, "other": of_corpus},
    }
    use(here, {"made": corpus})
    first = ["special-made-0", "plain-made-0", "special-made-1", "plain-made-1"]
    assert list(planned("A")) == [*first, "plain-other-1"]
    assert list(planned()) == [*first, "plain-other-0", "plain-other-1"]
    with pytest.raises(ValueError, match="tier must be one of A, B, not 'Z'"):
        list(planned("Z"))
    run, _ = make_run("special-made-0", progress=False)
    assert run.recipe == BAHDANAU
    assert "recipe" not in run.model
    assert "recipe" in special  # the plan itself is not changed
