"""The models that recorded runs are made of: the core's constructors, and two that it lacks.

``attention_only`` is the model of chapter 9. There is no second copy of it: its classes are the
code cells of that chapter that carry the tag ``model``, and they are run here. ``concat_fixed`` is
Luong's concat as his footnote 15 describes his own runs.
"""

import hashlib
import json
import os
from collections.abc import Sequence
from inspect import signature
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor, nn

from attnmt.attention import Concat
from attnmt.files import read_tensors
from attnmt.model import (
    CONSTRUCTORS,
    FORMAT,
    SIDES,
    Constructor,
    Translator,
    Vocabularies,
    luong,
)
from attnmt.vocab import Vocabulary
from attnmt_book.folders import chapter
from attnmt_fast import Linear

CHAPTER = "09_lookup"

# --------------------------------------------------------------------------- concat, footnote 15


class FixedConcat(nn.Module):
    """``v_a^T tanh(W_a h_t + hbar_s)``: concat whose right half of ``W_a`` is the identity.

    Luong et al. 2015, footnote 15: in their runs the part of ``W_a`` that meets hbar_s was fixed
    so. Their poor perplexity of concat is that of this score.

    Args:
        concat: whose left half of ``W_a`` and whose ``v_a`` it begins with.
    """

    def __init__(self, concat: Concat):
        super().__init__()
        left = concat.W_a.weight[:, : concat.n]  # (n, n)
        self.W_a = Linear(*left.T.shape, bias=False)
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


# -------------------------------------------------------------------- attention only, of chapter 9


def cells(path: Path | None = None) -> list[str]:
    """The code cells of a notebook that carry the tag ``model``; of chapter 9 by default."""
    notebook = json.loads((path or chapter(CHAPTER)).read_text(encoding="utf-8"))
    return [
        "".join(cell["source"])
        for cell in notebook["cells"]
        if cell["cell_type"] == "code" and "model" in cell["metadata"].get("tags", [])
    ]


def code_hash(sources: Sequence[str]) -> str:
    """SHA-256 of the cells, by which a test tells whether stored runs are theirs."""
    return hashlib.sha256(json.dumps(list(sources)).encode()).hexdigest()


def execute(sources: Sequence[str]) -> dict[str, Any]:
    """The names that the cells define."""
    names: dict[str, Any] = {"__name__": "chapter"}
    for source in sources:
        exec(compile(source, "<chapter 9>", "exec"), names)
    return names


def attention_only(corpus: Vocabularies, code: str | None = None, **sizes: Any) -> Translator:
    """The model of chapter 9: look-ups, and no recurrence (after Vaswani et al. 2017).

    Args:
        corpus: gives the vocabularies.
        code: of the cells that a saved model was made by, as its configuration has it. It is for
            the record: cells written in another way may well make the same model.
        sizes: arguments of the chapter's own ``attention_only``.

    Raises:
        FileNotFoundError: the chapter is not there.
    """
    sources = cells()
    make = execute(sources)["attention_only"]
    model = make(corpus, **sizes)
    bound = signature(make).bind(corpus, **sizes)
    bound.apply_defaults()
    config = dict(bound.arguments) | {"code": code or code_hash(sources)[:16]}
    del config["corpus"]
    model.config = {"model": "attention_only", **config}
    return model


# ------------------------------------------------------------------------------ all, by their names

MODELS: dict[str, Constructor] = {
    **CONSTRUCTORS,
    "concat_fixed": concat_fixed,
    "attention_only": attention_only,
}


def load(path: str | os.PathLike) -> Translator:
    """As :meth:`.Translator.load`, of any of ``MODELS``.

    Raises:
        FileNotFoundError: no such file.
        ValueError: the file is damaged, or no model of these.
    """
    if not os.path.exists(path):
        raise FileNotFoundError(f"no model at {path}")
    metadata, weights = read_tensors(path, FORMAT, "a model that attnmt saved")
    config = json.loads(metadata["config"])
    name = config.pop("model")
    if name in CONSTRUCTORS:
        return Translator.load(path)
    vocabularies = {side: Vocabulary(**json.loads(metadata[side])) for side in SIDES}
    try:
        model = MODELS[name](SimpleNamespace(**vocabularies), **config)
        model.load_state_dict(weights)
    except (KeyError, TypeError, RuntimeError) as error:
        why = f"{type(error).__name__}: {error}"
        raise ValueError(f"{path} does not fit this version of the book: {why}") from error
    return model
