"""Draw the book's diagrams again: `python -m press.diagrams` writes `book/figures`.

Mechanisms of attention are drawn here, with every arrow: each score reaches softmax, each weight
its annotation. Other diagrams are drawn by hand, in `press/figures`. In all of them the letters
become outlines (`press.outlines`). They are white sheets with dark lines, also on a dark page.
"""

from __future__ import annotations

import math
import re
import sys
from pathlib import Path

from attnmt.files import write_aside
from press.contents import ROOT
from press.outlines import with_outlines

FIGURES = ROOT / "book" / "figures"
BY_HAND = Path(__file__).parent / "figures"

BLUE = "#0072b2"  # the query, and what is asked
ORANGE = "#b85000"  # weights
DARK = "#333"
PALE = "#9a9a9a"  # what an earlier frame explained
STATE = "#cfe3f5"
ANNOTATION = "#f6d9e6"
SCORE = "#d5efe3"
OUTPUT = "#fbe3c8"
PLAIN = "#f3f3f3"
SIZE = 20  # of letters
SMALL = 16.5  # of indices and notes
WIDTH = 880
HEAD = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}">
<title>{title}</title>
<defs>{tips}</defs>
<rect width="{width}" height="{height}" rx="8" fill="#ffffff"/>
"""
TIP = """<marker id="{name}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="{size}" \
markerHeight="{size}" markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0 L10 5 L0 10 z" \
fill="{colour}"/></marker>"""


class Sheet:
    """A diagram that grows by its parts; y grows downwards."""

    def __init__(self, title: str, height: int):
        colours = (BLUE, ORANGE, DARK, PALE)
        tips = (TIP.format(name=f"tip{c[1:]}", size=11, colour=c) for c in colours)
        self.parts = [HEAD.format(width=WIDTH, height=height, title=title, tips="".join(tips))]

    def line(self, way: str, colour: str = DARK, *, tip: bool = True, dashed: bool = False) -> None:
        """Along an SVG path, with an arrow's tip at its end."""
        end = f' marker-end="url(#tip{colour[1:]})"' if tip else ""
        dashes = ' stroke-dasharray="6 4"' if dashed else ""
        stroke = f'fill="none" stroke="{colour}" stroke-width="2"'
        self.parts.append(f'<path class="arrow" d="{way}" {stroke}{dashes}{end}/>')

    def joint(self, x: float, y: float, colour: str) -> None:
        """Where a line branches; lines that only cross have none."""
        self.parts.append(f'<circle cx="{x}" cy="{y}" r="4" fill="{colour}"/>')

    def box(
        self, x: float, y: float, width: float, *, fill: str, label: str = "", height: float = 38
    ) -> None:
        """A box by its middle, with a label."""
        corner = f'x="{x - width / 2:g}" y="{y - height / 2:g}" width="{width:g}"'
        look = f'height="{height:g}" rx="7" fill="{fill}" stroke="#333" stroke-width="1.5"'
        self.parts.append(f"<rect {corner} {look}/>")
        if label:
            self.text(x, y + 7, label)

    def bar(self, x: float, bottom: float, height: float) -> None:
        """A weight; the pale column behind it is as high as the weight 1."""
        for high, colour in ((BAR, "#efe6dd"), (height, ORANGE)):
            size = f'width="22" height="{high:.1f}" fill="{colour}"'
            self.parts.append(f'<rect x="{x - 11:g}" y="{bottom - high:.1f}" {size}/>')

    def text(
        self, x: float, y: float, words: str, *, anchor: str = "middle", size: float = SIZE
    ) -> None:
        """Words, in which _{...} is an index; before an index stands an italic symbol."""
        pieces = re.split(r"(\S+_\{[^}]*\})", words)
        inner = []
        for piece in filter(None, pieces):
            if found := re.fullmatch(r"(\S+)_\{([^}]*)\}", piece):
                inner.append(f'<tspan font-style="italic">{found[1]}</tspan>')
                low = f'<tspan font-size="{SMALL}" font-style="italic" dy="5">{found[2]}</tspan>'
                inner.append(f'{low}<tspan dy="-5">\u200a</tspan>')
            else:
                inner.append(f"<tspan>{piece}</tspan>")
        start = (
            f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" font-size="{size:g}" fill="#111">'
        )
        self.parts.append(f"{start}{''.join(inner)}</text>")

    def note(self, x: float, y: float, words: str, anchor: str = "start") -> None:
        self.text(x, y, words, anchor=anchor, size=SMALL)

    def number(self, x: float, y: float, which: int, *, last: bool = False) -> None:
        """The place of an arrow in the order of a step; the last one leads out of the path."""
        self.parts.append(f'<circle cx="{x}" cy="{y}" r="12.5" fill="{DARK if last else BLUE}"/>')
        style = f'font-size="{SMALL}" font-weight="bold" fill="#ffffff" text-anchor="middle"'
        self.parts.append(f'<text x="{x}" y="{y + 6}" {style}>{which}</text>')

    def source(self) -> str:
        return "\n".join([*self.parts, "</svg>\n"])


# --- one step of RNNsearch

WORDS = (("dass", "that"), ("Anna", "Anna"), ("lange", "long"), ("schläft", "sleeps"))
SCORES = (0.2, 1.3, 0.5, 2.4)  # made up, to be drawn: the word that is translated now is the last
WEIGHTS = [math.exp(score) / sum(map(math.exp, SCORES)) for score in SCORES]
COLUMNS = (150, 268, 386, 504)  # the middles of the words
BAR = 62  # the height of the weight 1
LANE = 50  # right of a word's middle, the way of its weight
# heights: where a row's middle is
SOFTMAX = 66
COMPARED = 134
ASKED = 184
READ = 252
WEIGHED = 372  # the foot of the bars
SUMMED = 444
BOTTOM = 490


def annotations(sheet: Sheet) -> None:
    """Each source word with what the encoder made of it."""
    sheet.note(14, READ - 4, "annotations")
    for place, (x, (german, english)) in enumerate(zip(COLUMNS, WORDS, strict=True), 1):
        sheet.box(x, READ, 78, fill=ANNOTATION, height=78)
        sheet.text(x, READ - 14, f"h_{{{place}}}")
        sheet.note(x, READ + 9, german, anchor="middle")
        sheet.note(x, READ + 30, f"({english})", anchor="middle")


def scores(sheet: Sheet, colour: str = DARK, query: str = BLUE) -> None:
    """The query is compared with every annotation."""
    sheet.box(46, ASKED, 64, fill=STATE, label="s_{i−1}")
    sheet.note(14, ASKED - 30, "query")
    sheet.line(f"M78 {ASKED} H{COLUMNS[-1] - 16}", query, tip=False)
    for place, x in enumerate(COLUMNS, 1):
        sheet.line(f"M{x - 16} {ASKED} V{COMPARED + 19}", query)
        sheet.joint(x - 16, ASKED, query)
        sheet.line(f"M{x + 14} {READ - 39} V{COMPARED + 19}", colour)
        sheet.box(x, COMPARED, 62, fill=SCORE, label=f"e_{{i{place}}}")


def weights(sheet: Sheet, colour: str = DARK, to_bars: str = ORANGE) -> None:
    """All scores go into one softmax; it gives every word a weight."""
    left = COLUMNS[0] - 36
    right = COLUMNS[-1] + LANE + 14
    for x in COLUMNS:
        sheet.line(f"M{x} {COMPARED - 19} V{SOFTMAX + 19}", colour)
    sheet.box((left + right) / 2, SOFTMAX, right - left, fill=SCORE, label="softmax")
    for place, (x, weight) in enumerate(zip(COLUMNS, WEIGHTS, strict=True), 1):
        sheet.line(f"M{x + LANE} {SOFTMAX + 19} V{WEIGHED - BAR - 3}", to_bars)
        sheet.bar(x + LANE, WEIGHED, BAR * weight)
        sheet.text(x + LANE, WEIGHED + 22, f"α_{{i{place}}}", size=SMALL + 1)


def blend(sheet: Sheet, colour: str = DARK) -> None:
    """Every annotation is multiplied by its weight; the products are added to the context."""
    left = COLUMNS[0] - 36
    right = COLUMNS[-1] + LANE + 14
    for x in COLUMNS:
        sheet.line(f"M{x} {READ + 39} V{WEIGHED - 46}", colour)
        sheet.line(f"M{x + LANE - 13} {WEIGHED - 30} H{x + 15}", ORANGE)
        sheet.parts.append(
            f'<circle cx="{x}" cy="{WEIGHED - 30}" r="14" fill="#fff" stroke="#333" '
            'stroke-width="1.5"/>'
        )
        sheet.text(x, WEIGHED - 23, "×")
        sheet.line(f"M{x} {WEIGHED - 16} V{SUMMED - 19}", colour)
    sheet.box((left + right) / 2, SUMMED, right - left, fill=SCORE, label="sum")
    sheet.line(f"M{right} {SUMMED} H684", colour)
    sheet.box(716, SUMMED, 64, fill=SCORE, label="c_{i}")


def frame(title: str, *, weigh: bool = False, mix: bool = False, rest: bool = False) -> str:
    """One step of RNNsearch as far as it is explained; what came before is paler."""
    sheet = Sheet(title, BOTTOM)
    scores(sheet, PALE if weigh and not rest else DARK, PALE if weigh and not rest else BLUE)
    if weigh:
        weights(sheet, PALE if mix and not rest else DARK, PALE if mix and not rest else ORANGE)
    annotations(sheet)
    if mix:
        blend(sheet)
    if rest:
        recur(sheet)
    else:
        explain(sheet, weigh, mix)
    return sheet.source()


def explain(sheet: Sheet, weigh: bool, mix: bool) -> None:
    """The words beside a frame."""
    if mix:
        said = ("3. Blend", "Every annotation times", "its weight; their sum", "is the context.")
        top = 250
    elif weigh:
        said = ("2. Weights", "One softmax turns all", "scores into weights,", "which sum to 1.")
        top = 60
    else:
        said = ("1. Scores", "The query is compared", "with every annotation.")
        top = 134
    for number, words in enumerate(said):
        sheet.text(600, top + 27 * number, words, anchor="start", size=SMALL + 2 * (number == 0))


def recur(sheet: Sheet) -> None:
    """What becomes of the context: the next state, and the next word."""
    sheet.line(f"M{COLUMNS[-1] - 16} {ASKED} H640", BLUE, tip=False)
    sheet.joint(640, ASKED, BLUE)
    sheet.line(f"M640 {ASKED} V91", BLUE)
    sheet.line(f"M640 {ASKED} V277", BLUE)
    sheet.line(f"M716 {SUMMED - 19} V91")
    sheet.line("M716 306 H687")
    sheet.joint(716, 306, DARK)
    sheet.line("M810 239 V288 H687")
    sheet.line("M810 201 V91")
    sheet.box(640, 297, 94, fill=STATE, label="GRU")
    sheet.box(812, 220, 84, fill=PLAIN, label="E y_{i−1}")
    sheet.box(726, 72, 216, fill=OUTPUT, label="maxout, softmax")
    sheet.line("M726 53 V32")
    sheet.text(726, 24, "y_{i}")
    sheet.line("M640 316 V361")
    sheet.box(640, 380, 64, fill=STATE, label="s_{i}")


# --- Bahdanau's order beside Luong's

ACROSS = (96, 166, 236, 306)  # the middles of the source words in a panel
PANEL = 446


def panel(sheet: Sheet, left: float, title: str) -> None:
    """What both orders have: annotations, weights on every one of them, their sum."""
    for place, (x, weight) in enumerate(zip(ACROSS, WEIGHTS, strict=True), 1):
        sheet.line(f"M{left + x + 10} 410 V381")
        sheet.box(left + x, 347, 52, fill=SCORE, height=68)
        sheet.bar(left + x, 380, BAR * weight)
        sheet.box(left + x, 429, 52, fill=ANNOTATION, label=f"h̄_{{{place}}}")
        sheet.line(f"M{left + x} 313 V289", BLUE)
    sheet.box(left + 201, 270, 270, fill=SCORE, label="weighted sum")
    sheet.line(f"M{left + 201} 251 V225", BLUE)
    sheet.box(left + 201, 206, 60, fill=SCORE, label="c_{t}")
    sheet.note(left + 201, 473, "annotations, and above each its weight", anchor="middle")
    sheet.text(left + 212, 512, title)


def ask(sheet: Sheet, left: float, *, x: float, start: float) -> None:
    """The query, from a state at x, reaches the weight of every word."""
    end = ACROSS[-1] - 12 if x < ACROSS[0] else ACROSS[0] - 12
    sheet.line(f"M{left + x} {start} V396 H{left + end}", BLUE, tip=False)
    for place in ACROSS:
        sheet.line(f"M{left + place - 12} 396 V381", BLUE)
        sheet.joint(left + place - 12, 396, BLUE)


def two_paths() -> str:
    """Bahdanau's decoder attends with the state that it has, Luong's with the new one."""
    sheet = Sheet("When a decoder attends: before its state changes, or after", 530)
    bahdanau(sheet)
    luong(sheet, PANEL)
    sheet.parts.append(f'<path d="M{PANEL - 9} 20 V510" stroke="#bbb" stroke-width="1.5"/>')
    return sheet.source()


def states(sheet: Sheet, left: float, cell: str) -> None:
    """The old state, the last word, and the new state that a cell makes of them."""
    sheet.box(left + 40, 206, 66, fill=STATE, label="h_{t−1}")
    sheet.box(left + 370, 206, 60, fill=STATE, label="h_{t}")
    sheet.box(left + 392, 292, 72, fill=PLAIN, label="y_{t−1}")
    sheet.line(f"M{left + 380} 273 V225")
    sheet.note(left + 345, 150, cell, anchor="end")


def bahdanau(sheet: Sheet) -> None:
    panel(sheet, 0, "Bahdanau: the old state asks")
    states(sheet, 0, "GRU")
    ask(sheet, 0, x=40, start=225)
    sheet.line("M60 187 V160 H362 V187")
    sheet.line("M231 206 H340", BLUE)
    sheet.line("M30 187 V101")
    sheet.line("M201 187 V101")
    sheet.line("M416 273 V101")
    sheet.box(222, 82, 412, fill=OUTPUT, label="deep output, maxout, softmax")
    sheet.line("M222 63 V40")
    sheet.text(222, 30, "y_{t}")
    sheet.number(40, 310, 1)
    sheet.number(177, 238, 2)
    sheet.number(285, 206, 3)
    sheet.number(201, 130, 4, last=True)


def luong(sheet: Sheet, left: float) -> None:
    panel(sheet, left, "Luong: the new state asks")
    states(sheet, left, "LSTM")
    ask(sheet, left, x=348, start=225)
    sheet.line(f"M{left + 40} 187 V160 H{left + 362} V187", BLUE)
    sheet.line(f"M{left + 201} 187 V143", BLUE)
    sheet.line(f"M{left + 390} 187 V124 H{left + 233}")
    sheet.box(left + 201, 124, 62, fill=OUTPUT, label="h̃_{t}")
    sheet.line(f"M{left + 201} 105 V79")
    sheet.box(left + 201, 60, 120, fill=OUTPUT, label="softmax")
    sheet.line(f"M{left + 201} 41 V30")
    sheet.text(left + 201, 22, "y_{t}")
    sheet.line(f"M{left + 170} 124 H{left + 140}", DARK, dashed=True)
    sheet.note(left + 134, 120, "to the next step", anchor="end")
    sheet.note(left + 134, 142, "(chapter 6)", anchor="end")
    sheet.number(left + 290, 160, 1)
    sheet.number(left + 348, 330, 2)
    sheet.number(left + 177, 238, 3)
    sheet.number(left + 201, 172, 4)
    sheet.number(left + 224, 92, 5, last=True)


# --- all of them


def drawn() -> dict[str, str]:
    """The diagrams by their names, letters still text."""
    found = {path.stem: path.read_text(encoding="utf8") for path in sorted(BY_HAND.glob("*.svg"))}
    step = "One step of RNNsearch"
    return found | {
        "rnnsearch_scores": frame(f"{step}, 1: every annotation gets a score"),
        "rnnsearch_weights": frame(f"{step}, 2: one softmax makes weights", weigh=True),
        "rnnsearch_blend": frame(f"{step}, 3: weights blend annotations", weigh=True, mix=True),
        "rnnsearch_step": frame(step, weigh=True, mix=True, rest=True),
        "two_paths": two_paths(),
    }


def main() -> int:
    for name, source in drawn().items():
        write_aside(FIGURES / f"{name}.svg", with_outlines(source).encode())
        print(f"{name}.svg")
    return 0


if __name__ == "__main__":
    sys.exit(main())
