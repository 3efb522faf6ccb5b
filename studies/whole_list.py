"""How often is the whole list of claims wrong somewhere? All its rows are made up and judged.

Each table of a paper errs in one of twenty cases at most. The list has a dozen tables, so the
chance that it has *some* false claim is larger. Here the whole procedure runs on made-up scores:
every row with its seeds, rows that share a system with the same scores, Holm's correction in every
table, and two looks: at the rows whose runs are recorded, and at all rows, once the others come.
Seeds scatter as the recorded ones do (those that wait: as expected); sentences as the list expects.

There are two truths. In the first there is no difference anywhere. In the second, differences that
are decided today are as large as they were measured, and all others are zero. A claim is false if
a row *agrees* or is *opposite* although its difference is zero or has the other sign.
Usage: make study NAME=whole_list
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from attnmt.evidence.claims import Claim, Row, judge, load_claims, paired
from attnmt.evidence.claims import recorded as recorded_runs
from attnmt.evidence.comparison import ALPHA, Comparison, Decision, Term, decide
from attnmt.evidence.measured import measured
from studies.study import head_of, save_store, store_of

STORE = store_of(__file__)
REPETITIONS = 3_000
DEGREES = 999  # of the variance over sentences
DECIDED = ("agrees", "opposite")


@dataclass(frozen=True)
class Made:
    """A row to be made up: both of its systems, as (what is measured, seeds, deviation)."""

    claim: Claim
    sides: tuple[tuple[tuple, int, float], ...]
    ready: bool
    seen: float  # the difference that was decided, else 0


def rows_of(rows: Sequence[Row]) -> list[Made]:
    """The rows of kinds A and B that are to be run, with the scatter of their seeds."""
    return [made_of(row) for row in rows if row.claim.judged]


def made_of(row: Row) -> Made:
    """A row, with the scatter of its seeds: as it was seen, or else as it is expected."""
    claim = row.claim
    if paired(claim):
        gained = np.subtract(*(scores(claim, name, claim.seeds[0]) for name in names(claim)))
        sides = (((claim.id,), claim.seeds[0], float(gained.std(ddof=1))),)
    else:
        sides = tuple(
            (
                (name, claim.metric, claim.parts),
                seeds,
                float(scores(claim, name, seeds).std(ddof=1)) if row.decision else claim.scatter,
            )
            for name, seeds in zip(names(claim), claim.seeds, strict=True)
        )
    seen = row.decision.difference if row.verdict in DECIDED else 0.0
    return Made(claim, sides, ready=row.decision is not None, seen=seen)


def names(claim: Claim) -> tuple[str, str]:
    """Both systems, with their searches."""
    return claim.first, str(claim.second)


def scores(claim: Claim, name: str, seeds: int) -> np.ndarray:
    """A system's recorded scores by seed."""
    stem, _, search = name.partition("@")
    parts = claim.parts if claim.metric == "share" else claim.parts[0]
    what = "bleu" if claim.metric == "share" else claim.metric
    return measured(recorded_runs(stem, seeds), what, parts, search=search).scores


def compared(made: Sequence[Made], rng: np.random.Generator) -> list[Comparison]:
    """All rows once, without any true difference. What several rows measure is drawn once."""
    drawn: dict[tuple, np.ndarray] = {}
    found = []
    for row in made:
        share = row.claim.sentences / np.sqrt(len(row.sides))
        values = []
        for key, seeds, deviation in row.sides:
            key = *key, seeds
            if key not in drawn:
                luck = share * rng.normal()
                drawn[key] = luck + deviation * rng.normal(size=seeds)
            values.append(drawn[key])
        terms = [(one.var(ddof=1) / len(one), len(one) - 1) for one in values]
        total = sum(variance for variance, _ in terms)
        degrees = total**2 / sum(variance**2 / free for variance, free in terms)
        sentences = row.claim.sentences**2 * rng.chisquare(DEGREES) / DEGREES
        difference = values[0].mean() - (values[1].mean() if len(values) == 2 else 0.0)
        expected = row.claim.expected
        over = Term(total, degrees), Term(sentences, DEGREES)
        found.append(Comparison(difference, *over, "", expected, row.claim.margin))
    return found


def judged(
    made: Sequence[Made], comparisons: Sequence[Comparison], *, ready: bool
) -> list[Decision | None]:
    """The decisions of one look at the list, table by table; None for a row that waits."""
    found: list[Decision | None] = [None] * len(made)
    for group in dict.fromkeys(row.claim.group for row in made):
        family = [n for n, row in enumerate(made) if row.claim.group == group]
        there = [n for n in family if made[n].ready or not ready]
        decisions = decide([comparisons[n] for n in there], waiting=len(family) - len(there))
        for number, decision in zip(there, decisions, strict=True):
            found[number] = decision
    return found


def false(row: Made, decision: Decision | None, true: float) -> bool:
    """Whether a row claims a difference that is not there, or the wrong side of one that is."""
    if decision is None or decision.verdict not in DECIDED:
        return False
    return true == 0 or (decision.low > 0) != (true > 0)


def simulate(made: Sequence[Made], rng: np.random.Generator, repetitions: int) -> dict:
    """How often the list is wrong, in either truth and at any look."""
    wrong: dict[str, Counter] = {"none": Counter(), "as measured": Counter()}
    for _ in range(repetitions):
        chance = compared(made, rng)
        for truth, count in wrong.items():
            trues = [row.seen if truth == "as measured" else 0.0 for row in made]
            table = [
                Comparison(
                    one.difference + true, one.seeds, one.sentences, "", one.expected, one.margin
                )
                for one, true in zip(chance, trues, strict=True)
            ]
            looks = judged(made, table, ready=True), judged(made, table, ready=False)
            at = [
                any(false(row, look[n], true) for look in looks)
                for n, (row, true) in enumerate(zip(made, trues, strict=True))
            ]
            kinds = {row.claim.kind for row, bad in zip(made, at, strict=True) if bad}
            count.update({f"kind {kind}" for kind in kinds})
            count["any"] += any(at)
            count["rows"] += sum(at)
            count.update({row.claim.group for row, bad in zip(made, at, strict=True) if bad})
    return {
        truth: {name: round(number / repetitions, 4) for name, number in sorted(count.items())}
        for truth, count in wrong.items()
    }


def main() -> None:
    """Simulate, and store how often each table and the list are wrong."""
    made = rows_of(judge())
    store = {
        **head_of(__file__),
        "frozen": load_claims().sha256,
        "repetitions": REPETITIONS,
        "alpha": ALPHA,
        "rows": len(made),
        "tables": sorted({row.claim.group for row in made}),
        "wrong": simulate(made, np.random.default_rng(0), REPETITIONS),
    }
    save_store(STORE, store)
