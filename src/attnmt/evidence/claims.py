"""The frozen list of claims: what the papers say, which comparison decides it, and what came out.

``results/claims.toml`` was written before the runs that decide it. Its head explains the fields. A
*claim* is a paper's own and gets a verdict; a *question* is ours and gets an interval, but never a
verdict on a paper. What was not run says so and has no verdict::

    for row in judge():
        print(row.claim.claim, row.ours, row.verdict)
"""

import hashlib
import json
import math
import tomllib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass as checked
from scipy.special import ndtri, stdtrit

from attnmt.evidence.comparison import (
    ALPHA,
    SEED,
    VERDICTS,
    Comparison,
    Decision,
    Expected,
    System,
    compare,
    constant,
    decide,
    seed_by_seed,
)
from attnmt.evidence.measured import NotRecorded, measured
from attnmt.evidence.runs import Run, load_run, results_folder
from attnmt.evidence.runs import recorded as undertrained_runs

NOT_RUN = "not run"
SO_FAR = "so far"  # there is an interval, but not all seeds that were fixed beforehand
FEWEST = 2  # seeds of a system that have an interval
DRAWS = 10_000  # of seeds, for the power
DIGITS = {"bleu": 1, "aer": 3, "cpu_seconds": 0}  # of a difference; else 2
What = Literal["bleu", "aer", "nats", "share", "length", "monotone", "entropy", "cpu_seconds"]


@checked(frozen=True, config=ConfigDict(extra="forbid"))
class Claim:
    """One row of the list, as its head explains. ``second`` may be a number.

    ``margin``, ``scatter`` (between seeds) and ``sentences`` (standard error) are the corpus's
    defaults unless the row has its own.
    """

    id: str
    claim: str
    paper: str
    place: str
    metric: What
    expected: Expected
    tier: str
    group: str
    kind: Literal["claim", "question"] = "claim"
    first: str = ""
    second: str | float = ""
    parts: tuple[str, ...] = ("test",)
    theirs: tuple[float, float] | None = None
    seeds: tuple[int, int] = (0, 0)
    gap: float | None = None
    margin: float | None = None
    scatter: float | None = None
    sentences: float | None = None
    also: str = ""
    reason: str = ""

    @property
    def runs(self) -> bool:
        """Whether there is a comparison that can be run."""
        return self.tier != "none"

    @property
    def their_difference(self) -> float | None:
        """The paper's own difference; of perplexities, of their logarithms."""
        if self.theirs is None:
            return None
        second, first = self.theirs
        return math.log(first / second) if self.metric == "nats" else first - second

    @property
    def comparison(self) -> tuple:
        """What is compared. No two rows have the same."""
        return self.first, self.second, self.parts, self.metric


@dataclass(frozen=True)
class ClaimList:
    """The list, and the head of its file.

    Attributes:
        claims: in the file's order.
        tiers: seeds that each tier of recordings has.
        changes: when the list was frozen, and each change since, with its reason and SHA-256.
    """

    claims: tuple[Claim, ...]
    tiers: dict[str, int]
    changes: tuple[dict[str, Any], ...]

    def __getitem__(self, id: str) -> Claim:
        """The claim of this id."""
        return next(claim for claim in self.claims if claim.id == id)

    @property
    def sha256(self) -> str:
        """Of all fields of all rows. It is another, once anything in the list has changed."""
        rows = TypeAdapter(tuple[Claim, ...]).dump_python(self.claims, mode="json")
        return hashlib.sha256(json.dumps([rows, self.tiers], sort_keys=True).encode()).hexdigest()


def load_claims(path: Path | None = None) -> ClaimList:
    """Read and check the frozen list.

    Raises:
        ValueError: a field that is missing, unknown or makes no sense; the message names the row.
    """
    path = path or results_folder() / "claims.toml"
    file = tomllib.loads(path.read_text(encoding="utf-8"))
    rows = [_with_defaults(row, file["defaults"]) for row in file["claims"]]
    claims = []
    for row in rows:
        try:
            claims.append(TypeAdapter(Claim).validate_python(row))
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(str(part) for part in first["loc"])
            name = row.get("id", "a row without id")
            raise ValueError(f"{path.name}, {name}: {place}: {first['msg']}") from error
    tiers = {name: tier["seeds"] for name, tier in file["tiers"].items()}
    for claim in claims:
        if problem := _problem(claim, tiers):
            raise ValueError(f"{path.name}, {claim.id}: {problem}")
    for what in ("id", "comparison"):
        values = [getattr(claim, what) for claim in claims if what == "id" or claim.runs]
        if twice := {str(value) for value in values if values.count(value) > 1}:
            raise ValueError(f"{path.name}: the same {what} in two rows: {', '.join(twice)}")
    return ClaimList(tuple(claims), tiers, tuple(file["changes"]))


def corpus_of(system: str) -> str:
    """The corpus in ``SYSTEM-CORPUS`` or ``SYSTEM-CORPUS@SEARCH``."""
    return system.partition("@")[0].rpartition("-")[2]


def _with_defaults(row: dict, defaults: dict) -> dict:
    """A row with the margin and scatter of its corpus and metric, unless it has its own."""
    corpus = corpus_of(str(row.get("first", "")))
    corpus = corpus if corpus in defaults else corpus.rstrip("0123456789")
    known = dict(defaults.get(corpus, {}).get(row.get("metric"), {}))
    if "seeds" in known:
        known["scatter"] = known.pop("seeds")
    return known | row


def _problem(claim: Claim, tiers: dict[str, int]) -> str:
    """What makes no sense in a row, or ""."""
    if not claim.runs:
        return "" if claim.reason else "a row that is not run needs a reason"
    if claim.tier not in tiers:
        return f"there is no tier {claim.tier!r}"
    if not claim.first or claim.second == "":
        return "a row that is run needs a first and a second system"
    if min(claim.seeds) < 2:
        return "one seed is never enough"
    if len(claim.parts) != (2 if claim.metric == "share" else 1):
        return "a share needs two parts, all else one"
    if claim.expected == "not below" and claim.margin is None:
        return '"not below" needs a margin'
    if claim.kind == "claim" and None in (claim.gap, claim.scatter, claim.sentences):
        return "a claim needs gap, scatter and sentences for its power"
    return ""


# ------------------------------------------------------------------------------------------ power


def power(claim: Claim, seeds: tuple[int, int] | None = None, comparisons: int = 1) -> float:
    """How likely the row is decided, and on the right side, if its gap and scatter are as expected.

    Seeds are drawn from normal distributions (their variances from chi-squared ones), and judged by
    the truth rule at Bonferroni's level for as many comparisons as the group has. Holm's level is
    that or a better one.

    Args:
        claim: a row with gap, scatter and sentences.
        seeds: of both systems; the row's own by default.
        comparisons: in the group.
    """
    rng = np.random.default_rng(SEED)
    alone = isinstance(claim.second, float) or paired(claim)
    counts = np.array((seeds or claim.seeds)[: 1 if alone else 2])[:, None]
    true = claim.scatter**2 / counts
    seen = true * rng.chisquare(counts - 1, size=(len(counts), DRAWS)) / (counts - 1)
    of_seeds = seen.sum(0)
    degrees = of_seeds**2 / (seen**2 / (counts - 1)).sum(0)
    upper = 1 - ALPHA / comparisons / 2
    reach = stdtrit(degrees, upper) ** 2 * of_seeds + ndtri(upper) ** 2 * claim.sentences**2
    bound = -claim.margin if claim.expected == "not below" else 0.0
    shift = abs(claim.gap - bound)
    found = shift + math.sqrt(true.sum() + claim.sentences**2) * rng.normal(size=DRAWS)
    return float((found > np.sqrt(reach)).mean())


def paired(claim: Claim) -> bool:
    """Whether both are the same trained models, searched in two ways."""
    same = str(claim.second).partition("@")[0] == claim.first.partition("@")[0]
    return same and claim.second != claim.first


# -------------------------------------------------------------------------------------- judgement


@dataclass(frozen=True)
class Row:
    """A claim and what came out.

    Attributes:
        claim: the row of the list.
        decision: the truth rule's; None if it was not run.
        seeds: recorded, of both systems.
        means: of both systems over these seeds.
        missing: what is missing, if it was not run; with a decision, what it still waits for.
    """

    claim: Claim
    decision: Decision | None
    seeds: tuple[int, int] = (0, 0)
    means: tuple[float, float] | None = None
    missing: str = ""

    @property
    def verdict(self) -> str:
        """One of the four verdicts, "so far" or "not run". A question is answered, not judged."""
        if self.decision is None:
            return NOT_RUN
        return SO_FAR if self.missing else self.outcome

    @property
    def outcome(self) -> str:
        """What the rule says of a decision, even if seeds are still missing."""
        if self.claim.kind == "claim":
            return self.decision.verdict
        low = self.decision.low
        high = self.decision.high
        if low > 0 or high < 0:
            return "yes" if (low > 0) == (self.claim.expected == "above") else "no"
        return self.decision.verdict

    @property
    def ours(self) -> str:
        """The difference and its interval, with its digits."""
        return self.decision.text(digits(self.claim)) if self.decision else ""


def digits(claim: Claim) -> int:
    """After the point of a difference."""
    return DIGITS.get(claim.metric, 2)


Load = Callable[[str, int], Sequence[Run]]


def recorded(name: str, seeds: int) -> list[Run]:
    """The runs of ``SYSTEM-CORPUS`` that are recorded, in order, up to the first missing one."""
    found: list[Run] = []
    for seed in range(seeds):
        if not (results_folder() / f"{name}-{seed}.json").exists():
            break
        found.append(load_run(f"{name}-{seed}"))
    return found


def judge(
    claims: ClaimList | None = None, load: Load = recorded, known: dict | None = None
) -> list[Row]:
    """Judge every row of the list by the truth rule, in its order.

    A row is judged once both systems have as many seeds as its tier records; more are taken as they
    come, in the order of their numbers, up to the number that was fixed. In each group, Holm's
    correction counts the rows that could be judged.

    Args:
        claims: the list; the book's by default.
        load: from ``SYSTEM-CORPUS`` and a number of seeds to its recorded runs.
        known: systems that were measured already; for several calls with the same ``load``.
    """
    claims = claims or load_claims()
    known = {} if known is None else known
    rows = {claim.id: _measure(claim, claims.tiers, load, known=known) for claim in claims.claims}
    decided: dict[str, Decision] = {}
    for group in dict.fromkeys(claim.group for claim in claims.claims):
        ready = {
            claim.id: rows[claim.id][0]
            for claim in claims.claims
            if claim.group == group and isinstance(rows[claim.id][0], Comparison)
        }
        decided |= dict(zip(ready, decide(list(ready.values())), strict=True))
    return [
        Row(claim, decided[claim.id], *rows[claim.id][1:])
        if claim.id in decided
        else Row(claim, None, missing=rows[claim.id][0])
        for claim in claims.claims
    ]


def so_far(claims: ClaimList | None = None, load: Load = recorded) -> list[Row]:
    """:func:`judge`, with an interval for rows that still wait for seeds but have two of each.

    Such a row has a decision and says in ``missing`` what it waits for. It has no verdict: the
    number of seeds was fixed beforehand, so that nobody stops where the result pleases.
    """
    claims = claims or load_claims()
    few = replace(claims, tiers=dict.fromkeys(claims.tiers, FEWEST))
    known: dict = {}
    both = zip(judge(claims, load, known), judge(few, load, known), strict=True)
    return [row if row.decision else replace(early, missing=row.missing) for row, early in both]


def judge_undertrained(claims: ClaimList | None = None) -> list[Row]:
    """The same list, judged by the runs of the earlier edition, which were trained too little.

    They are no evidence for or against a paper. They show what undertraining makes one believe.
    """
    claims = claims or load_claims()
    few = replace(claims, tiers=dict.fromkeys(claims.tiers, FEWEST))
    return judge(few, lambda name, seeds: undertrained_runs(*name.rsplit("-", 1))[:seeds])


def _measure(claim: Claim, tiers: dict[str, int], load: Load, known: dict) -> tuple:
    """The comparison with its seeds and means; or what is missing, alone. Systems become known."""
    if not claim.runs:
        return (claim.reason,)
    systems = []
    for name, most in zip((claim.first, claim.second), claim.seeds, strict=True):
        if isinstance(name, float):
            systems.append(constant(name))
            continue
        stem, _, search = name.partition("@")
        runs = load(stem, most)
        if len(runs) < min(most, tiers[claim.tier]):
            return (f"{stem} has {len(runs)} of {most} seeds (tier {claim.tier})",)
        key = name, claim.metric, claim.parts, len(runs)
        try:
            known[key] = known.get(key) or _system(claim, runs, search)
        except NotRecorded as error:
            return (str(error),)
        systems.append(known[key])
    first, second = systems
    seeds = tuple(0 if system.fixed else len(system.scores) for system in systems)
    means = first.mean, second.mean
    if paired(claim):
        first = seed_by_seed(first, second)
        second = constant(0)
    expected = {"expected": claim.expected, "margin": claim.margin, "claim": claim.claim}
    return compare(first, second, **expected), seeds, means


def _system(claim: Claim, runs: Sequence[Run], search: str) -> System:
    if claim.metric == "share":
        return measured(runs, "bleu", claim.parts, search=search)
    return measured(runs, claim.metric, claim.parts[0], search=search)


# ----------------------------------------------------------------------------------------- tables


def summary(rows: Sequence[Row], likely: float = 0.8) -> str:
    """How the papers' claims came out, in two sentences of Markdown.

    The second says how many of those that were likely to be decided were decided: with the seeds
    that were recorded, their expected power was ``likely`` or more.
    """
    rows = [row for row in rows if row.claim.kind == "claim"]
    judged = [row for row in rows if row.decision]
    counts = Counter(row.verdict for row in judged)
    verdicts = ", ".join(f"{verdict}: {counts[verdict]}" for verdict in VERDICTS)
    in_group = Counter(row.claim.group for row in judged)
    sure = [
        row
        for row in judged
        if power(row.claim, row.seeds, comparisons=in_group[row.claim.group]) >= likely
    ]
    decided = sum(row.verdict != "undecided" for row in sure)
    return (
        f"{len(rows)} claims of the papers, {len(judged)} of them judged. {verdicts}; "
        f"not run: {len(rows) - len(judged)}. Of the {len(sure)} that were judged with an expected "
        f"power of {likely:.0%}, {decided} are decided."
    )


def verdict_table(rows: Sequence[Row]) -> str:
    """The rows as a Markdown table: the paper's difference beside ours, and the verdict."""
    lines = [
        "| claim | where | theirs | ours | seeds | verdict |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        claim = row.claim
        there = row.claim.their_difference
        theirs = "–" if there is None else f"{there:+.{digits(claim)}f}".replace("-", "−")
        seeds = " and ".join(str(number) for number in row.seeds if number) or "–"
        verdict = row.verdict if row.decision else f"{NOT_RUN}: {row.missing}"
        where = f"{claim.paper}, {claim.place}" + (f"; {claim.also}" if claim.also else "")
        cells = [claim.claim, where, theirs, row.ours or "–", seeds, verdict]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines)
