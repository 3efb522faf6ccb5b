"""A corpus that is read as it is needed: its size is bounded by the disk, not by memory.

The raw pairs are dealt to a fixed number of *lanes*, and each process reads some of the lanes. A
batch is made of a part of every lane, so it holds the same pairs whether one process reads all
lanes or sixteen read one each. A place in an epoch is therefore one number, the batches done: that
is how a training goes on in the middle of an epoch, with as many processes as there are then.
"""

import hashlib
import json
import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import count, islice
from pathlib import Path
from typing import Any

from datasets import IterableDataset, load_dataset
from datasets.distributed import split_dataset_by_node

from attnmt.batches import Batch, make_batch
from attnmt.checks import one_of, whole
from attnmt.corpus import Corpus, Pair
from attnmt.recipes import Recipe
from attnmt.scale.shards import Text, files_of, pick, read, shards_of
from attnmt.scale.survey import Survey, Words, kept_in, look_over, verdict
from attnmt.text import DataUnavailable, data_folder
from attnmt.vocab import Vocabulary, detokenise, tokenise

TOKENISERS = ("moses", "spaces")
HUB = "hub:"


@dataclass(frozen=True)
class Reading:
    """Where the raw pairs are, and how they are cut into words.

    Attributes:
        place: see :mod:`attnmt.scale.shards`.
        languages: of source and target.
        lower: write everything in lower case.
        max_length: pairs with more words on either side are dropped.
        tokeniser: ``"moses"``, or ``"spaces"`` for text that is already cut into words, or into
            pieces of words.
        lanes: how many lanes the pairs are dealt to: at least as many as processes.
    """

    place: str | Sequence[str]
    languages: tuple[str, str]
    lower: bool
    max_length: int
    tokeniser: str
    lanes: int

    def texts(self, number: int) -> Iterator[Text]:
        """The raw pairs of a lane, in the order of the files.

        Where the files can be shared out evenly, a lane has files of its own. If not, all lanes
        read all files, and each takes its own lines.
        """
        if isinstance(self.place, str) and self.place.startswith(HUB):
            lane = split_dataset_by_node(from_hub(self.place), number, self.lanes)
            for row, example in enumerate(lane, 1):
                yield pick(example, self.languages, f"{self.place}, example {row} of a lane")
            return
        shards = shards_of(self.place)
        first, step = number, self.lanes
        if len(shards) % self.lanes == 0:
            shards, first, step = shards[number :: self.lanes], 0, 1
        for shard in shards:
            yield from read(shard, self.languages, first, step=step)

    def words(self, texts: Text) -> Words:
        """A raw pair, cut into words."""
        if self.tokeniser == "spaces":
            source, target = (text.lower() if self.lower else text for text in texts)
            return source.split(), target.split()
        return tuple(
            tokenise(" ".join(text.split()), language, self.lower)
            for text, language in zip(texts, self.languages, strict=True)
        )

    def pairs(self, texts: Iterator[Text]) -> Iterator[Pair]:
        """The pairs that are kept."""
        for raw in texts:
            words = self.words(raw)
            if verdict(words, self.max_length) == "kept":
                yield Pair(tuple(words[0]), tuple(words[1]), *raw)


def from_hub(place: str) -> IterableDataset:
    """A data set of the Hugging Face hub, streamed: ``hub:NAME:CONFIGURATION:SPLIT``.

    Raises:
        DataUnavailable: it cannot be reached, or there is none of that name.
    """
    name, configuration, split, *_ = [*place.removeprefix(HUB).split(":"), "", ""]
    try:
        return load_dataset(name, configuration or None, split=split or "train", streaming=True)
    except Exception as error:  # of many kinds, by library and version
        raise DataUnavailable(
            f"{place} could not be opened ({type(error).__name__}: {error}). Is there a network, "
            "and a data set of that name, configuration and split?"
        ) from error


def mixed(texts: Iterator[Text], buffer: int, draw: random.Random) -> Iterator[Text]:
    """Texts in another order: each time, one is drawn from a buffer of those that come next."""
    waiting = list(islice(texts, buffer))
    for text in texts:
        place = draw.randrange(buffer)
        yield waiting[place]
        waiting[place] = text
    draw.shuffle(waiting)
    yield from waiting


@dataclass(frozen=True)
class Stream:
    """Pairs to learn from, in place of a list of them.

    Attributes:
        reading: where they are.
        sizes: raw pairs of each lane.
        tokens: target tokens of all pairs that are kept, ``</s>`` included.
        buffer: raw pairs among which a lane draws the next one: the larger, the better shuffled.
    """

    reading: Reading
    sizes: tuple[int, ...]
    tokens: int
    buffer: int

    def __len__(self) -> int:
        """Raw pairs, as if every lane were as long as the longest: it decides on an epoch's end."""
        return len(self.sizes) * max(self.sizes)

    def __iter__(self) -> Iterator[Pair]:
        """All pairs that are kept, lane by lane."""
        for number in range(self.reading.lanes):
            yield from self.reading.pairs(self.reading.texts(number))

    def shuffled(self, number: int, seed: int, done: int) -> Iterator[Text]:
        """A lane's raw pairs in an order that follows the seed, without the first ``done``."""
        texts = self.reading.texts(number)
        return islice(mixed(texts, self.buffer, random.Random(seed)), done, None)

    def batches(
        self,
        vocabularies: tuple[Vocabulary, Vocabulary],
        recipe: Recipe,
        seed: int,
        *,
        process: int = 0,
        of: int = 1,
        done: int = 0,
    ) -> Iterator[Batch | None]:
        """One process's share of an epoch's batches; None where it has no pair of a batch.

        As in :func:`attnmt.batches.by_length`, ``pool`` batches are sorted by length together: of
        the raw pairs that make them, every lane sorts its own, cuts them into ``pool`` parts, and
        shuffles these as all other lanes do. Part by part the lanes are then of like length.

        Args:
            vocabularies: of source and target.
            recipe: its ``batch_size``, in raw pairs, and its ``pool``.
            seed: of the order.
            process, of: which process this is, of how many.
            done: batches of the epoch that were learned from before.

        Raises:
            ValueError: more processes than lanes, or lanes that do not divide a pool's pairs.
        """
        lanes = len(self.sizes)
        quota = recipe.pool * recipe.batch_size // lanes
        self._check(recipe, of, quota)
        pools, inside = divmod(done, recipe.pool)
        readers = [
            self.shuffled(lane, seed=seed + lane, done=pools * quota)
            for lane in range(process, lanes, of)
        ]
        for number in count(pools):
            left = max(self.sizes) - number * quota
            if left <= 0:
                return
            parts = min(recipe.pool, math.ceil(left * lanes / recipe.batch_size))
            order = list(range(parts))
            random.Random(f"{seed} {number}").shuffle(order)
            cut = [self.cut(list(islice(reader, quota)), parts) for reader in readers]
            for part in order[inside:]:
                pairs = [pair for of_lane in cut for pair in of_lane[part]]
                yield make_batch(pairs, *vocabularies) if pairs else None
            inside = 0

    def cut(self, texts: list[Text], parts: int) -> list[list[Pair]]:
        """Sort raw pairs by length and cut them into so many parts, as even as can be."""
        pairs = sorted(
            self.reading.pairs(iter(texts)), key=lambda pair: (len(pair.target), len(pair.source))
        )
        ends = [part * len(pairs) // parts for part in range(parts + 1)]
        return [pairs[ends[part] : ends[part + 1]] for part in range(parts)]

    def _check(self, recipe: Recipe, of: int, quota: int) -> None:
        lanes = len(self.sizes)
        if of > lanes:
            raise ValueError(f"{of} processes cannot share {lanes} lanes: set corpus.lanes to {of}")
        if quota * lanes != recipe.pool * recipe.batch_size:
            raise ValueError(
                f"lanes={lanes} must divide pool x batch_size, {recipe.pool} x {recipe.batch_size}"
            )


@dataclass(frozen=True)
class Streamed(Corpus):
    """A corpus whose ``train`` is a :class:`Stream`; ``survey`` is what was found in it."""

    survey: Survey | None = None

    @cached_property
    def source_vocabulary(self) -> Vocabulary:
        """The most frequent source words of ``train``."""
        return Vocabulary(self.survey.words[0], self.source_language, self.lower)

    @cached_property
    def target_vocabulary(self) -> Vocabulary:
        """The most frequent target words of ``train``."""
        return Vocabulary(self.survey.words[1], self.target_language, self.lower)

    @cached_property
    def fingerprint(self) -> str:
        """A checksum of every pair and of how they are read."""
        held_out = [[pair.source, pair.target] for pair in (*self.valid, *self.test)]
        how = [self.survey.fingerprint, self.survey.sizes, self.train.buffer, held_out]
        return hashlib.sha256(json.dumps(how).encode()).hexdigest()[:16]


def stream(
    train: str | Sequence[str],
    valid: str | Sequence[str],
    test: str | Sequence[str] | None = None,
    *,
    languages: tuple[str, str] = ("de", "en"),
    vocabulary_size: int = 30_000,
    lower: bool = False,
    max_length: int = 50,
    tokeniser: str = "moses",
    lanes: int = 16,
    buffer: int = 1_000,
    survey: str | None = None,
) -> Streamed:
    """A corpus of any size: ``train`` is read as it is needed, ``valid`` and ``test`` at once.

    Before, one pass over ``train`` finds its vocabularies and sizes. It is made once and kept.

    Args:
        train: see :mod:`attnmt.scale.shards`. As many files as lanes, or a multiple of that, are
            shared out; otherwise every lane reads all files, and takes its own lines.
        valid, test: the same. No pair of theirs is dropped for its length.
        languages: two letters each.
        vocabulary_size: words a side.
        lower: write everything in lower case.
        max_length: pairs of ``train`` with more words on either side are dropped.
        tokeniser: ``"moses"``, or ``"spaces"`` for text that is already cut into words or pieces.
        lanes: how many lanes ``train`` is dealt to: at least as many as processes, and a divisor
            of the recipe's ``pool`` times ``batch_size``.
        buffer: raw pairs of a lane among which the next one is drawn; 1 keeps their order. The
            order of the files is kept beyond that: shuffle them once if they are sorted.
        survey: the file that keeps what the pass finds; by itself one in
            ``attnmt.text.data_folder()``.

    Raises:
        FileNotFoundError: a file is missing.
        ValueError: what cannot be read as parallel text; the message names file and line.
        DataUnavailable: a data set of the hub cannot be reached.
        OSError: the survey cannot be written.
    """
    one_of(TOKENISERS, tokeniser=tokeniser)
    whole(1, vocabulary_size=vocabulary_size, max_length=max_length, lanes=lanes, buffer=buffer)
    languages = tuple(languages)
    how = {"languages": languages, "lower": lower, "tokeniser": tokeniser}
    reading = Reading(train, **how, max_length=max_length, lanes=lanes)
    held_out = [
        whole_part(Reading(part, **how, max_length=10**9, lanes=1)) if part else []
        for part in (valid, test)
    ]
    make = partial(survey_of, reading, vocabulary_size)
    found = kept_in(Path(survey or survey_file(reading, vocabulary_size)), make)
    report = {"read": found.read, "empty": found.empty, "too long": found.too_long}
    learned = Stream(reading, found.sizes, found.tokens, buffer=buffer)
    return Streamed(
        f"stream-{languages[0]}-{languages[1]}",
        *languages,
        learned,
        *held_out,
        vocabulary_size=vocabulary_size,
        lower=lower,
        report={name: number for name, number in report.items() if number} | {"kept": found.kept},
        survey=found,
    )


def whole_part(reading: Reading) -> list[Pair]:
    """All pairs of a part that is held in memory, their raw text as a model would write it."""
    pairs = reading.pairs(reading.texts(0))
    if reading.tokeniser == "moses":
        return list(pairs)
    source, target = reading.languages
    return [
        replace(
            pair,
            source_text=detokenise(pair.source, source),
            target_text=detokenise(pair.target, target),
        )
        for pair in pairs
    ]


def survey_of(reading: Reading, vocabulary_size: int) -> Survey:
    """Look over all lanes."""
    lanes = [reading.texts(number) for number in range(reading.lanes)]
    return look_over(lanes, reading.words, vocabulary_size, max_length=reading.max_length)


def survey_file(reading: Reading, vocabulary_size: int) -> Path:
    """Where a survey is kept: another file for other settings, other files, or changed ones."""
    what: list[Any] = [vars(reading), vocabulary_size]
    if not (isinstance(reading.place, str) and reading.place.startswith(HUB)):
        patterns = [reading.place] if isinstance(reading.place, str) else reading.place
        files = [Path(file) for pattern in patterns for file in files_of(pattern)]
        what += [
            [str(file.resolve()), file.stat().st_size, file.stat().st_mtime_ns] for file in files
        ]
    name = hashlib.sha256(json.dumps(what).encode()).hexdigest()[:16]
    return data_folder() / "streams" / f"{name}.json"
