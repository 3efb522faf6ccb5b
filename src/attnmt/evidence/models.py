"""The models that recorded runs are made of: the core's constructors, and those that it lacks.

``attention_only`` is the model of chapter 9. ``concat_fixed`` is Luong's concat as his footnote 15
describes his own runs. Two have tied embeddings (:mod:`.tied`).
"""

import os
from typing import Any

import torch
from torch import Tensor, nn

from attnmt.attention import Concat, Score
from attnmt.attention_only import attention_only
from attnmt.evidence.tied import attention_only_tied, luong_tied
from attnmt.model import CONSTRUCTORS, Constructor, Translator, Vocabularies, luong

# --------------------------------------------------------------------------- concat, footnote 15


class FixedConcat(Score):
    """``v_a^T tanh(W_a h_t + hbar_s)``: concat whose right half of ``W_a`` is the identity.

    Luong et al. 2015, footnote 15: in their runs the part of ``W_a`` that meets hbar_s was fixed
    so. Their poor perplexity of concat is that of this score.

    Args:
        concat: whose left half of ``W_a`` and whose ``v_a`` it begins with.
    """

    def __init__(self, concat: Concat):
        super().__init__()
        left = concat.W_a.weight[:, : concat.query_size]  # (n, n)
        self.W_a = nn.Linear(*left.T.shape, bias=False)
        with torch.no_grad():
            self.W_a.weight.copy_(left)
        self.v_a = concat.v_a

    def prepare(self, annotations: Tensor) -> Tensor:
        """The annotations themselves, (B, S, n)."""
        return annotations

    def forward(self, query: Tensor, keys: Tensor) -> Tensor:
        """Scores of queries (B, T, n) against prepared keys (B, S, n): (B, T, S)."""
        hidden = torch.tanh(self.W_a(query)[:, :, None] + keys[:, None])  # (B, T, S, n)
        return self.v_a(hidden).squeeze(-1)  # (B, T, S)


def concat_fixed(corpus: Vocabularies, **arguments: Any) -> Translator:
    """:func:`.luong` with :class:`FixedConcat` for a score.

    What else it has, first weights included, is as of ``score="concat"`` with the same seed.

    Args:
        corpus: gives the vocabularies.
        arguments: as of :func:`.luong`, without ``score``.
    """
    model = luong(corpus, score="concat", **arguments)
    model.decoder.attention.score = FixedConcat(model.decoder.attention.score)
    kept = {name: value for name, value in model.config.items() if name != "score"}
    model.config = kept | {"model": "concat_fixed"}
    return model


# ------------------------------------------------------------------------------ all, by their names

MODELS: dict[str, Constructor] = {
    **CONSTRUCTORS,
    "concat_fixed": concat_fixed,
    "attention_only": attention_only,
    "luong_tied": luong_tied,
    "attention_only_tied": attention_only_tied,
}


def load(path: str | os.PathLike) -> Translator:
    """As :meth:`.Translator.load`, of any of ``MODELS``.

    Raises:
        FileNotFoundError: no such file.
        ValueError: the file is damaged, or no model of these.
    """
    return Translator.load(path, MODELS)
