"""The list of claims: what the papers say, and which comparison decides it.

``results/claims.toml`` explains its fields at its head. A claim of kind A is a paper's own
comparison, one of kind B a paper's comparison that we altered; both get a verdict. A question, of
kind Q, gets an interval, but never a verdict. A row that is
``outside`` the tally has its interval, but does not count. What was not run says why, and what
lacks a run waits. :mod:`.verdicts` says how the claims came out.
"""

import hashlib
import json
import math
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass as checked
from scipy.special import ndtri, stdtrit

from attnmt.evidence.comparison import ALPHA, CORRECTION, RESAMPLES, SEED, Expected, Term
from attnmt.evidence.plan import read_plan, results_folder
from attnmt.evidence.store import CLOSE, FALLING

SHOWN_ONLY = ("samples", "curve")  # of a corpus of the plan: they change no score
DRAWS = 10_000  # simulated comparisons for a power
What = Literal["bleu", "aer", "nats", "share", "length", "monotone", "entropy", "cpu_seconds"]
Kind = Literal["A", "B", "Q"]
KINDS = {
    "A": "The papers' own comparisons",
    "B": "Comparisons of the papers that we altered",
    "Q": "Questions of ours, and our measures of remarks",
}

CRITERIA = ("measure", "seen", "no chance", "duplicate")  # the head of claims.toml explains them


@checked(frozen=True, config=ConfigDict(extra="forbid"))
class Claim:
    """One row of the list, as its head explains. ``second`` may be a number.

    ``scatter`` (between seeds), ``sentences`` (standard error) and the widest ``margin`` are the
    corpus's defaults unless the row has its own.

    Raises:
        ValueError: a field that is missing, unknown or of another type.
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
    outside: str = ""

    @property
    def runs(self) -> bool:
        """Whether there is a comparison that can be run."""
        return not self.reason

    @property
    def judged(self) -> bool:
        """Whether it gets a verdict, now or once its runs are there."""
        return self.runs and self.kind != "Q"

    @property
    def criterion(self) -> str:
        """By which the row is outside the tally; "" of a row in it."""
        return self.outside.partition(":")[0]

    @property
    def counted(self) -> bool:
        """Whether its verdict is in the tally."""
        return self.judged and not self.outside

    @property
    def their_difference(self) -> float | None:
        """The paper's own difference; of perplexities, of their logarithms."""
        if self.theirs is None:
            return None
        second, first = self.theirs
        return math.log(first / second) if self.metric == "nats" else first - second

    @property
    def stems(self) -> list[str]:
        """The systems that are compared, ``SYSTEM-CORPUS``, each once."""
        sides = [side for side in (self.first, self.second) if isinstance(side, str) and side]
        return list(dict.fromkeys(side.partition("@")[0] for side in sides))

    @property
    def paired(self) -> bool:
        """Whether both sides are the same trained models, searched in two ways."""
        return len(self.stems) == 1 and isinstance(self.second, str)


@dataclass(frozen=True)
class ClaimList:
    """The list, and the head of its file."""

    claims: tuple[Claim, ...]  #: in the file's order.
    #: when the list was frozen, and each change since, with its reason and SHA-256.
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
    """Read the list.

    Raises:
        ValueError: a field of another type; the message names the file, the row and the field.
    """
    path = path or results_folder() / "claims.toml"
    file = tomllib.loads(path.read_text(encoding="utf-8"))
    claims = tuple(_claim(row, file["defaults"], path.name) for row in file["claims"])
    return ClaimList(claims, tuple(file["changes"]))


def _claim(row: dict[str, Any], defaults: dict[str, Any], file: str) -> Claim:
    """A row; its margin is no wider than half of the effect."""
    try:
        claim = Claim(**_with_defaults(row, defaults))
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        where = f"{file}, {row.get('id', 'a row without id')}"
        raise ValueError(f"{where}: {field}: {first['msg']}") from error
    if claim.margin is None:
        return claim
    effect = claim.gap if claim.their_difference is None else claim.their_difference
    return replace(claim, margin=min(claim.margin, abs(effect) / 2))


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


# ------------------------------------------------------------------------------------------ power
#
# Before a comparison is made, its scatter is what was expected; afterwards, what was seen. An
# *undecided* with a high power says that the effect is smaller than the one looked for; with a low
# power it says nothing.


def power_of(
    claim: Claim, comparisons: int = 1, seen: tuple[Sequence[Term], Term] | None = None
) -> float:
    """How often a row's gap is found, on its own side, by Bonferroni's level for a table.

    Holm's level is that or a better one. The variance over seeds is drawn each time, as the rule
    would estimate it; that over sentences is taken as it is.

    Args:
        claim: of kind A or B; its fields say which scatter is expected.
        comparisons: in the table.
        seen: the scatter instead of that: of each system the variance of its mean over seeds; and
            the variance of the difference over sentences.
    """
    counts = claim.seeds[:1] if claim.paired else claim.seeds
    expected = [Term(claim.scatter**2 / seeds, seeds - 1) for seeds in counts]
    seeds, sentences = seen or (expected, Term(claim.sentences**2))
    rng = np.random.default_rng(SEED)
    true = np.array([term.variance for term in seeds])[:, None]
    degrees = np.array([term.degrees for term in seeds])[:, None]
    estimated = true * rng.chisquare(degrees, size=(len(seeds), DRAWS)) / degrees
    total = estimated.sum(0)
    satterthwaite = total**2 / (estimated**2 / degrees).sum(0)
    upper = 1 - ALPHA / comparisons / 2
    reach = stdtrit(satterthwaite, upper) ** 2 * total
    reach += ndtri(upper) ** 2 * sentences.variance
    error = math.sqrt(true.sum() + sentences.variance)
    bound = -claim.margin if claim.expected == "not below" else 0.0
    found = abs(claim.gap - bound) + error * rng.normal(size=DRAWS)
    return float((found > np.sqrt(reach)).mean())
