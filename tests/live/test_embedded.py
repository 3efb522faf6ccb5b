"""A live figure of the site by one line, in a page of another origin and in a reveal.js deck."""

import json

import pytest

from attnmt.book.live import weights
from press.browser import served
from press.contents import ROOT
from press.extensions import live

pytestmark = pytest.mark.browser
LINE = '<iframe src="{}see.html#see?{}" title="t" style="width: 100%; height: 700px"></iframe>'
DECK = """<!doctype html><link rel="stylesheet" href="reveal/reveal.css">
<div class="reveal"><div class="slides"><section>one</section><section>{}</section></div></div>
<script src="reveal/reveal.js"></script><script>Reveal.initialize();</script>"""


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    """The folder with the site's live files, at one port, and an empty course, at another."""
    book, course = tmp_path_factory.mktemp("book"), tmp_path_factory.mktemp("course")
    live.copy_files(book, ["rnnencdec", "rnnsearch"])
    (course / "reveal").symlink_to(ROOT / "book" / "_vendor" / "reveal")
    with served(book) as one, served(course) as other:
        yield one, course, other


@pytest.fixture
def shown(fresh, places):
    """A function that shows HTML in the course's page; returns the page and the frame's content."""
    book, course, address = places

    def show(html, options):
        (course / "page.html").write_text(html.format(LINE.format(book, options)))
        page = fresh(f"{address}page.html")
        return page, page.frame_locator("iframe")

    return show


def test_a_step_in_a_deck_of_another_origin(shown):
    page, inside = shown(DECK, "models=rnnsearch&frames&sentence=Anna%20lacht.")
    page.keyboard.press("ArrowRight")
    inside.locator(".live-view.step[data-done]").wait_for()
    assert inside.locator(".live-field").input_value() == "Anna lacht."
    box = page.locator("iframe").bounding_box()
    assert box["width"] > 300 and box["height"] > 300


PLACES = """card => [...card.querySelectorAll(".live-word")].map(word => {
    const [inside, own] = [card, word].map(one => one.getBoundingClientRect());
    return [word.querySelector(".live-text").textContent, Math.round(own.x - inside.x), own.width];
})"""


def test_words_line_up_and_an_emptied_field_keeps_the_height(fresh, places):
    german = "Ich habe Paul gesehen und Anna hat versucht, den Brief heimlich zu schreiben."
    page = fresh(f"{places[0]}see.html#see?models=rnnencdec,rnnsearch&sentence={german}")
    page.locator("[data-done]").wait_for()
    one, other = (card.evaluate(PLACES) for card in page.locator(".live-card").all())
    both = set(map(tuple, one)) & set(map(tuple, other))  # a word, its place, its width
    common = {"I", "have", "Paul", "and", "Anna", "letter", "secretly", "."}
    assert {word for word, *_ in both} == common
    height = page.locator("main").bounding_box()["height"]
    page.locator(".live-field").fill("")
    page.locator(".live-empty").wait_for()
    assert page.locator("main").bounding_box()["height"] >= height


def test_a_wrong_name_is_told(shown):
    _, inside = shown("<!doctype html><p>{}", "models=transformer")
    inside.get_by_text("models: one or two of rnnencdec, rnnsearch").wait_for()


def test_the_models_that_can_be_named_are_those_of_the_site():
    text = (live.SOURCE / "embedded.mjs").read_text(encoding="utf8")
    assert json.dumps(list(weights.SHOWN)) in text
