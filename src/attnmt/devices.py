"""Devices: the processor, or a graphics card."""

import torch

from attnmt.checks import ArgumentError


def chosen_device(device: torch.device | str | None = None) -> torch.device:
    """The device that is asked for; by itself the GPU if there is one, or else the CPU.

    Raises:
        ValueError: PyTorch has no such device here.
    """
    usual = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        chosen = torch.device(device or usual)
    except (RuntimeError, TypeError) as error:
        raise ArgumentError(f"device must be cpu or cuda, not {device!r}") from error
    if chosen.type == "cuda" and not torch.cuda.is_available():
        raise ArgumentError("device is cuda, but PyTorch sees no GPU here")
    return chosen
