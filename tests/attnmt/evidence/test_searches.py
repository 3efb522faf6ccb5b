"""searches.py: what more is measured of a model, each against a plain count."""

import math
from itertools import pairwise

import numpy as np
import pytest

from attnmt import Translation, beam_search, greedy
from attnmt.evidence.claims import load_claims
from attnmt.evidence.plan import read_plan
from attnmt.evidence.searches import BEAMS, entropies, monotone_steps, search_of


def translation(*rows: list[float]) -> Translation:
    weights = np.array(rows, dtype=np.float32).reshape(len(rows), len(rows[0]) if rows else 2)
    return Translation(["w"] * len(rows), 0.0, weights)


def test_one_word_makes_no_step_and_none_makes_none_either():
    assert monotone_steps([translation([1, 0]), translation()]).tolist() == [[0, 0], [0, 0]]


def test_weights_that_do_not_add_up_to_one_are_normalised_first():
    """Those of local-p: less weight everywhere is not a sharper look."""
    found = translation([0.1, 0.1, 0, 0], [0.02, 0, 0, 0])
    assert entropies([found]) == pytest.approx(np.array([[1 + 0, 2]]))


def test_of_a_model_they_are_what_loops_count(sharp, corpus):
    translations = greedy(sharp, [pair.source for pair in corpus.test])
    for found, (forward, steps), (bits, words) in zip(
        translations, monotone_steps(translations), entropies(translations), strict=True
    ):
        looked = [max(range(len(row)), key=lambda s, row=row: row[s]) for row in found.alignment]
        assert steps == max(len(looked) - 1, 0)
        assert forward == sum(b >= a for a, b in pairwise(looked))
        assert words == len(found.words)
        assert bits == pytest.approx(
            -sum(a * math.log2(a) for row in found.alignment.tolist() for a in row if a > 0),
            abs=1e-4,
        )


@pytest.mark.parametrize("name", BEAMS)
def test_a_beam_is_the_beam_of_its_name(sharp, corpus, name):
    pairs = corpus.test[:5]
    found = search_of(name, sharp, corpus)(pairs, [])
    expected = beam_search(sharp, [pair.source for pair in pairs], **BEAMS[name])
    assert [one.words for one in found] == [one.words for one in expected]


def test_replacing_leaves_no_unknown_word(sharp, corpus):
    pairs = corpus.test[:8]
    found = greedy(sharp, [pair.source for pair in pairs])
    for one in found:
        one.words[:1] = ["<unk>"]
    known = {word for pair in corpus.train for word in pair.target}  # each source word has a link
    for before, after in zip(
        found, search_of("replaced", sharp, corpus)(pairs, found), strict=True
    ):
        for old, new in zip(before.words, after.words, strict=True):
            assert new == old or (old == "<unk>" and new in known)


def test_the_frozen_claims_ask_for_searches_that_the_plan_has():
    plan = read_plan()
    sides = [side for claim in load_claims().claims for side in (claim.first, claim.second)]
    asked = [str(side).split("@") for side in sides if "@" in str(side)]
    for system, search in asked:
        assert search in plan["searches"][system]
    planned = {search for some in plan["searches"].values() for search in some}
    assert planned <= {"replaced", *BEAMS}
