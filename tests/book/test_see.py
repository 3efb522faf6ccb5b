"""The live translations in a real browser: `make browser`. As `test_site`, on the strict build."""

import json
import re
from pathlib import Path
from urllib.parse import urlparse

import numpy as np
import pytest
from built import DESK, faint, html_of, violations
from conftest import go, wait_until

from attnmt import greedy
from attnmt.book.live import weights

pytestmark = pytest.mark.browser

SMALL = {"width": 360, "height": 740}
CLOSE = 1e-3
MARKS = """() => performance.getEntriesByType("mark")
  .map((mark) => mark.name).filter((name) => name !== "live-loaded")"""


@pytest.fixture
def visit(fresh, address):
    """A function that opens a page."""
    return lambda name="book/see_it.html", **options: fresh(address + name, **options)


def touch(page, mode="pair"):
    """Bring a page's first live block of a mode to life."""
    box = page.locator(f".live[data-mode={mode}]").first
    box.locator(".live-start").click()
    done(box)
    return box


def done(box, turn=None):
    """Wait until it has translated."""
    which = f"[data-done='{turn}']" if turn else "[data-done]"
    box.locator(f".live-view{which}").wait_for()


# The view waits 200 ms for more of a sentence; then it refuses or translates it.
WRITTEN = """(view, before) => new Promise((written) => {
    const refused = () => view.classList.contains("live-empty");
    const look = () =>
        refused() || view.dataset.done !== before ? written() : setTimeout(look, 20);
    setTimeout(look, 300);
})"""


def write(box, text):
    """Type a sentence, and wait for what becomes of it."""
    view = box.locator(".live-view")
    before = view.get_attribute("data-done")
    box.locator(".live-field").fill(text)
    box.page.keyboard.press("Escape")
    view.evaluate(WRITTEN, before)


def press(box, name):
    """Press a button, and wait for the translation that follows."""
    view = box.locator(".live-view")
    turn = int(view.get_attribute("data-done"))
    box.get_by_role("button", name=name).click()
    done(box, turn + 1)


def notes(box) -> str:
    return box.locator(".live-notes").inner_text()


# --- what it computes (tests/live has 500 sentences of each model)


def test_the_page_shows_the_models_own_words_and_weights(typed):
    box, sentence = typed, "Die alte Frau hat dem Lehrer ein Buch gegeben."
    write(box, sentence)
    model = weights.pretrained("rnnsearch")
    words = model.source_vocabulary.tokenise(sentence)
    (expected,) = greedy(model, [words])
    shown = box.locator(".live-card.attends .live-text").all_inner_texts()
    assert shown == list(expected.words)
    rows = box.locator(".live-grid tbody tr")
    assert rows.locator("th").all_inner_texts() == list(expected.words)
    for number, weights_of in enumerate(expected.alignment):
        cells = rows.nth(number).locator("td")
        drawn = cells.evaluate_all("all => all.map(cell => +cell.style.getPropertyValue('--w'))")
        np.testing.assert_allclose(drawn, weights_of, atol=CLOSE)


# --- what it costs (how much a word computes: tests/live)


def test_a_sentence_is_translated_once_and_its_first_word_does_not_wait(typed):
    typed.page.evaluate("performance.clearMarks()")
    write(typed, f"{'der Hund ' * 19}schläft.")
    assert typed.page.evaluate(MARKS) == ["live-asked", "live-first-word", "live-done"]


@pytest.mark.parametrize("name", ["book/see_it.html", "book/index.html"])
def test_nothing_is_fetched_before_the_first_touch_and_its_own_models_then(visit, name, address):
    page = visit(name)

    def fetched(kind: str) -> list[str]:
        return [Path(urlparse(url).path).name for url in page.asked if kind in url]

    assert fetched(".safetensors") == fetched("translator.mjs") == fetched("sentences.json") == []
    box = touch(page)
    options = json.loads(re.search(r'live-options">(.*?)</script>', html_of(name))[1])
    assert sorted(fetched(".safetensors")) == sorted(
        f"{m}.safetensors.gz" for m in options["models"]
    )
    write(box, "Der Hund")
    assert [url for url in page.asked if not url.startswith((address, "data:"))] == []
    assert page.complaints == []


# --- what it says to the reader


@pytest.fixture(scope="module")
def typed(browser, address):
    """A block that was brought to life once, for all that depends on what is typed alone."""
    page = browser.new_page(viewport=DESK)
    go(page, address + "book/see_it.html")
    yield touch(page)
    page.close()


@pytest.mark.parametrize(
    ("text", "note", "read"),
    [
        ("?!", "Type a German sentence, or press Random.", False),
        ("Der Computer schläft.", "The model does not know Computer; it sees a gap", True),
        (
            "der Hund " * 21 + "schläft.",
            "had more than 40 words and marks, and this one has 44",
            True,
        ),
        ("der Hund " * 35 + "schläft.", "71 words. Only the first 60 are translated.", True),
        ("Собака спит.", "It does not know this script", False),
        ("The quick brown fox jumps.", "knows only about a thousand German words", False),
    ],
)
def test_what_is_strange_about_a_sentence_is_told(typed, text, note, read):
    """Of what is read: tests/live/test_translator.py."""
    write(typed, text)
    assert note in notes(typed)
    assert typed.locator(".live-watch").is_visible() == read


def test_the_alignment_is_a_table_and_the_translation_is_said(typed):
    write(typed, "Das Kind schläft.")
    table = typed.locator("table.live-grid")
    assert "a row for each English word" in table.locator("caption").inner_text()
    assert (
        table.locator("thead th[scope=col]").count()
        == typed.locator(".live-watch .live-word").count()
    )
    assert typed.locator("[aria-live=polite].live-hidden").inner_text().startswith("RNNencdec: ")


def test_a_failed_download_is_told_and_tried_again(visit):
    page = visit()
    page.route("**/*.safetensors.gz", lambda route: route.abort())
    box = page.locator(".live[data-mode=pair]").first
    box.locator(".live-start").click()
    page.get_by_text("The model could not be fetched.").wait_for()
    assert box.locator(".live-still svg.alignment").is_visible()
    page.unroute("**/*.safetensors.gz")
    box.get_by_role("button", name="Try again").click()
    done(box)


# --- growing


def test_it_grows_and_shrinks_and_stops_where_the_page_does(visit):
    pair = touch(visit())
    count, longer = pair.locator(".live-count"), pair.get_by_role("button", name="Longer")
    lengths = [int(count.inner_text().split()[0])]
    while longer.get_attribute("aria-disabled") != "true":
        press(pair, "Longer")
        lengths.append(int(count.inner_text().split()[0]))
    assert lengths == sorted(set(lengths)) and lengths[-1] <= 60
    assert pair.locator(".live-growth tbody tr").count() == len(lengths)
    assert "Only the first" not in notes(pair)
    press(pair, "Shorter")
    assert int(count.inner_text().split()[0]) == lengths[-2]


def test_a_word_lights_its_weights_on_the_other_side(visit):
    pair = touch(visit(has_touch=True))
    description = pair.locator(".live-say")
    english = pair.locator(".live-card.attends .live-word")
    german = pair.locator(".live-watch .live-word")
    english.nth(2).hover()
    assert "To write" in description.inner_text()
    heights = german.evaluate_all("all => all.map(word => +word.style.getPropertyValue('--w'))")
    assert sum(heights) == pytest.approx(1, abs=0.01)
    german.nth(2).hover()
    assert "got its biggest share" in description.inner_text()
    pair.page.mouse.move(0, 0)  # a phone has no mouse that could lie on a word
    english.nth(1).tap()
    assert "To write" in description.inner_text()


# --- for everyone


def test_by_keyboard_alone(visit):
    page = visit()
    start = page.locator(".live[data-mode=pair] .live-start")
    for _ in range(150):  # past the navigation
        page.keyboard.press("Tab")
        if start.evaluate("button => button === document.activeElement"):
            break
    page.keyboard.press("Enter")
    box = page.locator(".live[data-mode=pair]").first
    done(box)
    wait_until(page, "document.activeElement.classList.contains('live-field')")
    page.keyboard.press("Control+a")
    page.keyboard.type("Der Hu")
    options = box.get_by_role("option")
    options.first.wait_for()
    assert all(text.startswith("Hu") for text in options.locator("span").all_inner_texts())
    page.keyboard.press("ArrowDown")
    chosen = box.get_by_role("option", selected=True).locator("span").inner_text()
    page.keyboard.press("Enter")
    assert box.locator(".live-field").input_value() == f"Der {chosen} "
    view = box.locator(".live-view")
    before = view.get_attribute("data-done")
    page.keyboard.type("schläft.")
    page.keyboard.press("Enter")
    view.evaluate(WRITTEN, before)
    names = []
    for _ in range(12):
        page.keyboard.press("Tab")
        names.append(page.evaluate("document.activeElement.closest('[role=group]')?.ariaLabel"))
        if names[-1] == "Translation by RNNsearch":
            break
    assert names[-1] == "Translation by RNNsearch"
    before = box.locator(".live-say").inner_text()
    page.keyboard.press("ArrowRight")
    assert box.locator(".live-say").inner_text() != before
    label = page.evaluate("document.activeElement.textContent")
    assert re.fullmatch(r"\S+ , looks at \S+ [<>]?\d+%.*", label)


def test_steps_go_forth_and_back_and_play_with_the_models_own_numbers(visit):
    page = visit()
    box = touch(page, "step")
    view = box.locator(".live-view")
    forward = box.get_by_role("button", name="Forward one frame")
    model = weights.pretrained("rnnsearch")
    words = model.source_vocabulary.tokenise(box.locator(".live-field").input_value())
    (expected,) = greedy(model, [words])
    for frame in ("score", "softmax", "blend", "word"):
        assert view.get_attribute("data-frame") == frame
        assert box.locator(".live-now mark").inner_text()
        if frame != "word":
            forward.click()
    at = box.locator(".live-words .live-word").evaluate_all(
        "all => all.findIndex(word => word.classList.contains('lit'))"
    )
    bars = box.locator(".live-step .weight i")
    drawn = bars.evaluate_all("all => all.map(bar => +bar.style.getPropertyValue('--w'))")
    np.testing.assert_allclose(drawn, expected.alignment[at], atol=CLOSE)
    best = box.locator(".live-best li")
    assert best.count() == 5
    assert best.first.locator("span").inner_text() == expected.words[at]
    forward.click()
    box.get_by_role("button", name="Back one frame").click()
    assert view.get_attribute("data-frame") == "word"
    box.get_by_role("button", name="Play").click()
    page.locator(".live-view[data-frame=score]").wait_for()
    box.get_by_role("button", name="Pause").click()
    page.get_by_role("button", name="Luong").click()
    # once dot is loaded
    box.locator(".live-frames li:first-child", has_text="New state").wait_for()


def test_the_model_asked_for_last_is_the_one_shown(visit):
    page = visit()
    box = touch(page, "step")
    held = []
    page.route("**/luong-dot.safetensors.gz", lambda route: held.append(route))
    which = box.locator(".live-which")
    which.get_by_role("button", name="Luong").click()
    box.get_by_text("Fetching the other model ...").wait_for()
    which.get_by_role("button", name="RNNsearch").click()
    with page.expect_response("**/luong-dot.safetensors.gz"):
        held[0].continue_()
    page.wait_for_timeout(1000)  # the weights are read
    assert "RNNsearch" in which.locator("[aria-pressed=true]").inner_text()


def test_on_a_small_phone_a_long_word_and_a_long_sentence_do_not_widen_the_page(visit):
    page = visit(viewport=SMALL)
    touch(page, "step")
    box = touch(page)
    for _ in range(3):
        press(box, "Longer")
    width = "document.documentElement.scrollWidth"
    assert page.evaluate(width) <= SMALL["width"]
    write(box, f"Der {'Donau' * 14} hat ein Buch gekauft.")
    assert page.evaluate(width) <= SMALL["width"]


def test_axe_finds_nothing_text_stands_out_and_whoever_wants_no_motion_has_none(visit):
    page = visit(reduced_motion="reduce")
    for mode in ("pair", "step"):
        times = "all => all.map(one => getComputedStyle(one).transitionDuration)"
        assert set(touch(page, mode).locator("*").evaluate_all(times)) == {"0s"}
    assert faint(page, "light") == faint(page, "dark") == []
    assert violations(page, ".live") == []


def test_without_scripts_there_are_a_picture_and_a_sentence(browser, address):
    context = browser.new_context(java_script_enabled=False, viewport=SMALL)
    page = context.new_page()
    page.goto(address + "book/see_it.html")
    box = page.locator(".live[data-mode=pair]")
    assert box.locator(".live-still svg.alignment").is_visible()
    assert "Ich habe Paul gesehen" in box.locator(".live-field").inner_text()
    wrong, right = box.locator(".live-written").all()
    assert wrong.locator(".wrong").count() > right.locator(".wrong").count() == 0
    assert box.locator("noscript").is_visible()
    assert page.locator(".live-caption").first.is_visible()
    context.close()
