"""The list of claims: it makes sense, and it has not changed unseen."""

from dataclasses import replace
from datetime import date

import numpy as np
import pytest

from attnmt.evidence.claims import load_claims, power_of
from attnmt.evidence.comparison import Comparison, Term, decide

# Of the list as it stands, with the plan of its systems and the rule.
FROZEN = "f5bcc9803d0b9c1c218d0ad13cae9a903430227ba4d834f87efd2a7153dd9cf5"
CHANGED = """
The list, the plan of its systems (runs.toml) or the rule (ALPHA, CORRECTION, RESAMPLES and
SEED of comparison.py; CLOSE and FALLING of store.py) is another one. If that was not meant,
undo it. If it was, say so: add to [[changes]] of results/claims.toml the date, what changed and
why, which of the runs concerned had been seen, and the new sum
    {found}
put the same sum into FROZEN in this file, and run: make verdicts"""
LIST = load_claims()


def test_the_list_has_not_changed_unseen():
    assert LIST.sha256 == FROZEN == LIST.changes[-1]["sha256"], CHANGED.format(found=LIST.sha256)
    assert all(change["why"] and isinstance(change["date"], date) for change in LIST.changes)


# ------------------------------------------------------------------------------------------ power


@pytest.mark.parametrize(
    ("id", "seeds"), [("l1-feeding", (8, 8)), ("l1-reverse", (3, 3)), ("w-length", (3, 3))]
)
def test_the_power_is_that_of_simulated_seeds(id, seeds):
    """Seed by seed, through the truth rule itself."""
    claim, rng, decided = replace(LIST[id], seeds=seeds), np.random.default_rng(0), 0
    counts = seeds[:1] if claim.paired else seeds
    for _ in range(1_000):
        luck = [claim.scatter * rng.normal(size=m) for m in counts]
        terms = [(values.var(ddof=1) / len(values), len(values) - 1) for values in luck]
        variance = sum(term for term, _ in terms)
        seen = Term(variance, variance**2 / sum(term**2 / f for term, f in terms))
        mean = claim.gap + luck[0].mean() - sum(values.mean() for values in luck[1:])
        mean += claim.sentences * rng.normal()
        one = Comparison(mean, seen, Term(claim.sentences**2), "", claim.expected, claim.margin)
        decided += decide([one])[0].verdict in ("same sign", "opposite sign")
    assert power_of(claim) == pytest.approx(decided / 1_000, abs=0.05)


def test_the_power_by_the_scatter_that_was_seen_is_less_if_seeds_lie_further_apart():
    claim = LIST["l1-feeding"]
    calm, wild = (([Term(each, 4), Term(each, 4)], Term(0.09)) for each in (0.01, 1.0))
    assert power_of(claim, seen=wild) < power_of(claim) < power_of(claim, seen=calm)
