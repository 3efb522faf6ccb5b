"""What attention costs against source length: global, local by masking, local by its window alone.

The CPU time of one call with D = 10, 128 units and one thread, after one that does not count: the
fastest of several rounds through all cases, since other work on the machine can only slow a call
down.
"""

import time
from collections.abc import Callable
from itertools import product

import torch

from attnmt import Attention, Concat, General, Global, Predictive
from attnmt.book.window_alone import attend_within
from attnmt.encoder import Memory
from studies.study import head_of, save_store, store_of

STORE = store_of(__file__)
N = 128
D = 10
LENGTHS = (25, 50, 100, 200, 400, 1_000, 2_000, 4_000)
WINDOWS = {  # a window, and how it attends
    "global": (Global, Attention.forward),
    "local, masked": (lambda: Predictive(N, D), Attention.forward),
    "local, window only": (lambda: Predictive(N, D), attend_within),
}
SCORES = {"general": lambda: General(N, N), "concat": lambda: Concat(N, N, N)}
STEP = "one step, 64 sentences"
SENTENCE = "whole sentence, with gradient"
ROUNDS = 2
MOST_NUMBERS = 3e8  # of (B, T, S, n) in concat's score: larger ones are left out


def call_of(score: str, use: str, window: str, length: int) -> Callable[[], None]:
    """One call of attention, as a function of no arguments."""
    torch.manual_seed(0)
    sentences, queries = (64, 1) if use == STEP else (1, length)
    make_window, attend = WINDOWS[window]
    attention = Attention(SCORES[score](), make_window())
    mask = torch.ones(sentences, length, dtype=torch.bool)
    with torch.no_grad():
        memory = attention.prepare(Memory(torch.randn(sentences, length, N), mask))
    query = torch.randn(sentences, queries, N, requires_grad=use == SENTENCE)

    def call() -> None:
        with torch.set_grad_enabled(use == SENTENCE):
            context, _ = attend(attention, query, memory, time=0)
            if use == SENTENCE:
                context.sum().backward()

    return call


def milliseconds(call: Callable[[], None]) -> float:
    """CPU time of a call, after one that does not count."""
    call()
    began = time.process_time()
    call()
    return round(1_000 * (time.process_time() - began), 3)


def main() -> None:
    """Measure every case, one after the other, round after round."""
    fastest: dict[tuple, float] = {}
    for _, *case in product(range(ROUNDS), SCORES, (STEP, SENTENCE), WINDOWS, LENGTHS):
        score, use, window, length = case
        numbers = N * length * (64 if use == STEP else length)
        if score == "concat" and window != "local, window only" and numbers > MOST_NUMBERS:
            continue
        found = milliseconds(call_of(*case))
        fastest[tuple(case)] = min(found, fastest.get(tuple(case), found))
    keys = ("score", "use", "kind", "length", "milliseconds")
    cases = [dict(zip(keys, (*case, spent), strict=True)) for case, spent in fastest.items()]
    save_store(STORE, {**head_of(__file__), "units": N, "D": D, "rounds": ROUNDS, "cases": cases})
