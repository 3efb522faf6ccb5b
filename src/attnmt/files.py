"""Files that are either whole or not there."""

import os
from pathlib import Path


def write_aside(path: str | os.PathLike, content: bytes) -> None:
    """Write a file so that nobody ever sees half of it, and a failure leaves the old one alone.

    The content goes to a file beside it, is flushed to the disk, and takes the name last.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with open(aside, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(aside, path)
    finally:
        aside.unlink(missing_ok=True)
