"""Alignment figures as SVG: small, and a cell under the mouse says its words and its weight.

They have no ground, letters are of the page's colour, and a cell is a blue that lets the page
through, as in the live boxes: a page in the dark only needs a lighter blue for ``.weights``.
"""

import re
from collections.abc import Iterator
from io import BytesIO
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import matplotlib.pyplot as plt
from IPython import get_ipython
from matplotlib.colors import LinearSegmentedColormap, to_rgba
from matplotlib.figure import Figure

ALIGNMENT = "alignment"  # the name of a heat map of weights in a figure
FRAME = "frame"  # and of a part of it that a page shows by itself
BLUE = "#0b5fae"
BLUES = LinearSegmentedColormap.from_list("blues", [to_rgba(BLUE, 0), to_rgba(BLUE, 1)])
GRID = "#8884"
SVG = "{http://www.w3.org/2000/svg}"
OLD = ("metadata", "style")  # what no browser needs
NUMBERS = ("d", "x", "y", "width", "height", "viewBox", "transform")  # attributes made of numbers
BLACKISH = re.compile("#262626|#000000")
LONG = re.compile(r"\d+\.\d{2,}")
ElementTree.register_namespace("", SVG.strip("{}"))
ElementTree.register_namespace("xlink", "http://www.w3.org/1999/xlink")


def show_in_notebooks() -> None:
    """From now on a notebook shows alignments and frames also as :func:`alignment_svg`."""
    if shell := get_ipython():
        shell.display_formatter.formatters["image/svg+xml"].for_type(Figure, alignment_svg)


def alignment_svg(figure: Figure) -> str | None:
    """The figure as SVG, each cell of an alignment with a title; None if it has no alignment.

    A part that is named a frame is a group of the class "frame", which a page's steps can show.
    """
    cells_of_each = list(titles(figure))
    if not cells_of_each and not any(ax.get_gid() == FRAME for ax in figure.axes):
        return None
    root = drawn(figure)
    for group in root.iter(f"{SVG}g"):
        if group.get("id") == FRAME:
            group.set("class", FRAME)
    heat_maps = [group for group in root.iter(f"{SVG}g") if group.get("id") == ALIGNMENT]
    for heat_map, cells in zip(heat_maps, cells_of_each, strict=True):
        heat_map.attrib |= {"class": "weights", "fill": BLUE, "stroke": GRID, "stroke-width": ".7"}
        for path, title in zip(heat_map, cells, strict=True):
            add_title(path, title)
    shorten(root)
    text = ElementTree.tostring(root, encoding="unicode")
    return text.replace(
        "<svg", f'<svg class="{ALIGNMENT}" font-family="sans-serif" fill="currentColor"', 1
    )


def titles(figure: Figure) -> Iterator[list[str]]:
    """What the cells of each alignment say, row by row."""
    for ax in figure.axes:
        for mesh in ax.collections:
            if mesh.get_gid() == ALIGNMENT:
                source, target = (
                    axis.get_major_formatter().format_ticks(axis.get_ticklocs())
                    for axis in (ax.xaxis, ax.yaxis)
                )
                weights = mesh.get_array().reshape(len(target), len(source))
                yield [
                    f"{s} → {t}: {weight:.2f}"
                    for t, row in zip(target, weights, strict=True)
                    for s, weight in zip(source, row, strict=True)
                ]


def drawn(figure: Figure) -> Element:
    """What Matplotlib draws: letters as text, and the same names each time."""
    file = BytesIO()
    with plt.rc_context({"svg.fonttype": "none", "svg.hashsalt": "attnmt"}):
        figure.savefig(file, format="svg", bbox_inches="tight", metadata={"Date": None})
    return ElementTree.fromstring(file.getvalue())


def add_title(path: Element, title: str) -> None:
    """Make a cell a rectangle, the deeper the larger its weight, which says its title."""
    _, left, top, _, right, _, _, _, bottom, *_ = path.get("d").split()
    style = dict(one.split(": ") for one in path.get("style").split("; "))
    depth = 0 if style["fill"] == "none" else float(style.get("fill-opacity", 1))
    path.attrib = {"d": f"M{left} {top}H{right}V{bottom}H{left}z", "fill-opacity": f"{depth:.2f}"}
    ElementTree.SubElement(path, f"{SVG}title").text = title


def shorten(root: Element) -> None:
    """Drop what a notebook need not store: the white ground, digits, names that nothing uses.

    Letters and lines that are nearly black become the page's own colour.
    """
    for parent in list(root.iter()):
        parent.tail = None
        if not (parent.text or "").strip():
            parent.text = None
        for child in list(parent):
            if child.tag in [SVG + name for name in OLD] or child.get("style") == "fill: #ffffff":
                parent.remove(child)
    for element in root.iter():
        if element.tag == f"{SVG}g":
            element.attrib.pop("id", None)
        for name in NUMBERS:
            if name in element.attrib:
                value = " ".join(element.attrib[name].split())
                element.set(name, LONG.sub(lambda number: f"{float(number[0]):.1f}", value))
        if "style" in element.attrib:
            style = BLACKISH.sub("currentColor", element.attrib["style"]).split("; ")
            element.set("style", ";".join(one for one in style if "font-family" not in one))
