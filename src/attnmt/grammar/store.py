"""The parts of a corpus, drawn by the grammar and kept on disk: the second time they are only read.

A file is gzipped JSON. Its name tells with which arguments, source and word lists it was drawn. A
damaged one is not read, and where nothing can be written the samples are drawn each time: nothing
but time depends on these files, and anyone may delete them.
"""

import gzip
import hashlib
import json
import os
import zlib
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from attnmt.files import write_aside
from attnmt.grammar.generate import Grammar, fill, quotas
from attnmt.grammar.phrases import Sample
from attnmt.grammar.words import LEXICON

Parts = dict[str, list[Sample]]
PARTS = TypeAdapter(Parts)
WORTHWHILE = 2_000  # fewer samples are not kept: they are soon drawn
MOST_FILES = 20  # the oldest are removed: every edit of the grammar leaves some that fit no more


def draw(parts: dict[str, tuple[int, range]], side: int, seed: int) -> Parts:
    """So many samples of such lengths for each part, which has a seed of its own.

    Short sentences are more frequent in `train`, and `names` has a fresh name in each. No sentence
    comes twice, in whatever part. `side` 0 counts German words, 1 English.
    """
    seen: set[tuple[str, ...]] = set()
    drawn = {}
    for number, (part, (count, lengths)) in enumerate(parts.items()):
        grammar = Grammar(len(parts) * seed + number, fresh=part == "names")
        quota = quotas(count, lengths, 10 * (part == "train"))
        drawn[part] = fill(grammar, quota, side, seen=seen)
    return drawn


def draw_once(folders: list[Callable[[], Path]], *arguments) -> Parts:
    """What :func:`draw` returns for these arguments, kept on disk if it is worth it.

    `folders`: they tell where to keep it. The first that is not read-only is written to; all are
    looked into. One that is out of reach is no error.
    """
    key = hashlib.sha256(f"{arguments} {digest()}".encode()).hexdigest()
    paths = [folder / f"{key}.gz" for folder in writable(folders)]
    for path in paths:
        if parts := read(path):
            return parts
    parts = draw(*arguments)
    if sum(map(len, parts.values())) >= WORTHWHILE:
        for path in paths:
            with suppress(OSError):
                write(path, parts)
                break
    return parts


@cache
def digest() -> str:
    """A checksum of what decides which samples are drawn: this package's source and lexicon."""
    checksum = hashlib.sha256()
    for folder, kind in ((Path(__file__).parent, "*.py"), (LEXICON, "*.tsv")):
        for path in sorted(folder.glob(kind)):
            checksum.update(f"{path.name}\0".encode() + path.read_bytes() + b"\0")
    return checksum.hexdigest()


def writable(folders: list[Callable[[], Path]]) -> list[Path]:
    """The folders in which files may lie: not those that are read-only, or cannot be told."""
    found = []
    for folder in folders:
        with suppress(OSError, RuntimeError, ValueError):  # out of reach; no home; a relative path
            base = folder()
            if not base.exists() or base.stat().st_mode & 0o200:  # root could, but must not
                found.append(base / "grammar")
    return found


# --------------------------------------------------------------------------------------- files


def read(path: Path) -> Parts | None:
    """The samples of a file; None if it is missing or damaged."""
    try:
        return PARTS.validate_json(gzip.decompress(path.read_bytes()))
    except (OSError, EOFError, zlib.error, ValidationError):
        return None


def write(path: Path, parts: Parts) -> None:
    """Write a file, and remove the oldest. Raises OSError if it cannot be written."""
    content = json.dumps(parts, default=sorted)  # a set of links as they were drawn, in order
    write_aside(path, gzip.compress(content.encode(), compresslevel=3))
    for old in sorted(path.parent.iterdir(), key=os.path.getmtime)[:-MOST_FILES]:
        old.unlink(missing_ok=True)
