"""Training: a recipe is data; ``fit`` follows it, survives being killed, and tells what it saw."""

import json
import math
import os
import signal
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import Literal, get_args

import torch
from pydantic import TypeAdapter
from torch import Tensor
from tqdm import tqdm

from attnmt.batches import Batch, batches
from attnmt.checks import one_of, positive, whole
from attnmt.corpus import Corpus
from attnmt.decoding import greedy
from attnmt.fast import sooner
from attnmt.files import read_tensors, remove_leftovers, write_tensors
from attnmt.metrics import MOST, bleu, perplexity, texts
from attnmt.model import SIDES, Translator, seeded

OPTIMISERS = {
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


@dataclass(frozen=True)
class Epoch:
    """What was seen in one epoch: perplexities per target token, and its cost.

    ``train_perplexity`` is the mean over the epoch, while the weights moved, so it lags behind.
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

    @property
    def tokens_per_second(self) -> float:
        """Target tokens learned from in a second of the clock."""
        return self.tokens / self.seconds


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


def best_device() -> torch.device:
    """The GPU if there is one, or else the CPU."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


PRECISIONS = ("no", "bf16")


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
            and cannot be had, one line on stderr says that the training goes on without.

    Raises:
        ValueError: another precision. (float16 would need its losses scaled, and is not offered.)
    """
    one_of(PRECISIONS, precision=precision)
    kind = torch.device(device).type
    if precision == "bf16" and not bfloat16_trains(kind):
        print(f"attnmt: no bfloat16 on this {kind}: training goes on in float32", file=sys.stderr)
        return "no"
    return precision


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


# ------------------------------------------------------------------------- a training, step by step

HISTORY = TypeAdapter(History)
FORMAT = "attnmt-checkpoint-1"


class Training:
    """All that changes while a model is trained, and how it is kept on the disk.

    Where it stands is the history of the epochs done, and the sums of the one under way. A
    checkpoint is one safetensors file: weights, the optimiser's state, the best epoch's weights and
    the random generators' states are tensors; history, sums, and ``facts``, which tell one training
    from another, are JSON. It is data only: reading it cannot run code.
    """

    def __init__(
        self, model: Translator, corpus: Corpus, recipe: Recipe, seed: int, path: Path | None
    ):
        self.model = model
        self.corpus = corpus
        self.recipe = recipe
        self.seed = seed
        self.path = path
        self.vocabularies = model.source_vocabulary, model.target_vocabulary
        self.optimiser = OPTIMISERS[recipe.optimiser](model.parameters(), lr=recipe.learning_rate)
        self.history = History(device=model.device.type)
        self.sums = Counter()
        self.best: dict[str, Tensor] = {}
        facts = {f"model.{name}": value for name, value in model.config.items()}
        facts |= {f"recipe.{name}": value for name, value in asdict(recipe).items()}
        facts |= {"seed": seed, "device": model.device.type, "corpus": corpus.fingerprint}
        facts["vocabularies"] = [(len(v), v.language, v.lower) for v in self.vocabularies]
        weights = model.state_dict().items()
        facts |= {name: f"{value.dtype} {tuple(value.shape)}" for name, value in weights}
        self.facts = json.loads(json.dumps(facts))  # as they look when read back

    @property
    def epoch(self) -> int:
        """The number of the epoch under way, counted from 1."""
        return len(self.history.epochs) + 1

    @property
    def an_epoch(self) -> int:
        """The number of steps in an epoch."""
        return math.ceil(len(self.corpus.train) / self.recipe.batch_size)

    @property
    def updates(self) -> int:
        """The number of steps taken, over all epochs."""
        return (self.epoch - 1) * self.an_epoch + self.sums["batches"]

    @property
    def learning_rate(self) -> float:
        """The learning rate of the next step."""
        return self.recipe.learning_rate_of(self.epoch, self.sums["batches"] / self.an_epoch)

    def save(self) -> None:
        """Write the checkpoint, if there is to be one: aside, flushed, renamed over the last."""
        if self.path is None:
            return
        device = self.model.device
        random = {"cpu": torch.get_rng_state()}
        if device.type == "cuda":
            random["cuda"] = torch.cuda.get_rng_state(device)
        tensors = {f"random/{name}": value for name, value in random.items()}
        tensors |= {f"model/{name}": value for name, value in self.model.state_dict().items()}
        tensors |= {f"best/{name}": value for name, value in self.best.items()}
        for name, weights in self.model.named_parameters():
            for key, value in self.optimiser.state.get(weights, {}).items():
                if value is not None:  # a momentum that plain SGD does not have
                    tensors[f"{key}/{name}"] = value
        tensors = {name: value.detach().cpu().clone() for name, value in tensors.items()}
        metadata = {"history": HISTORY.dump_json(self.history).decode()}
        metadata |= {"facts": json.dumps(self.facts), "sums": json.dumps(self.sums)}
        write_tensors(self.path, tensors, format=FORMAT, metadata=metadata)

    def begin(self) -> None:
        """Go back to the checkpoint if there is one, and write the first if there is none."""
        if self.path is None:
            return
        if self.path.exists():
            self.restore()
        remove_leftovers(self.path)
        self.save()

    def restore(self) -> None:
        """Go back to where the checkpoint was written; :func:`fit` says what is refused."""
        metadata, tensors = read_tensors(self.path, FORMAT, "a checkpoint of attnmt")
        there = json.loads(metadata["facts"])
        here = self.facts
        if other := [name for name in here | there if there.get(name) != here.get(name)]:
            raise ValueError(
                f"{self.path} is the checkpoint of another training: its {other[0]} is "
                f"{there.get(other[0])!r}, not {here.get(other[0])!r} (of {len(other)} differences)"
            )
        parts: dict[str, dict[str, Tensor]] = defaultdict(dict)
        for name, value in tensors.items():
            part, _, rest = name.partition("/")
            parts[part][rest] = value
        self.model.load_state_dict(parts.pop("model"))
        device = self.model.device
        random = parts.pop("random")
        self.best = {name: value.to(device) for name, value in parts.pop("best", {}).items()}
        torch.set_rng_state(random["cpu"])
        if "cuda" in random:
            torch.cuda.set_rng_state(random["cuda"], device)
        state = {  # what is left is the optimiser's
            index: {part: values[name] for part, values in parts.items() if name in values}
            for index, (name, _) in enumerate(self.model.named_parameters())
        }
        self.optimiser.load_state_dict(self.optimiser.state_dict() | {"state": state})
        self.history = HISTORY.validate_json(metadata["history"])
        self.sums = Counter(json.loads(metadata["sums"]))

    @without_denormals()
    def step(self, batch: Batch) -> dict[str, float]:
        """Learn from one batch; returns what it adds to the sums."""
        self.optimiser.zero_grad(set_to_none=True)
        total, tokens = self.gradient(batch)
        norm = float(torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.recipe.clip))
        if not (math.isfinite(norm) and total < MOST * tokens):
            seen = f"a loss of {total / tokens:g} a token, a gradient of norm {norm:g}"
            raise self.diverged(seen)
        self.optimiser.step()
        return {"batches": 1, "tokens": tokens, "loss": total, "gradient_norm": norm}

    def gradient(self, batch: Batch) -> tuple[float, int]:
        """Compute the gradient; returns the loss, summed over the batch's tokens, and these."""
        losses = self.model.token_losses(batch.to(self.model.device))
        loss = losses.mean() if self.recipe.per == "token" else losses.sum() / len(batch.target_in)
        loss.backward()
        return float(losses.detach().sum()), len(losses)

    def remaining(self) -> Iterator[Batch]:
        """The batches that are left of the epoch."""
        order = self.seed + self.epoch * 1_000_003  # another in each epoch and for each seed
        how = {"pool": self.recipe.pool, "seed": order}
        size = self.recipe.batch_size
        shuffled = batches(self.corpus.train, *self.vocabularies, size, **how)
        return islice(shuffled, self.sums["batches"], None)

    def tokens(self) -> int:
        """Target tokens of an epoch, ``</s>`` included."""
        return sum(len(pair.target) + 1 for pair in self.corpus.train)

    def agreed(self, stop: bool) -> bool:
        """Whether to stop: several processes must do so after the same step."""
        return stop

    def steps(self) -> Iterator[int]:
        """Learn from the rest of the epoch; yields the number of tokens after each step."""
        remaining = self.remaining()
        clock = time.perf_counter()
        cpu = time.process_time()
        for batch in remaining:
            for group in self.optimiser.param_groups:
                group["lr"] = self.learning_rate
            new = self.step(batch)
            seconds = time.perf_counter() - clock
            cpu_seconds = time.process_time() - cpu
            self.sums.update(new, seconds=seconds, cpu_seconds=cpu_seconds)
            yield new["tokens"]
            clock = time.perf_counter()
            cpu = time.process_time()

    def run(self, progress: bool, measure_bleu: bool) -> Iterator[None]:
        """Learn all that is left, behind a progress bar; yields after each step."""
        tokens = self.tokens()
        done = (self.epoch - 1) * tokens + self.sums["tokens"]
        with tqdm(
            total=self.recipe.epochs * tokens,
            initial=done,
            unit=" tokens",
            unit_scale=1,
            disable=not progress,
        ) as bar:
            while self.epoch <= self.recipe.epochs:
                bar.set_description(f"epoch {self.epoch}/{self.recipe.epochs}")
                for learned in self.steps():
                    bar.update(learned)
                    yield
                epoch = self.end_epoch(measure_bleu)
                bar.set_postfix_str(f"valid perplexity {epoch.valid_perplexity:.2f}")
                self.save()

    def diverged(self, seen: str) -> FloatingPointError:
        """The error for a training that has left the numbers."""
        kept = f" {self.path} is as it was last written." if self.path else ""
        return FloatingPointError(
            f"{seen}, in epoch {self.epoch}, batch {self.sums['batches'] + 1}, at learning rate "
            f"{self.learning_rate:g}: try a smaller one.{kept}"
        )

    def measure(self) -> float:
        """The perplexity of ``valid``, which must be a number."""
        found = perplexity(self.model, self.corpus.valid)
        if not math.isfinite(found):
            raise self.diverged(f"a perplexity of {found:g} on valid")
        return found

    def mark(self) -> None:
        """Add a point to the learning curve."""
        before = self.history.cpu_seconds
        point = Point(
            updates=self.updates,
            valid_perplexity=self.measure(),
            learning_rate=self.learning_rate,
            cpu_seconds=before + self.sums["cpu_seconds"],
        )
        self.history.curve.append(point)

    def end_epoch(self, measure_bleu: bool) -> Epoch:
        """Measure ``valid``, and begin the next epoch."""
        sums = self.sums
        epoch = Epoch(
            epoch=self.epoch,
            train_perplexity=math.exp(sums["loss"] / sums["tokens"]),
            valid_perplexity=self.measure(),
            learning_rate=self.recipe.learning_rate_of(self.epoch),
            gradient_norm=sums["gradient_norm"] / sums["batches"],
            tokens=sums["tokens"],
            seconds=sums["seconds"],
            cpu_seconds=sums["cpu_seconds"],
            bleu=self.bleu_on_valid() if measure_bleu else None,
        )
        self.history.epochs.append(epoch)
        if self.recipe.keep == "best" and self.history.best is epoch:
            self.best = {name: value.clone() for name, value in self.model.state_dict().items()}
        self.sums = Counter()
        return epoch

    def bleu_on_valid(self) -> float:
        """BLEU of greedy translations of ``valid``, case ignored."""
        valid = self.corpus.valid
        translated = texts(self.model, greedy(self.model, [pair.source for pair in valid]))
        return bleu(translated, [pair.target_text for pair in valid], lowercase=True).score


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


def fit(
    model: Translator,
    corpus: Corpus,
    recipe: Recipe | None = None,
    seed: int = 0,
    device: torch.device | str | None = None,
    progress: bool = True,
    *,
    checkpoint: str | os.PathLike | None = None,
    every: int = 100,
    resume: bool = False,
    measure_bleu: bool = False,
    curve: int | None = None,
    engine: Callable[..., Training] = Training,
) -> History:
    """Train a model on ``corpus.train``, and measure ``corpus.valid`` after each epoch.

    With a checkpoint, a training that was killed at any moment and is resumed ends with the same
    weights, bit for bit, as one that was not: on the same kind of machine, with the same number of
    threads and the same version of PyTorch. (On a GPU, as far as its operations are deterministic.)

    Ctrl-C lets the step under way end, writes the checkpoint if there is one, and then raises
    KeyboardInterrupt. The model keeps what it learned until then, and can be used and saved. A
    second Ctrl-C does not wait.

    Args:
        model: trained in place, and moved to the device.
        corpus: whose vocabularies the model was made with.
        recipe: how to train.
        seed: of the order of batches and of dropout.
        device: where; by itself a GPU if there is one.
        progress: show a bar: epoch, tokens, time left, tokens a second.
        checkpoint: a file, written before the first step, after every so many steps, and after each
            epoch.
        every: steps, that is batches, between checkpoints.
        resume: go on from the checkpoint; from the beginning if there is none yet. A training that
            had reached its end is only read back.
        measure_bleu: after each epoch, also translate ``valid``, greedily, and measure BLEU.
        curve: updates between two points of ``history.curve``; None for no curve. It changes
            nothing of the training.
        engine: makes the ``Training``; ``attnmt.scale`` has one for several processes.

    Raises:
        ValueError: the model was made for other vocabularies; ``train`` or ``valid`` is empty; the
            checkpoint is damaged, or of another model, recipe, corpus, vocabulary, seed, device.
        FileExistsError: the checkpoint exists, and ``resume`` was not asked for.
        OSError: the checkpoint cannot be written. The last one is still whole.
        FloatingPointError: the loss or the gradient is no number any more. The model has the
            weights from before that step, and the last checkpoint is kept.
        KeyboardInterrupt: after Ctrl-C, see above.
    """
    path = None if checkpoint is None else Path(checkpoint)
    _check_fit(model, corpus, path, every=every, resume=resume, curve=curve)
    device = torch.device(device or best_device())
    training = engine(model.to(device).train(), corpus, recipe or Recipe(), seed=seed, path=path)
    try:
        gpus = [device] if device.type == "cuda" else []
        with first_interrupt_noted() as asked, torch.random.fork_rng(devices=gpus), sooner(model):
            torch.manual_seed(seed)
            training.begin()
            for _ in training.run(progress, measure_bleu):
                if curve and training.updates % curve == 0:
                    training.mark()
                stop = training.agreed(asked.is_set())
                if training.sums["batches"] % every == 0 or stop:
                    training.save()
                if stop:
                    raise KeyboardInterrupt
            if training.best:
                model.load_state_dict(training.best)
            if asked.is_set():  # pressed while the last epoch was measured
                raise KeyboardInterrupt
    finally:
        model.eval()
    return training.history


def _check_fit(
    model: Translator,
    corpus: Corpus,
    path: Path | None,
    every: int,
    *,
    resume: bool,
    curve: int | None,
) -> None:
    """What :func:`fit` refuses before it begins."""
    for side in SIDES:
        if getattr(model, side) != getattr(corpus, side):
            raise ValueError(f"the model's {side} is not that of {corpus.name}: make it from that")
    if not corpus.train or not corpus.valid:
        raise ValueError(f"{corpus.name} needs pairs in both train and valid")
    whole(1, every=every, curve=1 if curve is None else curve)
    if resume and path is None:
        raise ValueError("resume needs a checkpoint")
    if path and path.exists() and not resume:
        raise FileExistsError(f"{path} exists: resume it, delete it, or give another checkpoint")
