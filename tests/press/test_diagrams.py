"""Diagrams: what is stored is what is drawn, every arrow is there, letters are outlines."""

import re
from xml.etree import ElementTree

import pytest

from press import diagrams
from press.diagrams import COLUMNS, FIGURES, WEIGHTS, Sheet, drawn
from press.outlines import SVG, with_outlines

DRAWN = drawn()
COLUMN = 700  # pixels of a page, at which a figure is shown
NINE_POINTS = 12  # pixels
each = pytest.mark.parametrize("name", sorted(DRAWN))
PARTS = {"rnnsearch_scores": 2, "rnnsearch_weights": 4, "rnnsearch_blend": 7}  # arrows of a word


def stored(name: str) -> str:
    return (FIGURES / f"{name}.svg").read_text(encoding="utf8")


@each
def test_what_is_stored_is_what_is_drawn(name):
    """Outlines may differ with Matplotlib's version, the rest does not."""

    def bones(svg: str) -> list[tuple[str, str | None]]:
        parts = ElementTree.fromstring(svg).iter()
        return [(part.tag, part.get("x"), part.get("width")) for part in parts if part.tag != "use"]

    assert bones(stored(name)) == bones(with_outlines(DRAWN[name]))


@each
def test_letters_are_outlines(name):
    root = ElementTree.fromstring(stored(name))
    assert not list(root.iter(f"{SVG}text")) and "font-family" not in stored(name)
    places = {part.get("id") for part in root.iter(f"{SVG}path")}
    used = [part.get("href") for part in root.iter(f"{SVG}use")]
    assert used and {name.lstrip("#") for name in used} <= places
    assert len(stored(name)) < 70_000


@each
def test_no_letter_is_under_nine_points(name):
    source = DRAWN[name]
    width = float(re.search(r'viewBox="0 0 ([\d.]+)', source)[1])
    sizes = [float(size) for size in re.findall(r'font-size="([\d.]+)"', source)]
    assert min(sizes) * COLUMN / width >= NINE_POINTS


def lines(source: str) -> list[tuple[float, ...]]:
    """The arrows of a diagram: where each ends. V and H go on from where the path is."""
    ends = []
    for way in re.findall(r'<path class="arrow" d="([^"]+)"[^>]*marker-end', source):
        x = y = 0.0
        for command, numbers in re.findall(r"([MVH])([\d. -]+)", way):
            given = [float(number) for number in numbers.split()]
            x = given[0] if command in "MH" else x
            y = given[-1] if command in "MV" else y
        ends.append((x, y))
    return ends


def ends_of_word(source: str, x: float) -> list[tuple[float, ...]]:
    return [end for end in lines(source) if x - 20 <= end[0] <= x + diagrams.LANE]


@pytest.mark.parametrize("name", PARTS)
def test_every_word_has_every_arrow(name):
    """Query and annotation to score, score to softmax, softmax to weight, both to their product."""
    for x in COLUMNS:
        assert len(ends_of_word(DRAWN[name], x)) == PARTS[name]


def test_in_the_whole_step_every_score_reaches_softmax_and_every_weight_the_context():
    source = DRAWN["rnnsearch_step"]
    for x in COLUMNS:
        ends = ends_of_word(source, x)
        assert (x, diagrams.SOFTMAX + 19) in ends
        assert (x + diagrams.LANE, diagrams.WEIGHED - diagrams.BAR - 3) in ends
        assert (x + 15, diagrams.WEIGHED - 30) in ends  # the weight, to its product
        assert (x, diagrams.SUMMED - 19) in ends
    bars = re.findall(rf'height="([\d.]+)" fill="{diagrams.ORANGE}"', source)
    assert [float(bar) / diagrams.BAR for bar in bars] == pytest.approx(WEIGHTS, abs=0.002)
    assert sum(WEIGHTS) == pytest.approx(1)


def test_both_decoders_ask_every_word():
    ends = lines(DRAWN["two_paths"])
    for left in (0, diagrams.PANEL):
        for x in diagrams.ACROSS:
            assert (left + x - 12, 381) in ends  # the query
            assert (left + x + 10, 381) in ends  # the annotation
            assert (left + x, 289) in ends  # weighted, to the sum


def test_an_index_is_lower_and_smaller():
    sheet = Sheet("A title", 100)
    sheet.text(400, 50, "the h_{t−1} of")
    assert '<tspan font-style="italic">h</tspan>' in sheet.source()
    text = with_outlines(sheet.source())
    assert "<title>A title</title>" in text
    groups = re.findall(r"translate\(([\d.]+) ([\d.]+)\) scale\(([\d.]+)", text)
    (x, y, scale), (low_x, low_y, low) = groups[1:3]
    assert float(low_y) == float(y) + 5
    assert float(low) < float(scale)
    assert float(low_x) > float(x)


def test_a_text_in_the_middle_is_as_wide_to_both_sides():
    text = '<text x="50" y="9" font-size="10" text-anchor="{}">ll</text>'
    svg = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9">{}</svg>'
    starts = []
    for anchor in ("start", "middle", "end"):
        drawing = with_outlines(svg.format(text.format(anchor)))
        starts.append(float(re.search(r"translate\(([\d.]+)", drawing)[1]))
    assert starts[0] == 50
    assert starts[0] - starts[1] == pytest.approx((starts[0] - starts[2]) / 2, abs=0.11)
    assert starts[2] < 46
