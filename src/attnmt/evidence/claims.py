"""The frozen list of claims: what the papers say, which comparison decides it, and what came out.

``results/claims.toml`` explains its fields at its head. A claim of kind A is a paper's own
comparison, one of kind B a paper's comparison that we altered; both get a verdict. A question, of
kind Q, gets an interval, but never a verdict. What was not run says why, and what lacks a run
waits::

    for row in judge():
        print(row.claim.claim, row.ours, row.verdict)

The rows of a table are decided together, so the whole list is judged at once, by ``make verdicts``,
into ``results/verdicts.json``. :func:`judge` reads that file; whichever rows a page asks for, their
intervals are those of the whole list.
"""

import hashlib
import json
import math
import tomllib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass as checked

from attnmt.evidence.comparison import (
    ALPHA,
    CORRECTION,
    RESAMPLES,
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
from attnmt.evidence.converged import CLOSE, FALLING, Load, Trained, doubled, trained
from attnmt.evidence.folders import results_folder
from attnmt.evidence.measured import NotRecorded, measured
from attnmt.evidence.plan import read_plan
from attnmt.evidence.power import of_seeds, power
from attnmt.evidence.store import recorded
from attnmt.files import write_aside

NOT_RUN = "not run"
WAITING = "waiting"
NO_VERDICT = "no verdict"  # of a question
DIGITS = {"bleu": 1, "aer": 3, "nats": 3, "cpu_seconds": 0}  # of a difference; else 2
SHOWN_ONLY = ("samples", "curve")  # of a corpus of the plan: they change no score
What = Literal["bleu", "aer", "nats", "share", "length", "monotone", "entropy", "cpu_seconds"]
Kind = Literal["A", "B", "Q"]
KINDS = {
    "A": "The papers' own comparisons",
    "B": "Comparisons of the papers that we altered",
    "Q": "Questions of ours, and our measures of remarks",
}


@checked(frozen=True, config=ConfigDict(extra="forbid"))
class Claim:
    """One row of the list, as its head explains. ``second`` may be a number.

    ``scatter`` (between seeds), ``sentences`` (standard error) and the widest ``margin`` are the
    corpus's defaults unless the row has its own.
    """

    id: str
    kind: Kind
    claim: str
    paper: str
    place: str
    metric: What
    expected: Expected
    group: str
    altered: str = ""
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
    waits: str = ""

    @property
    def runs(self) -> bool:
        """Whether there is a comparison that can be run."""
        return not self.reason

    @property
    def judged(self) -> bool:
        """Whether it gets a verdict, now or once its runs are there."""
        return self.runs and self.kind != "Q"

    @property
    def their_difference(self) -> float | None:
        """The paper's own difference; of perplexities, of their logarithms."""
        if self.theirs is None:
            return None
        second, first = self.theirs
        return math.log(first / second) if self.metric == "nats" else first - second

    @property
    def effect(self) -> float | None:
        """The difference that it looks for, the paper's own or the one that we expect."""
        return self.gap if self.their_difference is None else self.their_difference

    @property
    def comparison(self) -> tuple:
        """What is compared. No two rows have the same."""
        return self.first, self.second, self.parts, self.metric

    @property
    def stems(self) -> list[str]:
        """The systems that are compared, ``SYSTEM-CORPUS``, each once."""
        sides = [side for side in (self.first, self.second) if isinstance(side, str) and side]
        return list(dict.fromkeys(side.partition("@")[0] for side in sides))


@dataclass(frozen=True)
class ClaimList:
    """The list, and the head of its file.

    Attributes:
        claims: in the file's order.
        changes: when the list was frozen, and each change since, with its reason and SHA-256.
    """

    claims: tuple[Claim, ...]
    changes: tuple[dict[str, Any], ...] = ()

    def __getitem__(self, id: str) -> Claim:
        """The claim of this id."""
        return next(claim for claim in self.claims if claim.id == id)

    @property
    def sha256(self) -> str:
        """Of all fields of all rows, of the plan of their systems, and of the rule.

        It is another, once anything has changed that could change a verdict.
        """
        rows = TypeAdapter(tuple[Claim, ...]).dump_python(self.claims, mode="json")
        rule = [ALPHA, CORRECTION, RESAMPLES, SEED, CLOSE, FALLING]
        stems = sorted({stem for claim in self.claims for stem in claim.stems})
        frozen = [rows, [_planned(stem) for stem in stems], rule]
        return hashlib.sha256(json.dumps(frozen, sort_keys=True).encode()).hexdigest()


def _planned(stem: str) -> list:
    """What ``runs.toml`` says of a system and of its corpus, as far as scores depend on it."""
    system, _, corpus = stem.rpartition("-")
    plan = read_plan()
    shared = plan["corpora"].get(corpus, {})
    of_corpus = {key: value for key, value in shared.items() if key not in SHOWN_ONLY}
    return [stem, plan["systems"].get(system), of_corpus]


def load_claims(path: Path | None = None) -> ClaimList:
    """Read and check the frozen list.

    Raises:
        ValueError: a field that is missing, unknown or makes no sense; the message names the row.
    """
    path = path or results_folder() / "claims.toml"
    file = tomllib.loads(path.read_text(encoding="utf-8"))
    claims = []
    for row in file["claims"]:
        try:
            claim = TypeAdapter(Claim).validate_python(_with_defaults(row, file["defaults"]))
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(str(part) for part in first["loc"])
            name = row.get("id", "a row without id")
            raise ValueError(f"{path.name}, {name}: {place}: {first['msg']}") from error
        if problem := _problem(claim):
            raise ValueError(f"{path.name}, {claim.id}: {problem}")
        claims.append(_with_margin(claim))
    for what in ("id", "comparison"):
        values = [getattr(claim, what) for claim in claims if what == "id" or claim.runs]
        if twice := {str(value) for value in values if values.count(value) > 1}:
            raise ValueError(f"{path.name}: the same {what} in two rows: {', '.join(twice)}")
    return ClaimList(tuple(claims), tuple(file["changes"]))


def corpus_in_name(system: str) -> str:
    """The corpus in ``SYSTEM-CORPUS`` or ``SYSTEM-CORPUS@SEARCH``."""
    return system.partition("@")[0].rpartition("-")[2]


def _with_defaults(row: dict, defaults: dict) -> dict:
    """A row with the margin and scatter of its corpus and metric, unless it has its own."""
    if row.get("kind") == "Q":
        return row
    corpus = corpus_in_name(str(row.get("first", "")))
    corpus = corpus if corpus in defaults else corpus.rstrip("0123456789")
    known = dict(defaults.get(corpus, {}).get(row.get("metric"), {}))
    if "seeds" in known:
        known["scatter"] = known.pop("seeds")
    return known | row


def _with_margin(claim: Claim) -> Claim:
    """A margin that is no wider than half of the effect."""
    if claim.margin is None:
        return claim
    return replace(claim, margin=min(claim.margin, abs(claim.effect) / 2))


def _problem(claim: Claim) -> str:
    """What makes no sense in a row, or ""."""
    if claim.kind == "B" and not claim.altered:
        return 'kind B needs "altered": what differs from the paper\'s comparison'
    if claim.kind == "A" and claim.altered:
        return "a comparison that was altered is of kind B"
    if not claim.first:
        return "" if claim.reason else "a row that is not run needs a reason"
    if claim.reason:
        return "a row with a reason why it is not run compares nothing"
    if claim.second == "":
        return "a row that is run needs a first and a second system"
    sides = zip((claim.first, claim.second), claim.seeds, strict=True)
    if any((number != 0) if isinstance(side, float) else (number < 2) for side, number in sides):
        return "a system needs two seeds or more, a number 0"
    if len(claim.parts) != (2 if claim.metric == "share" else 1):
        return "a share needs two parts, all else one"
    if claim.judged and None in (claim.gap, claim.margin, claim.scatter, claim.sentences):
        return "kinds A and B need gap, margin, scatter and sentences"
    return ""


def paired(claim: Claim) -> bool:
    """Whether both are the same trained models, searched in two ways."""
    return len(claim.stems) == 1 and isinstance(claim.second, str)


Scatter = tuple[
    list[Term], Term
]  # of each system's mean over seeds; of the difference over sentences


def power_of(claim: Claim, comparisons: int = 1, seen: Scatter | None = None) -> float:
    """How likely the row is decided on the side of its gap, by :func:`.power`.

    Args:
        claim: a row of kind A or B.
        comparisons: in the group.
        seen: the scatter that was seen; the expected one by default.
    """
    bound = -claim.margin if claim.expected == "not below" else 0.0
    counts = claim.seeds[:1] if paired(claim) else claim.seeds
    expected = of_seeds(claim.scatter, counts), Term(claim.sentences**2)
    return power(claim.gap - bound, *(seen or expected), comparisons)


# -------------------------------------------------------------------------------------- judgement


@dataclass(frozen=True)
class Row:
    """A claim and what came out.

    Attributes:
        claim: the row of the list.
        decision: the truth rule's; None if it was not run, or waits.
        means: of both systems over their seeds.
        missing: what is missing, if it has no decision.
        power: that was expected of a row of kind A or B, in its group.
        power_seen: the same by the scatter that was seen.
        trained: each of its systems, once: cost and convergence.
    """

    claim: Claim
    decision: Decision | None
    means: tuple[float, float] | None = None
    missing: str = ""
    power: float | None = None
    power_seen: float | None = None
    trained: tuple[Trained, ...] = ()

    @property
    def verdict(self) -> str:
        """One of the four verdicts; "waiting" or "not run"; or "no verdict", of a question."""
        if self.decision is None:
            return NOT_RUN if self.claim.reason else WAITING
        return self.decision.verdict if self.claim.judged else NO_VERDICT

    @property
    def said(self) -> str:
        """The verdict with its condition; the power beside *undecided* and *waiting*."""
        if self.decision is None:
            likely = "" if self.power is None else f" (power {self.power:.0%})"
            return f"{self.verdict}: {self.missing}{likely}"
        if self.verdict == "undecided":
            return f"undecided (power {self.power:.0%}; by the scatter seen {self.power_seen:.0%})"
        if self.claim.judged and any(one.found_with_dot for one in self.trained):
            return f"{self.verdict}, under a recipe found with dot"
        return self.verdict

    @property
    def ours(self) -> str:
        """The difference and its interval, with its digits."""
        return self.decision.text(digits(self.claim)) if self.decision else ""


def digits(claim: Claim) -> int:
    """After the point of a difference."""
    return DIGITS.get(claim.metric, 2)


def judge(ids: Iterable[str] | None = None) -> list[Row]:
    """Rows of the list, in its order, as they were judged with all other rows of their groups.

    Args:
        ids: of the rows that are wanted; all by default.

    Raises:
        ValueError: the verdicts are older than what they were judged from; an unknown id.
    """
    rows = read_verdicts()
    if ids is None:
        return rows
    wanted = set(ids)
    if unknown := wanted - {row.claim.id for row in rows}:
        raise ValueError(f"claims.toml has no {', '.join(sorted(unknown))}")
    return [row for row in rows if row.claim.id in wanted]


def judge_runs(claims: ClaimList | None = None, load: Load = recorded) -> list[Row]:
    """Judge every row of a list by the truth rule, in its order, from the runs themselves.

    A row is judged once both systems have the seeds that it names, by the first so many. In each
    group, Holm's correction counts all rows that get a verdict, now or later. An interval of a
    question stands on its own.

    Args:
        claims: the list; the book's by default.
        load: from ``SYSTEM-CORPUS`` and a number of seeds to its recorded runs.
    """
    claims = claims or load_claims()
    sides = Sides(load)
    found: dict[str, Found] = {}
    missing: dict[str, str] = {}
    for claim in claims.claims:
        try:
            found[claim.id] = _compared(claim, sides)
        except NotRecorded as error:
            missing[claim.id] = str(error)
    families = Counter(claim.group for claim in claims.claims if claim.judged)
    decisions: dict[str, Decision] = {}
    for group, size in families.items():
        ready = [c.id for c in claims.claims if c.group == group and c.judged and c.id in found]
        decided = decide([found[id].comparison for id in ready], waiting=size - len(ready))
        decisions.update(zip(ready, decided, strict=True))
    rows = []
    for claim in claims.claims:
        size = families[claim.group]
        power = power_of(claim, size) if claim.judged else None
        if claim.id in missing:
            rows.append(Row(claim, None, missing=missing[claim.id], power=power))
            continue
        one = found[claim.id]
        seen = power_of(claim, size, one.scatter) if claim.judged else None
        decision = decisions.get(claim.id) or decide([one.comparison])[0]
        rows.append(Row(claim, decision, one.means, "", power, seen, one.trained))
    return rows


class Sides:
    """The systems that claims name, by their recorded runs; each is measured once."""

    def __init__(self, load: Load):
        self.load = cache(load)
        self.measured = cache(self._measured)
        self.trained = cache(self._trained)

    def _measured(self, name: str, seeds: int, metric: What, parts: tuple[str, ...]) -> System:
        """``SYSTEM-CORPUS`` or ``SYSTEM-CORPUS@SEARCH``; NotRecorded if it lacks something."""
        stem, _, search = name.partition("@")
        runs = self.load(stem, seeds)
        if len(runs) < seeds:
            raise NotRecorded(f"{stem} has {len(runs)} of {seeds} seeds")
        if metric == "share":
            return measured(runs, "bleu", parts, search=search)
        return measured(runs, metric, parts[0], search=search)

    def _trained(self, stem: str, seeds: int) -> Trained:
        return trained(stem, self.load(stem, seeds), self.load)


class Found(NamedTuple):
    """What the runs of a claim say before it is decided; see :class:`Row`."""

    comparison: Comparison
    means: tuple[float, float]
    trained: tuple[Trained, ...]
    scatter: Scatter


def _compared(claim: Claim, sides: Sides) -> Found:
    """Raises NotRecorded, which says what is missing."""
    if not claim.runs or claim.waits:
        raise NotRecorded(claim.reason or claim.waits)
    systems = []
    costs: dict[str, Trained] = {}
    for side, seeds in zip((claim.first, claim.second), claim.seeds, strict=True):
        if isinstance(side, float):
            systems.append(constant(side))
            continue
        systems.append(sides.measured(side, seeds, claim.metric, claim.parts))
        stem = side.partition("@")[0]
        costs[stem] = sides.trained(stem, seeds)
    first, second = systems
    means = first.mean, second.mean
    if paired(claim):
        first = seed_by_seed(first, second)
        second = constant(0)
    one = compare(first, second, expected=claim.expected, margin=claim.margin, claim=claim.claim)
    of_systems = [
        Term(system.seed_variance, len(system.scores) - 1)
        for system in (first, second)
        if not system.fixed
    ]
    return Found(one, means, tuple(costs.values()), (of_systems, one.sentences))


# --------------------------------------------------------------------------------------- verdicts

PRECISION = 9  # significant digits of the file, so that it is the same on every machine


def fingerprint() -> str:
    """SHA-256 of what the verdicts rest on: the list, the plan, and the runs that the list names.

    Of a run that is its file and, where they were kept, the statistics of its sentences; and the
    file of the run with twice the updates.
    """
    folder = results_folder()
    digest = hashlib.sha256()
    for name in ("claims.toml", "runs.toml"):
        digest.update((folder / name).read_text(encoding="utf-8").encode())
    rows = tomllib.loads((folder / "claims.toml").read_text(encoding="utf-8"))["claims"]
    sides = [row.get(side) for row in rows for side in ("first", "second")]
    for stem in sorted({side.partition("@")[0] for side in sides if isinstance(side, str)}):
        for run in sorted(folder.glob(f"{stem}-?.json")):
            digest.update(run.name.encode() + run.read_text(encoding="utf-8").encode())
            kept = folder / "sentences" / f"{run.stem}.npz"
            digest.update(kept.read_bytes() if kept.exists() else b"")
        for run in sorted(folder.glob(f"{doubled(stem)}-?.json")):
            digest.update(run.name.encode() + run.read_text(encoding="utf-8").encode())
    return digest.hexdigest()


def write_verdicts(path: Path | None = None) -> Path:
    """Judge the whole list and write it down; the command is ``make verdicts``."""
    path = path or results_folder() / "verdicts.json"
    found = {row.claim.id: _written(row) for row in judge_runs()}
    text = json.dumps({"judged_from": fingerprint(), "rows": found}, indent=1, ensure_ascii=False)
    write_aside(path, text.encode() + b"\n")
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
    written: dict[str, Any] = {"verdict": row.verdict}
    for name, value in (("power", row.power), ("power_seen", row.power_seen)):
        if value is not None:
            written[name] = round(value, 3)
    if (decision := row.decision) is None:
        return written | {"missing": row.missing}
    one = decision.comparison
    written |= {
        "decision": decision.verdict,
        "difference": _rounded(one.difference),
        "interval": [_rounded(decision.low), _rounded(decision.high)],
        "level": _rounded(decision.level),
        "means": [_rounded(mean) for mean in row.means],
        "covers": one.covers,
    }
    for name, term in {"over_seeds": one.seeds, "over_sentences": one.sentences}.items():
        degrees = None if math.isinf(term.degrees) else _rounded(term.degrees)
        written[name] = {"variance": _rounded(term.variance), "degrees": degrees}
    sides = [asdict(one) | {"cpu_seconds": round(one.cpu_seconds)} for one in row.trained]
    return written | {"trained": sides}


def _rounded(value: float) -> float:
    return float(f"{value:.{PRECISION}g}")


def _read(claim: Claim, row: dict[str, Any]) -> Row:
    likely = {name: row.get(name) for name in ("power", "power_seen")}
    if "decision" not in row:
        return Row(claim, None, missing=row["missing"], **likely)
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
    sides = tuple(Trained(**side) for side in row["trained"])
    return Row(claim, decision, (first, second), trained=sides, **likely)


# ----------------------------------------------------------------------------------------- tables

LIKELY = 0.8  # the power that a comparison should have


def likely_decided(rows: Sequence[Row], kind: Kind = "A") -> tuple[int, int]:
    """How many judged rows of a kind had an expected power of 80%; how many of them are decided."""
    sure = [row for row in rows if row.claim.kind == kind and row.decision and row.claim.judged]
    sure = [row for row in sure if row.power >= LIKELY]
    return len(sure), sum(row.verdict != "undecided" for row in sure)


def summary(rows: Sequence[Row]) -> str:
    """How the rows came out, as a list in Markdown: kind A, then kind B, never both in one number.

    Of those that were likely to be decided it says how many were decided.
    """
    lines = []
    for kind in ("A", "B"):
        some = [row for row in rows if row.claim.kind == kind]
        counts = Counter(row.verdict for row in some)
        said = ", ".join(
            f"{verdict}: {counts[verdict]}" for verdict in (*VERDICTS, WAITING, NOT_RUN)
        )
        sure, decided = likely_decided(rows, kind)
        lines.append(
            f"- **{kind}. {KINDS[kind]}**: {len(some)}. {said}. Of the {sure} that were judged "
            f"with an expected power of {LIKELY:.0%} or more, {decided} are decided."
        )
    questions = sum(row.claim.kind == "Q" for row in rows)
    lines.append(f"- **Q. {KINDS['Q']}**: {questions}. They have numbers and no verdict.")
    return "\n".join(lines)


def verdict_table(rows: Sequence[Row]) -> str:
    """The rows as a Markdown table: the paper's difference beside ours, the verdict, the cost."""
    head = ("claim", "kind", "verdict", "theirs", "ours", "seeds", "trained", "where")
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for row in rows:
        claim = row.claim
        there = claim.their_difference
        theirs = "–" if there is None else f"{there:+.{digits(claim)}f}".replace("-", "−")
        cells = [
            claim.claim,
            claim.kind + (f": {claim.altered}" if claim.altered else ""),
            row.said,
            theirs,
            row.ours or "–",
            " and ".join(str(number) for number in claim.seeds if number) or "–",
            ". ".join(one.text for one in row.trained) or "–",
            f"{claim.paper}, {claim.place}" + (f"; {claim.also}" if claim.also else ""),
        ]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(write_verdicts())
