"""How likely the truth rule is to decide a comparison: its power.

Before a comparison is made, its scatter is what was expected; afterwards, what was seen. An
*undecided* with a high power says that the effect is smaller than the one looked for; with a low
power it says nothing.
"""

import math
from collections.abc import Sequence

import numpy as np
from scipy.special import ndtri, stdtrit

from attnmt.evidence.comparison import ALPHA, SEED, Term

DRAWS = 10_000


def power(distance: float, seeds: Sequence[Term], sentences: Term, comparisons: int = 1) -> float:
    """How often an effect is found, on its own side, by Bonferroni's level for a table.

    Holm's level is that or a better one. The variance over seeds is drawn each time, as the rule
    would estimate it; that over sentences is taken as it is.

    Args:
        distance: of the effect from the bound that it must exclude.
        seeds: of each system the variance of its mean over seeds, with its degrees of freedom.
        sentences: the variance of the difference over sentences.
        comparisons: in the table.
    """
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
    found = abs(distance) + error * rng.normal(size=DRAWS)
    return float((found > np.sqrt(reach)).mean())


def of_seeds(scatter: float, seeds: Sequence[int]) -> list[Term]:
    """The terms of systems whose seeds all have the same standard deviation."""
    return [Term(scatter**2 / number, number - 1) for number in seeds]
