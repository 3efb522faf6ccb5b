"""Files that are either whole or not there."""

import os
import tempfile
from pathlib import Path


def write_aside(path: str | os.PathLike, content: bytes) -> None:
    """Write a file so that nobody ever sees half of it, and a failure leaves the old one alone.

    The content goes to a file beside it, is flushed to the disk, and takes the name last.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, aside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(aside, path)
    except BaseException:
        os.unlink(aside)
        raise
