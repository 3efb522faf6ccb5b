"""Lecture slides of the chapters, from the chapters' own cells: `make slides`.

    python -m press.slides --into _build/slides                       every chapter of _toc.yml
    python -m press.slides --into _build/slides book/03_x.ipynb       one of them

A heading opens a slide. On the slide go what the last row can read: sentences with bold words,
displayed equations, figures, lists (an item that is long is cut to its first sentences), short
tables, short source code without its docstrings, functions called ..._by_hand, short printed
outputs with the sentence that follows them, and the titles of the exercises. Where scores are seen,
their signature stands below.
All other prose becomes the speaker notes of its slide, with the minutes that it takes.

Where the rule chooses badly, a cell's `slideshow.slide_type` (Jupyter's own metadata) overrides it:

    skip                nothing of the cell is used
    notes               all of it is notes
    slide, subslide     it begins a new slide; of a code cell, the code is shown, too
    fragment            it appears at the next key; of a code cell, the code is shown, too
    -                   a code cell's output is shown, however long it is
"""

from __future__ import annotations

import argparse
import ast
import base64
import math
import re
import shutil
import sys
import textwrap
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from functools import cached_property
from html import escape
from pathlib import Path
from string import Template

import nbformat
import pygments
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from myst_parser.config.main import MdParserConfig
from myst_parser.parsers.mdit import create_md_parser
from pybtex.database import parse_file
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from press import formulas, live
from press.contents import ROOT, chapter_numbers, chapters, lectures
from press.formulas import mathml
from press.numbers import without_marks

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
CLAIMS = 20  # more claims are shown without their numbers
SPOKEN = 140 / 60  # words a second
LOOK = {"stage": 60, "picture": 40, "equation": 20, "table": 5, "code": 4, "output": 4, "text": 0}
# seconds: a picture, and a line of anything else
LIVE = """<link rel="stylesheet" href="{static}/live/see.css">
<script type="module" src="{static}/live/page.mjs"></script>"""
LESSON = 50  # minutes; a longer deck says where to break


# --- Markdown


@dataclass
class Book:
    """What a chapter refers to."""

    root: Path

    @cached_property
    def authors(self) -> dict[str, tuple[str, str]]:
        """Of each entry of the bibliography, the authors' last names and the year."""
        found = {}
        for key, entry in parse_file(self.root / "book" / "references.bib").entries.items():
            names = [" ".join(person.last_names) for person in entry.persons["author"]]
            names = [re.sub(r"[{}]", "", name) for name in names]
            text = f"{names[0]} et al." if len(names) > 2 else " and ".join(names)
            found[key] = (text, entry.fields["year"])
        return found

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The numbers of the chapters that have one."""
        return chapter_numbers(self.root)

    @cached_property
    def equations(self) -> dict[str, str]:
        """The numbers that Sphinx gives to the equations with a label: 3.2 in chapter 3.

        Pages without a number share one count, in the order of the book.
        """
        found: dict[str, str] = {}
        counts: Counter[str] = Counter()
        for path in chapters(self.root):
            labels = re.findall(r"\$\$ ?\(([\w-]+)\)", path.read_text(encoding="utf8"))
            chapter = f"{self.numbers[path.stem]}." if path.stem in self.numbers else ""
            for label in labels:
                counts[chapter] += 1
                found[label] = f"{chapter}{counts[chapter]}"
        return found

    def title(self, name: str) -> str:
        page = self.root / "book" / f"{Path(name).name}.md"
        if page.is_file():
            return heading(page.read_text(encoding="utf8"))
        return heading(read(page.with_suffix(".ipynb")).cells[0].source)

    def role(self, name: str, content: str) -> str:
        """A MyST role as words."""
        words, _, target = content.rstrip(">").rpartition("<")
        if name.startswith("cite"):
            form = "{} ({})" if name == "cite:t" else "{}, {}"
            keys = [key.strip() for key in content.split(",")]
            text = "; ".join(form.format(*self.authors.get(key, (key, "?"))) for key in keys)
            return text if name == "cite:t" else f"({text})"
        if words:
            return words.strip()
        if name == "eq":
            return f"({self.equations.get(content, '?')})"
        if name == "doc":
            return f"“{self.title(content)}”"
        if name == "numref":
            return "the figure"
        return target.rpartition(".")[2] if "~" in target else target


def heading(text: str) -> str:
    """The title of a page, which a label may precede."""
    return re.search(r"^# +(.*)", text, flags=re.MULTILINE)[1]


def render_role(
    self: RendererHTML, tokens: list[Token], index: int, options: object, env: dict
) -> str:
    return escape(env["book"].role(tokens[index].meta["name"], tokens[index].content))


def render_math(
    self: RendererHTML, tokens: list[Token], index: int, options: object, env: dict
) -> str:
    return f'<span class="math">{mathml(tokens[index].content)}</span>'


EXTENSIONS = {"amsmath", "attrs_inline", "colon_fence", "deflist", "dollarmath", "tasklist"}
MARKDOWN = create_md_parser(MdParserConfig(enable_extensions=EXTENSIONS), RendererHTML)
MARKDOWN.add_render_rule("myst_role", render_role)
MARKDOWN.add_render_rule("math_inline", render_math)


def blocks(tokens: list[Token]) -> Iterator[list[Token]]:
    """The tokens of one block after the other, each from its opening to its closing."""
    start = 0
    for end, token in enumerate(tokens):
        if token.level == tokens[0].level and token.nesting <= 0:
            yield tokens[start : end + 1]
            start = end + 1


def inlines(tokens: list[Token]) -> str:
    return " ".join(token.content for token in tokens if token.type == "inline")


def sentences(text: str) -> list[str]:
    """The sentences of a paragraph; formulas, code, roles and bold words stay in one piece."""
    text = " ".join(text.split())
    masked = re.sub(r"`[^`]*`|\$[^$]*\$", lambda found: "§" * len(found[0]), text)
    ends = [found.end() for found in re.finditer(r"[.?!][*)\"”]* (?=[A-Z*(§“\[_{])", masked)]
    ends = [end for end in ends if masked[:end].count("**") % 2 == 0]
    return [text[a:b].strip() for a, b in zip([0, *ends], [*ends, None], strict=True)]


def shorten(text: str, most: int) -> str:
    """The first sentences; a few words more where there would be less than six."""
    kept = ""
    for sentence in sentences(text):
        plain = re.sub(r"\*\*.*?\*\*", "", kept).split()
        words = len(f"{kept} {sentence}".split())
        if words > most * (1 if len(plain) > 5 else 1.3) and plain:
            break
        kept = f"{kept} {sentence}".strip()
    return kept


def lines_of(text: str, letters: int = LETTERS) -> int:
    plain = re.sub(r"\\[a-z]+|[*`${}\\]|<[^>]*>", "", text)
    return max(1, math.ceil(len(plain) / letters))


def without_docstrings(source: str) -> str:
    """Source code without docstrings, double blank lines and the tests' marks."""
    source = textwrap.dedent(source).strip()
    lines = source.splitlines()
    try:
        tree = ast.parse(source)
    except SyntaxError:  # a cell with magics
        return source
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node):
            first = node.body[0]
            lines[first.lineno - 1 : first.end_lineno] = [None] * (
                first.end_lineno - first.lineno + 1
            )
    kept = [line for line in lines if line is not None and line != "# NBVAL_CHECK_OUTPUT"]
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
        for a, b in zip([0, *starts], [*starts, None], strict=True):
            run = self.items[a:b]
            found += [run[part] for part in parts([item.height for item in run], ROOM)]
        return [Slide(self.title, self.level, self.above, items=items) for items in found]


@dataclass
class Deck:
    """The slides of one notebook, made cell by cell."""

    path: Path
    book: Book
    slides: list[Slide] = field(default_factory=list)
    leads: list[tuple[Item, bool]] = field(default_factory=list)  # wait for what they introduce
    exercises: str | None = None  # their titles, as soon as there is one
    printed: bool = False  # the last thing shown: then the next sentence says what it shows
    opening: str = ""  # the first sentence of all
    fragment: bool = False
    new: bool = False

    def html(self, text: str) -> str:
        return MARKDOWN.renderInline(text, {"book": self.book})

    def said(self, text: str) -> Item:
        notes = MARKDOWN.render(text, {"book": self.book})
        return Item(notes=notes, seconds=len(text.split()) / SPOKEN)

    def text(self, words: str) -> Item:
        html = f'<p class="item text">{self.html(words)}</p>'
        return Item(html, lines_of(words) * LINE + 14)

    def say(self, text: str) -> None:
        """Into the notes of what was shown last."""
        items = self.slides[-1].items
        items.append(items.pop() + self.said(text) if items else self.said(text))

    def show(self, kind: str, html: str, height: float, lines: int = 1) -> None:
        """On the slide, after the sentences that introduce it."""
        name = f"item {kind} fragment" if self.fragment else f"item {kind}"
        item = Item(f'<div class="{name}">{html}</div>', height, LOOK[kind] * lines, first=self.new)
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

    # --- Markdown cells

    def markdown(self, source: str, notes: bool = False) -> None:
        lines = source.splitlines()
        for block in blocks(MARKDOWN.parse(source, {})):
            token = block[0]
            text = "\n".join(lines[slice(*token.map)]) if token.map else ""
            directive = re.match(r"\{([\w-]+)\} *(.*)", token.info)
            if token.type == "heading_open":
                self.heading(block[1].content, int(token.tag[1]))
            elif directive and directive[1] == "exercise":
                self.exercise(directive[2])
            elif self.exercises is not None or token.type == "myst_target":
                continue  # exercises and their solutions are not told
            elif directive and directive[1] == "figure":
                self.figure(directive[2], token.content)
            elif directive and directive[1] == "live":
                self.live(directive[2], token.content)
            elif directive:
                self.markdown(re.sub(r"(?m)^:[\w-]+:.*\n", "", token.content), notes=True)
            elif notes:
                self.say(text)
            elif token.type == "paragraph_open":
                self.paragraph(block[1].content)
            elif token.type.endswith("list_open"):
                self.list(block)
            elif token.type == "table_open":
                self.table(block)
            elif token.type in ("math_block", "math_block_label", "amsmath"):
                self.equation(token.content, token.info)
            elif token.type == "fence":
                self.code(token.content)
            else:
                self.settle()
                self.say(text)

    def heading(self, text: str, level: int) -> None:
        self.settle()
        self.exercises = None
        above = [slide.title for slide in self.slides if slide.level == 2 < level]
        self.slides.append(Slide(self.html(text), level, "".join(above[-1:])))

    def paragraph(self, text: str) -> None:
        """Sentences with bold words, and one that announces something, go on the slide."""
        found = sentences(text)
        shown = []
        self.opening = self.opening or found[0]
        for sentence, after in zip(found, [*found[1:], ""], strict=True):
            if re.search(r"\*\*[^*]", sentence):
                label = re.fullmatch(r"\*\*.*\*\*", sentence) and len(sentence.split()) < 6
                shown.append(f"{sentence} {after}".strip() if label else sentence)
        bold = bool(shown)
        if not bold and not text.rstrip('*)"”').endswith((".", "?", "!")):
            shown = found[-1:]
        elif not bold and self.printed and re.match(r"(?!\()(\S+ ){3,30}\S+$", found[0]):
            self.slides[-1].items[-1] += self.text(found[0])
        if bold or any(bold for _, bold in self.leads):
            self.settle()
        self.printed = False
        if shown:
            self.leads.append((self.text(" ".join(shown)) + self.said(text), bold))
        else:
            self.settle()
            self.say(text)

    def list(self, block: list[Token]) -> None:
        tag = block[0].tag
        items = [inlines(item) for item in blocks(block[1:-1])]
        short = [shorten(item, ITEM_WORDS) for item in items]
        heights = [lines_of(item, LETTERS - 3) * LINE + 10 for item in short]
        if self.slides[-1].level == 1:  # a title slide has no lists
            self.new = True
            if not any(item.html for item in self.slides[-1].items):
                self.slides[-1].items.append(self.text(self.opening))
        for part in parts(heights, ROOM):
            rows = "".join(f"<li>{self.html(item)}</li>" for item in short[part])
            start = f'<{tag} start="{part.start + 1}">'
            self.show("text", f"{start}{rows}</{tag}>", sum(heights[part]))
            said = self.said("\n".join(f"- {item}" for item in items[part]))
            if short[part] == items[part]:
                said.notes = ""  # it can be read off the slide
            self.slides[-1].items[-1] += said

    def table(self, block: list[Token]) -> None:
        rows = [row for part in blocks(block[1:-1]) for row in blocks(part[1:-1])]
        cells = [[inlines(cell) for cell in blocks(row[1:-1])] for row in rows]
        if "verdict" in cells[0]:  # the claims: fewer columns are legible
            out = {"source", "measured here"} if len(cells) > CLAIMS else {"source"}
            kept = [number for number, name in enumerate(cells[0]) if name not in out]
            cells = [[row[number] for number in kept] for row in cells]
        elif len(cells) > TABLE_ROWS:
            return
        widths = [max(len(cell) for cell in column) for column in zip(*cells, strict=True)]
        room = 90 - 2 * len(widths)  # letters in a row
        shares = [max(9, int(width * room / max(room, sum(widths)))) for width in widths]
        heights = [
            max(lines_of(cell, share) for cell, share in zip(row, shares, strict=True)) * 32 + 15
            for row in cells
        ]
        for part in parts(heights[1:], ROOM - heights[0]):
            body = "".join(self.row(row, "td") for row in cells[1:][part])
            html = f"<table><thead>{self.row(cells[0], 'th')}</thead>{body}</table>"
            self.show(
                "table", html, heights[0] + sum(heights[1:][part]), lines=part.stop - part.start
            )

    def row(self, cells: list[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{self.html(cell)}</{tag}>" for cell in cells) + "</tr>"

    def equation(self, tex: str, label: str) -> None:
        """What the page has side by side stands one below the other on a slide."""
        tex = tex.strip()
        below = re.sub(r",? *\\qquad\s*", r" \\\\[0.4em] ", tex)
        if "\\begin" not in tex and below != tex:
            tex = f"\\begin{{gathered}}{below}\\end{{gathered}}"
        elif tex.startswith("\\begin{gathered}"):
            tex = below
        rows = re.split(r"\\\\", tex)
        height = sum(105 if re.search(r"frac|sum|prod|max", row) else 60 for row in rows)
        number = self.book.equations.get(label)
        mark = f'<span class="number">({number})</span>' if number else ""
        shown = f"<div>{mathml(tex, display=True)}</div>{mark}"
        self.show("equation", shown, height + 30, lines=len(rows))

    def figure(self, name: str, content: str) -> None:
        options = dict(re.findall(r"(?m)^:([\w-]+): *(.*)$", content))
        caption = re.sub(r"(?m)^:[\w-]+:.*$", "", content).strip()
        data = (self.path.parent / name).read_bytes()
        kind = {".svg": "svg+xml"}.get(Path(name).suffix, Path(name).suffix[1:])
        self.picture(kind, base64.b64encode(data).decode(), options.get("alt", ""), caption=caption)

    def live(self, models: str, content: str) -> None:
        """The component itself; a printed slide has its still."""
        shown = live.block(models, dict(live.OPTION.findall(content)))
        if len(shown.models) == 1:  # two models need more room than a slide has
            self.show("stage", live.box(shown), 540)
        self.say(live.OPTION.sub("", content).strip())

    def exercise(self, title: str) -> None:
        if self.exercises is None:
            self.settle()
            self.exercises = ""
            self.say("Each exercise stands in the chapter, with its solution.")
        self.exercises += f"<li>{self.html(title)}</li>"
        self.slides[-1].items[0].html = f'<ol class="item text">{self.exercises}</ol>'

    # --- code cells

    def picture(self, kind: str, data: str, alt: str, caption: str) -> None:
        """With the beginning of its caption; SVG of a cell answers the mouse, so it stays SVG."""
        html = f'<img alt="{escape(alt)}" src="data:image/{kind};base64,{data}">'
        if data.startswith("<svg"):
            ids = rf"\1s{len(self.slides)}-{len(self.slides[-1].items)}-"
            html = re.sub(r'(\bid="|url\(#|href="#)', ids, data)
            html = html.replace("<svg", f'<svg role="img" aria-label="{escape(alt)}"', 1)
        short = shorten(caption, CAPTION_WORDS)
        self.show("picture", f"{html}<p>{self.html(short)}</p>", 470)
        if caption != short:
            self.say(caption)

    def gloss(self, html: str) -> None:
        """A German sentence with what its words mean; no other HTML."""
        if html.startswith('<div class="gloss">'):
            letters = len(re.sub(r"<[^>]*>", "", html))
            self.show("text", html, (1 + letters // LETTERS) * 2 * LINE, lines=1)

    def code(self, source: str) -> None:
        """Source code, in at most two parts; longer code is not for slides."""
        if not source:
            return
        pieces = re.split(r"\n\n|\n(?=    def )", without_docstrings(source))
        heights = [25 * (piece.count("\n") + 2) for piece in pieces]
        divided = parts(heights, 25 * CODE_LINES)
        if len(divided) > 2 or max(heights) > 25 * CODE_LINES:
            return
        for part in divided:
            text = "\n\n".join(pieces[part]).replace(":\n\n", ":\n")
            html = pygments.highlight(text, PythonLexer(), HtmlFormatter(nowrap=True))
            self.show(
                "code",
                f"<pre><code>{html}</code></pre>",
                sum(heights[part]) + 20,
                lines=len(text.splitlines()),
            )

    def cell(self, cell: nbformat.NotebookNode, kind: str | None) -> None:
        shown = kind in ("slide", "subslide", "fragment")
        self.code(cell.source if shown else by_hand(cell.source))
        text = "".join(output.get("text", "") for output in cell.outputs).strip("\n")
        signed = [line for line in text.splitlines() if line.startswith(SIGNATURE)]
        if signed:
            self.slides[-1].items.append(Item(signatures=signed[0] + "\n"))
        lines = [line for line in text.splitlines() if not line.startswith(SIGNATURE)]
        wide = max(map(len, lines), default=0)
        if lines and (kind or (1 < len(lines) <= OUTPUT_LINES and wide <= COLUMNS)):
            html = f"<pre><code>{escape(chr(10).join(lines))}</code></pre>"
            self.show("output", html, 28 * len(lines) + 24, lines=len(lines))
        about = cell.metadata.get("mystnb", {})
        for output in cell.outputs:
            data = output.get("data", {})
            for form in ("svg+xml", "png"):
                if picture := data.get(f"image/{form}"):
                    caption = about.get("figure", {}).get("caption", "")
                    self.picture(
                        form, picture, about.get("image", {}).get("alt", ""), caption=caption
                    )
                    break
            else:
                self.gloss(data.get("text/html", ""))
                self.markdown(data.get("text/markdown", ""))
        if cell.outputs and self.leads and not self.leads[-1][1]:
            self.settle()  # what the words before it announce is not shown

    # --- all of it

    def read(self, notebook: nbformat.NotebookNode) -> None:
        for cell in notebook.cells:
            kind = cell.metadata.get("slideshow", {}).get("slide_type")
            if kind == "skip" or "remove-cell" in cell.metadata.get("tags", []):
                continue
            self.new = kind in ("slide", "subslide")
            self.fragment = kind == "fragment"
            if cell.cell_type == "markdown":
                self.markdown(cell.source, notes=kind == "notes")
            elif cell.cell_type == "code" and self.exercises is None and kind != "notes":
                self.cell(cell, kind)
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
            if (
                re.search('class="item (picture|table|output)', slide.shown)
                and "BLEU" in slide.shown
            ):
                slide.signature = last

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


# --- files


def read(path: Path) -> nbformat.NotebookNode:
    try:
        notebook = nbformat.read(path, as_version=4)
    except (OSError, ValueError, AttributeError, TypeError, nbformat.ValidationError) as error:
        raise ValueError(f"{path} is not a notebook ({type(error).__name__})") from error
    if not notebook.cells or notebook.cells[0].source[:2] != "# ":
        raise ValueError(f"{path} has no title: its first cell must begin with '# '")
    return without_marks(notebook)


def spoken(minutes: float) -> str:
    return f"{minutes:g} min"


def page(deck: Deck, static: str, back: str = "") -> str:
    """The deck as a page; `static` is the way to scripts and styles, `back` to the chapter."""
    sections = []
    for number, slide in enumerate(deck.slides):
        chapter = deck.book.numbers.get(deck.path.stem) if number == 0 else None
        above = f"Chapter {chapter}" if chapter else slide.above
        head = f'<p class="above">{above}</p>' if above else ""
        foot = f'<p class="signature"><code>{slide.signature}</code></p>' if slide.signature else ""
        tag = "h1" if number == 0 else "h2"
        notes = [f"<p><b>{spoken(slide.minutes)}</b></p>", *(item.notes for item in slide.items)]
        if number == 0:
            notes.insert(1, f"<p>{summary(deck)}</p>")
        sections.append(
            f'<section class="level{slide.level}" data-timing="{round(slide.minutes * 60)}">'
            f"<header>{head}<{tag}>{slide.title}</{tag}></header>{slide.shown}{foot}"
            f'<aside class="notes">{"".join(notes)}</aside></section>'
        )
    if back:
        sections[0] = sections[0].replace("<aside", f'<p class="back">{back}</p><aside', 1)
    template = Path(__file__).with_name("slides.html").read_text(encoding="utf8")
    return Template(template).substitute(
        title=re.sub(r"<[^>]+>", "", deck.slides[0].title),
        static=static,
        live=LIVE.format(static=static) if 'class="live"' in "".join(sections) else "",
        code=HtmlFormatter(style="a11y-high-contrast-light").get_style_defs("pre"),
        slides="\n".join(sections),
    )


def summary(deck: Deck) -> str:
    """How long the deck is, and where to break."""
    text = f"The whole deck: {len(deck.slides)} slides, {spoken(deck.minutes)}."
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
        names = ", then ".join(f"“{title}”" for title in breaks)
        text += f" It fills {lessons} lessons; begin the next one with {names}."
    return text


def write(notebooks: list[Path], into: Path, static: str, root: Path = ROOT, back=None) -> list:
    """Write the deck of each notebook; `back(name)` makes the link to its chapter."""
    book = Book(root)
    decks = []
    into.mkdir(parents=True, exist_ok=True)
    for path in notebooks:
        deck = Deck(path, book)
        deck.read(read(path))
        html = page(deck, static, back(path.stem) if back else "")
        (into / f"{path.stem}.html").write_text(html, encoding="utf8")
        decks.append(deck)
    return decks


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--into", type=Path, required=True, metavar="DIR", help="where they go")
    parser.add_argument("notebooks", nargs="*", type=Path, help="default: all of _toc.yml")
    options = parser.parse_args()
    try:
        decks = write(options.notebooks or lectures(), options.into, "_static")
    except ValueError as error:
        parser.error(str(error))
    static = options.into / "_static"
    for folder in ("_vendor/reveal", "_style"):
        target = static / (folder.partition("/")[2] or ".")
        shutil.copytree(ROOT / "book" / folder, target, dirs_exist_ok=True)
    live.copy_files(
        static / live.FOLDER, {name for one in live.book_blocks() for name in one.models}
    )
    pages = [path.read_text(encoding="utf8") for path in options.into.glob("*.html")]
    formulas.write_style(static / formulas.FOLDER, pages)
    for deck in decks:
        size = (options.into / f"{deck.path.stem}.html").stat().st_size / 1000
        print(f"{deck.path.stem:24}{len(deck.slides):4} slides{deck.minutes:6g} min{size:7.0f} KB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
