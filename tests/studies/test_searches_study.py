"""studies/searches.py: it counts what plain loops count, and its store is of the recorded runs."""

import json

import numpy as np
import pytest

from attnmt import beam_search, bleu, greedy
from attnmt.evidence.store import load_run
from attnmt.metrics import texts
from studies import searches
from studies.searches import BASELINES, SEARCHED, STORE, SYSTEMS, Judge

STUDY = json.loads(STORE.read_text(encoding="utf-8"))
SEARCHES = ["greedy", *(name for name, _ in searches.searches())]


def test_a_score_is_what_loops_count(sharp, corpus):
    pairs = corpus.test[:8]
    judge = Judge(sharp, pairs)
    found = beam_search(sharp, judge.sentences, beam=4)
    score = judge.score("beam", found)
    ones = greedy(sharp, judge.sentences)
    references = [pair.target_text for pair in pairs]
    assert score["bleu"] == pytest.approx(
        bleu(texts(sharp, found), references, lowercase=True).score, abs=1e-3
    )
    assert score["right"] == sum(
        a.words == list(pair.target) for a, pair in zip(found, pairs, strict=True)
    )
    more = [a.score - b.score for a, b in zip(found, ones, strict=True)]
    assert score["more_probable"] == len([gain for gain in more if gain > 1e-3])
    assert score["less_probable"] == len([gain for gain in more if gain < -1e-3])
    assert score["log_p"] == pytest.approx(np.mean([one.score for one in found]), abs=1e-4)


def test_the_error_of_a_gain_is_that_of_a_paired_bootstrap(sharp, corpus):
    judge = Judge(sharp, corpus.test[:8])
    judge.score("greedy", judge.greedy)
    judge.score("again", judge.greedy)
    judge.score("beam", beam_search(sharp, judge.sentences, beam=4))
    errors = judge.errors("greedy")
    assert errors["greedy"] == errors["again"] == 0
    assert errors["beam"] >= 0
    assert judge.errors("beam")["greedy"] == errors["beam"]


def test_an_unseen_name_is_copied_or_missing(sharp, corpus):
    pairs = corpus.test[:8]
    found = searches.names_copied(sharp, pairs)
    written = sum(one.words.count("<unk>") for one in greedy(sharp, [p.source for p in pairs]))
    assert (found["pairs"], found["written"]) == (8, written)
    assert 0 <= found["unknown_copied"] <= written


def test_every_search_of_every_part_is_there():
    assert {name.rpartition("-grammar-")[0] for name in STUDY["runs"]} == set(SYSTEMS)
    for run in STUDY["runs"].values():
        for part in SEARCHED:
            assert list(run[part]["scores"]) == SEARCHES
            assert set(run[part]["errors"]) == set(BASELINES)


@pytest.mark.parametrize("name", STUDY["runs"])
def test_greedy_search_is_that_of_the_recorded_run(name):
    for part in SEARCHED:
        found = STUDY["runs"][name][part]["scores"]["greedy"]
        recorded = searches.recorded_bleu(name, part)
        assert found["bleu"] == pytest.approx(recorded, abs=searches.CLOSE)
    assert STUDY["corpus"] == load_run(name).corpus["fingerprint"]
    assert searches.recorded_bleu(name, "long") == pytest.approx(load_run(name).parts["long"].score)


@pytest.mark.parametrize("name", STUDY["runs"])
def test_a_wider_beam_finds_more_probable_translations(name):
    for part in SEARCHED:
        scores = STUDY["runs"][name][part]["scores"]
        widths = [f"beam {width}, alpha 0.0" for width in searches.WIDTHS]
        log_p = [scores[search]["log_p"] for search in ("greedy", *widths)]
        assert log_p == sorted(log_p)


def test_an_ensemble_has_the_seeds_of_its_system():
    for name, found in STUDY["ensembles"].items():
        system, _, seeds = name.partition(", ")
        assert seeds == f"{len(found['members'])} seeds"
        assert all(member.startswith(f"{system}-grammar-") for member in found["members"])
