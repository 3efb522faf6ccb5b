"""Several processes and streams: what do they cost, in time and in memory?

On CPUs (gloo), of a corpus of made-up words that are to be put in reverse:

- ``streamed``: 5 million pairs from files: the vocabulary's pass and one epoch of batches, with the
  resident memory on the way
- ``speed``: the same training by one process and by two, in turns

That several processes are one training, and that it survives a kill, is tested with what this file
makes: ``tests/attnmt/scale/test_processes.py``. Processes are forked from this one, without a
launcher, so that nobody ends them but themselves.

Usage: make study NAME=scale
"""

import json
import math
import multiprocessing
import os
import random
import socket
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from multiprocessing.context import ForkProcess as Process
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file

from attnmt import Corpus, Pair, Recipe, Vocabulary
from attnmt.model import CONSTRUCTORS
from attnmt.scale.processes import fit
from attnmt.scale.streams import Stream, stream
from studies.study import head_of, open_store, save_store, store_of

STORE = store_of(__file__)
PAIRS = 5_000_000
PATIENCE = 120  # seconds until a process that hangs counts as such

# ---------------------------------------------------------------------------------- a toy corpus


def made_up(number: int, seed: int) -> Iterator[tuple[str, str]]:
    """Raw pairs: up to 12 words of 20, and the same in reverse."""
    rng = random.Random(seed)
    for _ in range(number):
        drawn = [rng.randrange(20) for _ in range(rng.randint(1, 12))]
        yield " ".join(f"w{i}" for i in drawn), " ".join(f"v{i}" for i in reversed(drawn))


def in_memory(train: int) -> Corpus:
    """A corpus of these."""
    parts = [
        [
            Pair(tuple(s.split()), tuple(t.split()), source_text=s, target_text=t)
            for s, t in made_up(number, seed)
        ]
        for seed, number in enumerate((train, 40, 40))
    ]
    return Corpus("made-up", "de", "en", *parts, vocabulary_size=20)


def as_files(folder: Path, train: int, files: int) -> dict[str, Any]:
    """The same as text files; returns the arguments of :func:`attnmt.scale.streams.stream`."""
    folder.mkdir(parents=True, exist_ok=True)
    sizes = {f"train-{i}": train // files + (i < train % files) for i in range(files)}
    for seed, (name, number) in enumerate((sizes | {"valid-0": 40}).items()):
        with open(folder / f"{name}.de", "w") as source, open(folder / f"{name}.en", "w") as target:
            for one, other in made_up(number, seed):
                print(one, file=source)
                print(other, file=target)
    places = {
        part: [f"{folder}/{part}-*.de", f"{folder}/{part}-*.en"] for part in ("train", "valid")
    }
    return places | {"tokeniser": "spaces"}


# ------------------------------------------------------------------------------------- processes


def crowd(size: int, work: Callable[..., None], *arguments: Any) -> list[Process]:
    """Start some processes that know of each other, each with the same work."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    fork = multiprocessing.get_context("fork")  # after everything was imported
    members = [
        fork.Process(target=_member, args=(size, rank, port, work, *arguments))
        for rank in range(size)
    ]
    for member in members:
        member.start()
    return members


def _member(size: int, rank: int, port: int, work: Callable[..., None], *arguments: Any) -> None:
    if size > 1:
        place = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": size, "LOCAL_WORLD_SIZE": size}
        place |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
        os.environ.update({name: str(value) for name, value in place.items()})
    try:
        work(*arguments)
    except (OSError, ValueError, KeyboardInterrupt) as error:  # what the command line tells
        sys.exit(f"{type(error).__name__}: {error}")


def ended(members: list[Process]) -> list[int | None]:
    """Wait for processes; their exit codes, -9 for one that was killed, None for one that hung."""
    end = time.monotonic() + PATIENCE
    for member in members:
        member.join(max(0.0, end - time.monotonic()))
    codes = [member.exitcode for member in members]
    for member in members:
        member.kill()
    return codes


def learn(job: dict[str, Any], out: Path) -> None:
    """One training, as ``job`` says; the first process writes its weights and its curve."""
    sys.stderr = open(f"{out}.said.{os.environ.get('RANK', 0)}", "a")  # noqa: SIM115
    torch.manual_seed(1)
    corpus = stream(**job["stream"]) if "stream" in job else in_memory(job["train"])
    how = {"hidden": 16, "seed": 3} | job["model"]
    model = CONSTRUCTORS[how.pop("model")](corpus, **how)
    if job.get("double"):
        model.double()
    history = fit(
        model, corpus, job["recipe"], seed=5, device="cpu", progress=False, **job.get("how", {})
    )
    if os.environ.get("RANK", "0") == "0":
        seen = [[epoch.train_perplexity, epoch.valid_perplexity] for epoch in history.epochs]
        points = [point.valid_perplexity for point in history.curve]
        scores = [epoch.bleu for epoch in history.epochs]
        cost = {"tokens": sum(epoch.tokens for epoch in history.epochs)}
        cost |= {"seconds": sum(epoch.seconds for epoch in history.epochs)}
        cost |= {"cpu_seconds": time.process_time(), "cpu_training": history.cpu_seconds}
        save_file(model.state_dict(), out)
        Path(f"{out}.json").write_text(
            json.dumps({"epochs": seen, "curve": points, "bleu": scores} | cost)
        )


def trained(size: int, job: dict[str, Any], out: Path) -> dict[str, Any]:
    """A training by so many processes: what it wrote, and its weights.

    Raises:
        RuntimeError: a process did not end well.
    """
    codes = ended(crowd(size, learn, job, out))
    if any(codes):
        raise RuntimeError(f"{codes}: {complaints(out)}")
    return json.loads(Path(f"{out}.json").read_text()) | {"weights": load_file(out)}


def complaints(out: Path) -> str:
    """What the processes wrote to their standard error."""
    return "\n".join(path.read_text() for path in sorted(out.parent.glob(f"{out.name}.said.*")))


# ------------------------------------------------------------------------------------- the parts


def speed(folder: Path, repeats: int = 3) -> list[dict]:
    """One process and two in turns, with a small batch and with a large one."""
    rows = []
    for batch_size in (64, 512):
        recipe = Recipe(batch_size=batch_size, epochs=1)
        job = {"train": batch_size * 10, "model": {"model": "rnnsearch", "hidden": 256}}
        job["recipe"] = recipe
        for _ in range(repeats):
            for size in (1, 2):
                found = trained(size, job, folder / "speed")
                row = {"processes": size, "batch": batch_size, "load": os.getloadavg()[0]}
                kept = ("tokens", "seconds", "cpu_training")
                rows.append(row | {name: found[name] for name in kept})
    return rows


def resident() -> float:
    """The memory that this process holds, in MB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def streamed(folder: Path, pairs: int = PAIRS) -> dict[str, Any]:
    """The pass over a large corpus, then one whole epoch; the memory on the way."""
    places = as_files(folder / "stream", pairs, files=16)
    found: dict[str, Any] = {"pairs": pairs, "MB before": resident(), "pass": [], "epoch": []}
    began, cpu = time.perf_counter(), time.process_time()

    def mark(part: str, seen: int) -> None:
        clock = {"seconds": time.perf_counter() - began, "cpu_seconds": time.process_time() - cpu}
        found[part].append({"pairs": seen, "MB": resident(), **clock})

    class Watched(Stream):
        """A stream with a look at the memory after every lane."""

        def texts(self, lane: int) -> Iterator[tuple[str, str]]:
            yield from super().texts(lane)
            mark("pass", (lane + 1) * pairs // self.lanes)

    how = {"vocabulary_size": 20, "lower": False, "max_length": 50, "tokeniser": "spaces"}
    how |= {"lanes": 16, "buffer": 1_000}
    train = Stream(places["train"], ("de", "en"), **how)
    survey = Watched(train.place, train.languages, **how).look_over()
    vars(train)["survey"] = survey  # the pass is made once
    source, target = map(Vocabulary, survey.words, train.languages)
    began, cpu = time.perf_counter(), time.process_time()
    seen = 0
    for batch in train.batches((source, target), Recipe(batch_size=80), seed=1):
        seen += len(batch.target_in)
        if seen >= len(found["epoch"]) * pairs / 20:
            mark("epoch", seen)
    mark("epoch", seen)
    return found


def main() -> None:
    """Make the parts that are missing; the one that computes in this process, which forks, last."""
    store = open_store(STORE, head_of(__file__))
    for part in (speed, streamed):
        if part.__name__ not in store:
            with tempfile.TemporaryDirectory() as folder:
                store[part.__name__] = part(Path(folder))
            save_store(STORE, store)
            print(f"{part.__name__} is done", flush=True)


def said(store: dict[str, Any]) -> dict[str, str]:
    """The numbers of the page *At the papers' size*, as they are written there."""
    found: dict[str, str] = {}
    grown: list[float] = []
    for name in ("pass", "epoch"):
        marks = store["streamed"][name]
        rate = marks[-1]["pairs"] / marks[-1]["cpu_seconds"]
        found[f"{name}-rate"] = f"{round(rate, -3):,.0f}"
        found[f"{name}-seconds"] = f"{marks[-1]['cpu_seconds']:.0f}"
        grown.append(marks[-1]["MB"] - marks[1]["MB"])
    found["growth"] = str(max(1, math.ceil(max(grown))))
    for batch in sorted({row["batch"] for row in store["speed"]}):
        found[f"gain-{batch}"] = f"{gain(store['speed'], batch):.1f}"
    return found


def gain(rows: list[dict], batch: int) -> float:
    """How many times as fast two processes are as one, by the clock; the median of the repeats."""
    of = {
        size: [r["seconds"] for r in rows if (r["processes"], r["batch"]) == (size, batch)]
        for size in (1, 2)
    }
    return statistics.median(one / two for one, two in zip(of[1], of[2], strict=True))


if __name__ == "__main__":
    main()
