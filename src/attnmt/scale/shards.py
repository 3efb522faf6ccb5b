"""Where raw pairs come from: text line by line, and by datasets whatever has columns with names.

A place is written as a pattern (``data/train-*.jsonl``), as two patterns for source and target
(``["data/train-*.de", "data/train-*.en"]``), or as ``hub:NAME:CONFIGURATION:SPLIT`` for a data set
of the Hugging Face hub. The file's ending says what it is: ``.jsonl`` and ``.json`` are JSON lines,
``.parquet`` is parquet, and anything else is text: two files in step, or one with source, tab,
target. Text and JSON lines may be gzipped. Columns have the languages' names, or ``source`` and
``target``, alone or inside a column ``translation``.
"""

import glob
import gzip
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, zip_longest
from typing import Any

from datasets import load_dataset
from datasets.distributed import split_dataset_by_node

from attnmt.text import DataUnavailable

Place = str | Sequence[str]
Text = tuple[str, str]  # a raw sentence and its translation
HUB = "hub:"
COLUMNS = re.compile(r"\.(json|parquet)l?(\.gz)?$")
NUMBERED = re.compile(r"\d+-of-0*(\d+)")  # train-00003-of-00010


def files_of(pattern: str) -> list[str]:
    """The files that a pattern names, sorted.

    Raises:
        FileNotFoundError: there is none, or not as many as their names say (``-of-00010``).
    """
    found = sorted(glob.glob(pattern))
    if not found:
        raise FileNotFoundError(f"no file {pattern}")
    if (said := NUMBERED.search(found[0])) and int(said[1]) != len(found):
        raise FileNotFoundError(
            f"{pattern} has {len(found)} files, but their names say that there are {said[1]}"
        )
    return found


def shards_of(place: Place) -> list[tuple[str, ...]]:
    """The files of a place, or its couples of files; none of the hub's.

    Raises:
        FileNotFoundError: a file or its partner is missing.
        ValueError: more than two patterns.
    """
    patterns = [place] if isinstance(place, str) else place
    if len(patterns) > 2:
        raise ValueError(f"{place} must be one pattern, or two for source and target")
    sides = [files_of(pattern) for pattern in patterns if not pattern.startswith(HUB)]
    if len({len(files) for files in sides}) > 1:
        raise FileNotFoundError(
            f"{patterns[0]} has {len(sides[0])} files and {patterns[1]} has {len(sides[1])}: one "
            "is missing"
        )
    return list(zip(*sides, strict=True))


def read(place: Place, languages: tuple[str, str], lane: int = 0, lanes: int = 1) -> Iterator[Text]:
    """The raw pairs of one lane, of so many, in the order of the files.

    Where the files can be shared out evenly, a lane has files of its own. If not, all lanes read
    all files, and each takes its own lines.

    Raises:
        FileNotFoundError: a file or its partner is missing.
        ValueError: what a file holds is not parallel text; the message names file and line.
        DataUnavailable: a data set of the hub cannot be reached, or there is none of that name.
    """
    shards = shards_of(place)
    if not shards or COLUMNS.search(shards[0][0]):
        pattern = place if isinstance(place, str) else place[0]
        files = [shard[0] for shard in shards]
        for row, example in enumerate(_examples(pattern, files, lane, lanes=lanes), 1):
            yield _picked(example, languages, f"{pattern}, example {row} of lane {lane}")
        return
    if len(shards) % lanes == 0:
        shards, lane, lanes = shards[lane::lanes], 0, 1
    for shard in shards:
        together = zip_longest(*map(_lines, shard))
        for number, lines in islice(enumerate(together, 1), lane, None, lanes):
            places = [f"{file}, line {number}" for file in shard]
            if None in lines:
                ended = lines.index(None)
                raise ValueError(
                    f"{places[1 - ended]}: {shard[ended]} has no such line. The files must have "
                    "as many lines; look where they fall out of step."
                )
            texts = [_decoded(line, where) for line, where in zip(lines, places, strict=True)]
            if len(texts) == 1:
                texts = texts[0].split("\t")[:2]
            if len(texts) == 1:
                raise ValueError(f"{places[0]}: no tab between a sentence and its translation")
            yield texts[0], texts[1]


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


def _examples(pattern: str, files: list[str], lane: int, lanes: int) -> Iterator[Any]:
    """The rows of one lane of what has columns with names: of some files, or else of the hub."""
    if files:
        name, configuration, split = COLUMNS.search(files[0])[1], "", ""
    else:
        name, configuration, split, *_ = [*pattern.removeprefix(HUB).split(":"), "", ""]
    try:
        dataset = load_dataset(
            name,
            configuration or None,
            data_files=files or None,
            split=split or "train",
            streaming=True,
        )
        yield from split_dataset_by_node(dataset, lane, lanes)
    except Exception as error:  # of many kinds, by library and version
        said = f"{pattern} could not be read ({type(error).__name__}: {error})"
        if files:
            raise ValueError(said) from error
        raise DataUnavailable(
            f"{said}. Is there a network, and a data set of that name, configuration and split?"
        ) from error


def _picked(example: Any, languages: tuple[str, str], where: str) -> Text:
    """Source and target of an example with named columns."""
    inner = example.get("translation", example) if isinstance(example, Mapping) else {}
    for names in (languages, ("source", "target")):
        found = tuple(inner.get(name) for name in names)
        if all(isinstance(text, str) for text in found):
            return found
    raise ValueError(
        f"{where}: no text under {languages[0]!r} and {languages[1]!r}, nor under 'source' and "
        "'target'"
    )
