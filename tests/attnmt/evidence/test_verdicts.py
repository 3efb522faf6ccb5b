"""How the claims came out: rows are judged fairly, from what was measured, and never from old runs.

``test_independent.py`` judges the whole list again, by other code.
"""

import tomllib

import numpy as np
import pytest

from attnmt.evidence import verdicts
from attnmt.evidence.claims import ClaimList, corpus_in_name, load_claims
from attnmt.evidence.comparison import VERDICTS, compare, constant
from attnmt.evidence.plan import results_folder
from attnmt.evidence.store import load_statistics, recorded
from attnmt.evidence.tables import paper_inside, summary, tally, verdict_table
from attnmt.evidence.verdicts import (
    Row,
    fingerprint,
    judge,
    judge_runs,
    lies,
    measured,
    write_verdicts,
)
from attnmt.metrics import chrf_of

LIST = load_claims()


def some(*ids: str) -> ClaimList:
    """Some rows of the list."""
    return ClaimList(tuple(LIST[id] for id in ids))


@pytest.fixture(scope="module")
def whole() -> dict[str, Row]:
    return {row.claim.id: row for row in judge()}


def test_what_was_not_run_has_no_verdict(whole):
    phrases = whole["b1-phrase-based"]
    assert phrases.verdict == "not run"
    assert phrases.verdict_in_full == "not run: no phrase-based system was trained here"
    for row in whole.values():
        assert (row.decision is None) == (row.verdict in ("not run", "waiting"))
        assert (row.verdict == "not run") == bool(row.claim.reason)


def test_a_row_waits_until_both_systems_have_the_seeds_that_it_names():
    """One seed fewer, and there is no interval to look at either."""
    ids = "b1-search", "l1-location"
    (first, second) = judge_runs(some(*ids), lambda name, n: recorded(name, n)[:4])
    assert (first.verdict, first.ours) == ("waiting", "")
    assert first.verdict_in_full == "waiting: rnnsearch-grammar has 4 of 5 seeds (power 100%)"
    assert second.verdict == "waiting" and second.power > 0.9


# ------------------------------------------------------------------------- the one judged list


@pytest.mark.slow
def test_the_stored_verdicts_are_those_of_the_runs(tmp_path):
    fresh = {row.claim.id: row for row in judge(path=write_verdicts(tmp_path / "v.json"))}
    for row in judge():
        new = fresh.pop(row.claim.id)
        assert (row.verdict, row.missing, row.trained) == (new.verdict, new.missing, new.trained)
        assert (row.power, row.power_seen) == pytest.approx((new.power, new.power_seen), abs=2e-3)
        if row.decision:
            ends = [(one.decision.low, one.decision.high) for one in (row, new)]
            assert ends[0] == pytest.approx(ends[1], rel=1e-6, abs=1e-6)
    assert not fresh


def test_rows_asked_for_are_the_whole_lists_in_its_order(whole):
    last, first = LIST.claims[-1].id, LIST.claims[0].id
    assert judge([last, first]) == [whole[first], whole[last]]
    with pytest.raises(ValueError, match=r"claims\.toml has no b1-serach"):
        judge(["b1-search", "b1-serach"])


@pytest.mark.parametrize(
    "changed",
    ["claims.toml", "runs.toml", "b-x-0.json", "b-doubled-x-0.json", "sentences/b-x-0.npz"],
)
def test_verdicts_older_than_what_they_were_judged_from_are_refused(changed, tmp_path, monkeypatch):
    (tmp_path / "sentences").mkdir()
    (tmp_path / "claims.toml").write_text(
        '[[claims]]\nid = "one"\nfirst = "b-x"\nsecond = 1.0\n', encoding="utf-8"
    )
    there = "runs.toml", "b-x-0.json", "b-doubled-x-0.json", "sentences/b-x-0.npz", "other-0.json"
    for name in there:
        (tmp_path / name).write_text("", encoding="utf-8")
    monkeypatch.setattr(verdicts, "results_folder", lambda: tmp_path)
    path = tmp_path / "verdicts.json"
    with pytest.raises(ValueError, match=r"verdicts\.json is missing; run: make verdicts"):
        judge()
    before = fingerprint()
    path.write_text(f'{{"judged_from": "{before}"}}', encoding="utf-8")
    (tmp_path / "other-0.json").write_text("not in the list", encoding="utf-8")
    assert fingerprint() == before
    with (tmp_path / changed).open("a", encoding="utf-8") as file:
        file.write("# one more line")
    with pytest.raises(ValueError, match=r"is older than .*; run: make verdicts"):
        judge()


def test_the_summary_counts_kind_a_then_kind_b_and_never_both_in_one_number(whole):
    rows = list(whole.values())
    lines = summary(rows).splitlines()
    for kind, line in zip("AB", lines, strict=False):
        some = [row for row in rows if row.claim.kind == kind and not row.claim.outside]
        judged = sum(row.claim.counted for row in some)
        assert line.startswith(f"- **{kind}. ") and f"**: {judged} in the tally. " in line
        for verdict in (*VERDICTS, "waiting"):
            count = sum(row.verdict == verdict for row in some)
            assert tally(rows, kind)[verdict] == count and f"{verdict}: {count}" in line
    outside = sum(bool(row.claim.outside) for row in rows)
    assert lines[2].startswith(f"- **Outside the tally**: {outside}. measure: ")
    inside, same = paper_inside(rows)
    assert f"Of the {same} intervals" in lines[3] and f" {inside} contain" in lines[3]
    low, high = whole["l1-reverse"].decision.low, whole["l1-reverse"].decision.high
    assert [lies(x, low, high) for x in (low - 1, low, high + 1)] == ["below", "inside", "above"]


def test_the_criteria_for_what_counts_are_those_of_the_lists_head(whole):
    """No chance by the interval alone; one row of each set of duplicates counts."""
    file = tomllib.loads((results_folder() / "claims.toml").read_text(encoding="utf-8"))
    judged = [row for row in whole.values() if row.claim.judged]
    left = [row for row in judged if row.claim.criterion not in ("measure", "seen")]
    twins: dict[tuple, list] = {}
    for row in left:
        claim = row.claim
        corpus = corpus_in_name(claim.first).replace("joined30", "joined")
        widest = file["defaults"][corpus][claim.metric]["margin"]
        hopeless = (row.decision.high - row.decision.low) / 2 > 5 * widest
        assert (claim.criterion == "no chance") == hopeless, claim.id
        if hopeless:
            continue
        if claim.theirs:
            numbers = claim.metric, claim.theirs, corpus_in_name(claim.first)
            twins.setdefault((claim.paper, *numbers), []).append(claim)
        if claim.metric in ("bleu", "nats"):
            sides = frozenset((claim.first, claim.second))
            twins.setdefault((claim.paper, sides), []).append(claim)
    explained = {}
    for same in filter(lambda same: len(same) > 1, twins.values()):
        (counts,) = [claim for claim in same if claim.counted]
        explained |= {one.id: f"duplicate: {counts.id}" for one in same if one is not counts}
    outside = {row.claim.id: row.claim.outside for row in judged}
    assert explained == {id: why for id, why in outside.items() if why.startswith("duplicate")}


def test_doubled_differences_are_of_both_systems_or_of_none(whole):
    """From the runs' own scores, two seeds of each."""
    row = whole["l1-reverse"]
    scores = [
        np.mean([run.bleu.score for run in recorded(f"{name}-doubled-grammar", 2)])
        for name in ("sutskever", "sutskever-forward")
    ]
    assert row.doubled == pytest.approx(scores[0] - scores[1])
    assert "after twice the updates +" in verdict_table([row])
    assert whole["l4-local-p-dot"].doubled is None, "only dot was doubled"


def test_the_table_shows_the_verdict_first_and_cost_trials_and_what_is_missing(whole):
    chosen = ("l1-reverse", "l1-feeding", "l4-local-p-dot", "b1-phrase-based")
    (without_runs,) = judge_runs(some("l1-ladder-feeding"), lambda *_: [])
    lines = verdict_table([*(whole[id] for id in chosen), without_runs]).splitlines()
    assert lines[0] == "| verdict | claim | theirs | ours |"
    reverse, feeding, local_p, phrases, ladder = lines[2:]
    assert reverse.startswith("| same sign; trials: neither side | ")
    assert "| +1.3, below | +6.2 (" in reverse and "<small>Kind A. Seeds: 3 and 3. " in reverse
    assert "sutskever: 6,250 updates, " in reverse
    assert "CPU-seconds; no trials of its own; not converged after 6,250 updates" in reverse
    power = min(whole["l1-feeding"].power, whole["l1-feeding"].power_seen)
    assert feeding.startswith(f"| undecided (power {power:.0%}); trials: one side | ")
    assert "<small>Kind B: here with dot; theirs with location. " in feeding
    outside = "| outside the tally (duplicate: l4-local-p-dot-feeding); opposite sign; trials: "
    assert local_p.startswith(outside)
    assert "| waiting: ladder-feeding-multi30k has 0 of 3 seeds (power " in ladder
    assert phrases.startswith("| not run: no phrase-based system was trained here | ")
    assert "<small>Kind A. Bahdanau et al. 2015, Table 1, abstract</small> | +0.5 | – |" in phrases


# ------------------------------------------------------------------------------- what was measured


def test_chrf_is_measured_from_the_counts_of_each_sentence():
    """What the claims measure is measured again by ``test_independent.py``; no claim is of chrF."""
    runs = recorded("rnnsearch-grammar", 2)
    scores = [chrf_of(load_statistics(run.name)["test_chrf"].sum(axis=0)) for run in runs]
    found = measured(runs, "chrf")
    assert found.scores == pytest.approx(scores)
    assert compare(found, constant(0)).covers == "seeds and sentences"
