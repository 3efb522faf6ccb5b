"""What attention costs against source length: global, local by masking, local by its window alone.

Each case runs in a process of its own, so that it finds nothing of the cases before. Time is the
median CPU time of one call, and of several rounds the fastest: other work on the machine can only
slow a call down. Chapter 5 reads the figures from ``results/studies/local_cost.json``; what a call
keeps in memory for its gradient, the chapter counts itself.
Usage: make study NAME=local_cost
"""

import multiprocessing
import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import product

import torch

from attnmt import Attention, Concat, General, Global, Predictive
from attnmt.book.window_alone import attend_within
from attnmt.encoder import Memory
from studies.study import head_of, save_store, store_of

STORE = store_of(__file__)
LENGTHS = (25, 50, 100, 200, 400, 1_000, 2_000, 4_000)
KINDS = ("global", "local, masked", "local, window only")
USES = ("one step, 64 sentences", "whole sentence, with gradient")
SCORES = {"general": partial(General, 128, 128), "concat": partial(Concat, 128, 128, 128)}
D = 10
ROUNDS = 3  # through all cases; they are minutes apart
MOST_NUMBERS = 3e8  # of (B, T, S, hidden) in an additive score: larger ones are left out


def measure(score: str, use: str, kind: str, length: int) -> dict:
    """CPU-milliseconds of one call."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    step = use == USES[0]
    attention = Attention(SCORES[score](), Global() if kind == KINDS[0] else Predictive(128, D))
    attend = attend_within if kind == KINDS[2] else Attention.forward

    def case(length: int) -> Callable[[], None]:
        """One call of attention, as a function of no arguments."""
        sentences, queries = (64, 1) if step else (1, length)
        mask = torch.ones(sentences, length, dtype=torch.bool)
        memory = attention.prepare(Memory(torch.randn(sentences, length, 128), mask))
        memory = replace(memory, keys=memory.keys.detach())
        query = torch.randn(sentences, queries, 128, requires_grad=not step)

        def call() -> None:
            with torch.set_grad_enabled(not step):
                context, _ = attend(attention, query, memory, time=0)
                if not step:
                    context.sum().backward()

        return call

    case(LENGTHS[0])()  # loads what has to be loaded once
    call = case(length)
    times = []
    began = time.process_time()
    call()  # the first call warms up
    while len(times) < 3 or time.process_time() - began < 0.5:
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return {"milliseconds": round(statistics.median(times) * 1_000, 3)}


def main() -> None:
    """Measure every case, one after the other, round after round."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["attnmt"])
    cases: dict[tuple, dict] = {}
    for _, *case in product(range(ROUNDS), SCORES, USES, LENGTHS, KINDS):
        score, use, length, kind = case
        pairs = 64 * length if use == USES[0] else length**2
        if score == "concat" and kind != KINDS[2] and pairs * 128 > MOST_NUMBERS:
            continue
        with context.Pool(1) as pool:
            figures = pool.apply(measure, (score, use, kind, length))
        known = cases.setdefault(tuple(case), figures)
        cases[tuple(case)] = {name: min(known[name], figures[name]) for name in figures}
        print(*case, figures, flush=True)
    store = {
        **head_of(__file__),
        "units": 128,
        "D": D,
        "threads": 1,
        "rounds": ROUNDS,
        "cases": [
            {"score": score, "use": use, "kind": kind, "length": length, **figures}
            for (score, use, length, kind), figures in cases.items()
        ],
    }
    save_store(STORE, store)
