"""Sphinx extension: what a page of this book has that the theme does not give by itself.

- "Run this chapter" at the top of each notebook: its file, the local command and, where
  `_config.yml` has an address at GitHub, Colab, Kaggle and Codespaces. So does "Suggest edit".
- A sidebar of which the first parts are open, and *next*, which leads from chapter to chapter.
- Pictures say how large they are, so that nothing moves when they come, and wait to be seen.
- A description for search engines and shared links: `html_meta` in the page's head, or its first
  paragraph. Where the book has an address, sphinxext-opengraph draws a card for each page.
- Alignment figures inline, so that the titles of their cells show under the mouse.
- The package's page does not list the fields of named tuples once more: their class tells of them.
- Printed tables keep their columns: where they are too wide they scroll, and only sentences wrap.
- A verdict is a badge; a notebook's table of verdicts is folded below their numbers.
- In a table an interval stays on its line. Figures of a page outside the chapters count from 1.
- A page for addresses that lead nowhere, whose links work at any depth.
- No icons as scripts: the theme brings Font Awesome twice, as fonts (0.3 MB) and as JavaScript
  (1.5 MB). The fonts suffice.
- No thebe (it runs code on other people's servers): its scripts name another server.

What is mended for screen readers, and the words that the theme has in English alone, are changed in
the page itself, by `book/_style/accessibility.js`.
"""

import json
import math
import re
import textwrap
from collections import Counter
from html import escape, unescape
from itertools import count
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

from bs4 import BeautifulSoup
from docutils import nodes
from matplotlib.font_manager import get_font_names
from PIL import Image
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

from press.colab.cell import site_address
from press.contents import chapter_numbers
from press.phrases import in_words

logger = logging.getLogger(__name__)
GITHUB = re.compile(r"https://github\.com/([\w.-]+)/([\w.-]+?)(?:\.git)?/?")
SERVICES = {  # that run a notebook of a repository at GitHub
    "Colab": "https://colab.research.google.com/github/{repository}/blob/{branch}/{path}",
    "Kaggle": "https://kaggle.com/kernels/welcome?src="
    "https://github.com/{repository}/blob/{branch}/{path}",
    "Codespaces": "https://codespaces.new/{repository}/tree/{branch}",
}
RUN = """</h1>
<details class="run-chapter"><summary>{run}</summary>
<p><a href="{file}" download>{download}</a></p>
<p>{locally}<br><code>{command}</code></p>
{services}</details>"""
COMMAND = ".venv/bin/python -m pip install jupyterlab && .venv/bin/jupyter lab {path}"
ICONS = ("vendor/fontawesome/*/js/all.min.js", "scripts/fontawesome.js")  # as scripts, by theme
OPEN_PARTS = 2  # of the sidebar: Start, and Chapters
COLUMNS = re.compile(r"\S {2,}\S")  # what printed tables have and sentences have not
LETTERS = 100  # in a line; a longer one is no row of a table
VERDICT = re.compile(r"([a-z ]*[a-z])[;: ]*(.*)", re.DOTALL)  # its word, and what is said of it
INTERVAL = re.compile(r"(\([−+]?\d[^()]{0,22}\))")  # or how many seeds there are
PICTURE = re.compile(r'<img\b[^>]*\bsrc="[^"]*_images/([^"]+)"[^>]*>')
ASIDE = (nodes.Admonition, nodes.table, nodes.figure, nodes.list_item, nodes.block_quote)
DESCRIPTION = 200  # letters at most; a paragraph under 40 describes nothing
HANGUL = ("Noto Sans CJK KR", "Noto Sans CJK JP", "Noto Sans KR", "NanumGothic")
HANGUL += ("Apple SD Gothic Neo", "Malgun Gothic")


def choose_buttons(app: Sphinx, config: Config) -> None:
    """Let the theme make the buttons, if it can know where they lead."""
    options = config.html_theme_options
    options["use_edit_page_button"] = bool(options.get("repository_url"))
    options["launch_buttons"] = {}  # `add_run` has labelled ones


def choose_cards(app: Sphinx, config: Config) -> None:
    """Cards for shared links, where the site has an address and the machine a font for them."""
    config.ogp_site_url = site_address(config.html_baseurl, Path(app.srcdir))
    config.ogp_site_name = config.html_title
    installed = [font for font in HANGUL if font in get_font_names()]
    drawn = bool(config.ogp_site_url) and (config.language != "ko" or bool(installed))
    config.ogp_social_cards |= {"enable": drawn, "font": ["DejaVu Sans", *installed[:1]]}


def drop_thebe(app: Sphinx, config: Config) -> None:
    """Let thebe neither listen nor bring its style."""
    for listeners in app.events.listeners.values():
        listeners[:] = [one for one in listeners if "thebe" not in one.handler.__module__]
    styles = app.registry.css_files
    styles[:] = [style for style in styles if "thebe" not in style[0]]


def bring_words(app: Sphinx) -> None:
    """Give scripts the words of another language, in a file of its own: `window.siteWords`."""
    if app.config.site_words:
        path = Path(app.outdir, "_static", "words.js")
        path.parent.mkdir(parents=True, exist_ok=True)
        words = json.dumps(app.config.site_words, ensure_ascii=False)
        path.write_text(f"window.siteWords = {words};\n", encoding="utf8")
        app.add_js_file(path.name)


def add_button(context: dict, name: str, icon: str, url: str, tooltip: str) -> None:
    """Put a button into the head of a page; ``name`` is a class, for styles and tests."""
    button = {"url": url, "tooltip": tooltip, "icon": icon, "label": name}
    context["header_buttons"].append({"type": "link", "text": ""} | button)


def add_run(
    app: Sphinx, pagename: str, templatename: str, context: dict, doctree: nodes.document | None
) -> None:
    """Below the title of a notebook: the ways to run it, behind one labelled button."""
    if doctree is None or not app.env.doc2path(pagename).endswith(".ipynb"):
        return
    numbered = Path(pagename).name in chapter_numbers(Path(app.srcdir))
    run, download, locally, online = (
        in_words(text, app.config.site_words)
        for text in (
            "Run this chapter" if numbered else "Run this page",
            "Download the notebook",
            "In the repository, after make install:",
            "Online:",
        )
    )
    path = f"{pagename}.ipynb"
    found = GITHUB.fullmatch(app.config.html_theme_options.get("repository_url", ""))
    services = ""
    if found:
        branch = app.config.html_theme_options.get("repository_branch", "main")
        place = {"repository": f"{found[1]}/{found[2]}", "branch": branch, "path": path}
        links = [f'<a href="{url.format(**place)}">{name}</a>' for name, url in SERVICES.items()]
        services = f"<p>{online} {' · '.join(links)}</p>\n"
    file = context["pathto"](f"_sources/{context['sourcename']}", resource=True)
    words = {"run": run, "download": download, "locally": locally}
    words["command"] = escape(COMMAND.format(path=path))
    box = RUN.format(file=file, path=path, services=services, **words)
    context["body"] = context["body"].replace("</h1>", box, 1)


# ------------------------------------------------------------------------------ the way to others


def fold_parts(
    app: Sphinx, pagename: str, templatename: str, context: dict, doctree: nodes.document | None
) -> None:
    """The sidebar's parts can be folded; the theme opens that of the page, this the first ones.

    What folds a chapter's evidence is named for those who cannot see it.
    """
    generate = context.get("generate_toctree_html")
    if generate is None:  # another theme
        return

    def folded(kind: str, **options: object) -> BeautifulSoup:
        soup = generate(kind, **options)
        for part in soup.select("li.toctree-l0 > details")[:OPEN_PARTS]:
            part["open"] = "open"
        for entry in soup.select("li:has(> a):has(> details)"):
            entry.select_one("summary")["aria-label"] = entry.a.get_text(" ", strip=True)
        return soup

    context["generate_toctree_html"] = folded


def pass_evidence(
    app: Sphinx, pagename: str, templatename: str, context: dict, doctree: nodes.document | None
) -> None:
    """*Previous* and *next* of a chapter are chapters; the evidence below it is in the sidebar."""
    root = app.config.root_doc
    pages = [root, *app.env.toctree_includes.get(root, [])]
    if pagename not in pages:
        return
    at = pages.index(pagename)
    for key, near in (("prev", pages[at - 1 : at]), ("next", pages[at + 1 : at + 2])):
        if context.get(key) and near:
            title = app.builder.render_partial(app.env.titles[near[0]])["title"]
            context[key] = {"link": app.builder.get_relative_uri(pagename, near[0]), "title": title}


# ----------------------------------------------------------------------------- its description


def first_paragraph(doctree: nodes.document) -> str:
    """The first paragraph of a page that tells something in plain words, cut after a word."""
    for paragraph in doctree.findall(nodes.paragraph):
        above = paragraph.parent
        while above is not None and not isinstance(above, ASIDE):
            above = above.parent
        text = " ".join(paragraph.astext().split())
        whole = len(text) >= 40 and text[-1] in ".?!…)"  # and leads to nothing below it
        if above is None and whole and not paragraph.next_node(nodes.math):
            return textwrap.shorten(text, DESCRIPTION, placeholder=" …")
    return ""


def describe(
    app: Sphinx, pagename: str, templatename: str, context: dict, doctree: nodes.document | None
) -> None:
    """Say what a page is, also to sphinxext-opengraph, which runs after this."""
    if pagename == "404":  # it is shown at every address that leads nowhere
        context["metatags"] = f'<base href="{app.config.ogp_site_url or "/"}">'
    if doctree is None:
        return
    # docutils says once more how wide a phone is
    tags = context["metatags"] = re.sub(r'<meta name="viewport"[^>]*>', "", context["metatags"])
    written = re.search(r'<meta content="([^"]*)" name="description"', tags)
    text = unescape(written[1]) if written else first_paragraph(doctree)
    if text and not written:
        context["metatags"] += f'<meta name="description" content="{escape(text)}">\n'
    title = re.sub(r"<[^>]+>", "", context["title"])
    own = {"og:description": escape(text, quote=False), "og:image:alt": title}
    context["meta"] = (context["meta"] or {}) | own


# -------------------------------------------------------------------------------- its pictures


def picture_size(path: Path) -> tuple[int, int]:
    """The width and height of a picture in pixels; of an SVG by its `viewBox`."""
    if path.suffix != ".svg":
        with Image.open(path) as picture:
            return picture.size
    root = ElementTree.parse(path).getroot()
    scale = 4 / 3 if root.get("width", "").endswith("pt") else 1  # Matplotlib measures in points
    width, height = root.get("viewBox").split()[2:]
    return round(scale * float(width)), round(scale * float(height))


def size_pictures(
    app: Sphinx, pagename: str, templatename: str, context: dict, doctree: nodes.document | None
) -> None:
    """Pictures keep their place before they are there; all but the first wait to be seen."""
    paths = {name: Path(app.srcdir, path) for path, name in app.builder.images.items()}
    number = count()

    def sized(picture: re.Match) -> str:
        own = ' loading="lazy"' if next(number) else ""
        if " width=" not in picture[0] and " style=" not in picture[0]:
            width, height = picture_size(paths[unquote(picture[1])])
            own += f' width="{width}" height="{height}"'
        return picture[0].replace("<img", f"<img{own}", 1)

    context["body"] = PICTURE.sub(sized, context.get("body", ""))


def inline_alignments(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Put alignment figures into the page itself; a picture in a file has no titles to show."""
    if app.builder.format != "html":
        return
    for image in list(doctree.findall(nodes.image)):
        path = Path(app.srcdir, image["uri"])
        svg = path.read_text(encoding="utf8") if path.suffix == ".svg" else ""
        if svg.startswith('<svg class="alignment"'):
            width = re.search(r'\bwidth="([\d.]+)', svg)[1]  # for the style sheet, on phones
            words = f'<svg role="img" aria-label="{escape(image.get("alt", ""))}"'
            words += f' style="--natural: {float(width):.0f}"'
            image.replace_self(nodes.raw("", svg.replace("<svg", words, 1), format="html"))


# --------------------------------------------------------------------------- tables and scripts


def keep_columns(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Mark the printed outputs that are tables: columns in half of the lines, and none too long.

    A second mark says in tens how many letters the longest line has, for the size of all.
    """
    for block in doctree.findall(nodes.literal_block):
        lines = [line for line in block.astext().splitlines() if line.strip()]
        tabular = sum(bool(COLUMNS.search(line)) for line in lines)
        short = all(len(line) <= LETTERS for line in lines)
        if "stream" in block["classes"] and 2 * tabular >= len(lines) and short:
            longest = max(map(len, lines), default=0)
            block["classes"] += ["columns", f"letters-{10 * math.ceil(longest / 10)}"]


def badge(verdict: str) -> str:
    return f'<span class="verdict {verdict.replace(" ", "-")}">{verdict}</span>'


def mark_verdicts(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """In a table of verdicts each is a badge; a notebook's table is folded below their numbers."""
    for table in list(doctree.findall(nodes.table)):
        head, *rows = table.findall(nodes.row)
        if head[0].astext() != "verdict":
            continue
        table["classes"].append("verdicts")
        counts: Counter[str] = Counter()
        for row in rows:
            text = next(row.findall(nodes.Text))
            verdict, rest = VERDICT.fullmatch(text).groups()
            counts[verdict] += 1
            shown = [nodes.raw("", badge(verdict), format="html"), nodes.Text(f" {rest}")]
            text.parent.replace(text, shown)
        if app.env.doc2path(docname).endswith(".ipynb"):
            words = " ".join(f"{badge(verdict)} {number}" for verdict, number in counts.items())
            folded = f'<details class="rows"><summary>{len(rows)} rows: {words}</summary>'
            parts = (folded, "</details>")
            opened, closed = (nodes.raw("", part, format="html") for part in parts)
            table.parent.replace(table, [opened, table, closed])  # `replace_self` moves its classes


def keep_intervals(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """In a table an interval is not divided: with too little room it stands below its number."""
    for entry in doctree.findall(nodes.entry):
        for text in list(entry.findall(nodes.Text)):
            parts = INTERVAL.split(text)
            if len(parts) > 1:
                parts[1::2] = [nodes.inline("", x, classes=["unbroken"]) for x in parts[1::2]]
                parts[::2] = map(nodes.Text, parts[::2])
                text.parent.replace(text, parts)


def number_by_page(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Figures of a page outside the chapters count from 1; Sphinx goes on from page to page."""
    for numbers in env.toc_fignumbers.values():
        figures = numbers.get("figure", {})
        if all(len(number) == 1 for number in figures.values()):  # no chapter
            numbers["figure"] = {name: (k,) for k, name in enumerate(figures, 1)}
    return []


def skip_tuple_fields(
    app: Sphinx, what: str, name: str, member: object, skip: bool, options: dict
) -> bool | None:
    """Python says of such a field no more than "Alias for field number 0"."""
    return True if type(member).__name__ == "_tuplegetter" else None


def drop_icon_scripts(app: Sphinx, error: Exception | None) -> None:
    """Leave an empty file where the theme's pages look for the icons' JavaScript."""
    paths = [path for name in ICONS for path in Path(app.outdir, "_static").glob(name)]
    for path in paths:
        path.write_text("// Not needed: the icons are drawn from fonts.\n", encoding="utf8")
    if not paths and error is None and app.builder.format == "html":
        logger.warning("the theme has its icons' JavaScript elsewhere: see ICONS in book_pages.py")


def setup(app: Sphinx) -> dict:
    app.connect("config-inited", choose_buttons, priority=900)
    app.connect("config-inited", choose_cards, priority=900)
    app.connect("config-inited", drop_thebe)
    app.connect("builder-inited", bring_words)
    app.connect("html-page-context", describe, priority=400)
    app.connect("html-page-context", size_pictures, priority=900)
    app.connect("html-page-context", add_run, priority=900)
    app.connect("html-page-context", fold_parts, priority=900)
    app.connect("html-page-context", pass_evidence)
    app.connect("doctree-resolved", inline_alignments)
    app.connect("doctree-resolved", keep_columns)
    app.connect("doctree-resolved", mark_verdicts)
    app.connect("doctree-resolved", keep_intervals)
    app.connect("env-get-updated", number_by_page, priority=900)  # than Sphinx's own numbers
    app.connect("autodoc-skip-member", skip_tuple_fields)
    app.connect("build-finished", drop_icon_scripts)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
