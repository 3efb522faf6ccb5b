"""frames.py: each row shows the numbers of its computation."""

import math

import matplotlib as mpl
import pytest
import torch

mpl.use("agg")
import matplotlib.pyplot as plt

from attnmt_book.frames import attention_step


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def test_a_step_shows_scores_weights_and_their_blend():
    vectors = torch.tensor([[0.5, 0.0], [0.0, 1.0], [-0.5, 0.5]])
    figure = attention_step(["a", "b", "c"], torch.tensor([1.0, 2.0]), vectors, some=2)
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


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="do not fit"):
        attention_step(["a"], torch.ones(2), torch.ones(3, 2))
    with pytest.raises(ValueError, match="do not fit"):
        attention_step(["a", "b", "c"], torch.ones(3), torch.ones(3, 2))
