"""What a system cost, and whether twice the updates would move it."""

from dataclasses import replace

import pytest

from attnmt.evidence import converged
from attnmt.evidence.claims import judge, load_claims, recorded
from attnmt.evidence.converged import CLOSE, NOT_TESTED, fall, found_with_dot, trained
from attnmt.evidence.store import load_run


def runs_with_bleu(*scores: float) -> list:
    run = load_run("rnnsearch-grammar-0")
    return [
        replace(run, parts=run.parts | {"test": replace(run.bleu, score=score)}) for score in scores
    ]


def load(*scores: float):
    """Recorded are these scores of the doubled system, and nothing else."""
    doubled = runs_with_bleu(*scores)
    return lambda name, seeds: doubled[:seeds] if name == "rnnsearch-doubled-grammar" else []


@pytest.mark.parametrize(
    ("doubled", "said"),
    [
        ((95.3, 95.3), "converged after 6,250 updates: twice as many move BLEU by +0.3"),
        ((95.5, 95.5), "not converged after 6,250 updates: twice as many move BLEU by +0.5"),
        ((94.0, 94.8), "not converged after 6,250 updates: twice as many move BLEU by −0.6"),
    ],
)
def test_two_doubled_seeds_decide(doubled, said):
    """The mean of seeds 0 and 1; a third seed of the plain system plays no part."""
    runs = runs_with_bleu(94.0, 96.0, 10.0)
    assert trained("rnnsearch-grammar", runs, load(*doubled)).converged == said
    assert CLOSE == 0.5


def test_one_doubled_seed_decides_nothing():
    found = trained("rnnsearch-grammar", runs_with_bleu(95.0, 95.0), load(99.0))
    assert found.converged == NOT_TESTED


def test_what_still_fell_fast_before_the_first_halving_is_not_converged():
    """Of rnnencdec on the controlled corpus perplexity fell by a tenth and more."""
    for stem, falls in (("rnnencdec-grammar", True), ("rnnsearch-grammar", False)):
        runs = recorded(stem, 5)
        found = trained(stem, runs, load())
        assert (found.converged == "not converged after 6,250 updates") == falls
        assert (found.converged == NOT_TESTED) != falls


def test_the_fall_is_that_of_a_tenth_of_the_updates_before_the_first_halving():
    run = load_run("rnnsearch-grammar-0")  # 6,250 updates in 5 epochs, halved after the second
    points = [
        replace(run.history.curve[0], updates=updates, valid_perplexity=perplexity)
        for updates, perplexity in ((0, 9.0), (1_875, 4.0), (2_500, 3.0), (6_250, 1.0))
    ]
    made_up = replace(run, history=replace(run.history, curve=points))
    assert fall(made_up) == pytest.approx(1 / 4)
    constant = replace(made_up, recipe=replace(run.recipe, halve_after=None))
    assert fall(constant) == 0


def test_other_scores_and_local_p_have_a_recipe_found_with_dot(monkeypatch):
    with_dot = {"luong-general", "luong-local-p", "luong-concat-fixed", "luong-local-p-dot-feeding"}
    assert all(map(found_with_dot, with_dot | {"ladder-location"}))
    assert not any(map(found_with_dot, ("luong-dot", "rnnsearch", "luong-feeding", "rnnencdec")))
    tuned = {"score": "general", "recipe": {"learning_rate": 2e-3}}
    monkeypatch.setattr(converged, "read_plan", lambda: {"systems": {"tuned": tuned}})
    assert not found_with_dot("tuned")


def test_every_row_says_of_each_system_whether_it_is_converged():
    stems = {claim.id: claim.stems for claim in load_claims().claims}
    for row in judge():
        if row.decision:
            assert len(row.trained) == len(stems[row.claim.id])
            assert all("converge" in one.converged for one in row.trained)
