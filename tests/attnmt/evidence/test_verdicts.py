"""How the claims came out: rows are judged fairly, from what was measured, and never from old runs.

``test_independent.py`` judges the whole list again, by other code.
"""

import pytest

from attnmt.evidence import verdicts
from attnmt.evidence.claims import ClaimList, load_claims
from attnmt.evidence.comparison import compare, constant
from attnmt.evidence.store import load_statistics, recorded
from attnmt.evidence.verdicts import (
    NotRecorded,
    Row,
    fingerprint,
    judge,
    judge_runs,
    likely_decided,
    measured,
    read_verdicts,
    summary,
    verdict_table,
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


def test_a_row_that_waits_for_a_measurement_is_not_judged(whole):
    assert whole["l7-sharp-local-p"].verdict == "waiting"
    assert "do not add up to one" in whole["l7-sharp-local-p"].verdict_in_full


# ------------------------------------------------------------------------- the one judged list


@pytest.mark.slow
def test_the_stored_verdicts_are_those_of_the_runs(tmp_path):
    fresh = {row.claim.id: row for row in read_verdicts(write_verdicts(tmp_path / "v.json"))}
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
        read_verdicts()
    before = fingerprint()
    path.write_text(f'{{"judged_from": "{before}"}}', encoding="utf-8")
    (tmp_path / "other-0.json").write_text("not in the list", encoding="utf-8")
    assert fingerprint() == before
    with (tmp_path / changed).open("a", encoding="utf-8") as file:
        file.write("# one more line")
    with pytest.raises(ValueError, match=r"is older than .*; run: make verdicts"):
        read_verdicts()


def test_the_summary_counts_kind_a_then_kind_b_and_never_both_in_one_number(whole):
    lines = summary(list(whole.values())).splitlines()
    assert len(lines) == 3
    for kind, line in zip("ABQ", lines, strict=True):
        rows = [row for row in whole.values() if row.claim.kind == kind]
        assert line.startswith(f"- **{kind}. ") and f"**: {len(rows)}. " in line
        if kind != "Q":
            for verdict in ("agrees", "opposite", "no difference", "undecided", "waiting"):
                assert f"{verdict}: {sum(row.verdict == verdict for row in rows)}," in line
    assert "Of the 0 that were judged" in summary(judge_runs(LIST, lambda name, seeds: []))
    sure = [r for r in whole.values() if r.claim.kind == "A" and r.decision and r.power >= 0.8]
    decided = sum(row.verdict != "undecided" for row in sure)
    assert likely_decided(list(whole.values())) == (len(sure), decided)


def test_the_table_shows_kind_cost_convergence_and_what_is_missing(whole):
    chosen = ("l1-reverse", "l1-feeding", "l4-local-p-dot", "b1-phrase-based")
    (without_runs,) = judge_runs(some("l1-ladder-feeding"), lambda *_: [])
    lines = verdict_table([*(whole[id] for id in chosen), without_runs]).splitlines()
    assert lines[0] == "| claim | kind | verdict | theirs | ours | seeds | trained | where |"
    reverse, feeding, local_p, phrases, ladder = lines[2:]
    assert "| A | agrees | +1.3 | +6.2 (" in reverse and "| 3 and 3 |" in reverse
    assert "sutskever: 6,250 updates, " in reverse
    assert "CPU-seconds; not converged after 6,250 updates" in reverse
    assert "| B: here with dot; theirs with location | undecided (power " in feeding
    assert "; by the scatter seen " in feeding
    assert "| opposite, under a recipe found with dot |" in local_p
    assert "| waiting: ladder-feeding-multi30k has 0 of 3 seeds (power " in ladder
    assert "| not run: no phrase-based system was trained here | +0.5 | – | – | – |" in phrases


# ------------------------------------------------------------------------------- what was measured


def test_chrf_is_measured_from_the_counts_of_each_sentence():
    """What the claims measure is measured again by ``test_independent.py``; no claim is of chrF."""
    runs = recorded("rnnsearch-grammar", 2)
    scores = [chrf_of(load_statistics(run.name)["test_chrf"].sum(axis=0)) for run in runs]
    found = measured(runs, "chrf")
    assert found.scores == pytest.approx(scores)
    assert compare(found, constant(0)).covers == "seeds and sentences"


def test_what_was_not_kept_is_not_recorded():
    runs = recorded("rnnencdec-grammar", 2)
    with pytest.raises(NotRecorded, match="no entropy of 'test' was recorded"):
        measured(runs, "entropy")
    with pytest.raises(ValueError, match="what must be one of"):
        measured(runs, "rouge")
