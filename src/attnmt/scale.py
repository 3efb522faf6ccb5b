"""Several processes that share a training, and text larger than memory: the extra attnmt[scale].

The batch is the recipe's, however many processes there are. Each computes the gradient of its own
rows, divided by the tokens (or sentences) of the whole; the sum over processes is then the gradient
that one process would have found, and so is the update.
"""

import glob
import gzip
import os
import signal
import zlib
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import zip_longest
from typing import Any, NoReturn

import torch
from accelerate import Accelerator
from datasets import Dataset, Features, Value
from datasets.exceptions import DatasetGenerationError
from torch import Tensor
from torch.nn.utils import parameters_to_vector, vector_to_parameters

from attnmt import __version__
from attnmt import training as core
from attnmt.batches import Batch, Source
from attnmt.checks import one_of, whole
from attnmt.devices import chosen_device
from attnmt.files import Checkpoint, remove_leftovers
from attnmt.pairs import Corpus, Pair, take_pairs
from attnmt.text import data_folder
from attnmt.training import History, Training
from attnmt.vocab import TOKENISERS


def other_ended(*_: Any) -> NoReturn:
    """End this process, since another one of its group has ended."""
    go_on = "The last checkpoint is whole: start all processes again with --resume"
    raise ConnectionError(f"another process has ended, or this one was told to. {go_on}")


def share_of(batch: Batch, first: int, step: int) -> Batch:
    """Every ``step``-th row of a batch from ``first`` on, with its padding; all much alike.

    It counts as the whole batch does.
    """
    rows = slice(first, None, step)
    ids = (batch.source.ids, batch.source.lengths, batch.source.mask)
    sides = (batch.target_in, batch.target_out, batch.target_mask)
    share = Batch(Source(*(part[rows] for part in ids)), *(side[rows] for side in sides))
    vars(share).update(tokens=batch.tokens, sentences=batch.sentences)
    return share


class SharedTraining(Training):
    """A training whose steps all processes of a group take together; the first one writes.

    What differs between them is the part of a batch that they learn from, and the dropout: its
    generator is seeded anew for each step, from the training's seed, the number of steps before and
    the process's own number. So a checkpoint needs no generator of theirs, and may be resumed by
    any number of processes.

    ``parts`` are those that a process cuts its share into, one after the other, to save memory.
    """

    def __init__(self, *what: Any, accelerator: Accelerator, parts: int, **how: Any):
        super().__init__(*what, **how)
        self.accelerator = accelerator
        self.size = accelerator.num_processes
        self.rank = accelerator.process_index
        self.parts = parts

    def sum(self, numbers: Tensor) -> Tensor:
        """The sum over all processes. Raises ConnectionError if another one has ended."""
        try:
            return self.accelerator.reduce(numbers, "sum")
        except RuntimeError:
            other_ended()

    def total(self, number: float) -> float:
        """The sum of a number over all processes."""
        return float(self.sum(torch.tensor(number, dtype=torch.float64, device=self.model.device)))

    def remaining(self) -> Iterator[Batch]:
        """This process's share of each batch that is left of the epoch."""
        for batch in super().remaining():
            if self.size > 1:
                place = self.seed * 1_000_003 + self.updates
                torch.manual_seed(place * 4_096 + self.rank)
            yield share_of(batch, self.rank, self.size)

    def losses(self, batch: Batch) -> Tensor:
        """The losses of this process's tokens; of all parts but the last the gradient is there."""
        found = []
        for first in range(self.parts):
            part = share_of(batch, first, self.parts)
            if not len(part.target_in):  # fewer rows than parts, or than processes
                continue
            if found:  # the gradient of the part before, whose memory is then free
                (found[-1].sum() / batch.count(self.recipe.per)).backward()
                found[-1] = found[-1].detach()
            found.append(self.objective(self.model, part))
        return torch.cat(found or [next(self.model.parameters()).sum().view(1) * 0])

    def clip(self, losses: Tensor) -> tuple[float, float]:
        """Add up the gradients and losses of all processes, and clip."""
        if self.size > 1:
            for weights in self.model.parameters():
                if weights.grad is None:
                    weights.grad = torch.zeros_like(weights)
            gradients = [weights.grad for weights in self.model.parameters()]
            vector_to_parameters(self.sum(parameters_to_vector(gradients)), gradients)
        loss, norm = super().clip(losses)
        return self.total(loss), norm

    def must_stop(self, asked: Any) -> bool:
        """Whether any process was asked to stop; all of them are told the same."""
        return self.total(asked.is_set()) > 0

    def begin(self, checkpoint: Checkpoint) -> None:
        """Go back to the checkpoint, the same for all processes; or write the first."""
        if checkpoint.path.exists():
            self.restore(checkpoint)
        if self.total(self.updates) != self.updates * self.size:
            raise ValueError(f"{checkpoint.path} is not the same file for all processes")
        if self.rank == 0:
            remove_leftovers(checkpoint.path)
        self.save()

    def save(self) -> None:
        """The first process writes. If it cannot, it ends, and so do the others."""
        if self.rank == 0:
            super().save()


def fit(
    *what: Any,
    device: torch.device | str | None = None,
    progress: bool = True,
    gradient_accumulation: int = 1,
    **how: Any,
) -> History:
    """As :func:`attnmt.training.fit`, by all processes that a launcher has started.

    Each process calls it with the same arguments. A checkpoint may be resumed by another number.

    Args:
        what, device, progress, how: arguments of that; on GPUs, each process has one of its own.
        gradient_accumulation: parts that a process cuts its share of a batch into, one after the
            other, to save memory.

    Raises:
        ConnectionError: another process has ended. ValueError: processes that cannot be joined.
    """
    whole(1, gradient_accumulation=gradient_accumulation)
    # by itself Accelerate joins only processes that have GPUs
    accelerator = Accelerator(cpu=chosen_device(device).type == "cpu")
    started = int(os.environ.get("WORLD_SIZE", "1"))  # by torchrun, accelerate launch ...
    if accelerator.num_processes < started:  # each would train a whole model of its own
        why = f"{started} processes were started, but they cannot be joined here"
        raise ValueError(f"{why}: start one, or give each a GPU, or name --device cpu")
    shared = partial(SharedTraining, accelerator=accelerator, parts=gradient_accumulation)
    how |= {"device": accelerator.device, "progress": progress and accelerator.is_main_process}
    before = signal.getsignal(signal.SIGTERM)
    if started > 1:  # launchers tell the others to end when one has
        signal.signal(signal.SIGTERM, other_ended)
    try:
        return core.fit(*what, training_type=shared, **how)
    finally:
        signal.signal(signal.SIGTERM, before)


# ------------------------------------------------------------------------ text larger than memory


COLUMNS = Features({name: Value("string") for name in list(Pair.__annotations__)[:4]})


class PairsOnDisk(Sequence[Pair]):
    """Pairs that lie in a file, in a table, each of which is read when it is asked for."""

    def __init__(self, table: Dataset):
        self.table = table

    def __len__(self) -> int:
        return len(self.table)

    def __getitem__(self, place: Any) -> Pair:
        return as_pair(**self.table[int(place)])

    def __iter__(self) -> Iterator[Pair]:
        return (as_pair(**row) for row in self.table)


def as_pair(source: str, target: str, source_text: str, target_text: str) -> Pair:
    """The pair of a row, whose words have spaces between them."""
    return Pair(tuple(source.split()), tuple(target.split()), source_text, target_text)


def large_corpus(
    train: str | Sequence[str],
    valid: str | Sequence[str],
    test: str | Sequence[str] = (),
    *,
    languages: tuple[str, str] = ("de", "en"),
    vocabulary_size: int = 30_000,
    lower: bool = False,
    max_length: int = 50,
    tokeniser: str = "moses",
) -> Corpus:
    """A corpus of any size: ``train`` stays on the disk, ``valid`` and ``test`` are in memory.

    The text is read once, cut into words, and kept in ``attnmt.text.data_folder()``, in ``large``;
    files that have changed are read again. Any pair of that table is at hand, so an epoch is mixed
    as a whole, and goes on from any place, as one in memory does.

    Args:
        train: raw pairs: ``data/train-*.tsv`` with source, tab, target; or two files or patterns,
            for source and target. Files may be gzipped.
        valid, test: the same. No pair of theirs is dropped for its length.
        languages, vocabulary_size, lower, max_length, tokeniser: as of :func:`.corpus_from_files`.

    Raises:
        ValueError, FileNotFoundError: what cannot be read as parallel text; a missing file.
    """
    origin = {"name": "large", **locals()}
    whole(1, vocabulary_size=vocabulary_size, max_length=max_length)
    one_of(TOKENISERS, tokeniser=tokeniser)
    how = {"languages": tuple(languages), "lower": lower, "tokeniser": tokeniser}
    held_out = [rows(shards_of(one), max_length=1_000_000, **how) for one in (valid, test)]
    shards = shards_of(train)
    stats = [os.stat(file) for shard in shards for file in shard]
    made_of = f"{__version__} {[(stat.st_size, stat.st_mtime_ns) for stat in stats]}"
    how |= {"shards": shards, "max_length": max_length, "made_of": made_of}
    workers = min(len(shards), os.cpu_count() or 1)
    where = {"features": COLUMNS, "cache_dir": str(data_folder() / "large")}
    try:  # the table is made again if any of these arguments is another
        table = Dataset.from_generator(rows, gen_kwargs=how, num_proc=workers, **where)
    except DatasetGenerationError as error:
        raise (error.__cause__ or error) from None
    return Corpus(
        "large-" + "-".join(languages),
        *languages,
        PairsOnDisk(table),
        *([as_pair(**row) for row in found] for found in held_out),
        vocabulary_size=vocabulary_size,
        lower=lower,
        tokeniser=tokeniser,
        origin=origin,
        report={"kept": len(table)},
    )


def shards_of(place: str | Sequence[str]) -> list[tuple[str, ...]]:
    """The files of a place, or its couples of files."""
    patterns = [place] if isinstance(place, str) else place
    sides = [sorted(glob.glob(one)) for one in patterns]
    if [] in sides:
        raise FileNotFoundError(f"no file {patterns[sides.index([])]}")
    if len(sides) > 2 or len({len(files) for files in sides}) > 1:
        raise ValueError(f"{place} are not files, or as many files for source as for target")
    return list(zip(*sides, strict=True))


def lines_of(file: str) -> Iterator[str]:
    """The lines of a file, plain or gzipped, one after the other."""
    opened = gzip.open if file.endswith(".gz") else open
    try:
        with opened(file, "rt", encoding="utf-8-sig") as text:
            yield from (line.removesuffix("\n") for line in text)
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise ValueError(f"{file} could not be read ({error})") from error


def rows(
    shards: list[tuple[str, ...]], languages: Sequence[str], made_of: str = "", **how: Any
) -> Iterator[dict[str, str]]:
    """The pairs that are kept, a row each: words of source and target, and their raw texts."""
    numbered = ((s, row) for s in shards for row in enumerate(zip_longest(*map(lines_of, s)), 1))
    for files, (number, found) in numbered:
        texts = found if len(found) == 2 else found[0].split("\t")
        if len(found) == 1 and not found[0].strip():  # an empty line
            texts = ["", ""]
        if len(texts) < 2 or None in texts:
            raise ValueError(f"{' and '.join(files)}, row {number}: no pair of sentences there")
        for pair in take_pairs([tuple(texts[:2])], languages, report={}, **how):
            words = {"source": " ".join(pair.source), "target": " ".join(pair.target)}
            yield words | {"source_text": pair.source_text, "target_text": pair.target_text}
