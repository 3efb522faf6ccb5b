"""A few pages of the Korean edition, built as `make korean` builds all, in a real browser."""

import re
import subprocess
import sys

import pytest
import yaml
from built import PHONE
from conftest import SITE, wait_until
from test_each_page import AT_REST, BEYOND

from press.browser import served
from press.editions import korean

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("address")]

CHAPTER = "book/05_local_attention"  # it has all: live blocks, tables, formulas, a drawing to move
PAGES = ("book/index", "book/how_to", CHAPTER, "book/troubleshooting", "book/exercises")
TOC = {"format": "jb-book", "root": PAGES[0], "chapters": [{"file": page} for page in PAGES[1:]]}


@pytest.fixture(scope="module")
def there(tmp_path_factory):
    """The Korean pages in a folder of the English site, served on this machine."""
    source = tmp_path_factory.mktemp("korean")
    korean.generate(source)
    (source / "_toc.yml").write_text(yaml.safe_dump(TOC), encoding="utf8")
    command = [sys.executable, "-c", "from jupyter_book.cli.main import main; main()", "build", "."]
    done = subprocess.run([*command, "--quiet"], cwd=source, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    site = tmp_path_factory.mktemp("site")
    for part in SITE.iterdir():
        (site / part.name).symlink_to(part)
    (site / "ko").unlink(missing_ok=True)
    (site / "ko").symlink_to(source / "_build" / "html")
    with served(site) as address:
        yield address


@pytest.fixture
def fresh(fresh, there):
    """A function that opens a Korean page."""
    return lambda name, **options: fresh(f"{there}ko/{name}", **options)


# Of what stands round the text: what has words, but none in Korean. (A link may lead to a page that
# is English, a live box shows sentences, and what lags in the text is listed elsewhere.)
ENGLISH = """() => {
    const english = (text) => /\\p{L}{2}/u.test(text ?? "") && !/[가-힣]/.test(text);
    const found = [];
    for (const name of ["title", "aria-label", "placeholder", "data-tooltip"])
        for (const part of document.querySelectorAll(`[${name}]`))
            if (!part.matches("a.reference, svg *") && english(part.getAttribute(name)))
                found.push(`${name}: ${part.getAttribute(name)}`);
    const round = "button, summary, label, footer p, .admonition-title";
    for (const part of document.querySelectorAll(round)) {
        const words = part.cloneNode(true);
        words.querySelectorAll("math, code, i").forEach((one) => one.remove());
        if (!part.closest(".live") && !part.querySelector("a, .xref"))
            if (english(words.textContent)) found.push(words.textContent.trim());
    }
    return [...new Set(found)];
}"""
# Names, endings of files, and keys.
SAID_SO = re.compile(
    r"title: English|aria-label: English|\.(ipynb|md|pdf)|Ctrl.*|CC BY 4\.0|AER|BLEU"
    r"|(local-[mp], )?(general|dot)"
    r"|aria-label: \S+ ← .*"  # where a model looked: its words are German and English
)


def test_pages_are_korean_and_so_is_what_stands_round_them_and_they_fit_on_a_phone(fresh):
    """One test, since the pages are built for it."""
    for name in PAGES:
        page = fresh(f"{name}.html", viewport=PHONE)
        page.wait_for_timeout(300)  # for what scripts write
        assert page.complaints == []
        assert page.evaluate("document.documentElement.lang") == "ko"
        assert [one for one in page.evaluate(ENGLISH) if not SAID_SO.fullmatch(one)] == [], name
        for width in (360, 390):
            page.set_viewport_size({"width": width, "height": 800})
            page.evaluate(AT_REST)
            assert page.evaluate(BEYOND) == [], (name, width)

    # the window that moves, a network that learns, and the button to the same place in English
    page = fresh(f"{CHAPTER}.html#exercises")
    assert page.locator(".local-window-box p").inner_text().startswith("윈도: 위치 ")
    assert "가중치" in page.locator(".local-window-box svg").text_content()
    page.locator(".live.learn").first.scroll_into_view_if_needed()
    assert page.locator(".learn-train").first.inner_text() == "학습"
    page.locator("a.btn-language").click()
    wait_until(page, "document.documentElement.lang === 'en'")
    assert page.url.endswith(f"/{CHAPTER}.html#exercises") and "/ko/" not in page.url
    assert page.locator("#exercises h2").inner_text().startswith("Exercises")
