"""The same numbers, sooner: what PyTorch computes, written for the shapes of this package.

Nothing here is of the papers. What each part saves was measured (the page on costs has the table).
"""

import torch
from torch import Tensor, nn
from torch.autograd import Function
from torch.autograd.function import once_differentiable

ROW = 16  # floats that a processor loads at once: rows of a product are padded to a multiple


class _Aligned(Function):
    """``x W^T + b``, in rows that begin at a multiple of ``ROW``."""

    @staticmethod
    def forward(ctx, x: Tensor, W: Tensor, b: Tensor) -> Tensor:
        ctx.save_for_backward(x, W)
        rows = x.new_empty(len(x), -(-len(W) // ROW) * ROW)[:, : len(W)]
        return torch.addmm(b, x, W.T, out=rows)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        x, W = ctx.saved_tensors
        return grad @ W, grad.T @ x, grad.sum(0)


class OutputLayer(nn.Linear):
    """A linear layer to the words of a vocabulary, of any size: as fast as to a round number.

    A product with 5,921 columns takes up to a fifth longer than one with 5,920.
    """

    def forward(self, x: Tensor) -> Tensor:
        """``W x + b`` of (..., n): (..., V). In mixed precision it is the plain product."""
        if torch.is_autocast_enabled(x.device.type):
            return super().forward(x).float()  # the loss is computed in full precision
        rows = _Aligned.apply(x.reshape(-1, x.size(-1)), self.weight, self.bias)
        return rows.view(*x.shape[:-1], len(self.bias))


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
    be computed once.
    """
    return _CrossEntropy.apply(logits, y)
