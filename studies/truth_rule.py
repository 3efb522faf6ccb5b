"""Does the truth rule keep its promise? Pairs of systems made up by chance, judged by the rule.

The truth is known here: both systems are equally good, or one is better by a gap that we choose. A
system's score on a sentence is the sum of three kinds of luck, each normal: that of the seed, that
of the sentence (the same for all seeds of a system), and that of both together (this seed on this
sentence). What each adds to the standard deviation of a *score* is between 0 and 1 in the grid, for
a score that is a mean over sentences. More rows have two systems that are not alike, and BLEU, from
counts of n-grams.

The store has, for 3, 5 and 8 seeds of each system, how often the 95% interval covers the truth: by
the rule; with the interaction counted twice; with one number of degrees of freedom for all parts;
by seeds alone (Welch); by sentences alone; and the same for one system beside a number. It has the
power at a gap of four standard deviations of seeds, and how often a table of ten comparisons
without any difference claims one, with Holm's correction and without; also where the luck of seeds
is far from normal, since some of them fail. Usage: make study NAME=truth_rule
"""

import math
import platform
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from itertools import product

import numpy as np

from attnmt.evidence.comparison import (
    BLEU_SCORE,
    Comparison,
    Metric,
    System,
    Term,
    by_scores,
    by_sentences,
    compare,
    constant,
    decide,
)
from studies.study import head_of, save_store, store_of

STORE = store_of(__file__)
SEEDS = (3, 5, 8)
GRID = {  # standard deviation of a score from: seeds, sentences, both together
    "seeds only": (1.0, 0.0, 0.0),
    "sentences only": (0.0, 1.0, 0.0),
    "both together only": (0.0, 0.0, 1.0),
    "seeds and sentences": (1.0, 1.0, 0.0),
    "seeds and both together": (1.0, 0.0, 1.0),
    "all three": (1.0, 1.0, 1.0),
    "all three, few seeds' luck": (0.5, 1.0, 1.0),
    "all three, few sentences' luck": (1.0, 0.5, 0.5),
    "all three, most of it together": (0.5, 0.5, 1.0),
    "seeds and a little of sentences": (1.0, 0.25, 0.0),
}
UNLIKE = {  # seeds of both systems, and their deviations
    "one system's seeds scatter four times as much": ((5, 5), (2.0, 1.0, 0.5), (0.5, 1.0, 0.5)),
    "eight seeds against three": ((8, 3), (1.0, 1.0, 0.5), (1.0, 1.0, 0.5)),
    "eight steady seeds against three wild ones": ((8, 3), (0.5, 0.5, 0.5), (2.0, 0.5, 0.5)),
}
SENTENCES = 200
RESAMPLES = 200
REPETITIONS = 3_000
BLEU_REPETITIONS = 1_000
FIRST = 200
GAP = 4.0  # standard deviations of seeds
TABLE = 10  # comparisons
FAILING = (0.3, 0.5)  # share of seeds that never find their alignments
DEPTH = 20.0  # how far these fall, in standard deviations of the others

MEAN = Metric("mean", 2, 1, score=lambda sums: sums[..., 0] / sums[..., 1])


def made_up(rng: np.random.Generator, seeds: int, deviations: Sequence[float]) -> System:
    """A system whose true score is 0, with the three kinds of luck."""
    of_seeds, of_sentences, together = deviations
    root = math.sqrt(SENTENCES)
    luck = (
        of_seeds * rng.normal(size=(seeds, 1))
        + of_sentences * root * rng.normal(size=SENTENCES)
        + together * root * rng.normal(size=(seeds, SENTENCES))
    )
    statistics = [np.column_stack([row, np.ones(SENTENCES)]) for row in luck]
    return by_sentences(statistics, MEAN, RESAMPLES)


def translated(rng: np.random.Generator, seeds: int, lengths: np.ndarray) -> System:
    """A system in BLEU: sentences of some difficulty, seeds of some skill, n-grams by chance."""
    difficulty = rng.normal(scale=0.8, size=lengths.size)
    statistics = []
    for skill in rng.normal(loc=1.5, scale=0.05, size=seeds):
        moment = rng.normal(scale=0.5, size=lengths.size)
        right = 1 / (1 + np.exp(-(skill + difficulty + moment)))
        totals = [np.maximum(lengths - n, 0) for n in range(4)]
        counts = [rng.binomial(total, right ** (1 + n / 2)) for n, total in enumerate(totals)]
        statistics.append(np.column_stack([lengths, lengths, *counts, *totals]))
    return by_sentences(statistics, BLEU_SCORE, RESAMPLES)


def covered(first: System, second: System, level: float) -> dict[str, bool]:
    """Whether each interval covers the true difference, which is 0."""
    rule = compare(first, second)
    total = rule.seeds.variance + rule.sentences.variance
    twice = rule.sentences.variance + first.interaction + second.interaction
    intervals = {
        "rule": rule,
        "counted twice": replace(rule, sentences=replace(rule.sentences, variance=twice)),
        "one number of degrees": replace(
            rule, seeds=Term(total, satterthwaite(first, second, rule)), sentences=Term(0.0)
        ),
        "seeds alone": replace(rule, sentences=Term(0.0)),
        "sentences alone": replace(
            rule, seeds=Term(0.0), sentences=Term(float(np.var(first.own - second.own, ddof=1)))
        ),
    }
    bounds = {name: one.interval(level) for name, one in intervals.items()}
    return {name: low <= 0 <= high for name, (low, high) in bounds.items()}


def satterthwaite(first: System, second: System, rule: Comparison) -> float:
    """One number of degrees of freedom, from the seeds of both systems and the sentences."""
    terms = [(s.seed_variance, len(s.scores) - 1) for s in (first, second) if not s.fixed]
    terms.append((rule.sentences.variance, rule.sentences.degrees))
    total = sum(variance for variance, _ in terms)
    return total**2 / sum(variance**2 / degrees for variance, degrees in terms)


def coverage(
    first: Callable[[], System],
    second: Callable[[], System],
    repetitions: int,
    level: float = 0.95,
) -> dict[str, float]:
    """How often each interval covers the truth, over pairs of made-up systems.

    "first" counts how many of the first pairs the rule covers: a test draws them again.
    """
    found = [covered(first(), second(), level) for _ in range(repetitions)]
    shares = {name: float(np.mean([one[name] for one in found])) for name in found[0]}
    return shares | {"first": sum(one["rule"] for one in found[:FIRST])}


def power(rng: np.random.Generator, seeds: int, repetitions: int) -> dict[str, float]:
    """How often a true gap of four standard deviations of seeds is found, by three rules."""
    low = rng.normal(size=(repetitions, seeds))
    high = rng.normal(size=(repetitions, seeds)) + GAP
    spread = np.maximum(np.ptp(low, axis=1), np.ptp(high, axis=1))
    old = (high.mean(1) - low.mean(1)) >= 2 * spread
    rule = [
        decide([compare(by_scores(h), by_scores(w))])[0].verdict == "agrees"
        for h, w in zip(high, low, strict=True)
    ]
    return {
        "rule": float(np.mean(rule)),
        "apart by twice the larger range": float(old.mean()),
    }


def wrong_tables(
    rng: np.random.Generator, repetitions: int, seeds: int = 5, failing: float = 0.0
) -> dict[str, float]:
    """How often a table without any difference claims one. Seeds' luck alone.

    A share of all seeds may be ``failing``, by chance and in both systems alike.
    """
    holm = 0
    each = 0
    for _ in range(repetitions):
        scores = np.array([rng.normal(size=(2, seeds)) for _ in range(TABLE)])
        if failing:
            scores -= DEPTH * (rng.random(scores.shape) < failing)
        table = [compare(*map(by_scores, both)) for both in scores]
        holm += any(one.verdict != "undecided" for one in decide(table))
        each += any(decide([one])[0].verdict != "undecided" for one in table)
    return {"Holm": holm / repetitions, "each on its own": each / repetitions}


def failing_seeds(repetitions: int) -> list[dict]:
    """The same where seeds fail. Each row has a generator of its own."""
    return [
        {"failing": share, "seeds": m}
        | wrong_tables(np.random.default_rng([77, number, m]), repetitions, m, share)
        for (number, share), m in product(enumerate(FAILING), SEEDS)
    ]


def grid(
    repetitions: int,
    seeds: Sequence[int] = SEEDS,
    level: float = 0.95,
    beside: float | None = None,
) -> list[dict]:
    """The coverage in every cell of the grid. Each cell has a generator of its own.

    It is that of two systems; or of one ``beside`` a number: its share kept, or two searches,
    paired.
    """
    rows = []
    for (number, (name, deviations)), m in product(enumerate(GRID.items()), seeds):
        rng = np.random.default_rng([number if beside is None else 20 + number, m])
        first = partial(made_up, rng, m, deviations)
        second = first if beside is None else partial(constant, beside)
        found = coverage(first, second, repetitions, level=level)
        rows.append({"luck": name, "deviations": list(deviations), "seeds": m, **found})
    return rows


def unlike(repetitions: int) -> list[dict]:
    """The coverage for two systems that differ in their scatter, or in the number of seeds."""
    rows = []
    for number, (name, (seeds, *deviations)) in enumerate(UNLIKE.items()):
        rng = np.random.default_rng([50, number])
        draws = [partial(made_up, rng, m, d) for m, d in zip(seeds, deviations, strict=True)]
        found = coverage(*draws, repetitions)
        rows.append({"luck": name, "deviations": deviations, "seeds": list(seeds), **found})
    return rows


def bleu_rows(repetitions: int) -> list[dict]:
    """The coverage of the rule for BLEU; the same test sentences for both systems."""
    rows = []
    for m in SEEDS:
        rng = np.random.default_rng([99, m])
        draw = partial(translated, rng, m, rng.integers(5, 41, size=SENTENCES))
        rows.append({"luck": "BLEU", "seeds": m, **coverage(draw, draw, repetitions)})
    return rows


def main() -> None:
    """Simulate, and store the tables."""
    tables = {
        "two systems": grid(REPETITIONS),
        "one system": grid(REPETITIONS, beside=0.0),
        "one system, three seeds, at 99%": grid(REPETITIONS, (3,), level=0.99, beside=0.0),
        "unlike systems": unlike(REPETITIONS),
        "BLEU": bleu_rows(BLEU_REPETITIONS),
    }
    rng = np.random.default_rng(0)
    store = {
        **head_of(__file__),
        "sentences": SENTENCES,
        "resamples": RESAMPLES,
        "repetitions": {"grid": REPETITIONS, "BLEU": BLEU_REPETITIONS, "tables": 2_000},
        "versions": {"python": platform.python_version()}
        | {name: version(name) for name in ("numpy", "scipy", "sacrebleu")},
        "coverage": tables,
        "power": [{"seeds": m, **power(rng, m, REPETITIONS)} for m in (2, *SEEDS)],
        "wrong tables": wrong_tables(rng, 2_000),
        "failing seeds": failing_seeds(1_000),
    }
    save_store(STORE, store)
