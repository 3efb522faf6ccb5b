"""The frozen list of claims: what the papers say, which comparison decides it, and what came out.

``results/claims.toml`` was written before the runs that decide it. Its head explains the fields. A
*claim* is a paper's own and gets a verdict; a *question* is ours and gets an interval, but never a
verdict on a paper. What was not run says so and has no verdict::

    for row in judge():
        print(row.claim.claim, row.ours, row.verdict)

The rows of a table are decided together, so the whole list is judged at once, by ``make verdicts``,
into ``results/verdicts.json``. :func:`judge` and :func:`so_far` read that file; whichever rows a
page asks for, their intervals are those of the whole list.
"""

import hashlib
import json
import math
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
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
    Term,
    compare,
    constant,
    decide,
    seed_by_seed,
)
from attnmt.evidence.measured import NotRecorded, measured
from attnmt.evidence.runs import Run, load_run, results_folder

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
        power: that was expected of a claim with these seeds, in its group.
    """

    claim: Claim
    decision: Decision | None
    seeds: tuple[int, int] = (0, 0)
    means: tuple[float, float] | None = None
    missing: str = ""
    power: float | None = None

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


def judge(ids: Iterable[str] | None = None) -> list[Row]:
    """Rows of the list, in its order, as they were judged with all other rows of their groups.

    Args:
        ids: of the rows that are wanted; all by default.

    Raises:
        ValueError: the verdicts are older than what they were judged from; an unknown id.
    """
    rows = so_far(ids)
    return [Row(row.claim, None, missing=row.missing) if row.missing else row for row in rows]


def so_far(ids: Iterable[str] | None = None) -> list[Row]:
    """:func:`judge`, with an interval for rows that still wait for seeds but have two of each.

    Such a row has a decision and says in ``missing`` what it waits for. It has no verdict: the
    number of seeds was fixed beforehand, so that nobody stops where the result pleases.
    """
    rows = read_verdicts()
    if ids is None:
        return rows
    wanted = set(ids)
    if unknown := wanted - {row.claim.id for row in rows}:
        raise ValueError(f"claims.toml has no {', '.join(sorted(unknown))}")
    return [row for row in rows if row.claim.id in wanted]


def judge_runs(
    claims: ClaimList | None = None, load: Load = recorded, known: dict | None = None
) -> list[Row]:
    """Judge every row of a list by the truth rule, in its order, from the runs themselves.

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
    judged: dict[str, Row] = {}
    for group in dict.fromkeys(claim.group for claim in claims.claims):
        ready = [
            claim
            for claim in claims.claims
            if claim.group == group and isinstance(rows[claim.id][0], Comparison)
        ]
        decisions = decide([rows[claim.id][0] for claim in ready])
        for claim, decision in zip(ready, decisions, strict=True):
            _, seeds, means = rows[claim.id]
            likely = power(claim, seeds, len(ready)) if claim.kind == "claim" else None
            judged[claim.id] = Row(claim, decision, seeds, means, power=likely)
    return [
        judged.get(claim.id) or Row(claim, None, missing=rows[claim.id][0])
        for claim in claims.claims
    ]


def judge_runs_so_far(claims: ClaimList | None = None, load: Load = recorded) -> list[Row]:
    """:func:`so_far`, from the runs themselves."""
    claims = claims or load_claims()
    few = replace(claims, tiers=dict.fromkeys(claims.tiers, FEWEST))
    known: dict = {}
    both = zip(judge_runs(claims, load, known), judge_runs(few, load, known), strict=True)
    return [row if row.decision else replace(early, missing=row.missing) for row, early in both]


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


# --------------------------------------------------------------------------------------- verdicts

PRECISION = 9  # significant digits of the file, so that it is the same on every machine


def fingerprint() -> str:
    """SHA-256 of what the verdicts rest on: the list, the plan, and the runs that the list names.

    Of a run that is its file and, where they were kept, the statistics of its sentences.
    """
    folder = results_folder()
    digest = hashlib.sha256()
    for name in ("claims.toml", "runs.toml"):
        digest.update((folder / name).read_text(encoding="utf-8").encode())
    text = (folder / "claims.toml").read_text(encoding="utf-8")
    rows = [row for row in tomllib.loads(text)["claims"] if row["tier"] != "none"]
    sides = [side for row in rows for side in (row["first"], row["second"])]
    for system in sorted({side.partition("@")[0] for side in sides if isinstance(side, str)}):
        for run in sorted(folder.glob(f"{system}-?.json")):
            digest.update(run.name.encode() + run.read_text(encoding="utf-8").encode())
            kept = folder / "sentences" / f"{run.stem}.npz"
            digest.update(kept.read_bytes() if kept.exists() else b"")
    return digest.hexdigest()


def write_verdicts(path: Path | None = None) -> Path:
    """Judge the whole list and write it down; the command is ``make verdicts``."""
    path = path or results_folder() / "verdicts.json"
    rows = judge_runs_so_far()
    found = {row.claim.id: _written(row) for row in rows}
    text = json.dumps({"judged_from": fingerprint(), "rows": found}, indent=1, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8", newline="\n")
    return path


def read_verdicts(path: Path | None = None) -> list[Row]:
    """The whole list as it was judged, in milliseconds.

    Raises:
        ValueError: the file is older than what it was judged from, or is missing.
    """
    path = path or results_folder() / "verdicts.json"
    file = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    if file.get("judged_from") != fingerprint():
        why = "is older than the claims or runs that it was judged from" if file else "is missing"
        raise ValueError(f"results/{path.name} {why}; run: make verdicts")
    return [_read(claim, file["rows"][claim.id]) for claim in load_claims().claims]


def _written(row: Row) -> dict[str, Any]:
    """A row for the file. Its two terms are what a reader needs to decide its group again."""
    if (decision := row.decision) is None:
        return {"verdict": row.verdict, "missing": row.missing}
    one = decision.comparison
    terms = {"over_seeds": one.seeds, "over_sentences": one.sentences}
    written = {
        "verdict": row.verdict,
        "missing": row.missing,
        "decision": decision.verdict,
        "difference": _rounded(one.difference),
        "interval": [_rounded(decision.low), _rounded(decision.high)],
        "level": _rounded(decision.level),
        "seeds": row.seeds,
        "means": [_rounded(mean) for mean in row.means],
        "covers": one.covers,
    }
    for name, term in terms.items():
        degrees = None if math.isinf(term.degrees) else _rounded(term.degrees)
        written[name] = {"variance": _rounded(term.variance), "degrees": degrees}
    if row.power is not None:
        written["power"] = round(row.power, 3)
    return written


def _rounded(value: float) -> float:
    return float(f"{value:.{PRECISION}g}")


def _read(claim: Claim, row: dict[str, Any]) -> Row:
    if "decision" not in row:
        return Row(claim, None, missing=row["missing"])
    seeds, sentences = (
        Term(term["variance"], math.inf if term["degrees"] is None else term["degrees"])
        for term in (row["over_seeds"], row["over_sentences"])
    )
    one = Comparison(
        difference=row["difference"],
        seeds=seeds,
        sentences=sentences,
        covers=row["covers"],
        expected=claim.expected,
        margin=claim.margin,
        claim=claim.claim,
    )
    low, high = row["interval"]
    decision = Decision(one, row["level"], low, high=high, verdict=row["decision"])
    first, second = row["means"]
    power_of = row.get("power")
    return Row(claim, decision, tuple(row["seeds"]), (first, second), row["missing"], power_of)


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
    sure = [row for row in judged if row.power >= likely]
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


if __name__ == "__main__":
    print(write_verdicts())
