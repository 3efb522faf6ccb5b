"""The built site in a real browser that reaches nothing but this machine: `make browser`.

It looks at the strict build, `_build/strict/_build/html`. `ATTNMT_BROWSER=required` in the
environment turns a missing browser from a reason to skip into a failure.
"""

import functools
import math
import re
from collections import defaultdict
from html.parser import HTMLParser
from urllib.parse import unquote, urldefrag, urljoin

import nbformat
import pytest
import torch
import yaml
from conftest import SITE, go, wait_until

from attnmt.attention import Predictive, weigh
from attnmt.encoder import Memory
from press.colab.cell import repository
from press.contents import ROOT

pytestmark = pytest.mark.browser

FOUND = sorted(path.relative_to(SITE).as_posix() for path in SITE.rglob("*.html"))
# the slides have tests of their own
PAGES = [
    name for name in FOUND if name != "index.html" and not name.startswith(("_static/", "slides/"))
]
WRITTEN = [name for name in PAGES if name.startswith("book/")]
PHONE, DESK = {"width": 390, "height": 844}, {"width": 1280, "height": 900}
WEIGHT = 1_250_000  # bytes that a page may bring in all, the first time


@pytest.fixture(scope="module", params=PAGES or ["none"])
def page(request, browser, address):
    """A page, loaded; its complaints, requests and failures are noted on it."""
    page = browser.new_page(viewport=DESK)
    page.name, page.complaints, page.requests = request.param, [], []
    page.on("console", lambda message: message.type == "error" and complain(page, message.text))
    page.on("pageerror", lambda error: complain(page, str(error)))
    page.on("request", lambda asked: page.requests.append(asked.url))
    page.on("response", lambda got: got.status >= 400 and complain(page, f"{got.status} {got.url}"))
    go(page, address + request.param)
    yield page
    page.close()


def complain(page, text: str) -> None:
    page.complaints.append(text)


@pytest.fixture
def fresh(browser, address):
    """A function that opens a page of its own, to be changed freely."""
    pages = []

    def open_page(name: str, **options):
        pages.append(browser.new_page(**({"viewport": DESK} | options)))
        go(pages[-1], address + name)
        return pages[-1]

    yield open_page
    for opened in pages:
        opened.close()


# --- every page


def test_a_page_loads_without_complaint(page):
    assert page.complaints == []


def test_no_request_leaves_the_machine(page, address):
    assert [url for url in page.requests if not url.startswith((address, "data:"))] == []


def test_nothing_on_a_page_would_be_fetched_from_elsewhere(page):
    """Also not later, as by a click: the page names no script, style, picture or frame outside."""
    html = (SITE / page.name).read_text(encoding="utf8")
    loaded = r"<(?:script|img|iframe|source|video|audio|object|embed)\b[^>]*\b(?:src|data)="
    styles = r"<link\b[^>]*stylesheet[^>]*href="
    assert re.findall(rf"(?:{loaded}|{styles})[\"']?https?:", html) == []
    assert re.findall(r"[^\n]{0,60}(?:unpkg|jsdelivr|cdnjs|googleapis)[^\n]{0,60}", html) == []


def test_math_is_rendered(page):
    marked = page.locator(".math").count()
    assert page.locator(".math math").count() == marked
    assert page.locator("merror, .math code").count() == 0
    text = page.locator("main").first.inner_text()
    assert not re.search(r"\\\(|\\\[|\\begin\{", re.sub(r"(?s)`.*?`", "", text)), page.name


def test_equations_fit_on_the_page_of_a_desk(page):
    """On a phone a long one scrolls; at a desk all of it is seen."""
    wide = page.evaluate(
        """[...document.querySelectorAll("div.math, div.math > .formula")]
            .filter(math => math.scrollWidth > math.clientWidth + 1)
            .map(math => math.id || math.textContent.trim())"""
    )
    assert wide == []


def test_pictures_are_there_and_have_alternative_text(page):
    page.evaluate("document.querySelectorAll('img').forEach(i => i.loading = 'eager')")
    wait_until(page, "[...document.images].every(image => image.complete)")
    pictures = page.evaluate(
        "[...document.images].map(i => [i.currentSrc, i.naturalWidth, i.alt])"
    ) + page.evaluate(
        "[...document.querySelectorAll('svg.alignment, .local-window-box > div')]"
        ".map(s => ['svg', s.clientWidth, s.getAttribute('aria-label') ?? ''])"
    )
    for source, width, words in pictures:
        assert width > 0, source
        assert len(words) > 3, source


class Anchors(HTMLParser):
    def __init__(self):
        super().__init__()
        self.ids, self.links = set(), []

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.ids.update(attributes[key] for key in ("id", "name") if attributes.get(key))
        if tag == "a" and attributes.get("href"):
            self.links.append(attributes["href"])


@functools.cache
def anchors(name: str) -> Anchors:
    parser = Anchors()
    parser.feed((SITE / name).read_text(encoding="utf8"))
    return parser


def test_links_and_anchors_resolve(page):
    kinds = ("https:", "http:", "mailto:", "javascript:")
    for link in anchors(page.name).links:
        if link.startswith(kinds):
            continue
        target, fragment = urldefrag(urljoin(page.name, link))
        target = unquote(target) or page.name
        assert (SITE / target).is_file(), link
        if fragment and target.endswith(".html"):
            assert unquote(fragment) in anchors(target).ids, link


def test_a_phone_shows_the_whole_width(page):
    page.set_viewport_size(PHONE)
    wide = page.evaluate("document.documentElement.scrollWidth")
    page.set_viewport_size(DESK)
    assert wide <= PHONE["width"]


def luminance(*layers: str) -> float:
    """Of a colour, and of those under it where it is translucent; the lowest is opaque."""
    parts = [0.0] * 3
    for colour in reversed(layers):
        *colour, alpha = [*map(float, re.findall(r"[\d.]+", colour)), 1][:4]
        parts = [alpha * over / 255 + (1 - alpha) * under for over, under in zip(colour, parts)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


# Of each kind of text on a page: its colour, those it lies on, and its first words.
TEXTS = """() => {
    const found = {};
    const walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
    for (let node; (node = walker.nextNode()); ) {
        const parent = node.parentElement;
        const other = "svg, script, style, [class*=kbd], a.headerlink";
        if (!node.data.trim() || parent.closest(other)) continue;
        const layers = [getComputedStyle(parent).color];
        for (let above = parent; above; above = above.parentElement)
            layers.push(getComputedStyle(above).backgroundColor);
        found[layers] ??= [layers, node.data.trim().slice(0, 40)];
    }
    return Object.values(found);
}"""


def contrast(text: str, *layers: str) -> float:
    one, other = luminance(text, *layers), luminance(*layers)
    return (max(one, other) + 0.05) / (min(one, other) + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_stands_out_in_light_and_dark(page, theme):
    page.evaluate("theme => document.documentElement.dataset.theme = theme", theme)
    back, text = page.evaluate(
        "[getComputedStyle(document.body).backgroundColor,"
        " getComputedStyle(document.querySelector('main')).color]"
    )
    texts = page.evaluate(TEXTS)
    page.evaluate("document.documentElement.dataset.theme = 'light'")
    assert (luminance(back) > luminance(text)) == (theme == "light")
    assert contrast(text, back) > 7
    for layers, words in texts:  # of code and boxes, too
        assert contrast(*layers) > 4.5, (words, layers)


def test_buttons_lead_to_colab_a_download_and_an_edit(page):
    if page.name not in WRITTEN:
        return
    stem = page.name.removesuffix(".html")
    candidates = [ROOT / f"{stem}.ipynb", ROOT / f"{stem}.md"]
    source = next(path for path in candidates if path.exists())
    download = page.locator(".btn-download-source-button").get_attribute("href")
    copy = SITE / urljoin(page.name, download)
    assert copy.read_bytes() == source.read_bytes()
    path = source.relative_to(ROOT).as_posix()
    edit = page.locator(".btn-source-edit-button").get_attribute("href")
    colab = page.locator("a:has(img[src*=colab]), a.btn-launch-colab-button")
    if not repository():
        assert edit in ("publish.html", "#")  # the help page's own address is "#"
    else:
        branch = yaml.safe_load((ROOT / "_config.yml").read_text())["repository"]["branch"]
        assert edit == f"{repository()}/edit/{branch}/{path}"
        place = repository().removeprefix("https://github.com/")
        colab_address = f"https://colab.research.google.com/github/{place}/blob/{branch}/{path}"
    if source.suffix == ".ipynb":
        expected = colab_address if repository() else "publish.html"
        assert colab.get_attribute("href") == expected


# --- figures that answer the mouse


def draws_an_alignment(cell):
    """Whether a cell has drawn one. A cell may also say that the run is not there yet."""
    outputs = cell.get("outputs", [])
    pictures = [key for output in outputs for key in output.get("data", {}) if "image" in key]
    return "plots.alignment(" in cell.source and bool(pictures)


def test_a_cell_of_an_alignment_tells_its_words_and_weight(page):
    stored = 0
    notebook = ROOT / page.name.replace(".html", ".ipynb")
    if notebook.is_file():
        stored = notebook.read_text(encoding="utf8").count('<svg class=\\"alignment\\"')
        assert stored > 0 or not any(map(draws_an_alignment, nbformat.read(notebook, 4).cells))
    figures = page.locator("svg.alignment")
    assert figures.count() == stored
    for number in range(stored):
        x, y, before = page.evaluate(
            """number => {
                const figure = document.querySelectorAll("svg.alignment")[number];
                const cells = figure.querySelectorAll("path:has(title)");
                const cell = cells[Math.floor(cells.length / 2)];
                cell.scrollIntoView({ block: "center", behavior: "instant" });
                const box = cell.getBoundingClientRect();
                const stroke = getComputedStyle(cell).stroke;
                return [box.x + box.width / 2, box.y + box.height / 2, stroke];
            }""",
            number,
        )
        page.mouse.move(x, y)
        title, stroke = page.evaluate(
            """([x, y]) => {
                const cell = document.elementFromPoint(x, y);
                return [cell.querySelector("title")?.textContent, getComputedStyle(cell).stroke];
            }""",
            [x, y],
        )
        assert re.fullmatch(r"\S+ → \S+: [01]\.\d\d", title or ""), title
        assert (before, stroke) == (
            "none",
            "rgb(213, 94, 0)",
        )  # it is framed while it is pointed at


def pages_with(text: str) -> list[str]:
    return [name for name in PAGES if text in (SITE / name).read_text(encoding="utf8")]


WINDOWS = pages_with("local-window")


def expected_weights(scores: list[float], D: int, p: float) -> list[float]:
    """What the package makes of these scores."""
    S = len(scores)
    memory = Memory(torch.zeros(1, S, 1), torch.ones(1, S, dtype=torch.bool))
    window = Predictive(1, D)
    window.centre = lambda *_: torch.tensor([[p]])
    mask, weight = window(torch.zeros(1, 1, 1), memory, time=0)
    return weigh(torch.tensor([[scores]]), mask, weight).flatten().tolist()


# In words and from 0 to 1: where the shaded window begins and ends, and points of the curve.
SHAPES = """() => {
    const svg = document.querySelector(".local-window-box svg");
    const [number, numbers] = [(part, name) => +part.getAttribute(name), /[\\d.]+ [\\d.]+/g];
    const middle = (bar) => number(bar, "x") + number(bar, "width") / 2;
    const bars = [...svg.querySelectorAll(".weight")].map(middle);
    const s = (x) => ((bars.length - 1) * (x - bars[0])) / (bars.at(-1) - bars[0]);
    const shade = svg.querySelector("rect[fill='#e69f00']");
    const [x, y, width, height] = ["x", "y", "width", "height"].map((name) => number(shade, name));
    const path = svg.querySelector("path[stroke='#d55e00']").getAttribute("d").match(numbers);
    const points = path.map((point) => point.split(" ").map(Number));
    return [[s(x), s(x + width)], points.map(([x, top]) => [s(x), (y + height - top) / height])];
}"""


@pytest.mark.parametrize("name", WINDOWS or ["none"])
def test_the_window_moves_and_says_what_the_package_says(fresh, name):
    if not WINDOWS:
        pytest.skip("no page has the window of local attention yet")
    page = fresh(name)
    scores, start = page.evaluate("[localWindow.scores, localWindow.start]")
    picture = (ROOT / "book/figures/local_window.svg").read_text(encoding="utf8")

    def shown() -> list[float]:
        bars = page.locator(".local-window-box .weight").all()
        return [float(bar.get_attribute("data-weight")) for bar in bars]

    stored = [float(weight) for weight in re.findall(r'data-weight="([\d.]+)"', picture)]
    assert shown() == stored  # the picture that stands there without scripts
    assert shown() == pytest.approx(expected_weights(scores, start["D"], start["p"]), abs=1e-4)
    D, p = (page.locator(f".local-window-box input[name={slider}]") for slider in "Dp")

    def check_shapes() -> None:
        half, centre = int(D.input_value()), float(p.input_value())
        window, curve = page.evaluate(SHAPES)
        edges = [max(centre - half, -1), min(centre + half, len(scores))]
        assert window == pytest.approx(edges, abs=0.01)
        assert [curve[0][0], curve[-1][0]] == pytest.approx([-1, len(scores)], abs=0.01)
        for s, height in curve:
            gaussian = math.exp(-((s - centre) ** 2) / (2 * (half / 2) ** 2))
            assert height == pytest.approx(gaussian, abs=0.01)

    check_shapes()
    moves = [(D, "ArrowLeft"), (D, "End"), (D, "Home"), (p, "ArrowRight"), (p, "Home"), (p, "End")]
    for slider, key in moves:
        slider.focus()
        page.keyboard.press(key)
        expected = expected_weights(scores, int(D.input_value()), float(p.input_value()))
        assert shown() == pytest.approx(expected, abs=1e-4)
        check_shapes()
    drawing = page.locator(".local-window-box [role=img]")
    said = page.locator(f"#{drawing.get_attribute('aria-describedby')}")
    assert "Window: positions 11 to 11, 1 of 12 words" in said.inner_text()


def test_chapter_five_has_the_window():
    if "book/05_local_attention.html" in PAGES:
        assert "book/05_local_attention.html" in WINDOWS


# --- what opens, and what changes


def test_a_solution_opens_by_click_and_by_key(fresh):
    page = fresh(pages_with('class="solution dropdown')[0])
    solution = page.locator(".solution").first
    button, answer = solution.locator(".toggle-button"), solution.locator("section").first
    assert not answer.is_visible()
    button.click()
    assert answer.is_visible()
    button.click()
    assert not answer.is_visible()
    button.focus()
    page.keyboard.press("Enter")
    assert answer.is_visible()


def test_the_theme_button_changes_the_theme(fresh):
    page = fresh("book/index.html")
    seen = []
    for _ in range(3):  # as the system has it, light, dark
        page.locator(".theme-switch-button").first.click()
        seen.append(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert min(map(luminance, seen)) < 0.1 and max(map(luminance, seen)) > 0.9


# --- finding one's way


def test_the_site_opens_with_the_first_page(fresh):
    page = fresh("index.html")
    page.wait_for_url("**/book/index.html")


def test_search_finds_chapters(fresh, address):
    page = fresh("search.html?q=attention")
    page.wait_for_selector("#search-results li a")
    first = page.locator("#search-results li a").first
    assert page.request.get(urljoin(page.url, first.get_attribute("href"))).ok


def test_the_keyboard_is_enough(fresh):
    page = fresh("book/index.html")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.getAttribute('href')") == "#main-content"
    page.keyboard.press("Control+k")
    page.keyboard.type("alignment")
    page.keyboard.press("Enter")
    page.wait_for_selector("#search-results li a")


def test_on_a_phone_printed_tables_keep_their_columns_and_sentences_wrap(fresh):
    page = fresh("book/03_learning_to_align.html", viewport=PHONE)
    printed = """of => [...document.querySelectorAll(of)].map(pre => {
        const style = getComputedStyle(pre), padding = 2 * parseFloat(style.paddingTop)
        return [pre.textContent.trimEnd().split("\\n").length,
                Math.round((pre.clientHeight - padding) / parseFloat(style.lineHeight))]})"""
    tables = page.evaluate(printed, "div.cell_output div.stream.columns pre")
    assert len(tables) >= 3
    assert all(lines == rows for lines, rows in tables), tables
    sentences = page.evaluate(printed, "div.cell_output div.stream:not(.columns) pre")
    assert any(rows > lines for lines, rows in sentences), sentences


def test_on_a_phone_the_contents_open_and_close(fresh):
    page = fresh("book/index.html", viewport=PHONE, is_mobile=True, has_touch=True)
    seen = "document.querySelector('.bd-sidebar-primary').getBoundingClientRect().right > 0"
    assert not page.evaluate(seen)
    page.locator(".primary-toggle").first.tap()
    wait_until(page, seen.replace("right > 0", "left == 0"))  # all the way in
    page.keyboard.press("Escape")
    wait_until(page, f"!({seen})")


def test_the_book_refers_to_equations_figures_and_papers():
    kinds = defaultdict(int)
    for name in WRITTEN:
        for link in anchors(name).links:
            kind = re.search(r"#(equation-|fig-|id\d)", link)
            kinds[kind[1][:3] if kind else None] += 1
    assert {"equ", "fig", "id"} <= {key[:3].rstrip("0123456789") for key in kinds if key}


def test_the_heaviest_page_is_light_enough(browser, address, capsys):
    """A first visit, nothing cached; the time is that of this machine."""
    rows = []
    for name in PAGES:
        context = browser.new_context(viewport=DESK)
        page = context.new_page()
        go(page, address + name)
        page.evaluate("navigation = performance.getEntriesByType('navigation')")
        size = page.evaluate(
            "[...navigation, ...performance.getEntriesByType('resource')]"
            ".reduce((sum, entry) => sum + entry.encodedBodySize, 0)"
        )
        rows.append((size, page.evaluate("navigation[0].loadEventEnd"), name))
        context.close()
    weight, milliseconds, name = max(rows)
    with capsys.disabled():
        print(f"\nheaviest page: {name}, {weight / 1e6:.1f} MB, loaded in {milliseconds:.0f} ms")
    assert weight < WEIGHT
