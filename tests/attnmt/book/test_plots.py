"""plots.py: the right numbers in the right places, with words to read them by."""

from xml.etree import ElementTree

import matplotlib.pyplot as plt
import numpy as np
import pytest
from IPython.core.interactiveshell import InteractiveShell

from attnmt import Pair
from attnmt.book.figures import plots, svg
from attnmt.metrics import Bleu, Bucket
from attnmt.training import Epoch, History, Point

pytestmark = pytest.mark.usefixtures("close_figures")


def history(*perplexities):
    epochs = [Epoch(n, p + 1, p, 0.1, 1, 1, 1, 1) for n, p in enumerate(perplexities, start=1)]
    return History(epochs)


def bucket(shortest, longest, score, spread=None):
    low, high = (None, None) if spread is None else (score - spread, score + spread)
    return Bucket(shortest, longest, Bleu(score, "", (), 1, 7, low, high))


def test_learning_curves_show_validation_solid_and_training_dashed():
    ax = plots.learning_curves({"RNNsearch": history(30, 12, 9)})
    valid, train = ax.get_lines()
    assert valid.get_xydata().tolist() == [[1, 30], [2, 12], [3, 9]]
    assert train.get_xydata().tolist() == [[1, 31], [2, 13], [3, 10]]
    assert (valid.get_linestyle(), train.get_linestyle()) == ("-", "--")
    assert valid.get_color() == train.get_color()


def test_curves_by_updates_show_validation_against_updates():
    points = [
        Point(updates=u, valid_perplexity=p, learning_rate=1, cpu_seconds=1)
        for u, p in ((100, 30.0), (200, 12.0))
    ]
    ax = plots.curves_by_updates({"live": points, "to the end": points[:1]})
    live, _ = ax.get_lines()
    assert live.get_xydata().tolist() == [[100, 30], [200, 12]]


def test_counts_are_left_out_where_systems_read_other_numbers_of_sentences():
    more = [Bucket(1, 5, Bleu(60, "", (), 1, 70, 57, 63))]
    shown = plots.bleu_by_length({"a": [bucket(1, 5, 60, 3)], "b": more}).texts
    assert not {"7", "70"} & {text.get_text() for text in shown}


def test_bleu_by_length_is_drawn_in_the_middle_of_each_bucket_with_its_interval():
    ax = plots.bleu_by_length({"a": [bucket(1, 5, 60, 3), bucket(6, 10, 40)]}, longest_trained=8)
    (line, _, (bars,)) = ax.containers[0]
    assert line.get_xydata().tolist() == [[3, 60], [8, 40]]
    assert bars.get_segments()[0].tolist() == [[3, 57], [3, 63]]
    assert bars.get_segments()[1].tolist() == [[8, 40], [8, 40]]
    shown = [text.get_text() for text in ax.texts]
    assert shown.count("7") == 2
    assert any("training sentence" in text for text in shown)
    assert ax.get_ylim()[0] == 0


def test_a_bucket_of_a_handful_of_sentences_is_not_drawn():
    lone = Bucket(11, 15, Bleu(99, "", (), 1, 4))
    ax = plots.bleu_by_length({"a": [bucket(1, 5, 60), lone]})
    assert len(ax.containers[0][0].get_xydata()) == 1
    assert [text.get_text() for text in ax.texts] == ["7"]


def test_alignment_has_source_words_across_and_target_words_down():
    weights = np.array([[0.9, 0.1, 0.0], [0.0, 0.2, 0.8]])
    ax = plots.alignment(["der", "Hund", "schläft"], ["the", "dog"], weights, gold={(2, 1)})
    assert [text.get_text() for text in ax.get_xticklabels()] == ["der", "Hund", "schläft"]
    assert [text.get_text() for text in ax.get_yticklabels()] == ["the", "dog"]
    np.testing.assert_allclose(ax.collections[0].get_array().reshape(2, 3), weights)
    top, bottom = ax.get_ylim()
    assert top > bottom  # the first target word is at the top
    (frame,) = ax.patches
    x, y = frame.get_xy()
    assert (int(x), int(y)) == (2, 1)


def test_a_cell_of_an_alignment_tells_its_words_and_weight():
    """In a figure of several, in order; and in SVG that a parser takes, whatever the words are."""
    figure, axes = plt.subplots(1, 3)
    plots.alignment(["der", "<unk>"], ["the", "R&D"], [[0.9, 0.1], [0.25, 0.75]], {(0, 0)}, axes[2])
    axes[1].plot([1, 2])
    plots.alignment(["a", "b", "c"], ["{x}"], [[0.5, 0.0, 0.5]], ax=axes[0])
    root = ElementTree.fromstring(svg.alignment_svg(figure))
    titles = [title.text for title in root.iter("{http://www.w3.org/2000/svg}title")]
    first = ["a → {x}: 0.50", "b → {x}: 0.00", "c → {x}: 0.50"]
    last = ["der → the: 0.90", "<unk> → the: 0.10", "der → R&D: 0.25", "<unk> → R&D: 0.75"]
    assert titles == [*first, *last]
    assert svg.alignment_svg(plots.learning_curves({"a": history(2)}).figure) is None


def test_a_notebook_shows_an_alignment_as_svg_too():
    shell = InteractiveShell.instance()
    try:
        first = plots.alignment(["a"], ["b"], [[0.5]]).figure
        other = plots.learning_curves({"a": history(2)}).figure
        shown, _ = shell.display_formatter.format(first, include={"image/svg+xml"})
        assert shown["image/svg+xml"].startswith('<svg class="alignment"')
        assert "a → b: 0.50" in shown["image/svg+xml"]
        assert shell.display_formatter.format(other, include={"image/svg+xml"})[0] == {}
    finally:
        InteractiveShell.clear_instance()


def test_an_alignment_of_twenty_words_by_twenty_stays_small():
    words = [f"word{n}" for n in range(20)]
    ax = plots.alignment(words, words, np.eye(20))
    assert len(svg.alignment_svg(ax.figure)) < 75_000


def test_a_window_leaves_the_words_inside_it_free():
    S, D = 6, 1
    centres = [0.0, 1.5, 5.9]
    ax = plots.alignment([f"s{s}" for s in range(S)], ["a", "b", "c"], np.zeros((3, S)))
    limits = ax.get_xlim(), ax.get_ylim()
    before = len(ax.patches)
    assert plots.window(centres, D, ax) is ax
    assert (ax.get_xlim(), ax.get_ylim()) == limits
    grey = [patch.get_bbox() for patch in ax.patches[before:]]
    for t, p in enumerate(centres):
        for s in range(S):
            hidden = any(box.x0 < s + 0.5 < box.x1 and box.y0 < t + 0.5 < box.y1 for box in grey)
            assert hidden == (abs(s - p) > D), (s, t)
    (dots,) = ax.get_lines()
    assert dots.get_xydata().tolist() == [[p + 0.5, t + 0.5] for t, p in enumerate(centres)]


def test_a_link_outside_the_window_is_seen():
    ax = plots.alignment(["a", "b", "c"], ["x"], [[1.0, 0.0, 0.0]], gold={(2, 0)})
    (frame,) = ax.patches
    plots.window([0.0], 1, ax)
    grey = [patch for patch in ax.patches if patch is not frame]
    assert frame.get_zorder() > max(patch.get_zorder() for patch in grey)


def test_figures_can_be_drawn_into_axes_that_are_there():
    figure, axes = plt.subplots(1, 3)
    assert plots.learning_curves({"a": history(2)}, axes[0]) is axes[0]
    assert plots.bleu_by_length({"a": [bucket(1, 5, 1)]}, axes[1]) is axes[1]
    assert plots.alignment(["a"], ["b"], [[1.0]], ax=axes[2]) is axes[2]
    figure.canvas.draw()


def linked(**links):
    """Two source words, three target words."""
    texts = {"source_text": "das Haus", "target_text": "in the house"}
    return Pair(source=("das", "Haus"), target=("in", "the", "house"), **texts, **links)


def test_links_join_the_words_that_they_name():
    sure = frozenset({(0, 1), (1, 2)})
    ax = plots.links(linked(sure=sure, possible=sure | {(0, 0)}))
    drawn = {tuple(line.get_ydata()): line.get_linestyle() for line in ax.get_lines()}
    assert drawn == {(0, 0): "--", (0, 1): "-", (1, 2): "-"}
    assert all(list(line.get_xdata()) == [0, 1] for line in ax.get_lines())
    words = {text.get_text(): text.get_position() for text in ax.texts}
    left = {word for word, (x, _) in words.items() if x < 0}
    assert left == {"das", "Haus"}
    assert [words[word][1] for word in ("in", "the", "house")] == [0, 1, 2]
    assert ax.yaxis_inverted()


def two_by_one():
    return plots.alignment(["a", "b"], ["x"], [[1.0, 0.0]])


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (
            lambda: plots.alignment(["a", "b", "c"], ["x", "y"], np.zeros((3, 2))),
            r"\(3, 2\); these words need \(2, 3\)",
        ),
        (
            lambda: plots.window([0.0, 1.0], 1, two_by_one()),
            r"centres are \(2,\); this alignment needs \(1,\)",
        ),
        (lambda: plots.links(linked(sure=None, possible=None)), "no links to draw"),
    ],
)
def test_what_does_not_fit_is_refused(draw, message):
    with pytest.raises(ValueError, match=message):
        draw()
