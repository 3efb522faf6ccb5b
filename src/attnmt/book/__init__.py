"""What the chapters share: recorded runs, the truth rule, claims, plots."""

from attnmt.book.live.view import show_live
from attnmt.book.live.weights import pretrained

__all__ = ["pretrained", "show_live"]
