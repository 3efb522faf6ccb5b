"""Decoders write the translation word by word. Their ``step`` is the papers' equations.

The order of attending and recurring is a decoder's identity, so each writes it out. State is a
value, passed in and out; a module keeps nothing between calls.
"""

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout

from attnmt.attention import Attention, FixedContext
from attnmt.checks import one_of
from attnmt.encoder import Memory


class Decoder(nn.Module, ABC):
    """What all decoders share: the words' ``embedding`` E, and the loop round ``step``.

    Where nothing attends, ``attention`` is None or a :class:`.FixedContext`, and ``align`` is None.

    Attributes:
        attends: whether ``step`` gives an alignment.
        dropout: share of what ``drop`` is given that training sets to zero.
    """

    embedding: nn.Embedding
    attention: nn.Module | None
    attends: bool
    dropout = 0.0

    def drop(self, x: Tensor) -> Tensor:
        """Dropout, while training."""
        return dropout(x, self.dropout, self.training)

    def embed(self, words: Tensor) -> Tensor:
        """What ``step`` reads of words (...): ``E y``, (..., m)."""
        return self.embedding(words)

    @abstractmethod
    def start(self, memory: Memory, final: Any) -> tuple[Memory, Any]:
        """Prepare the memory, and make the first state of the encoder's final state."""

    @abstractmethod
    def step(self, Ey: Tensor, state: Any, memory: Memory) -> tuple[Tensor, Tensor | None, Any]:
        """One target position: from E y_{i-1} (B, m) to features, align (B, S), the new state."""

    @abstractmethod
    def readout(self, features: Tensor) -> Tensor:
        """Features (..., f) to logits over the target vocabulary (..., V)."""

    def forward(
        self, target_in: Tensor, memory: Memory, final: Any
    ) -> tuple[Tensor, Tensor | None]:
        """Teacher forcing: read the reference (B, T), whatever the model would have said.

        Returns:
            features (B, T, f), align (B, T, S) or None.
        """
        memory, state = self.start(memory, final)
        features: list[Tensor] = []
        aligns: list[Tensor] = []
        Ey = self.embed(target_in)  # (B, T, m)
        for t in range(Ey.size(1)):
            feature, align, state = self.step(Ey[:, t], state, memory)
            features.append(feature)
            if align is not None:
                aligns.append(align)
        return torch.stack(features, dim=1), torch.stack(aligns, dim=1) if aligns else None


class BahdanauState(NamedTuple):
    """``s`` (B, n), the hidden state s_{i-1}; ``time``, the target position i, from 0."""

    s: Tensor
    time: int

    def select(self, rows: Tensor) -> "BahdanauState":
        """The state of some hypotheses, by index."""
        return BahdanauState(self.s[rows], self.time)


class BahdanauDecoder(Decoder):
    """RNNsearch's decoder: attend with s_{i-1}, then recur (Bahdanau et al. 2015, appendix A).

    With a :class:`.FixedContext` in attention's place it is the decoder of RNNencdec. The encoder's
    ``final`` state must have ``hidden_size`` numbers, as the decoder's own.

    The gates are the paper's: ``r`` multiplies s_{i-1} *before* the product with U, and z = 1
    means "take the new". (torch.nn.GRU applies r after that product and swaps the roles of z and
    1 - z, so it cannot be used here.)

    Args:
        vocab_size: V, number of words in the target vocabulary.
        embedding_size: m, size of a word's embedding.
        hidden_size: n, units of the state.
        attention: score and window; its annotations have ``annotation_size`` numbers.
        annotation_size: d, size of an annotation h_j.
        maxout_size: l, units of the output layer after maxout.
        output_state: which state the output layer reads: ``"previous"`` s_{i-1} as in appendix
            A.2.2 and the authors' code, or ``"current"`` s_i as in equation 4 and most later code.
            The paper disagrees with itself here.
        dropout: share of each word's embedding, and of t_i before the product with W_o, that
            training sets to zero. (The paper has none. Later code drops in these two places; the
            recurrence is left alone, as by Zaremba et al. 2014.)
    """

    attention: Attention | FixedContext

    def __init__(
        self,
        vocab_size: int,
        embedding_size: int,
        hidden_size: int,
        attention: Attention | FixedContext,
        annotation_size: int,
        maxout_size: int,
        output_state: str = "previous",
        dropout: float = 0.0,
    ):
        super().__init__()
        one_of(("previous", "current"), output_state=output_state)
        self.output_state = output_state
        self.dropout = dropout
        self.embedding = nn.Embedding(vocab_size, embedding_size)
        self.attention = attention
        self.attends = isinstance(attention, Attention)
        self.W_s = nn.Linear(hidden_size, hidden_size)
        # [W_z; W_r; W] on E y_{i-1} and [C_z; C_r; C] on c_i, with the gates' biases
        self.W_gates = nn.Linear(embedding_size, 3 * hidden_size)
        self.C_gates = nn.Linear(annotation_size, 3 * hidden_size, bias=False)
        self.U_zr = nn.Linear(hidden_size, 2 * hidden_size, bias=False)  # [U_z; U_r]
        self.U = nn.Linear(hidden_size, hidden_size, bias=False)
        # [U_o, V_o, C_o], two numbers for each maxout unit
        self.maxout = nn.Linear(hidden_size + embedding_size + annotation_size, 2 * maxout_size)
        self.W_o = nn.Linear(maxout_size, vocab_size)

    def embed(self, words: Tensor) -> Tensor:
        """``E y`` of words (...), after dropout: (..., m)."""
        return self.drop(self.embedding(words))

    def start(self, memory: Memory, final: Tensor) -> tuple[Memory, BahdanauState]:
        """``s_0 = tanh(W_s h_1(backward))`` (RNNencdec: of ``h_S``), and ``U_a h_j`` for all j."""
        return self.attention.prepare(memory), BahdanauState(torch.tanh(self.W_s(final)), 0)

    def step(
        self, Ey: Tensor, state: BahdanauState, memory: Memory
    ) -> tuple[Tensor, Tensor | None, BahdanauState]:
        """Write target position i.

        Args:
            Ey: E y_{i-1}, (B, m), the embedding of the word written last.
            state: s_{i-1}.
            memory: prepared by ``start``.

        Returns:
            features (B, n + m + d), what the output layer reads; align (B, S), alpha_ij; s_i.
        """
        s_prev = state.s  # (B, n)
        context, align = self.attention(s_prev[:, None], memory, state.time)
        context = context.squeeze(1)  # (B, d)
        align = None if align is None else align.squeeze(1)  # (B, S)

        s = self.recur(self.W_gates(Ey) + self.C_gates(context), s_prev)  # (B, n)
        s_out = s_prev if self.output_state == "previous" else s
        return torch.cat([s_out, Ey, context], dim=-1), align, BahdanauState(s, state.time + 1)

    def recur(self, read: Tensor, s_prev: Tensor) -> Tensor:
        """``s_i`` (B, n) from s_{i-1} and what the gates read of the word and its context (B, 3n).

        ``read`` is [W_z; W_r; W] E y_{i-1} + [C_z; C_r; C] c_i.
        """
        read_z, read_r, read_s = read.chunk(3, dim=-1)  # (B, n) each
        recur_z, recur_r = self.U_zr(s_prev).chunk(2, dim=-1)
        z = torch.sigmoid(read_z + recur_z)  # (B, n)
        r = torch.sigmoid(read_r + recur_r)  # (B, n)
        s_tilde = torch.tanh(read_s + self.U(r * s_prev))  # (B, n)
        return (1 - z) * s_prev + z * s_tilde

    def readout(self, features: Tensor) -> Tensor:
        """``t_i = maxout(U_o s + V_o E y_{i-1} + C_o c_i)``, then ``W_o t_i``: (..., V)."""
        t_tilde = self.maxout(features)  # (..., 2l)
        t = t_tilde.unflatten(-1, (-1, 2)).amax(dim=-1)  # (..., l): the larger of each two
        return self.W_o(self.drop(t))


class LSTMDecoder(Decoder):
    """Layers of LSTM, and an output layer: what the decoders of Sutskever and Luong have in common.

    The output layer is ``W_out``. Luong et al. 2015, equation 6, call it W_s and give it no bias;
    here it has one, and W_s is Bahdanau's, which makes s_0.

    Args:
        vocab_size: V, number of words in the target vocabulary.
        embedding_size: m, size of a word's embedding.
        hidden_size: n, units of each layer.
        layers: LSTMs on top of each other.
        dropout: share of each layer's inputs, and of the output layer's, that training sets to zero
            (Zaremba et al. 2014).
        input_size: numbers that the first layer reads; m, if it reads embeddings alone.
    """

    def __init__(
        self,
        vocab_size: int,
        embedding_size: int,
        hidden_size: int,
        layers: int = 1,
        dropout: float = 0.0,
        input_size: int | None = None,
    ):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, embedding_size)
        self.rnn = nn.LSTM(
            embedding_size if input_size is None else input_size,
            hidden_size,
            layers,
            batch_first=True,
            dropout=dropout if layers > 1 else 0.0,  # between layers
        )
        self.W_out = nn.Linear(hidden_size, vocab_size)
        self.dropout = dropout

    def readout(self, features: Tensor) -> Tensor:
        """``W_out h~_t``: (..., n) to (..., V)."""
        return self.W_out(self.drop(features))


class SutskeverState(NamedTuple):
    """``h`` and ``cell`` (layers, B, n) of the stacked LSTM."""

    h: Tensor
    cell: Tensor

    def select(self, rows: Tensor) -> "SutskeverState":
        """The state of some hypotheses, by index."""
        return SutskeverState(self.h[:, rows], self.cell[:, rows])


class SutskeverDecoder(LSTMDecoder):
    """A stacked LSTM that starts from the encoder's last state (Sutskever et al. 2014).

    The source is read once, at the start, so nothing is fed back but words: the whole sentence goes
    through the LSTM in one call. ``forward`` does so, and ``step`` does one word at a time.

    Args:
        vocab_size, embedding_size, hidden_size, layers, dropout: as of :class:`LSTMDecoder`.
    """

    attention = None
    attends = False

    def start(self, memory: Memory, final: tuple[Tensor, Tensor]) -> tuple[Memory, SutskeverState]:
        """The first state is the encoder's last, layer by layer."""
        return memory, SutskeverState(*final)

    def step(
        self, Ey: Tensor, state: SutskeverState, memory: Memory
    ) -> tuple[Tensor, None, SutskeverState]:
        """Recur: features (B, n) are the top layer's state; there is no align."""
        h_t, (h, cell) = self.rnn(self.drop(Ey)[:, None], (state.h, state.cell))  # h_t: (B, 1, n)
        return h_t.squeeze(1), None, SutskeverState(h, cell)

    def forward(
        self, target_in: Tensor, memory: Memory, final: tuple[Tensor, Tensor]
    ) -> tuple[Tensor, None]:
        """As :meth:`Decoder.forward`, the whole sentence in one call."""
        h, _ = self.rnn(self.drop(self.embedding(target_in)), final)  # (B, T, n)
        return h, None


class LuongState(NamedTuple):
    """``h`` and ``cell`` (layers, B, n) of the stacked LSTM; ``h_tilde`` (B, n); ``time``, from 0.

    ``h_tilde`` is the last attentional vector h~_{t-1}, which input feeding reads.
    """

    h: Tensor
    cell: Tensor
    h_tilde: Tensor
    time: int

    def select(self, rows: Tensor) -> "LuongState":
        """The state of some hypotheses, by index."""
        return LuongState(self.h[:, rows], self.cell[:, rows], self.h_tilde[rows], self.time)


class LuongDecoder(LSTMDecoder):
    """Recur, then attend with h_t: ``h_t -> a_t -> c_t -> h~_t`` (Luong et al. 2015, section 3).

    Args:
        vocab_size, embedding_size, hidden_size, layers, dropout: as of :class:`LSTMDecoder`.
        attention: score and window; its annotations have ``annotation_size`` numbers.
        annotation_size: d, size of an annotation hbar_s.
        feeding: concatenate h~_{t-1} to the embedding of y_{t-1} (section 3.3). The sentence then
            has to be read step by step.
    """

    attention: Attention
    attends = True

    def __init__(
        self,
        vocab_size: int,
        embedding_size: int,
        hidden_size: int,
        attention: Attention,
        annotation_size: int,
        layers: int = 1,
        dropout: float = 0.0,
        feeding: bool = False,
    ):
        input_size = embedding_size + hidden_size if feeding else embedding_size
        super().__init__(vocab_size, embedding_size, hidden_size, layers, dropout, input_size)
        self.feeding = feeding
        self.attention = attention
        self.W_c = nn.Linear(annotation_size + hidden_size, hidden_size, bias=False)

    def start(self, memory: Memory, final: tuple[Tensor, Tensor]) -> tuple[Memory, LuongState]:
        """The encoder's last state, and ``h~_0 = 0``."""
        h, cell = final
        return self.attention.prepare(memory), LuongState(h, cell, torch.zeros_like(h[-1]), 0)

    def attend(self, h: Tensor, memory: Memory, time: int) -> tuple[Tensor, Tensor]:
        """``h~_t = tanh(W_c [c_t; h_t])`` of T states (B, T, n), and a_t (B, T, S)."""
        context, align = self.attention(h, memory, time)  # (B, T, d)
        return torch.tanh(self.W_c(torch.cat([context, h], dim=-1))), align

    def step(
        self, Ey: Tensor, state: LuongState, memory: Memory
    ) -> tuple[Tensor, Tensor, LuongState]:
        """Recur, then :meth:`attend`: features h~_t (B, n), align (B, S), the new state."""
        read = torch.cat([Ey, state.h_tilde], dim=-1) if self.feeding else Ey
        h_t, (h, cell) = self.rnn(self.drop(read)[:, None], (state.h, state.cell))  # h_t: (B, 1, n)
        h_tilde, align = self.attend(h_t, memory, state.time)
        h_tilde, align = h_tilde.squeeze(1), align.squeeze(1)  # (B, n), (B, S)
        return h_tilde, align, LuongState(h, cell, h_tilde, state.time + 1)

    def forward(
        self, target_in: Tensor, memory: Memory, final: tuple[Tensor, Tensor]
    ) -> tuple[Tensor, Tensor | None]:
        """As :meth:`Decoder.forward`: in one call, where the LSTM reads words alone."""
        if self.feeding:
            return super().forward(target_in, memory, final)
        memory, state = self.start(memory, final)
        h, _ = self.rnn(self.drop(self.embedding(target_in)), final)  # (B, T, n)
        return self.attend(h, memory, state.time)
