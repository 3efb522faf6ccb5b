"""What the chapters share: recorded runs, the truth rule, claims, plots."""

from attnmt_book.weights import pretrained

__all__ = ["pretrained"]
