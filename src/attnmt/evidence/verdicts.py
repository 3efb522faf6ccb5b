"""How the claims came out: recorded systems are measured, compared, and the whole list is judged.

The rows of a table are decided together, so the whole list is judged at once, by ``make verdicts``,
into ``results/verdicts.json``. :func:`judge` reads that file; whichever rows a page asks for, their
intervals are those of the whole list::

    for row in judge():
        print(row.claim.claim, row.ours, row.verdict)

Chapters and claims come to their numbers by :func:`measured`; what it returns can be compared by
the rule of :mod:`.comparison`.
"""

import hashlib
import json
import math
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from attnmt.checks import one_of
from attnmt.evidence.claims import Claim, ClaimList, What, load_claims, power_of
from attnmt.evidence.comparison import (
    AER,
    BLEU_SCORE,
    LENGTH,
    NATS,
    PERPLEXITY,
    Comparison,
    Decision,
    Metric,
    System,
    Term,
    by_scores,
    by_sentences,
    compare,
    constant,
    decide,
    ratio,
    seed_by_seed,
    share,
)
from attnmt.evidence.plan import results_folder
from attnmt.evidence.store import (
    PAIRS,
    Load,
    Run,
    Trained,
    doubled,
    load_statistics,
    recorded,
    trained,
)
from attnmt.files import write_aside
from attnmt.metrics import chrf_of

NOT_RUN = "not run"
WAITING = "waiting"
NO_VERDICT = "no verdict"  # of a question
DIGITS = {"bleu": 1, "aer": 3, "nats": 3, "cpu_seconds": 0}  # of a difference; else 2
PRECISION = 9  # significant digits of verdicts.json, so that it is the same on every machine

# ---------------------------------------------------------------------------------------- systems


METRICS = {
    "bleu": BLEU_SCORE,
    "chrf": Metric("chrF", 18, 1, score=chrf_of),
    "aer": AER,
    "perplexity": PERPLEXITY,
    "nats": NATS,
    "length": LENGTH,
    "monotone": Metric("steps that do not go back", 2, None, score=ratio),
    "entropy": Metric("bits of a word's weights", 2, None, score=ratio),
}
KEPT_AS = {"perplexity": "losses", "nats": "losses", "length": "bleu"}  # else: as the metric
Parts = str | Sequence[str]


class NotRecorded(ValueError):
    """What was asked for is not in a run."""


def measured(
    runs: Sequence[Run], what: str = "bleu", part: Parts = "test", *, search: str = ""
) -> System:
    """The system of some runs that differ in the seed alone.

    Args:
        runs: one for each seed.
        what: "bleu" or "chrf"; "aer", "perplexity" or "nats" (its logarithm), where lower is
            better; "length" of the translations per word of the references; "monotone" or
            "entropy" of alignments; or "cpu_seconds" of training.
        part: "test", "long" or "names"; with lengths of the source in words, such as
            "test:6-10", only those sentences; "test:known" only those without unknown words. Two
            parts: the share of the first one's score that is kept in the second.
        search: "" for the greedy search of all runs, or the name of another.

    Raises:
        ValueError: another name, or fewer than two runs.
        NotRecorded: what was asked for is not in the runs; the message says what is missing.
    """
    one_of((*METRICS, "cpu_seconds"), what=what)
    if what == "cpu_seconds":
        return by_scores([run.history.cpu_seconds for run in runs])
    parts = (part,) if isinstance(part, str) else tuple(part)
    arrays = [[sentences(run, each, what, search=search) for each in parts] for run in runs]
    metric = METRICS[what]
    return by_sentences(arrays, metric if len(parts) == 1 else share(metric))


def sentences(run: Run, part: str, what: str, search: str = "") -> np.ndarray:
    """A run's statistics (sentences, k) of a part of the test set, as of :func:`measured`.

    The arrays are those of :func:`.load_statistics`. The alignment error of captions is of the
    pairs with gold links, which are a part of test.

    Raises:
        NotRecorded: they were not kept.
    """
    arrays = _statistics(run.name)
    name, _, chosen = part.partition(":")
    key = "_".join(filter(None, [name, search, KEPT_AS.get(what, what)]))
    if key == "test_aer" and key not in arrays:
        key = "gold_aer"
    needed = [key, f"{name}_known"] if chosen == "known" else [key]
    if not all(one in arrays for one in needed):
        how = f" with the search {search!r}" if search else ""
        raise NotRecorded(f"{run.name}: no {what} of {part!r}{how} was recorded")
    if not chosen:
        return arrays[key]
    if chosen == "known":
        return arrays[key][arrays[f"{name}_known"].astype(bool)]
    shortest, longest = (int(end) for end in chosen.split("-"))
    lengths = arrays[f"{name}_length"]
    return arrays[key][(lengths >= shortest) & (lengths <= longest)]


_statistics = lru_cache(maxsize=256)(load_statistics)


# ------------------------------------------------------------------------------------ judgement


@dataclass(frozen=True)
class Row:
    """A claim and what came out."""

    claim: Claim  #: the row of the list.
    decision: Decision | None  #: the truth rule's; None if it was not run, or waits.
    means: tuple[float, float] | None = None  #: of both systems over their seeds.
    missing: str = ""  #: what is missing, if it has no decision.
    power: float | None = None  #: that was expected of a row of kind A or B, in its group.
    power_seen: float | None = None  #: the same by the scatter that was seen.
    trained: tuple[Trained, ...] = ()  #: cost, trials and convergence of its systems, each once.
    #: the difference after twice the updates, if both systems were trained so.
    doubled: float | None = None

    @property
    def verdict(self) -> str:
        """One of the four verdicts; "waiting" or "not run"; or "no verdict", of a question."""
        if self.decision is None:
            return NOT_RUN if self.claim.reason else WAITING
        return self.decision.verdict if self.claim.judged else NO_VERDICT

    @property
    def verdict_in_full(self) -> str:
        """The verdict and which sides had trials; the power beside *undecided* and *waiting*."""
        likely = f" (power {self.least_power:.0%})" if self.power is not None else ""
        if self.decision is None:
            return f"{self.verdict}: {self.missing}{likely}"
        if not self.claim.judged:
            return self.verdict
        full = self.verdict + (likely if self.verdict == "undecided" else "")
        full += f"; trials: {self.trials}"
        return f"outside the tally ({self.claim.outside}); {full}" if self.claim.outside else full

    @property
    def least_power(self) -> float | None:
        """The lesser of the powers by the scatter that was expected and that was seen."""
        return min((one for one in (self.power, self.power_seen) if one is not None), default=None)

    @property
    def trials(self) -> str:
        """Which sides have a recipe that trials of their own found."""
        own = sum(one.own_trials for one in self.trained)
        return "both sides" if own == len(self.trained) else "one side" if own else "neither side"

    @property
    def theirs_lies(self) -> str:
        """Whether the paper's number is inside, above or below our interval; "" without one."""
        number = self.claim.their_difference
        if number is None or self.decision is None:
            return ""
        return lies(number, self.decision.low, self.decision.high)

    @property
    def ours(self) -> str:
        """The difference and its interval, with its digits."""
        return self.decision.text(digits(self.claim)) if self.decision else ""


def lies(number: float, low: float, high: float) -> str:
    """Where a number is: inside, above or below an interval."""
    return "below" if number < low else "above" if number > high else "inside"


def digits(claim: Claim) -> int:
    """After the point of a difference."""
    return DIGITS.get(claim.metric, 2)


def judge(ids: Iterable[str] | None = None, path: Path | None = None) -> list[Row]:
    """Rows of the list, in its order, as they were judged with all other rows of their groups.

    They are read, in milliseconds, from the file that :func:`write_verdicts` wrote.

    Raises:
        ValueError: that is missing, or older than what it was judged from; an unknown id.
    """
    path = path or results_folder() / "verdicts.json"
    file = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    if file.get("judged_from") != fingerprint():
        why = "is older than the claims or runs that it was judged from" if file else "is missing"
        raise ValueError(f"results/{path.name} {why}; run: make verdicts")
    claims = {claim.id: claim for claim in load_claims().claims}
    wanted = claims.keys() if ids is None else set(ids)
    if unknown := wanted - claims.keys():
        raise ValueError(f"claims.toml has no {', '.join(sorted(unknown))}")
    return [_row(claim, file["rows"][id]) for id, claim in claims.items() if id in wanted]


def judge_runs(claims: ClaimList | None = None, load: Load = recorded) -> list[Row]:
    """Judge every row of a list by the truth rule, in its order, from the runs themselves.

    A row is judged once both systems have the seeds that it names, by the first so many. In each
    group, Holm's correction counts all rows that get a verdict, now or later. An interval of a
    question stands on its own.
    """
    claims = claims or load_claims()
    families = Counter(claim.group for claim in claims.claims if claim.judged)
    load = cache(load)
    side = cache(partial(_side, load))  # each system is measured once
    rows = {claim.id: _alone(claim, families[claim.group], load, side) for claim in claims.claims}
    for group, size in families.items():
        ready = {
            id: row.decision.comparison
            for id, row in rows.items()
            if row.claim.group == group and row.claim.judged and row.decision
        }
        decided = decide(list(ready.values()), waiting=size - len(ready))
        for id, decision in zip(ready, decided, strict=True):
            rows[id] = replace(rows[id], decision=decision)
    return list(rows.values())


def _alone(claim: Claim, family: int, load: Load, measured_side: Callable[..., System]) -> Row:
    """A row as if it were the only one of its group; what is missing, where something is.

    ``family`` rows of the group get a verdict, so many does its power count.
    """
    row = Row(claim, None, power=power_of(claim, family) if claim.judged else None)
    if claim.reason or claim.waits:
        return replace(row, missing=claim.reason or claim.waits)
    sides = zip((claim.first, claim.second), claim.seeds, strict=True)
    try:
        first, second = (measured_side(*side, claim.metric, claim.parts) for side in sides)
    except NotRecorded as error:
        return replace(row, missing=str(error))
    means = first.mean, second.mean
    if claim.paired:
        first, second = seed_by_seed(first, second), constant(0)
    one = compare(first, second, expected=claim.expected, margin=claim.margin, claim=claim.claim)
    systems = [system for system in (first, second) if not system.fixed]
    scatter = [Term(each.seed_variance, len(each.scores) - 1) for each in systems], one.sentences
    stems = zip(claim.stems, claim.seeds, strict=False)  # one stem where the other is a number
    return replace(
        row,
        decision=decide([one])[0],
        means=means,
        power_seen=power_of(claim, family, scatter) if claim.judged else None,
        trained=tuple(trained(stem, load(stem, seeds), load) for stem, seeds in stems),
        doubled=_doubled(claim, load),
    )


def _side(load: Load, side: str | float, seeds: int, metric: What, parts: Sequence[str]) -> System:
    """Of a number, of ``SYSTEM-CORPUS`` or ``SYSTEM-CORPUS@SEARCH``.

    Raises:
        NotRecorded: it lacks something.
    """
    if isinstance(side, float):
        return constant(side)
    stem, _, search = side.partition("@")
    runs = load(stem, seeds)
    if len(runs) < seeds:
        raise NotRecorded(f"{stem} has {len(runs)} of {seeds} seeds")
    return measured(runs, "bleu" if metric == "share" else metric, parts, search=search)


def _doubled(claim: Claim, load: Load) -> float | None:
    """The difference on the test set after twice the updates; None if a system lacks the runs."""
    score = {"bleu": lambda run: run.bleu.score, "nats": lambda run: math.log(run.test_perplexity)}
    if claim.metric not in score or claim.parts != ("test",) or "@" in claim.first:
        return None
    twice = [load(doubled(stem), PAIRS) for stem in claim.stems]
    if len(twice) < 2 or any(len(runs) < PAIRS for runs in twice):
        return None
    first, second = (float(np.mean([score[claim.metric](r) for r in runs])) for runs in twice)
    return first - second


# ------------------------------------------------------------------------------------ the file


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
    found = {row.claim.id: _stored(row) for row in judge_runs()}
    text = json.dumps({"judged_from": fingerprint(), "rows": found}, indent=1, ensure_ascii=False)
    write_aside(path, text.encode() + b"\n")
    return path


def _stored(row: Row) -> dict[str, Any]:
    """A row for the file. Its two terms are what a reader needs to decide its group again."""
    powers = {"power": row.power, "power_seen": row.power_seen}
    stored: dict[str, Any] = {"verdict": row.verdict}
    stored |= {name: round(value, 3) for name, value in powers.items() if value is not None}
    if row.decision is None:
        return stored | {"missing": row.missing}
    one = row.decision.comparison
    numbers = {
        "decision": row.decision.verdict,
        "difference": one.difference,
        "interval": [row.decision.low, row.decision.high],
        "level": row.decision.level,
        "means": row.means,
        "covers": one.covers,
        "over_seeds": asdict(one.seeds),
        "over_sentences": asdict(one.sentences) | {"degrees": float(one.sentences.degrees)},
        "trained": [asdict(t) | {"cpu_seconds": round(t.cpu_seconds)} for t in row.trained],
        "doubled": row.doubled,
    }
    return stored | _rounded(numbers)


def _rounded(value: Any) -> Any:
    """With all its numbers rounded; JSON has no infinity, so degrees without end are None."""
    match value:
        case float():
            return None if math.isinf(value) else float(f"{value:.{PRECISION}g}")
        case dict():
            return {name: _rounded(each) for name, each in value.items()}
        case list() | tuple():
            return [_rounded(each) for each in value]
    return value


def _row(claim: Claim, stored: dict[str, Any]) -> Row:
    """What :func:`_stored` wrote."""
    powers = {name: stored.get(name) for name in ("power", "power_seen")}
    if "decision" not in stored:
        return Row(claim, None, missing=stored["missing"], **powers)
    terms = [stored["over_seeds"], stored["over_sentences"]]
    one = Comparison(
        stored["difference"],
        *(Term(term["variance"], term["degrees"] or math.inf) for term in terms),
        covers=stored["covers"],
        expected=claim.expected,
        margin=claim.margin,
        claim=claim.claim,
    )
    decision = Decision(one, stored["level"], *stored["interval"], verdict=stored["decision"])
    sides = tuple(Trained(**side) for side in stored["trained"])
    twice = stored["doubled"]
    return Row(claim, decision, tuple(stored["means"]), trained=sides, doubled=twice, **powers)


if __name__ == "__main__":
    print(write_verdicts())
