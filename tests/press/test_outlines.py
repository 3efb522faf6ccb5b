"""Diagrams: what is stored is what is drawn; letters are outlines, and large enough."""

import re
from xml.etree import ElementTree

import pytest

from press.contents import ROOT
from press.outlines import SVG, with_outlines

COLUMN, NINE_POINTS = 700, 12  # pixels: a page's width, at which a figure is shown; a letter
SOURCES = sorted((ROOT / "press" / "figures").glob("*.svg"))
each = pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)


@each
def test_what_is_stored_is_what_is_drawn(source):
    """Outlines may differ with Matplotlib's version, the rest does not."""

    def bones(svg: str) -> list[tuple[str, str | None]]:
        parts = ElementTree.fromstring(svg).iter()
        return [(part.tag, part.get("x"), part.get("width")) for part in parts if part.tag != "use"]

    stored = (ROOT / "book" / "figures" / source.name).read_text(encoding="utf8")
    assert bones(stored) == bones(with_outlines(source.read_text(encoding="utf8")))
    root = ElementTree.fromstring(stored)
    assert not list(root.iter(f"{SVG}text")) and "font-family" not in stored
    places = {part.get("id") for part in root.iter(f"{SVG}path")}
    used = {part.get("href").lstrip("#") for part in root.iter(f"{SVG}use")}
    assert used and used <= places


@each
def test_no_letter_is_under_nine_points(source):
    text = source.read_text(encoding="utf8")
    width = float(re.search(r'viewBox="0 0 ([\d.]+)', text)[1])
    sizes = [float(size) for size in re.findall(r'font-size="([\d.]+)"', text)]
    assert min(sizes) * COLUMN / width >= NINE_POINTS


def test_an_index_is_lower_and_smaller():
    low = '<tspan font-size="16" dy="5">t</tspan>'
    text = f'<text x="40" y="50" font-size="20"><tspan>h</tspan>{low}</text>'
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><title>T</title>{text}</svg>'
    groups = re.findall(r"translate\(([\d.]+) ([\d.]+)\) scale\(([\d.]+)", with_outlines(svg))
    (x, y, scale), (low_x, low_y, low) = (map(float, group) for group in groups)
    assert (low_y, low < scale, low_x > x) == (y + 5, True, True)


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
