"""plan.py: what runs.toml says of systems, corpora and tiers."""

from inspect import signature

import pytest

from attnmt.evidence.models import MODELS
from attnmt.evidence.plan import CORPORA, model_arguments, planned, read_plan, recipe_of


def test_the_plan_names_corpora_that_there_are():
    for name, table in read_plan()["corpora"].items():
        parameters = signature(CORPORA[table.get("corpus", name)]).parameters
        assert {"train", *table.get("arguments", {})} <= set(parameters)
        assert {"train", "curve", "recipe", "samples"} <= set(table), name  # what each run needs
    assert {tier["corpus"] for tier in read_plan()["tiers"]} <= set(read_plan()["corpora"])


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
