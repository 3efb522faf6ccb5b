"""Recipes and objectives: how a model is trained, as data; the papers' recipes have names.

The papers' objective is :func:`likelihood`. Smoothed labels and products in bfloat16 change no
model, only how its weights are found, so they are an objective for :func:`attnmt.training.fit`:
``fit(..., objective=CrossEntropy(label_smoothing=0.1))``.
"""

import math
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial
from numbers import Real
from typing import Any, Literal, get_args

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from attnmt.batches import Batch
from attnmt.checks import ArgumentError, at_least, flag, one_of, positive, whole
from attnmt.model import Translator, seeded

PRECISIONS = ("no", "bf16")
OPTIMISERS: dict[str, Callable[..., torch.optim.Optimizer]] = {
    "adam": partial(torch.optim.Adam, fused=True),
    "adadelta": partial(torch.optim.Adadelta, rho=0.95, eps=1e-6),
    "sgd": torch.optim.SGD,
}


@dataclass(frozen=True)
class Recipe:
    """How to train. The default is a quick recipe for a laptop, neither paper's.

    A recipe says nothing of the model: how its weights start (``init="paper"``) and how much
    dropout there is are arguments of its constructor.

    >>> Recipe(epochs=4, learning_rate=0.004).learning_rate_of(4)
    0.001

    Attributes:
        epochs: times that all of ``train`` is read.
        batch_size: pairs a batch.
        learning_rate: the step size, of which each optimiser makes its own use.
        halve_after: the learning rate is halved at the start of every epoch after this one (Luong
            et al. 2015, section 4.1, do so for SGD); None keeps it constant.
        halve_every: epochs between two halvings.
        fall: the learning rate also falls from step to step, in a straight line that ends at 0.
        clip: the gradient is rescaled when its norm is larger than this.
        pool: batches whose sentences are sorted by length together (Bahdanau et al. 2015: 20).
        optimiser: ``"adam"``, ``"adadelta"`` (rho 0.95, epsilon 1e-6) or ``"sgd"``.
        per: the loss of a batch is a sum over its tokens, divided by the number of its tokens or of
            its sentences. A learning rate and a clip for one do not carry over to the other: the
            gradient per sentence is larger, by as many times as a sentence has tokens.
        keep: the weights that the model has in the end: those of the last epoch, or of the epoch
            with the best, that is the lowest, perplexity on ``valid``.
    """

    epochs: int = 5
    batch_size: int = 64
    learning_rate: float = 4e-3
    halve_after: int | None = 2
    halve_every: int = 1
    fall: bool = False
    clip: float = 1.0
    pool: int = 20
    optimiser: Literal["adam", "adadelta", "sgd"] = "adam"
    per: Literal["token", "sentence"] = "token"
    keep: Literal["last", "best"] = "last"

    def __post_init__(self) -> None:
        whole(1, epochs=self.epochs, batch_size=self.batch_size, pool=self.pool)
        whole(1, halve_every=self.halve_every)
        if self.halve_after is not None:
            whole(0, halve_after=self.halve_after)
        flag(fall=self.fall)
        positive(learning_rate=self.learning_rate, clip=self.clip)
        at_least(0, learning_rate=self.learning_rate)  # a number: infinity is none
        for name in ("optimiser", "per", "keep"):
            one_of(get_args(Recipe.__annotations__[name]), **{name: getattr(self, name)})

    def learning_rate_of(self, epoch: int, done: float = 0.0) -> float:
        """The learning rate in an epoch, counted from 1, of which a share is done."""
        late = 0 if self.halve_after is None else max(0, epoch - self.halve_after)
        halvings = -(-late // self.halve_every)  # rounded up
        left = max(0.0, 1 - (epoch - 1 + done) / self.epochs) if self.fall else 1.0
        return left * math.ldexp(self.learning_rate, -int(halvings))  # 2**1024 is no float


# Bahdanau et al. 2015, appendix B.2; clip 1 and a pool of 20 are the default. The epochs are those
# of RNNsearch-50 trained until dev stopped improving (Table 2).
BAHDANAU = Recipe(
    epochs=5,
    batch_size=80,
    learning_rate=1.0,
    halve_after=None,
    clip=1.0,
    optimiser="adadelta",
    per="sentence",
    keep="best",
)
# Luong et al. 2015, section 4.1; per sentence is from the authors' code. That code leaves the
# embeddings out of the gradient's norm; here all weights are in it, as the paper reads. The pool is
# ours.
LUONG = Recipe(
    epochs=10,
    batch_size=128,
    learning_rate=1.0,
    halve_after=5,
    clip=5.0,
    optimiser="sgd",
    per="sentence",
    keep="best",
)
LUONG_DROPOUT = replace(LUONG, epochs=12, halve_after=8)  # for models made with dropout=0.2
RECIPES = {"laptop": Recipe(keep="best"), "bahdanau": BAHDANAU, "luong": LUONG}
RECIPES["luong-dropout"] = LUONG_DROPOUT

# ------------------------------------------------------------------------- objectives


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
            line = f"attnmt: no bfloat16 on this {kind}: training goes on in float32"
            print(line, file=sys.stderr)
        return "no"
    return precision


@dataclass(frozen=True)
class CrossEntropy:
    """:func:`likelihood` with up to two additions.

    Attributes:
        label_smoothing: the share of the loss that is the mean -log p of *all* words (Szegedy et
            al. 2016, section 7): it keeps the model from being too sure of one. The loss of
            ``train`` is then the smoothed one, that of ``valid`` never is.
        precision: ``"bf16"`` for products in bfloat16; ``"no"`` for none. Weights, losses and the
            optimiser stay in float32, and ``valid`` is measured in it. :func:`.precision_on` says
            which of them a device can have.

    Raises:
        ValueError: an argument out of its range; or, in a call, a device without the precision.
    """

    label_smoothing: float = 0.0
    precision: str = "no"

    def __post_init__(self) -> None:
        value: Any = self.label_smoothing
        if not isinstance(value, Real) or isinstance(value, bool) or not 0 <= float(value) < 1:
            raise ArgumentError(f"label_smoothing must be from 0 to below 1, not {value!r}")
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
            label_smoothing=self.label_smoothing,
        )
