"""Files that are either whole or not there."""

import glob
import json
import os
from collections.abc import Mapping
from pathlib import Path

from safetensors import SafetensorError, safe_open
from safetensors.torch import save as to_safetensors
from torch import Tensor


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


def write_tensors(
    path: str | os.PathLike, tensors: Mapping[str, Tensor], format: str, metadata: Mapping[str, str]
) -> None:
    """Write a safetensors file, aside; the same tensors and metadata give the same bytes.

    The library writes the metadata in an order that changes from call to call, so the file's head,
    which is JSON, is written again with its keys sorted.

    Args:
        path: the file.
        tensors: by name.
        format: what :func:`read_tensors` must find in it.
        metadata: further texts, by name.

    Raises:
        OSError: it cannot be written.
    """
    whole = {name: tensor.contiguous() for name, tensor in tensors.items()}
    data = to_safetensors(whole, {**metadata, "format": format})
    end = 8 + int.from_bytes(data[:8], "little")  # the head's length stands in front of it
    head = json.dumps(json.loads(data[8:end]), sort_keys=True).encode()
    head += b" " * (-len(head) % 8)  # the tensors begin at a multiple of 8 bytes
    write_aside(path, len(head).to_bytes(8, "little") + head + data[end:])


def read_tensors(
    path: str | os.PathLike, format: str, what: str
) -> tuple[dict[str, str], dict[str, Tensor]]:
    """The metadata and the tensors of a safetensors file. It is data only; it cannot run code.

    Args:
        path: the file.
        format: what its metadata must say under "format".
        what: what that is, for the error.

    Raises:
        ValueError: the file is damaged, or something else.
    """
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError) as error:
        raise ValueError(f"{path} is damaged, or not {what} ({error})") from error
    if metadata.get("format") != format:
        raise ValueError(f"{path} is a safetensors file, but not {what}")
    return metadata, tensors
