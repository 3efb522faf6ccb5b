"""Light pages: what a page makes a browser load, in requests and bytes, and what axe says of it.

As `test_site`, on the strict build: `make browser`.
"""

import gzip
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from conftest import SITE, go, wait_until
from test_site import DESK, PAGES

pytestmark = pytest.mark.browser

# What a page may load the first time, without its pictures. Bytes as a static host sends them:
# text compressed. Without formulas and live blocks a page makes four requests: itself, style,
# script, and the small picture of its tab.
REQUESTS = 9
# The box of this page is its content and begins at once: a style, modules, and a worker that reads
# them again.
TRAINS = {"book/watch_it_learn.html": 14}
SHARED = 135_000  # all but the page itself
INDEX = 70_000  # what only the search page loads: every word of the book
TEXT = 110_000  # the page
TEXTUAL = (".html", ".css", ".js", ".mjs", ".svg", ".json")


def travels(path: Path) -> int:
    """The bytes of a file on their way."""
    content = path.read_bytes()
    return len(gzip.compress(content, 6)) if path.suffix in TEXTUAL else len(content)


def file_of(address: str) -> Path:
    return SITE / unquote(urlsplit(address).path.lstrip("/"))


@pytest.fixture(scope="module")
def loads(browser, address):
    """Page -> what a browser asks for when it is opened, first the page."""
    found = {}
    for name in PAGES:
        context = browser.new_context(viewport=DESK)
        page = context.new_page()
        asked = []
        page.on("request", lambda request, asked=asked: asked.append(request.url))
        go(page, address + name)
        found[name] = [url for url in asked if not url.startswith("data:")]
        context.close()
    return found


def test_the_bytes_and_requests_of_every_page(loads, capsys):
    rows = []
    for name, asked in loads.items():
        pictures = [url for url in asked if "/_images/" in url]
        files = [file_of(url) for url in asked if url not in pictures]
        page, *shared = (travels(file) for file in files if file.name != "searchindex.js")
        raw = sum(path.stat().st_size for path in files)
        rows.append((name, len(files), len(pictures), page, sum(shared), raw))
    with capsys.disabled():
        print("\npage: requests, pictures; KB compressed: page, shared; KB as they lie")
        for name, number, pictures, page, shared, raw in rows:
            sizes = f"{page / 1e3:6.0f}{shared / 1e3:6.0f}{raw / 1e3:8.0f}"
            print(f"{name:36}{number:3}{pictures:4}{sizes}")
    for name, number, _, page, shared, _ in rows:
        assert number <= TRAINS.get(name, REQUESTS), name
        assert shared <= SHARED, name
        assert page <= TEXT, name
    assert travels(SITE / "searchindex.js") <= INDEX


def test_a_page_without_formulas_loads_nothing_for_them(loads):
    plain = [name for name in loads if "<math" not in (SITE / name).read_text(encoding="utf8")]
    assert plain
    for name, asked in loads.items():
        fonts = [url for url in asked if url.endswith("math.woff")]
        assert len(fonts) == (name not in plain), name
    assert not any("mathjax" in url.lower() for asked in loads.values() for url in asked)


def test_scripts_do_not_keep_a_page_waiting():
    for name in PAGES:
        tags = re.findall(r"<script\b[^>]*\bsrc=[^>]*>", (SITE / name).read_text(encoding="utf8"))
        assert tags, name
        assert all("defer" in tag or 'type="module"' in tag for tag in tags), name


def test_pictures_say_their_size_and_wait_to_be_seen():
    for name in PAGES:
        html = (SITE / name).read_text(encoding="utf8")
        pictures = re.findall(r'<img\b[^>]*src="[^"]*_images/[^>]*>', html)
        for number, tag in enumerate(pictures):
            assert ("width=" in tag and "height=" in tag) or "style=" in tag, (name, tag)
            assert number == 0 or 'loading="lazy"' in tag, (name, tag)


def test_a_picture_keeps_its_proportions(browser, address):
    for width in (360, 1280):
        page = browser.new_page(viewport={"width": width, "height": 800})
        go(page, address + "book/02_fixed_length.html")
        page.evaluate("document.querySelectorAll('img').forEach(i => i.loading = 'eager')")
        wait_until(page, "[...document.images].every(image => image.complete)")
        shown = page.evaluate(
            "[...document.images].map(i => [i.clientWidth / i.clientHeight,"
            " i.naturalWidth / i.naturalHeight, i.src])"
        )
        page.close()
        for seen, natural, source in shown:
            assert seen == pytest.approx(natural, rel=0.02), source


# --- what it says of itself


def head_of(name: str) -> dict[str, str]:
    html = (SITE / name).read_text(encoding="utf8").partition("</head>")[0]
    found = {}
    for tag in re.findall(r"<meta\b[^>]*>", html):
        values = dict(re.findall(r'([\w:-]+)="([^"]*)"', tag))
        if key := values.get("name", values.get("property")):
            assert key not in found, (name, key)
            found[key] = values["content"]
    return found


@pytest.mark.parametrize("name", [name for name in PAGES if name.startswith("book/")] or ["none"])
def test_a_page_says_what_it_is(name):
    head = head_of(name)
    assert 40 <= len(head["description"]) <= 240
    assert head["og:description"] == head["description"]
    assert not re.search(r"[{}$`]|Project name", head["description"] + head["og:title"])
    picture = SITE / "_static" / "share" / f"{Path(name).stem}.png"
    assert head["og:image"].endswith(f"_static/share/{picture.name}")
    assert picture.read_bytes()[16:24] == (1200).to_bytes(4, "big") + (630).to_bytes(4, "big")
    assert picture.stat().st_size < 100_000


def test_no_two_pages_say_the_same():
    texts = [head_of(name)["description"] for name in PAGES if name.startswith("book/")]
    assert len(set(texts)) == len(texts)


# --- axe -----------


@pytest.mark.parametrize("name", PAGES or ["none"])
def test_axe_finds_nothing(browser, address, name):
    page = browser.new_page(viewport=DESK)
    go(page, address + name)
    found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    page.close()
    told = [(rule["id"], rule["nodes"][0]["html"][:120], len(rule["nodes"])) for rule in found]
    assert told == []


def test_axe_finds_nothing_in_a_living_block(browser, address):
    page = browser.new_page(viewport=DESK)
    go(page, address + "book/see_it.html")
    box = page.locator(".live[data-mode=pair]").first
    box.locator(".live-start").click()
    box.locator(".live-view[data-done]").wait_for()
    found = Axe().run(page, context=".live", options={"resultTypes": ["violations"]}).response
    page.close()
    assert [(rule["id"], rule["nodes"][0]["html"][:120]) for rule in found["violations"]] == []
