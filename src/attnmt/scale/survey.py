"""What one pass over a corpus that is larger than memory finds: its words, and how large it is.

What was found is kept in a file, so that the pass is made once, by one process of a machine.
"""

import os
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

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

    def most_frequent(self, size: int) -> tuple[str, ...]:
        """The words of a vocabulary, chosen as :meth:`.Vocabulary.build` does."""
        words = self.counts.keys() - set(SPECIALS)
        return tuple(sorted(words, key=lambda word: (-self.counts[word], word))[:size])


@dataclass(frozen=True)
class Survey:
    """What the pass found.

    ``sizes`` are the raw pairs of each lane, ``report`` says how many were read, dropped and kept,
    and ``tokens`` counts the target words of those, ``</s>`` included. ``words`` are the
    vocabularies of source and target, and ``fingerprint`` is a checksum of all raw pairs.
    """

    sizes: tuple[int, ...]
    report: dict[str, int]
    tokens: int
    words: tuple[tuple[str, ...], ...]
    fingerprint: str


SURVEY = TypeAdapter(Survey)


def kept_in(path: Path, make: Callable[[], Survey]) -> Survey:
    """The survey that a file holds; made and written first, where there is none.

    Of the processes of a machine, the first makes it, and the others wait for the file.

    Raises:
        ValueError: the file holds something else.
        OSError: it cannot be written.
    """
    while not path.exists():
        if os.environ.get("LOCAL_RANK", "0") == "0":
            write_aside(path, SURVEY.dump_json(make()))
        else:
            time.sleep(0.1)
    try:
        return SURVEY.validate_json(path.read_bytes())
    except ValueError as error:
        raise ValueError(
            f"{path} holds no survey of a corpus. Delete it: it will be made again"
        ) from error
