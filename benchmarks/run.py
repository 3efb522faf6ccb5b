"""attnmt beside its peers on one core: what the page *What it costs* shows, in one JSON file.

The systems take turns batch by batch, in a random order, on the same batches; only the step, or the
search, is timed, in seconds of the processor. Denormal numbers are flushed for all. Losses and
translations are compared, so that nobody wins by doing less.

    ATTNMT_PEERS=folder python -m benchmarks.run            # all parts
    ATTNMT_PEERS=folder python -m benchmarks.run small beam # some

Each kind of processor has its own part of the file. One without AVX-512 can be had on any machine:
``ATEN_CPU_CAPABILITY=avx2 ONEDNN_MAX_CPU_ISA=AVX2 MKL_ENABLE_INSTRUCTIONS=AVX2`` before the command
"""

import json
import multiprocessing
import os
import random
import statistics
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from types import SimpleNamespace

os.environ["OMP_NUM_THREADS"] = "1"

import torch
from torch.nn.functional import linear
from torch.utils.flop_counter import FlopCounterMode

from attnmt import multi30k
from attnmt.batches import batches, pad
from attnmt.vocab import Vocabulary
from benchmarks import peers, search
from benchmarks.profiles import profile
from benchmarks.systems import SYSTEMS
from studies.study import ROOT, STUDIES, save_store

STORE = STUDIES / "benchmarks.json"
CACHE = ROOT / "_build" / "benchmarks"
WORDS = (7_859, 5_921)  # of Multi30k's vocabularies, German and English
SIZES = {  # hidden, embedding, batch, batches timed, batches before them
    "small": (256, 128, 64, 30, 4),
    "large": (512, 256, 128, 8, 2),
}
TOGETHER = 64  # sentences searched side by side
ROUNDS = 8  # of these, timed
REGIMES = {"own lengths": None, "15 words": 15}


def load() -> SimpleNamespace:
    """Multi30k, lower-cased, with vocabularies of these sizes."""
    corpus = multi30k(train=28_900)
    v = [
        Vocabulary.build((getattr(p, side) for p in corpus.train), n - 4, language, lower=True)
        for side, n, language in zip(("source", "target"), WORDS, ("de", "en"), strict=True)
    ]
    return SimpleNamespace(
        train=corpus.train, test=corpus.test, source_vocabulary=v[0], target_vocabulary=v[1]
    )


def gemm_peak(seconds: float = 1.0, n: int = 1024) -> float:
    """The best GFLOP a CPU-second of products of n x n numbers."""
    a = torch.randn(n, n)
    b = torch.randn(n, n)
    best = 0.0
    end = time.process_time() + seconds
    while time.process_time() < end:
        begin = time.process_time()
        linear(a, b)
        best = max(best, 2e-9 * n**3 / (time.process_time() - begin))
    return best


def present(names, skipped: dict[str, str]) -> list[str]:
    """The systems that are there; why the others are not goes into ``skipped``."""
    for name in names:
        if (why := None if name == "attnmt" else peers.absent(name)) is not None:
            skipped[name] = why
            print(f"skipped: {name}: {why}", flush=True)
    return [name for name in names if name not in skipped]


def flops(system, sample: list) -> float:
    """FLOP of matrix products in a step, forward and backward, for each real target token."""
    with torch.backends.mkldnn.flags(enabled=False), FlopCounterMode(display=False) as counter:
        for batch in sample:
            system.step(system.prepare(batch))
    return counter.get_total_flops() / sum(int(batch.target_mask.sum()) for batch in sample)


def train(corpus, size: str, skipped: dict) -> list[dict]:
    """Training speed at one size: a row for each kind of model and system."""
    hidden, embedding, batch_size, timed, before = SIZES[size]
    rows = []
    for kind, systems in SYSTEMS.items():
        torch.manual_seed(0)
        names = present(systems, skipped)
        made = {name: systems[name](corpus, kind, hidden, embedding) for name in names}
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
            row["tokens_per_cpu_second"] = tokens / sum(spent)
            row["flop_per_token"] = work[name]
            row["share_of_peak"] = work[name] * tokens / sum(spent) / peak / 1e9
            row |= profile([partial(step_of, made[name], batch) for batch in chosen[-4:]])
            row["first_loss"] = losses[name][0]
            row["last_loss"] = losses[name][-1]
            row["parameters"] = sum(w.numel() for w in made[name].model.parameters())
            compare(row, seconds, name, before=before)
            rows.append(row)
    return rows


def step_of(system, batch) -> float:
    """One training step, with its preparation."""
    return system.step(system.prepare(batch))


def compare(row: dict, seconds: dict[str, list[float]], name: str, before: int) -> None:
    """Put ratios to each peer into a row: of totals, and quartiles of those batch by batch."""
    own = seconds[name][before:]
    row["ratios"] = {}
    for peer in seconds:
        spent = seconds[peer][before:]
        each = [theirs / ours for theirs, ours in zip(spent, own, strict=True)]
        quartiles = [round(q, 4) for q in statistics.quantiles(each, n=4)]
        row["ratios"][peer] = {"of_totals": sum(spent) / sum(own), "quartiles": quartiles}
    print({key: row[key] for key in row if key != "parameters"}, flush=True)


def find(corpus, beam: int, regimes: dict, skipped: dict) -> list[dict]:
    """Search speed with the same weights: a row for each model, regime and system."""
    texts = sorted((pair.source for pair in corpus.test), key=len)  # of similar length together
    cut = [texts[i : i + TOGETHER] for i in range(0, len(texts) - TOGETHER + 1, TOGETHER)]
    chosen = [cut[0], *random.Random(0).sample(cut, ROUNDS)]
    rows = []
    names = present(search.SEARCHERS, skipped)
    for kind in ("no feeding", "feeding"):
        model = search.trained(corpus, kind, CACHE)
        made = {name: search.SEARCHERS[name](corpus, kind, model) for name in names}
        for regime, length in regimes.items():
            seconds = {name: [] for name in names}
            same = dict.fromkeys(names, 0)
            words = dict.fromkeys(names, 0)
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
                    words[name] += sum(map(len, found[name]))
            for name in names:
                n = TOGETHER * len(chosen)
                row = {"kind": kind, "beam": beam, "regime": regime, "system": name}
                row["sentences_per_cpu_second"] = TOGETHER * ROUNDS / sum(seconds[name][1:])
                row |= {"same_as_attnmt": same[name] / n, "words": words[name] / n}
                compare(row, seconds, name, before=1)
                rows.append(row)
    return rows


FIRST_STEP = """
import time
begin = time.process_time()
import attnmt
imported = time.process_time() - begin
from attnmt import grammar_corpus, rnnsearch
from attnmt.batches import batches
from attnmt.recipes import OPTIMISERS
from benchmarks.systems import learn
corpus = grammar_corpus(train=1_000, test=100)
model = rnnsearch(corpus).train()
vocabularies = corpus.source_vocabulary, corpus.target_vocabulary
adam = OPTIMISERS["adam"](model.parameters(), lr=4e-3)
learn(model, adam, next(batches(corpus.train, *vocabularies, 64)))
print(imported, time.process_time() - begin)
"""


def start(rounds: int = 3) -> dict:
    """CPU-seconds of ``import attnmt`` and to the first trained step."""
    rows = []
    for _ in range(rounds):
        answer = subprocess.run(
            [sys.executable, "-c", FIRST_STEP], check=True, capture_output=True, text=True
        )
        rows.append([float(number) for number in answer.stdout.split()])
    imported, first = (statistics.median(column) for column in zip(*rows, strict=True))
    return {"import": imported, "first_step": first}


def memory(system: str, kind: str) -> float:
    """Peak MiB of a process that makes one system and takes four steps, and does nothing else.

    It is what Linux counts since the program's start. ``getrusage`` would be wrong here: its
    ``ru_maxrss`` starts at the peak of the process that started this one.
    """
    set_up()
    corpus = load()
    hidden, embedding, batch_size, *_ = SIZES["small"]
    made = SYSTEMS[kind][system](corpus, kind, hidden, embedding)
    vocabularies = (corpus.source_vocabulary, corpus.target_vocabulary)
    longest = sorted(corpus.train, key=lambda pair: -len(pair.target))[: 4 * batch_size]
    for batch in batches(longest, *vocabularies, batch_size, seed=0):
        made.step(made.prepare(batch))
    lines = Path("/proc/self/status").read_text("utf-8").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


def memories(skipped: dict) -> list[dict]:
    """The peak of each system, in a process of its own that begins anew."""
    rows = []
    for kind, systems in SYSTEMS.items():
        for name in present(systems, skipped):
            with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as fresh:
                mib = fresh.submit(memory, name, kind).result()
            rows.append({"kind": kind, "system": name, "mib": mib})
    return rows


def set_up() -> None:
    """One thread, no denormal numbers, and the peers to be found."""
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    peers.prepare()


def main(names: list[str]) -> None:
    """Measure the parts that are named, or all, and write them into the store beside the others."""
    set_up()
    corpus = load()
    skipped: dict[str, str] = {}
    parts = {size: partial(train, corpus, size, skipped) for size in SIZES}
    parts["beam"] = partial(find, corpus, 5, REGIMES, skipped)
    parts["greedy"] = partial(find, corpus, 1, {"own lengths": None}, skipped)
    parts |= {"start": start, "memory": partial(memories, skipped)}
    if unknown := set(names) - parts.keys():
        raise SystemExit(f"no part {min(unknown)}: choose from {', '.join(parts)}")
    for part in names or parts:
        begin = time.process_time()
        found = parts[part]()
        store = json.loads(STORE.read_text()) if STORE.exists() else {}
        of_this_kind = store.setdefault(torch.backends.cpu.get_cpu_capability(), {})
        of_this_kind[part] = found
        of_this_kind["skipped"] = skipped
        of_this_kind["torch"] = torch.__version__.split("+")[0]
        if part in SIZES:
            of_this_kind["gemm_peak"] = gemm_peak()
        save_store(STORE, store)
        print(f"{part}: {time.process_time() - begin:.0f} CPU-seconds", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
