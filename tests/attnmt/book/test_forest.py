"""forest.py: theirs and ours on one axis, and to the right of zero what the claim says."""

from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("agg")
import matplotlib.pyplot as plt
from matplotlib.colors import to_hex

from attnmt.book.figures import forest
from attnmt.evidence.claims import NOT_RUN, WAITING, Row, load_claims
from attnmt.evidence.comparison import by_scores, compare, decide

LIST = load_claims()
REASON = "no phrase-based system was trained here"


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def row(claim, first, second):
    """A row of the list, decided from made-up scores."""
    claim = LIST[claim]
    both = by_scores(first), by_scores(second)
    how = {"expected": claim.expected, "margin": claim.margin}
    (decision,) = decide([compare(*both, **how)])
    return Row(claim, decision, tuple(np.mean([first, second], axis=1)))


AHEAD = row("b1-search", [30.0, 31.0, 30.5], [20.0, 20.5, 21.0])
BEHIND = row("l1-feeding", [18.0, 18.5, 18.2], [20.0, 20.1, 20.2])
WAITS = Row(LIST["l1-ladder-feeding"], None, missing="ladder-feeding has 0 of 3 seeds")
ASKED = row("q-rnnsearch-dot", [30.0, 31.0, 30.5], [20.0, 20.5, 21.0])
LOWER = row("l5-feeding", [1.0, 1.1, 1.05], [1.4, 1.5, 1.45])
NEVER = Row(LIST["b1-phrase-based"], None, missing=REASON)


def markers(ax, shape):
    """Where markers of one shape are: (x, y, the colour inside)."""
    found = [line for line in ax.get_lines() if line.get_marker() == shape]
    return [
        (line.get_xdata()[0], line.get_ydata()[0], to_hex(line.get_markerfacecolor()))
        for line in found
    ]


def beside(ax):
    return [text.get_text() for text in ax.texts]


def test_theirs_and_ours_are_on_one_axis():
    (ax,) = forest.forest([AHEAD, BEHIND]).axes
    theirs = [x for x, _, _ in markers(ax, "D")]
    assert theirs == pytest.approx([26.75 - 17.82, 18.1 - 16.8])
    found = markers(ax, "o")
    assert [x for x, _, _ in found] == pytest.approx([30.5 - 20.5, (18 + 18.5 + 18.2) / 3 - 20.1])
    assert [y for _, y, _ in found] == [0, 1]
    low, high = ax.get_xlim()
    assert low < BEHIND.decision.low and AHEAD.decision.high < high


def test_the_line_is_the_interval_that_decides():
    (ax,) = forest.forest([AHEAD]).axes
    lines = [line.get_xdata() for line in ax.get_lines() if line.get_linestyle() == "-"]
    ends = [AHEAD.decision.low, AHEAD.decision.high]
    assert any(len(x) == 2 and np.allclose(x, ends) for x in lines)


def test_what_the_claim_says_is_to_the_right_of_zero():
    """A lower perplexity supports a claim that it is lower."""
    assert LOWER.verdict == "agrees" and LOWER.decision.high < 0
    middle, low, high = forest.ours(LOWER)
    assert 0 < low < middle < high
    assert middle == pytest.approx(-LOWER.decision.difference)
    assert forest.theirs(LOWER) == pytest.approx(np.log(7.3 / 6.4))
    assert forest.ours(BEHIND)[2] < 0, "and what opposes it to the left"


def test_verdict_and_numbers_are_said():
    assert forest.said(AHEAD) == "+10.0 (+8.9 to +11.1)\nkind A: agrees"
    assert forest.said(BEHIND).endswith("opposite") and "−" in forest.said(BEHIND)


def test_a_row_that_was_not_run_or_waits_says_why():
    (ax,) = forest.forest([NEVER, WAITS]).axes
    assert markers(ax, "o") == []
    assert len(markers(ax, "D")) == 2, "the paper's difference is there"
    assert " ".join(beside(ax)[0].split()) == f"{NOT_RUN}: {REASON}"
    assert " ".join(beside(ax)[1].split()) == f"{WAITING}: ladder-feeding has 0 of 3 seeds"
    assert {t.get_color() for t in ax.get_yticklabels()} == {forest.COLOURS[NOT_RUN]}


def test_a_question_has_numbers_and_no_verdict():
    assert forest.said(ASKED) == "+10.0 (+8.9 to +11.1)\nquestion"
    assert ASKED.decision.verdict == "agrees"
    (ax,) = forest.forest([ASKED]).axes
    (_, _, colour) = markers(ax, "o")[0]
    assert colour == to_hex(forest.COLOURS["no verdict"])


def test_each_unit_has_an_axis_of_its_own():
    figure = forest.forest([AHEAD, LOWER, BEHIND])
    assert [len(ax.get_yticks()) for ax in figure.axes] == [2, 1]
    assert [ax.get_xlabel() for ax in figure.axes] == [
        forest.UNITS["bleu"],
        forest.UNITS["nats"],
    ]
    with pytest.raises(ValueError, match="several units"):
        forest.draw([AHEAD, LOWER], plt.subplots()[1])
    assert {claim.metric for claim in LIST.claims} <= set(forest.UNITS)


def test_margins_are_shown_where_there_are_any():
    (ax,) = forest.forest([AHEAD]).axes
    (band,) = ax.patches
    assert (band.get_x(), band.get_width()) == (-1, 2)
    (ax,) = forest.forest([ASKED]).axes
    assert len(ax.patches) == 0


def test_labels_leave_out_what_the_axis_says_and_are_legible():
    falls = replace(AHEAD, claim=LIST["b2-falls"])
    told = "RNNencdec drops dramatically where RNNsearch does not"
    assert forest.label(falls).split() == told.split()
    figure = forest.forest([AHEAD, WAITS, NEVER])
    (ax,) = figure.axes
    (legend,) = figure.legends
    texts = [*ax.texts, *ax.get_yticklabels(), *ax.get_xticklabels(), *legend.get_texts()]
    assert min(text.get_fontsize() for text in texts) >= 9
    entries = [text.get_text() for text in legend.get_texts()]
    assert len(entries) == 3 and "the paper" in entries


def test_large_differences_squeeze_the_axis():
    far = row("b1-search", [90.0, 91.0, 90.5], [40.0, 40.5, 41.0])
    (ax,) = forest.forest([far]).axes
    assert ax.get_xscale() == "symlog"
    assert ax.get_xlabel() == "difference in BLEU (not to scale beyond 10)"
    (ax,) = forest.forest([AHEAD]).axes
    assert ax.get_xscale() == "linear" and "scale" not in ax.get_xlabel()


def test_a_claim_is_drawn_twice():
    before = row("b1-search", [20.0, 30.0, 25.0], [20.0, 24.0, 22.0])
    (ax,) = forest.twice([before], [AHEAD], ("then", "now")).axes
    (old, y_old, grey), (new, y_new, _) = markers(ax, "o")
    assert (old, new) == pytest.approx((3.0, 10.0))
    assert y_old < y_new and grey == forest.EARLIER
    assert beside(ax) == ["then: undecided", "now: agrees"]


def test_nothing_to_draw_is_refused():
    with pytest.raises(ValueError, match="at least one"):
        forest.forest([])
    with pytest.raises(ValueError, match="same claims"):
        forest.twice([AHEAD], [BEHIND], ("then", "now"))
    with pytest.raises(ValueError, match="decision"):
        forest.twice([WAITS], [WAITS], ("then", "now"))
