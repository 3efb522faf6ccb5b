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
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice, pairwise
from pathlib import Path

from attnmt.batches import Batch, make_batch
from attnmt.checks import one_of, whole
from attnmt.corpus import Corpus, Pair
from attnmt.recipes import Recipe
from attnmt.scale.shards import Place, Text, read, shards_of
from attnmt.scale.survey import Counts, Survey, kept_in
from attnmt.text import data_folder
from attnmt.vocab import Vocabulary, detokenise, tokenise

TOKENISERS = ("moses", "spaces")


@dataclass(frozen=True)
class Stream:
    """Pairs that are read as they are needed, in place of a list; see :func:`stream`.

    Attributes:
        place: where the raw pairs are, see :mod:`attnmt.scale.shards`.
        languages, vocabulary_size, lower, max_length, tokeniser, lanes, buffer: as there.
    """

    place: Place
    languages: tuple[str, str]
    vocabulary_size: int
    lower: bool
    max_length: int
    tokeniser: str
    lanes: int
    buffer: int

    def texts(self, lane: int) -> Iterator[Text]:
        """The raw pairs of a lane, in the order of the files."""
        return read(self.place, self.languages, lane, self.lanes)

    def pair(self, raw: Text) -> tuple[str, Pair]:
        """What becomes of a raw pair, ``"kept"``, ``"empty"`` or ``"too long"``, and its words."""
        if self.tokeniser == "moses":
            text = [" ".join(side.split()) for side in raw]
            words = [tokenise(*side, self.lower) for side in zip(text, self.languages, strict=True)]
        else:
            words = [(side.lower() if self.lower else side).split() for side in raw]
        source, target = map(tuple, words)
        fate = "kept" if source and target else "empty"
        if max(len(source), len(target)) > self.max_length:
            fate = "too long"
        return fate, Pair(source, target, *raw)

    def kept(self, texts: Iterable[Text]) -> Iterator[Pair]:
        """The pairs that are kept, of raw ones."""
        return (pair for fate, pair in map(self.pair, texts) if fate == "kept")

    def __iter__(self) -> Iterator[Pair]:
        """All pairs that are kept, lane by lane."""
        return (pair for lane in range(self.lanes) for pair in self.kept(self.texts(lane)))

    def __len__(self) -> int:
        """Raw pairs, as if every lane were as long as the longest: it decides on an epoch's end."""
        return self.lanes * max(self.survey.sizes)

    @property
    def tokens(self) -> int:
        """Target tokens of all pairs that are kept, ``</s>`` included."""
        return self.survey.tokens

    @cached_property
    def survey(self) -> Survey:
        """What one pass over all pairs finds; it is kept in a file of ``data_folder()``.

        That is another file for other settings, for other files, and for files that have changed.
        """
        settings = {name: value for name, value in vars(self).items() if name != "buffer"}
        paths = [Path(file) for shard in shards_of(self.place) for file in shard]
        files = [
            [str(path.resolve()), path.stat().st_size, path.stat().st_mtime_ns] for path in paths
        ]
        name = hashlib.sha256(json.dumps([settings, files]).encode()).hexdigest()[:16]
        return kept_in(data_folder() / "streams" / f"{name}.json", self.look_over)

    def look_over(self) -> Survey:
        """Read every lane once.

        Raises:
            ValueError: there is no pair to learn from; or what is wrong in a file.
        """
        counts = Counts(), Counts()
        fates: Counter[str] = Counter()
        digest = hashlib.sha256()
        sizes: list[int] = []
        tokens = 0
        for lane in range(self.lanes):
            for raw in self.texts(lane):
                digest.update(f"{raw[0]}\t{raw[1]}\n".encode())
                fate, pair = self.pair(raw)
                fates[fate] += 1
                if fate == "kept":
                    counts[0].add(pair.source)
                    counts[1].add(pair.target)
                    tokens += len(pair.target) + 1
            sizes.append(fates.total() - sum(sizes))
        if not fates["kept"]:
            raise ValueError(f"no pair to learn from, of {fates.total():,} read")
        return Survey(
            tuple(sizes),
            report={"read": fates.total(), **dict(sorted(fates.items()))},
            tokens=tokens,
            words=tuple(counted.most_frequent(self.vocabulary_size) for counted in counts),
            fingerprint=digest.hexdigest()[:16],
        )

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
        quota, rest = divmod(recipe.pool * recipe.batch_size, self.lanes)  # pairs of a lane
        if of > self.lanes:
            raise ValueError(
                f"{of} processes cannot share {self.lanes} lanes: set corpus.lanes to {of}"
            )
        if rest:
            raise ValueError(
                f"lanes={self.lanes} must divide pool x batch_size, {recipe.pool} x "
                f"{recipe.batch_size}"
            )
        pools, inside = divmod(done, recipe.pool)
        readers = [
            mixed(self.texts(lane), self.buffer, random.Random(seed + lane))
            for lane in range(process, self.lanes, of)
        ]
        longest = max(self.survey.sizes)
        for number in range(math.ceil(longest / quota)):
            texts = [list(islice(reader, quota)) for reader in readers]
            if number < pools:
                continue
            left = (longest - number * quota) * self.lanes
            parts = min(recipe.pool, math.ceil(left / recipe.batch_size))
            order = list(range(parts))
            random.Random(f"{seed} {number}").shuffle(order)
            cut = [self.cut(of_lane, parts) for of_lane in texts]
            for part in order[inside:]:
                pairs = [pair for of_lane in cut for pair in of_lane[part]]
                yield make_batch(pairs, *vocabularies) if pairs else None
            inside = 0

    def cut(self, texts: list[Text], parts: int) -> list[list[Pair]]:
        """Sort raw pairs by length and cut them into so many parts, as even as can be."""
        pairs = sorted(self.kept(texts), key=lambda pair: (len(pair.target), len(pair.source)))
        ends = [part * len(pairs) // parts for part in range(parts + 1)]
        return [pairs[start:end] for start, end in pairwise(ends)]


def mixed(texts: Iterator[Text], buffer: int, draw: random.Random) -> Iterator[Text]:
    """Texts in another order: each time, one is drawn from a buffer of those that come next."""
    waiting = list(islice(texts, buffer))
    for text in texts:
        place = draw.randrange(buffer)
        yield waiting[place]
        waiting[place] = text
    draw.shuffle(waiting)
    yield from waiting


class Streamed(Corpus):
    """A corpus whose ``train`` is a :class:`Stream`."""

    @cached_property
    def source_vocabulary(self) -> Vocabulary:
        """The most frequent source words of ``train``."""
        return Vocabulary(self.train.survey.words[0], self.source_language, self.lower)

    @cached_property
    def target_vocabulary(self) -> Vocabulary:
        """The most frequent target words of ``train``."""
        return Vocabulary(self.train.survey.words[1], self.target_language, self.lower)

    @cached_property
    def fingerprint(self) -> str:
        """A checksum of every pair and of how they are read."""
        found = self.train.survey
        held_out = [[pair.source, pair.target] for pair in (*self.valid, *self.test)]
        how = [found.fingerprint, found.sizes, self.train.buffer, held_out]
        return hashlib.sha256(json.dumps(how).encode()).hexdigest()[:16]


def stream(
    train: Place,
    valid: Place,
    test: Place | None = None,
    *,
    languages: tuple[str, str] = ("de", "en"),
    vocabulary_size: int = 30_000,
    lower: bool = False,
    max_length: int = 50,
    tokeniser: str = "moses",
    lanes: int = 16,
    buffer: int = 1_000,
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

    Raises:
        FileNotFoundError: a file is missing.
        ValueError: what cannot be read as parallel text; the message names file and line.
        DataUnavailable: a data set of the hub cannot be reached.
        OSError: what the pass finds cannot be written.
    """
    one_of(TOKENISERS, tokeniser=tokeniser)
    whole(1, vocabulary_size=vocabulary_size, max_length=max_length, lanes=lanes, buffer=buffer)
    source, target = languages
    learned = Stream(
        train,
        (source, target),
        vocabulary_size,
        lower,
        max_length=max_length,
        tokeniser=tokeniser,
        lanes=lanes,
        buffer=buffer,
    )
    return Streamed(
        f"stream-{source}-{target}",
        source,
        target,
        train=learned,
        valid=held_out(learned, valid),
        test=held_out(learned, test) if test else [],
        vocabulary_size=vocabulary_size,
        lower=lower,
        report=learned.survey.report,
    )


def held_out(learned: Stream, place: Place) -> list[Pair]:
    """All pairs of a place, read as others are; their raw text is as a model would write it."""
    whole_place = replace(learned, place=place, max_length=sys.maxsize, lanes=1)
    pairs = whole_place.kept(whole_place.texts(0))
    if learned.tokeniser == "moses":
        return list(pairs)
    source, target = learned.languages
    return [
        replace(
            pair,
            source_text=detokenise(pair.source, source),
            target_text=detokenise(pair.target, target),
        )
        for pair in pairs
    ]
