"""Whole models: an encoder, a decoder, two vocabularies; constructors named after the papers."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any, Protocol

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as to_safetensors
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from attnmt.attention import Additive, Attention, Global
from attnmt.batches import Batch, Source
from attnmt.decoder import BahdanauDecoder, Decoder
from attnmt.encoder import BidirectionalGRU, Memory
from attnmt.files import write_aside
from attnmt.vocab import SPECIALS, Vocabulary


class Vocabularies(Protocol):
    """All that a constructor needs of a corpus."""

    source_vocabulary: Vocabulary
    target_vocabulary: Vocabulary


class Translator(nn.Module):
    """A model that translates: p(y | x), word by word.

    Args:
        encoder: source words to memory and final state.
        decoder: memory and final state to target words.
        vocabularies: a corpus, or whatever has its ``source_vocabulary`` and ``target_vocabulary``.
        config: the constructor's name and arguments, so that a file can be read back.
    """

    def __init__(
        self,
        encoder: nn.Module,
        decoder: Decoder,
        vocabularies: Vocabularies,
        config: dict[str, Any],
    ):
        super().__init__()
        self.encoder = encoder
        self.decoder = decoder
        self.source_vocabulary = vocabularies.source_vocabulary
        self.target_vocabulary = vocabularies.target_vocabulary
        self.config = config

    @property
    def device(self) -> torch.device:
        """Where the parameters are."""
        return next(self.parameters()).device

    def start(self, source: Source) -> tuple[Memory, Any]:
        """Read source sentences: the prepared memory and the decoder's first state."""
        memory, final = self.encoder(source)
        return self.decoder.start(memory, final)

    def step(self, y_prev: Tensor, state: Any, memory: Memory) -> tuple[Tensor, Tensor, Any]:
        """From y_{i-1} (B,) to log p(y_i | y_<i, x) (B, V), align (B, S) and the new state."""
        features, align, state = self.decoder.step(self.decoder.embedding(y_prev), state, memory)
        return self.decoder.readout(features).log_softmax(dim=-1), align, state

    def forward(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Read source and reference: features (B, T, f) and align (B, T, S)."""
        memory, final = self.encoder(batch.source)
        return self.decoder(batch.target_in, memory, final)

    def token_losses(self, batch: Batch) -> Tensor:
        """-log p of each real target token of a batch, in reading order: (tokens,).

        Padding is left out *before* the output layer, the largest of all products.
        """
        features, _ = self(batch)
        logits = self.decoder.readout(features[batch.target_mask])  # (tokens, V)
        return cross_entropy(logits, batch.target_out[batch.target_mask], reduction="none")

    def save(self, path: str | os.PathLike) -> None:
        """Write weights, configuration and vocabularies as one safetensors file."""
        metadata = {"format": FORMAT, "config": json.dumps(self.config)}
        for side in ("source", "target"):
            vocabulary: Vocabulary = getattr(self, f"{side}_vocabulary")
            metadata[f"{side}_vocabulary"] = json.dumps(
                {
                    "words": vocabulary.words[len(SPECIALS) :],
                    "language": vocabulary.language,
                    "lower": vocabulary.lower,
                }
            )
        weights = {name: tensor.contiguous() for name, tensor in self.state_dict().items()}
        write_aside(path, to_safetensors(weights, metadata))

    @classmethod
    def load(cls, path: str | os.PathLike) -> "Translator":
        """Read a model that :meth:`save` wrote. The file is data only; it cannot run code.

        Raises:
            FileNotFoundError: no such file.
            ValueError: the file is damaged, or no model of this package.
        """
        if not os.path.exists(path):
            raise FileNotFoundError(f"no model at {path}")
        try:
            with safe_open(path, framework="pt") as file:
                metadata = file.metadata() or {}
                weights = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        except (SafetensorError, OSError) as error:
            raise ValueError(
                f"{path} is damaged or not a safetensors file ({error}). Save the model again."
            ) from error
        if metadata.get("format") != FORMAT:
            raise ValueError(f"{path} is a safetensors file, but not a model that attnmt saved")
        try:
            config = json.loads(metadata["config"])
            vocabularies = SimpleNamespace(
                source_vocabulary=Vocabulary(**json.loads(metadata["source_vocabulary"])),
                target_vocabulary=Vocabulary(**json.loads(metadata["target_vocabulary"])),
            )
            model = CONSTRUCTORS[config.pop("model")](vocabularies, **config)
            model.load_state_dict(weights)
        except (KeyError, TypeError, ValueError, RuntimeError) as error:
            raise ValueError(
                f"{path} does not fit this version of attnmt: {type(error).__name__}: {error}"
            ) from error
        return model


FORMAT = "attnmt-model-1"


@contextmanager
def evaluating(*models: nn.Module) -> Iterator[None]:
    """No dropout and no gradients inside; each model's mode is restored afterwards."""
    modes = [model.training for model in models]
    try:
        for model in models:
            model.eval()
        with torch.no_grad():
            yield
    finally:
        for model, mode in zip(models, modes, strict=True):
            model.train(mode)


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Draw random numbers from a seed inside; the generator outside goes on as if nothing was."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


def rnnsearch(
    corpus: Vocabularies,
    hidden: int = 128,
    embedding: int | None = None,
    alignment: int | None = None,
    maxout: int | None = None,
    output_state: str = "previous",
    seed: int = 0,
) -> Translator:
    """RNNsearch (Bahdanau et al. 2015): bidirectional encoder, additive attention, maxout output.

    Args:
        corpus: gives the vocabularies.
        hidden: n, units of the decoder and of each direction of the encoder (paper: 1000).
        embedding: m, numbers of a word's embedding (paper: 620); as ``hidden`` if not given.
        alignment: units of the alignment model (paper: 1000); as ``hidden`` if not given.
        maxout: l, units of the output layer (paper: 500); as ``hidden`` if not given.
        output_state: the state that the output layer reads, see :class:`BahdanauDecoder`.
        seed: of the initial weights.
    """
    embedding, alignment, maxout = (size or hidden for size in (embedding, alignment, maxout))
    config = {
        "model": "rnnsearch",
        "hidden": hidden,
        "embedding": embedding,
        "alignment": alignment,
        "maxout": maxout,
        "output_state": output_state,
        "seed": seed,
    }
    with seeded(seed):
        encoder = BidirectionalGRU(len(corpus.source_vocabulary), embedding, hidden)
        score = Additive(hidden, encoder.annotation_size, alignment)
        decoder = BahdanauDecoder(
            len(corpus.target_vocabulary),
            embedding,
            hidden,
            Attention(score, Global()),
            encoder.annotation_size,
            maxout,
            output_state,
        )
    return Translator(encoder, decoder, corpus, config)


CONSTRUCTORS = {"rnnsearch": rnnsearch}
