"""Whole models: an encoder, a decoder, two vocabularies; constructors named after the papers."""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from inspect import signature
from types import SimpleNamespace
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from attnmt.attention import SCORES, WINDOWS, Additive, Attention, FixedContext, Global
from attnmt.batches import Batch, Source
from attnmt.checks import one_of, whole
from attnmt.decoder import BahdanauDecoder, Decoder, LuongDecoder, SutskeverDecoder
from attnmt.encoder import BidirectionalGRU, ForwardGRU, Memory, StackedLSTM
from attnmt.fast import cross_entropy_
from attnmt.files import read_tensors, write_tensors
from attnmt.vocab import Vocabulary


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

    Attributes:
        config: the constructor's name and arguments, so that a file can be read back; empty for a
            model put together by hand, which cannot be saved.
    """

    def __init__(self, encoder: nn.Module, decoder: Decoder, vocabularies: Vocabularies):
        super().__init__()
        self.encoder = encoder
        self.decoder = decoder
        self.source_vocabulary = vocabularies.source_vocabulary
        self.target_vocabulary = vocabularies.target_vocabulary
        self.config: dict[str, Any] = {}

    @property
    def device(self) -> torch.device:
        """Where the parameters are."""
        return next(self.parameters()).device

    @property
    def attends(self) -> bool:
        """Whether there is an alignment to speak of."""
        return self.decoder.attends

    def start(self, source: Source) -> tuple[Memory, Any]:
        """Read source sentences: the prepared memory and the decoder's first state."""
        memory, final = self.encoder(source)
        return self.decoder.start(memory, final)

    def step(self, y_prev: Tensor, state: Any, memory: Memory) -> tuple[Tensor, Tensor | None, Any]:
        """From y_{i-1} (B,) to log p(y_i | y_<i, x) (B, V), align (B, S) and the new state.

        ``align`` is None for a model that does not attend.
        """
        features, align, state = self.decoder.step(self.decoder.embed(y_prev), state, memory)
        return self.decoder.readout(features).log_softmax(dim=-1), align, state

    def forward(self, batch: Batch) -> tuple[Tensor, Tensor | None]:
        """Read source and reference: features (B, T, f) and align (B, T, S) or None."""
        memory, final = self.encoder(batch.source)
        return self.decoder(batch.target_in, memory, final)

    def token_losses(self, batch: Batch) -> Tensor:
        """-log p of each real target token of a batch, in reading order: (tokens,).

        Padding is left out *before* the output layer, the largest of all products.
        """
        features, _ = self(batch)
        logits = self.decoder.readout(features[batch.target_mask])  # (tokens, V)
        return cross_entropy_(logits, batch.target_out[batch.target_mask])

    def save(self, path: str | os.PathLike) -> None:
        """Write weights, configuration and vocabularies as one safetensors file."""
        if not self.config:
            raise ValueError("a model put together by hand cannot be saved: use a constructor")
        metadata = {"config": json.dumps(self.config)}
        for side in SIDES:
            metadata[side] = json.dumps(getattr(self, side).arguments)
        write_tensors(path, self.state_dict(), format=FORMAT, metadata=metadata)

    @classmethod
    def load(cls, path: str | os.PathLike) -> "Translator":
        """Read a model that :meth:`save` wrote. The file is data only; it cannot run code.

        Raises:
            FileNotFoundError: no such file.
            ValueError: the file is damaged, or no model of this package.
        """
        if not os.path.exists(path):
            raise FileNotFoundError(f"no model at {path}")
        metadata, weights = read_tensors(path, FORMAT, "a model that attnmt saved")
        try:
            config = json.loads(metadata["config"])
            vocabularies = {side: Vocabulary(**json.loads(metadata[side])) for side in SIDES}
            with torch.device("meta"):  # no weights are drawn, only to be replaced
                model = CONSTRUCTORS[config.pop("model")](SimpleNamespace(**vocabularies), **config)
            model.load_state_dict(weights, assign=True)  # in the precision that they had
        except (KeyError, TypeError, ValueError, RuntimeError) as error:
            why = f"{type(error).__name__}: {error}"
            raise ValueError(f"{path} does not fit this version of attnmt: {why}") from error
        return model


FORMAT = "attnmt-model-1"
SIDES = ("source_vocabulary", "target_vocabulary")


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """No dropout and no gradients inside; afterwards each part of the model has its mode back."""
    modes = {part: part.training for part in model.modules()}
    try:
        model.eval()
        with torch.no_grad():
            yield
    finally:
        for part, mode in modes.items():
            part.training = mode


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Draw random numbers from a seed inside; the generator outside goes on as if nothing was.

    It is the CPU's generator, since models are made there. Those of GPUs are not touched.
    """
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        yield


# -------------------------------------------------------------- the models, named as in the papers

LAPTOP = 128  # the default of ``hidden``; other sizes are as ``hidden`` then
Constructor = Callable[..., Translator]
CONSTRUCTORS: dict[str, Constructor] = {}


def constructor(
    paper: dict[str, int], draw: Callable[[str, Tensor], None]
) -> Callable[[Constructor], Constructor]:
    """What all constructors do: fill in sizes, seed the weights, note the configuration.

    Args:
        paper: the paper's sizes, for ``sizes="paper"``.
        draw: draws one parameter, given its name, as the paper does; for ``init="paper"``.
    """

    def decorate(make: Constructor) -> Constructor:
        @wraps(make)
        def construct(*args: Any, **kwargs: Any) -> Translator:
            bound = signature(make).bind(*args, **kwargs)
            bound.apply_defaults()
            config = dict(bound.arguments)
            corpus = config.pop("corpus")
            one_of(("laptop", "paper"), sizes=config["sizes"])
            one_of(("torch", "paper"), init=config["init"])
            config |= fill_in_sizes(config, paper)
            if not 0 <= config.get("dropout", 0) < 1:
                raise ValueError(f"dropout must be from 0 to below 1, not {config['dropout']}")
            with seeded(config["seed"]), torch.no_grad():
                model = make(corpus, **config)
                if config["init"] == "paper":
                    for name, weights in model.named_parameters():
                        draw(name, weights)
            del config["sizes"]  # all of them are known now
            model.config = {"model": make.__name__, **config}
            return model

        CONSTRUCTORS[make.__name__] = construct
        return construct

    return decorate


def fill_in_sizes(config: dict[str, Any], paper: dict[str, int]) -> dict[str, int]:
    """The sizes of a model: those that were given, and the paper's or a laptop's for the others."""
    given = {name: config[name] for name in paper if config[name] is not None}
    whole(1, **given)
    if config["sizes"] == "paper":
        usual = paper
    else:
        hidden = given.get("hidden", LAPTOP)
        usual = {name: 1 if name == "layers" else hidden for name in paper}
    return {name: int(size) for name, size in (usual | given).items()}  # numpy's become Python's


def as_bahdanau(name: str, weights: Tensor) -> None:
    """Draw a parameter as in Bahdanau et al. 2015, appendix B.1."""
    *_, module, kind = name.split(".")
    if "bias" in kind or module == "v_a":
        nn.init.zeros_(weights)
    elif "weight_hh" in kind or module in ("U_zr", "U"):  # recurrent: each gate for itself
        for gate in weights.split(weights.size(1)):
            nn.init.orthogonal_(gate)
    else:
        nn.init.normal_(weights, std=0.001 if module in ("W_a", "U_a") else 0.01)


def uniformly(bound: float) -> Callable[[str, Tensor], None]:
    """Draw parameters uniformly from [-bound, bound]."""

    def draw(name: str, weights: Tensor) -> None:
        nn.init.uniform_(weights, -bound, bound)

    return draw


@constructor({"hidden": 1000, "embedding": 620, "maxout": 500}, as_bahdanau)
def rnnencdec(
    corpus: Vocabularies,
    hidden: int | None = None,
    embedding: int | None = None,
    maxout: int | None = None,
    output_state: str = "current",
    dropout: float = 0.0,
    sizes: str = "laptop",
    init: str = "torch",
    seed: int = 0,
) -> Translator:
    """RNNencdec (Cho et al. 2014), the baseline of Bahdanau et al. 2015, section 2.1.

    The same vector ``c = h_S`` enters at every step and in the output layer.

    Args:
        corpus: gives the vocabularies.
        hidden: n, units of encoder and decoder (laptop: 128, paper: 1000).
        embedding: m, numbers of a word's embedding (paper: 620); as ``hidden`` if not given.
        maxout: l, units of the output layer (paper: 500); as ``hidden`` if not given.
        output_state: the state that the output layer reads, see :class:`.BahdanauDecoder`.
        dropout: see :class:`.BahdanauDecoder` (the paper has none).
        sizes: ``"laptop"`` or ``"paper"``, for the sizes that are not given.
        init: of the weights: ``"torch"`` for its defaults, or ``"paper"`` for appendix B.1.
        seed: of the initial weights.
    """
    encoder = ForwardGRU(len(corpus.source_vocabulary), embedding, hidden, dropout=dropout)
    target = len(corpus.target_vocabulary)
    reading = {"attention": FixedContext(), "annotation": encoder.annotation_size}
    writing = {"maxout": maxout, "output_state": output_state, "dropout": dropout}
    decoder = BahdanauDecoder(target, embedding, hidden, **reading, **writing)
    return Translator(encoder, decoder, corpus)


@constructor({"hidden": 1000, "embedding": 620, "alignment": 1000, "maxout": 500}, as_bahdanau)
def rnnsearch(
    corpus: Vocabularies,
    hidden: int | None = None,
    embedding: int | None = None,
    alignment: int | None = None,
    maxout: int | None = None,
    output_state: str = "previous",
    dropout: float = 0.0,
    sizes: str = "laptop",
    init: str = "torch",
    seed: int = 0,
) -> Translator:
    """RNNsearch (Bahdanau et al. 2015): bidirectional encoder, additive attention, maxout output.

    Args:
        corpus: gives the vocabularies.
        hidden: n, units of the decoder and of each direction of the encoder (laptop: 128, paper:
            1000).
        embedding: m, numbers of a word's embedding (paper: 620); as ``hidden`` if not given.
        alignment: units of the alignment model (paper: 1000); as ``hidden`` if not given.
        maxout: l, units of the output layer (paper: 500); as ``hidden`` if not given.
        output_state: the state that the output layer reads, see :class:`.BahdanauDecoder`.
        dropout: see :class:`.BahdanauDecoder` (the paper has none).
        sizes: ``"laptop"`` or ``"paper"``, for the sizes that are not given.
        init: of the weights: ``"torch"`` for its defaults, or ``"paper"`` for appendix B.1.
        seed: of the initial weights.
    """
    encoder = BidirectionalGRU(len(corpus.source_vocabulary), embedding, hidden, dropout=dropout)
    target = len(corpus.target_vocabulary)
    d = encoder.annotation_size
    reading = {"attention": Attention(Additive(hidden, d, alignment), Global()), "annotation": d}
    writing = {"maxout": maxout, "output_state": output_state, "dropout": dropout}
    decoder = BahdanauDecoder(target, embedding, hidden, **reading, **writing)
    return Translator(encoder, decoder, corpus)


@constructor({"hidden": 1000, "embedding": 1000, "layers": 4}, uniformly(0.08))
def sutskever(
    corpus: Vocabularies,
    hidden: int | None = None,
    embedding: int | None = None,
    layers: int | None = None,
    reverse: bool = True,
    dropout: float = 0.0,
    sizes: str = "laptop",
    init: str = "torch",
    seed: int = 0,
) -> Translator:
    """The LSTM encoder-decoder of Sutskever et al. 2014, without attention.

    Args:
        corpus: gives the vocabularies.
        hidden: n, units of each layer (laptop: 128, paper: 1000).
        embedding: m, numbers of a word's embedding (paper: 1000); as ``hidden`` if not given.
        layers: LSTMs on top of each other (laptop: 1, paper: 4).
        reverse: read the source backwards (section 3.3).
        dropout: see :class:`.SutskeverDecoder` (this paper has none).
        sizes: ``"laptop"`` or ``"paper"``, for the sizes that are not given.
        init: of the weights: ``"torch"`` for its defaults, or ``"paper"``: uniform in +-0.08.
        seed: of the initial weights.
    """
    source = len(corpus.source_vocabulary)
    target = len(corpus.target_vocabulary)
    stack = {"layers": layers, "dropout": dropout}
    encoder = StackedLSTM(source, embedding, hidden, reverse=reverse, **stack)
    decoder = SutskeverDecoder(target, embedding, hidden, **stack)
    return Translator(encoder, decoder, corpus)


@constructor({"hidden": 1000, "embedding": 1000, "layers": 4}, uniformly(0.1))
def luong(
    corpus: Vocabularies,
    score: str = "dot",
    window: str = "global",
    D: int = 10,
    feeding: bool = False,
    hidden: int | None = None,
    embedding: int | None = None,
    layers: int | None = None,
    bidirectional: bool = False,
    reverse: bool = False,
    dropout: float = 0.0,
    max_length: int = 50,
    sizes: str = "laptop",
    init: str = "torch",
    seed: int = 0,
) -> Translator:
    """The models of Luong et al. 2015: stacked LSTMs, attention on the top layer.

    Args:
        corpus: gives the vocabularies.
        score: ``"dot"``, ``"scaled-dot"``, ``"general"``, ``"concat"``, ``"location"`` or
            ``"additive"``.
        window: ``"global"``, ``"local-m"`` or ``"local-p"``.
        D: positions on either side of a local window's p_t (paper: 10).
        feeding: input feeding (section 3.3).
        hidden: n, units of each layer (laptop: 128, paper: 1000).
        embedding: m, numbers of a word's embedding (paper: 1000); as ``hidden`` if not given.
        layers: LSTMs on top of each other (laptop: 1, paper: 4).
        bidirectional: an encoder of both directions, n/2 units each (paper: no).
        reverse: read the source backwards (Table 1, "+ reverse").
        dropout: see :class:`.SutskeverDecoder` (paper: 0.2).
        max_length: source positions that a location score knows (the paper drops longer sentences).
        sizes: ``"laptop"`` or ``"paper"``, for the sizes that are not given.
        init: of the weights: ``"torch"`` for its defaults, or ``"paper"``: uniform in +-0.1.
        seed: of the initial weights.

    Raises:
        ValueError: an unknown name, sizes that make no model, or a location score with a local
            window.
    """
    one_of(SCORES, score=score)
    one_of(WINDOWS, window=window)
    source = len(corpus.source_vocabulary)
    target = len(corpus.target_vocabulary)
    stack = {"layers": layers, "dropout": dropout}
    order = {"bidirectional": bidirectional, "reverse": reverse}
    encoder = StackedLSTM(source, embedding, hidden, **order, **stack)
    d = encoder.annotation_size
    attention = Attention(SCORES[score](hidden, d, max_length), WINDOWS[window](hidden, D))
    reading = {"attention": attention, "annotation": d, "feeding": feeding}
    decoder = LuongDecoder(target, embedding, hidden, **reading, **stack)
    return Translator(encoder, decoder, corpus)
