"""The frozen list of claims: it makes sense, it has not changed unseen, and it is judged fairly."""

import math
from dataclasses import replace
from datetime import date

import numpy as np
import pytest

from attnmt.evidence import claims as listing
from attnmt.evidence import measured as measuring
from attnmt.evidence.claims import (
    SO_FAR,
    ClaimList,
    Row,
    corpus_of,
    fingerprint,
    judge,
    judge_runs,
    judge_runs_so_far,
    load_claims,
    paired,
    power,
    read_verdicts,
    recorded,
    so_far,
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
from attnmt.evidence.runs import book, load_run, planned

# Of the list as it was frozen. Whoever changes a claim writes down in [[changes]] of claims.toml
# what was changed, when, and why, with the new sum; and puts it here.
FROZEN = "852d559c9dcbd7d61647944d5abd6a253bfcf002d7fd05051e4ca1f54027ffa9"
LIST = load_claims()
PAPERS = [claim for claim in LIST.claims if claim.kind == "claim"]
QUESTIONS = [claim for claim in LIST.claims if claim.kind == "question"]


def three(name: str, seeds: int) -> list:
    """Three recorded seeds of a system, and nothing of the ladder."""
    return [] if name.startswith("ladder-") else recorded(name, min(seeds, 3))


@pytest.fixture(scope="module")
def rows() -> dict[str, Row]:
    """The list judged by three seeds of each system: numbers to try the code on."""
    few = replace(LIST, tiers=dict.fromkeys(LIST.tiers, 3))
    return {row.claim.id: row for row in judge_runs(few, three)}


# --------------------------------------------------------------------------------------- the list


def test_the_list_is_frozen():
    assert LIST.sha256 == FROZEN == LIST.changes[-1]["sha256"]
    assert all(change["why"] and isinstance(change["date"], date) for change in LIST.changes)
    other = (replace(LIST.claims[0], margin=9.0), *LIST.claims[1:])
    assert replace(LIST, claims=other).sha256 != FROZEN


def test_the_papers_claims_are_about_sixty_and_ours_stand_apart():
    assert 55 <= sum(claim.runs for claim in PAPERS) <= 70
    assert {claim.paper for claim in QUESTIONS} == {"this book"}
    assert not any(claim.paper == "this book" for claim in PAPERS)
    assert {claim.group for claim in PAPERS}.isdisjoint(claim.group for claim in QUESTIONS)


@pytest.mark.parametrize("claim", PAPERS, ids=lambda claim: claim.id)
def test_the_papers_own_numbers_are_on_the_side_that_the_claim_expects(claim):
    if claim.their_difference is not None:
        assert (claim.their_difference > 0) == (claim.expected != "below")


def test_perplexities_are_compared_as_a_ratio():
    assert LIST["s-reverse-perplexity"].their_difference == pytest.approx(math.log(4.7 / 5.8))


@pytest.mark.parametrize("claim", [c for c in LIST.claims if c.runs], ids=lambda claim: claim.id)
def test_systems_are_those_of_the_recordings(claim):
    names = [name for name in (claim.first, claim.second) if isinstance(name, str)]
    assert {corpus_of(name) for name in names} <= {"grammar", "multi30k", "joined", "joined30"}
    recorded = {f"{system}-{corpus}" for system, corpus, _ in planned().values()}
    assert {name.partition("@")[0] for name in names} <= recorded
    if claim.tier == "A":
        (tier,) = (tier for tier in book()["tiers"] if tier["name"] == "A")
        systems = {name.partition("@")[0].removesuffix("-grammar") for name in names}
        assert systems <= set(tier["systems"])
        assert LIST.tiers["A"] == len(tier["seeds"])


@pytest.mark.parametrize("tier", LIST.tiers)
def test_a_tier_records_all_that_its_rows_ask_for(tier):
    """With its own seeds, or with those of the tiers before it."""
    before = [name for name in LIST.tiers if name <= tier]
    recorded = {}
    for system, corpus, seed in planned(*before).values():
        recorded.setdefault(f"{system}-{corpus}", set()).add(seed)
    for claim in LIST.claims:
        if claim.tier == tier:
            for name in (claim.first, claim.second):
                if isinstance(name, str):
                    assert set(range(LIST.tiers[tier])) <= recorded[name.partition("@")[0]]


def test_rows_of_tables_1_and_4_have_eight_seeds_where_the_tier_can_have_more():
    for claim in PAPERS:
        if claim.tier == "A":
            headline = claim.group.endswith(("Table 1", "Table 4"))
            assert claim.seeds == ((8, 8) if headline else (5, 5))
        if claim.tier == "B":
            assert claim.seeds == (3, 3)


GOOD = """
[[changes]]
date = 2026-01-01
why = "a test"
sha256 = ""
[tiers]
A = { seeds = 3, what = "" }
[defaults.grammar]
bleu = { margin = 1.0, seeds = 1.0, sentences = 0.3 }
"""
ROW = {
    "id": "one",
    "claim": "",
    "paper": "",
    "place": "",
    "first": "a-grammar",
    "second": "b-grammar",
    "metric": "bleu",
    "expected": "above",
    "seeds": [5, 5],
    "tier": "A",
    "group": "",
    "gap": 1.0,
}


def written(tmp_path, *some: dict):
    path = tmp_path / "claims.toml"
    lines = [GOOD]
    for row in some:
        lines += ["[[claims]]", *(f"{key} = {value!r}" for key, value in row.items())]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_a_row_takes_margin_and_scatter_of_its_corpus_unless_it_has_its_own(tmp_path):
    some = load_claims(
        written(tmp_path, ROW, ROW | {"id": "two", "first": "c-grammar", "margin": 3.0})
    )
    assert [claim.margin for claim in some.claims] == [1.0, 3.0]
    assert [(claim.scatter, claim.sentences) for claim in some.claims] == [(1.0, 0.3)] * 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seeds": [5, 1]}, "one: one seed is never enough"),
        ({"tier": "Z"}, "there is no tier 'Z'"),
        ({"tier": "none"}, "needs a reason"),
        ({"second": ""}, "a first and a second system"),
        ({"metric": "share"}, "a share needs two parts"),
        ({"metric": "rouge"}, "one: metric"),
        ({"expected": "better"}, "one: expected"),
        ({"color": "red"}, "one: color"),
        ({"first": "a-multi30k"}, "needs gap, scatter and sentences"),
        (
            {"metric": "aer", "expected": "not below", "scatter": 1.0, "sentences": 1.0},
            "needs a margin",
        ),
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
    ("id", "seeds"), [("l1-feeding", (8, 8)), ("l1-reverse", (3, 3)), ("b2-flat", (5, 5))]
)
def test_the_power_is_that_of_simulated_seeds(id, seeds):
    """Seed by seed, through the truth rule itself."""
    claim, rng, decided = LIST[id], np.random.default_rng(0), 0
    counts = seeds[:1] if isinstance(claim.second, float) else seeds
    for _ in range(1_000):
        some = [claim.scatter * rng.normal(size=m) for m in counts]
        terms = [(values.var(ddof=1) / len(values), len(values) - 1) for values in some]
        variance = sum(term for term, _ in terms)
        seen = Term(variance, variance**2 / sum(term**2 / f for term, f in terms))
        mean = claim.gap + some[0].mean() - sum(values.mean() for values in some[1:])
        mean += claim.sentences * rng.normal()
        one = Comparison(mean, seen, Term(claim.sentences**2), "", claim.expected, claim.margin)
        decided += decide([one])[0].verdict in ("agrees", "opposite")
    assert power(claim, seeds) == pytest.approx(decided / 1_000, abs=0.05)


def test_more_seeds_give_more_power_and_a_longer_table_less():
    claim = LIST["l1-feeding"]
    assert power(claim, (3, 3)) < power(claim, (5, 5)) < power(claim, (8, 8))
    assert power(claim, (8, 8), comparisons=8) < power(claim, (8, 8))


# -------------------------------------------------------------------------------------- judgement


def test_what_was_not_run_has_no_verdict(rows):
    assert rows["b1-phrase-based"].verdict == "not run"
    assert "no phrase-based system" in rows["b1-phrase-based"].missing
    assert rows["l1-ladder-dropout"].verdict == "not run"
    assert rows["l1-ladder-dropout"].missing == "ladder-dropout-multi30k has 0 of 8 seeds (tier E)"
    assert all(row.ours == "" for row in rows.values() if row.verdict == "not run")


def test_with_fewer_seeds_than_its_tier_records_a_row_is_not_run():
    assert {row.verdict for row in judge_runs(LIST, lambda name, n: three(name, n)[:1])} == {
        "not run"
    }
    found = {row.claim.id: row for row in judge_runs(LIST, three)}
    assert found["b1-search"].missing == "rnnsearch-grammar has 3 of 8 seeds (tier A)"
    assert found["b1-search-captions"].verdict != "not run"  # three are what tier B has


def test_a_question_is_answered_and_never_judged(rows):
    answers = {rows[claim.id].verdict for claim in QUESTIONS}
    assert answers <= {"yes", "no", "no difference", "undecided", "not run"}
    assert "yes" in answers


def test_a_table_is_judged_together_by_the_one_rule(rows):
    group = [row for row in rows.values() if row.claim.group == "Luong, Table 4" and row.decision]
    assert len(group) > 3
    table = []
    for row in group:
        claim = row.claim
        first, second = (measured(three(n, 3), claim.metric) for n in (claim.first, claim.second))
        table.append(compare(first, second, expected=claim.expected, margin=claim.margin))
    for row, one in zip(group, decide(table)):
        assert (row.decision.low, row.decision.high) == (one.low, one.high)
        assert row.verdict == one.verdict
    assert max(row.decision.level for row in group) > 0.99


# ------------------------------------------------------------------------- the one judged list


def interval(row: Row) -> tuple | None:
    return row.decision and (row.decision.low, row.decision.high, row.verdict)


@pytest.mark.slow
def test_the_stored_verdicts_are_those_of_the_runs(tmp_path):
    fresh = {row.claim.id: row for row in read_verdicts(write_verdicts(tmp_path / "v.json"))}
    for row in so_far():
        new = fresh.pop(row.claim.id)
        assert (row.verdict, row.seeds, row.missing) == (new.verdict, new.seeds, new.missing)
        if row.decision:
            assert interval(row)[:2] == pytest.approx(interval(new)[:2], rel=1e-6)
            assert row.power == new.power
    assert not fresh


def test_stored_intervals_have_the_correction_of_the_whole_group():
    stored = [row for row in judge() if row.decision]
    for group in {row.claim.group for row in stored}:
        rows = [row for row in stored if row.claim.group == group]
        for row, one in zip(rows, decide([row.decision.comparison for row in rows])):
            assert interval(row)[:2] == pytest.approx((one.low, one.high), rel=1e-6)
            assert row.decision.verdict == one.verdict


@pytest.mark.parametrize("claim", LIST.claims, ids=lambda claim: claim.id)
def test_a_row_asked_for_alone_is_the_whole_lists(claim, whole):
    (row,) = judge([claim.id])
    assert interval(row) == interval(whole[claim.id])


@pytest.fixture(scope="module")
def whole() -> dict[str, Row]:
    return {row.claim.id: row for row in judge()}


def test_an_unknown_row_is_refused():
    with pytest.raises(ValueError, match=r"claims\.toml has no b1-serach"):
        judge(["b1-search", "b1-serach"])


@pytest.mark.parametrize("changed", ["claims.toml", "runs.toml", "b-0.json", "sentences/b-0.npz"])
def test_verdicts_older_than_what_they_were_judged_from_are_refused(changed, tmp_path, monkeypatch):
    (tmp_path / "sentences").mkdir()
    (tmp_path / "claims.toml").write_text(
        '[[claims]]\nid = "one"\ntier = "A"\nfirst = "b"\nsecond = 1.0\n', encoding="utf-8"
    )
    for name in ("runs.toml", "b-0.json", "sentences/b-0.npz", "other-0.json"):
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


def test_the_summary_counts_the_papers_claims(rows):
    text = summary(list(rows.values()))
    judged = [row for row in rows.values() if row.decision and row.claim.kind == "claim"]
    assert text.startswith(f"{len(PAPERS)} claims of the papers, {len(judged)} of them judged.")
    for verdict in ("agrees", "opposite", "no difference", "undecided"):
        assert f"{verdict}: {sum(row.verdict == verdict for row in judged)}" in text
    assert f"not run: {len(PAPERS) - len(judged)}." in text
    assert "Of the 0 that were judged" in summary(judge_runs(LIST, lambda name, seeds: []))


def test_the_table_shows_both_differences_and_what_is_missing(rows):
    lines = verdict_table([rows["l3-location"], rows["b1-phrase-based"]]).splitlines()
    assert lines[0] == "| claim | where | theirs | ours | seeds | verdict |"
    assert f"| +2.2 | {rows['l3-location'].ours} |" in lines[2]
    assert lines[2].endswith("| 3 and 3 | agrees |")
    assert lines[3].endswith("| +0.5 | – | – | not run: no phrase-based system was trained here |")


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
    run = load_run("rnnsearch-grammar-0")
    yield [replace(run, name=name) for name in store], store
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
    (row,) = judge_runs(ClaimList((claim,), {"B": 2}, ()), lambda name, seeds: runs)
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


# ------------------------------------------------------------------------- rows that wait for seeds


def some(ids: tuple[str, ...]) -> ClaimList:
    return replace(LIST, claims=tuple(LIST[id] for id in ids))


def test_a_row_that_waits_for_seeds_has_an_interval_and_no_verdict():
    """Five seeds were fixed for tier A; three are there."""
    (row,) = judge_runs_so_far(some(("b2-falls",)), three)
    assert row.decision and row.outcome == "agrees"
    assert row.verdict == SO_FAR
    assert "3 of 5 seeds" in row.missing
    assert judge_runs(some(("b2-falls",)), three)[0].decision is None


def test_a_complete_row_is_judged_as_ever():
    chosen = some(("l1-reverse", "b2-falls"))
    complete, waiting = judge_runs_so_far(chosen, three)
    assert complete == judge_runs(chosen, three)[0]
    assert complete.verdict == complete.outcome == "agrees"
    assert waiting.verdict == SO_FAR


def test_one_seed_has_no_interval():
    (row,) = judge_runs_so_far(some(("b2-falls",)), lambda name, seeds: three(name, seeds)[:1])
    assert row.decision is None and row.verdict == "not run"


def test_a_question_that_waits_is_not_answered():
    (row,) = judge_runs_so_far(some(("q-share-encdec",)), three)
    assert row.verdict == SO_FAR and row.outcome == "yes"


def test_systems_are_measured_once_for_several_calls():
    known: dict = {}
    first = judge_runs(some(("l1-reverse",)), three, known)
    systems = dict(known)
    assert len(systems) == 2
    assert judge_runs(some(("l1-reverse",)), three, known) == first
    assert known == systems
