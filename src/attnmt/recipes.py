"""Recipes: how a model is trained, as data; those of the papers have names."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, get_args

import torch

from attnmt.checks import one_of, positive, whole

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
        positive(learning_rate=self.learning_rate, clip=self.clip)
        for name in ("optimiser", "per", "keep"):
            one_of(get_args(Recipe.__annotations__[name]), **{name: getattr(self, name)})

    def learning_rate_of(self, epoch: int, done: float = 0.0) -> float:
        """The learning rate in an epoch, counted from 1, of which a share is done."""
        late = 0 if self.halve_after is None else max(0, epoch - self.halve_after)
        halvings = -(-late // self.halve_every)  # rounded up
        left = max(0.0, 1 - (epoch - 1 + done) / self.epochs) if self.fall else 1.0
        return left * self.learning_rate / 2**halvings


# Bahdanau et al. 2015, appendix B.2; clip 1 and a pool of 20 are the default. The paper trains by
# the hour: the number of epochs is ours.
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
