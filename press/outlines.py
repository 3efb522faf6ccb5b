"""Diagrams for every browser, phone and printer: `python -m press.outlines`.

Each SVG in `press/figures` is written into `book/figures` with its letters as outlines. The font is
DejaVu Sans, which comes with Matplotlib, at nine tenths of its width, as its condensed cut has it.
Each letter is drawn once and used wherever it stands. What an edition says in its own language
stays text, for that font has no Hangul.
"""

import re
from collections.abc import Iterator
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.path import Path as Outline
from matplotlib.textpath import TextToPath

from press.contents import ROOT

SVG = "{http://www.w3.org/2000/svg}"
NARROW = 0.9
FONTS = "'Apple SD Gothic Neo', 'Malgun Gothic', 'Noto Sans KR', 'Noto Sans CJK KR', sans-serif"
INHERITED = ("font-size", "font-style", "font-weight", "text-anchor", "fill")
PEN = {Outline.MOVETO: "M", Outline.LINETO: "L", Outline.CURVE3: "Q", Outline.CURVE4: "C"}
MAKER = TextToPath()
ElementTree.register_namespace("", SVG.strip("{}"))


def strokes(outline: Outline) -> Iterator[str]:
    """The commands of an SVG path; y grows upwards."""
    for points, code in outline.iter_segments(curves=True, simplify=False):
        if code == Outline.CLOSEPOLY:
            yield "Z"
        elif code in PEN:
            yield PEN[code] + " ".join(f"{number:.1f}".removesuffix(".0") for number in points)


class Letters:
    """Writes texts with letters that are kept in one place of the drawing."""

    def __init__(self, kept: Element):
        self.kept = kept
        self.known: dict[str, str] = {}

    def write(self, words: str, style: dict[str, str]) -> tuple[Element, float]:
        """A group that shows the words from (0, 0) on, and how wide they are."""
        font = FontProperties(
            family="DejaVu Sans",
            style="italic" if style.get("font-style") == "italic" else "normal",
            weight="bold" if style.get("font-weight") in ("bold", "600", "700") else "normal",
        )
        scale = float(style.get("font-size", 16)) / MAKER.FONT_SCALE
        group = Element(f"{SVG}g", {"transform": f"scale({scale * NARROW:.4g} {-scale:.4g})"})
        face = get_font(findfont(font))
        face.set_size(MAKER.FONT_SCALE, MAKER.DPI)
        placed, drawn, _ = MAKER.get_glyphs_with_font(face, words)
        for name, x, y, _ in placed:
            if name not in self.known and len(drawn.get(name, [()])[0]):
                self.known[name] = f"letter{len(self.known)}"
                form = {"id": self.known[name], "d": "".join(strokes(Outline(*drawn[name])))}
                SubElement(self.kept, f"{SVG}path", form)
            if name in self.known:
                place = {"x": f"{x:.4g}"} | ({"y": f"{y:.4g}"} if y else {})  # of an accent
                SubElement(group, f"{SVG}use", {"href": f"#{self.known[name]}"} | place)
        wide, *_ = MAKER.get_text_width_height_descent(words, font, ismath=False)
        return group, wide * MAKER.FONT_SCALE / font.get_size_in_points() * scale * NARROW


def runs(text: Element, style: dict[str, str]) -> Iterator[tuple[str, dict[str, str], float]]:
    """The pieces of a text, each with its style and how far below the one before it stands."""
    yield text.text or "", style, 0
    for piece in text:
        own = style | {key: value for key, value in piece.items() if key in INHERITED}
        yield piece.text or "", own, float(piece.get("dy", 0))
        yield piece.tail or "", style, 0


def outlined(text: Element, style: dict[str, str], letters: Letters) -> Element:
    """A group of letters in place of a text."""
    pieces = ((re.sub(r"\s+", " ", words), own, dy) for words, own, dy in runs(text, style))
    written = [(*letters.write(words, own), own, dy) for words, own, dy in pieces]
    shares = {"middle": 0.5, "end": 1}
    across = sum(wide for _, wide, _, _ in written) * shares.get(style.get("text-anchor"), 0)
    x = float(text.get("x", 0)) - across
    y = float(text.get("y", 0))
    whole = Element(f"{SVG}g", {"stroke": "none"})
    for group, wide, own, dy in written:
        y += dy
        if len(group):
            group.set("transform", f"translate({x:.1f} {y:.1f}) {group.get('transform')}")
            group.set("fill", own.get("fill", "#111"))
            whole.append(group)
        x += wide
    if "transform" in text.attrib:
        whole.set("transform", text.get("transform"))
    return whole


def outline_all(
    element: Element, style: dict[str, str], letters: Letters, words: dict[str, str]
) -> None:
    """Put outlines in place of all texts below an element, but words in place of what is there."""
    style = style | {key: value for key, value in element.items() if key in INHERITED}
    for place, child in enumerate(list(element)):
        said = words.get(" ".join("".join(child.itertext()).split()))
        if said and child.tag in (f"{SVG}text", f"{SVG}title"):
            child[:], child.text = [], said
            if child.tag == f"{SVG}text":
                child.attrib = style | child.attrib | {"font-family": FONTS, "stroke": "none"}
        elif child.tag == f"{SVG}text":
            own = style | {key: value for key, value in child.items() if key in INHERITED}
            element[place] = outlined(child, own, letters)
        else:
            outline_all(child, style, letters, words)


def with_outlines(source: str, words: dict[str, str] | None = None) -> str:
    """An SVG whose letters are outlines; its title and its description stay text.

    Args:
        words: Korean for a text, which then stays text.
    """
    root = ElementTree.fromstring(source)
    kept = Element(f"{SVG}defs")
    outline_all(root, {}, Letters(kept), words or {})
    root.insert(1, kept)  # behind the title
    for key in ("font-family", "font-size", "style"):
        root.attrib.pop(key, None)
    ElementTree.indent(root, space="")
    return ElementTree.tostring(root, encoding="unicode") + "\n"


if __name__ == "__main__":
    for path in sorted((ROOT / "press" / "figures").glob("*.svg")):
        drawn = with_outlines(path.read_text(encoding="utf8"))
        (ROOT / "book" / "figures" / path.name).write_text(drawn, encoding="utf8", newline="\n")
        print(path.name)
