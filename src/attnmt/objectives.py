"""Objectives of training: the papers' -log p, and what became usual after them.

Smoothed labels and products in bfloat16 change no model, only how its weights are found. So they
are an objective for ``fit``: ``fit(..., objective=CrossEntropy(smoothing=0.1))``.
"""

import os
import sys
from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from attnmt.batches import Batch
from attnmt.checks import one_of
from attnmt.model import Translator, seeded

PRECISIONS = ("no", "bf16")


def likelihood(model: Translator, batch: Batch) -> Tensor:
    """The papers' objective: -log p of every target token of a batch, (tokens,)."""
    return model.token_losses(batch)


@cache
def bfloat16_trains(kind: str) -> bool:
    """Whether an LSTM can learn in bfloat16 on this kind of device: tried once, on a tiny one.

    A processor without the instructions for it may multiply in bfloat16 all the same, slowly; what
    PyTorch's LSTM then lacks is a gradient.
    """
    try:
        with seeded(0), torch.autocast(kind, dtype=torch.bfloat16):
            h, _ = torch.nn.LSTM(8, 8, device=kind)(torch.zeros(2, 2, 8, device=kind))
        h.float().sum().backward()
    except RuntimeError:
        return False
    return True


def precision_on(device: torch.device | str, precision: str) -> str:
    """The precision that a training can have on a device: the one asked for, or float32.

    Args:
        device: that it runs on.
        precision: ``"bf16"`` for products in bfloat16, or ``"no"``. Where the first is asked for
            and cannot be had, one line on stderr says that the training goes on without (of several
            processes that share it, the first one's).

    Raises:
        ValueError: another precision. (float16 would need its losses scaled, and is not offered.)
    """
    one_of(PRECISIONS, precision=precision)
    kind = torch.device(device).type
    if precision == "bf16" and not bfloat16_trains(kind):
        if os.environ.get("RANK", "0") == "0":
            told = f"attnmt: no bfloat16 on this {kind}: training goes on in float32"
            print(told, file=sys.stderr)
        return "no"
    return precision


@dataclass(frozen=True)
class CrossEntropy:
    """:func:`likelihood` with up to two additions.

    Attributes:
        smoothing: the share of the loss that is the mean -log p of *all* words (label smoothing,
            Szegedy et al. 2016, section 7): it keeps the model from being too sure of one. The
            loss of ``train`` is then the smoothed one, that of ``valid`` never is.
        precision: ``"bf16"`` for products in bfloat16; ``"no"`` for none. Weights, losses and the
            optimiser stay in float32, and ``valid`` is measured in it. :func:`.precision_on` says
            which of them a device can have.

    Raises:
        ValueError: an argument out of its range; or, in a call, a device without the precision.
    """

    smoothing: float = 0.0
    precision: str = "no"

    def __post_init__(self) -> None:
        if not 0 <= self.smoothing < 1:
            raise ValueError(f"smoothing must be from 0 to below 1, not {self.smoothing!r}")
        one_of(PRECISIONS, precision=self.precision)

    def __call__(self, model: Translator, batch: Batch) -> Tensor:
        """The smoothed loss of each target token of a batch, (tokens,)."""
        kind = model.device.type
        half = self.precision == "bf16"
        if half and not bfloat16_trains(kind):
            raise ValueError(f"precision bf16: no LSTM can learn in bfloat16 on this {kind}")
        with torch.autocast(kind, dtype=torch.bfloat16, enabled=half):
            features, _ = model(batch)  # (B, T, f)
            logits = model.decoder.readout(features[batch.target_mask])  # (tokens, V)
        return cross_entropy(
            logits.float(),
            batch.target_out[batch.target_mask],
            reduction="none",
            label_smoothing=self.smoothing,
        )
