"""The parts of a corpus, drawn by the grammar and kept on disk: the second time they are only read.

A file is read only if it was made with the same arguments by the same grammar, source and lexicon
byte for byte, and if its checksum is right. In every other case, and where nothing can be written,
the samples are drawn: nothing but time depends on these files, and anyone may delete them.

A file is a SHA-256 checksum and a NumPy archive: words and classes as places in a list of names,
links as 256 times the German index plus the English one.
"""

from __future__ import annotations

import gc
import hashlib
import io
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from itertools import compress, islice
from pathlib import Path

import numpy as np

import attnmt.grammar
from attnmt.files import write_aside
from attnmt.grammar import Grammar, Sample, fill, quotas

Parts = dict[str, list[Sample]]
COLUMNS = ("german", "english", "german_classes", "english_classes")
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


@contextmanager
def uncollected() -> Iterator[None]:
    """Do not look for cycles of garbage: millions of small objects are made here, and no cycle."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


@uncollected()
def draw_once(folders: list[Callable[[], Path]], *arguments) -> Parts:
    """What :func:`draw` returns for these arguments, kept on disk if it is worth it.

    `folders`: they tell where to keep it. The first that is not read-only is written to; all are
    looked into. One that is out of reach is no error.
    """
    if digest() != IMPORTED:
        return draw(*arguments)
    key = hashlib.sha256(f"{arguments} {IMPORTED}".encode()).hexdigest()
    paths = [shelf / f"{key[:32]}.npz" for shelf in shelves(folders)]
    for path in paths:
        if parts := read(path, key):
            return parts
    parts = draw(*arguments)
    if sum(map(len, parts.values())) >= WORTHWHILE and digest() == IMPORTED:
        for path in paths:
            with suppress(OSError):
                write(path, key, parts)
                break
    return parts


def digest() -> str:
    """A checksum of what decides which samples are drawn: this package's source and lexicon."""
    checksum = hashlib.sha256()
    for folder, kind in ((Path(__file__).parent, "*.py"), (attnmt.grammar.LEXICON, "*.tsv")):
        for path in sorted(folder.glob(kind)):
            checksum.update(f"{path.name}\0".encode() + path.read_bytes() + b"\0")
    return checksum.hexdigest()


IMPORTED = digest()  # that of the code that runs, even if somebody edits its files meanwhile


def shelves(folders: list[Callable[[], Path]]) -> list[Path]:
    """The folders in which files may lie: not those that are read-only, or cannot be told."""
    found = []
    for folder in folders:
        with suppress(OSError, RuntimeError, ValueError):  # out of reach; no home; a relative path
            base = folder()
            if not base.exists() or base.stat().st_mode & 0o200:  # root could, but must not
                found.append(base / "grammar")
    return found


# --------------------------------------------------------------------------------------- files


def read(path: Path, key: str) -> Parts | None:
    """The samples of a file; None if it is missing, damaged, or not that of the key."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    if content[:32] != hashlib.sha256(key.encode() + content[32:]).digest():
        return None
    with np.load(io.BytesIO(content[32:])) as arrays:
        return unpacked({name: arrays[name].tolist() for name in arrays.files})


def write(path: Path, key: str, parts: Parts) -> None:
    """Write a file, and remove the oldest. Raises OSError if it cannot be written."""
    archive = io.BytesIO()
    np.savez_compressed(archive, **packed(parts))
    body = archive.getvalue()
    write_aside(path, hashlib.sha256(key.encode() + body).digest() + body)
    for old in sorted(path.parent.glob("*.npz"), key=os.path.getmtime)[:-MOST_FILES]:
        old.unlink(missing_ok=True)


def packed(parts: Parts) -> dict[str, np.ndarray]:
    """Samples as arrays, those of all parts one after the other."""
    samples = [sample for part in parts.values() for sample in part]
    arrays = {"parts": np.array([*parts]), "sizes": np.array([*map(len, parts.values())])}
    for column in COLUMNS:
        cells = [getattr(sample, column) for sample in samples]
        names = sorted({name for cell in cells for name in cell})
        place = {name: number for number, name in enumerate(names)}
        arrays[f"{column} names"] = np.array(names)
        arrays[f"{column} lengths"] = np.array([*map(len, cells)], np.uint8)
        arrays[column] = np.array([place[name] for cell in cells for name in cell], np.uint16)
    links = [(link, link in s.sure) for s in samples for link in sorted(s.possible)]
    arrays["links"] = np.array([256 * i + j for (i, j), _ in links], np.uint16)
    arrays["sure"] = np.array([sure for _, sure in links])
    arrays["counts"] = np.array([len(sample.possible) for sample in samples], np.uint16)
    return arrays


def unpacked(arrays: dict[str, list]) -> Parts:
    """The samples that :func:`packed` made arrays of; these come as lists."""
    columns = []
    for column in COLUMNS:
        names = map(arrays[f"{column} names"].__getitem__, arrays[column])
        columns.append([tuple(islice(names, n)) for n in arrays[f"{column} lengths"]])
    links = map(cache(lambda code: divmod(code, 256)), arrays["links"])
    flags = iter(arrays["sure"])
    found = []
    for count in arrays["counts"]:
        possible = tuple(islice(links, count))
        sure = tuple(compress(possible, islice(flags, count)))
        found.append((frozenset(sure), frozenset(possible)))
    rows = zip(*columns, found, strict=True)
    samples = (
        Sample(g, e, *sets, german_classes=kinds, english_classes=classes)
        for g, e, kinds, classes, sets in rows
    )
    return {
        part: list(islice(samples, size))
        for part, size in zip(arrays["parts"], arrays["sizes"], strict=True)
    }
