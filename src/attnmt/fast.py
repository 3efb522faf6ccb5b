"""The same numbers, sooner: every trick of the package, in one place.

Nothing here is of the papers. Each trick is a subclass of a plain module: it has the same
parameters and gives the same numbers and gradients, by other operations. ``with sooner(model):``
lets the parts of a model be of these subclasses for a while. Training, search and measurement do
so; nothing else has to know. What each trick saves was measured (the page on costs has the table).
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.autograd import Function
from torch.autograd.function import once_differentiable
from torch.nn.functional import dropout, embedding, linear

from attnmt.attention import Attention, FixedContext, Global
from attnmt.batches import Batch
from attnmt.decoder import BahdanauDecoder, Decoder, LuongDecoder
from attnmt.encoder import (
    BidirectionalGRU,
    ForwardGRU,
    Memory,
    RecurrentEncoder,
    StackedLSTM,
)
from attnmt.model import Translator

# --------------------------------------------------------------------- encoders, decoders


def pass_gates(gates: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
    """An LSTM's new h and cell (B, n), from the sums in its four gates (B, 4n) and its old cell."""
    i, f, g, o = gates.chunk(4, dim=1)
    cell = f.sigmoid() * cell + i.sigmoid() * g.tanh()
    return o.sigmoid() * cell.tanh(), cell


class LSTM(nn.LSTM):
    """torch.nn.LSTM, ``batch_first``, whose one layer takes a single step by two products."""

    def forward(  # type: ignore[override]  # no packed sentences: they are read by super().read
        self, x: Tensor, state: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Read (B, T, m) from a state; returns the top layer's h (B, T, n), and all h and cells."""
        if state is None or x.size(1) > 1 or self.num_layers > 1:
            return super().forward(x, state)
        h, cell = state
        W, U, b, b_U = self.all_weights[0]
        h, cell = pass_gates(linear(x[:, 0], W, b) + linear(h[0], U, b_U), cell[0])
        return h[:, None], (h[None], cell[None])


class Steps:
    """A matrix M that meets one step after another, and gets its gradient of all steps at once.

    ``x @ Steps(M)`` of x (..., B, n) and M (..., n, m) is x M, (..., B, m). Autograd computes a
    gradient of M's size at each step, and adds it to the others.
    """

    def __init__(self, M: Tensor):
        self.kept: list[tuple[Tensor, Tensor]] = []
        self.M = _OneGradient.apply(M, self.kept)

    def __rmatmul__(self, x: Tensor) -> Tensor:
        if torch.is_autocast_enabled(x.device.type):
            return x @ self.M
        return _Step.apply(x, self.M, self.kept)


LARGE = 2**17  # numbers of a matrix for which Steps pay: it is Python, and autograd is not


def steps(M: Tensor) -> Tensor:
    """M, as :class:`Steps` if it is large. (Only ``x @ M`` may be asked of it.)"""
    return M if M.numel() < LARGE else cast(Tensor, Steps(M))


class _OneGradient(Function):
    """M; its gradient is that of the steps, which they have kept in two parts each."""

    @staticmethod
    def forward(ctx, M: Tensor, kept: list[tuple[Tensor, Tensor]]) -> Tensor:
        ctx.kept = kept
        ctx.set_materialize_grads(False)
        return M.view_as(M)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad: Tensor | None) -> tuple[Tensor | None, None]:
        if ctx.kept:
            x, of_y = (torch.cat(parts, dim=-2) for parts in zip(*ctx.kept, strict=True))
            ctx.kept.clear()
            grad = (of_y.mT @ x).mT
        return grad, None


class _Step(Function):
    """A step's product with M, which leaves M's gradient to :class:`_OneGradient`."""

    @staticmethod
    def forward(ctx, x: Tensor, M: Tensor, kept: list[tuple[Tensor, Tensor]]) -> Tensor:
        ctx.save_for_backward(x, M)
        ctx.kept = kept
        return x @ M

    @staticmethod
    @once_differentiable
    def backward(ctx, grad: Tensor) -> tuple[Tensor, None, None]:
        x, M = ctx.saved_tensors
        ctx.kept.append((x.detach(), grad))
        return grad @ M.mT, None, None


def of_words(ids: Tensor, part: RecurrentEncoder | Decoder, W: Tensor, b: Tensor) -> Tensor:
    """``W E y + b`` of words (B, T) by a part's embedding and dropout: (B, T, b's size).

    Where nothing is dropped each word is multiplied once, however often it stands there.
    """
    if part.training and part.dropout:
        return linear(dropout(part.embedding(ids), part.dropout), W, b)
    different, places = ids.unique(return_inverse=True)
    return embedding(places, linear(part.embedding(different), W, b))


FAR = 1e4  # sigmoid(1e4) = 1 and sigmoid(-1e4) = 0


HOLD: dict[type[nn.Module], tuple[float, ...]] = {  # what padding adds to the sum in each gate
    nn.LSTM: (-FAR, FAR, 0, 0),  # i, f, g, o: c_j = 0 g_j + 1 c_{j-1}
    nn.GRU: (0, FAR, 0),  # r, z, n: h_j = 0 n_j + 1 h_{j-1}
}


class HeldEncoder(RecurrentEncoder):
    """An encoder of one layer that reads padding, and keeps its state as it was.

    Packed sentences cost PyTorch more: an LSTM then takes twice the time, a GRU half as much again.
    """

    def read(self, ids: Tensor, lengths: Tensor) -> tuple[Tensor, Any]:
        """As :meth:`.RecurrentEncoder.read`.

        A further input, 1 on padding, opens and shuts gates, so that the state is held. The
        backward direction waits so at zero until it meets the last real word. (An LSTM's output
        gate is left as it is: its h on padding means nothing.)
        """
        if self.rnn.num_layers > 1 or ids.is_cuda:
            return super().read(ids, lengths)
        real = torch.arange(ids.size(1), device=ids.device) < lengths[:, None]  # (B, S)
        mask = real[..., None]
        is_gru = isinstance(self.rnn, nn.GRU)
        if is_gru and self.rnn.all_weights[0][1].numel() >= LARGE:
            states, final = self.read_large_gru(ids, real)
            return states * mask, final
        embedded = dropout(self.embedding(ids), self.dropout, self.training)  # (B, S, m)
        words = torch.cat([embedded, ~mask], dim=-1)  # (B, S, m + 1)
        n = self.rnn.hidden_size
        gates = embedded.new_tensor(HOLD[nn.GRU if is_gru else nn.LSTM])
        hold = gates.repeat_interleave(n)[:, None]  # a column for all matrices W
        weights: list[Tensor] = []
        for W, *others in self.rnn.all_weights:  # of each direction
            weights += [torch.cat([W, hold], dim=1), *others]
        zero = embedded.new_zeros(len(self.rnn.all_weights), len(words), n)
        options = (True, 1, 0.0, self.training, self.rnn.bidirectional, True)
        if is_gru:
            states, final = torch.gru(words, zero, weights, *options)
            return states * mask, final
        states, _, cell = torch.lstm(words, (zero, zero), weights, *options)
        rows = torch.arange(len(words))
        last = [states[rows, lengths - 1, :n], states[:, 0, n:]]  # forward, backward
        return states * mask, (torch.stack(last[: len(cell)]), cell)

    def read_large_gru(self, ids: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Both directions in one loop, when all words have met the gates; padding changes no h.

        The states (B, S, d), also of padding, and the final ones (directions, B, n).
        """
        all_W, all_U, all_b, all_b_U = zip(*self.rnn.all_weights, strict=True)  # of each direction
        U, b_U = steps(torch.stack(all_U).mT), torch.stack(all_b_U)[:, None]
        read = of_words(ids, self, torch.cat(all_W), torch.cat(all_b))
        n = self.rnn.hidden_size
        turned = [part.flip(1) if d else part for d, part in enumerate(read.split(3 * n, dim=2))]
        gates = torch.stack(turned).unbind(dim=2)  # S times (directions, B, 3n)
        held = torch.stack([~mask, ~mask.flip(1)][: len(turned)])[..., None].unbind(dim=2)
        h = read.new_zeros(len(turned), len(ids), n)
        states = []
        for x, hold in zip(gates, held, strict=True):
            of_h = h @ U + b_U  # (directions, B, 3n)
            r, z = (x[..., : 2 * n] + of_h[..., : 2 * n]).sigmoid().chunk(2, dim=-1)
            new = (x[..., 2 * n :] + r * of_h[..., 2 * n :]).tanh()
            h = torch.where(hold, h, new + z * (h - new))
            states.append(h)
        ways = torch.stack(states, dim=2)  # (directions, B, S, n)
        return torch.cat([way.flip(1) if d else way for d, way in enumerate(ways)], dim=-1), h


class HeldLSTM(HeldEncoder, StackedLSTM):
    """A :class:`.StackedLSTM`, held."""


class HeldForwardGRU(HeldEncoder, ForwardGRU):
    """A :class:`.ForwardGRU`, held."""


class HeldBidirectionalGRU(HeldEncoder, BidirectionalGRU):
    """A :class:`.BidirectionalGRU`, held."""


class ReadyDecoder(BahdanauDecoder):
    """A :class:`.BahdanauDecoder` whose gates have met all words before the loop begins."""

    def forward(
        self, target_in: Tensor, memory: Memory, final: Tensor
    ) -> tuple[Tensor, Tensor | None]:
        """As :meth:`.Decoder.forward`. A context that is the same at all steps is read once."""
        memory, state = self.start(memory, final)
        if type(self.attention) is Attention and type(self.attention.window) is Global:
            memory = replace(memory, annotations=steps(memory.annotations))
        s = state.s
        n = s.size(1)
        C, U_zr, U = (steps(part.weight.T) for part in (self.C_gates, self.U_zr, self.U))
        Ey = self.embed(target_in)  # (B, T, m)
        if self.training and self.dropout:
            read = self.W_gates(Ey)  # (B, T, 3n)
        else:
            read = of_words(target_in, self, self.W_gates.weight, self.W_gates.bias)
        fixed = isinstance(self.attention, FixedContext)
        if fixed:
            context, align = self.attention(s[:, None], memory, 0)  # (B, 1, d)
            read = read + self.C_gates(context)
        states, contexts, aligns = [s], [], []
        for t, gates in enumerate(read.unbind(dim=1)):
            if not fixed:
                context, align = self.attention(s[:, None], memory, t)
                gates = gates + context.squeeze(1) @ C
            read_zr, read_s = gates.split([2 * n, n], dim=1)
            z, r = (read_zr + s @ U_zr).sigmoid().chunk(2, dim=1)  # as self.recur
            s = s + z * ((read_s + (r * s) @ U).tanh() - s)
            states.append(s)
            contexts.append(context)
            aligns.append(align)
        s_out = states[:-1] if self.output_state == "previous" else states[1:]
        features = [torch.stack(s_out, dim=1), Ey, torch.cat(contexts, dim=1)]
        return torch.cat(features, dim=-1), None if align is None else torch.cat(aligns, dim=1)


class FeedingDecoder(LuongDecoder):
    """A :class:`.LuongDecoder` with input feeding and one layer, whose step is taken apart."""

    def forward(
        self, target_in: Tensor, memory: Memory, final: tuple[Tensor, Tensor]
    ) -> tuple[Tensor, Tensor | None]:
        """As :meth:`.LuongDecoder.forward`.

        The LSTM's ``W`` meets ``[E y_{t-1}; h~_{t-1}]``. Its left half needs no step, so it meets
        all words in one product; its right half joins ``U``, which meets h_{t-1}.
        """
        if not self.feeding or self.rnn.num_layers > 1:
            return super().forward(target_in, memory, final)
        memory, state = self.start(memory, final)
        h = state.h[0]  # (B, n), as the other two
        cell = state.cell[0]
        h_tilde = state.h_tilde
        W, U, b, b_U = self.rnn.all_weights[0]
        W_y, W_fed = W.split([self.embedding.embedding_dim, h.size(1)], dim=1)
        WU = Steps(torch.cat([W_fed, U], dim=1).T)  # (2n, 4n)
        read = linear(self.drop(self.embedding(target_in)), W_y, b + b_U)  # (B, T, 4n)
        features: list[Tensor] = []
        aligns: list[Tensor] = []
        for t, Wy in enumerate(read.unbind(dim=1)):
            gates = Wy + torch.cat([self.drop(h_tilde), h], dim=1) @ WU
            h, cell = pass_gates(gates, cell)
            h_tilde, align = (each.squeeze(1) for each in self.attend(h[:, None], memory, t))
            features.append(h_tilde)
            aligns.append(align)
        return torch.stack(features, dim=1), torch.stack(aligns, dim=1)


# ------------------------------------------------------------------------------ losses


class _CrossEntropy(Function):
    """``log sum_k exp(x_k) - x_y``, and its gradient ``softmax(x) - 1_y``, where x was."""

    @staticmethod
    def forward(ctx, x: Tensor, y: Tensor) -> Tensor:
        x = x.detach()
        of_y = x.gather(1, y[:, None])
        largest = x.amax(dim=1, keepdim=True)
        total = x.sub_(largest).exp_().sum(dim=1, keepdim=True)
        ctx.save_for_backward(x, y, total)
        ctx.used = False
        return (largest + total.log() - of_y).squeeze(1)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad: Tensor) -> tuple[Tensor, None]:
        if ctx.used:
            raise RuntimeError("the logits are used up: compute the losses again for each gradient")
        ctx.used = True
        x, y, total = ctx.saved_tensors
        x.mul_(grad[:, None] / total)
        return x.scatter_add_(1, y[:, None], -grad[:, None]), None


def cross_entropy_(logits: Tensor, y: Tensor) -> Tensor:
    """-log p of each word y (N,) by its logits (N, V), which are used up: (N,).

    As torch.nn.functional.cross_entropy, in one (N, V) of memory instead of three. The gradient can
    be computed once. In mixed precision it is computed in float32.
    """
    if logits.dtype == torch.bfloat16:
        logits = logits.float()
    return _CrossEntropy.apply(logits, y)


@contextmanager
def without_denormals() -> Iterator[None]:
    """Numbers below 1e-38 are taken for 0 inside, where the processor can do so.

    A gradient that has died away over many words, or Adam's mean of its squares, becomes as small
    as that, and a processor computes many times slower with such "denormal" numbers. No weight
    feels them. As it was outside, it is again afterwards.
    """
    flushed = sys.float_info.min / 2 == 0  # computed in this thread, so as it is set now
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(flushed)


class InPlaceTranslator(Translator):
    """A :class:`.Translator` whose losses take the memory of its logits."""

    def token_losses(self, batch: Batch) -> Tensor:
        """As :meth:`.Translator.token_losses`, by :func:`cross_entropy_`."""
        features, _ = self(batch)
        logits = self.decoder.readout(features[batch.target_mask])  # (tokens, V)
        return cross_entropy_(logits, batch.target_out[batch.target_mask])


# ------------------------------------------------------------------------------ the switch

SOONER: dict[type[nn.Module], type[nn.Module]] = {
    nn.LSTM: LSTM,
    StackedLSTM: HeldLSTM,
    ForwardGRU: HeldForwardGRU,
    BidirectionalGRU: HeldBidirectionalGRU,
    BahdanauDecoder: ReadyDecoder,
    LuongDecoder: FeedingDecoder,
    Translator: InPlaceTranslator,
}


@contextmanager
def sooner(model: nn.Module) -> Iterator[None]:
    """Inside, the model computes the same numbers sooner; afterwards it is as it was.

    Each part of it whose class stands in ``SOONER`` is of the subclass meanwhile. Parts of other
    classes, also subclasses that a reader wrote, stay as they are.
    """
    plain = {part: type(part) for part in model.modules() if type(part) in SOONER}
    try:
        for part, kind in plain.items():
            part.__class__ = SOONER[kind]
        yield
    finally:
        for part, kind in plain.items():
            part.__class__ = kind
