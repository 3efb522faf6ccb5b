"""The truth rule: one way to decide every comparison of two systems.

A system has several trainings (seeds), all measured on the same test sentences. Both are samples:
another seed gives another model, and another test set gives another score. An interval for the
difference of two systems has to cover both, or it promises too much.

**The difference** is that of the means over seeds. To first order, seed i of a system scores::

    score_i = true score + a_i + b + c_i

where a_i is the luck of the seed, b what the test sentences do to all seeds of the system alike,
and c_i what they do to this seed alone. Two estimates are at hand:

- the variance S^2 of the scores between m seeds, which estimates Var(a) + Var(c);
- a bootstrap over sentences (Koehn 2004), with the same draws for all seeds of both systems. Its
  variance of the difference of the means over seeds estimates Var(b_1 - b_2) + Var(c_1) / m_1 +
  Var(c_2) / m_2.

Their sum would count each Var(c) / m twice. The bootstrap tells Var(c) apart: it is what the seeds
of a system scatter *round each other* from draw to draw, that is, the mean over draws of the
variance between seeds of (score in the draw - score). Taken away once, what is left is::

    Var(difference) = S_1^2 / m_1 + S_2^2 / m_2 + Var(b_1 - b_2)

where Var(b_1 - b_2), the bootstrap's variance less both Var(c) / m, is never taken to be below 0.

**The interval** reaches from the difference as far as::

    sqrt(t(f_seeds)^2 (S_1^2 / m_1 + S_2^2 / m_2) + t(f_sentences)^2 Var(b_1 - b_2))

to both sides (Banerjee 1961, for sums of independent variances). t(f) is the quantile of Student's
t distribution; f_seeds follows from Satterthwaite (1946), as in Welch's t-test; f_sentences is one
fewer than the draws or the sentences, whichever are fewer. Where sentences play no part, this *is*
Welch's t-test. One common number of degrees of freedom for all terms would give shorter intervals,
but with three seeds of one system, or of two that scatter very differently, they cover less than
93%, and at the stricter levels of a long table they err more than twice as often as they may.
``results/studies/truth_rule.json`` has the simulated coverage of both.

**The seeds are independent**, even where two systems share their numbers. The same number gives two
architectures the same order of batches and some of the same first weights, yet their scores do not
rise and fall together: over the five seeds of the recorded systems on the controlled corpus, the
correlations of pairs of systems have a mean near 0. Only two treatments of the *same* trained
models (two searches, say) are paired by seed: :func:`seed_by_seed`.

**The verdict** is that of the interval, see :class:`Decision`; within a table of several
comparisons the intervals are widened, see :func:`decide`.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal

import numpy as np
from sacrebleu.metrics import BLEU
from scipy.optimize import brentq
from scipy.special import stdtrit  # quantiles: of the normal, of Student's t

from attnmt.checks import one_of, whole

SEED = 12345  # sacreBLEU's own for its bootstrap
RESAMPLES = 1_000
ALPHA = 0.05  # a table of comparisons errs in one of 20
LEAST_P = 1e-12  # smaller p-values are not told apart

CORRECTION = "Holm (1979), over all rows of a table that are to be run"

# Within these margins we call two systems the same.
MARGIN_BLEU = 1.0

Expected = Literal["above", "below", "not below"]
EXPECTED = ("above", "below", "not below")
VERDICTS = ("same sign", "opposite sign", "no difference", "undecided")


# ------------------------------------------------------------------------------------- metrics


@dataclass(frozen=True)
class Metric:
    """A number from the sums of each sentence's sufficient statistics.

    Attributes:
        name: what it is called.
        columns: k, the number of statistics of a sentence.
        reference: the column that depends on the test sentence alone, not on the system: two
            systems measured on the same sentences agree in it. None: there is no such column, as
            where a system's own words are counted.
        score: from one array of sums for each part, each of shape (..., k), to (...).
        parts: how many parts of the test set it takes.
    """

    name: str
    columns: int
    reference: int | None
    score: Callable[..., np.ndarray]
    parts: int = 1


def _bleu(sums: np.ndarray) -> np.ndarray:
    rows = sums.reshape(-1, 10).round().astype(int).tolist()
    scores = [
        BLEU.compute_bleu(row[2:6], row[6:10], row[0], row[1], smooth_method="exp").score
        for row in rows
    ]
    return np.array(scores).reshape(sums.shape[:-1])


def _aer(sums: np.ndarray) -> np.ndarray:
    sure, possible, predicted, gold = np.moveaxis(sums, -1, 0)
    return 1 - (sure + possible) / (predicted + gold)


def ratio(sums: np.ndarray) -> np.ndarray:
    """The first column by the second: (..., k) to (...)."""
    return sums[..., 0] / sums[..., 1]


def _perplexity(sums: np.ndarray) -> np.ndarray:
    return np.exp(ratio(sums))


BLEU_SCORE = Metric("BLEU", 10, 1, score=_bleu)
"""BLEU from 0 to 100, of sys_len, ref_len, correct n-grams and all n-grams (n = 1..4)."""

AER = Metric("AER", 4, 3, score=_aer)
"""The alignment error rate, of abs(A & S), abs(A & P), abs(A) and abs(S)."""

PERPLEXITY = Metric("perplexity", 2, 1, score=_perplexity)
"""exp of the mean -log p per token, of the sum of -log p and the number of tokens."""

NATS = Metric("-log p per token", 2, 1, score=ratio)
"""The logarithm of perplexity. A difference here is a *ratio* of perplexities, on any corpus."""

LENGTH = Metric("length", 10, 1, score=ratio)
"""Words written per word of the reference, from the statistics of BLEU."""


def share(metric: Metric = BLEU_SCORE) -> Metric:
    """How much of its score in one part a system keeps in another: (second part) / (first).

    ``share()`` on the sentences of 6 to 10 words and those of 36 to 40 is the share of its BLEU
    that a system keeps when sentences grow.
    """

    def kept(first: np.ndarray, second: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore", invalid="ignore"):
            return metric.score(second) / metric.score(first)

    return Metric(f"share of {metric.name}", metric.columns, metric.reference, score=kept, parts=2)


# ------------------------------------------------------------------------------------- systems


@dataclass(frozen=True)
class System:
    """A system's scores by seed, and what is known of their scatter over test sentences.

    Make one by :func:`by_sentences`, :func:`by_scores`, :func:`seed_by_seed` or :func:`constant`.

    Attributes:
        scores: (seeds,).
        resampled: (draws, seeds), the scores on each bootstrap draw of the sentences; or None.
        sentences: the test sentences of each part, for comparing; () if unknown.
        fixed: the system is a number, without scatter.
    """

    scores: np.ndarray
    resampled: np.ndarray | None = None
    sentences: tuple[tuple[int, bytes], ...] = ()
    fixed: bool = False

    @property
    def mean(self) -> float:
        """The mean over seeds."""
        return float(self.scores.mean())

    @property
    def own(self) -> np.ndarray | float:
        """The mean over seeds on each draw, less the score, (draws,). 0 if fixed."""
        return 0.0 if self.fixed else (self.resampled - self.scores).mean(1)

    @property
    def seed_variance(self) -> float:
        """S^2 / m, the variance of the mean over seeds, as the seeds show it."""
        return 0.0 if self.fixed else float(self.scores.var(ddof=1)) / len(self.scores)

    @property
    def interaction(self) -> float:
        """Var(c) / m, what both the seeds and the bootstrap count of the mean's variance."""
        if self.fixed:
            return 0.0
        deviations = self.resampled - self.scores
        return float(deviations.var(axis=1, ddof=1).mean()) / len(self.scores)


Statistics = np.ndarray | Sequence[np.ndarray]  # one array (sentences, k), or one for each part


def by_sentences(
    seeds: Sequence[Statistics], metric: Metric = BLEU_SCORE, resamples: int = RESAMPLES
) -> System:
    """A system measured sentence by sentence.

    Args:
        seeds: for each seed the statistics (sentences, k) of every test sentence; for a metric of
            several parts, one such array for each. The parts share no sentence.
        metric: turns their sums into a score.
        resamples: draws of the bootstrap.

    Raises:
        ValueError: fewer than two seeds; seeds with other sentences; statistics that are not
            finite, or give no finite score.
    """
    whole(2, resamples=resamples)
    _several(len(seeds))
    parts = [[array] if isinstance(array, np.ndarray) else list(array) for array in seeds]
    if any(len(arrays) != metric.parts for arrays in parts):
        raise ValueError(f"{metric.name} needs {metric.parts} parts of statistics for each seed")
    totals = []
    draws = []
    sentences = []
    for number, arrays in enumerate(zip(*parts, strict=True)):
        stacked, known = _stack(arrays, metric)  # (sentences, seeds, k)
        size = len(stacked)
        flat = stacked.reshape(size, -1)
        drawn = _counts(size, resamples, number) @ flat
        totals.append(flat.sum(0).reshape(stacked.shape[1:]))
        draws.append(drawn.reshape(resamples, *stacked.shape[1:]))
        sentences.append((size, known))
    scores = metric.score(*totals)
    resampled = metric.score(*draws)
    _finite(metric.name, scores, resampled)
    return System(scores, resampled, tuple(sentences))


def by_scores(scores: Sequence[float]) -> System:
    """A system of which only one score for each seed is known: its interval covers seeds alone.

    Raises:
        ValueError: fewer than two seeds, or a number that is not finite.
    """
    values = np.array(scores, dtype=float)
    _several(len(values))
    _finite("a score", values)
    return System(values)


def constant(value: float) -> System:
    """A number to compare a system with: a bound, or 0 for a difference that is paired already."""
    _finite("the constant", np.array(value))
    return System(np.array([float(value)]), fixed=True)


def seed_by_seed(first: System, second: System) -> System:
    """The differences first - second of two treatments of the *same* trained models.

    Two searches with one model share the luck of its training. Compare what comes back with
    ``constant(0)``: a t-test of the seeds' differences, with the sentences added.

    Raises:
        ValueError: other seeds or sentences.
    """
    if len(first.scores) != len(second.scores):
        raise ValueError(
            f"{len(first.scores)} and {len(second.scores)} seeds: two treatments of the same "
            "models have a score for each of them"
        )
    scores = first.scores - second.scores
    if first.resampled is None or second.resampled is None:
        return System(scores)
    _same_sentences(first, second)
    return System(scores, first.resampled - second.resampled, first.sentences)


@lru_cache(maxsize=4)
def _counts(sentences: int, resamples: int, part: int) -> np.ndarray:
    """(resamples, sentences): how often each draw takes each sentence. The same on every call."""
    rng = np.random.default_rng([SEED, part])
    chosen = rng.integers(sentences, size=(resamples, sentences))
    counts = [np.bincount(row, minlength=sentences) for row in chosen]
    table = np.array(counts, dtype=np.float64)
    table.setflags(write=False)
    return table


def _stack(arrays: Sequence[np.ndarray], metric: Metric) -> tuple[np.ndarray, bytes]:
    """One part's statistics of all seeds, (sentences, seeds, k), and its sentences' own column."""
    shapes = {array.shape for array in arrays}
    if len(shapes) > 1:
        raise ValueError(f"the seeds were measured on different sentences: shapes {shapes}")
    (shape,) = shapes
    if len(shape) != 2 or shape[1] != metric.columns or shape[0] < 2:
        raise ValueError(
            f"{metric.name} needs statistics of shape (sentences, {metric.columns}), not {shape}"
        )
    stacked = np.stack(arrays, axis=1).astype(np.float64)
    _finite("the statistics", stacked)
    if metric.reference is None:
        return stacked, b""
    own = stacked[:, :, metric.reference]
    if (own != own[:, :1]).any():
        raise ValueError("the seeds were measured on different sentences")
    return stacked, own[:, 0].tobytes()


def _several(seeds: int) -> None:
    if seeds < 2:
        raise ValueError(
            f"{seeds} seed{'' if seeds == 1 else 's'}: one training cannot tell how far another "
            "would lie from it. A comparison needs two seeds of each system at least"
        )


def _finite(what: str, *values: np.ndarray) -> None:
    if not all(np.isfinite(value).all() for value in values):
        raise ValueError(f"{what} is not a finite number everywhere: nothing can be compared")


def _same_sentences(first: System, second: System) -> None:
    if first.sentences != second.sentences or len(first.resampled) != len(second.resampled):
        raise ValueError("the two systems were measured on different sentences, or different draws")


# ----------------------------------------------------------------------------------- comparison


@dataclass(frozen=True)
class Term:
    """A part of a difference's variance, and the degrees of freedom of its estimate."""

    variance: float
    degrees: float = math.inf

    def reach(self, level: float) -> float:
        """The square of half an interval, were this the only part."""
        return float(stdtrit(self.degrees, (1 + level) / 2)) ** 2 * self.variance


@dataclass(frozen=True)
class Comparison:
    """The difference first - second of two systems, and how sure it is.

    Attributes:
        difference: of the means over seeds.
        seeds: its variance over seeds.
        sentences: its variance over test sentences that the seeds do not show.
        covers: what an interval covers, in words.
        expected: what the paper says of the difference: "above" or "below" 0, or "not below" it.
        margin: differences smaller than this are none; None where no margin was agreed on.
        claim: what is claimed.
    """

    difference: float
    seeds: Term
    sentences: Term
    covers: str
    expected: Expected = "above"
    margin: float | None = None
    claim: str = ""

    @property
    def standard_error(self) -> float:
        """Of the difference, over seeds and sentences."""
        return math.sqrt(self.seeds.variance + self.sentences.variance)

    @property
    def bound(self) -> float:
        """Where the claim ends, 0 or the margin below 0 for "not below"."""
        return -self.margin if self.expected == "not below" else 0.0

    @cached_property
    def p_value(self) -> float:
        """Two-sided p-value of :attr:`bound`. At the level 1 - p the interval just reaches it."""
        distance = abs(self.difference - self.bound)
        if distance == 0 or self.standard_error == 0:
            return float(distance == 0)
        if self._half(1 - LEAST_P) < distance:
            return LEAST_P
        return float(brentq(lambda p: self._half(1 - p) - distance, LEAST_P, 1, xtol=LEAST_P))

    def interval(self, level: float = 1 - ALPHA) -> tuple[float, float]:
        """The interval of the difference."""
        half = self._half(level)
        return self.difference - half, self.difference + half

    def _half(self, level: float) -> float:
        return math.sqrt(self.seeds.reach(level) + self.sentences.reach(level))


def compare(
    first: System,
    second: System,
    *,
    expected: Expected = "above",
    margin: float | None = None,
    claim: str = "",
) -> Comparison:
    """Compare two systems, first - second; :func:`decide` gives the verdict.

    Args:
        first: the system that the claim is about.
        second: the one beside it, or a :func:`constant`.
        expected: the side of 0 on which the claim puts the difference. "not below": the claim is
            that the first does not fall behind; then a margin is needed.
        margin: differences smaller than this are none.
        claim: in one sentence.

    Raises:
        ValueError: systems measured on different sentences; two constants; a margin missing or not
            positive.
    """
    one_of(EXPECTED, expected=expected)
    if first.fixed and second.fixed:
        raise ValueError("two constants need no comparison: one of the two must be a system")
    if (margin is not None and not margin > 0) or (expected == "not below" and margin is None):
        raise ValueError(f'margin must be positive, and "not below" needs one; it is {margin!r}')
    sentences, covers = _over_sentences(first, second)
    return Comparison(
        difference=first.mean - second.mean,
        seeds=_over_seeds(first, second),
        sentences=sentences,
        covers=covers,
        expected=expected,
        margin=margin,
        claim=claim,
    )


def _over_seeds(first: System, second: System) -> Term:
    """Welch's variance, with Satterthwaite's degrees of freedom."""
    systems = [system for system in (first, second) if not system.fixed]
    variance = sum(system.seed_variance for system in systems)
    squares = sum(system.seed_variance**2 / (len(system.scores) - 1) for system in systems)
    return Term(variance, variance**2 / squares if squares else math.inf)


def _over_sentences(first: System, second: System) -> tuple[Term, str]:
    """The variance over sentences that seeds do not show, and what is covered."""
    systems = [system for system in (first, second) if not system.fixed]
    if any(system.resampled is None for system in systems):
        return Term(0.0), "seeds only"
    if len(systems) == 2:
        _same_sentences(first, second)
    counted = float((first.own - second.own).var(ddof=1))
    common = max(counted - first.interaction - second.interaction, 0.0)
    fewest = min(size for size, _ in systems[0].sentences)
    return Term(common, min(len(systems[0].resampled), fewest) - 1), "seeds and sentences"


# -------------------------------------------------------------------------------------- verdict


@dataclass(frozen=True)
class Decision:
    """A comparison, the interval that decides it, and the verdict.

    - *same sign*: the whole interval lies on the side of 0 that the claim expects (for "not below":
      above -margin);
    - *opposite sign*: it lies on the other side (for "not below": below -margin);
    - *no difference*: it covers 0 and lies within the margin on both sides;
    - *undecided*: none of these.

    An interval that excludes 0 and lies within the margin has a sign, the *same* or the
    *opposite*, and the reader sees that the difference is small.

    Attributes:
        comparison: what was compared.
        level: of the interval, 0.95 for a comparison on its own.
        low: its lower end.
        high: its upper end.
        verdict: one of ``VERDICTS``.
    """

    comparison: Comparison
    level: float
    low: float
    high: float
    verdict: str

    @property
    def difference(self) -> float:
        """Of the means over seeds."""
        return self.comparison.difference

    def text(self, digits: int = 1) -> str:
        """For a table: ``+2.3 (+0.4 to +4.2)``, the difference (never −0.0) and the interval."""
        found = f"{self.difference:+z.{digits}f}"
        low, high = (f"{x:+.{digits}f}" for x in (self.low, self.high))
        return f"{found} ({low} to {high})".replace("-", "−")


def decide(table: Sequence[Comparison], waiting: int = 0) -> list[Decision]:
    """The verdicts of all comparisons in one table of a paper, in the given order.

    Of twenty comparisons without any difference one would "show" something. So the intervals are
    widened by the step-down of Holm (1979): the comparison with the smallest p-value of K gets the
    level 1 - ALPHA / K, the next 1 - ALPHA / (K - 1), and so on, up to the first whose interval
    does not exclude its bound; those after it all have that one's level. These intervals decide.
    With probability 1 - ALPHA none of the table's signs is wrong. A *no
    difference* stands on an interval of 1 - ALPHA / (those not decided) or more.

    Comparisons that still wait for their runs are counted as undecided. When they come, Holm's
    procedure can only find more: a sign, the *same* or the *opposite*, stays, and looking at the
    table as its rows come in costs nothing.

    Args:
        table: the comparisons; one on its own keeps the level 1 - ALPHA.
        waiting: further comparisons of the table, which cannot be made yet.
    """
    order = sorted(range(len(table)), key=lambda number: table[number].p_value)
    left = len(table) + waiting
    going = True
    levels = {}
    for number in order:
        levels[number] = 1 - ALPHA / left
        going = going and table[number].p_value < ALPHA / left
        left -= going
    return [_decide(one, levels[number]) for number, one in enumerate(table)]


def _decide(comparison: Comparison, level: float) -> Decision:
    low, high = comparison.interval(level)
    margin = comparison.margin
    bound = comparison.bound
    verdict = "undecided"
    if low > bound or high < bound:
        upwards = comparison.expected != "below"
        verdict = "same sign" if (low > bound) == upwards else "opposite sign"
    elif comparison.expected != "not below" and margin and -margin < low and high < margin:
        verdict = "no difference"
    return Decision(comparison, level, low, high=high, verdict=verdict)
