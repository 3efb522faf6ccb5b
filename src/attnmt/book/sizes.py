"""The one knob of a chapter: how much it trains.

``chapter`` is what the book shows. ``quick`` shows that the code runs, and little else.
``overnight`` trains larger models for a full run, on as many sentence pairs as the recorded runs
or, of real text, on all there are. The environment variable ``ATTNMT_SIZE`` turns every knob, as
the tests do: ``ATTNMT_SIZE=quick``.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass

from attnmt.checks import one_of
from attnmt.evidence.plan import read_plan
from attnmt.recipes import Recipe

# How a chapter trains live on the controlled corpus: every pair is fresh, and read once, in batches
# of 32, which makes 1,500 updates; the learning rate falls to 0. It was found by the study
# live_recipes, which is frozen (results/README.md).
LIVE_PAIRS = 48_000
LIVE = Recipe(epochs=1, batch_size=32, learning_rate=4e-3, fall=True)
OF_GRAMMAR = read_plan()["corpora"]["grammar"]  # of models of full runs
OF_CAPTIONS = read_plan()["corpora"]["live"]  # where captions cannot be reached, its runs are shown


@dataclass(frozen=True)
class Size:
    """How many pairs a chapter trains on, how large its models are, and how long they train."""

    #: of the controlled corpus, for a model that is trained live; chapters 3, which trains two
    #: networks, and 9, whose updates take longest, read half of them.
    live_pairs: int
    live_recipe: Recipe  #: for these.
    curve_every: int  #: updates between two points of a live model's learning curve.
    grammar_pairs: int  #: of the controlled corpus, to look at.
    real_pairs: int  #: of captions, on evidence pages.
    caption_pairs: int  #: of captions, for the smaller network of chapter 3.
    hidden: int  #: units of encoder and decoder.
    real_recipe: Recipe  #: for captions.
    translated: int  #: test pairs that chapter 1 has translated.
    tested: int  #: test pairs, and longer ones, by which a model is measured.
    small_pairs: int  #: of small models, of evidence 1 and, at most, of exercises.
    small_epochs: int  #: of it.


class Sizes(dict[str, Size]):
    """The sizes by their names; ``ATTNMT_SIZE`` wins over the name that a chapter asks for.

    Raises:
        ValueError: no such size.
    """

    def __getitem__(self, name: str) -> Size:
        name = os.environ.get("ATTNMT_SIZE") or name
        one_of(self, size=name)
        return super().__getitem__(name)


SIZES: Mapping[str, Size] = Sizes(
    quick=Size(
        live_pairs=1_000,
        live_recipe=Recipe(epochs=1, batch_size=32, fall=True),
        curve_every=15,
        grammar_pairs=1_000,
        real_pairs=1_000,
        caption_pairs=1_000,
        hidden=32,
        real_recipe=Recipe(epochs=1),
        translated=100,
        tested=100,
        small_pairs=200,
        small_epochs=1,
    ),
    chapter=Size(
        live_pairs=LIVE_PAIRS,
        live_recipe=LIVE,
        curve_every=100,
        grammar_pairs=16_000,
        real_pairs=OF_CAPTIONS["train"],
        caption_pairs=6_000,
        hidden=128,
        real_recipe=Recipe(**OF_CAPTIONS["recipe"]),
        translated=500,
        tested=1_000,
        small_pairs=4_000,
        small_epochs=4,
    ),
    overnight=Size(
        live_pairs=OF_GRAMMAR["train"],
        live_recipe=Recipe(**OF_GRAMMAR["recipe"]),
        curve_every=125,
        grammar_pairs=64_000,
        real_pairs=29_000,
        caption_pairs=29_000,
        hidden=256,
        real_recipe=Recipe(epochs=8),
        translated=5_000,
        tested=1_000,
        small_pairs=16_000,
        small_epochs=8,
    ),
)
