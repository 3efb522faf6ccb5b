"""One training, shared by several processes: each learns from a part of every batch.

The batch is the recipe's, however many processes there are. Each process computes the gradient of
its own sentences, and the sum over processes is divided by the tokens of all: the loss per token,
and so the update, is what one process would have found. Accelerate starts the processes' group,
moves gradients between them (``DistributedDataParallel``), and casts to bfloat16 where asked.
"""

import math
import signal
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import Any

import torch
from accelerate import Accelerator
from torch import Tensor, nn

from attnmt import training as core
from attnmt.batches import Batch, Source, make_batch
from attnmt.checks import whole
from attnmt.corpus import Corpus, Pair
from attnmt.decoding import greedy
from attnmt.files import remove_leftovers
from attnmt.metrics import bleu, texts
from attnmt.model import Translator
from attnmt.scale import process_count
from attnmt.scale.evaluation import perplexity_by, translated_by
from attnmt.training import History, Recipe, Training, precision_on

LOST = ("connection", "peer", "gloo", "nccl", "socket", "timed out", "timeout")


def rows_of(batch: Batch, first: int, step: int) -> Batch | None:
    """Every ``step``-th pair of a batch, from the pair ``first`` on; None if there is none.

    Rows of a batch are sorted by length, so the parts are alike. They keep the batch's padding.
    """
    rows = slice(first, None, step)
    source = Source(*(part[rows] for part in vars(batch.source).values()))
    if not len(source.ids):
        return None
    target = {name: part[rows] for name, part in vars(batch).items() if name != "source"}
    return Batch(source, **target)


class Losses(nn.Module):
    """What is wrapped for several processes: a batch in, its summed loss and its tokens out."""

    def __init__(self, model: Translator):
        super().__init__()
        self.model = model

    def forward(self, batch: Batch) -> Tensor:
        """-log p of all real target tokens of a batch: a number."""
        return self.model.token_losses(batch).sum()


class Shared(Training):
    """A :class:`.Training` whose every step is shared by the processes of an Accelerator.

    Every process holds the model and the optimiser, and takes the same steps; the first writes the
    checkpoint. What differs between processes is the part of a batch that they learn from, and the
    dropout: its generator is seeded anew for each step, from the training's seed, the number of
    steps before and the process's own number. So a checkpoint needs no generator of theirs, and may
    be resumed by any number of processes.

    Args:
        accelerator: the engine.
        accumulate: parts that a process cuts its share into, one after the other, to save memory.
        arguments: of :class:`.Training`.
    """

    def __init__(self, accelerator: Accelerator, accumulate: int, *arguments: Any, **more: Any):
        super().__init__(*arguments, **more)
        self.accelerator = accelerator
        self.accumulate = accumulate
        self.rank = accelerator.process_index
        self.processes = accelerator.num_processes
        self.facts["precision"] = accelerator.mixed_precision
        self.losses = accelerator.prepare(Losses(self.model))
        nobody = make_batch(
            [Pair(("",), ("",), source_text="", target_text="")], *self.vocabularies
        )
        self.nobody = nobody.to(self.model.device)  # for a process that has no pair in a step

    def total(self, *numbers: float) -> list[float]:
        """The sums over all processes."""
        mine = torch.tensor(numbers, dtype=torch.float64, device=self.model.device)
        return self.accelerator.reduce(mine, "sum").tolist()

    def agreed(self, stop: bool) -> bool:
        """Whether any process asks for a stop; all are told so."""
        (asking,) = self.total(stop)
        return asking > 0

    def remaining(self) -> Iterator[Batch | None]:
        """This process's share of the batches that are left of the epoch."""
        train = self.corpus.train
        if isinstance(train, list):
            return (rows_of(batch, self.rank, self.processes) for batch in super().remaining())
        place = {"process": self.rank, "of": self.processes, "done": self.sums["batches"]}
        order = self.seed + self.epoch * 1_000_003  # as of a corpus in memory
        return train.batches(self.vocabularies, self.recipe, seed=order, **place)

    def tokens(self) -> int:
        """Target tokens of an epoch, ``</s>`` included."""
        train = self.corpus.train
        return super().tokens() if isinstance(train, list) else train.tokens

    def gradient(self, batch: Batch | None) -> tuple[float, int]:
        """As :meth:`.Training.gradient`, of the batch that all processes have together."""
        if self.processes > 1:
            torch.manual_seed((self.seed * 1_000_003 + self.updates) * 4_096 + self.rank)
        parts: list[Batch] = []
        if batch is not None:
            batch = batch.to(self.model.device)
            cut = (rows_of(batch, part, self.accumulate) for part in range(self.accumulate))
            parts = [part for part in cut if part is not None]
        tokens = sum(int(part.target_mask.sum()) for part in parts)
        sentences = sum(len(part.target_in) for part in parts)
        tokens, sentences = self.total(tokens, sentences)
        weight = 1 / (tokens if self.recipe.per == "token" else sentences)
        weight *= self.processes  # DistributedDataParallel takes the mean over processes
        (total,) = self.total(self.backward(parts, weight))
        return total, int(tokens)

    def backward(self, parts: list[Batch], weight: float) -> float:
        """Add up the gradients of some batches, each loss times the weight; returns the loss.

        The processes meet in the last of them. One that has none takes part with an empty pair,
        whose loss counts nothing: it must not keep the others waiting.
        """
        if not parts:
            self.accelerator.backward(self.losses(self.nobody) * 0)
            return 0.0
        loss = 0.0
        for part in parts:
            alone = part is not parts[-1]
            with self.accelerator.no_sync(self.losses) if alone else nullcontext():
                of_part = self.losses(part)
                self.accelerator.backward(of_part * weight)
            loss += float(of_part.detach())
        return loss

    def save(self) -> None:
        """The first process writes; if it cannot, all of them stop."""
        failed: OSError | None = None
        if self.rank == 0:
            try:
                super().save()
            except OSError as error:
                failed = error
        if self.path and self.agreed(failed is not None):
            raise failed or OSError(f"the first process could not write {self.path}: see there")

    def begin(self) -> None:
        """Go back to the checkpoint if the first process sees one; write the first if not."""
        if self.path is None:
            return
        if self.agreed(self.rank == 0 and self.path.exists()):
            self.restore()
        here = torch.tensor([float(self.updates)], device=self.model.device)
        if len(set(self.accelerator.gather(here).tolist())) > 1:
            raise ValueError(
                f"{self.path} is not the same file for all processes: put it where all can read it"
            )
        if self.rank == 0:
            remove_leftovers(self.path)
        self.save()

    def measure(self) -> float:
        """The perplexity of ``valid``, of which each process measures a part."""
        found = perplexity_by(self.accelerator, self.model, self.corpus.valid)
        if not math.isfinite(found):
            raise self.diverged(f"a perplexity of {found:g} on valid")
        return found

    def bleu_on_valid(self) -> float:
        """As of one process; each translates a part."""
        valid = self.corpus.valid
        sentences = [pair.source for pair in valid]
        found = translated_by(self.accelerator, partial(greedy, self.model), sentences)
        references = [pair.target_text for pair in valid]
        return bleu(texts(self.model, found), references, lowercase=True).score


def accelerator_for(device: str | None = None, precision: str = "no") -> Accelerator:
    """The engine: it joins the processes that a launcher has started; without one it is alone.

    Args:
        device: ``"cpu"``, or ``"cuda"`` or None for a GPU of its own for each process, if there
            are GPUs.
        precision: as of :func:`.precision_on`.

    Raises:
        ValueError: another precision; no GPU where one is asked for; or processes that were started
            and cannot be joined, each of which would train a whole model of its own.
    """
    gpus = torch.cuda.is_available()
    if device == "cuda" and not gpus:
        raise ValueError("device is cuda, but PyTorch sees no GPU here")
    started = process_count()
    on_cpu = device == "cpu" or (started > 1 and not gpus)  # by itself Accelerate joins only GPUs
    kind = "cuda" if gpus and not on_cpu else "cpu"
    engine = Accelerator(cpu=on_cpu, mixed_precision=precision_on(kind, precision))
    if engine.num_processes < started:
        raise ValueError(
            f"{started} processes were started, but they cannot be joined here: start one, or give "
            "each a GPU, or name --device cpu"
        )
    return engine


def fit(
    model: Translator,
    corpus: Corpus,
    recipe: Recipe | None = None,
    seed: int = 0,
    *,
    device: str | None = None,
    precision: str = "no",
    accumulate: int = 1,
    progress: bool = True,
    **more: Any,
) -> History:
    """As :func:`attnmt.training.fit`, by all processes that a launcher has started.

    Each process calls it with the same arguments. Without dropout, the losses and the weights are
    those of one process, up to rounding. A checkpoint may be resumed by another number of
    processes. The times in the history are those of the first process.

    Args:
        model, corpus, recipe, seed: as of :func:`attnmt.training.fit`. A corpus may be a
            :class:`~attnmt.scale.streams.Streamed`.
        device: ``"cpu"`` or ``"cuda"``; by itself a GPU for each process, if there is one.
        precision: ``"bf16"`` for mixed precision.
        accumulate: parts that each process cuts its share of a batch into, to save memory.
        progress: show a bar, in the first process.
        more: further arguments of :func:`attnmt.training.fit`.

    Raises:
        ConnectionError: another process has ended, or this one was told to. The last checkpoint is
            whole.
        ValueError, FileExistsError, OSError, FloatingPointError, KeyboardInterrupt: as of
            :func:`attnmt.training.fit`.
    """
    whole(1, accumulate=accumulate)
    with peers_watched():
        accelerator = accelerator_for(device, precision)
        shown = progress and accelerator.is_main_process
        engine = partial(Shared, accelerator, accumulate)
        where = {"device": accelerator.device, "progress": shown, "engine": engine}
        return core.fit(model, corpus, recipe, seed=seed, **where, **more)


@contextmanager
def peers_watched() -> Iterator[None]:
    """Inside, the end of another process, or being told to end, is a ConnectionError.

    Raises:
        ConnectionError: see there; the message says how to go on.
    """
    before = signal.getsignal(signal.SIGTERM)
    if process_count() > 1:
        signal.signal(signal.SIGTERM, _told_to_end)
    try:
        yield
    except RuntimeError as error:
        said = str(error)
        if process_count() == 1 or not any(word in said.lower() for word in LOST):
            raise
        why = said.strip().splitlines()[0]
        raise ConnectionError(f"another process has ended ({why}). {GO_ON}") from error
    finally:
        if process_count() > 1:
            signal.signal(signal.SIGTERM, before)


GO_ON = "The last checkpoint is whole: start all processes again with --resume."


def _told_to_end(*_: Any) -> None:
    raise ConnectionError(f"told to end, since another process has, or by the system. {GO_ON}")


def leave() -> None:
    """Take leave of the other processes, when all is done."""
    if torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()
