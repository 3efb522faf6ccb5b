"""The slides in a real browser that reaches nothing but this machine: `make browser`.

They are those of the strict build. The unit tests of the tool are in `test_slides_tool.py`.
"""

import re
from itertools import pairwise

import pytest
from built import html_of, some_by_day, visit
from conftest import go, wait_until

from press.contents import lectures

pytestmark = pytest.mark.browser

NAMES = some_by_day(path.stem for path in lectures())
SCREEN = {"width": 1280, "height": 720}
TEXT, CODE, DRAWN = 24, 18, 20  # pixels, the least: of a text, of code, in a drawing
DOT = 1.44  # pixels on the slide for one of a stored plot, whose letters of 10 points then have 20

# Of the slide on the screen: every line of text with its place, its size, and whether it is code;
# the places of everything else that is seen; and the pictures.
SEEN = """() => {
    const slide = Reveal.getCurrentSlide();
    const beside = slide.matches(".beside");
    const place = (box) => [box.x, box.y, box.right, box.bottom];
    const walker = document.createTreeWalker(slide, NodeFilter.SHOW_TEXT);
    const lines = [];
    for (let node; (node = walker.nextNode()); ) {
        const parent = node.parentElement;
        if (!node.data.trim() || parent.closest("aside, math, svg")) continue;
        const range = document.createRange();
        range.selectNodeContents(node);
        const size = parseFloat(getComputedStyle(parent).fontSize);
        for (const box of range.getClientRects())
            lines.push([node.data.trim().slice(0, 40), place(box), size, !!parent.closest("code")]);
    }
    const letters = [...slide.querySelectorAll(".picture > svg text, .learn-still svg text")];
    const drawn = letters.filter((text) => text.getClientRects().length).map((text) => {
        const { a, b } = text.getScreenCTM();
        return [text.textContent, parseFloat(getComputedStyle(text).fontSize) * Math.hypot(a, b)];
    });
    const png = '.picture > img[src$=".png"], .picture image[href$=".png"]';
    const dots = [...slide.querySelectorAll(png)].map((picture) => {
        const box = picture.getBoundingClientRect();
        const width = picture.naturalWidth ?? +picture.getAttribute("width");
        const height = picture.naturalHeight ?? +picture.getAttribute("height");
        return Math.min(box.width / width, box.height / height);
    });
    const boxes = (selector) => [...slide.querySelectorAll(selector)]
        .filter((part) => !part.closest("aside"))
        .map((part) => [part.className + "", place(part.getBoundingClientRect())]);
    const pictures = [...slide.querySelectorAll(".picture > :is(img, svg)")].map((picture) => [
        picture.getBoundingClientRect().height,
        picture.naturalWidth ?? picture.viewBox.baseVal.width,
        picture.alt ?? picture.getAttribute("aria-label") ?? "",
    ]);
    return {
        lines, pictures, drawn, dots,
        all: boxes(".item, header, img, :not(svg) > svg, td, math > *, .back, .signature"),
        scrolls: boxes(".stage").filter((_, i) => {
            const stage = slide.querySelectorAll(".stage")[i];
            return stage.scrollHeight > stage.clientHeight + 1;
        }),
        items: boxes(":scope > .item"),
        column: boxes(":scope > :is(.item, header, .back, .signature):not(.over)")
            .filter(([name]) => !beside || !name.includes("picture")),
        equations: boxes(".equation math > *, .equation .eqno"),
    };
}"""


@pytest.fixture(scope="module", params=NAMES)
def deck(request, browser, address):
    """A deck on the screen, and what each of its slides shows."""
    page = visit(browser, address, f"slides/{request.param}.html", viewport=SCREEN)
    page.name = request.param
    page.wait_for_selector("body.ready")
    page.slides = {}
    for number in range(page.evaluate("Reveal.getTotalSlides()")):
        page.evaluate("number => Reveal.slide(number, 0, 99)", number)
        page.slides[number + 1] = page.evaluate(SEEN)
    yield page
    page.close()


def test_a_deck_loads_without_complaint_from_this_machine_alone(deck, address):
    assert deck.complaints == []
    assert [url for url in deck.asked if not url.startswith((address, "data:"))] == []


def test_keys_lead_through_all_slides(deck):
    """The arrow and the space bar in turn; each shows the next fragment or slide."""
    place = "(({h, f}) => [h, f ?? -1])(Reveal.getIndices())"
    ended = "Reveal.isLastSlide() && !Reveal.availableFragments().next"
    deck.evaluate("Reveal.slide(0, 0, -1)")
    seen, at_end = [deck.evaluate(place)], False
    while not at_end:
        deck.keyboard.press(("ArrowRight", "Space")[len(seen) % 2])
        now, at_end = deck.evaluate(f"[{place}, {ended}]")
        assert now > seen[-1], f"a key led from {seen[-1]} to {now}"
        seen.append(now)
    slides = sorted({slide for slide, _ in seen})
    assert slides == list(range(deck.evaluate("Reveal.getTotalSlides()")))
    assert len(slides) > 3, f"{deck.name} has {len(slides)} slides: a heading opens one"


def test_no_markup_is_shown_and_equations_have_the_numbers_of_the_page(deck):
    shown = [text.strip("#") for text in deck.locator(".equation .eqno").all_text_contents()]
    there = re.findall(r'class="eqno">(\([\d.]+\))', html_of(f"book/{deck.name}.html"))
    assert [number for number in there if number in shown] == shown
    text = deck.evaluate(
        """() => {
            const copy = document.querySelector(".slides").cloneNode(true);
            copy.querySelectorAll("pre, code, math, style, svg").forEach(part => part.remove());
            return copy.textContent;
        }"""
    )
    raw = r"\$|\\\(|\\\[|\\begin|\{[\w:-]+\}|:::|\(\?\)|\*\*|`"
    assert re.findall(rf".{{0,30}}(?:{raw}).{{0,30}}", text) == []


def test_everything_is_on_the_slide(deck):
    """Nothing lies on anything else, and all is large enough for the last row."""
    for number, seen in deck.slides.items():
        for what, (left, top, right, bottom), *_ in seen["lines"] + seen["all"]:
            inside = left >= 0 and top >= 0 and right <= 1281 and bottom <= 721
            assert inside, (number, what, left, top, right, bottom)
        for (name, above), (_, below) in pairwise(seen["column"]):
            assert above[3] <= below[1] + 1, (number, name)
        for (name, right), (_, left) in pairwise(seen["equations"]):
            assert name != "eqno" or left[2] <= right[0], (number, "lies on its number")
        for what, _, size, code in seen["lines"]:
            assert size >= (CODE if code else TEXT) - 0.01, (number, what, size)
        for height, width, words in seen["pictures"]:
            assert width > 0 and height >= 250 and len(words) > 20, (number, height, words)
        assert all(size >= DRAWN for _, size in seen["drawn"]), (number, sorted(seen["drawn"]))
        assert all(dot >= DOT for dot in seen["dots"]), (number, seen["dots"])
        assert seen["scrolls"] == [], (number, seen["scrolls"])
        assert seen["items"] or number == 1


def test_every_slide_can_be_printed(browser, address):
    page = browser.new_page(viewport=SCREEN)
    go(page, f"{address}slides/03_learning_to_align.html?print-pdf")
    page.wait_for_selector("body.ready")
    page.wait_for_selector(".pdf-page")
    heights = page.locator(".pdf-page > section").evaluate_all(
        "all => all.map(s => s.offsetHeight)"
    )
    assert heights == [720] * page.locator("section").count()
    assert page.locator(".pdf-page .learn-still svg:visible").count() == 2  # of a training
    page.close()


def test_the_speaker_view_shows_notes(browser, address):
    context = browser.new_context(viewport=SCREEN)
    page = context.new_page()
    go(page, f"{address}slides/03_learning_to_align.html#/2")
    page.wait_for_selector("body.ready")
    with context.expect_page() as opened:
        page.keyboard.press("s")
    speaker = opened.value
    wait_until(speaker, "document.querySelector('.speaker-controls-notes').innerText.length > 50")
    context.close()


def test_a_training_runs_on_its_slide_and_leaves_the_keys_alone(browser, address):
    page = browser.new_page(viewport=SCREEN)
    go(page, f"{address}slides/03_learning_to_align.html")
    page.wait_for_selector("body.ready")
    which = page.evaluate(
        "[...document.querySelectorAll('.slides > section')].findIndex("
        "slide => slide.querySelector('.learn'))"
    )
    page.evaluate("which => Reveal.slide(which)", which)
    page.locator(".learn[data-updates='0']").wait_for()
    page.get_by_role("button", name="Train", exact=True).press("Space")
    wait_until(page, "+document.querySelector('.learn').dataset.updates >= 20")
    assert page.evaluate("Reveal.getIndices().h") == which  # the button's key
    page.get_by_label("Go back through the training").click(position={"x": 100, "y": 10})
    page.keyboard.press("ArrowRight")  # after a pointer, the slides'
    assert page.evaluate("Reveal.getIndices().h") == which + 1
    page.close()
