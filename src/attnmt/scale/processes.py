"""One training, shared by several processes: each learns from a part of every batch.

The batch is the recipe's, however many processes there are. Each process computes the gradient of
its own sentences, divided by the tokens of all; the sum over processes is then the gradient that
one process would have found, and so is the update. Accelerate starts the processes' group and adds
up what they have.
"""

import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from accelerate import Accelerator
from accelerate.utils import gather_object
from torch.nn.utils import parameters_to_vector, vector_to_parameters

from attnmt import training as core
from attnmt.batches import Batch, Source, by_length
from attnmt.checks import whole
from attnmt.corpus import Pair
from attnmt.decoding import Translation, side_by_side
from attnmt.files import Checkpoint, remove_leftovers
from attnmt.metrics import perplexity_of, sentence_losses
from attnmt.model import Translator
from attnmt.scale import process_count
from attnmt.training import Alone, History, Share, Training, chosen_device

SIDE_BY_SIDE = 64  # sentences a batch, as of the core's search and measurement
LOST = ("connection", "peer", "gloo", "nccl", "socket", "timed out", "timeout")
GO_ON = "The last checkpoint is whole: start all processes again with --resume."


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


class Together(Alone):
    """All processes that a launcher has started. They take the same steps; the first one writes.

    What differs between them is the part of a batch that they learn from, and the dropout: its
    generator is seeded anew for each step, from the training's seed, the number of steps before and
    the process's own number. So a checkpoint needs no generator of theirs, and may be resumed by
    any number of processes.

    Measuring is shared, too, in the batches that one process would make, so that a sentence keeps
    its company: even the last bit of its loss, and with it each word of its translation, is what
    one process finds.

    Args:
        device: ``"cpu"``, or ``"cuda"`` or None for a GPU of its own for each process, if there
            are GPUs.
        accumulate: parts that a process cuts its share into, one after the other, to save memory.

    Raises:
        ValueError: no GPU where one is asked for; or processes that were started and cannot be
            joined, each of which would train a whole model of its own.
    """

    def __init__(self, device: str | None = None, accumulate: int = 1):
        whole(1, accumulate=accumulate)
        # by itself Accelerate joins only processes that have GPUs
        self.accelerator = Accelerator(cpu=chosen_device(device).type == "cpu")
        self.accumulate = accumulate
        self.size = self.accelerator.num_processes
        if self.size < process_count():
            raise ValueError(
                f"{process_count()} processes were started, but they cannot be joined here: start "
                "one, or give each a GPU, or name --device cpu"
            )
        self.rank = self.accelerator.process_index
        self.first = self.accelerator.is_main_process

    @property
    def device(self) -> torch.device:
        """Where this process computes."""
        return self.accelerator.device

    def total(self, *numbers: float) -> list[float]:
        """The sums over all processes."""
        mine = torch.tensor(numbers, dtype=torch.float64, device=self.device)
        return self.accelerator.reduce(mine, "sum").tolist()

    def any(self, asked: bool) -> bool:
        """Whether any process asks; all of them are told the same."""
        return self.total(asked)[0] > 0

    def batches(self, training: Training) -> Iterator[Batch | None]:
        """This process's share of the batches that are left; None where it has no pair of one."""
        train = training.corpus.train
        if isinstance(train, list):
            return (rows_of(batch, self.rank, self.size) for batch in training.remaining())
        return train.batches(
            training.vocabularies,
            training.recipe,
            seed=training.order,
            process=self.rank,
            of=self.size,
            done=training.sums["batches"],
        )

    def shares(self, training: Training) -> Iterator[Share]:
        """What this process learns from in the rest of the epoch, update by update."""
        for batch in self.batches(training):
            if self.size > 1:
                place = training.seed * 1_000_003 + training.updates
                torch.manual_seed(place * 4_096 + self.rank)
            cut = range(self.accumulate if batch else 0)
            parts = [part for n in cut if (part := rows_of(batch, n, self.accumulate))]
            tokens = sum(int(part.target_mask.sum()) for part in parts)
            counts = self.total(tokens, sum(len(part.target_in) for part in parts))
            yield Share([part.to(self.device) for part in parts], *map(int, counts))

    def add_up(self, model: Translator, loss: float) -> float:
        """Add up the gradients of all processes, in place, and their losses."""
        if self.size == 1:
            return loss
        for weights in model.parameters():
            if weights.grad is None:  # a process that had no pair in this step
                weights.grad = torch.zeros_like(weights)
        gradients = [weights.grad for weights in model.parameters()]
        added = self.accelerator.reduce(parameters_to_vector(gradients), "sum")
        vector_to_parameters(added, gradients)
        return self.total(loss)[0]

    def begin(self, training: Training, checkpoint: Checkpoint) -> None:
        """Go back to the checkpoint if the first process sees one; write the first if not."""
        path = checkpoint.path
        if self.any(self.first and path.exists()):
            training.restore(checkpoint)
        here = training.updates
        if self.any(self.total(here) != [here * self.size]):
            raise ValueError(
                f"{path} is not the same file for all processes: put it where all can read it"
            )
        if self.first:
            remove_leftovers(path)
        self.write(training, checkpoint)

    def write(self, training: Training, checkpoint: Checkpoint) -> None:
        """The first process writes; if it cannot, all of them stop."""
        failed: OSError | None = None
        try:
            if self.first:
                training.write(checkpoint)
        except OSError as error:
            failed = error
        if self.any(failed is not None):
            seen = f"the first process could not write {checkpoint.path}: see there"
            raise failed or OSError(seen)

    def answers(
        self, groups: Sequence[Sequence[int]], answer: Callable[[Sequence[int]], Sequence[Any]]
    ) -> list[Any]:
        """Answer groups of items, each by one process; all processes get all answers, by item.

        Args:
            groups: numbers of items, each number once.
            answer: the answers to one group, in its order.
        """
        found: list[tuple[int, Any]] = []
        for rows in groups[self.rank :: self.size]:
            found += zip(rows, answer(rows), strict=True)
        return [one for _, one in sorted(gather_object(found), key=lambda answered: answered[0])]

    def perplexity(self, model: Translator, pairs: Sequence[Pair]) -> float:
        """As :func:`attnmt.metrics.perplexity`; each process measures a part."""
        lengths = [(len(pair.target), len(pair.source)) for pair in pairs]
        groups = by_length(lengths, SIDE_BY_SIDE, pool=None, seed=0)

        def answer(rows: Sequence[int]) -> list[float]:
            return sentence_losses(model, [pairs[row] for row in rows], SIDE_BY_SIDE).tolist()

        return perplexity_of(np.array(self.answers(groups, answer)))

    def translate(
        self,
        search: Callable[[Sequence[Sequence[str]]], list[Translation]],
        sentences: Sequence[Sequence[str]],
    ) -> list[Translation]:
        """Translations of sentences by a search; each process finds a part."""
        groups = side_by_side([len(words) for words in sentences], SIDE_BY_SIDE)
        return self.answers(groups, lambda rows: search([sentences[row] for row in rows]))


def fit(*what: Any, device: str | None = None, accumulate: int = 1, **how: Any) -> History:
    """As :func:`attnmt.training.fit`, by all processes that a launcher has started.

    Each process calls it with the same arguments. Without dropout, the losses and the weights are
    those of one process, up to rounding. A checkpoint may be resumed by another number of
    processes. The times in the history are those of the first process.

    Args:
        what, how: arguments of :func:`attnmt.training.fit`; the corpus may also be a stream.
        device, accumulate: see :class:`Together`.

    Raises:
        ConnectionError: another process has ended, or this one was told to. The last checkpoint is
            whole.
        ValueError, FileExistsError, OSError, FloatingPointError, KeyboardInterrupt: as there.
    """
    with peers_watched():
        together = Together(device, accumulate)
        return core.fit(*what, device=together.device, processes=together, **how)


@contextmanager
def peers_watched() -> Iterator[None]:
    """Inside, the end of another process, or being told to end, is a ConnectionError.

    Raises:
        ConnectionError: see there; the message says how to go on.
    """
    if process_count() == 1:
        yield
        return

    def told_to_end(*_: Any) -> None:
        raise ConnectionError(f"told to end, since another process has, or by the system. {GO_ON}")

    before = signal.signal(signal.SIGTERM, told_to_end)
    try:
        yield
    except RuntimeError as error:
        said = str(error)
        if not any(word in said.lower() for word in LOST):
            raise
        why = said.strip().splitlines()[0]
        raise ConnectionError(f"another process has ended ({why}). {GO_ON}") from error
    finally:
        signal.signal(signal.SIGTERM, before)
