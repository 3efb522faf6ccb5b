"""The built site in a real browser that reaches nothing but this machine: what a reader does there.

It looks at the strict build; `test_each_page.py` has what holds for every page.
"""

import functools
import io
import math
import re
from html import unescape
from urllib.parse import unquote, urldefrag, urljoin

import pytest
import torch
from built import PAGES, PHONE, html_of
from conftest import SITE
from PIL import Image

from attnmt.attention import Predictive, weigh
from attnmt.encoder import Memory
from press.contents import ROOT, chapters, lectures

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("address")]


@pytest.fixture
def fresh(fresh, address):
    """A function that opens a page of the site."""
    return lambda name, **options: fresh(address + name, **options)


# --- what stands in the files of all pages


@functools.cache
def anchors(name: str) -> tuple[set[str], list[str]]:
    """The places of a page that a link can lead to, and where its own links lead."""
    places = re.findall(r'\s(?:id|name)="([^"]+)"', html_of(name))
    links = re.findall(r'<a\s[^<>]*?\bhref="([^"]+)"', html_of(name))
    return set(map(unescape, places)), list(map(unescape, links))


def test_links_and_anchors_resolve():
    kinds = ("https:", "http:", "mailto:", "javascript:")
    slides = [f"slides/{path.stem}.html" for path in lectures()]
    for name in [*PAGES, *slides]:
        _, links = anchors(name)
        assert links, name
        for link in links:
            if link.startswith(kinds):
                continue
            target, fragment = urldefrag(urljoin(name, link))
            target = unquote(target) or name
            assert (SITE / target).is_file(), (name, link)
            if fragment and target.endswith(".html"):
                assert unquote(fragment) in anchors(target)[0], (name, link)


def test_numbers_in_sentences_are_shown_without_their_marks():
    """In titles, headings, bold words, items, tables and captions, and to the search."""
    names = [f"book/{path.stem}.html" for path in chapters()]
    for name in [*names, *(f"slides/{path.stem}.html" for path in lectures())]:
        assert not re.search(r"(<|&lt;)!--\s*(\w+|/)\s*--", html_of(name)), name
    assert "!--" not in html_of("searchindex.js")


# --- the window of local attention


def expected_weights(scores: list[float], D: int, p: float) -> list[float]:
    """What the package makes of these scores."""
    S = len(scores)
    memory = Memory(torch.zeros(1, S, 1), torch.ones(1, S, dtype=torch.bool))
    window = Predictive(1, D)
    window.centre = lambda *_: torch.tensor([[p]])
    mask, weight = window(torch.zeros(1, 1, 1), memory, time=0)
    return weigh(torch.tensor([[scores]]), mask, weight).flatten().tolist()


# In words and from 0 to 1: where the shaded window begins and ends, and points of the curve.
SHAPES = """() => {
    const svg = document.querySelector(".local-window-box svg");
    const [number, numbers] = [(part, name) => +part.getAttribute(name), /[\\d.]+ [\\d.]+/g];
    const middle = (bar) => number(bar, "x") + number(bar, "width") / 2;
    const bars = [...svg.querySelectorAll(".weight")].map(middle);
    const s = (x) => ((bars.length - 1) * (x - bars[0])) / (bars.at(-1) - bars[0]);
    const shade = svg.querySelector("rect[fill='#e69f00']");
    const [x, y, width, height] = ["x", "y", "width", "height"].map((name) => number(shade, name));
    const path = svg.querySelector("path[stroke-width='2']").getAttribute("d").match(numbers);
    const points = path.map((point) => point.split(" ").map(Number));
    return [[s(x), s(x + width)], points.map(([x, top]) => [s(x), (y + height - top) / height])];
}"""


def test_the_window_moves_and_says_what_the_package_says(fresh):
    page = fresh("book/05_local_attention.html")
    scores, start = page.evaluate("[localWindow.scores, localWindow.start]")
    picture = (ROOT / "book/figures/local_window.svg").read_text(encoding="utf8")

    def shown() -> list[float]:
        bars = page.locator(".local-window-box .weight").all()
        return [float(bar.get_attribute("data-weight")) for bar in bars]

    stored = [float(weight) for weight in re.findall(r'data-weight="([\d.]+)"', picture)]
    assert shown() == stored  # the picture that stands there without scripts
    assert shown() == pytest.approx(expected_weights(scores, start["D"], start["p"]), abs=1e-4)
    D, p = (page.locator(f".local-window-box input[name={slider}]") for slider in "Dp")

    def check_shapes() -> None:
        half, centre = int(D.input_value()), float(p.input_value())
        window, curve = page.evaluate(SHAPES)
        edges = [max(centre - half, -1), min(centre + half, len(scores))]
        assert window == pytest.approx(edges, abs=0.01)
        assert [curve[0][0], curve[-1][0]] == pytest.approx([-1, len(scores)], abs=0.01)
        for s, height in curve:
            gaussian = math.exp(-((s - centre) ** 2) / (2 * (half / 2) ** 2))
            assert height == pytest.approx(gaussian, abs=0.01)

    check_shapes()
    moves = [(D, "ArrowLeft"), (D, "End"), (D, "Home"), (p, "ArrowRight"), (p, "Home"), (p, "End")]
    for slider, key in moves:
        slider.focus()
        page.keyboard.press(key)
        expected = expected_weights(scores, int(D.input_value()), float(p.input_value()))
        assert shown() == pytest.approx(expected, abs=1e-4)
        check_shapes()
    drawing = page.locator(".local-window-box [role=img]")
    description = page.locator(f"#{drawing.get_attribute('aria-describedby')}")
    assert "Window: positions 11 to 11, 1 of 12 words" in description.inner_text()


# --- what a reader does


def test_the_keyboard_is_enough_to_search(fresh):
    page = fresh("book/index.html")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.getAttribute('href')") == "#main-content"
    page.keyboard.press("Control+k")
    page.keyboard.type("alignment")
    page.keyboard.press("Enter")
    page.wait_for_selector("#search-results li a")


def test_on_a_phone_printed_tables_keep_their_columns_and_sentences_wrap(fresh):
    page = fresh("book/03_learning_to_align.html", viewport=PHONE)
    printed = """of => [...document.querySelectorAll(of)].map(pre => {
        const style = getComputedStyle(pre), padding = 2 * parseFloat(style.paddingTop)
        return [pre.textContent.trimEnd().split("\\n").length,
                Math.round((pre.clientHeight - padding) / parseFloat(style.lineHeight))]})"""
    tables = page.evaluate(printed, "div.cell_output div.stream.columns pre")
    assert len(tables) >= 3
    assert all(lines == rows for lines, rows in tables), tables
    sentences = page.evaluate(printed, "div.cell_output div.stream:not(.columns) pre")
    assert any(rows > lines for lines, rows in sentences), sentences


def test_on_a_dark_page_pictures_have_no_white_paper(fresh):
    page = fresh("book/02_fixed_length.html", color_scheme="dark")
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    # a heat map keeps its colours, since they are its numbers, and is dimmed
    pictures = page.locator('div.cell_output img:not([alt*="heat map" i], [alt*="dark" i])')
    assert pictures.count() > 0
    for number in range(pictures.count()):
        shown = Image.open(io.BytesIO(pictures.nth(number).screenshot())).convert("L")
        corners = [
            shown.getpixel((x, y)) for x in (2, shown.width - 3) for y in (2, shown.height - 3)
        ]
        assert max(corners) < 80, pictures.nth(number).get_attribute("alt")
