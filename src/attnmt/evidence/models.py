"""The models that recorded runs are made of: the core's constructors, and those that it lacks.

``attention_only`` is the model of chapter 9. ``concat_fixed`` is Luong's concat as his footnote 15
describes his own runs.

Two have *tied embeddings*: a word has one row of weights, which both reads it and writes it. Press
and Wolf 2017, section 3: the output layer's weights are the decoder's embeddings. Where source and
target have the same pieces, the encoder's are, too (their *three-way* tying). The core keeps the
papers' separate matrices; here a model of the core is made, and its matrices are joined.
"""

import os
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from attnmt.attention import Concat, Score
from attnmt.attention_only import SelfAttentionDecoder, attention_only
from attnmt.decoder import LuongDecoder
from attnmt.model import CONSTRUCTORS, Constructor, Translator, Vocabularies, luong, seeded

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
    """
    model = luong(corpus, score="concat", **arguments)
    model.decoder.attention.score = FixedConcat(model.decoder.attention.score)
    kept = {name: value for name, value in model.config.items() if name != "score"}
    model.config = kept | {"model": "concat_fixed"}
    return model


# ----------------------------------------------------------------------------- tied embeddings


class Scaled(nn.Embedding):
    """An embedding whose weights are an output layer's, too: small ones, read as if they were not.

    An output layer wants a variance of 1/m at first, a reader wants 1 (Vaswani et al. 2017, section
    3.4, multiply by sqrt(m) likewise).

    Args:
        words: V, number of words.
        m: size of a word's embedding.
    """

    def __init__(self, words: int, m: int):
        super().__init__(words, m)
        nn.init.normal_(self.weight, std=m**-0.5)

    def forward(self, words: Tensor) -> Tensor:
        """Embeddings of words (...), with a mean square of 1 at first: (..., m)."""
        return super().forward(words) * self.embedding_dim**0.5


class TiedLuongDecoder(LuongDecoder):
    """A :class:`.LuongDecoder` that writes with its embeddings E.

    ``W_out`` leads from the attentional vector's n numbers to the m of an embedding.
    """

    bias: nn.Parameter

    def readout(self, features: Tensor) -> Tensor:
        """``E W_out h~_t + b``: (..., n) to (..., V)."""
        return linear(self.W_out(self.drop(features)), self.embedding.weight, self.bias)


class TiedSelfAttentionDecoder(SelfAttentionDecoder):
    """A :class:`.SelfAttentionDecoder` that writes with its embeddings E."""

    bias: nn.Parameter

    def readout(self, features: Tensor) -> Tensor:
        """``E x + b``: (..., n) to (..., V)."""
        return linear(features, self.embedding.weight, self.bias)


def tie(model: Translator) -> None:
    """Let the output layer, and an encoder of the same pieces, have the decoder's embeddings."""
    decoder = model.decoder
    words, m = decoder.embedding.weight.shape
    if isinstance(decoder, LuongDecoder):
        decoder.__class__ = TiedLuongDecoder
        decoder.W_out = nn.Linear(decoder.W_out.in_features, m, bias=False)
    else:
        decoder.__class__ = TiedSelfAttentionDecoder
        del decoder.W_o
    decoder.bias = nn.Parameter(torch.zeros(words))
    decoder.embedding = Scaled(words, m)
    if model.source_vocabulary.words == model.target_vocabulary.words:
        model.encoder.embedding = decoder.embedding


def tied(make: Constructor, corpus: Vocabularies, **arguments: Any) -> Translator:
    """The model of a constructor of the core, then with tied embeddings."""
    model = make(corpus, **arguments)
    with seeded(model.config["seed"]):
        tie(model)
    model.config["model"] += "_tied"
    return model


# ------------------------------------------------------------------------------ all, by their names

MODELS: dict[str, Constructor] = {
    **CONSTRUCTORS,
    "concat_fixed": concat_fixed,
    "attention_only": attention_only,
    "luong_tied": partial(tied, luong),
    "attention_only_tied": partial(tied, attention_only),
}


def load(path: str | os.PathLike) -> Translator:
    """As :meth:`.Translator.load`, of any of ``MODELS``.

    Raises:
        FileNotFoundError: no such file.
        ValueError: the file is damaged, or no model of these.
    """
    return Translator.load(path, MODELS)
