"""Sphinx extension: pages say what they are.

Search engines and places where links are shared find a description of each page, its first
paragraph, and a picture. A page may have a description of its own: `html_meta` in its head.
"""

import re
import textwrap
import unicodedata
from html import escape, unescape
from pathlib import Path

import numpy as np
from docutils import nodes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, get_font
from sphinx.application import Sphinx

from press.colab.cell import site_address
from press.cover import sample
from press.editions.said import in_words
from press.extensions.languages import facts

FOLDER = "share"  # under _static
INCHES = (12, 6.3)  # 1,200 x 630 pixels, what Open Graph asks for
DPI = 100
BACK = "#10243f"
FRONT = "#ffffff"
QUIET = "#b9cbe3"
FONTS = (  # the first that is installed and has the letters
    "DejaVu Sans",
    "Noto Sans CJK KR",
    "Noto Sans CJK JP",  # what matplotlib calls the file of all of them
    "Noto Sans KR",
    "NanumGothic",
    "Apple SD Gothic Neo",
    "Malgun Gothic",
)
LETTERS = 16  # in a line of the title; half as many, where letters are wide
PICTURED = "title and a heat map of attention"
SHORTEST = 40  # letters; a shorter paragraph describes nothing
LONGEST = 200
ASIDE = (nodes.Admonition, nodes.table, nodes.figure, nodes.list_item, nodes.block_quote)


def described(doctree: nodes.document) -> str:
    """A page's first paragraph that tells something, cut after a sentence or a word."""
    for paragraph in doctree.findall(nodes.paragraph):
        above = paragraph.parent
        while above is not None and not isinstance(above, ASIDE):
            above = above.parent
        text = " ".join(paragraph.astext().split())
        if (
            above is None
            and len(text) >= SHORTEST
            and text[-1] in ".?!…)"
            and not paragraph.next_node(nodes.math)
        ):
            return cut(text)
    return ""


def cut(text: str) -> str:
    """The first sentences of a text that fit, or else its first words."""
    ends = [found.end() for found in re.finditer(r"[.?!][)”\"]*(?= |$)", text)]
    whole = [end for end in ends if SHORTEST <= end <= LONGEST]
    if whole:
        return text[: whole[-1]]
    return text if len(text) <= LONGEST else text[: LONGEST - 1].rpartition(" ")[0] + "…"


def add_tags(
    app: Sphinx, pagename: str, templatename: str, context: dict, doctree: nodes.document | None
) -> None:
    """The tags of a page's head that say what it is."""
    title = re.sub(r"<[^>]+>", "", context.get("title", ""))
    picture = f"_static/{FOLDER}/{Path(pagename).name}.png"
    book = app.config.html_title
    before = context.get("metatags", "")
    written = re.search(r'<meta content="([^"]*)" name="description"', before)
    description = described(doctree) if doctree is not None and not written else ""
    shared = unescape(written[1]) if written else description
    site = site_address(app.config.html_baseurl, Path(app.srcdir))
    tags = [
        ("name", "description", description),
        ("property", "og:title", title if title == book else f"{title} – {book}"),
        ("property", "og:type", "article"),
        ("property", "og:site_name", book),
        ("property", "og:description", shared),
    ]
    if doctree is not None:
        path = context["pathto"](picture, resource=True)
        tags += [
            ("property", "og:image", f"{site}{picture}" if site else path),
            ("property", "og:image:width", "1200"),
            ("property", "og:image:height", "630"),
            ("property", "og:image:alt", f"{title}: {in_words(PICTURED, app.config.site_words)}"),
            ("property", "og:url", f"{site}{pagename}.html" if site else ""),
            ("name", "twitter:card", "summary_large_image"),
        ]
    lines = [
        f'<meta {kind}="{name}" content="{escape(text)}">' for kind, name, text in tags if text
    ]
    context["metatags"] = "\n".join([before, *lines])


def font_for(text: str) -> str | None:
    """The font of `FONTS` for a text, or nothing if none has all its letters."""
    letters = {ord(letter) for letter in text if not letter.isspace()}
    for font in FONTS:
        try:
            found = findfont(FontProperties(family=font, weight="bold"), fallback_to_default=False)
        except ValueError:  # not installed
            continue
        if letters <= get_font(found).get_charmap().keys():
            return font
    return None


def titles(page: str, title: str, book: str, facts: dict) -> tuple[str, str]:
    """The titles of a page and of the book to be drawn: English, if no font has their letters."""
    if font_for(title + book):
        return title, book
    return facts.get("headings", {}).get(page, [title])[0], facts.get("title", book)


def lines_of(title: str) -> list[str]:
    """A title in lines that fit beside the picture."""
    wide = any(unicodedata.east_asian_width(letter) == "W" for letter in title)
    return textwrap.wrap(title, LETTERS // 2 if wide else LETTERS, break_long_words=False) or [""]


def draw(title: str, chapter: str, book: str, path: Path) -> Path:
    """Draw the picture of a page: its title, and the alignment of the book's first page."""
    figure = Figure(figsize=INCHES, dpi=DPI, facecolor=BACK)
    FigureCanvasAgg(figure)
    font = font_for(title + book) or FONTS[0]
    lines = lines_of(title)
    size = min(46, 180 / len(lines))
    figure.text(0.06, 0.86, chapter, color=QUIET, fontsize=24, family=font)
    bold = {"color": FRONT, "fontsize": size, "va": "center", "weight": "bold", "family": font}
    figure.text(0.06, 0.52, "\n".join(lines), **bold)
    below = "" if title == book else book
    figure.text(0.06, 0.1, below, color=QUIET, fontsize=26, family=font)
    ax = figure.add_axes((0.62, 0.12, 0.34, 0.76))
    ax.imshow(np.asarray(sample().alignment), cmap="Blues", aspect="auto", vmin=0, vmax=1)
    ax.set_axis_off()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, facecolor=BACK, metadata={"Software": None})
    return path


def draw_all(app: Sphinx, error: Exception | None) -> None:
    """The picture of every page."""
    if error is not None or app.builder.name not in ("html", "dirhtml"):
        return
    folder = Path(app.outdir, "_static", FOLDER)
    for page in app.env.found_docs:
        number = ".".join(map(str, app.env.toc_secnumbers.get(page, {}).get("", ())))
        own = app.env.titles[page].astext(), app.config.html_title
        title, book = titles(page, *own, facts(app.srcdir))
        chapter = f"Chapter {number}" if number else ""
        if (title, book) == own:  # there is a font for them
            chapter = in_words(chapter, app.config.site_words)
        draw(title, chapter, book, path=folder / f"{Path(page).name}.png")


def setup(app: Sphinx) -> dict:
    app.connect("html-page-context", add_tags, priority=900)
    app.connect("build-finished", draw_all)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
