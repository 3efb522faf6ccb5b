"""Training: a recipe is data, ``fit`` follows it and returns the history."""

import math
import time
from dataclasses import dataclass, field

import torch
from tqdm import tqdm

from attnmt.batches import batches
from attnmt.corpus import Corpus
from attnmt.metrics import perplexity
from attnmt.model import Translator, seeded


@dataclass(frozen=True)
class Recipe:
    """How to train. The default is a quick recipe for a laptop, neither paper's.

    Attributes:
        epochs: times that all of ``train`` is read.
        batch_size: pairs a batch.
        learning_rate: Adam's step size.
        halve_after: the learning rate is halved at the start of every epoch after this one (Luong
            et al. 2015, section 4.1, do so for SGD); None keeps it constant.
        clip: the gradient is rescaled when its norm is larger than this.
        pool: batches whose sentences are sorted by length together (Bahdanau et al. 2015: 20).
    """

    epochs: int = 5
    batch_size: int = 64
    learning_rate: float = 4e-3
    halve_after: int | None = 2
    clip: float = 1.0
    pool: int = 20

    def __post_init__(self):
        for name in ("epochs", "batch_size", "learning_rate", "clip", "pool"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} must be positive, not {getattr(self, name)}")

    def learning_rate_of(self, epoch: int) -> float:
        """The learning rate in an epoch, counted from 1."""
        halvings = 0 if self.halve_after is None else max(0, epoch - self.halve_after)
        return self.learning_rate / 2**halvings


@dataclass(frozen=True)
class Epoch:
    """What was seen in one epoch: perplexities per target token, and its cost.

    ``train_perplexity`` is the mean over the epoch, while the weights moved, so it lags behind.
    ``gradient_norm`` is the mean before clipping; ``seconds`` are of the clock, ``cpu_seconds`` of
    the processor, both without validation.
    """

    epoch: int
    train_perplexity: float
    valid_perplexity: float
    learning_rate: float
    gradient_norm: float
    tokens: int
    seconds: float
    cpu_seconds: float


@dataclass
class History:
    """Every epoch of a training, and the device it ran on."""

    epochs: list[Epoch] = field(default_factory=list)
    device: str = "cpu"

    @property
    def cpu_seconds(self) -> float:
        """CPU-seconds of all epochs."""
        return sum(epoch.cpu_seconds for epoch in self.epochs)

    @property
    def seconds(self) -> float:
        """Seconds of all epochs by the clock."""
        return sum(epoch.seconds for epoch in self.epochs)


def best_device() -> torch.device:
    """The GPU if there is one, or else the CPU."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def fit(
    model: Translator,
    corpus: Corpus,
    recipe: Recipe | None = None,
    seed: int = 0,
    device: torch.device | str | None = None,
    progress: bool = True,
) -> History:
    """Train a model on ``corpus.train``, and measure ``corpus.valid`` after each epoch.

    Args:
        model: trained in place, and moved to the device.
        corpus: whose vocabularies the model was made with.
        recipe: how to train.
        seed: of the order of batches and of dropout.
        device: where; by itself a GPU if there is one.
        progress: show a bar.

    Raises:
        ValueError: the model was made for other vocabularies.
        FloatingPointError: the loss is no number any more.
    """
    recipe = recipe or Recipe()
    for side in ("source_vocabulary", "target_vocabulary"):
        if getattr(model, side) != getattr(corpus, side):
            raise ValueError(
                f"the model's {side} is not that of {corpus.name}: make the model from the corpus "
                "that it is trained on"
            )
    vocabularies = model.source_vocabulary, model.target_vocabulary
    device = torch.device(device) if device else best_device()
    model.to(device).train()
    optimiser = torch.optim.Adam(model.parameters(), lr=recipe.learning_rate, fused=True)
    history = History(device=device.type)
    steps = math.ceil(len(corpus.train) / recipe.batch_size)
    with (
        seeded(seed),
        tqdm(total=recipe.epochs * steps, unit="batch", disable=not progress) as bar,
    ):
        for number in range(1, recipe.epochs + 1):
            for group in optimiser.param_groups:
                group["lr"] = recipe.learning_rate_of(number)
            bar.set_description(f"epoch {number}/{recipe.epochs}")
            clock, cpu = time.perf_counter(), time.process_time()
            loss_sum, norm_sum, tokens, done = 0.0, 0.0, 0, 0
            order = seed + number * 1_000_003  # another order in each epoch and for each seed
            for batch in batches(
                corpus.train, *vocabularies, recipe.batch_size, recipe.pool, order
            ):
                losses = model.token_losses(batch.to(device))
                optimiser.zero_grad(set_to_none=True)
                losses.mean().backward()
                norm = torch.nn.utils.clip_grad_norm_(model.parameters(), recipe.clip)
                if not torch.isfinite(norm):
                    raise FloatingPointError(
                        f"the gradient is not finite in epoch {number}, batch {done + 1}, at "
                        f"learning rate {recipe.learning_rate_of(number):g}: try a smaller one"
                    )
                optimiser.step()
                loss_sum += float(losses.detach().sum())
                norm_sum += float(norm)
                tokens += len(losses)
                done += 1
                bar.update()
            seconds, cpu_seconds = time.perf_counter() - clock, time.process_time() - cpu
            epoch = Epoch(
                epoch=number,
                train_perplexity=math.exp(loss_sum / tokens),
                valid_perplexity=perplexity(model, corpus.valid),
                learning_rate=recipe.learning_rate_of(number),
                gradient_norm=norm_sum / done,
                tokens=tokens,
                seconds=seconds,
                cpu_seconds=cpu_seconds,
            )
            history.epochs.append(epoch)
            bar.set_postfix_str(
                f"valid perplexity {epoch.valid_perplexity:.2f}, {tokens / seconds:,.0f} tokens/s"
            )
    model.eval()
    return history
