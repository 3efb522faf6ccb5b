"""The truth rule on made-up systems: its intervals cover the truth, its tables rarely err.

The larger simulation, whose figures the book tells, is frozen: results/studies/truth_rule.json.
"""

import numpy as np
import pytest

from attnmt.evidence.comparison import Metric, by_scores, by_sentences, compare, decide

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


def test_a_table_without_any_difference_seldom_claims_one():
    """Ten comparisons in each: Holm's correction keeps to 5%, each on its own does not."""
    rng = np.random.default_rng(1)
    table = alone = 0
    for _ in range(PAIRS):
        rows = [compare(*map(by_scores, rng.normal(size=(2, 5)))) for _ in range(10)]
        table += any(one.verdict != "undecided" for one in decide(rows))
        alone += any(decide([one])[0].verdict != "undecided" for one in rows)
    assert table / PAIRS <= 0.05 + 4 * np.sqrt(0.05 * 0.95 / PAIRS)
    assert alone / PAIRS > 0.25


def test_a_gap_of_four_deviations_is_mostly_found_with_three_seeds():
    rng = np.random.default_rng(2)
    found = 0
    for _ in range(PAIRS):
        low, high = rng.normal([[0], [4]], size=(2, 3))
        found += decide([compare(by_scores(high), by_scores(low))])[0].verdict == "same sign"
    assert found / PAIRS == pytest.approx(0.89, abs=0.08)
