"""What attention costs against source length: global, local by masking, local by its window alone.

Each case runs in a process of its own, so that its peak memory is its own, too. Time is CPU time of
one call, memory what the process grew by. Chapter 5 reads the figures from
``results/studies/local-cost.json``. Usage: python tools/local_cost.py
"""

import json
import multiprocessing
import platform
import resource
import time
from functools import partial
from itertools import product
from pathlib import Path

import torch

from attnmt import Attention, Concat, General, Global, Predictive
from attnmt.attention import Monotonic
from attnmt.encoder import Memory
from attnmt.files import write_aside

STORE = Path(__file__).resolve().parents[1] / "results" / "studies" / "local-cost.json"
LENGTHS = (25, 50, 100, 200, 400, 1_000, 2_000, 4_000)
KINDS = ("global", "local, masked", "local, window only")
USES = ("one step, 64 sentences", "whole sentence, with gradient")
SCORES = {"general": partial(General, 128, 128), "concat": partial(Concat, 128, 128, 128)}
D = 10
MOST_NUMBERS = 1.1e9  # of (B, T, S, hidden) in an additive score: larger ones are left out


def megabytes() -> float:
    """The most memory that this process ever had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(score: str, use: str, kind: str, length: int) -> dict:
    """CPU-milliseconds of one call, and megabytes that it added."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    step = use == USES[0]
    sentences, queries = (64, 1) if step else (1, length)
    Monotonic.is_narrow = lambda self, memory: kind == KINDS[2]  # decide for it
    window = Global() if kind == KINDS[0] else Predictive(128, D)
    attention = Attention(SCORES[score](), window)
    lengths = torch.full((sentences,), length)
    mask = torch.ones(sentences, length, dtype=torch.bool)
    memory = attention.prepare(Memory(torch.randn(sentences, length, 128), mask, lengths))
    memory = Memory(memory.annotations, mask, lengths, memory.keys.detach())
    query = torch.randn(sentences, queries, 128, requires_grad=not step)
    before, calls, began = megabytes(), 0, time.process_time()
    with torch.set_grad_enabled(not step):
        while calls < 3 or time.process_time() - began < 0.5:
            context, _ = attention(query, memory, time=0)
            if not step:
                context.sum().backward()
            calls += 1
            if calls == 1:  # the first call warms up
                began = time.process_time()
    milliseconds = (time.process_time() - began) / (calls - 1) * 1_000
    return {"milliseconds": round(milliseconds, 3), "megabytes": round(megabytes() - before, 1)}


def main() -> None:
    """Measure every case, one after the other."""
    cases = []
    for score, use, length, kind in product(SCORES, USES, LENGTHS, KINDS):
        pairs = 64 * length if use == USES[0] else length**2
        if score == "concat" and kind != KINDS[2] and pairs * 128 > MOST_NUMBERS:
            continue
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            figures = pool.apply(measure, (score, use, kind, length))
        cases.append({"score": score, "use": use, "kind": kind, "length": length, **figures})
        print(*cases[-1].values(), flush=True)
    store = {
        "command": "python tools/local_cost.py",
        "units": 128,
        "D": D,
        "threads": 1,
        "versions": {"python": platform.python_version(), "torch": torch.__version__.split("+")[0]},
        "cases": cases,
    }
    write_aside(STORE, json.dumps(store, indent=1).encode() + b"\n")


if __name__ == "__main__":
    main()
