"""results/studies: what chapter 8 reads agrees with the recorded runs and with the corpora."""

import json
import math
import re

import pytest

from attnmt_book.runs import (
    undertrained,
    undertrained_folder,
    undertrained_names,
    undertrained_plan,
)
from studies.family import not_back

STORE = undertrained_folder() / "studies" / "family.json"
FAMILY = json.loads(STORE.read_text(encoding="utf-8"))
PARTS = FAMILY["parts"]
SEEDS = undertrained_plan()["seeds"]
ATTEND = [
    name
    for name in undertrained_names()
    if "-grammar-" in name and undertrained(name).aer is not None
]


def test_family_is_of_the_recorded_corpora():
    for corpus, fingerprint in FAMILY["corpora"].items():
        found = {
            undertrained(n).corpus["fingerprint"]
            for n in undertrained_names()
            if f"-{corpus}-" in n
        }
        assert found == {fingerprint}


def test_every_model_that_attends_is_aligned():
    assert set(PARTS["alignment"]) == set(ATTEND)
    assert len(ATTEND) >= 12 * len(SEEDS)


@pytest.mark.parametrize("name", ATTEND)
def test_alignment_error_is_that_of_the_run(name):
    record = PARTS["alignment"][name]
    assert record["aer"] == pytest.approx(undertrained(name).aer, abs=5e-4)
    assert min(record["by_class"].values()) <= record["aer"] <= max(record["by_class"].values())
    assert 0 <= record["aer_of_read"] <= 1


def test_the_shape_of_every_model_that_attends_is_told():
    assert set(PARTS["shape"]) == {*ATTEND, "gold"}
    longest = max(bucket.longest for bucket in undertrained(ATTEND[0]).by_length)
    for name in ATTEND:
        shape = PARTS["shape"][name]
        assert 0 <= shape["entropy"] <= math.log2(longest + 1)
        assert 0.5 <= shape["not_back"] <= 1
    # what sees only positions hardly steps back; gold links do, where the word order differs
    location = [PARTS["shape"][f"luong-location-grammar-{seed}"]["not_back"] for seed in SEEDS]
    assert PARTS["shape"]["gold"]["not_back"] < min(location)


def test_steps_back_are_counted_between_linked_words():
    # target words 0 1 3 look at 2 0 1; word 3 also at 4; word 2 at nothing
    assert not_back([{(2, 0), (0, 1), (1, 3), (4, 3)}]) == 1 / 2
    assert not_back([{(0, 0), (0, 1)}, {(3, 0), (1, 1), (0, 2)}]) == 1 / 3


def test_yardsticks_are_in_order():
    yard = {name: of["aer"] for name, of in PARTS["yardsticks"].items()}
    assert yard["best possible"] < yard["IBM Model 1"] < yard["diagonal"]
    assert PARTS["yardsticks"]["IBM Model 1"]["pairs"] == undertrained(ATTEND[0]).corpus["train"]


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


def test_every_run_is_measured_with_unknown_words_as_one():
    assert set(PARTS["one word"]) == set(undertrained_names())
    for name, found in PARTS["one word"].items():  # one wrong word costs less than three
        assert found["score"] >= undertrained(name).bleu.score - 0.05
        assert found["written"] >= 0


def test_short_trainings_saw_short_pairs_only():
    kinds = {(key.split("-")[0], key.split("-")[1]) for key in PARTS["short"]}
    assert kinds == {(s, kind) for s in ("rnnencdec", "rnnsearch") for kind in ("short", "any")}
    trained = {run["train"] for run in PARTS["short"].values()}
    assert len(trained) == 1, "as many pairs of any length as short ones"
    for key, run in PARTS["short"].items():
        short = "-short-" in key
        assert (run["longest"] <= FAMILY["short"]) == short
        sentences = sum(bucket["bleu"]["sentences"] for bucket in run["by_length"])
        whole = undertrained("rnnsearch-grammar-0").by_length
        assert sentences == sum(bucket.bleu.sentences for bucket in whole)


def test_known_words_are_fewer_pairs():
    for key, found in PARTS["known words"].items():
        run = undertrained(key)
        assert 0 < found["pairs"] < run.corpus["test"]
        assert found["score"] > run.bleu.score, "no sentence here has an unknown word"


def test_looks_are_weights_of_one_pair():
    (one,) = PARTS["looks"].values()
    for system, weights in one["weights"].items():
        assert len(weights) == len(one["target"])
        assert {len(row) for row in weights} == {len(one["source"])}
        if "local-p" not in system:  # its weights have a gain
            assert [sum(row) for row in weights] == pytest.approx([1] * len(weights), abs=0.01)


def test_samples_are_translated_and_unknown_words_are_copied():
    (samples,) = PARTS["samples"].values()
    kinds = {sample["kind"] for sample in samples}
    assert {"unseen names", "two negations", "long", "unknown words"} <= kinds
    for sample in samples:
        for system, said in sample["said"].items():
            assert said["greedy"]
            if undertrained(f"{system}-grammar-0").aer is not None:
                assert "<unk>" not in said["replaced"]
    long = [s["source"] for s in samples if s["kind"] == "long"]
    assert all(len(re.findall(r"\w+|[^\w\s]", text)) > 40 for text in long)
