"""frames.py: each picture shows the numbers of its computation."""

import math

import pytest
import torch

from attnmt.book.figures import frames
from attnmt.book.figures.svg import alignment_svg

pytestmark = pytest.mark.usefixtures("close_figures")

WORDS = ["Anna", "schläft", "lange"]


def heights(ax):
    return [bar.get_height() for bar in ax.patches]


def texts(labels):
    return [label.get_text() for label in labels]


def test_a_step_shows_scores_weights_and_their_blend():
    vectors = torch.tensor([[0.5, 0.0], [0.0, 1.0], [-0.5, 0.5]])
    figure = frames.attention_step(WORDS, torch.tensor([1.0, 2.0]), vectors)
    figure.canvas.draw()
    ax = {name.get_ylabel(): name for name in figure.axes}
    assert heights(ax["1. score"]) == pytest.approx([0.5, 2.0, 0.5])
    weights = torch.tensor([0.5, 2.0, 0.5]).softmax(0)
    assert heights(ax["2. weight (%)"]) == pytest.approx((100 * weights).tolist())
    blend = ax["3. weight\ntimes vector"].images[0].get_array()  # (n, S)
    expected = weights[:, None] * vectors
    torch.testing.assert_close(torch.as_tensor(blend.T), expected)
    context = torch.as_tensor(figure.axes[-1].images[0].get_array())[:, 0]
    torch.testing.assert_close(context, expected.sum(0))
    assert texts(ax["3. weight\ntimes vector"].get_xticklabels()) == WORDS


def test_every_word_has_a_bar_and_its_number():
    ax = frames.bars(WORDS, [0.5, -1.25, 2.0], "score")
    assert heights(ax) == [0.5, -1.25, 2.0]
    assert texts(ax.get_xticklabels()) == WORDS
    assert texts(ax.texts) == ["0.500", "-1.250", "2.000"]


def test_steps_stand_side_by_side_and_a_masked_score_has_no_bar():
    masked = [2.0, 0.5, -math.inf]
    left, right = frames.steps(WORDS, {"mask": masked, "weight": [0.8, 0.2, 0.0]}).axes
    assert [ax.get_title() for ax in (left, right)] == ["mask", "weight"]
    assert (heights(left), heights(right)) == ([2.0, 0.5, 0], [0.8, 0.2, 0.0])
    assert texts(left.texts) == ["2.00", "0.50", "−∞"]
    assert right.get_ylim()[1] < left.get_ylim()[1]
    one, other = frames.steps(WORDS, {"score": masked, "scale": [1.0, 0.2, 0.1]}, alike=2).axes
    assert one.get_ylim() == other.get_ylim()


def test_matrices_have_each_number_in_the_column_of_its_word():
    figure = frames.matrices(WORDS, {"H": [[1, 0, -1], [0, 1, 1]], "scores": [[0.5, -0.25, 2]]})
    above, below = figure.axes
    assert [ax.get_ylabel() for ax in (above, below)] == ["H", "scores"]
    assert texts(above.texts) == ["1.00", "0.00", "-1.00", "0.00", "1.00", "1.00"]
    places = [text.get_position() for text in below.texts]
    assert texts(below.texts) == ["0.50", "-0.25", "2.00"]
    assert places == [(0.5, 0.5), (1.5, 0.5), (2.5, 0.5)]
    assert texts(above.get_xticklabels()) == WORDS
    assert alignment_svg(figure).count('<g class="frame">') == 2  # a page's steps show one by one
    with pytest.raises(ValueError, match="2 numbers for 3 words"):
        frames.matrices(WORDS, {"H": [[1, 0]]})


def test_the_blend_lies_where_the_weights_put_it():
    ax = frames.blend(WORDS, [[1.0, 0.0], [0.0, 1.0], [-1.0, 1.0]], [0.5, 0.25, 0.25], symbol="v")
    star = next(line for line in ax.get_lines() if line.get_marker() == "*")
    assert star.get_xydata().tolist() == [[0.25, 0.5]]
    ways = [line for line in ax.get_lines() if len(line.get_xdata()) == 2]
    assert [way.get_xydata()[1].tolist() for way in ways] == [[1, 0], [0, 1], [-1, 1]]
    widths = [way.get_linewidth() for way in ways]
    assert widths[0] > widths[1] == widths[2]
    assert any("$v_1$ Anna\n50%" in text for text in texts(ax.texts))


def test_a_window_has_its_words_and_their_weights():
    words, align, weights = [*WORDS, "."], [0.0, 0.25, 0.75, 0.0], [0.0, 0.2, 0.6, 0.0]
    before = frames.window(words, align, 1.5, D=1)
    after = frames.window(words, align, 1.5, D=1, weights=weights)
    for ax, expected in ((before, [align]), (after, [align, weights])):
        assert [[bar.get_height() for bar in some] for some in ax.containers] == expected
        span = ax.patches[0].get_bbox()
        assert (span.x0, span.x1) == (0.5, 2.5)
        assert texts(ax.get_xticklabels()) == words
    x, y = next(line for line in after.lines if line.get_label() == "Gaussian").get_data()
    assert x[y.argmax()] == pytest.approx(1.5, abs=0.02)
    assert y[abs(x - 2.5).argmin()] == pytest.approx(math.exp(-2), abs=0.02)  # at the edge
