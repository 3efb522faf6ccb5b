"""Arithmetic in plain Python, for the sections *By hand*: vectors and matrices are lists."""

import math


def times(matrix: list[list[float]], vector: list[float]) -> list[float]:
    """Matrix times vector, as a loop."""
    return [sum(w * x for w, x in zip(row, vector, strict=True)) for row in matrix]


def softmax(scores: list[float]) -> list[float]:
    """Scores as a distribution."""
    total = sum(math.exp(x) for x in scores)
    return [math.exp(x) / total for x in scores]


def sigma(x: float) -> float:
    """The sigmoid, between 0 and 1."""
    return 1 / (1 + math.exp(-x))
