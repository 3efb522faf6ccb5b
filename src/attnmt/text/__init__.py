"""Raw text: lines of a file, and the files of Multi30k, downloaded once and checked.

Nothing here knows of words or models; :mod:`attnmt.corpus` makes corpora of it.
"""

import gzip
import os
import warnings
import zlib
from pathlib import Path

from tqdm import TqdmWarning

MULTI30K_URL = (
    "https://raw.githubusercontent.com/multi30k/dataset/"
    "a3d2e0d26b56f3846f66a952536ffed4e401d05a/data/task1/raw"
)
CHECKSUMS = Path(__file__).with_name("multi30k.sha256").read_text(encoding="utf-8")
MULTI30K_SHA256 = dict(line.split() for line in CHECKSUMS.splitlines())


class DataUnavailable(RuntimeError):
    """A file could be neither found on this machine nor downloaded."""


class TextWarning(UserWarning):
    """What one should know of a text, a corpus or a model; nothing is wrong with the call."""


def read_lines(path: str | os.PathLike) -> list[str]:
    """The lines of a UTF-8 text file, plain or gzipped."""
    data = Path(path).read_bytes()
    if data[:2] == b"\x1f\x8b":
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as error:
            raise ValueError(f"{path} is a damaged gzip file ({error}). Pack it again.") from error
    if b"\0" in data:
        line = data[: data.index(b"\0")].count(b"\n") + 1
        raise ValueError(f"{path}, line {line}: a zero byte; this is not a file of UTF-8 text")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        why = f"not UTF-8 ({error.reason}). Convert the file, for instance with iconv"
        raise ValueError(f"{path}, line {line}: {why}") from error
    if not text.strip():
        raise ValueError(f"{path} is empty")
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]


def read_pairs(
    source: str | os.PathLike, target: str | os.PathLike | None = None
) -> list[tuple[str, str]]:
    """The pairs of sentences in two files, or in the first two columns of one.

    Raises:
        FileNotFoundError: no such file.
        ValueError: they cannot be read as parallel text; the message names file and line.
    """
    lines = read_lines(source)
    if target is not None:
        targets = read_lines(target)
        if len(lines) != len(targets):
            raise ValueError(
                f"{source} has {len(lines):,} lines and {target} {len(targets):,}: from line "
                f"{min(len(lines), len(targets)) + 1:,} on, sentences have no partner"
            )
        return list(zip(lines, targets, strict=True))
    for number, line in enumerate(lines, 1):
        if line.strip() and "\t" not in line:
            raise ValueError(
                f"{source}, line {number:,}: no tab, so there is no target column. Give the "
                "translations as a second file, or write: source, tab, target."
            )
    columns = [[*line.split("\t"), ""] for line in lines]  # an empty line has no target, either
    return [(row[0], row[1]) for row in columns]


def default_folder() -> Path:
    """Where data are kept if nothing else is said: ``~/.cache/attnmt``."""
    return Path.home() / ".cache" / "attnmt"


def data_folder() -> Path:
    """Where data are kept: ``$ATTNMT_DATA``, or else ``~/.cache/attnmt``."""
    folder = Path(os.environ.get("ATTNMT_DATA") or default_folder())
    if not folder.expanduser().is_absolute():
        raise ValueError(
            f"ATTNMT_DATA is {str(folder)!r}, a relative path, which means another folder in every "
            "chapter. Set it to an absolute path."
        )
    return folder.expanduser()


def _fetch(file: str) -> Path:
    """The path of a Multi30k file, downloaded if it is not there, its checksum verified."""
    folder = data_folder() / "multi30k"
    with warnings.catch_warnings(category=TqdmWarning, action="ignore"):
        import pooch  # its bar would warn of a notebook without ipywidgets, which it can do without

    shelf = pooch.create(folder, base_url=f"{MULTI30K_URL}/", registry=MULTI30K_SHA256)
    by_hand = f"Or put the file there yourself: {folder / file}"
    try:
        return Path(shelf.fetch(file, downloader=pooch.HTTPDownloader(progressbar=True)))
    except ValueError as error:  # pooch's word for a checksum that differs
        raise DataUnavailable(
            f"{MULTI30K_URL}/{file} did not arrive whole: its SHA-256 is not the expected "
            f"{MULTI30K_SHA256[file]}. Nothing was kept. Try again; if it happens twice, the file "
            f"was changed at that address. {by_hand}"
        ) from error
    except (PermissionError, FileExistsError, NotADirectoryError) as error:
        raise DataUnavailable(
            f"{folder} cannot be a folder to write in: {error}. Is a file of that name in the way? "
            "Move it, or set ATTNMT_DATA to another folder."
        ) from error
    except OSError as error:  # every error of the network is one, too
        raise DataUnavailable(
            f"{file} is not in {folder} and could not be downloaded from {MULTI30K_URL} "
            f"({type(error).__name__}). Is there a network? {by_hand}"
        ) from error


def raw_pairs(part: str, languages: tuple[str, str]) -> list[tuple[str, str]]:
    """The sentences of one part of Multi30k in two languages."""
    sides = []
    for language in languages:
        path = _fetch(f"{part}.{language}.gz")
        text = gzip.decompress(path.read_bytes()).decode("utf-8")
        sides.append(text.removesuffix("\n").split("\n"))
    return list(zip(*sides, strict=True))
