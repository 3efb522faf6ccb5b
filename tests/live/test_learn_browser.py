"""book/_live/learn_view.mjs in a real browser: what the reader presses, sees and hears.

It is served as the page of its own that slides and other pages embed, learn.html. Nothing here
depends on how fast the machine is: what is waited for is a number of updates.
"""

import json
from pathlib import Path

import pytest
from built import DESK, violations

from press.browser import served
from press.editions import catalogue

pytestmark = pytest.mark.browser
LIVE = Path(__file__).resolve().parents[2] / "book" / "_live"
SMALL = {"width": 360, "height": 740}


@pytest.fixture(scope="module")
def learn_page():
    with served(LIVE) as address:
        yield f"{address}learn.html"


@pytest.fixture
def visit(fresh, learn_page):
    """A function that opens the page with an address's end, and waits for the untrained picture."""

    def open_page(ending="", ready=True, **options):
        page = fresh(learn_page + ending, **options)
        if ready:
            page.locator("[data-updates='0']").wait_for()
        return page

    return open_page


def press(page, name):
    page.get_by_role("button", name=name, exact=True).click()


def updates(page) -> int:
    return int(page.locator(".learn").get_attribute("data-updates"))


def until(page, least):
    page.wait_for_function(
        "least => +document.querySelector('.learn').dataset.updates >= least", arg=least
    )


def weights(page) -> list[list[float]]:
    return page.locator(".learn tbody tr").evaluate_all(
        "rows => rows.map(row => [...row.querySelectorAll('td')]"
        ".map(cell => +cell.style.getPropertyValue('--w')))"
    )


def pause(page):
    press(page, "Pause")
    page.locator("[data-paused]").wait_for()
    page.wait_for_timeout(500)


MOVED = """() => {
    window.moved = 0;
    const add = list => list.getEntries().forEach(one => (window.moved += one.value));
    new PerformanceObserver(add).observe({ type: "layout-shift", buffered: true });
}"""


def test_it_locks_on_without_moving_and_asks_nothing_of_another_server(visit, learn_page):
    """On a phone, where a line more of what is said would move the most."""
    page = visit(viewport=SMALL)
    page.evaluate(MOVED)
    assert "Nothing is learned yet" in page.locator(".live-say").inner_text()
    assert max(map(max, weights(page))) < 0.9
    press(page, "Train")
    page.locator("[data-paused]").wait_for()  # soon after it has locked on it stops by itself
    summary = page.locator(".live-say").inner_text()
    assert "It locked on at update" in summary and "so it stopped: press Train" in summary
    assert "held-out words are right" in summary
    assert "Words right" in page.locator(".learn-curve:visible").nth(1).inner_text()
    ends = page.locator(".learn-axis :last-child").all_inner_texts()
    assert all(int(end.split()[0]) >= updates(page) and end.endswith("updates") for end in ends)
    *rows, end = weights(page)
    framed = page.locator("td.gold").evaluate_all("all => all.map(cell => cell.cellIndex - 1)")
    hits = [row.index(max(row)) == gold for row, gold in zip(rows, framed, strict=True)]
    assert sum(hits) >= len(rows) - 1
    assert {row[-1] for row in (*rows, end)} == {0}  # the end is masked
    page.wait_for_timeout(500)
    assert page.evaluate("window.moved") < 0.001
    assert page.complaints == []
    site = learn_page.rpartition("/")[0]
    assert [url for url in page.asked if not url.startswith(site)] == []


def test_step_pause_and_another_seed_by_keys(visit):
    page = visit("#learn?task=copy&length=4")
    for _ in range(3):
        press(page, "Step")
    until(page, 3)
    page.wait_for_timeout(300)
    assert updates(page) == 3
    page.get_by_role("button", name="Train", exact=True).press("Enter")
    until(page, 10)
    page.keyboard.press("Enter")  # the same button
    page.locator("[data-paused]").wait_for()
    stopped = updates(page)
    page.wait_for_timeout(500)
    assert updates(page) == stopped
    first = page.locator(".learn tbody").inner_text()
    press(page, "Again with another seed")
    page.locator("[data-updates='0']").wait_for()
    assert page.url.endswith("#learn?task=copy&length=4&seed=2")
    assert page.locator(".learn tbody").inner_text() != first
    page.get_by_role("button", name="Train", exact=True).wait_for()


def test_the_slider_goes_back_and_forth(visit):
    page = visit("#learn?task=copy&length=4")
    beginning = weights(page)
    press(page, "Train")
    until(page, 40)
    pause(page)
    end = weights(page)
    heard = page.locator("[aria-live=polite]").inner_text()  # by a screen reader
    assert heard == page.locator(".live-say").inner_text()
    assert f"After {updates(page)} updates" in heard
    assert "of the weight is on the right letter" in heard
    slider = page.get_by_label("Go back through the training")
    slider.focus()
    page.keyboard.press("Home")
    page.locator("[data-shown='0']").wait_for()
    assert weights(page) == beginning
    assert "Nothing is learned yet" in page.locator(".live-say").inner_text()
    page.keyboard.press("ArrowRight")
    page.locator("[data-shown='1']").wait_for()
    page.keyboard.press("End")
    page.wait_for_function(
        "document.querySelector('.learn').dataset.shown === "
        "document.querySelector('.learn').dataset.updates"
    )
    assert weights(page) == end != beginning


def test_the_address_says_what_was_chosen_and_brings_it_back(visit):
    page = visit()
    page.get_by_label("Task").select_option("reverse")
    page.get_by_label("Score", exact=True).select_option("additive")
    page.get_by_text("More choices").click()
    page.get_by_label("It may look at").select_option("local-p")
    page.get_by_label("Input feeding").check()
    page.get_by_label("Score of query q and word k").fill("dot(v, tanh(W(q) + U(k))) - j / 2")
    page.wait_for_function("location.hash.includes('+j+')")
    other = visit(page.url[page.url.index("#") :])
    for one in (page, other):
        assert one.get_by_label("Task").input_value() == "reverse"
        assert one.locator(".learn-line").input_value().endswith("- j / 2")
        assert one.get_by_label("Score", exact=True).input_value() == "edited"
        assert one.locator("select").nth(2).input_value() == "before"
        assert one.locator("input[type=checkbox]").evaluate_all(
            "all => all.map(box => box.checked)"
        ) == [False, False, False, False, False, True, True]
    assert weights(other) == weights(page)


def test_a_break_chooses_what_shows_it_and_on_a_phone_keeps_it_in_sight(visit):
    before = "#learn?task=copy&score=dot(q,+W(k))"
    page = visit(before, viewport={"width": 390, "height": 844}, reduced_motion="reduce")
    page.get_by_text("Break it").click()
    box = page.get_by_label("Read from left to right only")
    box.check()
    page.wait_for_function("location.hash.includes('directions=1')")
    assert page.get_by_label("Task").input_value() == "reverse"
    assert page.get_by_label("Score", exact=True).input_value() == "additive"
    assert page.get_by_text("Where will the rows look?").is_visible()
    happened = page.locator(".learn-found")
    assert happened.is_hidden()
    assert page.get_by_role("button", name="Train", exact=True).bounding_box()["y"] >= 0
    picture = page.locator(".learn .live-scroll").bounding_box()
    assert picture["y"] + picture["height"] <= 844
    moving = page.locator(".learn td").evaluate_all(
        "all => all.filter(one =>"
        " getComputedStyle(one, '::before').transitionDuration !== '0s').length"
    )
    assert moving == 0  # as the reader asked for
    press(page, "one place too far to the left")
    until(page, 5)
    assert happened.is_hidden()
    page.locator("[data-paused='300']").wait_for()
    assert happened.is_visible() and "one place too far to the right" in happened.inner_text()
    box.uncheck()
    page.wait_for_function("!location.hash.includes('directions')")
    assert page.get_by_label("Task").input_value() == "copy"  # as it was before
    assert page.locator(".learn-line").input_value() == "dot(q, W(k))"
    assert page.locator(".learn-guess").is_hidden()


def test_a_page_in_korean_speaks_korean(visit):
    page = visit(ready=False)
    words = f"window.siteWords = {json.dumps(catalogue.table())}"  # as the site brings them
    script = {"body": words, "content_type": "text/javascript"}
    page.route("**/words.js", lambda route: route.fulfill(**script))
    page.evaluate(
        """() => {
            const box = Object.assign(document.createElement("div"), {className: "live learn"});
            const part = Object.assign(document.createElement("section"), {lang: "ko"});
            part.append(box);
            document.querySelector("main").replaceChildren(part);
            return import("./learn_view.mjs").then(({ render }) => render(box));
        }"""
    )
    page.locator("[data-updates='0']").wait_for()
    page.get_by_role("button", name="학습", exact=True).click()
    until(page, 5)
    page.get_by_role("button", name="멈춤", exact=True).click()
    page.locator("[data-paused]").wait_for()
    assert "가 맞습니다" in page.locator(".live-say").inner_text()
    latin = page.locator(".learn summary, .learn button, .learn label").all_text_contents()
    assert all(any("가" <= letter <= "힣" for letter in text) for text in latin), latin
    assert page.complaints == []


@pytest.mark.parametrize(
    ("ending", "message"),
    [
        ("score=<img+src=x+onerror=alert(1)>", "column 1: the sign < is not known here"),
        ("task=own&pairs=a+%3D+b", "paste at least 8 lines, source = target; these are 1"),
        ("score=dot(q,k)/0&task=constructor&length=99&seed=x", "was no longer a number"),
    ],
)
def test_what_cannot_be_trained_is_told_and_mended(visit, ending, message):
    """What an address says beside it, and is no choice, is left out."""
    page = visit(f"#learn?{ending}", ready=False)
    page.get_by_role("alert").get_by_text(message).wait_for()
    press(page, "Train")
    page.wait_for_timeout(300)
    assert page.get_by_role("button", name="Train", exact=True).is_visible()
    assert page.locator(".learn img").count() == 0
    page.get_by_label("Task").select_option("copy")
    page.get_by_label("Score of query q and word k").fill("dot(q, W(k))")
    page.wait_for_function("!document.querySelector('.learn-wrong').textContent")
    press(page, "Train")
    until(page, 10)
    assert page.complaints == []


def test_the_readers_own_pairs(visit):
    page = visit()
    page.get_by_label("Task").select_option("own")
    pairs = page.get_by_label("Your pairs")
    assert len(pairs.input_value().splitlines()) == 75
    pairs.fill("\n".join(f"eins {word} = {word} one" for word in "abcdefghij"))
    page.locator(".learn thead").get_by_text("eins").wait_for()
    press(page, "Train")
    until(page, 10)
    assert "task=own&pairs=eins+a" in page.url
    assert page.locator("td.gold").count() == 0
    assert "looks most at" in page.locator(".live-say").inner_text()


# --- for everyone


@pytest.mark.parametrize(
    ("size", "theme"),
    [
        pytest.param(DESK, "light", id="desk, light"),
        pytest.param(SMALL, "dark", id="phone, dark"),
    ],
)
def test_axe_finds_nothing(visit, size, theme):
    page = visit("#learn?task=german&length=16", viewport=size, color_scheme=theme)
    press(page, "Train")
    until(page, 20)
    pause(page)
    for summary in ("More choices", "Break it"):
        page.get_by_text(summary).click()
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    assert violations(page) == []
