"""attnmt beside its peers on one core: what the page *What it costs* shows, in one JSON file.

The systems take turns batch by batch, in a random order, on the same batches; only the step, or the
search, is timed, in seconds of the processor. Denormal numbers are flushed for all. Losses and
translations are compared, so that nobody wins by doing less.

    ATTNMT_PEERS=folder python -m benchmarks.run            # all parts
    ATTNMT_PEERS=folder python -m benchmarks.run small beam # some
"""

import json
import os
import random
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"

import torch
from torch.nn.functional import linear
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

from attnmt import multi30k
from attnmt.batches import batches, pad
from attnmt.evidence.record import versions
from attnmt.vocab import Vocabulary
from benchmarks import peers
from benchmarks.systems import SEARCHED, SEARCHERS, SYSTEMS, trained
from studies.study import ROOT, STUDIES, save_store

STORE = STUDIES / "benchmarks.json"
CACHE = ROOT / "_build" / "benchmarks"
WORDS = {"de": 7_859, "en": 5_921}  # of Multi30k's vocabularies
SIZES = {  # hidden, embedding, batch, batches timed, batches before them
    "small": (256, 128, 64, 30, 4),
    "large": (512, 256, 128, 8, 2),
}
TOGETHER = 64  # sentences searched side by side
ROUNDS = 8  # of these, timed
REGIMES = {"own lengths": None, "15 words": 15}
SHARES = {  # kinds of operations whose time is told apart
    "products": ("mm", "addmm", "bmm", "baddbmm", "_linear_pointwise"),
    "lstm_layers": ("mkldnn_rnn_layer", "mkldnn_rnn_layer_backward"),  # whole sentences at a time
}


def load() -> SimpleNamespace:
    """Multi30k, lower-cased, with vocabularies of these sizes."""
    corpus = multi30k(train=28_900)
    found = {"train": corpus.train, "test": corpus.test}
    for side, (language, words) in zip(("source", "target"), WORDS.items(), strict=True):
        texts = (getattr(pair, side) for pair in corpus.train)
        found[f"{side}_vocabulary"] = Vocabulary.build(texts, words - 4, language, lower=True)
    return SimpleNamespace(**found)


def gemm_peak(n: int = 1024) -> float:
    """The best GFLOP a CPU-second of products of n x n numbers."""
    a, b, seconds = torch.randn(n, n), torch.randn(n, n), []
    for _ in range(50):
        begin = time.process_time()
        linear(a, b)
        seconds.append(time.process_time() - begin)
    return 2e-9 * n**3 / min(seconds)


def present(names, skipped: dict[str, str]) -> list[str]:
    """The systems that are there; why the others are not goes into ``skipped``."""
    skipped |= {name: why for name in names if (why := peers.absent(name))}
    return [name for name in names if name not in skipped]


def flops(system, sample: list) -> float:
    """FLOP of matrix products in a step, forward and backward, for each real target token."""
    with torch.backends.mkldnn.flags(enabled=False), FlopCounterMode(display=False) as counter:
        for batch in sample:
            system.step(system.prepare(batch))
    return counter.get_total_flops() / sum(int(batch.target_mask.sum()) for batch in sample)


class Clock(TorchDispatchMode):
    """While it is entered, the operations by name: how many, and the processor's seconds."""

    def __init__(self) -> None:
        super().__init__()
        self.seconds: Counter[str] = Counter()
        self.calls: Counter[str] = Counter()

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple = (), kwargs: Any = None
    ) -> Any:
        begin = time.thread_time()
        out = func(*args, **(kwargs or {}))
        name = func.overloadpacket.__name__
        self.seconds[name] += time.thread_time() - begin
        self.calls[name] += 1
        return out


def profile(steps: list[Callable[[], object]]) -> dict[str, float]:
    """Where the seconds of some steps go, as shares; how many operations and products a step has.

    The shares are of what all operations take, forward and backward. (The time between them,
    Python's, cannot be told from the clock's own.)
    """
    with Clock() as clock:
        for step in steps:
            step()
    whole = clock.seconds.total()
    found = {kind: sum(clock.seconds[n] for n in some) / whole for kind, some in SHARES.items()}
    found["other"] = 1 - sum(found.values())
    calls = sum(clock.calls[name] for name in SHARES["products"])
    per_step = {"product_calls": calls, "operations": clock.calls.total()}
    return found | {name: number / len(steps) for name, number in per_step.items()}


def train(corpus, size: str, skipped: dict) -> list[dict]:
    """Training speed at one size: a row for each kind of model and system."""
    hidden, embedding, batch_size, timed, before = SIZES[size]
    rows = []
    for kind, systems in SYSTEMS.items():
        torch.manual_seed(0)
        names = present(systems, skipped)
        sizes = {"hidden": hidden, "embedding": embedding}
        made = {name: systems[name](corpus, kind, **sizes) for name in names}
        vocabularies = (corpus.source_vocabulary, corpus.target_vocabulary)
        order = batches(corpus.train, *vocabularies, batch_size, seed=0)
        chosen = [batch for batch, _ in zip(order, range(timed + before), strict=False)]
        work = {name: flops(system, chosen[-2:]) for name, system in made.items()}
        seconds = {name: [] for name in made}
        losses = {name: [] for name in made}
        shuffler = random.Random(0)
        peak = gemm_peak()
        for batch in chosen:
            for name in shuffler.sample(names, len(names)):
                prepared = made[name].prepare(batch)
                begin = time.process_time()
                losses[name].append(made[name].step(prepared))
                seconds[name].append(time.process_time() - begin)
        tokens = sum(int(batch.target_mask.sum()) for batch in chosen[before:])
        for name in names:
            spent = seconds[name][before:]
            row = {"size": size, "kind": kind, "system": name, "tokens": tokens}
            row |= {"tokens_per_cpu_second": tokens / sum(spent), "flop_per_token": work[name]}
            row["share_of_peak"] = work[name] * tokens / sum(spent) / peak / 1e9
            ready = [made[name].prepare(batch) for batch in chosen[-4:]]
            row |= profile([partial(made[name].step, batch) for batch in ready])
            row |= {"first_loss": losses[name][0], "last_loss": losses[name][-1]}
            compare(row, seconds, name, before=before)
            rows.append(row)
    return rows


def compare(row: dict, seconds: dict[str, list[float]], name: str, before: int) -> None:
    """Put ratios to each peer into a row: of totals, and quartiles of those batch by batch."""
    own = seconds[name][before:]
    row["ratios"] = {}
    for peer in seconds:
        spent = seconds[peer][before:]
        each = statistics.quantiles([b / a for a, b in zip(own, spent, strict=True)], n=4)
        quartiles = [round(quartile, 4) for quartile in each]
        row["ratios"][peer] = {"of_totals": sum(spent) / sum(own), "quartiles": quartiles}
    print(row, flush=True)


def find(corpus, beam: int, regimes: dict, skipped: dict) -> list[dict]:
    """Search speed with the same weights: a row for each model, regime and system."""
    texts = sorted((pair.source for pair in corpus.test), key=len)  # of similar length together
    cut = [texts[i : i + TOGETHER] for i in range(0, len(texts) - TOGETHER + 1, TOGETHER)]
    chosen = [cut[0], *random.Random(0).sample(cut, ROUNDS)]
    rows = []
    names = present(SEARCHERS, skipped)
    for kind in ("no feeding", "feeding"):
        model = trained(corpus, kind, CACHE)
        made = {name: SEARCHERS[name](corpus, kind, model, **SEARCHED) for name in names}
        for regime, length in regimes.items():
            seconds = {name: [] for name in names}
            same = dict.fromkeys(names, 0)
            shuffler = random.Random(0)
            for sentences in chosen:
                sentences = sorted(sentences, key=len, reverse=True)  # as JoeyNMT wants them
                source = pad([corpus.source_vocabulary.encode(s) for s in sentences])
                found = {}
                for name in shuffler.sample(names, len(names)):
                    begin = time.process_time()
                    found[name] = made[name].search(sentences, source, beam, length=length)
                    seconds[name].append(time.process_time() - begin)
                for name in names:
                    pairs = zip(found[name], found["attnmt"], strict=True)
                    same[name] += sum(theirs == ours for theirs, ours in pairs)
            for name in names:
                row = {"kind": kind, "beam": beam, "regime": regime, "system": name}
                row["sentences_per_cpu_second"] = TOGETHER * ROUNDS / sum(seconds[name][1:])
                row["same_as_attnmt"] = same[name] / TOGETHER / len(chosen)
                compare(row, seconds, name, before=1)
                rows.append(row)
    return rows


def main(names: list[str]) -> None:
    """Measure the parts that are named, or all, and write them into the store beside the others."""
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    peers.prepare()
    corpus = load()
    skipped: dict[str, str] = {}
    parts = {size: partial(train, corpus, size, skipped) for size in SIZES}
    parts["beam"] = partial(find, corpus, 5, REGIMES, skipped)
    parts["greedy"] = partial(find, corpus, 1, {"own lengths": None}, skipped)
    if unknown := set(names) - parts.keys():
        raise SystemExit(f"no part {min(unknown)}: choose from {', '.join(parts)}")
    for part in names or parts:
        found = parts[part]()
        store = json.loads(STORE.read_text()) if STORE.exists() else {}
        processor = os.environ.get("ATTNMT_PROCESSOR") or torch.backends.cpu.get_cpu_capability()
        head = {"skipped": skipped, "torch": versions()["torch"], "gemm_peak": gemm_peak()}
        store[processor] = store.get(processor, {}) | head | {part: found}
        save_store(STORE, store)
        print(part, "skipped:", skipped, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
