"""A language of two words, small enough that every sentence can be tried.

The probability of each next word is written down for each beginning; what is not in the table must
end. :class:`TableModel` makes a model of such a table, so that the package's searches can be tested
with it.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from attnmt.batches import Source
from attnmt.vocab import EOS, SPECIALS, Vocabulary

Probabilities = Mapping[str, Mapping[str, float]]

TABLE: Probabilities = {
    "": {"a": 0.5, "b": 0.4, "</s>": 0.1},
    "a": {"</s>": 0.45, "a": 0.3, "b": 0.25},
    "b": {"a": 0.95, "</s>": 0.05},
    "b a": {"b": 0.8, "</s>": 0.2},
    "b a b": {"</s>": 0.9, "a": 0.1},
    "b a b </s>": {"a": 0.5, "b": 0.5},  # no search should ever ask
}
END = {SPECIALS[EOS]: 1.0}


def next_words(words: tuple[str, ...], table: Probabilities = TABLE) -> dict[str, float]:
    """log p of each next word, after these words."""
    row = table.get(" ".join(words), END)
    return {word: math.log(p) for word, p in row.items()}


@dataclass(frozen=True)
class Rows:
    """A memory, or a state: the words (R, n) of each hypothesis."""

    words: Tensor

    def select(self, rows: Tensor) -> "Rows":
        """Those of some hypotheses, by index."""
        return Rows(self.words[rows])


class TableModel(nn.Module):
    """A model whose probabilities are written down, as :class:`attnmt.decoding.Searchable` asks.

    It knows the source word "x" and the target words "a" and "b", and does not attend.

    Args:
        table: from the words written so far, between spaces, to p of each next word.
    """

    attends = False
    trained_on = None  # no corpus
    device = torch.device("cpu")

    def __init__(self, table: Probabilities = TABLE):
        super().__init__()
        self.table = table
        self.config = {"model": "table"}
        self.source_vocabulary = Vocabulary(["x"], "de")
        self.target_vocabulary = Vocabulary(["a", "b"], "en")

    def start(self, source: Source) -> tuple[Rows, Rows]:
        """The memory is what was read, and no hypothesis has written anything yet."""
        nothing = torch.empty(len(source.ids), 0, dtype=torch.long)
        return Rows(source.ids), Rows(nothing)

    def step(self, y_prev: Tensor, state: Rows, memory: Rows) -> tuple[Tensor, None, Rows]:
        """From the words written last (R,) to log p of every next word (R, V)."""
        written = torch.cat([state.words, y_prev[:, None]], dim=1)
        known = self.target_vocabulary
        p = torch.zeros(len(y_prev), len(known))
        for row, indices in enumerate(written[:, 1:].tolist()):
            for word, value in self.table.get(" ".join(known.decode(indices)), END).items():
                p[row, known.words.index(word)] = value
        return p.log(), None, Rows(written)
