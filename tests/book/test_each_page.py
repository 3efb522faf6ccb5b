"""What holds for each page of the book, in a real browser that reaches nothing but this machine.

A page is opened once, as at a first visit, and all is looked at there, from a phone's width to a
desk's. `ATTNMT_BROWSER=required` in the environment turns a missing browser from a reason to skip
into a failure.
"""

import re

import pytest
from built import DESK, LOOKED_AT, PHONE, contrast, faint, luminance, violations, visit
from conftest import wait_until

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module", params=LOOKED_AT)
def page(request, browser, address):
    """A page after its first visit."""
    page = visit(browser, address, request.param)
    page.wait_for_timeout(500)  # for what scripts do, or ask for, afterwards
    page.asked = [url for url in page.asked if not url.startswith("data:")]
    yield page
    page.close()


# --- what it loads


def test_a_page_loads_without_complaint_from_this_machine_alone(page, address):
    assert page.complaints == []
    assert [url for url in page.asked if not url.startswith(address)] == []


# --- what it shows


def test_pictures_are_there_in_their_proportions(page):
    """Their alternative texts: test_book.py, and axe."""
    page.evaluate("document.querySelectorAll('img').forEach(i => i.loading = 'eager')")
    wait_until(page, "[...document.images].every(image => image.complete)")
    for source, width, height, natural_width, natural_height in page.evaluate(
        "[...document.images].map(i => [i.currentSrc, i.clientWidth, i.clientHeight,"
        " i.naturalWidth, i.naturalHeight])"
    ):
        assert natural_width > 0, source
        if width and "/_images/" in source:
            proportion = natural_width / natural_height
            assert width / height == pytest.approx(proportion, rel=0.02), source


# --- on every screen, in light and dark, for everyone

WIDTHS = 360, 390, 768, 1024, 1200, 1400

# What reaches out of the column, and is not in a box that scrolls; and outputs that scroll.
BEYOND = """() => {
    const found = [];
    if (document.documentElement.scrollWidth > innerWidth) found.push("the page");
    const column = document.querySelector("article.bd-article");
    if (!column) return found; // the search
    const edge = column.getBoundingClientRect().right + 1;
    const scrolls = (part) => /auto|scroll/.test(getComputedStyle(part).overflowX);
    const boxed = (part) => part !== column && (scrolls(part) || boxed(part.parentElement));
    const named = (part) => `${part.tagName} ${part.textContent.trim().slice(0, 40) || part.alt}`;
    for (const part of column.querySelectorAll("div.cell_output *, figure, img, table, pre")) {
        if (part.closest(".live, math, svg *")) continue;
        const box = part.getBoundingClientRect();
        if (box.width && box.right > edge && !boxed(part.parentElement)) found.push(named(part));
        const cut = part.scrollWidth > part.clientWidth + 1 && part.clientWidth > 0;
        const text = part.matches("div.cell_output pre");
        const columns = part.closest("div.columns, div.highlight-python");
        const wide = innerWidth < 1000 && columns;
        if (cut && text && !wide) found.push(`scrolls: ${named(part)}`);
    }
    return found;
}"""
# A new width is laid out, and what moves because of it has come to rest.
AT_REST = """async () => {
    const frame = () => new Promise(requestAnimationFrame);
    await frame();
    await frame();
    const ends = (one) => one.effect.getTiming().iterations === 1;
    await Promise.allSettled(document.getAnimations().filter(ends).map((one) => one.finished));
    await frame();
}"""
# Formulas of which a part is not seen.
CUT = """[...document.querySelectorAll("div.math, div.math > .formula")]
    .filter((math) => math.scrollWidth > math.clientWidth + 1)
    .map((math) => math.id || math.textContent.trim())"""
# Of each cell of a forest plot: its ends, the size of its letters, and whether any are cut off.
FORESTS = """() => [...document.querySelectorAll(".forest [role=row] > :not(.head)")].map((one) => {
    const box = one.getBoundingClientRect();
    const size = parseFloat(getComputedStyle(one).fontSize);
    return [box.left, box.right, size, one.scrollWidth > one.clientWidth];
})"""


def test_nothing_runs_out_of_its_column(page):
    """A long formula scrolls on a phone; at a desk all of it is seen."""
    found = {}
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        page.evaluate(AT_REST)
        if beyond := page.evaluate(BEYOND):
            found[width] = beyond
        for left, right, size, cut in page.evaluate(FORESTS):
            assert left >= 0 and right <= width and size >= 10 and not cut, (width, left, right)
    page.set_viewport_size(DESK)
    page.evaluate(AT_REST)
    assert (found, page.evaluate(CUT)) == ({}, [])


# Figures and formulas that scroll sideways: whether keys reach them, and their names.
# A live box always lets its own matrix be reached; the picture before it, where it must scroll.
WIDE = "figure, div.math > .formula, .live-scroll:not([role=region])"
SCROLLED = f"""() => [...document.querySelectorAll("{WIDE}")]
    .filter((box) => box.scrollWidth > box.clientWidth && box.clientWidth)
    .map((box) => [box.tabIndex === 0, box.getAttribute("aria-label") ?? ""])"""
KEYED = f"""[...document.querySelectorAll("{WIDE}")]
    .filter((box) => box.hasAttribute("tabindex")).length"""
# The theme does the same for code, a moment after the window has changed.
CODE_IS_KEYED = """[...document.querySelectorAll("pre")]
    .every((box) => box.scrollWidth <= box.clientWidth || box.tabIndex === 0)"""


def test_what_scrolls_on_a_phone_is_reached_by_keys_and_has_a_name(page):
    page.set_viewport_size(PHONE)
    page.evaluate(AT_REST)
    scrolled = page.evaluate(SCROLLED)
    for reached, name in scrolled:
        assert reached and len(name) > 3, name
    assert page.evaluate(KEYED) == len(scrolled)
    wait_until(page, CODE_IS_KEYED)
    assert violations(page, runOnly=["scrollable-region-focusable"]) == []
    page.set_viewport_size(DESK)
    page.evaluate(AT_REST)
    assert page.evaluate(KEYED) == len(page.evaluate(SCROLLED))  # at a desk hardly ever


def test_text_stands_out_in_light_and_dark(page):
    for theme in ("dark", "light"):
        assert faint(page, theme) == []
        back, text = page.evaluate(
            "[getComputedStyle(document.body).backgroundColor,"
            " getComputedStyle(document.querySelector('main')).color]"
        )
        assert (luminance(back) > luminance(text)) == (theme == "light")
        assert contrast(text, back) > 7


def test_axe_finds_nothing(page):
    """Colours aside, which it takes its time for: the test above looks at all of them."""
    assert violations(page, rules={"color-contrast": {"enabled": False}}) == []


# --- figures that answer the mouse


def test_a_cell_of_an_alignment_tells_its_words_and_weight_and_is_framed(page):
    for figure in page.locator(".cell_output svg.alignment:has(path > title)").all():
        cells = figure.locator("path:has(title)")
        cell = cells.nth(cells.count() // 2)
        stroke = "cell => getComputedStyle(cell).stroke"
        before = cell.evaluate(stroke)
        cell.hover()
        assert re.fullmatch(r"\S+ → \S+: [01]\.\d\d", cell.locator("title").text_content())
        assert cell.evaluate(stroke) == "rgb(213, 94, 0)" != before
