"""plan.py: what runs.toml says of systems, corpora and tiers."""

from inspect import signature

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
