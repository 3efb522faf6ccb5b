"""Trainings by several processes on CPUs (gloo), of made-up words that are to be put in reverse.

Processes are forked from the test's own, without a launcher, so that nobody ends them but
themselves.
"""

import json
import multiprocessing
import os
import random
import socket
import sys
import time
from collections.abc import Callable, Iterator
from multiprocessing.context import ForkProcess as Process
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file

from attnmt import Corpus, Pair
from attnmt.model import CONSTRUCTORS
from attnmt.scale.processes import fit
from attnmt.scale.streams import stream

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
