"""studies/strongest.py: it measures what the recorded runs measured, and chooses on validation."""

import json

import pytest

from attnmt import Ensemble, beam_search, bleu, greedy
from attnmt.evidence.comparison import BLEU_SCORE
from attnmt.evidence.plan import planned, read_plan
from attnmt.evidence.store import load_run, load_statistics
from attnmt.metrics import texts
from studies import strongest
from studies.strongest import (
    PENALTIES,
    STORE,
    STRONGEST,
    SYSTEMS,
    TRANSFORMER,
)

STUDY = json.loads(STORE.read_text(encoding="utf-8"))
RUNS = STUDY["runs"]
CLOSE = 0.15  # BLEU by which a search may differ on another processor


def test_scores_are_those_of_the_protocols(sharp, corpus):
    found = strongest.scores(sharp, corpus, "test", beam=3)
    sources = [pair.source for pair in corpus.test]
    ours = texts(sharp, beam_search(sharp, sources, beam=3))
    plain = bleu(ours, [pair.target_text for pair in corpus.test], lowercase=True)
    assert found[plain.signature] == pytest.approx(plain.score, abs=1e-3)
    assert strongest.in_moses_words(found) >= 0  # one of them, and only one, is of Moses's words


def test_without_arguments_search_is_greedy(sharp, corpus):
    found = strongest.scores(sharp, corpus, "test")
    ours = texts(sharp, greedy(sharp, [pair.source for pair in corpus.test]))
    plain = bleu(ours, [pair.target_text for pair in corpus.test], lowercase=True)
    assert found[plain.signature] == pytest.approx(plain.score, abs=1e-3)


def test_the_penalty_is_the_best_of_the_means_on_validation(monkeypatch):
    """Not the best of one seed, and the test captions have no say."""
    monkeypatch.setattr(strongest, "runs_of", lambda _: ["one", "two"])

    def run(*scores):
        of = {f"{p}": {"tok:none": s} for p, s in zip(PENALTIES[:4], scores, strict=True)}
        of |= {f"{p}": {"tok:none": 0} for p in PENALTIES[4:]}
        return {"valid": of, "test": {f"{p}": {"tok:none": 99} for p in PENALTIES[:1]}}

    assert strongest.chosen({"one": run(1, 2, 9, 3), "two": run(1, 8, 2, 3)}, "any") == PENALTIES[2]
    assert strongest.chosen({"one": run(1, 2, 4, 3), "two": run(1, 8, 2, 3)}, "any") == PENALTIES[1]


def test_every_strongest_run_is_there_and_in_the_ensemble():
    """Start the study again when runs were added."""
    plan = planned()
    assert set(RUNS) == {name for system in SYSTEMS for name in strongest.runs_of(system)}
    assert STUDY["ensemble"]["members"] == strongest.runs_of(STRONGEST)
    assert {plan[name][0] for name in STUDY["ensemble"]["members"]} == {"strongest"}


@pytest.mark.parametrize("name", RUNS)
def test_greedy_search_is_that_of_the_recorded_run(name):
    found = strongest.in_moses_words(RUNS[name]["test"]["greedy"])
    assert found == pytest.approx(load_run(name).bleu.score, abs=CLOSE)


@pytest.mark.parametrize("name", [name for name in RUNS if name.endswith("pieces-0")])
def test_the_beam_is_that_of_the_recorded_search(name):
    counts = load_statistics(name)[f"test_beam5-{RUNS[name]['penalty']}_bleu"]
    found = strongest.in_moses_words(RUNS[name]["test"]["normalised"])
    assert found == pytest.approx(float(BLEU_SCORE.score(counts.sum(axis=0))), abs=CLOSE)


def test_the_penalties_are_those_that_validation_chose():
    """Neither at an end of what was tried: a larger or a smaller one might be better still."""
    for system in (STRONGEST, TRANSFORMER):
        assert STUDY["penalties"][system] == strongest.chosen(RUNS, system)
        assert STUDY["penalties"][system] in PENALTIES[1:-1]
    for name, run in RUNS.items():
        system = TRANSFORMER if name.startswith(TRANSFORMER) else STRONGEST
        assert run["penalty"] == STUDY["penalties"][system]


def test_samples_are_our_own_captions_cut_into_pieces():
    assert [one["text"] for one in STUDY["samples"]] == read_plan()["corpora"]["pieces"]["samples"]
    for one in STUDY["samples"]:
        written = "".join(one["pieces"]).replace("▁", " ")
        assert written.replace(" ", "").casefold() == one["text"].replace(" ", "").casefold()
        assert "<unk>" not in one["strongest"] + one["together"]


def test_an_ensemble_of_one_is_the_model(sharp, corpus):
    alone = strongest.scores(sharp, corpus, "test", beam=2)
    assert strongest.scores(Ensemble([sharp]), corpus, "test", beam=2) == alone
