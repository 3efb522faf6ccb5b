"""plots.py and svg.py: the right numbers in the right places, with words to read them by."""

import re
from itertools import pairwise
from xml.etree import ElementTree

import matplotlib.pyplot as plt
import numpy as np
import pytest
from IPython.core.interactiveshell import InteractiveShell

from attnmt import History, Pair
from attnmt.book.figures import labels, plots, svg
from attnmt.metrics import Bleu, Bucket
from attnmt.text import TextWarning
from attnmt.training import Epoch, Point

pytestmark = pytest.mark.usefixtures("close_figures")


def texts(labels):
    return [label.get_text() for label in labels]


def history(*perplexities):
    return History([Epoch(n, p + 1, p, 0.1, 1, 1, 1, 1) for n, p in enumerate(perplexities, 1)])


def bucket(shortest, longest, score, spread=None, sentences=7):
    ends = (None, None) if spread is None else (score - spread, score + spread)
    return Bucket(shortest, longest, Bleu(score, "", (), 1, sentences, *ends))


def test_a_system_has_one_colour_and_marker_and_a_live_run_is_hollow():
    points = [Point(100, 30.0, 1, 1)]
    named = dict.fromkeys(("dot, live", "RNNsearch, full run", "dot, full run"), points)
    search, dot, live = plots.curves_by_updates(named).get_lines()
    assert live.get_color() == dot.get_color() != search.get_color()
    assert live.get_marker() == dot.get_marker() != search.get_marker()
    assert [line.get_markerfacecolor() for line in (live, dot)] == ["white", dot.get_color()]
    assert live.get_linestyle() == ":"


def test_curves_show_perplexity_by_epoch_and_by_update():
    valid, train = plots.learning_curves({"RNNsearch": history(30, 12, 9)}).get_lines()
    assert valid.get_xydata().tolist() == [[1, 30], [2, 12], [3, 9]]
    assert train.get_xydata().tolist() == [[1, 31], [2, 13], [3, 10]]
    assert (valid.get_linestyle(), train.get_linestyle()) == ("-", "--")
    points = [
        Point(updates, perplexity, 1, 1) for updates, perplexity in ((100, 30.0), (200, 12.0))
    ]
    live, _ = plots.curves_by_updates({"live": points, "full run": points[:1]}).get_lines()
    assert live.get_xydata().tolist() == [[100, 30], [200, 12]]
    names = [f"model {n}" for n in range(12)]
    assert len(plots.curves_by_updates(dict.fromkeys(names, points)).get_lines()) == 12
    assert len(plots.learning_curves(dict.fromkeys(names, history(9))).get_lines()) == 24


def test_bleu_by_length_is_drawn_in_the_middle_of_each_bucket_with_its_interval():
    buckets = [bucket(1, 5, 60, 3), bucket(6, 10, 40), bucket(11, 15, 99, sentences=4)]
    ax = plots.bleu_by_length({"a": buckets}, longest_trained=8)
    (line, _, (bars,)) = ax.containers[0]
    assert line.get_xydata().tolist() == [[3, 60], [8, 40]], "a handful of sentences is not drawn"
    ends = [segment.tolist() for segment in bars.get_segments()]
    assert ends == [[[3, 57], [3, 63]], [[8, 40], [8, 40]]]
    assert texts(ax.texts).count("7") == 2
    assert any("any training" in text for text in texts(ax.texts))
    other = plots.bleu_by_length({"a": [bucket(1, 5, 60)], "b": [bucket(1, 5, 60, 3, 70)]})
    assert not {"7", "70"} & {*texts(other.texts)}, "they read other numbers of sentences"


def test_alignment_has_source_words_across_and_target_words_down():
    weights = np.array([[0.9, 0.1, 0.0], [0.0, 0.2, 0.8]])
    ax = plots.alignment(["der", "Hund", "schläft"], ["the", "dog"], weights, gold={(2, 1)})
    assert texts(ax.get_xticklabels()) == ["der", "Hund", "schläft"]
    assert texts(ax.get_yticklabels()) == ["the", "dog"]
    np.testing.assert_allclose(ax.collections[0].get_array().reshape(2, 3), weights)
    top, bottom = ax.get_ylim()
    assert top > bottom  # the first target word is at the top
    (frame,) = ax.patches
    assert tuple(map(int, frame.get_xy())) == (2, 1)


def test_a_cell_of_an_alignment_shows_its_words_and_weight():
    """In a figure of several, in order; and in SVG that a parser takes, whatever the words are."""
    figure, axes = plt.subplots(1, 3)
    plots.alignment(["der", "<unk>"], ["the", "R&D"], [[0.9, 0.1], [0.25, 0.75]], {(0, 0)}, axes[2])
    axes[1].plot([1, 2])
    plots.alignment(["a", "b", "c"], ["{x}"], [[0.5, 0.0, 0.5]], ax=axes[0])
    root = ElementTree.fromstring(svg.alignment_svg(figure))
    first = ["a → {x}: 0.50", "b → {x}: 0.00", "c → {x}: 0.50"]
    last = ["der → the: 0.90", "<unk> → the: 0.10", "der → R&D: 0.25", "<unk> → R&D: 0.75"]
    assert [title.text for title in root.iter(f"{svg.SVG}title")] == [*first, *last]
    words = [f"word{n}" for n in range(20)]
    large = plots.alignment(words, words, np.eye(20)).figure
    assert len(svg.alignment_svg(large)) < 75_000


def test_an_alignment_follows_the_page_in_the_dark_and_words_are_no_formulas():
    figure = plots.alignment(["$x_$", "a$b$c"], ["y"], [[0.0, 0.6]], gold={(1, 0)}).figure
    text = svg.alignment_svg(figure)
    assert "$x_$" in text and "a$b$c" in text
    assert not re.search("#fff|#262626|#000", text)  # no ground; letters are the page's
    (weights,) = re.findall(r'<g class="weights"([^>]*)>', text)
    assert f'fill="{svg.BLUE}"' in weights
    assert re.findall(r'fill-opacity="([\d.]+)"', text)[:2] == ["0.00", "0.60"]


def test_a_notebook_shows_an_alignment_as_svg_too():
    shell = InteractiveShell.instance()
    try:
        first = plots.alignment(["a"], ["b"], [[0.5]]).figure
        other = plots.learning_curves({"a": history(2)}).figure
        shown, _ = shell.display_formatter.format(first, include={"image/svg+xml"})
        assert shown["image/svg+xml"].startswith('<svg class="alignment"')
        assert shell.display_formatter.format(other, include={"image/svg+xml"})[0] == {}
    finally:
        InteractiveShell.clear_instance()


def test_a_window_leaves_the_words_inside_it_free():
    S, D = 6, 1
    centres = [0.0, 1.5, 5.9]
    ax = plots.alignment([f"s{s}" for s in range(S)], [*"abc"], np.zeros((3, S)), gold={(5, 0)})
    limits = ax.get_xlim(), ax.get_ylim()
    (frame,) = ax.patches
    plots.window(centres, D, ax)
    assert (ax.get_xlim(), ax.get_ylim()) == limits
    grey = [patch for patch in ax.patches if patch is not frame]
    for t, p in enumerate(centres):
        for s in range(S):
            hidden = any(box.get_bbox().contains(s + 0.5, t + 0.5) for box in grey)
            assert hidden == (abs(s - p) > D), (s, t)
    assert frame.get_zorder() > max(patch.get_zorder() for patch in grey)  # a link outside is seen
    (dots,) = ax.get_lines()
    assert dots.get_xydata().tolist() == [[p + 0.5, t + 0.5] for t, p in enumerate(centres)]


def linked(**links):
    """Two source words, three target words."""
    raw = {"source_text": "das Haus", "target_text": "in the house"}
    return Pair(source=("das", "Haus"), target=("in", "the", "house"), **raw, **links)


def test_links_join_the_words_that_they_name():
    sure = frozenset({(0, 1), (1, 2)})
    ax = plots.links(linked(sure=sure, possible=sure | {(0, 0)}))
    drawn = {tuple(line.get_ydata()): line.get_linestyle() for line in ax.get_lines()}
    assert drawn == {(0, 0): "--", (0, 1): "-", (1, 2): "-"}
    words = {text.get_text(): text.get_position() for text in ax.texts}
    assert {word for word, (x, _) in words.items() if x < 0} == {"das", "Haus"}
    assert [words[word][1] for word in ("in", "the", "house")] == [0, 1, 2]
    assert ax.yaxis_inverted()


def test_letters_that_no_font_has_are_told(close_figures, monkeypatch):
    monkeypatch.setattr(labels, "has", lambda path: frozenset(range(128)))
    labels.fonts_for.cache_clear()
    with pytest.warns(TextWarning, match="no font here has 개: .* Noto Sans CJK"):
        assert labels.fonts_for(frozenset("a개")) == []
    labels.fonts_for.cache_clear()


@pytest.mark.parametrize("count", [38, 60])
def test_words_are_readable_or_thinned(count):
    words = [f"wort{number}" for number in range(count)]
    ax = plots.alignment(words, words, np.eye(count))
    ax.figure.canvas.draw()
    shrunk = min(1, labels.PAGE / (ax.figure.get_figwidth() * 96))  # to a page, in pixels
    for axis in (ax.get_xticklabels(), ax.get_yticklabels()):  # those that are seen
        boxes = [label.get_window_extent() for label in axis]
        assert len(boxes) == (count if count < 60 else 30)
        assert not any(one.overlaps(other) for one, other in pairwise(boxes))
        assert min(label.get_fontsize() for label in axis) * 96 / 72 * shrunk > 10.9
    (cells,) = svg.titles(ax.figure)
    assert cells[count + 1] == "wort1 → wort1: 1.00", "a word that is not seen is said by its cells"


def test_a_translation_without_words_is_drawn_as_such(close_figures):
    ax = plots.alignment(["ein", "Hund"], [], [])
    assert ax.texts[0].get_text() == "no word was written"
    assert plots.window([], 3, ax) is ax
