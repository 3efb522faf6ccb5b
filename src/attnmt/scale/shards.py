"""The files of a parallel corpus, read line by line: whatever is wrong is told by file and line.

A place is written as a pattern (``data/train-*.jsonl``), as two patterns for source and target
(``["data/train-*.de", "data/train-*.en"]``), or as ``hub:NAME:CONFIGURATION:SPLIT`` for a data set
of the Hugging Face hub. The file's ending says what it is: ``.jsonl`` and ``.json`` are JSON lines,
``.parquet`` is parquet, and anything else is text: two files in step, or one with source, tab,
target. Text and JSON lines may be gzipped.
"""

import glob
import gzip
import json
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any

import pyarrow
from pyarrow.parquet import ParquetFile

Text = tuple[str, str]  # a raw sentence and its translation
Shard = tuple[str, ...]  # one file, or two in step
NUMBERED = re.compile(r"\d+-of-0*(\d+)")  # train-00003-of-00010


def files_of(pattern: str) -> list[str]:
    """The files that a pattern names, sorted.

    Raises:
        FileNotFoundError: there is none, or not as many as their names say (``-of-00010``).
    """
    found = sorted(glob.glob(str(pattern)))
    if not found:
        raise FileNotFoundError(f"no file {pattern}")
    numbered = [match for name in found if (match := NUMBERED.search(name))]
    expected = int(numbered[0][1]) if numbered else len(found)
    if len(numbered or found) != expected:
        raise FileNotFoundError(
            f"{pattern} has {len(numbered)} files, but their names say that there are {expected}"
        )
    return found


def shards_of(place: str | Sequence[str]) -> list[Shard]:
    """The shards of a place; see the module.

    Raises:
        FileNotFoundError: a file or its partner is missing.
        ValueError: more than two patterns.
    """
    patterns = [place] if isinstance(place, str) else list(place)
    if len(patterns) > 2:
        raise ValueError(f"{place} must be one pattern, or two for source and target")
    sides = [files_of(pattern) for pattern in patterns]
    if len({len(files) for files in sides}) > 1:
        (one, other) = patterns
        raise FileNotFoundError(
            f"{one} has {len(sides[0])} files and {other} has {len(sides[1])}: one is missing"
        )
    return list(zip(*sides, strict=True))


def read(shard: Shard, languages: tuple[str, str], first: int = 0, step: int = 1) -> Iterator[Text]:
    """The pairs of a shard: every ``step``-th, from number ``first`` on.

    Args:
        shard: one file, or two in step.
        languages: names of the columns, where a file has columns with names; ``source`` and
            ``target`` will also do, alone or inside a column ``translation``.
        first, step: which ones; the others are not decoded.

    Raises:
        FileNotFoundError: no such file.
        ValueError: what the file holds is not parallel text; the message names file and line.
    """
    path = shard[0]
    if len(shard) == 2:
        yield from _read_two(shard, first, step)
    elif path.endswith(".parquet"):
        for row, example in islice(enumerate(_parquet(path), 1), first, None, step):
            yield pick(example, languages, f"{path}, row {row}")
    else:
        as_json = path.removesuffix(".gz").endswith((".json", ".jsonl"))
        for number, line in islice(enumerate(_lines(path), 1), first, None, step):
            where = f"{path}, line {number}"
            text = _decoded(line, where)
            yield pick(_json(text, where), languages, where) if as_json else _tab(text, where)


def _read_two(shard: Shard, first: int, step: int) -> Iterator[Text]:
    """Two text files, line by line."""
    source, target = shard
    together = zip_longest(_lines(source), _lines(target))
    for number, lines in islice(enumerate(together, 1), first, None, step):
        if None in lines:
            ended, other = (source, target) if lines[0] is None else (target, source)
            raise ValueError(
                f"{other}, line {number}: {ended} has no such line. The files must have as many "
                "lines; look where they fall out of step."
            )
        yield (
            _decoded(lines[0], f"{source}, line {number}"),
            _decoded(lines[1], f"{target}, line {number}"),
        )


def _lines(path: str) -> Iterator[bytes]:
    """The lines of a file, plain or gzipped, as bytes."""
    with open(path, "rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    number = 1
    with (gzip.open if packed else open)(path, "rb") as file:
        try:
            for line in file:
                yield line
                number += 1
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise ValueError(f"{path}, line {number}: a damaged gzip file ({error})") from error


def _decoded(line: bytes, where: str) -> str:
    if b"\0" in line:
        raise ValueError(f"{where}: a zero byte; this is not a file of UTF-8 text")
    try:
        return line.decode("utf-8-sig").rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{where}: not UTF-8 ({error.reason}). Convert the file, for instance with iconv"
        ) from error


def _tab(text: str, where: str) -> Text:
    source, tab, rest = text.partition("\t")
    if not tab:
        raise ValueError(f"{where}: no tab between a sentence and its translation")
    return source, rest.partition("\t")[0]


def _json(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"{where}: not JSON ({error.msg}, column {error.colno})") from error


def _parquet(path: str) -> Iterator[Mapping[str, Any]]:
    if not Path(path).exists():
        raise FileNotFoundError(f"no file {path}")
    try:
        for rows in ParquetFile(path).iter_batches(batch_size=1_000):
            yield from rows.to_pylist()
    except (pyarrow.ArrowInvalid, OSError) as error:
        raise ValueError(f"{path} is damaged, or not a parquet file ({error})") from error


def pick(example: Any, languages: tuple[str, str], where: str) -> Text:
    """Source and target of an example with named columns.

    Raises:
        ValueError: it has none of the names that :func:`read` knows.
    """
    inner = example.get("translation", example) if isinstance(example, Mapping) else {}
    for names in (languages, ("source", "target")):
        found = tuple(inner.get(name) for name in names)
        if all(isinstance(text, str) for text in found):
            return found
    raise ValueError(
        f"{where}: no text under {languages[0]!r} and {languages[1]!r}, nor under 'source' and "
        "'target'"
    )
