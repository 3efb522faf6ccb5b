"""Decoders write the translation word by word. Their ``step`` is the papers' equations.

The order of attending and recurring is a decoder's identity, so each writes it out. State is a
value, passed in and out; a module keeps nothing between calls.
"""

from abc import ABC, abstractmethod
from typing import NamedTuple

import torch
from torch import Tensor, nn

from attnmt.attention import Attention
from attnmt.encoder import Memory


class Decoder(nn.Module, ABC):
    """What all decoders share: the words' ``embedding`` E, and the loop round ``step``."""

    embedding: nn.Embedding

    @abstractmethod
    def start(self, memory: Memory, final: Tensor):
        """Prepare the memory, and make the first state of the encoder's final state."""

    @abstractmethod
    def step(self, Ey: Tensor, state, memory: Memory):
        """One target position: from E y_{i-1} (B, m) to features, align (B, S), the new state."""

    @abstractmethod
    def readout(self, features: Tensor) -> Tensor:
        """Features (..., f) to logits over the target vocabulary (..., V)."""

    def forward(self, target_in: Tensor, memory: Memory, final: Tensor):
        """Teacher forcing: read the reference (B, T), whatever the model would have said.

        Returns:
            features (B, T, f), align (B, T, S).
        """
        memory, state = self.start(memory, final)
        features, aligns = [], []
        for Ey in self.embedding(target_in).unbind(dim=1):  # all words embedded at once: faster
            feature, align, state = self.step(Ey, state, memory)
            features.append(feature)
            aligns.append(align)
        return torch.stack(features, dim=1), torch.stack(aligns, dim=1)


class BahdanauState(NamedTuple):
    """``s`` (B, n), the hidden state s_{i-1}; ``time``, the target position i, from 0."""

    s: Tensor
    time: int

    def select(self, rows: Tensor) -> "BahdanauState":
        """The state of some hypotheses, by index."""
        return BahdanauState(self.s[rows], self.time)


class BahdanauDecoder(Decoder):
    """RNNsearch's decoder: attend with s_{i-1}, then recur (Bahdanau et al. 2015, appendix A).

    The gates are the paper's: ``r`` multiplies s_{i-1} *before* the product with U, and z = 1
    means "take the new". (torch.nn.GRU applies r after that product and swaps the roles of z and
    1 - z, so it cannot be used here.)

    Args:
        words: V, size of the target vocabulary.
        embedding: m, size of a word's embedding.
        hidden: n, units of the state.
        attention: score and window; its annotations have ``annotation`` numbers.
        annotation: size of an annotation h_j.
        maxout: l, units of the output layer after maxout.
        output_state: which state the output layer reads: ``"previous"`` s_{i-1} as in appendix
            A.2.2 and the authors' code, or ``"current"`` s_i as in equation 4 and most later code.
            The paper disagrees with itself here.
    """

    def __init__(
        self,
        words: int,
        embedding: int,
        hidden: int,
        attention: Attention,
        annotation: int,
        maxout: int,
        output_state: str = "previous",
    ):
        super().__init__()
        if output_state not in ("previous", "current"):
            raise ValueError(f"output_state must be 'previous' or 'current', not {output_state!r}")
        self.output_state = output_state
        self.embedding = nn.Embedding(words, embedding)
        self.attention = attention
        self.W_s = nn.Linear(hidden, hidden)
        # [W_z; W_r; W] on E y_{i-1} and [C_z; C_r; C] on c_i, with the gates' biases
        self.W_gates = nn.Linear(embedding, 3 * hidden)
        self.C_gates = nn.Linear(annotation, 3 * hidden, bias=False)
        self.U_zr = nn.Linear(hidden, 2 * hidden, bias=False)  # [U_z; U_r]
        self.U = nn.Linear(hidden, hidden, bias=False)
        # [U_o, V_o, C_o], two numbers for each maxout unit
        self.maxout = nn.Linear(hidden + embedding + annotation, 2 * maxout)
        self.W_o = nn.Linear(maxout, words)

    def start(self, memory: Memory, final: Tensor) -> tuple[Memory, BahdanauState]:
        """``s_0 = tanh(W_s h_1(backward))``, and ``U_a h_j`` for all j."""
        return self.attention.prepare(memory), BahdanauState(torch.tanh(self.W_s(final)), 0)

    def step(
        self, Ey: Tensor, state: BahdanauState, memory: Memory
    ) -> tuple[Tensor, Tensor, BahdanauState]:
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
        context, align = context.squeeze(1), align.squeeze(1)  # (B, d), (B, S)

        read_z, read_r, read_s = (self.W_gates(Ey) + self.C_gates(context)).chunk(3, dim=-1)
        recur_z, recur_r = self.U_zr(s_prev).chunk(2, dim=-1)
        z = torch.sigmoid(read_z + recur_z)  # (B, n)
        r = torch.sigmoid(read_r + recur_r)  # (B, n)
        s_tilde = torch.tanh(read_s + self.U(r * s_prev))  # (B, n)
        s = (1 - z) * s_prev + z * s_tilde  # (B, n)

        s_out = s_prev if self.output_state == "previous" else s
        return torch.cat([s_out, Ey, context], dim=-1), align, BahdanauState(s, state.time + 1)

    def readout(self, features: Tensor) -> Tensor:
        """``t_i = maxout(U_o s + V_o E y_{i-1} + C_o c_i)``, then ``W_o t_i``: (..., V)."""
        t_tilde = self.maxout(features)  # (..., 2l)
        t = t_tilde.unflatten(-1, (-1, 2)).amax(dim=-1)  # (..., l): the larger of each two
        return self.W_o(t)
