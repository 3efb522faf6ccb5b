"""Tensors with texts beside them, in safetensors files: models and checkpoints."""

import json
import os
from collections.abc import Mapping

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as to_safetensors
from torch import Tensor

from attnmt.files import write_aside


def write_tensors(
    path: str | os.PathLike, tensors: Mapping[str, Tensor], format: str, metadata: Mapping[str, str]
) -> None:
    """Write a safetensors file, aside; the same tensors and metadata give the same bytes.

    The library writes the metadata in an order that changes from call to call, so the file's head,
    which is JSON, is written again with its keys sorted.

    Args:
        path: the file.
        tensors: by name. One that several names share is written once for each.
        format: what :func:`read_tensors` must find in it.
        metadata: further texts, by name.

    Raises:
        OSError: it cannot be written.
    """
    whole = {
        name: tensor.clone(memory_format=torch.contiguous_format)
        for name, tensor in tensors.items()
    }
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
