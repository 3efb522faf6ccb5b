"""studies/long_sources.py: joined sources keep their links; its store has what the page says."""

import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from attnmt import force_align, grammar_corpus, greedy, luong
from attnmt.evidence.links import best_possible
from attnmt.metrics import alignment_error_rate
from studies import long_sources
from studies.long_sources import (
    EDGES,
    LONGEST,
    STORE,
    SYSTEMS,
    USES,
    WIDTHS,
    about,
    buckets,
    by_window_alone,
    inside,
    join_all,
    join_linked,
    planned,
)

STUDY = json.loads(STORE.read_text(encoding="utf-8"))
RUNS = STUDY["runs"]


@pytest.fixture(scope="module")
def alone():
    """A small controlled corpus, its sentences not joined."""
    return grammar_corpus(train=60, valid=5, test=40, long=0, names=0)


def linked_words(pair, links):
    return Counter((pair.source[s], pair.target[t]) for s, t in links)


def test_a_joined_pair_links_the_words_that_its_sentences_link(alone):
    some = alone.test[:5]
    joined = join_linked(some)
    for name in ("sure", "possible"):
        of_each = [linked_words(pair, getattr(pair, name)) for pair in some]
        assert linked_words(joined, getattr(joined, name)) == sum(of_each, Counter())
    assert joined.source == sum((pair.source for pair in some), ())
    assert len(joined.classes) == len(joined.target)
    assert joined.source_text == " ".join(pair.source_text for pair in some)
    assert alignment_error_rate([best_possible(joined)], [joined]) < 0.1  # no link is out of place


@pytest.mark.parametrize("mostly_short", [True, False])
def test_every_sentence_is_joined_once(alone, mostly_short, monkeypatch):
    joined = join_all(alone.train, 0, mostly_short=mostly_short)
    assert joined == join_all(alone.train, 0, mostly_short=mostly_short)
    assert joined != join_all(alone.train, 1, mostly_short=mostly_short)
    monkeypatch.setattr(long_sources, "LONGEST", 1_000)  # so that no source is left out
    all_joined = join_all(alone.train, 0, mostly_short=mostly_short)
    assert joined == [pair for pair in all_joined if len(pair.source) <= LONGEST]
    words = [
        Counter(word for pair in pairs for word in pair.source)
        for pairs in (all_joined, alone.train)
    ]
    assert words[0] == words[1]


def test_short_sources_are_most_where_that_is_asked_for(alone):
    half = {
        mostly_short: np.median(
            [len(pair.source) for pair in join_all(alone.test, 0, mostly_short=mostly_short)]
        )
        for mostly_short in (True, False)
    }
    assert half[True] < half[False]


@pytest.mark.parametrize("system", [name for name in SYSTEMS if "local" in name])
def test_the_window_alone_translates_as_the_mask_does(alone, system):
    model = luong(alone, **SYSTEMS[system], hidden=8, seed=0)
    sentences = [pair.source for pair in join_all(alone.test, 0, mostly_short=False)]
    masked = greedy(model, sentences)
    plain = model.decoder.attention.forward
    with by_window_alone(model):
        assert model.decoder.attention.forward != plain
        found = greedy(model, sentences)
    assert model.decoder.attention.forward == plain
    assert [one.words for one in found] == [one.words for one in masked]


def test_a_window_that_counts_holds_what_counting_says(alone):
    pairs = join_all(alone.test, 0, mostly_short=False)
    for D in WIDTHS:
        model = luong(alone, "general", "local-m", D, hidden=8, seed=0)
        assert inside(model, pairs) == pytest.approx(about(pairs)["inside"][D], abs=1e-4)


def test_a_link_outside_the_window_is_never_found(alone):
    """The share inside bounds how many sure links a model can find."""
    pairs = join_all(alone.test, 0, mostly_short=False)
    model = luong(alone, "general", "local-p", 5, hidden=8, seed=0)
    links = force_align(model, pairs)
    found = sum(len(one & pair.sure) for one, pair in zip(links, pairs, strict=True))
    assert found / sum(len(pair.sure) for pair in pairs) <= inside(model, pairs)


def test_every_run_of_the_plan_is_there():
    assert sorted((run["system"], run["seed"]) for run in RUNS) == sorted(planned())


def test_all_runs_learned_from_as_many_updates():
    assert len({tuple(updates for updates, _ in run["curve"]) for run in RUNS}) == 1
    updates = RUNS[0]["curve"][-1][0]
    assert updates <= sum(STUDY["train"]) / STUDY["recipe"]["batch_size"] < updates + 250


def test_buckets_are_of_the_lengths_that_they_say():
    for bucket, first, past in zip(STUDY["test"], EDGES, EDGES[1:], strict=False):
        assert first <= bucket["shortest"] <= bucket["longest"] < past
        assert bucket["shortest"] <= bucket["words"] / bucket["sources"] <= bucket["longest"]


@pytest.mark.parametrize("run", RUNS, ids=lambda run: f"{run['system']}, {run['seed']}")
def test_a_run_has_numbers_of_each_bucket(run):
    local = "window" in SYSTEMS[run["system"]]
    assert len(run["buckets"]) == len(STUDY["test"])
    for found in run["buckets"]:
        assert 0 <= found["aer"] <= 1
        assert 0 <= found["bleu"] <= 100
        assert found["signature"] == RUNS[0]["buckets"][0]["signature"]
        assert (found["inside"] is not None) == local


def test_local_m_holds_what_counting_holds():
    """An oracle without a model: its window moves with t."""
    for run in RUNS:
        if "local-m" in run["system"]:
            D = str(SYSTEMS[run["system"]]["D"])
            for found, bucket in zip(run["buckets"], STUDY["test"], strict=True):
                assert found["inside"] == pytest.approx(bucket["inside"][D], abs=1e-4)


def test_every_way_to_attend_has_its_cost_in_each_bucket():
    ways = [(name, way) for name in SYSTEMS for way in (False, True)[: 1 + ("local" in name)]]
    found = [(case["system"], case["alone"], case["use"]) for case in STUDY["costs"]]
    assert sorted(found) == sorted((*way, use) for way in ways for use in USES)
    for case in STUDY["costs"]:
        assert len(case["milliseconds"]) == len(STUDY["test"])
        assert 0 < case["milliseconds"][0] < case["milliseconds"][-1]


def test_the_study_goes_on_where_it_stopped(alone, tmp_path, monkeypatch):
    pairs = join_all(alone.test, 0, mostly_short=False)
    monkeypatch.setattr(long_sources, "EDGES", (1, 61, LONGEST + 1))
    assert all(buckets(pairs))
    monkeypatch.setattr(long_sources, "STORE", tmp_path / "long.json")
    monkeypatch.setattr(long_sources, "long_corpus", lambda: replace(alone, test=pairs))
    monkeypatch.setattr(long_sources, "SEEDS", (0,))
    monkeypatch.setattr(long_sources, "ROUNDS", 1)
    some = {name: SYSTEMS[name] for name in ("global, dot", "local-p, D = 2")}
    monkeypatch.setattr(long_sources, "SYSTEMS", some)
    long_sources.main()
    store = json.loads((tmp_path / "long.json").read_text(encoding="utf-8"))
    assert [run["system"] for run in store["runs"]] == list(some)
    assert [(case["system"], case["alone"]) for case in store["costs"]] == [
        (name, alone)
        for name, alone in [
            ("global, dot", False),
            ("local-p, D = 2", False),
            ("local-p, D = 2", True),
        ]
        for _ in USES
    ]
    monkeypatch.setattr(long_sources, "train", lambda *_: pytest.fail("trained again"))
    monkeypatch.setattr(long_sources, "costs", lambda *_: pytest.fail("measured again"))
    long_sources.main()
    assert json.loads((tmp_path / "long.json").read_text(encoding="utf-8")) == store
