"""The steps of a figure: one at a time where scripts run, and on paper all of them."""

import pytest
from docutils import nodes
from sphinx.application import Sphinx

from attnmt.book.live.view import STYLES
from press.browser import served

SETTINGS = {
    "extensions": ["myst_parser", "press.extensions.formulas", "press.extensions.live"],
    "myst_enable_extensions": ["colon_fence", "dollarmath"],
    "html_math_renderer": "mathml",
    "html_theme": "basic",
}
PAGE = r"""# Steps

:::{stepper}
:figure: drawn
:equation: c = \step{2}{\sum_j \step{1}{\alpha_j} h_j}

**Weigh.** Softmax.

**Blend.** The sum.
:::

```{raw} html
<figure id="drawn"><svg viewBox="0 0 9 9"><g class="frame"><rect width="9" height="4"/></g>
<g class="frame"><rect y="5" width="9" height="4"/></g></svg></figure>
```
"""
SEEN = """all => all.filter(one => getComputedStyle(one).visibility === "visible")
    .map(one => one.textContent.trim())"""
LIT = "all => all.map(one => [one.classList[0], getComputedStyle(one).outlineStyle])"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    (folder / "index.md").write_text(PAGE)
    app = Sphinx(folder, None, folder / "out", folder / "read", "html", confoverrides=SETTINGS)
    app.build()
    return app


def test_each_paragraph_is_a_step_and_the_page_loads_what_shows_it(site):
    (box,) = (
        node
        for node in site.env.get_doctree("index").findall(nodes.container)
        if "live-steps" in node["classes"]
    )
    assert [step.astext() for step in box.children[1:]] == ["Weigh. Softmax.", "Blend. The sum."]
    html = (site.outdir / "index.html").read_text("utf8")
    assert html.count('class="step-1"') == html.count('class="step-2"') == 1
    assert all(f"live/{name}" in html for name in (*STYLES, "page.mjs"))


@pytest.mark.browser
def test_steps_go_by_keys_and_mark_their_term_and_nothing_moves(browser, site):
    with served(site.outdir) as address:
        page = browser.new_page(reduced_motion="reduce")
        page.goto(f"{address}index.html")
        page.evaluate(
            "() => (window.moved = 0, new PerformanceObserver(list => list.getEntries().forEach("
            "one => (window.moved += one.value))).observe({type: 'layout-shift', buffered: true}))"
        )
        box, frames = page.locator(".live-steps"), page.locator("div.frame")
        forward = box.get_by_role("button", name="Forward one frame")
        forward.wait_for()
        assert frames.evaluate_all(SEEN) == ["Weigh. Softmax."]
        assert page.locator("math .lit").evaluate_all(LIT) == [["step-1", "solid"]]
        assert page.locator("svg .later").count() == 1
        forward.focus()
        page.keyboard.press("ArrowRight")
        assert frames.evaluate_all(SEEN) == ["Blend. The sum."]
        assert page.locator("math .lit").evaluate_all(LIT) == [["step-2", "solid"]]
        assert page.locator("svg .later").count() == 0
        assert box.locator("[aria-live]").inner_text() == "2 / 2. Blend. The sum."
        page.keyboard.press("ArrowRight")  # there is no third
        page.keyboard.press("ArrowLeft")
        assert frames.evaluate_all(SEEN) == ["Weigh. Softmax."]
        page.wait_for_timeout(100)
        assert page.evaluate("window.moved") == 0
        page.emulate_media(media="print")
        assert len(frames.evaluate_all(SEEN)) == 2 and box.get_by_role("button").count() == 0
        assert page.locator("svg .frame").evaluate_all(SEEN) == ["", ""]
        page.close()


@pytest.mark.browser
def test_without_scripts_all_steps_are_there(browser, site):
    with served(site.outdir) as address:
        context = browser.new_context(java_script_enabled=False)
        page = context.new_page()
        page.goto(f"{address}index.html")
        assert all(frame.is_visible() for frame in page.locator("div.frame").all())
        context.close()
