"""The same numbers, sooner: what PyTorch computes, written for the shapes of these models.

Nothing here is of the papers. What each part saves was measured (the page on costs has the table).
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd import Function
from torch.autograd.function import once_differentiable
from torch.nn.functional import linear

LARGE = 2**21  # multiplications of a product from which on oneDNN is the faster library


def has_onednn() -> bool:
    """Whether this PyTorch can be asked for oneDNN's product. The operator is a private one."""
    there = torch.backends.mkldnn.is_available()
    return there and hasattr(torch.ops.mkldnn, "_linear_pointwise")


def onednn_pays() -> bool:
    """Whether oneDNN's products are faster than PyTorch's own choice on this processor.

    Measured: with AVX-512 up to twice as fast, with AVX2 alone a tenth slower.
    """
    return has_onednn() and torch.backends.cpu.get_cpu_capability() == "AVX512"


ONEDNN = onednn_pays()  # asked once


def product(x: Tensor, W: Tensor, b: Tensor | None = None) -> Tensor:
    """``x W^T + b`` of x (..., n) and W (m, n): (..., m).

    As torch.nn.functional.linear, but a large product of float32 on a CPU is left to oneDNN where
    that pays (:func:`onednn_pays`). PyTorch would ask MKL, which uses half the width of AVX-512 on
    a processor that is not Intel's.
    """
    ours = ONEDNN and x.device.type == "cpu" and x.dtype == W.dtype == torch.float32
    ours = ours and not torch.is_autocast_enabled("cpu")  # else the precision is PyTorch's choice
    if ours and torch.backends.mkldnn.enabled and x.numel() * len(W) >= LARGE:
        return _Product.apply(x.contiguous(), W.contiguous(), b)  # other strides are slow
    return linear(x, W, b)


class _Product(Function):
    """The three products of a linear layer, by oneDNN."""

    @staticmethod
    def forward(ctx, x: Tensor, W: Tensor, b: Tensor | None) -> Tensor:
        ctx.save_for_backward(x, W)
        return by_onednn(x, W, b)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad: Tensor) -> tuple[Tensor | None, ...]:
        x, W = ctx.saved_tensors
        of_x, of_W, of_b = ctx.needs_input_grad
        rows = grad.reshape(-1, len(W)).contiguous()
        return (
            by_onednn(rows, W.T, None).view_as(x) if of_x else None,
            by_onednn(x.reshape(-1, W.size(1)).T, rows.T, None).T if of_W else None,
            rows.sum(0) if of_b else None,
        )


def by_onednn(x: Tensor, W: Tensor, b: Tensor | None = None) -> Tensor:
    """``x W^T + b`` by oneDNN, without a gradient."""
    return torch.ops.mkldnn._linear_pointwise(x, W, b, "none", [], "")


class Linear(nn.Linear):
    """torch.nn.Linear, by :func:`product`."""

    def forward(self, x: Tensor) -> Tensor:
        """``W x + b`` of (..., n): (..., m)."""
        return product(x, self.weight, self.bias)


def pass_gates(gates: Tensor, c: Tensor) -> tuple[Tensor, Tensor]:
    """An LSTM's new h and c (B, n), by what its four gates are computed from (B, 4n), and its c."""
    i, f, g, o = gates.chunk(4, dim=1)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c


class LSTM(nn.LSTM):
    """torch.nn.LSTM, ``batch_first``, whose one layer takes a single step by two products."""

    def forward(
        self, x: Tensor, state: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Read (B, T, m) from a state; returns the top layer's h (B, T, n), and all h and c."""
        if state is None or x.size(1) > 1 or self.num_layers > 1:
            return super().forward(x, state)
        h, c = state
        W, U, b, b_U = self.all_weights[0]
        h, c = pass_gates(product(x[:, 0], W, b) + product(h[0], U, b_U), c[0])
        return h[:, None], (h[None], c[None])


def fed(decoder: Any, target_in: Tensor, memory: Any, state: Any) -> tuple[Tensor, Tensor]:
    """The loop of a :class:`.LuongDecoder` with input feeding and one layer, its step taken apart.

    ``W`` meets ``[E y_{t-1}; h~_{t-1}]``. Its left half needs no step, so it meets all words in one
    product; its right half joins ``U``, which meets h_{t-1}.

    Args:
        decoder: the decoder.
        target_in: what it reads, (B, T).
        memory, state: as its ``start`` gives them.

    Returns:
        features (B, T, n), align (B, T, S), as of its ``step``.
    """
    h = state.h[0]  # (B, n), as the other two
    c = state.c[0]
    h_tilde = state.h_tilde
    W, U, *biases = decoder.rnn.all_weights[0]
    W_y, W_fed = W.split([decoder.embedding.embedding_dim, h.size(1)], dim=1)
    WU = torch.cat([W_fed, U], dim=1)  # (4n, 2n)
    read = product(decoder.drop(decoder.embedding(target_in)), W_y, sum(biases))  # (B, T, 4n)
    features: list[Tensor] = []
    aligns: list[Tensor] = []
    for t, Wy in enumerate(read.unbind(dim=1)):
        gates = Wy + product(torch.cat([decoder.drop(h_tilde), h], dim=1), WU)
        h, c = pass_gates(gates, c)
        h_tilde, align = (each.squeeze(1) for each in decoder.attend(h[:, None], memory, t))
        features.append(h_tilde)
        aligns.append(align)
    return torch.stack(features, dim=1), torch.stack(aligns, dim=1)


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
