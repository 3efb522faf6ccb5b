"""The prediction of the papers' trainings, and the page that has its numbers."""

import json
import re

import pytest

from press.contents import ROOT
from studies import papers_size, scale
from studies.papers_size import COUNTS, GPUS, PAPERS, STORE, hours, said

STORED = json.loads(STORE.read_text(encoding="utf8"))
PAGE = (ROOT / "book" / "at_the_papers_size.md").read_text(encoding="utf8")


def test_the_page_has_the_numbers_of_both_studies():
    written = re.findall(r"<!--([\w-]+)-->(.*?)<!--/-->", PAGE)
    expected = said(STORED) | scale.said(json.loads(scale.STORE.read_text(encoding="utf8")))
    assert len(written) > 30
    assert written == [(name, expected[name]) for name, _ in written]


@pytest.mark.parametrize("paper", PAPERS)
def test_the_prediction_follows_from_what_is_stored(paper):
    row = STORED[paper]
    how = {"started": row["core"]["started"], "size": row["bytes"]}
    for name, peak in GPUS.items():
        rate = peak * row["share"]
        expected = [hours(paper, row["work"], rate, gpus=gpus, **how) for gpus in COUNTS]
        assert row["hours"][name] == pytest.approx(expected)
        assert expected == sorted(expected, reverse=True)


def test_the_papers_own_speed_is_predicted_from_their_own_gpu():
    row = STORED["bahdanau"]
    rate = PAPERS["bahdanau"]["peak"] * row["share"]
    how = {"started": 0, "gpus": 1, "size": 0}
    assert hours("bahdanau", row["work"], rate, **how) == pytest.approx(252)


def test_the_work_is_that_of_the_matrices():
    """RNNsearch at its own size, by hand: GRUs, gates, alignment model, maxout, output layer."""
    m, n, maxout, V = 620, 1000, 500, 30_004
    encoder = 2 * 3 * n * (m + n)
    decoder = n * n + 3 * n * m + 3 * n * 2 * n + 3 * n * n
    alignment = n * n + n * 2 * n + n
    output = 2 * maxout * (n + m + 2 * n) + maxout * V
    expected = 6 * papers_size.WORDS * (encoder + decoder + alignment + output)
    assert STORED["bahdanau"]["work"] == pytest.approx(expected, rel=0.001)
