"""The same numbers, sooner: what PyTorch computes, written for the shapes of these models.

Nothing here is of the papers. What each part saves was measured (the page on costs has the table).
"""

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
