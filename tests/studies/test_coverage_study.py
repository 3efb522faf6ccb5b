"""results/studies/coverage.json: the counts of chapter 6 are those of the recorded runs."""

import json

import pytest

from attnmt.evidence.store import load_run
from studies.coverage import APART, EDGES, STORE
from studies.study import recorded_on

STUDY = json.loads(STORE.read_text(encoding="utf-8"))
COUNTS = STUDY["counts"]


def test_every_recorded_run_is_counted():
    """Start the study again when runs were added."""
    assert set(COUNTS) == set(recorded_on("grammar"))
    both = [
        {name.rpartition("-")[2] for name in COUNTS if name.startswith(f"{s}-g")} for s in APART
    ]
    assert {str(row["seed"]) for row in STUDY["apart"]} == both[0] & both[1]


@pytest.mark.parametrize("name", COUNTS)
def test_counts_add_up(name):
    run = load_run(name)
    assert run.corpus["fingerprint"] == STUDY["corpus"]["fingerprint"]
    rows = COUNTS[name]
    assert [row["shortest"] for row in rows] == list(EDGES[:-1])
    assert sum(row["sentences"] for row in rows[:-1]) == STUDY["test"] == run.corpus["test"]
    for row, of_reference in zip(rows, STUDY["references"], strict=True):
        assert row["source"] == of_reference["source"]  # what can be skipped is the pair's
        assert 0 <= row["skipped"] <= row["source"]
        assert 0 <= row["repeated"] <= row["target"]
        assert 0 <= row["trigrams again"] <= row["trigrams"]
        assert row["both"] <= row["sentences"]


def test_references_skip_and_repeat_nothing():
    for row in STUDY["references"]:
        assert row["skipped"] == row["repeated"] == row["both"] == 0


def test_the_model_that_repeats_has_the_lower_bleu():
    """An oracle that shares no code: RNNencdec, far behind in BLEU, loses most words."""

    def lost(name):
        return sum(row["skipped"] for row in COUNTS[name]) / sum(r["source"] for r in COUNTS[name])

    assert load_run("rnnencdec-grammar-0").bleu.score < load_run("rnnsearch-grammar-0").bleu.score
    assert lost("rnnencdec-grammar-0") > 5 * lost("rnnsearch-grammar-0")
