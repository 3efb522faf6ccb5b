"""The whole procedure on made-up scores: how often the list has a false claim somewhere."""

import json
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from attnmt.evidence.claims import judge, load_claims
from attnmt.evidence.comparison import ALPHA
from press.extensions.book_lists import whole_list as said
from studies import whole_list
from studies.whole_list import STORE, Made, rows_of

STUDY = json.loads(STORE.read_text(encoding="utf8"))
AGAIN = 150


@cache
def made() -> tuple[Made, ...]:
    return tuple(rows_of(judge()))


@cache
def again() -> dict:
    return whole_list.simulate(made(), np.random.default_rng(1), AGAIN)


def error(share: float, repetitions: int) -> float:
    return float(np.sqrt(max(share * (1 - share), 0.01) / repetitions))


def test_the_study_is_of_the_frozen_list():
    again = "the list was changed since: make study NAME=whole_list"
    assert STUDY["frozen"] == load_claims().sha256, again
    assert STUDY["repetitions"] >= 3_000
    judged = [claim for claim in load_claims().claims if claim.judged]
    assert STUDY["rows"] == len(judged)
    assert set(STUDY["tables"]) == {claim.group for claim in judged}


@pytest.mark.parametrize("truth", ["none", "as measured"])
def test_a_table_errs_no_more_often_than_it_may(truth):
    for table in STUDY["tables"]:
        share = STUDY["wrong"][truth].get(table, 0.0)
        assert share <= ALPHA + 3 * error(ALPHA, STUDY["repetitions"]), table


def test_a_list_of_tables_errs_no_more_often_than_all_of_them_together():
    none = STUDY["wrong"]["none"]
    assert none["any"] <= sum(none.get(table, 0.0) for table in STUDY["tables"])
    assert none["any"] <= 1 - (1 - ALPHA) ** len(STUDY["tables"]) + 0.03
    assert none["kind A"] < none["any"]


@pytest.mark.parametrize("truth", ["none", "as measured"])
@pytest.mark.parametrize("what", ["any", "kind A", "rows"])
def test_simulated_again_the_rate_is_what_the_page_says(truth, what):
    """Other chances, the same procedure: within four standard errors of what is stored."""
    stored, found = STUDY["wrong"][truth][what], again()[truth].get(what, 0.0)
    room = 4 * (error(stored, AGAIN) + error(stored, STUDY["repetitions"]))
    assert found == pytest.approx(stored, abs=room if what != "rows" else 2 * room)


def test_the_page_says_what_is_stored():
    text = said(STUDY)
    none, measured = STUDY["wrong"]["none"], STUDY["wrong"]["as measured"]
    assert f"{none['any']:.0%} of such lists" in text
    assert f"{none['kind A']:.0%} in a row of kind A" in text
    assert f"{measured['any']:.0%} would have one" in text


def test_without_holm_the_list_would_err_far_more_often(monkeypatch):
    """What the simulation is worth: it notices a procedure that does not keep its promise."""
    right = whole_list.decide
    alone = lambda table, waiting: [right([one])[0] for one in table]  # noqa: E731
    monkeypatch.setattr(whole_list, "decide", alone)
    found = whole_list.simulate(made(), np.random.default_rng(1), 60)
    assert found["none"]["any"] > STUDY["wrong"]["none"]["any"] + 0.2


def test_a_claim_is_false_where_nothing_differs_and_on_the_wrong_side():
    (row, *_) = made()
    rng = np.random.default_rng(0)
    (one,) = whole_list.compared([row], rng)
    (ahead,) = whole_list.judged([row], [replace(one, difference=50.0)], ready=False)
    assert ahead.verdict in whole_list.DECIDED
    assert whole_list.false(row, ahead, true=0.0) and whole_list.false(row, ahead, true=-50.0)
    assert not whole_list.false(row, ahead, true=50.0)
    assert not whole_list.false(row, None, true=0.0)


def test_rows_with_the_same_system_share_its_scores():
    rows = [row for row in made() if "luong-dot-grammar" in row.claim.stems]
    keys = [key for row in rows for key, *_ in row.sides]
    assert len(set(keys)) < len(keys)
    same = [row for row in rows if row.claim.metric == "bleu" and row.ready]
    first = whole_list.compared([same[0], same[0]], np.random.default_rng(0))
    assert first[0].difference == first[1].difference
