"""The one knob of a chapter: how much it trains.

``chapter`` is what the book shows, by the recipes of the runs recorded beside it. ``quick`` shows
that the code runs, and little else. ``overnight`` takes all the real text there is.
"""

from dataclasses import dataclass

from attnmt.training import Recipe
from attnmt_book.runs import undertrained_plan


@dataclass(frozen=True)
class Size:
    """How many pairs a chapter trains on, how large its models are, and how long they train.

    Attributes:
        grammar_pairs: of the controlled corpus.
        real_pairs: of captions.
        hidden: units of encoder and decoder.
        grammar_recipe: for the controlled corpus.
        real_recipe: for captions.
    """

    grammar_pairs: int
    real_pairs: int
    hidden: int
    grammar_recipe: Recipe
    real_recipe: Recipe


def recorded_recipe(corpus_name: str) -> Recipe:
    """The recipe of the recorded runs on "grammar" or "multi30k"."""
    return Recipe(**undertrained_plan()["corpora"][corpus_name]["recipe"])


SIZES = {
    "quick": Size(
        grammar_pairs=1_000,
        real_pairs=1_000,
        hidden=32,
        grammar_recipe=Recipe(epochs=1),
        real_recipe=Recipe(epochs=1),
    ),
    "chapter": Size(
        grammar_pairs=16_000,
        real_pairs=10_000,
        hidden=128,
        grammar_recipe=recorded_recipe("grammar"),
        real_recipe=recorded_recipe("multi30k"),
    ),
    "overnight": Size(
        grammar_pairs=64_000,
        real_pairs=29_000,
        hidden=256,
        grammar_recipe=Recipe(epochs=8),
        real_recipe=Recipe(epochs=8),
    ),
}
