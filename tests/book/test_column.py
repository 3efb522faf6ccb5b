"""On every width of a screen what a page shows stays in its column, and in the dark it is dark."""

import io

import pytest
from conftest import go
from PIL import Image
from test_site import DESK, WRITTEN

pytestmark = pytest.mark.browser

WIDTHS = 360, 768, 1024, 1200, 1400

# What reaches out of the column, and is not in a box that scrolls; and outputs that scroll.
BEYOND = """() => {
    const column = document.querySelector("article.bd-article");
    const edge = column.getBoundingClientRect().right + 1;
    const scrolls = (part) => /auto|scroll/.test(getComputedStyle(part).overflowX);
    const boxed = (part) => part !== column && (scrolls(part) || boxed(part.parentElement));
    const named = (part) => `${part.tagName} ${part.textContent.trim().slice(0, 40) || part.alt}`;
    const found = [];
    if (document.documentElement.scrollWidth > innerWidth) found.push("the page");
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
FORESTS = """() => [...document.querySelectorAll('img[alt*="forest" i]')].map((image) => {
    const box = image.getBoundingClientRect();
    return [box.left, box.right, innerWidth];
})"""


@pytest.mark.parametrize("name", WRITTEN)
def test_nothing_runs_out_of_its_column(browser, address, name):
    page = browser.new_page(viewport=DESK)
    go(page, address + name)
    found = {}
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        if beyond := page.evaluate(BEYOND):
            found[width] = beyond
        for left, right, inner in page.evaluate(FORESTS):  # the verdicts stand at the right
            assert left >= 0 and right <= inner, (width, left, right)
    page.close()
    assert found == {}


@pytest.mark.parametrize("name", [f"book/{n}.html" for n in ("02_fixed_length", "08_whole_family")])
def test_on_a_dark_page_pictures_have_no_white_paper(browser, address, name):
    page = browser.new_page(viewport=DESK, color_scheme="dark")
    go(page, address + name)
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
    page.close()
