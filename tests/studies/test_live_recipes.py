"""results/studies/live_recipes.json: the recipe of the chapters' live trainings teaches enough."""

import json

import pytest

from attnmt import grammar_corpus
from attnmt.book.sizes import LIVE, LIVE_PAIRS
from attnmt.recipes import Recipe
from studies import live_recipes
from studies.live_recipes import CHOSEN, SEEDS, STORE, SYSTEMS, planned

STUDY = json.loads(STORE.read_text(encoding="utf-8"))
FOUND = STUDY["candidates"][CHOSEN]


def short(run):
    """BLEU on sentences of 6 to 10 words."""
    return next(score for first, _, score in run["by_length"] if first == 6)


def test_the_chosen_recipe_is_the_one_that_chapters_take():
    assert STUDY["chosen"] == CHOSEN
    assert (FOUND["pairs"], Recipe(**FOUND["recipe"])) == (LIVE_PAIRS, LIVE)


def test_every_run_of_the_plan_is_there():
    runs = [
        (name, system, run["seed"])
        for name, candidate in STUDY["candidates"].items()
        for system, of_system in candidate["runs"].items()
        for run in of_system
    ]
    assert set(runs) == set(planned())
    assert len(runs) == len(set(runs))


@pytest.mark.parametrize(("system", "bar"), [("dot", 0.25), ("RNNsearch", 0.40)])
def test_attention_locks_on_from_every_seed(system, bar):
    runs = FOUND["runs"][system]
    assert [run["seed"] for run in runs] == list(SEEDS)
    assert max(run["aer"] for run in runs) < bar
    assert min(short(run) for run in runs) > 75


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_training_fits_into_a_chapter_and_learns_to_its_end(system):
    for run in FOUND["runs"][system]:
        assert run["cpu_seconds"] < 300
        updates, last = run["curve"][-1]
        assert updates == -(-LIVE_PAIRS // LIVE.batch_size)
        assert last == min(perplexity for _, perplexity in run["curve"])


def test_the_study_fills_its_store_and_goes_on_where_it_stopped(tmp_path, monkeypatch):
    tiny = grammar_corpus(train=60, valid=5, test=10, seed=0)
    recipe = Recipe(epochs=1, batch_size=20, fall=True)
    one = live_recipes.Candidate(60, recipe, ("dot", "RNNencdec"))
    monkeypatch.setattr(live_recipes, "STORE", tmp_path / "live.json")
    monkeypatch.setattr(live_recipes, "CANDIDATES", {CHOSEN: one})
    monkeypatch.setattr(live_recipes, "SEEDS", (0,))
    monkeypatch.setattr(live_recipes, "CURVE", 1)
    monkeypatch.setattr(live_recipes, "grammar_corpus", lambda train: tiny)
    monkeypatch.setattr(live_recipes, "TEST_PAIRS", 10)
    live_recipes.main()
    store = json.loads((tmp_path / "live.json").read_text(encoding="utf-8"))
    runs = store["candidates"][CHOSEN]["runs"]
    assert [point[0] for point in runs["dot"][0]["curve"]] == [1, 2, 3]
    assert 0 <= runs["dot"][0]["aer"] <= 1
    assert runs["RNNencdec"][0]["aer"] is None
    monkeypatch.setattr(live_recipes, "train", lambda *_, **__: pytest.fail("trained again"))
    live_recipes.main()
    other = live_recipes.Candidate(60, Recipe(epochs=2, batch_size=20), ("dot",))
    monkeypatch.setattr(live_recipes, "CANDIDATES", {CHOSEN: other})
    monkeypatch.setattr(live_recipes, "train", lambda *_, **__: {"seed": 0, "bleu": 1, "aer": 1})
    live_recipes.main()  # another recipe: what is stored is of no use
    again = json.loads((tmp_path / "live.json").read_text(encoding="utf-8"))
    assert again["candidates"][CHOSEN]["runs"]["dot"] == [{"seed": 0, "bleu": 1, "aer": 1}]
