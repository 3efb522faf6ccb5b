"""Whole models: an encoder, a decoder, two vocabularies; constructors named after the papers."""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from numbers import Real
from types import SimpleNamespace
from typing import Any, Protocol

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from attnmt.attention import SCORES, WINDOWS, Additive, Attention, FixedContext, Global
from attnmt.batches import Batch, Source
from attnmt.checks import as_python, file_name, flag, one_of, whole
from attnmt.decoder import BahdanauDecoder, Decoder, LuongDecoder, SutskeverDecoder
from attnmt.encoder import BidirectionalGRU, ForwardGRU, Memory, StackedLSTM
from attnmt.files import read_tensors, write_tensors
from attnmt.initialisation import init_as_bahdanau, init_uniformly
from attnmt.vocab import Vocabulary


class Vocabularies(Protocol):
    """All that a constructor needs of a corpus."""

    source_vocabulary: Vocabulary
    target_vocabulary: Vocabulary


class Translator(nn.Module):
    """A model that translates: p(y | x), word by word.

    >>> from attnmt import grammar_corpus, rnnsearch
    >>> model = rnnsearch(grammar_corpus(train=20, valid=2, test=3, long=0, names=0), hidden=8)
    >>> model.config["model"], model.attends
    ('rnnsearch', True)

    Args:
        encoder: source words to memory and final state.
        decoder: memory and final state to target words.
        vocabularies: a corpus, or whatever has its ``source_vocabulary`` and ``target_vocabulary``.

    Attributes:
        config: the constructor's name and arguments, so that a file can be read back; empty for a
            model put together by hand, which cannot be saved.
        trained_on: what is known of the corpus that it was trained on (:attr:`.Corpus.facts`); None
            for a model that was never trained, or saved by a version that kept nothing of it.
    """

    def __init__(self, encoder: nn.Module, decoder: Decoder, vocabularies: Vocabularies):
        super().__init__()
        self.encoder = encoder
        self.decoder = decoder
        self.source_vocabulary = vocabularies.source_vocabulary
        self.target_vocabulary = vocabularies.target_vocabulary
        self.config: dict[str, Any] = {}
        self.trained_on: dict[str, Any] | None = None

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
        return cross_entropy(logits, batch.target_out[batch.target_mask], reduction="none")

    def translate(
        self,
        text: str | Sequence[str],
        beam: int = 5,
        length_penalty: float = 0.0,
        tokeniser: str | None = None,
    ) -> Any:
        """Translate a raw sentence, or a list of them: see :func:`.decoding.translate`.

        >>> from attnmt import Pair, Corpus, rnnsearch
        >>> pairs = [Pair(("ein", "Satz", "."), ("a", "phrase", "."), "ein Satz.", "a phrase.")]
        >>> model = rnnsearch(Corpus("one", "de", "en", pairs, pairs, pairs, vocabulary_size=9))
        >>> found = model.translate("Ein Satz.")
        >>> found.source, found.alignment.shape == (len(found.words), 3)
        (['ein', 'Satz', '.'], True)
        """
        from attnmt.decoding import translate  # here, since it imports this module

        return translate(self, text, beam, length_penalty, tokeniser)

    def save(self, path: str | os.PathLike) -> None:
        """Write weights, configuration and vocabularies as one safetensors file."""
        file_name(path=path)
        if not self.config:
            raise ValueError("a model put together by hand cannot be saved: use a constructor")
        metadata = {"config": json.dumps(self.config, default=as_python)}
        for side in SIDES:
            metadata[side] = json.dumps(getattr(self, side).arguments)
        if self.trained_on:
            metadata["trained_on"] = json.dumps(self.trained_on)
        write_tensors(path, self.state_dict(), format=MODEL_FORMAT, metadata=metadata)

    @classmethod
    def load(
        cls, path: str | os.PathLike, constructors: Mapping[str, "Constructor"] | None = None
    ) -> "Translator":
        """Read a model that :meth:`save` wrote. The file is data only; it cannot run code.

        Args:
            path: of the file.
            constructors: that may have made it, by their names; those of this module if not given.

        Raises:
            FileNotFoundError: no such file.
            ValueError: the file is damaged, or no model of this package.
        """
        file_name(path=path)
        if not os.path.exists(path):
            raise FileNotFoundError(f"no model at {path}")
        metadata, weights = read_tensors(path, MODEL_FORMAT, "a model that attnmt saved")
        try:
            config = json.loads(metadata["config"])
            corpus = vocabularies_of(metadata)
            with torch.device("meta"):  # no weights are drawn, only to be replaced
                model = (constructors or CONSTRUCTORS)[config.pop("model")](corpus, **config)
            model.load_state_dict(weights, assign=True)  # in the precision that they had
            model.trained_on = json.loads(metadata.get("trained_on", "null"))
        except (KeyError, TypeError, ValueError, RuntimeError) as error:
            why = f"{type(error).__name__}: {error}"
            raise ValueError(f"{path} does not fit this version of attnmt: {why}") from error
        return model


MODEL_FORMAT = "attnmt-model-1"
SIDES = ("source_vocabulary", "target_vocabulary")


def vocabularies_of(metadata: dict[str, str]) -> Vocabularies:
    """The two vocabularies that :meth:`Translator.save` wrote into a file's metadata."""
    found = {side: Vocabulary(**json.loads(metadata[side])) for side in SIDES}
    return SimpleNamespace(**found)


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
        torch.default_generator.manual_seed(int(seed))
        yield


# -------------------------------------------------------------- the models, named as in the papers

Constructor = Callable[..., Translator]
LAPTOP = 128  # the default of ``hidden``, and so of all sizes but ``layers``


def chosen(sizes: str, **asked: tuple[int | None, int]) -> dict[str, int]:
    """The sizes of a model: those that are given, and the paper's or a laptop's for the others.

    Args:
        sizes: ``"paper"``, or ``"laptop"``: one layer, and every other size as ``hidden``.
        asked: of each size what was given, or None, and the paper's.

    Raises:
        ValueError: another word for ``sizes``, or a size that is no whole number from 1.
    """
    one_of(("laptop", "paper"), sizes=sizes)
    found: dict[str, int] = {}
    for name, (given, paper) in asked.items():
        laptop = 1 if name == "layers" else found.get("hidden", LAPTOP)
        usual = paper if sizes == "paper" else laptop
        size = usual if given is None else given
        whole(1, **{name: size})
        found[name] = int(size)  # numpy's become Python's
    return found


def check_options(corpus: Vocabularies, init: str, dropout: float, seed: int) -> None:
    """Refuse what no constructor can make a model with.

    Raises:
        TypeError: the corpus has no vocabularies.
        ValueError: an unknown initialisation, a dropout that is no share, a seed that is no number.
    """
    if not all(hasattr(corpus, side) for side in SIDES):
        raise TypeError(f"corpus must be a corpus, such as grammar_corpus() makes, not {corpus!r}")
    one_of(("torch", "paper"), init=init)
    whole(0, seed=seed)
    if not isinstance(dropout, Real) or isinstance(dropout, bool) or not 0 <= float(dropout) < 1:
        raise ValueError(f"dropout must be from 0 to below 1, not {dropout!r}")


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

    >>> from attnmt import grammar_corpus
    >>> corpus = grammar_corpus(train=20, valid=2, test=3, long=0, names=0)
    >>> rnnencdec(corpus, hidden=8).attends
    False

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
    check_options(corpus, init, dropout, seed)
    size = chosen(sizes, hidden=(hidden, 1000), embedding=(embedding, 620), maxout=(maxout, 500))
    hidden, embedding, maxout = size.values()
    with seeded(seed):
        encoder = ForwardGRU(len(corpus.source_vocabulary), embedding, hidden, dropout)
        decoder = BahdanauDecoder(
            len(corpus.target_vocabulary),
            embedding,
            hidden,
            attention=FixedContext(),
            annotation_size=encoder.annotation_size,
            maxout_size=maxout,
            output_state=output_state,
            dropout=dropout,
        )
        model = Translator(encoder, decoder, corpus)
        if init == "paper":
            init_as_bahdanau(model)
    model.config = {"model": "rnnencdec"} | size
    model.config |= {"output_state": output_state, "dropout": dropout, "init": init, "seed": seed}
    return model


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

    >>> from attnmt import grammar_corpus
    >>> corpus = grammar_corpus(train=20, valid=2, test=3, long=0, names=0)
    >>> rnnsearch(corpus, hidden=8).attends
    True

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
    check_options(corpus, init, dropout, seed)
    size = chosen(
        sizes,
        hidden=(hidden, 1000),
        embedding=(embedding, 620),
        alignment=(alignment, 1000),
        maxout=(maxout, 500),
    )
    hidden, embedding, alignment, maxout = size.values()
    with seeded(seed):
        encoder = BidirectionalGRU(len(corpus.source_vocabulary), embedding, hidden, dropout)
        score = Additive(hidden, encoder.annotation_size, alignment)
        decoder = BahdanauDecoder(
            len(corpus.target_vocabulary),
            embedding,
            hidden,
            attention=Attention(score, Global()),
            annotation_size=encoder.annotation_size,
            maxout_size=maxout,
            output_state=output_state,
            dropout=dropout,
        )
        model = Translator(encoder, decoder, corpus)
        if init == "paper":
            init_as_bahdanau(model)
    model.config = {"model": "rnnsearch"} | size
    model.config |= {"output_state": output_state, "dropout": dropout, "init": init, "seed": seed}
    return model


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

    >>> from attnmt import grammar_corpus
    >>> corpus = grammar_corpus(train=20, valid=2, test=3, long=0, names=0)
    >>> sutskever(corpus, hidden=8).attends
    False

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
    flag(reverse=reverse)
    check_options(corpus, init, dropout, seed)
    size = chosen(sizes, hidden=(hidden, 1000), embedding=(embedding, 1000), layers=(layers, 4))
    hidden, embedding, layers = size.values()
    with seeded(seed):
        encoder = StackedLSTM(
            len(corpus.source_vocabulary),
            embedding,
            hidden,
            layers,
            reverse=reverse,
            dropout=dropout,
        )
        decoder = SutskeverDecoder(
            len(corpus.target_vocabulary), embedding, hidden, layers, dropout
        )
        model = Translator(encoder, decoder, corpus)
        if init == "paper":
            init_uniformly(model, 0.08)
    model.config = {"model": "sutskever"} | size
    model.config |= {"reverse": reverse, "dropout": dropout, "init": init, "seed": seed}
    return model


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

    >>> from attnmt import grammar_corpus
    >>> corpus = grammar_corpus(train=20, valid=2, test=3, long=0, names=0)
    >>> luong(corpus, score="general", window="local-p", hidden=8).attends
    True

    Args:
        corpus: gives the vocabularies.
        score: a name in :data:`.SCORES`, such as ``"dot"``, ``"general"`` or ``"concat"``.
        window: a name in ``WINDOWS``: ``"global"``, ``"local-m"`` or ``"local-p"``.
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
    whole(0, D=D)
    whole(1, max_length=max_length)
    flag(feeding=feeding, bidirectional=bidirectional, reverse=reverse)
    check_options(corpus, init, dropout, seed)
    size = chosen(sizes, hidden=(hidden, 1000), embedding=(embedding, 1000), layers=(layers, 4))
    hidden, embedding, layers = size.values()
    with seeded(seed):
        encoder = StackedLSTM(
            len(corpus.source_vocabulary),
            embedding,
            hidden,
            layers,
            bidirectional=bidirectional,
            reverse=reverse,
            dropout=dropout,
        )
        attention = Attention(
            SCORES[score].of(hidden, encoder.annotation_size, max_length),
            WINDOWS[window](hidden, D),
        )
        decoder = LuongDecoder(
            len(corpus.target_vocabulary),
            embedding,
            hidden,
            attention=attention,
            annotation_size=encoder.annotation_size,
            layers=layers,
            dropout=dropout,
            feeding=feeding,
        )
        model = Translator(encoder, decoder, corpus)
        if init == "paper":
            init_uniformly(model, 0.1)
    model.config = {"model": "luong", "score": score, "window": window, "D": D, "feeding": feeding}
    model.config |= size | {"bidirectional": bidirectional, "reverse": reverse, "dropout": dropout}
    model.config |= {"max_length": max_length, "init": init, "seed": seed}
    return model


CONSTRUCTORS: dict[str, Constructor] = {
    "rnnencdec": rnnencdec,
    "rnnsearch": rnnsearch,
    "sutskever": sutskever,
    "luong": luong,
}
