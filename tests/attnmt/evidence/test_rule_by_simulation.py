"""The truth rule on made-up systems: its intervals cover the truth, its tables rarely err.

The larger simulation, whose figures the book tells, is frozen: results/studies/truth_rule.json.
"""

import numpy as np
import pytest

from attnmt.evidence.comparison import Metric, by_sentences, compare

MEAN = Metric("mean", 2, 1, lambda sums: sums[..., 0] / sums[..., 1])
SENTENCES = 100
PAIRS = 300
LUCK = {  # standard deviation of a score from: seeds, sentences, both together
    "seeds": (1.0, 0.0, 0.0),
    "sentences": (0.0, 1.0, 0.0),
    "both together": (0.0, 0.0, 1.0),
    "all three": (1.0, 1.0, 1.0),
}


def made_up(rng, seeds, luck):
    """A system whose true score is 0."""
    of_seeds, of_sentences, together = luck
    root = np.sqrt(SENTENCES)
    scores = of_seeds * rng.normal(size=(seeds, 1))
    scores = scores + of_sentences * root * rng.normal(size=SENTENCES)
    scores = scores + together * root * rng.normal(size=(seeds, SENTENCES))
    rows = [np.column_stack([row, np.ones(SENTENCES)]) for row in scores]
    return by_sentences(rows, MEAN, 100)


@pytest.mark.parametrize("seeds", [3, 5])
@pytest.mark.parametrize("luck", LUCK)
def test_a_95_percent_interval_covers_the_truth_as_often(luck, seeds):
    """Within four standard errors of 95%; where a part is unknown, it may cover a little more."""
    rng = np.random.default_rng([seeds, len(luck)])
    covered = 0
    for _ in range(PAIRS):
        low, high = compare(*(made_up(rng, seeds, LUCK[luck]) for _ in "ab")).interval(0.95)
        covered += low <= 0 <= high
    assert 0.90 <= covered / PAIRS <= 0.995
