"""All studies: how they are started and stored, what they count, what their numbers must fulfil."""

import inspect
from collections import Counter
from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest
import torch

from attnmt import Recipe, beam_search, bleu, grammar_corpus, greedy, luong
from attnmt.alignment import alignment_error_rate
from attnmt.evidence.links import best_possible
from attnmt.evidence.plan import model_arguments, planned, read_plan, recipe_of, results_folder
from attnmt.evidence.store import load_run, load_statistics, read_study
from attnmt.metrics import texts
from studies import gold_links, lock_on, long_sources
from studies import searches as of_searches
from studies.score_recipes import RUNGS
from studies.study import recorded_on, studies

OF_BENCHMARKS = {"benchmarks", "costs", "watch_it_learn"}
STORED = sorted(path.stem for path in (results_folder() / "studies").glob("*.json"))
FROZEN = {name for name in STORED if "commit" in read_study(name)}

# ------------------------------------------------------------------ how they are started and stored


def test_a_study_is_named_as_its_results_and_every_other_result_says_its_commit():
    assert set(STORED) - OF_BENCHMARKS - FROZEN == set(studies())
    for name in studies():
        study = import_module(f"studies.{name}")
        assert results_folder() / "studies" / f"{name}.json" == study.STORE
        assert callable(study.main)
    for name in FROZEN:
        assert len(read_study(name)["commit"]) == 40
        assert read_study(name)["command"] == f"make study NAME={name}"


# -------------------------------------------------------------------------------- what they count


@pytest.fixture(scope="module")
def alone():
    """A small controlled corpus, its sentences not joined."""
    return grammar_corpus(train=60, valid=5, test=40, long=0, names=0)


@pytest.mark.parametrize("score", lock_on.SCALED)
def test_one_part_is_multiplied_and_nothing_else(score, corpus):
    part = f"{lock_on.SCALED[score]}."
    before = luong(corpus, score=score, seed=3).state_dict()
    after = lock_on.scaled(corpus, score, 4, seed=3).state_dict()
    for name, weights in before.items():
        assert torch.equal(after[name], (4 if name.startswith(part) else 1) * weights), name
    assert any(name.startswith(part) for name in before)


def test_a_searchs_score_is_what_loops_count(sharp, corpus):
    pairs = corpus.test[:8]
    judge = of_searches.Judge(sharp, pairs)
    found = beam_search(sharp, judge.sentences, beam=4)
    score = judge.score("beam", found)
    references = [pair.target_text for pair in pairs]
    whole = bleu(texts(sharp, found), references, lowercase=True).score
    assert score["bleu"] == pytest.approx(whole, abs=1e-3)
    same = [a.words == list(pair.target) for a, pair in zip(found, pairs, strict=True)]
    assert score["right"] == sum(same)
    more = [a.score - b.score for a, b in zip(found, greedy(sharp, judge.sentences), strict=True)]
    assert score["more_probable"] == len([gain for gain in more if gain > 1e-3])
    assert score["less_probable"] == len([gain for gain in more if gain < -1e-3])


def test_a_joined_pair_links_the_words_that_its_sentences_link(alone):
    def linked(pair, name):
        return Counter((pair.source[s], pair.target[t]) for s, t in getattr(pair, name))

    some = alone.test[:5]
    joined = long_sources.join_linked(some)
    for name in ("sure", "possible"):
        assert linked(joined, name) == sum((linked(pair, name) for pair in some), Counter())
    assert joined.source == sum((pair.source for pair in some), ())
    assert alignment_error_rate([best_possible(joined)], [joined]) < 0.1  # none is out of place


# ------------------------------------------------------------------- what their numbers must fulfil


def gold_links_are_counted_as_the_recorded_alignment_errors_are(stored):
    attending = {name for name in recorded_on("multi30k") if load_run(name).aer is not None}
    assert set(stored["runs"]) == attending
    for name, found in stored["runs"].items():
        _, possible, predicted, _ = load_statistics(name)["gold_aer"].astype(int).sum(axis=0)
        assert sum(right for right, _ in found.values()) == possible
        assert sum(drawn for _, drawn in found.values()) == predicted
        assert found["unlinked"][0] == 0
    asked = {tuple(of[kind][1] for kind in gold_links.CLASSES) for of in stored["runs"].values()}
    assert len(asked) == 1  # one link a word, whatever the model


def lock_on_names_the_first_measurement_above_the_mark(stored):
    for by_size in stored["scores"].values():
        for run in (run for some in by_size.values() for run in some):
            updates, masses, _ = zip(*run["curve"], strict=True)
            assert list(updates) == list(range(lock_on.EVERY, updates[-1] + 1, lock_on.EVERY))
            above = [at for at, mass in zip(updates, masses, strict=True) if mass > lock_on.LOCKED]
            assert run["locked_on"] == (above[0] if above else None)
            last = above[0] + lock_on.AFTER if above else lock_on.MOST_UPDATES
            assert updates[-1] == last


def long_sources_has_every_run_in_each_bucket(stored):
    runs = stored["runs"]
    made = sorted((run["system"], run["seed"]) for run in runs)
    assert made == sorted(long_sources.planned())
    assert len({tuple(updates for updates, _ in run["curve"]) for run in runs}) == 1
    edges = zip(long_sources.EDGES, long_sources.EDGES[1:], strict=False)
    for bucket, (first, past) in zip(stored["test"], edges, strict=True):
        assert first <= bucket["shortest"] <= bucket["longest"] < past
    for run in runs:
        window = long_sources.SYSTEMS[run["system"]].get("window")
        for found, bucket in zip(run["buckets"], stored["test"], strict=True):
            assert 0 <= found["aer"] <= 1 and 0 <= found["bleu"] <= 100
            assert (found["inside"] is not None) == bool(window)
            if window == "local-m":  # holds what counting holds
                D = str(long_sources.SYSTEMS[run["system"]]["D"])
                assert found["inside"] == pytest.approx(bucket["inside"][D], abs=1e-4)


def score_recipes_found_what_the_tuned_systems_of_the_plan_have(stored):
    of_plan = {
        (system, corpus): system.rpartition("-")[0] for system, corpus, _ in planned("H").values()
    }
    attending = {rung for rung in RUNGS if "score" in read_plan()["systems"][rung]}
    of_plan |= {(rung, "multi30k"): rung for rung in attending}
    for (system, corpus_name), tried in of_plan.items():
        trials = [one for one in stored["trials"][corpus_name] if one["system"] == tried]
        assert len(trials) >= 4
        best = min(trials, key=lambda one: (one["valid_perplexity"] or [np.inf])[-1])
        made = {"init": "torch"} | model_arguments(system, corpus_name)
        assert made == model_arguments(tried, corpus_name) | {"init": best["first_weights"]}
        shared = Recipe(**read_plan()["corpora"][corpus_name]["recipe"])
        rate = best["share"] * shared.learning_rate
        assert recipe_of(system, corpus_name) == replace(shared, learning_rate=rate)
    assert len(attending) == 3 and len(RUNGS) == 6
    for rung in {*RUNGS} - attending:  # three epochs misled these: see the ladder of evidence 8
        assert recipe_of(rung, "multi30k") == shared


def searches_are_of_the_recorded_runs_and_wider_beams_find_likelier_ones(stored):
    for name, run in stored["runs"].items():
        assert stored["corpus"] == load_run(name).corpus["fingerprint"]
        for part in of_searches.SEARCHED:
            scores = run[part]["scores"]
            recorded = of_searches.recorded_bleu(name, part)
            assert scores["greedy"]["bleu"] == pytest.approx(recorded, abs=of_searches.CLOSE)
            widths = [f"beam {width}, alpha 0.0" for width in of_searches.WIDTHS]
            log_p = [scores[search]["log_p"] for search in ("greedy", *widths)]
            assert log_p == sorted(log_p)


MUST = [
    (study, promise)
    for name, promise in list(globals().items())
    for study in studies()
    if name.startswith(study) and inspect.isfunction(promise)
]


@pytest.mark.parametrize(("study", "promise"), MUST, ids=lambda of: getattr(of, "__name__", ""))
def test_what_is_stored_is_what_the_study_promises(study, promise):
    """Where runs were added, start the study again: make study NAME=..."""
    promise(read_study(study))
