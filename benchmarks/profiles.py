"""Where the seconds of a training step go: matrix products, LSTM layers, other operations.

Every operation that PyTorch carries out, forward and backward, is timed by itself, in seconds of
the processor.
"""

import time
from collections.abc import Callable
from typing import Any

from torch.utils._python_dispatch import TorchDispatchMode

PRODUCTS = ("mm", "addmm", "bmm", "baddbmm", "_linear_pointwise")  # matrix products
LAYERS = ("mkldnn_rnn_layer", "mkldnn_rnn_layer_backward")  # an LSTM's, whole sentences at a time


class Clock(TorchDispatchMode):
    """While it is entered, counts the operations, and sums up what each kind takes.

    Attributes:
        seconds: of the processor, by the operation's name.
        calls: how many there were, by the operation's name.
    """

    def __init__(self) -> None:
        super().__init__()
        self.seconds: dict[str, float] = {}
        self.calls: dict[str, int] = {}

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        begin = time.thread_time()
        out = func(*args, **(kwargs or {}))
        spent = time.thread_time() - begin
        name = func.overloadpacket.__name__
        self.seconds[name] = self.seconds.get(name, 0) + spent
        self.calls[name] = self.calls.get(name, 0) + 1
        return out

    def share(self, names: tuple[str, ...]) -> float:
        """What some operations take of the seconds of all."""
        return sum(self.seconds.get(name, 0) for name in names) / sum(self.seconds.values())


def profile(steps: list[Callable[[], object]]) -> dict[str, float]:
    """Where the seconds of some steps go, as shares; how many operations and products a step has.

    The shares are of what all operations take. (The time between them, Python's, cannot be told
    from the clock's own.)
    """
    with Clock() as clock:
        for step in steps:
            step()
    found = {"products": clock.share(PRODUCTS), "lstm_layers": clock.share(LAYERS)}
    found["other"] = 1 - sum(found.values())
    calls = sum(clock.calls.get(name, 0) for name in PRODUCTS)
    found |= {"product_calls": calls / len(steps)}
    found |= {"operations": sum(clock.calls.values()) / len(steps)}
    return found
