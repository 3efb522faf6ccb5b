"""colours.py: a system has one colour wherever it is drawn, and nothing else has that colour."""

import ast
import json
import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from attnmt.book.figures import colours
from attnmt.book.figures.svg import BLUE
from attnmt.evidence.plan import TITLES

BOOK = Path(__file__).resolve().parents[3] / "book"
PLAIN = 15  # a difference in CIELAB that is plain to see
HELPERS = {"curves_by_updates", "bleu_by_length", "learning_curves"}
RESULTS = {".by_length", ".history", ".curve", ".bleu", ".aer", "recorded", "TITLES", "NAMES"}
DRAWN = {"plot", "errorbar", "semilogy", "scatter", "bar", "barh"}
PAINT = {"color", "c", "ec", "mec", "mfc", "edgecolor", "facecolor", "markerfacecolor"}
NOT_OF_SYSTEMS = {  # figures of something else, drawn from results
    "fig-lengths": "how long test sentences are",
    "fig-family-steps": "differences of two systems",
    "fig-family-reach": "what an interval can tell apart",
}


def lab(colour):
    """CIELAB of a colour."""
    rgb = np.array(to_rgb(colour))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    x, y, z = np.cbrt(to_xyz @ linear / [0.9505, 1, 1.089])
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def nearest(colour):
    """The system whose colour is nearest, and how far it is."""
    far = {title: np.linalg.norm(lab(own) - lab(colour)) for title, own in colours.SYSTEMS.items()}
    title = min(far, key=far.get)
    return title, far[title]


def test_systems_can_be_told_apart_and_from_all_else():
    assert set(TITLES.values()) <= set(colours.SYSTEMS)
    for one, other in combinations(colours.SYSTEMS, 2):
        far = np.linalg.norm(lab(colours.SYSTEMS[one]) - lab(colours.SYSTEMS[other]))
        assert far > PLAIN, (one, other)
    assert all(nearest(colour)[1] > PLAIN for colour in colours.OTHERS)


def test_a_label_says_the_system_the_run_and_the_search():
    dot = colours.style_of("dot")
    assert dot == colours.style_of("luong-dot") == colours.style_of("dot, full run, greedy")
    assert colours.style_of("dot (8)") == dot == colours.style_of("dot, captions")
    assert colours.style_of("dot, live") == dot | colours.SHORT
    assert colours.style_of("dot, both directions")["color"] != dot["color"]
    darker = colours.style_of("dot, full run, beam 5")
    assert darker["marker"] == dot["marker"] and sum(to_rgb(darker["color"])) < sum(
        to_rgb(dot["color"])
    )
    assert colours.style_of("dotted") == colours.style_of("mine") == {}
    labels = ["mine", "dot, live", "dot, full run", "RNNencdec"]
    assert colours.in_order(labels) == ["RNNencdec", "dot, full run", "dot, live", "mine"]
    with pytest.raises(ValueError, match="'mine' begins with no system's title"):
        colours.shade("mine", 0.5)


def test_live_boxes_have_the_same_colours():
    growth = (BOOK / "_live" / "growth.mjs").read_text(encoding="utf8")
    found = re.findall(r'"?([\w +]+)"?: "(#\w+)"', re.search("SYSTEMS = {(.*)}", growth)[1])
    assert len(found) == 4
    for name, colour in found:
        assert colour == colours.SYSTEMS[TITLES.get(name.strip(), name.strip())]
    css = (BOOK / "_live" / "see.css").read_text(encoding="utf8")
    for name, colour in (("gold", colours.GOLD), ("centre", colours.CENTRE)):
        assert f"--{name}: {colour};" in css
    assert f"--accent: light-dark({BLUE}," in css


# --- the cells of all pages


def cells(path):
    """The figure's name, or the cell's id, and the parsed code of each cell."""
    for cell in json.loads(path.read_text(encoding="utf8"))["cells"]:
        code = "".join(line for line in cell["source"] if line[:1] not in "%!")
        if cell["cell_type"] == "code":
            figure = cell["metadata"].get("mystnb", {}).get("figure", {})
            yield figure.get("name", cell["id"]), ast.parse(code)


def names_in(tree):
    """Names, and attributes with their dot."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute | ast.Name):
            yield node.id if isinstance(node, ast.Name) else f".{node.attr}"


def painted(tree):
    """Literal colours of a cell: hexadecimal ones, and those of keywords such as `color`."""
    for node in ast.walk(tree):
        pairs = [(node.arg, node.value)] if isinstance(node, ast.keyword) else []
        if isinstance(node, ast.Dict):
            pairs = [(getattr(k, "value", None), v) for k, v in zip(node.keys, node.values)]
        pairs += [("hex", node)]
        for name, value in pairs:
            text = getattr(value, "value", None)
            if isinstance(text, str) and (name in PAINT or re.fullmatch("#[0-9a-fA-F]{6}", text)):
                yield text


def named(node):
    return getattr(node, "id", None)


def labels_of(value, assigned):
    """The literal keys of a dict, of dicts of a name, and of those that a comprehension reads."""
    if isinstance(value, ast.Dict):
        return [key.value for key in value.keys if isinstance(key, ast.Constant)]
    if isinstance(value, ast.DictComp):
        source = value.generators[0].iter
        plain = isinstance(value.key, ast.Name) and isinstance(source, ast.Call)
        return labels_of(source.func.value, assigned) if plain else []
    found: list[str] = []
    if named(value) is None:
        return found
    for node in assigned:
        target = node.targets[0]
        if isinstance(target, ast.Subscript) and named(target.value) == named(value):
            found += [target.slice.value] if isinstance(target.slice, ast.Constant) else []
        elif named(target) == named(value) and isinstance(node.value, ast.Dict | ast.DictComp):
            found += labels_of(node.value, assigned)
    return found


@pytest.mark.parametrize("path", sorted(BOOK.glob("*.ipynb")), ids=lambda path: path.stem)
def test_no_figure_goes_round_the_colours_of_systems(path):
    trees = [*cells(path)]
    assigned = [n for _, tree in trees for n in ast.walk(tree) if isinstance(n, ast.Assign)]
    for name, tree in trees:
        for colour in painted(tree):
            if colour not in ("none", *(f"C{k}" for k in range(len(colours.OTHERS)))):
                assert nearest(colour)[1] > PLAIN, f"{name}: {colour} is that of a system"
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
        drawn = {getattr(call.func, "attr", None) for call in calls} & DRAWN
        names = {*names_in(tree)}
        if drawn and names & RESULTS and name not in NOT_OF_SYSTEMS:
            assert names & {".style_of", ".shade"}, f"{name} draws systems by itself"
        for call in calls:
            if getattr(call.func, "attr", None) in HELPERS:
                for label in labels_of(call.args[0], assigned):
                    assert colours.system_of(label), f"{name}: {label!r} names no system"
