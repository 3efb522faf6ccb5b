"""What a recorded system was trained with, and whether more training would move it.

Two systems that are compared should both have what they need. A system is *converged* when twice
the updates, with its schedule stretched, move its mean test BLEU over two seeds by less than half a
point. Tier V of ``results/runs.toml`` trains such systems, ``SYSTEM-doubled-CORPUS``; as they are
recorded, they decide. Until then a system counts as *not converged* if its perplexity on validation
still fell fast before the first halving of the learning rate: what little the last updates gain
after that shows how low the rate is, not how much there is to learn.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from attnmt.evidence.plan import read_plan
from attnmt.evidence.store import Run

CLOSE = 0.5  # BLEU by which twice the updates may move a converged system
PAIRS = 2  # seeds that are doubled
FALLING = 0.05  # of its perplexity, in the tenth of all updates before the first halving
NOT_TESTED = "convergence not tested by doubling"

Load = Callable[[str, int], Sequence[Run]]  # from SYSTEM-CORPUS and a number of seeds


@dataclass(frozen=True)
class Trained:
    """One side of a comparison.

    Attributes:
        system: as in ``runs.toml``.
        updates: of each seed.
        cpu_seconds: of training, the mean over seeds.
        converged: in words.
        found_with_dot: its recipe was found with dot, and it has another score or local-p.
    """

    system: str
    updates: int
    cpu_seconds: float
    converged: str
    found_with_dot: bool

    @property
    def text(self) -> str:
        """For a table."""
        cost = f"{self.updates:,} updates, {self.cpu_seconds:,.0f} CPU-seconds"
        return f"{self.system}: {cost}; {self.converged}"


def doubled(stem: str) -> str:
    """The name of ``SYSTEM-CORPUS`` with twice the updates."""
    system, _, corpus = stem.rpartition("-")
    return f"{system}-doubled-{corpus}"


def trained(stem: str, runs: Sequence[Run], load: Load) -> Trained:
    """What the recorded runs of ``SYSTEM-CORPUS`` were trained with, seeds 0 and 1 first.

    Args:
        stem: of the runs' names.
        runs: one for each seed, in the order of the seeds.
        load: from ``SYSTEM-CORPUS`` and a number of seeds to its recorded runs.
    """
    updates = runs[0].history.curve[-1].updates
    twice = load(doubled(stem), PAIRS)
    if len(twice) == PAIRS:
        means = [np.mean([run.bleu.score for run in some[:PAIRS]]) for some in (twice, runs)]
        adds = float(means[0] - means[1])
        moved = f"twice as many move BLEU by {adds:+.1f}".replace("-", "−")
        state = "converged" if abs(adds) < CLOSE else "not converged"
        converged = f"{state} after {updates:,} updates: {moved}"
    elif np.median([fall(run) for run in runs]) > FALLING:
        converged = f"not converged after {updates:,} updates"
    else:
        converged = NOT_TESTED
    seconds = float(np.mean([run.history.cpu_seconds for run in runs]))
    system = stem.rpartition("-")[0]
    return Trained(system, updates, seconds, converged, found_with_dot=found_with_dot(system))


def fall(run: Run) -> float:
    """By what share validation perplexity fell in a tenth of all updates before the first halving.

    It is 0 for a run whose rate is never halved.
    """
    recipe = run.recipe
    if recipe.halve_after is None or recipe.fall:
        return 0.0
    updates = [point.updates for point in run.history.curve]
    perplexities = [point.valid_perplexity for point in run.history.curve]
    halved = updates[-1] * recipe.halve_after / recipe.epochs
    begin, end = np.interp([halved - updates[-1] / 10, halved], updates, perplexities)
    return float(1 - end / begin)


def found_with_dot(system: str) -> bool:
    """Whether a system has another score than dot, or local-p, and no recipe of its own."""
    own = read_plan()["systems"].get(system, {})
    other = own.get("score", "dot") != "dot" or own.get("window") == "local-p"
    return (other or own.get("model") == "concat_fixed") and "recipe" not in own
