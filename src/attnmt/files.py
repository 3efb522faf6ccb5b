"""Files that are either whole or not there."""

import glob
import os
from pathlib import Path


def write_aside(path: str | os.PathLike, content: bytes) -> None:
    """Write a file so that nobody ever sees half of it, and a failure leaves the old one alone.

    The content goes to a file beside it, is flushed to the disk, and takes the name last.

    Raises:
        OSError: it cannot be written: a full disk, a folder that is closed to the user.
    """
    path = Path(path)
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with open(aside, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.replace(aside, path)
        finally:
            aside.unlink(missing_ok=True)
    except OSError as error:
        was = " What was there before is unchanged." if path.exists() else ""
        raise type(error)(f"{path} could not be written ({error}).{was}") from error


def remove_leftovers(path: str | os.PathLike) -> None:
    """Remove what processes left that were killed while they wrote this file aside."""
    for leftover in glob.glob(f".{glob.escape(Path(path).name)}.*", root_dir=Path(path).parent):
        (Path(path).parent / leftover).unlink(missing_ok=True)
