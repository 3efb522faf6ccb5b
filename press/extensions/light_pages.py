"""Sphinx extension: the built pages are made light (`press.light`), and say what they are.

Search engines and places where links are shared find a description of each page, its first
paragraph, and a picture. A page may have a description of its own: `html_meta` in its head.
"""

import re
from html import escape, unescape
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx

from press.colab import repository
from press.light import lighten
from press.share import FOLDER, draw

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


def address_of(app: Sphinx) -> str:
    """Where the site stands: html_baseurl, or GitHub's pages of the repository; or nothing."""
    if app.config.html_baseurl:
        return app.config.html_baseurl.rstrip("/") + "/"
    found = re.fullmatch(r"https://github\.com/([\w.-]+)/([\w.-]+)", repository(Path(app.srcdir)))
    return f"https://{found[1].lower()}.github.io/{found[2]}/" if found else ""


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
    site = address_of(app)
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
            ("property", "og:image:alt", f"{title}: title and a heat map of attention"),
            ("property", "og:url", f"{site}{pagename}.html" if site else ""),
            ("name", "twitter:card", "summary_large_image"),
        ]
    lines = [
        f'<meta {kind}="{name}" content="{escape(text)}">' for kind, name, text in tags if text
    ]
    context["metatags"] = "\n".join([before, *lines])


def finish(app: Sphinx, error: Exception | None) -> None:
    """After everything else is written."""
    if error is not None or app.builder.name not in ("html", "dirhtml"):
        return
    folder = Path(app.outdir, "_static", FOLDER)
    for page in app.env.found_docs:
        number = ".".join(map(str, app.env.toc_secnumbers.get(page, {}).get("", ())))
        title = app.env.titles[page].astext()
        draw(title, number, app.config.html_title, path=folder / f"{Path(page).name}.png")
    lighten(Path(app.outdir))


def setup(app: Sphinx) -> dict:
    app.connect("html-page-context", add_tags, priority=900)
    app.connect("build-finished", finish, priority=900)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
