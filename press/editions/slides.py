"""Sphinx extension: lecture slides, cut from the pages of the chapters as Sphinx has read them.

A heading opens a slide. On the slide go what the last row can read: sentences with bold words,
displayed equations, figures, lists (an item that is long is cut to its first sentences), short
tables, short source code without its docstrings, functions called ..._by_hand, short printed
outputs with the sentence that follows them, and the titles of the exercises. Where scores are seen,
their signature stands below. All other prose becomes the speaker notes of its slide, with the
minutes that it takes.

Where the rule chooses badly, a code cell's `slideshow.slide_type` (Jupyter's own metadata)
overrides it:

    skip        nothing of the cell is used
    subslide    it begins a new slide; its code and output are shown, however long
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from html import escape
from itertools import pairwise
from pathlib import Path
from string import Template

import pygments
from bs4 import BeautifulSoup
from docutils import nodes
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer
from sphinx.application import Sphinx
from sphinx.builders.html import StandaloneHTMLBuilder

from press.contents import chapter_numbers, lectures
from press.editions.said import Dictionary, in_words
from press.extensions.book_pages import add_button
from press.extensions.formulas import mathml
from press.extensions.languages import with_particles
from press.source import without_docstrings

FOLDER = "slides"  # beside the folder of the pages
SIGNATURE = "nrefs:"  # is how one of sacreBLEU begins
ROOM = 600  # pixels of a slide's 720 that are below its title
LINE = 42  # the height of a line of plain text
LETTERS = 74  # in such a line
CODE_LINES = 18  # as many, and no more, are legible from the last row
OUTPUT_LINES = 12
COLUMNS = 84
ITEM_WORDS = 34
CAPTION_WORDS = 30
TABLE_ROWS = 13
FOREST_ROOM = 545  # a forest plot cannot shrink, and a slide may have a second heading
AXIS = 155  # of it, for the key and the axis
CLAIM, BESIDE = 35, 25  # letters in a line of a claim, and in one beside its interval
SPOKEN = 140 / 60  # words a second
LOOK = {"stage": 60, "picture": 40, "equation": 20, "table": 5, "forest-rows": 5}
LOOK |= {"code": 4, "output": 4, "text": 0}
# seconds: a picture, and a line of anything else
LIVE = """<link rel="stylesheet" href="../_static/live/see.css">
<script type="module" src="../_static/live/page.mjs"></script>"""
LESSON = 50  # minutes; a longer deck says where to break
BOLD = (nodes.strong, nodes.emphasis)
UNTOLD = (nodes.target, nodes.comment, nodes.Invisible, nodes.title)
LISTS = (nodes.bullet_list, nodes.enumerated_list)


# --- text

Words = Sequence[nodes.Node]  # a paragraph's children, or some of them


def plain(words: Words) -> str:
    return " ".join("".join(node.astext() for node in words).split())


def sentences(words: Words) -> list[Words]:
    """The sentences of a paragraph; formulas, code, links and bold words stay in one piece."""
    text = ""
    for node in words:
        one = node.astext()
        end = one[-1:] if isinstance(node, BOLD) else "§"
        text += one if isinstance(node, nodes.Text) else "§" * (len(one) - 1) + end
    ends = {found.end() for found in re.finditer(r"[.?!][)\"”]*\s+(?=[A-Z(§“\[])", text)}
    found: list[list[nodes.Node]] = [[]]
    place = 0
    for node in words:
        size = len(node.astext())
        if not isinstance(node, nodes.Text):
            found[-1].append(node)
        else:
            cuts = [end for end in sorted(ends) if place < end < place + size]
            for start, stop in pairwise([place, *cuts, place + size]):
                found[-1].append(nodes.Text(node[start - place : stop - place]))
                if stop in ends:
                    found.append([])
        place += size
    return [sentence for sentence in found if sentence]


def shorten(words: Words, most: int) -> Words:
    """The first sentences; a few words more where there would be less than six."""
    kept: Words = []
    for sentence in sentences(words):
        few = len(plain([node for node in kept if not isinstance(node, nodes.strong)]).split()) <= 5
        if kept and len(plain([*kept, *sentence]).split()) > most * (1.3 if few else 1):
            break
        kept = [*kept, *sentence]
    return kept


def lines_of(text: str, letters: int = LETTERS) -> int:
    return max(1, math.ceil(len(re.sub(r"\\[a-z]+|[{}\\]", "", text)) / letters))


def inline(node: nodes.Node) -> Words:
    """The words of all paragraphs below a node."""
    paragraphs = node.findall(nodes.paragraph)
    return [part for one in paragraphs for part in (*one.children, nodes.Text(" "))][:-1]


def legible(source: str) -> str:
    """Source code without docstrings, double blank lines and the tests' marks."""
    kept = [line for line in without_docstrings(source) if line != "# NBVAL_CHECK_OUTPUT"]
    return re.sub(r":\n\n+", ":\n", re.sub(r"\n{3,}", "\n\n", "\n".join(kept))).strip()


def by_hand(source: str) -> str:
    """What a cell works out in plain loops: its last function that is called ..._by_hand."""
    found = re.findall(r"(?m)^def \w+_by_hand\(.*\n(?:(?: .*|\)[^\n]*|)\n?)*", source)
    return found[-1] if found else ""


# --- a deck


@dataclass
class Item:
    """One thing to look at, with what is said about it."""

    html: str = ""
    height: float = 0  # about, in pixels
    seconds: float = 0
    notes: str = ""
    signatures: str = ""  # of sacreBLEU, a line each
    first: bool = False  # of a new slide

    def __add__(self, other: Item) -> Item:
        sums = (getattr(self, f.name) + getattr(other, f.name) for f in fields(Item)[:-1])
        return Item(*sums, self.first or other.first)


@dataclass
class Slide:
    """One slide; while the deck is made, all that stands under one heading."""

    title: str
    level: int
    above: str = ""  # the heading over this one
    items: list[Item] = field(default_factory=list)
    signature: str = ""  # of the BLEU on it

    @property
    def shown(self) -> str:
        return "".join(item.html for item in self.items)

    @property
    def minutes(self) -> float:
        """In steps of half a minute."""
        return max(1, round(sum(item.seconds for item in self.items) / 30)) / 2

    def pages(self) -> list[Slide]:
        """Cut where an item must come first, and into parts of about the same height."""
        starts = [n for n, item in enumerate(self.items) if n and item.first]
        found = []
        for a, b in pairwise([0, *starts, len(self.items)]):
            run = self.items[a:b]
            found += [run[part] for part in parts([item.height for item in run], ROOM)]
        return [Slide(self.title, self.level, self.above, items=items) for items in found]


@dataclass
class Deck:
    """The slides of one page, made node by node."""

    builder: StandaloneHTMLBuilder
    words: Dictionary = field(default_factory=dict)  # what the deck itself says, in its language
    slides: list[Slide] = field(default_factory=list)
    leads: list[tuple[Item, bool]] = field(default_factory=list)  # wait for what they introduce
    exercises: str | None = None  # their titles, as soon as there is one
    printed: bool = False  # the last thing shown: then the next sentence says what it shows
    opening: Words = ()  # the first sentence of all
    new: bool = False

    def html(self, node: nodes.Node) -> str:
        """A node as the page has it."""
        return self.builder.render_partial(node.deepcopy())["fragment"].strip()

    def span(self, words: Words) -> str:
        html = self.html(nodes.inline("", "", *words))
        return " ".join(html.removeprefix("<span>").removesuffix("</span>").split())

    def said(self, *told: nodes.Node) -> Item:
        text = " ".join(node.astext() for node in told)
        return Item(notes="".join(map(self.html, told)), seconds=len(text.split()) / SPOKEN)

    def text(self, words: Words) -> Item:
        html = f'<p class="item text">{self.span(words)}</p>'
        return Item(html, lines_of(plain(words)) * LINE + 14)

    def say(self, *told: nodes.Node) -> None:
        """Into the notes of what was shown last."""
        items = self.slides[-1].items
        items.append(items.pop() + self.said(*told) if items else self.said(*told))

    def show(self, kind: str, html: str, height: float, lines: int = 1) -> None:
        """On the slide, after the sentences that introduce it."""
        html = f'<div class="item {kind}">{html}</div>'
        item = Item(html, height, LOOK[kind] * lines, first=self.new)
        self.slides[-1].items.append(sum((lead for lead, _ in self.leads), Item()) + item)
        self.leads = []
        self.new = False
        self.printed = kind == "output"

    def settle(self) -> None:
        """Nothing came after a lead: bold words stand alone, others are only said."""
        for item, bold in self.leads:
            said = Item(notes=item.notes, seconds=item.seconds)
            self.slides[-1].items.append(item if bold else said)
        self.leads = []
        self.printed = False

    # --- prose

    def block(self, node: nodes.Node, *, notes: bool = False) -> None:
        """What a section holds, a node at a time; with `notes`, prose is only said."""
        if isinstance(node, nodes.section):
            self.section(node)
        elif "exercise" in node.get("classes", ()):
            self.exercise(node)
        elif self.exercises is not None or isinstance(node, UNTOLD):
            return  # exercises and their solutions are not told
        elif node.get("nb_element") == "cell_code":
            self.cell(node)
        elif isinstance(node, nodes.figure):
            caption = node.next_node(nodes.caption)
            self.picture(node[0], caption.children if caption else ())
        elif isinstance(node, nodes.image | nodes.raw):
            self.picture(node, ())
        elif "live-figure" in node["classes"]:
            self.live(*node.children)
        elif isinstance(node, nodes.container | nodes.Admonition):
            for child in node.children:
                self.block(child, notes=True)
        elif notes:
            self.say(node)
        elif isinstance(node, nodes.paragraph):
            self.paragraph(node)
        elif isinstance(node, LISTS):
            self.list(node)
        elif isinstance(node, nodes.table):
            self.table(node)
        elif isinstance(node, nodes.math_block):
            self.equation(node)
        elif isinstance(node, nodes.literal_block):
            self.code(node.astext())
        else:
            self.settle()
            self.say(node)

    def section(self, node: nodes.section) -> None:
        self.settle()
        self.exercises = None
        level = 1
        above = node.parent
        while isinstance(above, nodes.section):
            level += 1
            above = above.parent
        over = [slide.title for slide in self.slides if slide.level == 2 < level]
        title = self.span(node.next_node(nodes.title).children)
        self.slides.append(Slide(title, level, "".join(over[-1:])))
        for child in node.children:
            self.block(child)

    def paragraph(self, node: nodes.paragraph) -> None:
        """Sentences with bold words, and one that announces something, go on the slide."""
        found = sentences(node.children)
        shown: list[Words] = []
        self.opening = self.opening or found[0]
        for sentence, after in zip(found, [*found[1:], []], strict=True):
            if any(isinstance(part, nodes.strong) for part in sentence):
                bold = [part for part in sentence if isinstance(part, nodes.strong)]
                label = plain(sentence) == plain(bold) and len(plain(bold).split()) < 6
                shown.append([*sentence, nodes.Text(" "), *after] if label else sentence)
        bold = bool(shown)
        if not bold and not node.astext().rstrip(')"”').endswith((".", "?", "!")):
            shown = found[-1:]
        elif not bold and self.printed and re.match(r"(?!\()(\S+ ){3,30}\S+$", plain(found[0])):
            self.slides[-1].items[-1] += self.text(found[0])
        if bold or any(bold for _, bold in self.leads):
            self.settle()
        self.printed = False
        if shown:
            words = [part for sentence in shown for part in (*sentence, nodes.Text(" "))]
            self.leads.append((self.text(words) + self.said(node), bold))
        else:
            self.settle()
            self.say(node)

    def list(self, node: nodes.Element) -> None:
        items = [inline(item) for item in node.children]
        short = [shorten(item, ITEM_WORDS) for item in items]
        heights = [lines_of(plain(item), LETTERS - 3) * LINE + 10 for item in short]
        if self.slides[-1].level == 1:  # a title slide has no lists
            self.new = True
            if not any(item.html for item in self.slides[-1].items):
                self.slides[-1].items.append(self.text(self.opening))
        tag = "ol" if isinstance(node, nodes.enumerated_list) else "ul"
        for part in parts(heights, ROOM):
            rows = "".join(f"<li>{self.span(item)}</li>" for item in short[part])
            start = f'<{tag} start="{part.start + 1}">'
            self.show("text", f"{start}{rows}</{tag}>", sum(heights[part]))
            said = self.said(*node.children[part])
            if [plain(item) for item in short[part]] == [plain(item) for item in items[part]]:
                said.notes = ""  # it can be read off the slide
            self.slides[-1].items[-1] += said

    def table(self, node: nodes.table) -> None:
        texts = [[entry.astext() for entry in row] for row in node.findall(nodes.row)]
        if len(texts) > TABLE_ROWS:
            return
        widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
        room = 90 - 2 * len(widths)  # letters in a row
        shares = [max(9, int(width * room / max(room, sum(widths)))) for width in widths]
        heights = [
            max(lines_of(text, share) for text, share in zip(row, shares, strict=True)) * 32 + 15
            for row in texts
        ]
        for part in parts(heights[1:], ROOM - heights[0]):
            some = node.deepcopy()
            body = some.next_node(nodes.tbody)
            body[:] = body[part]
            height = heights[0] + sum(heights[1:][part])
            self.show("table", self.html(some), height, lines=part.stop - part.start)

    def equation(self, node: nodes.math_block) -> None:
        """What the page has side by side stands one below the other on a slide."""
        tex = node.astext().strip()
        below = re.sub(r",? *\\qquad\s*", r" \\\\[0.4em] ", tex)
        if "\\begin" not in tex and below != tex:
            tex = f"\\begin{{gathered}}{below}\\end{{gathered}}"
        elif tex.startswith("\\begin{gathered}"):
            tex = below
        rows = re.split(r"\\\\", tex)
        height = sum(105 if re.search(r"frac|sum|prod|max", row) else 60 for row in rows)
        numbers = self.builder.fignumbers.get("displaymath", {})
        number = ".".join(map(str, numbers.get("".join(node["ids"][:1]), ())))
        mark = f'<span class="number">({number})</span>' if number else ""
        shown = f"<div>{mathml(tex, display=True)}</div>{mark}"
        self.show("equation", shown, height + 30, lines=len(rows))

    def picture(self, node: nodes.Node, caption: Words) -> None:
        """With the beginning of its caption; of other HTML, German sentences with their words."""
        html = node.astext() if isinstance(node, nodes.raw) else self.html(node)
        if html.startswith('<div class="gloss">'):
            letters = len(re.sub(r"<[^>]*>", "", html))
            self.show("text", html, (1 + letters // LETTERS) * 2 * LINE)
        if html.startswith('<div class="forest"'):
            self.forest(html, caption)
        if not html.startswith(("<img", "<svg")):
            return
        if html.startswith("<svg"):
            ids = rf"\1s{len(self.slides)}-{len(self.slides[-1].items)}-"
            html = re.sub(r'(\bid="|url\(#|href="#)', ids, html)
        short = shorten(caption, CAPTION_WORDS)
        self.show("picture", f"{html}<p>{self.span(short)}</p>", 470)
        if plain(caption) != plain(short):
            self.say(nodes.paragraph("", "", *caption))

    def forest(self, html: str, caption: Words) -> None:
        """A forest plot: under each axis as many of its claims as a slide has room for."""
        whole = BeautifulSoup(html, "html.parser").div
        for table in [table.extract() for table in whole.find_all(role="table")]:
            head, *rows = [row.extract() for row in table.find_all(role="row")]
            heights = []
            for row in rows:
                claim, _, beside = row.find_all(role=["rowheader", "cell"])
                words = [part.get_text() for part in beside.find_all("div")]
                lines = sum(lines_of(part, BESIDE) for part in words)
                heights.append(max(lines, lines_of(claim.get_text(), CLAIM)) * 30 + 11)
            lead = sum(item.height for item, _ in self.leads)
            for part in parts(heights, FOREST_ROOM - AXIS - lead):
                table.clear()
                table.extend([head, *rows[part]])
                whole.append(table)
                height = AXIS + sum(heights[part])
                self.show("forest-rows", str(whole), height, lines=part.stop - part.start)
            table.extract()
        self.say(nodes.paragraph("", "", *caption))

    def live(self, stage: nodes.raw, caption: nodes.container) -> None:
        """The component itself; a printed slide has its still."""
        html = stage.astext()
        if 'data-mode="single"' in html:  # two models need more room than a slide has
            self.show("stage", html, 540)
        elif 'class="live learn"' in html:
            self.new = True  # a slide of its own, with the question before it
            self.show("stage", html, 500)
            self.new = False
        self.say(*caption.children)

    def exercise(self, node: nodes.Element) -> None:
        if self.exercises is None:
            self.settle()
            self.exercises = ""
            told = in_words("Each exercise stands in the chapter, with its solution.", self.words)
            self.say(nodes.paragraph("", "", nodes.Text(told)))
        *words, _ = node.next_node(nodes.title).children  # the number, and in brackets a title
        start = [word.astext().endswith("(") for word in words].index(True)
        self.exercises += f"<li>{self.span(words[start + 1 :])}</li>"
        self.slides[-1].items[0].html = f'<ol class="item text">{self.exercises}</ol>'

    # --- code

    def code(self, source: str) -> None:
        """Source code, in at most two parts; longer code is not for slides."""
        if not source:
            return
        pieces = re.split(r"\n\n|\n(?=    def )", legible(source))
        heights = [25 * (piece.count("\n") + 2) for piece in pieces]
        divided = parts(heights, 25 * CODE_LINES)
        if len(divided) > 2 or max(heights) > 25 * CODE_LINES:
            return
        for part in divided:
            text = "\n\n".join(pieces[part]).replace(":\n\n", ":\n")
            html = pygments.highlight(text, PythonLexer(), HtmlFormatter(nowrap=True))
            shown = f"<pre><code>{html}</code></pre>"
            self.show("code", shown, sum(heights[part]) + 20, lines=len(text.splitlines()))

    def cell(self, node: nodes.container) -> None:
        kind = node["cell_metadata"].get("slideshow", {}).get("slide_type")
        if kind == "skip":
            return
        held = {part.get("nb_element"): part for part in node.findall(nodes.container)}
        self.new = kind == "subslide"
        if "cell_code_source" in held:
            source = held["cell_code_source"].astext()
            self.code(source if self.new else by_hand(source))
        outputs = held["cell_code_output"].children if "cell_code_output" in held else []
        for output in outputs:
            kinds = output.get("classes", ())
            if not isinstance(output, nodes.literal_block) or "output" not in kinds:
                self.block(output)
            elif "stream" in kinds:
                self.output(output.astext().strip("\n").splitlines(), always=bool(kind))
        self.new = False
        if outputs and self.leads and not self.leads[-1][1]:
            self.settle()  # what the words before it announce is not shown

    def output(self, lines: list[str], *, always: bool) -> None:
        """What a cell printed."""
        if signed := [line for line in lines if line.startswith(SIGNATURE)]:
            self.slides[-1].items.append(Item(signatures=signed[0] + "\n"))
        lines = [line for line in lines if not line.startswith(SIGNATURE)]
        fits = 1 < len(lines) <= OUTPUT_LINES and max(map(len, lines)) <= COLUMNS
        if lines and (always or fits):
            html = f"<pre><code>{escape(chr(10).join(lines))}</code></pre>"
            self.show("output", html, 28 * len(lines) + 24, lines=len(lines))

    # --- all of it

    def read(self, doctree: nodes.document) -> None:
        doctree = doctree.deepcopy()
        for link in list(doctree.findall(nodes.reference)):
            link.replace_self(words_of(link, in_words("the figure", self.words)))
        for section in doctree.findall(nodes.section):
            if section.parent is doctree:
                self.section(section)
        self.settle()
        self.merge()
        self.slides = [page for slide in self.slides for page in slide.pages()]
        self.sign()

    def sign(self) -> None:
        """Where scores are seen, the signature that the chapter printed beside them, or last."""
        last = ""
        for slide in self.slides:
            here = "".join(item.signatures for item in slide.items).splitlines()
            last = here[0] if here else last
            seen = re.search('class="item (picture|table|output)', slide.shown)
            slide.signature = last if seen and "BLEU" in slide.shown else ""

    def merge(self) -> None:
        """A heading with nothing to show: what is said goes to the next one below it, or back."""
        kept: list[Slide] = []
        waiting: list[Slide] = []
        for slide in [*self.slides, None]:
            if slide and kept and not any(item.html for item in slide.items):
                waiting.append(slide)
                continue
            above = [empty.title for empty in waiting]
            cut = above.index(slide.above) if slide and slide.above in above else len(above)
            said = [sum(e.items, Item(notes=f"<h4>{e.title}</h4>")) for e in waiting]
            if said[:cut]:
                kept[-1].items.append(sum(said[:cut], Item()))
            if slide:
                slide.items[:1] = [sum(said[cut:], Item()) + item for item in slide.items[:1]]
                kept.append(slide)
            waiting = []
        self.slides = kept

    @property
    def minutes(self) -> float:
        return sum(slide.minutes for slide in self.slides)


def words_of(link: nodes.reference, figure: str = "the figure") -> list[nodes.Node]:
    """What a link says: slides lead nowhere, and their figures have no numbers."""
    kinds = {kind for node in link.findall(nodes.inline) for kind in node["classes"]}
    if "std-numref" in kinds:
        return [nodes.Text(figure)]
    quoted = "doc" in kinds or "std-doc" in kinds
    return [nodes.Text("“"), *link.children, nodes.Text("”")] if quoted else link.children


def parts(heights: list[float], room: float) -> list[slice]:
    """Cut a column into as few parts as fit, the highest of them as low as can be."""

    def cut(room: float) -> list[slice]:
        starts = [0]
        sofar = 0.0
        for number, height in enumerate(heights):
            if sofar + height > room and number > starts[-1]:
                starts.append(number)
                sofar = 0.0
            sofar += height
        return [slice(a, b) for a, b in zip(starts, [*starts[1:], len(heights)], strict=True)]

    fewest = len(cut(room))
    return next(found for low in range(0, int(room) + 10, 10) if len(found := cut(low)) == fewest)


# --- its page


def page(deck: Deck, name: str, number: int | None, language: str = "en") -> str:
    """The deck of a chapter as a page."""
    sections = []
    for place, slide in enumerate(deck.slides):
        above = in_words(f"Chapter {number}", deck.words) if number and not place else slide.above
        head = f'<p class="above">{above}</p>' if above else ""
        foot = f'<p class="signature"><code>{slide.signature}</code></p>' if slide.signature else ""
        tag = "h2" if place else "h1"
        minutes = in_words(f"{slide.minutes:g} min", deck.words)
        notes = [f"<p><b>{minutes}</b></p>", *(item.notes for item in slide.items)]
        if not place:
            back = in_words("The chapter", deck.words)
            foot += f'<p class="back"><a href="../book/{name}.html">{back}</a></p>'
            notes.insert(1, f"<p>{summary(deck)}</p>")
        sections.append(
            f'<section class="level{slide.level}" data-timing="{round(slide.minutes * 60)}">'
            f"<header>{head}<{tag}>{slide.title}</{tag}></header>{slide.shown}{foot}"
            f'<aside class="notes">{"".join(notes)}</aside></section>'
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


def summary(deck: Deck) -> str:
    """How long the deck is, and where to break."""
    length = f"The whole deck: {len(deck.slides)} slides, {deck.minutes:g} min."
    text = in_words(length, deck.words)
    lessons = math.ceil(deck.minutes / LESSON)
    starts = {}
    sofar = 0.0
    for slide in deck.slides:
        if slide.level == 2:
            starts.setdefault(slide.title, sofar)
        sofar += slide.minutes
    goals = [sofar * number / lessons for number in range(1, lessons)]
    breaks = [min(starts, key=lambda title, at=goal: abs(starts[title] - at)) for goal in goals]
    if breaks:
        begin = f"It fills {lessons} lessons; begin the next one with"
        names = ", ".join(f"“{title}”" for title in breaks)
        text += f" {in_words(begin, deck.words)} {names}."
    return text


def write(
    app: Sphinx, pagename: str, templatename: str, context: dict, doctree: nodes.document | None
) -> None:
    """The deck of a chapter, as soon as its page is made; the page leads to it."""
    root = Path(app.srcdir)
    name = Path(pagename).name
    if doctree is None or name not in {path.stem for path in lectures(root)}:
        return
    deck = Deck(app.builder, app.config.site_words)
    deck.read(doctree)
    into = Path(app.outdir, FOLDER)
    into.mkdir(exist_ok=True)
    html = page(deck, name, chapter_numbers(root).get(name), app.config.language)
    (into / f"{name}.html").write_text(html, encoding="utf8", newline="\n")
    address = context["pathto"](f"{FOLDER}/{name}.html", resource=True)
    tooltip = in_words("Slides of this chapter", app.config.site_words)
    add_button(context, "slides-button", "fas fa-person-chalkboard", address, tooltip)


def setup(app: Sphinx) -> dict:
    app.connect("html-page-context", write, priority=900)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
