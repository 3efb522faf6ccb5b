"""The pages of the strict build, how a test opens one, and how well its text can be read.

`make browser` looks at a few core pages and at one page of every other kind; the rest are looked at
by `make nightly`.
"""

import re
from glob import glob
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from conftest import SITE, go

NIGHTLY = pytest.mark.nightly
FOUND = sorted(glob("**/*.html", root_dir=SITE, recursive=True))  # none while it is being built
# the slides have tests of their own
PAGES = [
    name for name in FOUND if name != "index.html" and not name.startswith(("_static/", "slides/"))
]
# Core pages: with a live training, with a drawing to move, with forest plots.
CORE = ("03_learning_to_align", "05_local_attention", "08_whole_family")
# Beside them: live blocks, evidence, lists that the build makes, the search.
OTHER_KINDS = ("index", "see_it", "watch_it_learn", "evidence_8", "claims", "api", "search")


def some_by_day(names):
    """Names of pages, as parameters; those of a kind that another shows are looked at by night."""
    return [
        pytest.param(name, marks=() if Path(name).stem in CORE + OTHER_KINDS else NIGHTLY)
        for name in names
    ]


LOOKED_AT = some_by_day(PAGES or ["none"])
PHONE, DESK = {"width": 390, "height": 844}, {"width": 1280, "height": 900}


def html_of(name: str) -> str:
    return (SITE / name).read_text(encoding="utf8")


def visit(browser, address: str, name: str = "", **options):
    """A page as at a first visit; what it complains of and asks for is noted on it."""
    page = browser.new_page(**({"viewport": DESK} | options))
    page.complaints, page.asked = [], []
    complain = page.complaints.append

    def listen(message):
        if message.type == "error" and not message.location["url"].endswith("/favicon.ico"):
            complain(message.text)

    page.on("console", listen)
    page.on("pageerror", lambda error: complain(str(error)))
    page.on("request", lambda asked: page.asked.append(asked.url))
    page.on("response", lambda got: got.status >= 400 and complain(f"{got.status} {got.url}"))
    go(page, address + name)
    return page


# --- text on its ground


def luminance(*layers: str) -> float:
    """Of a colour, and of those under it where it is translucent; the lowest is opaque."""
    parts = [0.0] * 3
    for colour in reversed(layers):
        full = 1 if colour.startswith("color(") else 255  # of color-mix: color(srgb 0.5 0.5 ...)
        *colour, alpha = [*map(float, re.findall(r"[\d.]+", colour)), 1][:4]
        parts = [alpha * over / full + (1 - alpha) * under for over, under in zip(colour, parts)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


# Of each kind of text that is seen on a page: its colour, those it lies on, and its first words.
TEXTS = """() => {
    const found = {}, known = new Map([[null, []]]);
    const grounds = (part) => {
        if (!known.has(part)) {
            const own = getComputedStyle(part).backgroundColor;
            const below = grounds(part.parentElement);
            known.set(part, own === "rgba(0, 0, 0, 0)" ? below : [own, ...below]);
        }
        return known.get(part);
    };
    const other = "svg, script, style, noscript, [class*=kbd], a.headerlink";
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node; (node = walker.nextNode()); ) {
        const parent = node.parentElement;
        if (!node.data.trim() || parent.closest(other)) continue;
        if (!parent.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
        const layers = [getComputedStyle(parent).color, ...grounds(parent)];
        found[layers] ??= [layers, node.data.trim().slice(0, 40)];
    }
    return Object.values(found);
}"""


# To a theme, and its transitions to their ends.
TURN = """theme => {
    document.documentElement.dataset.theme = theme;
    document.getAnimations().forEach((change) => change.finish());
}"""


def contrast(text: str, *layers: str) -> float:
    one, other = luminance(text, *layers), luminance(*layers)
    return (max(one, other) + 0.05) / (min(one, other) + 0.05)


def faint(page, theme: str) -> list:
    """What does not stand out on a page in a theme, of code and boxes, too."""
    page.evaluate(TURN, theme)
    return [(theme, *text) for text in page.evaluate(TEXTS) if contrast(*text[0]) <= 4.5]


def violations(page, part=None, **options) -> list[tuple[str, str]]:
    """The rules that axe finds broken on a page, or in a part of it, and where."""
    options = {"resultTypes": ["violations"]} | options
    found = Axe().run(page, context=part, options=options).response["violations"]
    return [(rule["id"], node["html"][:120]) for rule in found for node in rule["nodes"]]
