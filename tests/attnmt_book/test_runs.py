"""runs.py: a recorded run is one file that says everything, and nothing half-written is read."""

import json
import os
from functools import cache

import pytest

from attnmt import Recipe, Translator, bleu, greedy, perplexity, rnnsearch, training
from attnmt.metrics import texts
from attnmt.model import sutskever
from attnmt.training import BAHDANAU, RECIPES
from attnmt_book import runs
from attnmt_book.runs import load_run, record, save_run, undertrained_folder


@pytest.fixture(scope="module")
def model(corpus):
    return rnnsearch(corpus, hidden=8)


@pytest.fixture(scope="module")
def run(model, corpus):
    samples = ["w1 w2 w3", "w4"]
    return record("tiny-made-0", model, corpus, Recipe(epochs=2), 0, samples, progress=False)


def test_a_run_says_what_was_measured(run, model, corpus):
    found = greedy(model, [pair.source for pair in corpus.test])
    references = [pair.target_text for pair in corpus.test]
    assert run.bleu.score == bleu(texts(model, found), references, lowercase=True).score
    assert run.test_perplexity == pytest.approx(perplexity(model, corpus.test))
    assert sum(bucket.bleu.sentences for bucket in run.by_length) == len(corpus.test)
    assert 0 <= run.aer <= 1
    assert run.corpus["fingerprint"] == corpus.fingerprint
    assert run.model == model.config
    assert len(run.history.epochs) == 2
    assert run.parameters == sum(weights.numel() for weights in model.parameters())
    assert set(run.versions) == {"python", "torch"}


def test_samples_have_a_weight_for_each_word_on_each_source_word(run):
    assert [sample.source for sample in run.samples] == [["w1", "w2", "w3"], ["w4"]]
    for sample in run.samples:
        assert len(sample.alignment) == len(sample.words)
        for row in sample.alignment:
            assert len(row) == len(sample.source)
            assert sum(row) == pytest.approx(1, abs=1e-3)


def test_what_was_stored_is_what_is_loaded(run, tmp_path):
    path = save_run(run, tmp_path)
    assert os.listdir(tmp_path) == ["tiny-made-0.json"]
    assert load_run("tiny-made-0", tmp_path) == run
    data = json.loads(path.read_text())
    assert data["command"] == "attnmt record tiny-made-0"
    assert data["format"] == "attnmt-run-1"


def test_a_run_that_is_not_there_is_named_and_those_there_are_listed(run, tmp_path):
    save_run(run, tmp_path)
    with pytest.raises(FileNotFoundError, match=r"'other' .*There are: tiny-made-0"):
        load_run("other", tmp_path)


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[: len(text) // 2],
        lambda text: "",
        lambda text: "[]",
        lambda text: text.replace("attnmt-run-1", "something-else"),
        lambda text: text.replace('"seed":0', '"seed":"zero"'),
        lambda text: text.replace('"history"', '"story"'),
        lambda text: "\x80",
    ],
)
def test_a_damaged_or_foreign_file_is_refused_by_name(run, tmp_path, damage):
    path = save_run(run, tmp_path)
    path.write_bytes(damage(path.read_text()).encode("latin-1", errors="replace"))
    with pytest.raises(ValueError, match=rf"{path} is damaged .*attnmt record tiny-made-0"):
        load_run("tiny-made-0", tmp_path)


RECORDED = sorted(path.stem for path in undertrained_folder().glob("*.json"))


@pytest.mark.parametrize("name", runs.names())
def test_every_run_of_the_book_is_recorded(name):
    assert name in RECORDED


@pytest.mark.parametrize("name", RECORDED)
def test_a_recorded_run_belongs_to_this_version_of_the_book(name):
    """Its recipe, corpus and model are those that its command would use today."""
    run, plan = load_run(name, undertrained_folder()), runs.book()
    system, corpus_name, seed = name.rsplit("-", 2)
    assert run.name == name
    assert run.command == f"attnmt record {name}"
    settings = dict(plan["systems"][system])
    settings.pop("corpora", None)
    own = RECIPES.get(settings.pop("recipe", None))
    assert run.recipe == (own or Recipe(**plan["corpora"][corpus_name]["recipe"]))
    assert run.seed == run.model["seed"] == int(seed)
    assert settings.items() <= run.model.items()
    assert len(run.history.epochs) == run.recipe.epochs
    assert len(run.samples) == len(plan["corpora"][corpus_name]["samples"])
    assert "case:lc" in run.bleu.signature
    if corpus_name == "grammar":
        assert run.corpus["fingerprint"] == grammar_fingerprint()


@cache
def grammar_fingerprint():
    return runs.CORPORA["grammar"]().fingerprint


def test_rnnsearch_learned_real_text_on_every_seed():
    """A floor, not a goal: a recorded run below it was recorded with something broken."""
    for seed in runs.book()["seeds"]:
        assert load_run(f"rnnsearch-multi30k-{seed}", undertrained_folder()).bleu.score > 20


def test_a_run_is_made_as_the_plan_says(corpus, tmp_path, monkeypatch):
    """From its name alone: the model and its arguments, the seed, the recipe, the samples."""
    plan = {
        "seeds": [0, 4],
        "systems": {"odd-one": {"model": "luong", "score": "general", "hidden": 6}},
        "corpora": {"made": {"recipe": {"epochs": 1, "batch_size": 9}, "samples": ["w1"]}},
    }
    monkeypatch.setattr(runs, "book", lambda: plan)
    monkeypatch.setitem(runs.CORPORA, "made", lambda: corpus)
    monkeypatch.setattr(training, "best_device", lambda: "cpu")  # where the saved one is measured
    run = runs.make("odd-one-made-4", models=tmp_path, progress=False)
    assert runs.names() == ["odd-one-made-0", "odd-one-made-4"]
    assert (run.model["model"], run.model["score"], run.model["hidden"]) == ("luong", "general", 6)
    assert run.seed == run.model["seed"] == 4
    assert run.recipe == Recipe(epochs=1, batch_size=9)
    assert [sample.source for sample in run.samples] == [["w1"]]
    saved = Translator.load(tmp_path / "odd-one-made-4.safetensors")
    assert perplexity(saved, corpus.test) == pytest.approx(run.test_perplexity)
    with pytest.raises(
        ValueError, match=r"name must be one of odd-one-made-0, odd.*not 'other-made-0'"
    ):
        runs.make("other-made-0")


def test_a_system_may_have_corpora_and_a_recipe_of_its_own(corpus, monkeypatch):
    of_corpus = {"recipe": {"epochs": 1}, "samples": []}
    special = {"model": "rnnsearch", "hidden": 6, "corpora": ["made"], "recipe": "bahdanau"}
    plan = {
        "seeds": [0],
        "systems": {"plain": {"model": "rnnsearch", "hidden": 6}, "special": special},
        "corpora": {"made": of_corpus, "other": of_corpus},
    }
    monkeypatch.setattr(runs, "book", lambda: plan)
    monkeypatch.setitem(runs.CORPORA, "made", lambda: corpus)
    assert runs.names() == ["plain-made-0", "plain-other-0", "special-made-0"]
    run = runs.make("special-made-0", progress=False)
    assert run.recipe == BAHDANAU
    assert "corpora" not in run.model and "recipe" not in run.model
    assert "corpora" in special  # the plan itself is not changed


def test_a_model_that_does_not_attend_has_no_alignment_error(corpus):
    model = sutskever(corpus, hidden=6)
    run = record("x", model, corpus, Recipe(epochs=1), 0, ["w1 w2"], progress=False)
    assert run.aer is None
    assert run.samples[0].alignment is None
