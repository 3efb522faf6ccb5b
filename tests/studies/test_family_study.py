"""What chapter 8's evidence reads of the earlier edition agrees with its recorded runs."""

import json

import pytest

from attnmt.evidence.runs import (
    undertrained,
    undertrained_folder,
    undertrained_names,
    undertrained_plan,
)
from studies.family import plan

STORE = undertrained_folder() / "studies" / "family.json"
FAMILY = json.loads(STORE.read_text(encoding="utf-8"))
PARTS = FAMILY["parts"]
SEEDS = undertrained_plan()["seeds"]


def test_family_is_of_the_recorded_corpora():
    for corpus, fingerprint in FAMILY["corpora"].items():
        found = {
            undertrained(n).corpus["fingerprint"]
            for n in undertrained_names()
            if f"-{corpus}-" in n
        }
        assert found == {fingerprint}


def test_paired_differences_are_those_of_the_runs():
    assert len(PARTS["paired"]) >= 15 * 2 * len(SEEDS)
    for key, found in PARTS["paired"].items():
        baseline, system = map(undertrained, key.split())
        assert baseline.seed == system.seed
        assert baseline.corpus["fingerprint"] == system.corpus["fingerprint"]
        assert found["baseline"] == pytest.approx(baseline.bleu.score, abs=0.05), key
        assert found["system"] == pytest.approx(system.bleu.score, abs=0.05), key
        assert found["difference"] == pytest.approx(found["system"] - found["baseline"])
        assert 0 < found["p_value"] <= 1


def test_all_that_is_planned_was_compared():
    assert [" ".join(both) for both in plan()] == list(PARTS["paired"])
