"""Where the seconds of a training step go: matrix products, other operations, and all between them.

Every operation that PyTorch carries out, forward and backward, is timed by itself, in seconds of
the processor. What a step takes beyond all its operations is Python, and autograd's bookkeeping.
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

    def share(self, names: tuple[str, ...], of: float) -> float:
        """What some operations take, as a share of so many seconds."""
        return sum(self.seconds.get(name, 0) for name in names) / of


def profile(steps: list[Callable[[], object]]) -> dict[str, float]:
    """Where the seconds of some steps go, as shares; how many operations and products a step has.

    The steps are taken once without the clock on each operation, which slows them, and once with.
    """
    begin = time.process_time()
    for step in steps:
        step()
    total = time.process_time() - begin
    with Clock() as clock:
        for step in steps:
            step()
    found = {"products": clock.share(PRODUCTS, total), "lstm_layers": clock.share(LAYERS, total)}
    found["other"] = clock.share(tuple(clock.seconds), total) - sum(found.values())
    calls = sum(clock.calls.get(name, 0) for name in PRODUCTS)
    found |= {"product_calls": calls / len(steps)}
    found |= {"operations": sum(clock.calls.values()) / len(steps)}
    return found
