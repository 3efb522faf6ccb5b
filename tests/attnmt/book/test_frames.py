"""frames.py: each picture shows the numbers of its computation."""

import math

import pytest
import torch

from attnmt.book.figures import frames

pytestmark = pytest.mark.usefixtures("close_figures")

WORDS = ["Anna", "schläft", "lange"]
FOUR = ["dass", "Anna", "lange", "schläft"]


def test_a_step_shows_scores_weights_and_their_blend():
    vectors = torch.tensor([[0.5, 0.0], [0.0, 1.0], [-0.5, 0.5]])
    figure = frames.attention_step(["a", "b", "c"], torch.tensor([1.0, 2.0]), vectors, some=2)
    figure.canvas.draw()
    ax = {name.get_ylabel(): name for name in figure.axes}
    scores = [bar.get_height() for bar in ax["1. score"].patches]
    assert scores == pytest.approx([0.5, 2.0, 0.5])
    total = sum(map(math.exp, scores))
    weights = [bar.get_height() for bar in ax["2. weight (%)"].patches]
    assert weights == pytest.approx([100 * math.exp(score) / total for score in scores])
    blend = ax["3. weight\ntimes vector"].images[0].get_array()  # (some, S)
    by_hand = [[w / 100 * x for x in row] for w, row in zip(weights, vectors.tolist(), strict=True)]
    assert blend.T.tolist() == [pytest.approx(row) for row in by_hand]
    context = figure.axes[-1].images[0].get_array()[:, 0]
    assert context.tolist() == pytest.approx([sum(column) for column in zip(*by_hand, strict=True)])
    words = [tick.get_text() for tick in ax["3. weight\ntimes vector"].get_xticklabels()]
    assert words == ["a", "b", "c"]


def test_every_word_has_a_bar_and_its_number():
    ax = frames.bars(WORDS, [0.5, -1.25, 2.0], "score")
    assert [bar.get_height() for bar in ax.patches] == [0.5, -1.25, 2.0]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == WORDS
    assert [text.get_text() for text in ax.texts] == ["0.500", "-1.250", "2.000"]
    assert ax.get_ylabel() == "score"


def test_steps_stand_side_by_side_and_a_masked_score_has_no_bar():
    masked = [2.0, 0.5, -math.inf]
    figure = frames.steps(WORDS, {"mask": masked, "weight": [0.8, 0.2, 0.0]})
    left, right = figure.axes
    assert [ax.get_title() for ax in (left, right)] == ["mask", "weight"]
    assert [bar.get_height() for bar in left.patches] == [2.0, 0.5, 0]
    assert [text.get_text() for text in left.texts] == ["2.00", "0.50", "−∞"]
    assert [bar.get_height() for bar in right.patches] == [0.8, 0.2, 0.0]
    assert [tick.get_text() for tick in right.get_xticklabels()] == WORDS
    assert right.get_ylim()[1] < left.get_ylim()[1]
    one, other = frames.steps(WORDS, {"score": masked, "scale": [1.0, 0.2, 0.1]}, alike=2).axes
    assert one.get_ylim() == other.get_ylim()


def test_the_blend_lies_where_the_weights_put_it():
    ax = frames.blend(WORDS, [[1.0, 0.0], [0.0, 1.0], [-1.0, 1.0]], [0.5, 0.25, 0.25])
    star = next(line for line in ax.get_lines() if line.get_marker() == "*")
    assert star.get_xydata().tolist() == [[0.25, 0.5]]
    ways = [line for line in ax.get_lines() if len(line.get_xdata()) == 2]
    assert [way.get_xydata()[1].tolist() for way in ways] == [[1, 0], [0, 1], [-1, 1]]
    widths = [way.get_linewidth() for way in ways]
    assert widths[0] > widths[1] == widths[2]
    assert any("$h_1$ Anna\n50%" in text.get_text() for text in ax.texts)
    values = frames.blend(["a"], [[1.0, 0.0]], [1.0], symbol="v")
    assert any("$v_1$ a\n100%" in text.get_text() for text in values.texts)


def test_a_window_has_its_words_and_their_weights():
    align = [0.0, 0.25, 0.75, 0.0]
    weights = [0.0, 0.2, 0.6, 0.0]
    before = frames.window(FOUR, align, 1.5, D=1)
    after = frames.window(FOUR, align, 1.5, D=1, weights=weights)
    for ax, heights in ((before, [align]), (after, [align, weights])):
        assert [[bar.get_height() for bar in some] for some in ax.containers] == heights
        span = ax.patches[0].get_bbox()
        assert (span.x0, span.x1) == (0.5, 2.5)
        assert [label.get_text() for label in ax.get_xticklabels()] == FOUR
    x, y = next(line for line in after.lines if line.get_label() == "Gaussian").get_data()
    assert y.max() == pytest.approx(1, abs=1e-3)
    assert x[y.argmax()] == pytest.approx(1.5, abs=0.02)
    assert y[abs(x - 2.5).argmin()] == pytest.approx(math.exp(-2), abs=0.02)  # at the edge


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: frames.attention_step(["a"], torch.ones(2), torch.ones(3, 2)), "do not fit"),
        (lambda: frames.attention_step(WORDS, torch.ones(3), torch.ones(3, 2)), "do not fit"),
        (lambda: frames.bars(WORDS, [1.0, 2.0], "score"), "2 numbers for 3 words"),
        (lambda: frames.steps(WORDS, {"weight": [0.5, 0.5]}), "2 numbers for 3 words"),
        (lambda: frames.blend(WORDS, [[1.0, 0.0]] * 2, [0.5, 0.5]), "as many annotations"),
        (lambda: frames.blend(WORDS, [[1.0]] * 3, [0.2, 0.4, 0.4]), "each of two numbers"),
        (lambda: frames.window(FOUR, [0.1] * 3, 1.0, D=1), "3 numbers for 4 words"),
        (
            lambda: frames.window(FOUR, [0.1] * 4, 1.0, D=1, weights=[0.1] * 3),
            "3 numbers for 4 words",
        ),
    ],
)
def test_what_does_not_fit_is_refused(draw, message):
    with pytest.raises(ValueError, match=message):
        draw()
