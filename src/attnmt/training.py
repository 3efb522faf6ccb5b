"""Training: ``fit`` follows a recipe, survives being killed, and tells what it saw."""

import json
import math
import os
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, is_dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from pydantic import TypeAdapter
from torch import Tensor
from torch.nn.utils import clip_grad_norm_
from tqdm import tqdm

from attnmt.batches import Batch, batches
from attnmt.checks import ArgumentTypeError, file_name, flag, whole
from attnmt.decoding import greedy
from attnmt.devices import chosen_device
from attnmt.fast import sooner, without_denormals
from attnmt.files import Checkpoint, remove_leftovers
from attnmt.metrics import MOST_NATS, bleu, perplexity, texts
from attnmt.model import SIDES, Translator
from attnmt.pairs import Corpus
from attnmt.recipes import OPTIMISERS, Recipe, likelihood

# ------------------------------------------------------------------------- what a training tells


@dataclass(frozen=True)
class Epoch:
    """What was seen in one epoch: perplexities per target token, and its cost.

    ``train_perplexity`` is the mean over the epoch, while the weights moved, so it lags behind.
    ``learning_rate`` is that of the first step.
    ``gradient_norm`` is the mean before clipping; ``seconds`` are of the clock, ``cpu_seconds`` of
    the processor, both without validation; ``bleu`` is of greedy translations of ``valid``, case
    ignored, where it was asked for.
    """

    epoch: int
    train_perplexity: float
    valid_perplexity: float
    learning_rate: float
    gradient_norm: float
    tokens: int
    seconds: float
    cpu_seconds: float
    bleu: float | None = None


@dataclass(frozen=True)
class Point:
    """A point of the learning curve: what ``valid`` says after so many updates.

    ``cpu_seconds`` are those of the training until then, without validation.
    """

    updates: int
    valid_perplexity: float
    learning_rate: float
    cpu_seconds: float


@dataclass
class History:
    """Every epoch of a training, the curve within them if one was asked for, and the device."""

    epochs: list[Epoch] = field(default_factory=list)
    device: str = "cpu"
    curve: list[Point] = field(default_factory=list)

    @property
    def best(self) -> Epoch:
        """The epoch with the lowest perplexity on ``valid``, the first of equals."""
        return min(self.epochs, key=lambda epoch: epoch.valid_perplexity)

    @property
    def cpu_seconds(self) -> float:
        """CPU-seconds of all epochs."""
        return sum(epoch.cpu_seconds for epoch in self.epochs)


HISTORY = TypeAdapter(History)


# ------------------------------------------------------------------ what a training is made of


class Training:
    """Where a training stands: the epochs done, the sums of the one under way, the best weights."""

    def __init__(
        self,
        model: Translator,
        corpus: Corpus,
        recipe: Recipe,
        seed: int,
        *,
        optimiser: torch.optim.Optimizer,
        objective: Callable[[Translator, Batch], Tensor],
    ):
        self.model = model
        self.corpus = corpus
        self.recipe = recipe
        self.seed = seed
        self.optimiser = optimiser
        self.objective = objective
        self.history = History(device=model.device.type)
        self.sums: dict[str, Any] = Counter()  # whole numbers and others
        self.best: dict[str, Tensor] = {}
        self.checkpoint: Checkpoint | None = None
        self.vocabularies = model.source_vocabulary, model.target_vocabulary
        self.steps_per_epoch = math.ceil(len(corpus.train) / recipe.batch_size)

    @property
    def epoch(self) -> int:
        """The number of the epoch under way, counted from 1."""
        return len(self.history.epochs) + 1

    @property
    def updates(self) -> int:
        """The number of steps taken, over all epochs."""
        return (self.epoch - 1) * self.steps_per_epoch + self.sums["batches"]

    @property
    def learning_rate(self) -> float:
        """The learning rate of the next step."""
        return self.recipe.learning_rate_of(self.epoch, self.sums["batches"] / self.steps_per_epoch)

    def remaining(self) -> Iterator[Batch]:
        """The batches that are left of the epoch; their order follows the seed and the epoch."""
        recipe = self.recipe
        order = self.seed + self.epoch * 1_000_003
        shuffled = batches(
            self.corpus.train, *self.vocabularies, recipe.batch_size, recipe.pool, order
        )
        for batch in islice(shuffled, self.sums["batches"], None):
            yield batch.to(self.model.device)

    def timed(self, found: Iterable[Batch]) -> Iterator[Batch]:
        """The same; the time from when one is asked for until it is learned from is added up."""
        self._start_clock()
        for batch in found:
            yield batch
            self._start_clock()

    def _start_clock(self) -> None:
        self.clock = time.perf_counter()
        self.cpu_clock = time.process_time()

    def losses(self, batch: Batch) -> Tensor:
        """The loss of each target token of a batch, (tokens,)."""
        return self.objective(self.model, batch)

    def clip(self, losses: Tensor) -> tuple[float, float]:
        """Clip the gradient; returns the loss, summed over tokens, and the norm before."""
        norm = clip_grad_norm_(self.model.parameters(), self.recipe.clip)
        return float(losses.detach().sum()), float(norm)

    def learned(self, batch: Batch, loss: float, norm: float) -> None:
        """Add an update to the sums of the epoch: its summed loss, and the gradient's norm."""
        self.sums["batches"] += 1
        self.sums["tokens"] += batch.tokens
        self.sums["loss"] += loss
        self.sums["gradient_norm"] += norm
        self.sums["seconds"] += time.perf_counter() - self.clock
        self.sums["cpu_seconds"] += time.process_time() - self.cpu_clock

    def require_numbers(self, batch: Batch, loss: float, norm: float) -> None:
        """Refuse a loss, summed over tokens, or a gradient that has left the numbers."""
        if not (math.isfinite(norm) and loss < MOST_NATS * batch.tokens):
            seen = f"a loss of {loss / batch.tokens:g} a token, a gradient of norm {norm:g}"
            raise self.diverged(seen)

    def must_stop(self, asked: threading.Event) -> bool:
        """Whether to stop after the step that was taken."""
        return asked.is_set()

    def diverged(self, seen: str) -> FloatingPointError:
        """The error for a training that has left the numbers."""
        kept = f" {self.checkpoint.path} is as it was last written." if self.checkpoint else ""
        return FloatingPointError(
            f"{seen}, in epoch {self.epoch}, batch {self.sums['batches'] + 1}, at learning rate "
            f"{self.learning_rate:g}: try a smaller one.{kept}"
        )

    def valid_perplexity(self) -> float:
        """The perplexity of ``valid``, which must be a number."""
        found = perplexity(self.model, self.corpus.valid)
        if not math.isfinite(found):
            raise self.diverged(f"a perplexity of {found:g} on valid")
        return found

    def valid_bleu(self) -> float:
        """BLEU of greedy translations of ``valid``, case ignored."""
        valid = self.corpus.valid
        found = greedy(self.model, [pair.source for pair in valid])
        references = [pair.target_text for pair in valid]
        ours, tokeniser = texts(self.model, found), self.corpus.bleu_tokeniser
        return bleu(ours, references, lowercase=True, tokeniser=tokeniser).score

    def point(self) -> Point:
        """The next point of the learning curve."""
        return Point(
            updates=self.updates,
            valid_perplexity=self.valid_perplexity(),
            learning_rate=self.learning_rate,
            cpu_seconds=self.history.cpu_seconds + self.sums["cpu_seconds"],
        )

    def validated(self, measure_bleu: bool) -> Epoch:
        """The epoch that is over, with what ``valid`` says of it."""
        sums = self.sums
        return Epoch(
            epoch=self.epoch,
            train_perplexity=math.exp(sums["loss"] / sums["tokens"]),
            valid_perplexity=self.valid_perplexity(),
            learning_rate=self.recipe.learning_rate_of(self.epoch),
            gradient_norm=sums["gradient_norm"] / sums["batches"],
            tokens=sums["tokens"],
            seconds=sums["seconds"],
            cpu_seconds=sums["cpu_seconds"],
            bleu=self.valid_bleu() if measure_bleu else None,
        )

    def keep_on_disk(self, path: Path) -> None:
        """Have a checkpoint in a file from now on: go back to it, or write the first."""
        known: dict[str, Any] = {
            f"model.{name}": value for name, value in self.model.config.items()
        }
        known |= {f"recipe.{name}": value for name, value in asdict(self.recipe).items()}
        known |= {"seed": self.seed, "device": self.model.device.type}
        known["corpus"] = self.corpus.fingerprint
        known["vocabularies"] = [(len(v), v.language, v.lower) for v in self.vocabularies]
        for name, value in self.model.state_dict().items():
            known[name] = f"{value.dtype} {tuple(value.shape)}"
        known |= asdict(self.objective) if is_dataclass(self.objective) else {}
        self.checkpoint = Checkpoint(path, self.model, self.optimiser, known)
        self.begin(self.checkpoint)

    def begin(self, checkpoint: Checkpoint) -> None:
        """Go back to the checkpoint if there is one, and write the first if there is none."""
        if checkpoint.path.exists():
            self.restore(checkpoint)
        remove_leftovers(checkpoint.path)
        self.save()

    def save(self) -> None:
        """Write the checkpoint, if there is to be one."""
        if self.checkpoint:
            history = HISTORY.dump_json(self.history).decode()
            texts = {"history": history, "sums": json.dumps(self.sums)}
            self.checkpoint.write(self.best, texts)

    def restore(self, checkpoint: Checkpoint) -> None:
        """Go back to where the checkpoint was written."""
        self.best, texts = checkpoint.restore()
        self.history = HISTORY.validate_json(texts["history"])
        self.sums = Counter(json.loads(texts["sums"]))


@contextmanager
def random_numbers_of(seed: int, device: torch.device) -> Iterator[None]:
    """Inside, the random numbers follow the seed; outside, they go on as if nothing had been."""
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        torch.manual_seed(seed)
        yield


@contextmanager
def learning(model: Translator) -> Iterator[None]:
    """Inside, the model learns, dropout and all; afterwards, however it ends, it is in use."""
    model.train()
    try:
        yield
    finally:
        model.eval()


@contextmanager
def first_interrupt_noted() -> Iterator[threading.Event]:
    """Inside, the first Ctrl-C only sets the event: it must not cut a step in two.

    A second one does not wait. Outside the main thread Ctrl-C is nobody's to hear.
    """
    asked = threading.Event()
    before = signal.getsignal(signal.SIGINT)

    def ask(*_) -> None:
        asked.set()
        signal.signal(signal.SIGINT, before)

    if not (threading.current_thread() is threading.main_thread() and callable(before)):
        yield asked
        return
    try:
        signal.signal(signal.SIGINT, ask)
        yield asked
    finally:
        signal.signal(signal.SIGINT, before)


def progress_bar(training: Training, shown: bool) -> tqdm:
    """A bar that counts target tokens, ``</s>`` included, over all epochs."""
    tokens = sum(len(pair.target) + 1 for pair in training.corpus.train)
    done = (training.epoch - 1) * tokens + training.sums["tokens"]
    total = training.recipe.epochs * tokens
    return tqdm(total=total, initial=done, unit=" tokens", unit_scale=1, disable=not shown)


# ------------------------------------------------------------------------------------------- fit


def fit(
    model: Translator,
    corpus: Corpus,
    recipe: Recipe | None = None,
    seed: int = 0,
    device: torch.device | str | None = None,
    progress: bool = True,
    *,
    checkpoint: str | os.PathLike | None = None,
    save_every: int = 100,
    resume: bool = False,
    measure_bleu: bool = False,
    curve_every: int | None = None,
    objective: Callable[[Translator, Batch], Tensor] = likelihood,
    training_type: Callable[..., Training] = Training,
) -> History:
    """Train a model on ``corpus.train``, and measure ``corpus.valid`` after each epoch.

    With a checkpoint, a training that was killed at any moment and is resumed ends with the same
    weights, bit for bit, as one that was not: on the same kind of machine, with the same number of
    threads and the same version of PyTorch. (On a GPU, as far as its operations are deterministic.)

    Ctrl-C lets the step under way end, writes the checkpoint if there is one, and then raises
    KeyboardInterrupt. The model keeps what it learned until then, and can be used and saved. A
    second Ctrl-C does not wait.

    >>> from attnmt import grammar_corpus, rnnsearch
    >>> corpus = grammar_corpus(train=20, valid=2, test=3, long=0, names=0)
    >>> history = fit(rnnsearch(corpus, hidden=8), corpus, Recipe(epochs=1), progress=False)
    >>> [epoch.epoch for epoch in history.epochs]
    [1]

    Args:
        model: trained in place, and moved to the device.
        corpus: whose vocabularies the model was made with.
        recipe: how to train.
        seed: of the order of batches and of dropout.
        device: where; by itself a GPU if there is one.
        progress: show a bar: epoch, tokens, time left, tokens a second.
        checkpoint: a file, written before the first step, after every so many steps, and after each
            epoch.
        save_every: steps, that is batches, between checkpoints.
        resume: go on from the checkpoint; from the beginning if there is none yet. A training that
            had reached its end is only read back.
        measure_bleu: after each epoch, also translate ``valid``, greedily, and measure BLEU.
        curve_every: steps between two points of ``history.curve``; None for no curve. It changes
            nothing of the training.
        objective: gives the loss of each target token of a batch, (tokens,).
        training_type: takes the steps; ``attnmt.scale`` has one that processes share.

    Raises:
        ValueError: the model was made for other vocabularies; ``train`` or ``valid`` is empty; the
            checkpoint is damaged, or of another model, recipe, corpus, vocabulary, seed, device;
            there is no such device; ``resume`` without a checkpoint; an argument out of its range.
        TypeError: an argument of another kind.
        FileExistsError: the checkpoint exists, and ``resume`` was not asked for.
        OSError: the checkpoint cannot be written. The last one is still whole.
        FloatingPointError: the loss or the gradient is no number any more. The model has the
            weights from before that step, and the last checkpoint is kept.
        KeyboardInterrupt: after Ctrl-C, see above.
    """
    file_name(checkpoint="none" if checkpoint is None else checkpoint)
    whole(-sys.maxsize, seed=seed)
    flag(progress=progress, measure_bleu=measure_bleu)
    path = None if checkpoint is None else Path(checkpoint)
    recipe = Recipe() if recipe is None else recipe
    _check_fit(model, corpus, path, save_every=save_every, resume=resume, curve_every=curve_every)
    if not isinstance(recipe, Recipe):
        raise ArgumentTypeError(f"recipe must be a Recipe, such as Recipe(), not {recipe!r}")
    if measure_bleu:  # what sacreBLEU cannot do here is refused now, not after an epoch
        bleu(["x"], ["x"], tokeniser=corpus.bleu_tokeniser)
    seed = int(seed)  # numpy's become Python's
    model.trained_on = corpus.facts
    model.to(chosen_device(device))
    optimiser = OPTIMISERS[recipe.optimiser](model.parameters(), lr=recipe.learning_rate)
    training = training_type(model, corpus, recipe, seed, optimiser=optimiser, objective=objective)
    with (
        first_interrupt_noted() as asked,
        random_numbers_of(seed, model.device),
        learning(model),
        sooner(model),
    ):
        if path:
            training.keep_on_disk(path)
        with progress_bar(training, shown=progress) as bar:
            train_and_validate(
                training,
                asked,
                bar,
                save_every=save_every,
                measure_bleu=measure_bleu,
                curve_every=curve_every,
            )
        if asked.is_set():  # pressed while the last epoch was measured
            raise KeyboardInterrupt
    return training.history


def train_and_validate(
    training: Training,
    asked: threading.Event,
    bar: tqdm,
    *,
    save_every: int,
    measure_bleu: bool,
    curve_every: int | None,
) -> None:
    """The loop of :func:`fit`: all that is left to learn, until ``asked`` to stop."""
    model, recipe, optimiser = training.model, training.recipe, training.optimiser
    history = training.history
    while training.epoch <= recipe.epochs:
        bar.set_description(f"epoch {training.epoch}/{recipe.epochs}")
        for batch in training.timed(training.remaining()):
            with without_denormals():
                optimiser.zero_grad(set_to_none=True)
                losses = training.losses(batch)  # -log p of each target token: (tokens,)
                (losses.sum() / batch.count(recipe.per)).backward()
                loss, norm = training.clip(losses)
                training.require_numbers(batch, loss, norm)
                for group in optimiser.param_groups:
                    group["lr"] = training.learning_rate
                optimiser.step()
            training.learned(batch, loss, norm)
            bar.update(batch.tokens)
            if curve_every and training.updates % curve_every == 0:
                history.curve.append(training.point())
            stop = training.must_stop(asked)
            if stop or training.sums["batches"] % save_every == 0:
                training.save()
            if stop:
                raise KeyboardInterrupt
        epoch = training.validated(measure_bleu)
        history.epochs.append(epoch)
        training.sums.clear()
        if recipe.keep == "best" and history.best is epoch:
            training.best = {name: value.clone() for name, value in model.state_dict().items()}
        training.save()
        bar.set_postfix_str(f"valid perplexity {epoch.valid_perplexity:.2f}")
    if training.best:
        model.load_state_dict(training.best)


def _check_fit(
    model: Translator,
    corpus: Corpus,
    path: Path | None,
    *,
    save_every: int,
    resume: bool,
    curve_every: int | None,
) -> None:
    """What :func:`fit` refuses before it begins."""
    for name, one in (("model", model), ("corpus", corpus)):
        if not hasattr(one, SIDES[0]):
            raise ArgumentTypeError(f"{name} must be a {name}, not {one!r}")
    for side in SIDES:
        if getattr(model, side) != getattr(corpus, side):
            raise ValueError(
                f"the model's {side} is not that of {corpus.name}: make a model from that corpus, "
                "or train this one on the corpus that it was made from"
            )
    if not corpus.train or not corpus.valid:
        raise ValueError(f"{corpus.name} needs pairs in both train and valid")
    flag(resume=resume)
    whole(1, save_every=save_every, curve_every=1 if curve_every is None else curve_every)
    if resume and path is None:
        raise ValueError("resume needs a checkpoint")
    if path and path.exists() and not resume:
        raise FileExistsError(f"{path} exists: resume it, delete it, or give another checkpoint")
