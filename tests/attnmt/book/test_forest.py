"""forest.py: theirs and ours on one axis, and to the right of zero what the claim says."""

import re
from dataclasses import replace

import numpy as np
import pytest
from bs4 import BeautifulSoup
from matplotlib.colors import to_rgb

from attnmt.book.figures import forest
from attnmt.evidence.claims import load_claims
from attnmt.evidence.comparison import by_scores, compare, decide
from attnmt.evidence.verdicts import NOT_RUN, WAITING, Row

LIST = load_claims()
REASON = "no phrase-based system was trained here"


def row(claim, first, second):
    """A row of the list, decided from made-up scores."""
    claim = LIST[claim]
    both = by_scores(first), by_scores(second)
    how = {"expected": claim.expected, "margin": claim.margin}
    (decision,) = decide([compare(*both, **how)])
    return Row(claim, decision, tuple(np.mean([first, second], axis=1)))


AHEAD = row("b1-search", [30.0, 31.0, 30.5], [20.0, 20.5, 21.0])
BEHIND = row("l1-feeding", [18.0, 18.5, 18.2], [20.0, 20.1, 20.2])
ASKED = row("q-rnnsearch-dot", [30.0, 31.0, 30.5], [20.0, 20.5, 21.0])
WAITS = Row(LIST["l1-ladder-feeding"], None, missing="ladder-feeding has 0 of 3 seeds")
LOWER = row("l5-feeding", [1.0, 1.1, 1.05], [1.4, 1.5, 1.45])
NEVER = Row(LIST["b1-phrase-based"], None, missing=REASON)


class Shown:
    """A panel of a plot as its HTML has it: a list of what each row shows."""

    def __init__(self, table):
        self.unit = table["aria-label"]
        head, *rows = table.find_all(role="row")
        self.ticks = [(place(one["x"]), one.text) for one in head.find_all("text")]
        self.claims = [row.find(role="rowheader").text for row in rows]
        self.drawn = [row.find("svg") for row in rows]
        self.titles = [drawn.title.text for drawn in self.drawn]
        self.beside = [
            [part.text for part in row.find_all(role="cell")[-1].find_all("div")] for row in rows
        ]
        self.quiet = [len(row.find_all(class_="quiet")) == 2 for row in rows]
        self.zero = [place(drawn.find("line", recursive=False)["x1"]) for drawn in self.drawn]
        self.theirs = [[place(one["x"]) for one in drawn.find_all("svg")] for drawn in self.drawn]
        self.margins = [
            [(place(one["x"]), place(one["width"])) for one in drawn.find_all("rect", x=PERCENT)]
            for drawn in self.drawn
        ]
        self.ours = [[interval(one) for one in drawn.find_all("g")] for drawn in self.drawn]


PERCENT = re.compile(r"-?[\d.]+%$")


def place(percent):
    assert PERCENT.match(percent), percent
    return float(percent[:-1])


def interval(mark):
    """Left, middle and right of an interval, its height, and its colour."""
    line, circle = mark.line, mark.circle
    assert line["y1"] == line["y2"] == circle["cy"] and mark["fill"] == mark["stroke"]
    ends = [place(value) for value in (line["x1"], circle["cx"], line["x2"])]
    return *ends, place(circle["cy"]), mark["fill"]


def shown(plot):
    soup = BeautifulSoup(plot._repr_html_(), "html.parser")
    return [Shown(table) for table in soup.find_all(role="table")]


def difference(panel, x):
    """What lies at a place, by the numbers of the axis; the scale is even."""
    (left, low), *_, (right, high) = [
        (x, float(number.replace("−", "-"))) for x, number in sorted(panel.ticks)
    ]
    return low + (x - left) / (right - left) * (high - low)


def test_theirs_and_ours_are_on_one_axis():
    (panel,) = shown(forest.forest([AHEAD, BEHIND]))
    theirs = [difference(panel, x) for (x,) in panel.theirs]
    assert theirs == pytest.approx([26.75 - 17.82, 18.1 - 16.8], abs=0.05)
    middles = [difference(panel, middle) for ((_, middle, *_),) in panel.ours]
    assert middles == pytest.approx([30.5 - 20.5, (18 + 18.5 + 18.2) / 3 - 20.1], abs=0.05)
    assert [difference(panel, x) for x in panel.zero] == pytest.approx([0, 0], abs=0.05)
    for row, ((low, _, high, *_),) in zip([AHEAD, BEHIND], panel.ours):
        assert 0 < low < high < 100
        ends = [row.decision.low, row.decision.high]  # of the interval that decides
        assert [difference(panel, low), difference(panel, high)] == pytest.approx(ends, abs=0.05)
    ((left, width),) = panel.margins[0]
    margin = [difference(panel, left), difference(panel, left + width)]
    assert margin == pytest.approx([-1, 1], abs=0.05)


def test_what_the_claim_says_is_to_the_right_of_zero():
    """A lower perplexity supports a claim that it is lower."""
    assert LOWER.verdict == "same sign" and LOWER.decision.high < 0
    middle, low, high = forest.ours(LOWER)
    assert 0 < low < middle < high
    assert middle == pytest.approx(-LOWER.decision.difference)
    assert forest.theirs(LOWER) == pytest.approx(np.log(7.3 / 6.4))
    assert forest.ours(BEHIND)[2] < 0, "and what opposes it to the left"


def test_a_row_has_its_numbers_and_verdict_also_for_those_who_do_not_see_the_drawing():
    plot = forest.forest([AHEAD, NEVER])
    beside = ["+10.0 (+8.9 to +11.1)", "kind B: same sign", "the paper's +8.9 is inside"]
    assert ", ".join(beside) in repr(plot)
    (panel,) = shown(plot)
    assert panel.beside[0] == beside
    assert panel.titles[0] == "the paper +8.9, ours +10.0 (+8.9 to +11.1)"
    assert panel.titles[1].startswith("the paper ") and "ours" not in panel.titles[1]


def test_a_row_that_was_not_run_or_waits_says_why_and_is_quiet():
    (panel,) = shown(forest.forest([NEVER, WAITS]))
    assert (panel.ours, panel.quiet) == ([[], []], [True, True])
    assert [len(theirs) for theirs in panel.theirs] == [1, 1], "the paper's difference is there"
    assert panel.beside[0] == [f"{NOT_RUN}: {REASON}"]
    assert panel.beside[1] == [f"{WAITING}: ladder-feeding has 0 of 3 seeds"]


def test_a_question_has_numbers_and_no_verdict():
    (panel,) = shown(forest.forest([ASKED]))
    assert panel.beside == [["+10.0 (+8.9 to +11.1)", "question"]]
    assert panel.margins == [[]]
    (((*_, colour),),) = panel.ours
    assert (ASKED.decision.verdict, colour) == ("same sign", forest.INK)


def test_a_row_outside_the_tally_says_so_and_has_no_colour_of_a_verdict():
    outside = replace(AHEAD, claim=replace(AHEAD.claim, outside="duplicate: another"))
    (panel,) = shown(forest.forest([outside]))
    assert panel.beside[0][1] == "kind B: same sign, outside the tally"
    assert panel.ours[0][0][-1] == forest.INK


def test_the_papers_number_lies_where_the_drawing_shows_it():
    """Of a lower perplexity the numbers are turned round, and so is the place."""
    assert LOWER.theirs_lies == "above"  # -0.13 nats beside an interval around -0.4
    assert forest.place_of_theirs(LOWER) == ["the paper's +0.132 is below"]


def test_each_unit_has_an_axis_of_its_own():
    odd = replace(AHEAD, claim=replace(AHEAD.claim, claim="a < b & c"))
    panels = shown(forest.forest([odd, LOWER, BEHIND]))
    assert panels[0].claims[0] == "a < b & c"  # a text, not HTML
    assert [len(panel.claims) for panel in panels] == [2, 1]
    assert [panel.unit for panel in panels] == [forest.UNITS["bleu"], forest.UNITS["nats"]]
    assert {claim.metric for claim in LIST.claims} <= set(forest.UNITS)


def test_large_differences_squeeze_the_axis():
    far = row("b1-search", [90.0, 91.0, 90.5], [40.0, 40.5, 41.0])
    (panel,) = shown(forest.forest([far]))
    assert panel.unit == "difference in BLEU (not to scale beyond 10)"
    at = {number: x for x, number in panel.ticks}
    assert at["+10"] - at["+5"] == pytest.approx(at["+5"] - at["0"], abs=0.3)
    assert at["+40"] - at["+20"] == pytest.approx(at["+20"] - at["+10"], abs=0.3)
    assert at["+20"] - at["+10"] < 2 * (at["+10"] - at["+5"]) - 1
    (panel,) = shown(forest.forest([AHEAD]))
    assert "scale" not in panel.unit


def test_a_claim_is_drawn_twice():
    before = row("b1-search", [20.0, 30.0, 25.0], [20.0, 24.0, 22.0])
    (panel,) = shown(forest.before_and_after([before], [AHEAD], ("then", "now")))
    ((_, old, _, y_old, grey), (_, new, _, y_new, colour)), *_ = panel.ours
    assert [difference(panel, x) for x in (old, new)] == pytest.approx([3.0, 10.0], abs=0.1)
    assert y_old < y_new and grey == forest.EARLIER and colour == forest.COLOURS["same sign"]
    assert panel.beside == [["then: undecided", "now: same sign"]]
    assert panel.titles[0].startswith("then +3.0 (") and "; now +10.0 (" in panel.titles[0]


@pytest.mark.parametrize("ground", ["white", "black"])
def test_intervals_stand_out_on_light_and_dark_pages(ground):
    """3 to 1, as WCAG asks of what is no text."""

    def luminance(colour):
        parts = np.array(to_rgb(colour))
        linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
        return linear @ [0.2126, 0.7152, 0.0722]

    for colour in {*forest.COLOURS.values(), forest.EARLIER} - {forest.INK}:
        dark, light = sorted([luminance(colour), luminance(ground)])
        assert (light + 0.05) / (dark + 0.05) >= 3, colour
