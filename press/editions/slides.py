"""Sphinx extension: lecture slides, made of the cells that the author of a chapter has marked.

Jupyter's own cell metadata, `slideshow.slide_type`, is the mark; JupyterLab sets it under *Slide
Type* in the property inspector:

    slide, subslide   begins a slide
    fragment          one more step on the slide before; with a title, a slide that comes in steps
    notes             is said, not shown
    skip              is left out

Prose that is not marked is said, too: speaker notes. Code, pictures and tables that are not marked
are left out, and so are all exercises and strips of symbols. In a marked cell, the prose is said;
formulas, lists, figures, tables, live boxes and outputs are shown, and so are sentences that are
wholly bold. A code cell shows its source only if it is tagged `slide-code`.

A heading begins a slide, and so does `slideshow.title` of a cell, in Markdown as a heading is;
`slideshow.text` stands below it. Both are the slides' alone. So is all that a cell of Markdown
tagged `slide-only` has, prose and heading; between `<!--` and `-->` it is not seen where a notebook
is opened, in Colab, either. A title holds until the next one or the next heading.

A slide has one large thing: what comes after a picture, a table, a list, code or a formula of
several lines begins the next one, under the same title. But a picture that is a fragment takes the
place of the picture before. Where the letters of a cell's pictures would be too small,
`slideshow.parts` cuts them: "left top right bottom" for each slide, as shares of the sides. Such a
cell shows nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from string import Template

import nbformat
import pygments
from bs4 import BeautifulSoup
from docutils import nodes
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer
from sphinx.application import Sphinx
from sphinx.builders.html import StandaloneHTMLBuilder
from sphinx.util.docutils import SphinxDirective

from attnmt.book.live.view import STYLES
from press import reading
from press.contents import chapter_numbers
from press.extensions.book_pages import add_button
from press.extensions.languages import with_particles
from press.phrases import Dictionary, in_words
from press.source import without_docstrings

FOLDER = "slides"  # beside the folder of the pages
SHOWN = ("slide", "subslide", "fragment")
CODE = "slide-code"  # the tag of a code cell whose source is shown
SIGNATURE = "nrefs:"  # is how one of sacreBLEU begins
ROWS = {"table": 9, "sentences": 4, "forest": 13, "code": 18, "output": 18}  # or lines
SENTENCE = 60  # letters; a table with a longer row is one of sentences
THINGS = 4  # on one slide, at most
SHORT = 4  # lines of output that leave room for a picture
LIVE = "".join(f'<link rel="stylesheet" href="../_static/live/{name}">\n' for name in STYLES)
LIVE += '<script type="module" src="../_static/live/page.mjs"></script>'
SILENT = (nodes.target, nodes.comment, nodes.Invisible, nodes.title)
APART = {"exercise", "solution", "symbols"}  # classes of what is neither shown nor said
SEEN = (nodes.figure, nodes.image, nodes.raw, nodes.table)  # are no notes
LISTS = (nodes.bullet_list, nodes.enumerated_list, nodes.definition_list)


def dealt(rows: list, kind: str, lines: int = 0) -> Iterator[list]:
    """As many rows as a slide has room for, on each slide about as many; or so many lines."""
    count = -(-(lines or len(rows)) // ROWS[kind])
    for place in range(count):
        yield rows[place * len(rows) // count : (place + 1) * len(rows) // count]


def pieces_of(source: str) -> list[str]:
    """Source code without docstrings, cut between its parts where it is too long for a slide."""
    pieces = [""]
    for part in re.split(r"\n{2,}|\n(?=    def )", "\n".join(without_docstrings(source)).strip()):
        longer = f"{pieces[-1]}\n\n{part}".strip()
        if pieces[-1] and len(longer.splitlines()) > ROWS["code"]:
            pieces.append(part)
        else:
            pieces[-1] = longer
    return pieces


@dataclass
class Slide:
    title: str
    level: int
    above: str = ""  # the heading over this one
    shown: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    full: bool = False  # it has its large thing
    signature: str = ""  # of the BLEU on it


@dataclass
class Deck:
    """The slides of one page, made node by node."""

    builder: StandaloneHTMLBuilder
    cells: list[nbformat.NotebookNode]
    words: Dictionary = field(default_factory=dict)  # what the deck itself says, in its language
    slides: list[Slide] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)  # notes for the slide that begins next
    begins: bool = True  # a slide, with the next thing to see
    cell: int = -1  # the number of the cell that is read
    signature: str = ""  # of the BLEU that was printed last

    def __post_init__(self) -> None:
        self.marks = [reading.slideshow(cell).get("slide_type", "") for cell in self.cells]
        self.marks.append("skip")  # the cell in which `wrap` has put the titles
        self.heading = Slide("", 1)

    def read(self, doctree: nodes.document) -> None:
        """Make the slides of a page; links lead nowhere on them."""
        doctree = doctree.deepcopy()
        for link in list(doctree.findall(nodes.reference)):
            link.replace_self(link.children)
        # The title that stands above a cell, by the cell's number.
        self.above = {node["above"]: node for node in doctree.findall(SlideOnly)}
        for section in doctree.children:
            if isinstance(section, nodes.section):
                self.section(section)
        self.slides[-1].notes += self.waiting

    def html(self, node: nodes.Node) -> str:
        """A node as the page has it."""
        return self.builder.render_partial(node.deepcopy())["fragment"].strip()

    def span(self, words: Sequence[nodes.Node]) -> str:
        html = self.html(nodes.inline("", "", *(node.deepcopy() for node in words)))
        return " ".join(html.removeprefix("<span>").removesuffix("</span>").split())

    def add_notes(self, *blocks: nodes.Node) -> None:
        """Into the notes of the slide that is made, or that begins next."""
        notes = self.waiting if self.begins else self.slides[-1].notes
        notes += map(self.html, blocks)

    def show(self, kind: str, html: str, *, large: bool = True) -> None:
        """On the slide, or on a new one where one begins or this one is full."""
        titled = len(self.slides) == 1  # on the title's slide stands nothing large
        fragment = self.marks[self.cell] == "fragment"
        pictured = "item picture" in "".join(self.slides[-1].shown)
        over = fragment and kind == "picture" and pictured and not self.parts()
        if self.begins or (self.slides[-1].full and (large or not titled) and not over):
            heading = self.heading
            self.slides.append(Slide(heading.title, heading.level, heading.above))
            self.slides[-1].notes, self.waiting = self.waiting, []
            self.begins = False
        slide = self.slides[-1]
        step = fragment and slide.shown
        more = f' fragment" data-fragment-index="{self.cell}' if step else ""
        more = " over" + more if over and step else more
        slide.shown.append(f'<div class="item {kind}{more}">{html}</div>')
        slide.full = slide.full or large or len(slide.shown) == THINGS
        if "BLEU" in html and kind in ("picture", "table", "output"):
            slide.signature = self.signature

    # --- what a page holds

    def mark(self, node: nodes.Node) -> str:
        """The slide type of the node's cell: myst-nb counts 10,000 lines a cell."""
        number = (node.line or 0) // 10_000 - 1
        if number >= 0 and number != self.cell:
            self.cell = number
            self.begins = self.begins or self.marks[number] in ("slide", "subslide")
            for part in self.above.get(str(number), SlideOnly()).children:
                self.item(part, whole=True)
        return self.marks[self.cell]

    def section(self, node: nodes.section, level: int = 1, above: str = "") -> None:
        title = node.next_node(nodes.title)
        self.mark(title)
        name = self.span(title.children)
        self.heading = Slide(name, level, above)
        self.begins = True
        if level == 1:
            self.slides.append(Slide(name, level, full=True))
            self.begins = False
        for child in node.children:
            if isinstance(child, nodes.section):
                self.section(child, level + 1, name if level > 1 else "")
            else:
                self.block(child)

    def block(self, node: nodes.Node) -> None:
        kind = self.mark(node)
        classes = set(node.get("classes", ())) if isinstance(node, nodes.Element) else set()
        if isinstance(node, SILENT) or kind == "skip" or classes & APART:
            return
        if classes & {"live-steps", "frame"}:  # a slide has all frames
            for child in node.children:
                if not isinstance(child, nodes.raw):
                    self.block(child)
            return
        if isinstance(node, SlideOnly):
            for child in node.children:
                self.item(child, whole=True)
        elif kind in SHOWN:
            self.item(node)
        elif not (isinstance(node, SEEN) or "live-figure" in classes or "nb_element" in node):
            self.add_notes(node)

    def item(self, node: nodes.Element, *, whole: bool = False) -> None:
        """A part of a marked cell; with `whole`, its prose is shown."""
        if isinstance(node, nodes.rubric):  # a heading that only the slides have
            self.heading = Slide(self.span(node.children), 2)
            self.begins = True
        elif node.get("nb_element") == "cell_code":
            self.code_cell(node)
        elif isinstance(node, nodes.figure):
            self.picture(node[0], node)
        elif isinstance(node, nodes.image | nodes.raw):
            self.picture(node)
        elif isinstance(node, nodes.paragraph) and isinstance(node[0], nodes.image):
            self.picture(node[0])
        elif "live-figure" in node["classes"]:
            self.live(*node.children)
        elif isinstance(node, nodes.table):
            self.table(node)
        elif isinstance(node, nodes.literal_block):
            self.code(node.astext())
        elif isinstance(node, nodes.math_block):
            self.show("equation", self.html(node), large="\\\\" in node.astext())
        elif isinstance(node, LISTS):
            self.show("text", self.html(node))
        elif whole or isinstance(node, nodes.block_quote):
            self.show("text", self.html(node), large=False)
        else:
            self.prose(node)

    def prose(self, node: nodes.Element) -> None:
        """Bold sentences are shown; all of it is said."""
        if isinstance(node, nodes.paragraph):
            for bold in node.findall(nodes.strong):
                if bold.astext().endswith((".", "?", "!", ":")):
                    self.show("text", f"<p>{self.span([bold])}</p>", large=False)
        self.add_notes(node)

    def table(self, node: nodes.table) -> None:
        longest = max(len(row.astext()) for row in node.findall(nodes.row))
        kind = "sentences" if longest > SENTENCE else "table"
        for rows in dealt(list(node.next_node(nodes.tbody).children), kind):
            some = node.deepcopy()
            some.next_node(nodes.tbody)[:] = [row.deepcopy() for row in rows]
            self.begins = self.begins or "item equation" in "".join(self.slides[-1].shown)
            self.show("table", self.html(some))

    def picture(self, node: nodes.Node, figure: nodes.Element | None = None) -> None:
        """A picture or parts of it, with its number; its caption is said. Or a table in HTML."""
        html = node.astext() if isinstance(node, nodes.raw) else self.html(node)
        caption = figure.next_node(nodes.caption) if figure else None
        if html.startswith('<div class="forest"'):
            self.forest(html)
        elif html.startswith(("<img", "<svg")):
            for part in self.parts() or [""]:
                kept = f' data-part="{part}"' if part else ""
                some = html[:4] + kept + html[4:]
                if html.startswith("<svg"):  # names that no other picture of the deck has
                    ids = rf"\1s{len(self.slides)}-{self.cell}-"
                    some = re.sub(r'(\bid="|url\(#|href="#)', ids, some)
                number = f"<p>{self.number(figure)}</p>" if figure else ""
                self.show("picture", some + number)
        else:  # a sentence with a gloss has a slide to itself, and what a model says to it
            glossed = 'class="gloss' in html and 'class="gloss' in "".join(self.slides[-1].shown)
            self.begins = self.begins or glossed
            self.show("text", html, large=False)
        if caption:
            self.add_notes(nodes.paragraph("", "", *caption.children))

    def parts(self) -> list[str]:
        return reading.slideshow(self.cells[self.cell]).get("parts", [])

    def number(self, figure: nodes.Element) -> str:
        """What stands below a picture: under it the page has the figure."""
        numbers = self.builder.fignumbers.get("figure", {}).get("".join(figure["ids"][:1]), ())
        form = self.builder.config.numfig_format.get("figure", "Fig. %s")
        return form.replace("%s", ".".join(map(str, numbers))) if numbers else ""

    def forest(self, html: str) -> None:
        """A forest plot: under each axis as many of its claims as a slide has room for."""
        whole = BeautifulSoup(html, "html.parser").div
        for table in [table.extract() for table in whole.find_all(role="table")]:
            head, *rows = [row.extract() for row in table.find_all(role="row")]
            words = [len(row.contents[-1].find_all("div")) for row in rows]
            lines = sum(n if n > 1 else 3 for n in words)  # one is a sentence: why no verdict
            for some in dealt(rows, "forest", lines):
                table.clear()
                table.extend([head, *some])
                whole.append(table)
                self.show("forest-rows", str(whole))
            table.extract()

    def live(self, stage: nodes.raw, caption: nodes.container) -> None:
        """The component itself, of one model; two need more room. A printed slide has its still."""
        html = stage.astext()
        if 'data-mode="single"' in html or "live learn" in html:
            self.show("stage", html)
        self.add_notes(*caption.children)

    def code_cell(self, node: nodes.container) -> None:
        held = {part.get("nb_element"): part for part in node.findall(nodes.container)}
        if CODE in reading.tags(self.cells[self.cell]) and "cell_code_source" in held:
            self.code(held["cell_code_source"].astext())
        outputs = held["cell_code_output"].children if "cell_code_output" in held else []
        pictures = any(not isinstance(output, nodes.literal_block) for output in outputs)
        for output in outputs:
            if "stream" in output["classes"]:
                self.printed(output.astext().strip("\n").splitlines(), beside=pictures)
            elif not isinstance(output, nodes.literal_block) or "output" not in output["classes"]:
                self.item(output, whole=True)

    def code(self, source: str) -> None:
        for piece in pieces_of(source):
            html = pygments.highlight(piece, PythonLexer(), HtmlFormatter(nowrap=True))
            self.show("code", f"<pre><code>{html}</code></pre>")

    def printed(self, lines: list[str], *, beside: bool) -> None:
        """What a cell printed, without sacreBLEU's signature; beside a picture only a few lines."""
        signed = [line for line in lines if line.startswith(SIGNATURE)]
        self.signature = signed[0] if signed else self.signature
        lines = [line for line in lines if line not in signed]
        if self.parts() or (beside and len(lines) > SHORT):
            return
        for some in dealt(lines, "output"):
            html = f"<pre><code>{escape(chr(10).join(some))}</code></pre>"
            self.show("output", html, large=not beside)


# --- its page


def page(deck: Deck, name: str, number: int | None, language: str = "en") -> str:
    """The deck of a chapter as a page."""
    sections = []
    for place, slide in enumerate(deck.slides):
        above = in_words(f"Chapter {number}", deck.words) if number and not place else slide.above
        head = f'<p class="above">{above}</p>' if above else ""
        foot = f'<p class="signature"><code>{slide.signature}</code></p>' if slide.signature else ""
        tag = "h2" if place else "h1"
        if not place:
            back = in_words("The chapter", deck.words)
            foot += f'<p class="back"><a href="../book/{name}.html">{back}</a></p>'
        sections.append(
            f'<section class="level{slide.level}">'
            f"<header>{head}<{tag}>{slide.title}</{tag}></header>{''.join(slide.shown)}{foot}"
            f'<aside class="notes">{"".join(slide.notes)}</aside></section>'
        )
    shown = "\n".join(sections)
    if language == "ko":
        shown = with_particles(shown)
    template = Path(__file__).with_name("slides.html").read_text(encoding="utf8")
    return Template(template).substitute(
        language=language,
        title=f"{re.sub(r'<[^>]+>', '', deck.slides[0].title)}: {in_words('slides', deck.words)}",
        live=LIVE if 'class="live' in shown else "",
        code=HtmlFormatter(style="a11y-high-contrast-light").get_style_defs("pre"),
        slides=shown,
    )


# --- what only the slides have


class SlideOnly(nodes.General, nodes.Element):
    """What a page does not show."""


class SlideOnlyDirective(SphinxDirective):
    has_content = True
    optional_arguments = 1  # the number of the cell above which it stands

    def run(self) -> list[nodes.Node]:
        return [SlideOnly("", *self.parse_content_to_nodes(), above="".join(self.arguments))]


def wrap(app: Sphinx, docname: str, source: list[str]) -> None:
    """Put what only the slides have into such directives; titles into one more cell, the last."""
    if "slide" not in source[0] or not app.env.doc2path(docname).endswith(".ipynb"):
        return
    notebook = nbformat.reads(source[0], as_version=4)
    form = ":::::::{{slide-only}} {}\n{}\n:::::::"
    above = []
    for number, cell in enumerate(notebook.cells):
        if cell.cell_type == "markdown" and reading.SLIDE_ONLY in reading.tags(cell):
            text = cell.source.strip().removeprefix("<!--").removesuffix("-->").strip()
            cell.source = form.format("", text)
        if title := reading.slideshow(cell).get("title"):
            text = reading.slideshow(cell).get("text", "")
            above.append(form.format(number, f"## {title}\n\n{text}"))
    notebook.cells.append(nbformat.v4.new_markdown_cell("\n\n".join(above)))
    source[0] = nbformat.writes(notebook)


def skip(translator: nodes.NodeVisitor, node: nodes.Node) -> None:
    raise nodes.SkipNode


def write(
    app: Sphinx, pagename: str, templatename: str, context: dict, doctree: nodes.document | None
) -> None:
    """The deck of a page that has marked cells, as soon as the page is made, which leads to it."""
    path = Path(app.env.doc2path(pagename)) if doctree is not None else Path()
    if path.suffix != ".ipynb":
        return
    deck = Deck(app.builder, reading.cells_of(path), app.config.site_words)
    if not set(deck.marks) & set(SHOWN):
        return
    deck.read(doctree)
    into = Path(app.outdir, FOLDER)
    into.mkdir(exist_ok=True)
    number = chapter_numbers(Path(app.srcdir)).get(path.stem)
    html = page(deck, path.stem, number, app.config.language)
    (into / f"{path.stem}.html").write_text(html, encoding="utf8", newline="\n")
    address = context["pathto"](f"{FOLDER}/{path.stem}.html", resource=True)
    tooltip = in_words("Slides of this chapter", app.config.site_words)
    add_button(context, "slides-button", "fas fa-person-chalkboard", address, tooltip)


def setup(app: Sphinx) -> dict:
    app.add_node(SlideOnly, html=(skip, None))
    app.add_directive(reading.SLIDE_ONLY, SlideOnlyDirective)
    app.connect("source-read", wrap)
    app.connect("html-page-context", write, priority=900)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
