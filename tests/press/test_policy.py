"""press/extensions/policy.py: what a page may run, and that a browser refuses everything else."""

import json

import pytest
from conftest import SITE

from press.extensions.light import with_plural
from press.extensions.policy import guard

PAGE = '<!doctype html><html><head><meta charset="utf-8">{}</head><body>{}</body></html>'
RUN = "document.title += 'a'"
CLICK = "document.title += &quot;b&quot;"


@pytest.fixture
def site(tmp_path):
    inside = f'<script>{RUN}</script><button onclick="{CLICK}">b</button>'
    data = '<script type="application/json">{"run": 1}</script>'
    (tmp_path / "own.js").write_text("document.title += 'c'")
    pages = {"one": inside + data, "two": '<script src="own.js"></script>'}
    for name, body in pages.items():
        (tmp_path / f"{name}.html").write_text(PAGE.format("", body))
    (tmp_path / "moved.html").write_text('<meta http-equiv="Refresh" content="0; url=one.html" />')
    guard(tmp_path)
    return tmp_path


def test_a_second_build_leaves_a_page_as_it_is(site):
    before = (site / "one.html").read_text()
    guard(site)
    assert (site / "one.html").read_text() == before


def test_a_translations_plural_is_a_function_without_eval(tmp_path):
    made = 'f = new Function(\n  "n",\n  `return (${catalog.plural_expr})`\n);'
    assert with_plural(made, tmp_path) == "f = (n) => (n != 1);"
    (tmp_path / "translations.js").write_text(json.dumps({"plural_expr": "0"}))
    assert with_plural(made, tmp_path) == "f = (n) => (0);"


@pytest.mark.browser
def test_a_browser_runs_what_is_named_and_refuses_the_rest(site, browser):
    page = browser.new_page()
    page.goto((site / "one.html").as_uri())
    page.click("button")
    assert page.title() == "ab"
    text = (site / "one.html").read_text().replace("'a'", "'x'").replace("&quot;b", "&quot;y")
    (site / "changed.html").write_text(text)
    page.goto((site / "changed.html").as_uri())
    page.click("button")
    assert page.title() == ""
    page.goto((site / "two.html").as_uri())
    assert page.title() == "c"
    page.close()


@pytest.mark.browser
@pytest.mark.parametrize("kind", ["book/index", "slides/03_learning_to_align", "search"])
def test_a_page_of_the_book_refuses_what_is_put_into_it(kind, browser, address):
    page = browser.new_page()
    page.goto(f"{address}{kind}.html")
    page.evaluate(
        """() => {
            const picture = document.createElement("img");
            picture.setAttribute("onerror", "window.stolen = true");
            picture.src = "data:,";
            const script = document.createElement("script");
            script.textContent = "window.stolen = true";
            document.body.append(picture, script);
        }"""
    )
    page.wait_for_timeout(300)
    assert page.evaluate("window.stolen") is None
    page.close()


@pytest.mark.browser
def test_every_page_has_a_policy(address):
    pages = [p for p in SITE.rglob("*.html") if "<head>" in p.read_text(encoding="utf8")]
    without = [p for p in pages if "Content-Security-Policy" not in p.read_text(encoding="utf8")]
    assert pages and not without
