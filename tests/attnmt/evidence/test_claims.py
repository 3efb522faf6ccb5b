"""The frozen list of claims: it makes sense, it has not changed unseen, and it is judged fairly."""

import math
from dataclasses import replace
from datetime import date

import numpy as np
import pytest

from attnmt.evidence import claims as listing
from attnmt.evidence import measured as measuring
from attnmt.evidence.claims import (
    ClaimList,
    Row,
    corpus_in_name,
    fingerprint,
    judge,
    judge_runs,
    likely_decided,
    load_claims,
    paired,
    power_of,
    read_verdicts,
    summary,
    verdict_table,
    write_verdicts,
)
from attnmt.evidence.comparison import (
    Comparison,
    Term,
    by_sentences,
    compare,
    constant,
    decide,
    share,
)
from attnmt.evidence.measured import NotRecorded, measured
from attnmt.evidence.plan import planned, read_plan
from attnmt.evidence.store import load_run, recorded

# Of the list as it was frozen, with the plan of its systems and the rule.
FROZEN = "8b269a1efe55ca4e28de5ec73c4e8483e7c1fa63318d0122078118906c246581"
CHANGED = """
The frozen list, the plan of its systems (runs.toml) or the rule (ALPHA, CORRECTION, RESAMPLES and
SEED of comparison.py; CLOSE and FALLING of converged.py) is another one. If that was not meant,
undo it. If it was, say so: add to [[changes]] of results/claims.toml the date, what changed and
why, which of the runs concerned had been seen, and the new sum
    {found}
put the same sum into FROZEN in this file, and run: make verdicts"""
LIST = load_claims()
PAPERS = [claim for claim in LIST.claims if claim.kind != "Q"]
QUESTIONS = [claim for claim in LIST.claims if claim.kind == "Q"]
JUDGED = [claim for claim in LIST.claims if claim.judged]


def some(*ids: str, seeds: tuple[int, int] | None = None) -> ClaimList:
    """Some rows of the list, perhaps with other numbers of seeds."""
    chosen = [LIST[id] for id in ids]
    return ClaimList(tuple(replace(one, seeds=seeds or one.seeds) for one in chosen))


# --------------------------------------------------------------------------------------- the list


def test_the_list_is_frozen():
    assert LIST.sha256 == FROZEN == LIST.changes[-1]["sha256"], CHANGED.format(found=LIST.sha256)
    assert all(change["why"] and isinstance(change["date"], date) for change in LIST.changes)


def test_the_sum_covers_claims_plan_and_rule(monkeypatch):
    other = (replace(LIST.claims[0], margin=9.0), *LIST.claims[1:])
    assert replace(LIST, claims=other).sha256 != FROZEN
    for constant_, value in {"ALPHA": 0.1, "RESAMPLES": 10, "SEED": 1, "CLOSE": 2.0}.items():
        with monkeypatch.context() as patch:
            patch.setattr(listing, constant_, value)
            assert LIST.sha256 != FROZEN, constant_
    plan = read_plan()

    def changed(table: str, name: str, key: str, value: object) -> str:
        one = plan[table] | {name: plan[table][name] | {key: value}}
        with monkeypatch.context() as patch:
            patch.setattr(listing, "read_plan", lambda: plan | {table: one})
            return LIST.sha256

    assert changed("systems", "luong-dot", "dropout", 0.5) != FROZEN
    assert changed("corpora", "grammar", "recipe", {}) != FROZEN
    assert changed("corpora", "grammar", "samples", []) == FROZEN  # these are shown, not judged
    assert changed("systems", "strongest", "dropout", 0.5) == FROZEN  # no row compares it


def test_the_papers_comparisons_stand_apart_from_ours():
    assert all(claim.altered for claim in PAPERS if claim.kind == "B")
    assert all(claim.altered for claim in QUESTIONS if claim.paper != "this book")
    assert not any(claim.paper == "this book" for claim in PAPERS)


def test_one_system_beside_a_number_of_ours_is_a_question():
    assert all(isinstance(claim.second, str) for claim in JUDGED)


@pytest.mark.parametrize("claim", PAPERS, ids=lambda claim: claim.id)
def test_the_papers_own_numbers_are_on_the_side_that_the_claim_expects(claim):
    if claim.their_difference is not None:
        assert (claim.their_difference > 0) == (claim.expected != "below")


@pytest.mark.parametrize("claim", JUDGED, ids=lambda claim: claim.id)
def test_no_margin_is_wider_than_half_of_the_effect(claim):
    assert 0 < claim.margin <= abs(claim.effect) / 2


def test_perplexities_are_compared_as_a_ratio():
    assert LIST["s-reverse-perplexity"].their_difference == pytest.approx(math.log(4.7 / 5.8))


@pytest.mark.parametrize("claim", [c for c in LIST.claims if c.runs], ids=lambda claim: claim.id)
def test_the_plan_records_the_seeds_that_a_row_names(claim):
    assert {corpus_in_name(stem) for stem in claim.stems} <= {
        "grammar",
        "multi30k",
        "joined",
        "joined30",
    }
    names = {
        name.partition("@")[0]: seeds
        for name, seeds in zip((str(claim.first), str(claim.second)), claim.seeds)
        if seeds
    }
    for stem, seeds in names.items():
        assert {f"{stem}-{seed}" for seed in range(seeds)} <= planned().keys()


def test_every_system_that_a_verdict_compares_is_to_be_doubled():
    doubled = {f"{system}-{corpus}" for system, corpus, _ in planned("V").values()}
    assert {listing.doubled(stem) for claim in JUDGED for stem in claim.stems} == doubled


GOOD = """
[[changes]]
date = 2026-01-01
why = "a test"
sha256 = ""
[defaults.grammar]
bleu = { margin = 1.0, seeds = 1.0, sentences = 0.3 }
"""
ROW = {
    "id": "one",
    "kind": "A",
    "claim": "",
    "paper": "",
    "place": "",
    "first": "a-grammar",
    "second": "b-grammar",
    "metric": "bleu",
    "expected": "above",
    "seeds": [5, 5],
    "group": "",
    "gap": 3.0,
}


def written(tmp_path, *some: dict):
    path = tmp_path / "claims.toml"
    lines = [GOOD]
    for row in some:
        lines += ["[[claims]]", *(f"{key} = {value!r}" for key, value in row.items())]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_a_row_takes_margin_and_scatter_of_its_corpus_unless_it_has_its_own(tmp_path):
    own = ROW | {"id": "two", "first": "c-grammar", "margin": 1.2}
    found = load_claims(written(tmp_path, ROW, own))
    assert [claim.margin for claim in found.claims] == [1.0, 1.2]
    assert [(claim.scatter, claim.sentences) for claim in found.claims] == [(1.0, 0.3)] * 2


def test_a_margin_is_half_of_the_papers_effect_if_that_is_less(tmp_path):
    theirs = ROW | {"id": "two", "first": "c-grammar", "theirs": [18.6, 19.0]}
    expected = ROW | {"gap": -0.5}
    found = load_claims(written(tmp_path, expected, theirs))
    assert [claim.margin for claim in found.claims] == pytest.approx([0.25, 0.2])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seeds": [5, 1]}, "one: a system needs two seeds or more"),
        ({"seeds": [5, 5], "second": 1.0}, "a number 0"),
        ({"reason": "no time"}, "compares nothing"),
        ({"first": "", "second": ""}, "needs a reason"),
        ({"second": ""}, "a first and a second system"),
        ({"metric": "share"}, "a share needs two parts"),
        ({"metric": "rouge"}, "one: metric"),
        ({"expected": "better"}, "one: expected"),
        ({"kind": "C"}, "one: kind"),
        ({"kind": "B"}, 'kind B needs "altered"'),
        ({"altered": "no feeding"}, "is of kind B"),
        ({"color": "red"}, "one: color"),
        ({"first": "a-multi30k"}, "need gap, margin, scatter and sentences"),
    ],
)
def test_a_row_that_makes_no_sense_is_refused_by_its_name(tmp_path, change, message):
    with pytest.raises(ValueError, match=message):
        load_claims(written(tmp_path, ROW | change))


def test_no_comparison_and_no_id_stands_twice(tmp_path):
    with pytest.raises(ValueError, match="the same comparison in two rows"):
        load_claims(written(tmp_path, ROW, ROW | {"id": "two"}))
    with pytest.raises(ValueError, match="the same id in two rows: one"):
        load_claims(written(tmp_path, ROW, ROW | {"first": "c-grammar"}))


# ------------------------------------------------------------------------------------------ power


@pytest.mark.parametrize(
    ("id", "seeds"), [("l1-feeding", (8, 8)), ("l1-reverse", (3, 3)), ("w-length", (3, 3))]
)
def test_the_power_is_that_of_simulated_seeds(id, seeds):
    """Seed by seed, through the truth rule itself."""
    claim, rng, decided = replace(LIST[id], seeds=seeds), np.random.default_rng(0), 0
    counts = seeds[:1] if paired(claim) else seeds
    for _ in range(1_000):
        luck = [claim.scatter * rng.normal(size=m) for m in counts]
        terms = [(values.var(ddof=1) / len(values), len(values) - 1) for values in luck]
        variance = sum(term for term, _ in terms)
        seen = Term(variance, variance**2 / sum(term**2 / f for term, f in terms))
        mean = claim.gap + luck[0].mean() - sum(values.mean() for values in luck[1:])
        mean += claim.sentences * rng.normal()
        one = Comparison(mean, seen, Term(claim.sentences**2), "", claim.expected, claim.margin)
        decided += decide([one])[0].verdict in ("agrees", "opposite")
    assert power_of(claim) == pytest.approx(decided / 1_000, abs=0.05)


def test_more_seeds_give_more_power_and_a_longer_table_less():
    claim = LIST["l1-feeding"]
    of = {seeds: power_of(replace(claim, seeds=(seeds, seeds))) for seeds in (3, 5, 8)}
    assert of[3] < of[5] < of[8]
    assert power_of(claim, comparisons=8) < power_of(claim)


def test_the_power_by_the_scatter_that_was_seen_is_less_if_seeds_lie_further_apart():
    claim = LIST["l1-feeding"]
    calm, wild = (([Term(each, 4), Term(each, 4)], Term(0.09)) for each in (0.01, 1.0))
    assert power_of(claim, seen=wild) < power_of(claim) < power_of(claim, seen=calm)


# -------------------------------------------------------------------------------------- judgement


@pytest.fixture(scope="module")
def whole() -> dict[str, Row]:
    return {row.claim.id: row for row in judge()}


def test_what_was_not_run_has_no_verdict(whole):
    assert whole["b1-phrase-based"].verdict == "not run"
    assert whole["b1-phrase-based"].said == "not run: no phrase-based system was trained here"
    for row in whole.values():
        assert (row.decision is None) == (row.verdict in ("not run", "waiting"))
        assert (row.verdict == "not run") == bool(row.claim.reason)


def test_a_row_waits_until_both_systems_have_the_seeds_that_it_names():
    """One seed fewer, and there is no interval to look at either."""
    ids = "b1-search", "l1-location"
    (first, second) = judge_runs(some(*ids), lambda name, n: recorded(name, n)[:4])
    assert (first.verdict, first.ours) == ("waiting", "")
    assert first.said == "waiting: rnnsearch-grammar has 4 of 5 seeds (power 100%)"
    assert second.verdict == "waiting" and second.power > 0.9


def test_a_row_that_waits_for_a_measurement_is_not_judged(whole):
    assert whole["l7-sharp-local-p"].verdict == "waiting"
    assert "do not add up to one" in whole["l7-sharp-local-p"].said


def test_further_seeds_than_a_row_names_change_nothing():
    three = some("b1-search", seeds=(3, 3))
    asked = []

    def load(name: str, seeds: int) -> list:
        asked.append(seeds)
        return recorded(name, seeds)

    (row,) = judge_runs(three, load)
    assert max(asked) == 3
    assert row.decision.comparison.seeds.degrees <= 4


def test_a_question_has_an_interval_of_its_own_and_no_verdict(whole):
    asked = [row for row in whole.values() if row.claim.kind == "Q" and row.decision]
    assert len(asked) > 15
    assert {row.verdict for row in asked} == {"no verdict"}
    assert {row.decision.level for row in asked} == {0.95}


def test_rows_that_wait_count_in_their_table(whole):
    family = [row for row in whole.values() if row.claim.group == "Luong, Table 1, on captions"]
    strictest = max(row.decision.level for row in family if row.decision)
    assert strictest == pytest.approx(1 - 0.05 / len(family))


def test_systems_are_measured_once(monkeypatch):
    calls = []
    measured = listing.measured
    monkeypatch.setattr(
        listing, "measured", lambda *rest, **more: calls.append(1) or measured(*rest, **more)
    )
    judge_runs(some("l1-reverse", "l3-location"))
    assert len(calls) == 3  # sutskever-grammar is in both


# ------------------------------------------------------------------------- the one judged list


def interval(row: Row) -> tuple | None:
    return row.decision and (row.decision.low, row.decision.high, row.verdict)


@pytest.mark.slow
def test_the_stored_verdicts_are_those_of_the_runs(tmp_path):
    fresh = {row.claim.id: row for row in read_verdicts(write_verdicts(tmp_path / "v.json"))}
    for row in judge():
        new = fresh.pop(row.claim.id)
        assert (row.verdict, row.missing, row.trained) == (new.verdict, new.missing, new.trained)
        assert (row.power, row.power_seen) == pytest.approx((new.power, new.power_seen), abs=2e-3)
        if row.decision:
            assert interval(row)[:2] == pytest.approx(interval(new)[:2], rel=1e-6, abs=1e-6)
    assert not fresh


def test_stored_intervals_have_the_correction_of_the_whole_group(whole):
    for group in {claim.group for claim in JUDGED}:
        family = [whole[claim.id] for claim in JUDGED if claim.group == group]
        rows = [row for row in family if row.decision]
        compared = [row.decision.comparison for row in rows]
        for row, one in zip(rows, decide(compared, waiting=len(family) - len(rows)), strict=True):
            assert interval(row)[:2] == pytest.approx((one.low, one.high), rel=1e-6, abs=1e-6)
            assert row.verdict == one.verdict


def test_rows_asked_for_are_the_whole_lists_in_its_order(whole):
    last, first = LIST.claims[-1].id, LIST.claims[0].id
    assert judge([last, first]) == [whole[first], whole[last]]


def test_an_unknown_row_is_refused():
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
    monkeypatch.setattr(listing, "results_folder", lambda: tmp_path)
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


@pytest.fixture
def kept(monkeypatch):
    """Two runs that kept their sentences: forty of 6 to 45 words, of 80 BLEU or less."""
    rng = np.random.default_rng(0)
    lengths = np.arange(6, 46)
    totals = [np.maximum(lengths - n, 0) for n in range(4)]
    store = {}
    for name in ("kept-grammar-0", "kept-grammar-1"):
        right = [rng.binomial(total, 0.8) for total in totals]
        counts = np.column_stack([lengths, lengths, *right, *totals])
        worse = np.column_stack([lengths, lengths, *(r // 2 for r in right), *totals])
        store[name] = {
            "test_bleu": counts.astype(np.uint16),
            "test_beam5_bleu": worse,
            "test_losses": np.column_stack([2.0 * lengths, lengths]).astype(np.float32),
            "test_length": lengths,
            "test_known": lengths % 2 == 0,
        }
    monkeypatch.setattr(measuring, "load_statistics", store.__getitem__)
    measuring._statistics.cache_clear()
    old = load_run("rnnsearch-grammar-0")
    yield [replace(old, name=name) for name in store], store
    measuring._statistics.cache_clear()


def test_sentences_are_chosen_by_length_and_by_what_is_known(kept):
    runs, store = kept
    arrays = [of_run["test_bleu"] for of_run in store.values()]
    for part, chosen in (
        ("test", slice(None)),
        ("test:6-10", slice(0, 5)),
        ("test:known", slice(0, None, 2)),
    ):
        theirs = by_sentences([array[chosen] for array in arrays])
        assert measured(runs, "bleu", part).scores == pytest.approx(theirs.scores)
    ours = measured(runs, "bleu", ("test:6-10", "test:36-40")).scores
    both = by_sentences([(array[:5], array[30:35]) for array in arrays], share())
    assert ours == pytest.approx(both.scores)


def test_other_searches_and_perplexity_have_arrays_of_their_own(kept):
    runs, _ = kept
    assert (measured(runs, search="beam5").scores < measured(runs).scores).all()
    assert measured(runs, "nats").scores == pytest.approx([2, 2])
    assert measured(runs, "perplexity").scores == pytest.approx([math.exp(2)] * 2)
    assert measured(runs, "length").scores == pytest.approx([1, 1])
    with pytest.raises(NotRecorded, match="no bleu of 'test' with the search 'beam50'"):
        measured(runs, search="beam50")


def test_alignment_error_of_captions_is_of_the_gold_links(kept):
    runs, store = kept
    for right, arrays in zip((3, 4), store.values(), strict=True):
        arrays["gold_aer"] = np.tile(np.array([right, right, 5, 5], dtype=np.uint16), (9, 1))
    found = measured(runs, "aer")
    assert found.scores == pytest.approx([0.4, 0.2])
    assert compare(found, constant(0)).covers == "seeds and sentences"
    for other in ("test:6-10", "test:known"):
        with pytest.raises(NotRecorded):
            measured(runs, "aer", other)


def test_two_searches_of_the_same_models_are_paired(kept):
    runs, _ = kept
    claim = replace(LIST["q-beam"], first="kept-grammar@beam5", second="kept-grammar", seeds=(2, 2))
    assert paired(claim)
    assert not paired(LIST["b1-search"])
    (row,) = judge_runs(ClaimList((claim,)), lambda name, seeds: runs)
    one = row.decision.comparison
    assert one.seeds.degrees == pytest.approx(1)
    greedy, beam = measured(runs), measured(runs, search="beam5")
    gains = beam.scores - greedy.scores
    assert one.seeds.variance == pytest.approx(gains.var(ddof=1) / 2)
    assert row.means == pytest.approx((beam.mean, greedy.mean))


def test_what_was_not_kept_is_not_recorded():
    runs = recorded("rnnencdec-grammar", 2)
    with pytest.raises(NotRecorded, match="no entropy of 'test' was recorded"):
        measured(runs, "entropy")
    with pytest.raises(ValueError, match="what must be one of"):
        measured(runs, "rouge")


@pytest.mark.parametrize("what", ["monotone", "entropy"])
def test_alignments_of_what_several_seeds_wrote_are_measured(what, monkeypatch):
    """The seeds write translations of different lengths."""
    kept = {
        f"x-{seed}": np.array([[1.0 + seed, 4 + seed], [2.0, 5]], dtype=np.float32)
        for seed in (0, 1)
    }
    monkeypatch.setattr(measuring, "sentences", lambda run, *_, **__: kept[run])
    assert measured(list(kept), what).scores == pytest.approx([3 / 9, 4 / 10])
