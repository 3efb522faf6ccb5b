"""Words as labels of a figure: any characters, drawn as they are, in a font that has them."""

import math
import warnings
from collections.abc import Iterable
from functools import cache

from matplotlib import rcParams
from matplotlib.axis import Axis
from matplotlib.font_manager import FontProperties, findfont, fontManager, get_font

from attnmt.text import TextWarning

MANY = 30  # words; with more of them they stand closer, in smaller letters
PAGE = 760  # pixels: a page's width, to which a wider figure shrinks
LEAST = 11  # pixels of a letter, as the page shows it
POINT = 96 / 72  # pixels


def distance(count: int, usual: float) -> float:
    """Inches from one of so many words to the next."""
    return usual if count <= MANY else max(0.17, usual * MANY / count)


def label(axis: Axis, words: Iterable[str], **look: object) -> None:
    """Write words beside the rows or the columns of a heat map; if they would touch, only some."""
    words = list(words)
    figure, place = axis.axes.figure, axis.axes.get_subplotspec()
    rows, columns = place.get_gridspec().get_geometry() if place else (1, 1)
    usual = FontProperties(size=rcParams["xtick.labelsize"]).get_size_in_points()
    shrunk = max(1, figure.get_figwidth() * 96 / PAGE)
    size = max(9 if len(words) > MANY else usual, LEAST * shrunk / POINT)
    across, down = figure.get_figwidth() / columns, figure.get_figheight() / rows
    inches = 0.8 * (across if axis.axis_name == "x" else down)  # what is left to the axes, nearly
    apart = max(1, math.ceil(size * len(words) / (72 * inches)))
    if others := fonts_for(frozenset("".join(words))):
        look["family"] = [*rcParams["font.family"], *others]
    look |= {"fontsize": size, "parse_math": False}
    axis.set_ticks([k + 0.5 for k in range(len(words))], words, **look)
    for number, text in enumerate(axis.get_ticklabels()):
        text.set_visible(number % apart == 0)  # if not, it stands in a cell's title


@cache
def fonts_for(letters: frozenset[str]) -> list[str]:
    """Fonts for the letters that the usual one lacks; a warning names those that none has."""
    lacking = {ord(letter) for letter in letters if letter.isprintable()} - has(findfont(None))
    found = []
    fonts = {font.name: font.fname for font in sorted(fontManager.ttflist, key=lambda f: -f.weight)}
    for name in sorted(fonts, key=lambda name: ("Sans" not in name, name)):  # plain ones first
        if name.startswith("Last Resort"):  # it has boxes for all
            continue
        if lacking and lacking & has(fonts[name]):
            found.append(name)
            lacking -= has(fonts[name])
    if lacking:
        some = ", ".join(map(chr, sorted(lacking)[:5]))
        line = f"no font here has {some}: a picture shows boxes. Install one, such as Noto Sans CJK"
        warnings.warn(line, TextWarning, stacklevel=4)
        warnings.filterwarnings("ignore", r"Glyph \d+ .* missing from")  # as warned
    return found


@cache
def has(path: str) -> frozenset[int]:
    """The numbers of the characters that a font's file has."""
    return frozenset(get_font(path).get_charmap())
