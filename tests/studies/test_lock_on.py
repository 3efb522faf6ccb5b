"""studies/lock_on.py: what is changed of a model, and what its curves must fulfil."""

import pytest
import torch

from attnmt import luong
from attnmt.evidence.store import read_study
from studies.lock_on import AFTER, EVERY, LOCKED, MOST_UPDATES, SCALED, scaled

RUNS = [
    (score, size, run)
    for score, by_size in read_study("lock_on")["scores"].items()
    for size, runs in by_size.items()
    for run in runs
]


@pytest.mark.parametrize("score", SCALED)
def test_one_part_is_multiplied_and_nothing_else(score, corpus):
    before = luong(corpus, score=score, seed=3).state_dict()
    after = scaled(corpus, score, 4, seed=3).state_dict()
    for name, weights in before.items():
        factor = 4 if name.startswith(f"{SCALED[score]}.") else 1
        assert torch.equal(after[name], factor * weights), name
    assert any(name.startswith(f"{SCALED[score]}.") for name in before)


@pytest.mark.parametrize(("score", "size", "run"), RUNS)
def test_the_moment_is_the_first_measurement_above_the_mark(score, size, run):
    updates, masses, _ = zip(*run["curve"], strict=True)
    assert list(updates) == list(range(EVERY, updates[-1] + 1, EVERY))
    above = [update for update, mass in zip(updates, masses, strict=True) if mass > LOCKED]
    assert run["locked_on"] == (above[0] if above else None)
    assert updates[-1] == (above[0] + AFTER if above else MOST_UPDATES)


@pytest.mark.parametrize("score", ["general", "concat"])
def test_a_factor_multiplies_the_first_scores(score):
    first = {(s, size, run["seed"]): run["first_spread"] for s, size, run in RUNS}
    for s, size, seed in first:
        if s == score:
            quarter = first[score, "0.25", seed]
            assert first[score, size, seed] == pytest.approx(4 * float(size) * quarter, rel=0.02)
