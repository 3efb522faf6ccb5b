"""Mixed precision: which kinds there are, and whether this machine can train in them.

Some processors cannot: PyTorch has no LSTM in bfloat16 for those without AVX-512. No list of
processors is kept here, the machine itself is asked.
"""

from functools import cache

import torch
from torch import nn

from attnmt.checks import one_of

PRECISIONS = ("no", "bf16")


@cache
def trains_in_bfloat16(kind: str) -> bool:
    """Whether an LSTM and a linear layer find a gradient in bfloat16; it is tried once.

    Args:
        kind: of the device: ``"cpu"`` or ``"cuda"``.
    """
    try:
        with torch.random.fork_rng(devices=[]):
            recurrent = nn.LSTM(4, 4).to(kind)
            linear = nn.Linear(4, 4).to(kind)
        with torch.autocast(kind, dtype=torch.bfloat16):
            states, _ = recurrent(torch.zeros(2, 1, 4, device=kind))  # (length, batch, size)
            logits = linear(states)
        logits.float().sum().backward()
    except RuntimeError:
        return False
    return True


def hindrance(precision: str, device: torch.device | str) -> str:
    """Why a device cannot train in a precision, in a few words; empty if it can.

    Raises:
        ValueError: there is no such precision.
    """
    one_of(PRECISIONS, precision=precision)
    kind = torch.device(device).type
    if precision == "no" or trains_in_bfloat16(kind):
        return ""
    return f"this machine's {kind} cannot train in bfloat16"


def demand(precision: str, device: torch.device | str) -> None:
    """Refuse a precision that there is not, or that a device cannot train in.

    Raises:
        ValueError: see there.
    """
    if why := hindrance(precision, device):
        raise ValueError(f"{why}: precision must be 'no' here, not {precision!r}")
