"""studies/other_pictures.py: models, search and the captions of 2016 are the recorded ones."""

import json

import pytest

from attnmt.corpus import MULTI30K_TESTS
from attnmt.evidence.comparison import BLEU_SCORE
from attnmt.evidence.measured import sentences
from attnmt.evidence.plan import planned, searches_of
from attnmt.evidence.store import load_run
from studies.other_pictures import RUNS, STORE

FOUND = json.loads(STORE.read_text(encoding="utf-8"))["runs"]


@pytest.mark.parametrize("name", RUNS)
def test_the_captions_of_2016_have_the_recorded_score(name):
    """The model may be one that was trained again, on another processor."""
    found = FOUND[name]
    assert [found["search"]] == searches_of(*planned()[name][:2])
    assert found["bleu"].keys() == MULTI30K_TESTS.keys()
    counts = sentences(load_run(name), "test", "bleu", found["search"])
    assert found["bleu"]["flickr2016"] == pytest.approx(
        BLEU_SCORE.score(counts.sum(axis=0)), abs=0.3
    )
