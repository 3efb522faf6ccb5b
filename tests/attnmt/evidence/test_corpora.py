"""The registry of corpora, and the plan of recorded runs that names them."""

from inspect import isfunction, signature

from attnmt import corpus
from attnmt.evidence import joined, plan
from attnmt.evidence.corpora import CORPORA
from attnmt.evidence.plan import read_plan


def test_every_function_that_makes_a_corpus_is_listed():
    found = {
        function
        for function in (*vars(corpus).values(), *vars(joined).values())
        if isfunction(function) and signature(function).return_annotation is corpus.Corpus
    }
    assert found == set(CORPORA.values())


def test_the_plan_names_corpora_that_there_are():
    for name, table in read_plan()["corpora"].items():
        parameters = signature(CORPORA[table.get("corpus", name)]).parameters
        assert {"train", *table.get("arguments", {})} <= set(parameters)
        assert {"train", "curve", "recipe", "samples"} <= set(table), name  # what each run needs
    assert {tier["corpus"] for tier in read_plan()["tiers"]} <= set(read_plan()["corpora"])


def test_a_corpus_of_the_plan_is_made_with_its_own_arguments(monkeypatch):
    asked = []
    made = lambda **arguments: asked.append(arguments)  # noqa: E731
    monkeypatch.setattr(plan, "CORPORA", dict.fromkeys(CORPORA, made))
    for name in ("joined", "joined30", "french"):
        plan.load_corpus.__wrapped__(name)  # not kept
    assert [arguments.get("most") for arguments in asked] == [None, 30, None]
    assert asked[2]["pair"] == "en-fr"
    assert [arguments["train"] for arguments in asked] == [
        read_plan()["corpora"][name]["train"] for name in ("joined", "joined30", "french")
    ]


def test_short_and_long_joined_captions_make_as_many_updates():
    tables = read_plan()["corpora"]
    updates = {
        tables[name]["train"] / tables[name]["recipe"]["batch_size"]
        for name in ("joined", "joined30")
    }
    assert len(updates) == 1
    assert updates.pop() == 2 * tables["joined"]["curve"] == 2 * tables["joined30"]["curve"]
