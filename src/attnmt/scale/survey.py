"""One pass over a corpus that is larger than memory: its most frequent words, and how large it is.

What was found is kept in a file, so that the pass is made once, by one process of a machine.
"""

import hashlib
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import TypeAdapter

from attnmt.files import write_aside
from attnmt.vocab import SPECIALS

MOST_WORDS = 2_000_000  # different words a side that are counted at the same time


class Counts:
    """Counts the words of a text in bounded memory (Misra and Gries 1982).

    When there are more than ``most`` different words, every count is lowered by 1, and words that
    are then at 0 are dropped. So a count may be too small, by at most ``forgotten``.

    Args:
        most: different words that are remembered.
    """

    def __init__(self, most: int = MOST_WORDS):
        self.most = most
        self.counts: Counter[str] = Counter()
        self.forgotten = 0

    def add(self, words: Iterable[str]) -> None:
        """Count the words of a sentence."""
        self.counts.update(words)
        while len(self.counts) > self.most:
            self.forgotten += 1
            self.counts = Counter({word: n - 1 for word, n in self.counts.items() if n > 1})


@dataclass(frozen=True)
class Survey:
    """What the pass found.

    ``sizes`` are the raw pairs of each lane. ``read``, ``empty``, ``too_long`` and ``kept`` count
    pairs, ``tokens`` target words of the pairs that were kept, ``</s>`` included. ``words`` are the
    vocabularies of source and target, ``forgotten`` says by how much a word's count may be too
    small, and ``fingerprint`` is a checksum of all pairs, lane by lane.
    """

    sizes: tuple[int, ...]
    read: int
    empty: int
    too_long: int
    kept: int
    tokens: int
    words: tuple[tuple[str, ...], tuple[str, ...]]
    forgotten: int
    fingerprint: str
    seconds: float
    format: Literal["attnmt-survey-1"] = "attnmt-survey-1"


SURVEY = TypeAdapter(Survey)


Words = tuple[Sequence[str], Sequence[str]]


def look_over(
    lanes: Iterable[Iterable[tuple[str, str]]],
    words_of: Callable[[tuple[str, str]], Words],
    vocabulary_size: int,
    max_length: int,
) -> Survey:
    """Read every lane once.

    Args:
        lanes: raw pairs, in lanes.
        words_of: cuts a raw pair into words.
        vocabulary_size: words to keep, a side.
        max_length: pairs with more words on either side are not counted.

    Raises:
        ValueError: there is no pair to learn from; or, from the reading, what is wrong in a file.
    """
    began = time.perf_counter()
    counts = Counts(), Counts()
    seen: Counter[str] = Counter()
    sizes = []
    digest = hashlib.sha256()
    for lane in lanes:
        size = 0
        for texts in lane:
            size += 1
            digest.update(f"{texts[0]}\t{texts[1]}\n".encode())
            words = words_of(texts)
            fate = verdict(words, max_length)
            seen[fate] += 1
            if fate == "kept":
                seen["tokens"] += len(words[1]) + 1
                for side, counted in zip(words, counts, strict=True):
                    counted.add(side)
        sizes.append(size)
    if not seen["kept"]:
        raise ValueError(f"no pair to learn from, of {sum(sizes):,} read")
    return Survey(
        sizes=tuple(sizes),
        read=sum(sizes),
        words=tuple(most_frequent(counted, vocabulary_size) for counted in counts),
        forgotten=max(counted.forgotten for counted in counts),
        fingerprint=digest.hexdigest()[:16],
        seconds=time.perf_counter() - began,
        **{name: seen[name] for name in ("empty", "too_long", "kept", "tokens")},
    )


def verdict(words: Words, max_length: int) -> str:
    """What becomes of a pair: ``"empty"``, ``"too_long"`` or ``"kept"``."""
    if not words[0] or not words[1]:
        return "empty"
    return "too_long" if max(map(len, words)) > max_length else "kept"


def most_frequent(counted: Counts, size: int) -> tuple[str, ...]:
    """The words of the vocabulary, chosen as :meth:`.Vocabulary.build` does."""
    for special in SPECIALS:
        counted.counts.pop(special, None)
    by_frequency = sorted(counted.counts.items(), key=lambda word: (-word[1], word[0]))
    return tuple(word for word, _ in by_frequency[:size])


def kept_in(path: Path, make: Callable[[], Survey]) -> Survey:
    """The survey that a file holds; made and written first, where there is none.

    Of the processes of a machine, the first makes it, and the others wait for the file.

    Raises:
        ValueError: the file holds something else.
        OSError: it cannot be written.
    """
    first = os.environ.get("LOCAL_RANK", "0") == "0"
    while not path.exists():
        if first:
            made = make()
            write_aside(path, SURVEY.dump_json(made))
            return made
        time.sleep(0.1)
    try:
        return SURVEY.validate_json(path.read_bytes())
    except ValueError as error:
        raise ValueError(
            f"{path} holds no survey of a corpus. Delete it: it will be made again"
        ) from error
