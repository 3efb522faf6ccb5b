"""by_hand.py agrees with PyTorch."""

import pytest
import torch

from attnmt.book.by_hand import sigma, softmax, times


def test_plain_python_agrees_with_torch():
    matrix = torch.randn(3, 4, dtype=torch.float64)
    vector = torch.randn(4, dtype=torch.float64)
    assert times(matrix.tolist(), vector.tolist()) == pytest.approx((matrix @ vector).tolist())
    assert softmax(vector.tolist()) == pytest.approx(vector.softmax(0).tolist())
    assert sigma(0.7) == pytest.approx(torch.sigmoid(torch.tensor(0.7, dtype=torch.float64)).item())
