"""processes.py: several processes are one training, whatever happens to them.

Run as a program, this file is what the tests look at: ``python test_processes.py FOLDER`` makes
trainings of two and three processes, which it forks after everything was imported and before
anything was computed.
"""

import importlib
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path

import pytest

pytest.importorskip("accelerate")
import torch
from several_processes import as_files, complaints, crowd, ended, in_memory, learn, trained
from torch.distributed import get_rank

from attnmt import Recipe, Translator, beam_search, cli, grammar_corpus, greedy, luong, perplexity
from attnmt.batches import batches
from attnmt.recipes import BAHDANAU
from attnmt.scale import processes
from attnmt.scale.processes import Together, rows_of

SMALL = {"model": "luong", "hidden": 6}
JOB = {"train": 90, "model": SMALL, "recipe": Recipe(batch_size=16, epochs=2)}
DROPPING = JOB | {"model": SMALL | {"dropout": 0.3}}
CORPUS = {"train": 60, "lengths": [4, 6], "valid": 20, "test": 20}
MEASURE = [f"--corpus.{name}={value}" for name, value in CORPUS.items()]


# --- the program


def logs_of(found: dict) -> torch.Tensor:
    """Every loss that a training tells: the points of its curve, and those of its epochs."""
    of_epochs = [value for epoch in found["epochs"] for value in epoch]
    return torch.tensor([*found["curve"], *of_epochs], dtype=torch.float64).log()


def apart(one: dict, other: dict) -> dict[str, float]:
    """The largest differences of two trainings: of log perplexities, and of any weight."""
    weights = [
        float((value - other["weights"][name]).abs().max())
        for name, value in one["weights"].items()
    ]
    return {"loss": float((logs_of(one) - logs_of(other)).abs().max()), "weights": max(weights)}


def resumed_by(folder: Path, sizes: tuple[int, int], job: dict) -> dict:
    """Stop a training in its second epoch by a full disk, and let another number go on."""
    out = folder / f"resumed-{sizes[0]}-{sizes[1]}"
    job = job | {"how": {"checkpoint": f"{out}.checkpoint", "every": 2, "resume": True}}
    codes = ended(crowd(sizes[0], until, 9, job, out))
    told = complaints(out)
    return trained(sizes[1], job, out) | {"codes": codes, "told": told}


def before_an_update(updates: int, rank: int, do: Callable[[], None]) -> None:
    """Let something happen to one process when it has its share of the update after so many."""
    shares = Together.shares

    def watched(self, training):
        for share in shares(self, training):
            if (training.updates, self.rank) == (updates, rank):
                do()
            yield share

    Together.shares = watched


def until(updates: int, job: dict, out: Path) -> None:
    """Learn until the disk is full: it is so at an update of the first process."""

    def fill() -> None:
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, limits[1]))

    before_an_update(updates, 0, fill)
    learn(job, out)


def interrupted(job: dict, out: Path) -> None:
    """Ctrl-C is pressed in the second process only."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    before_an_update(4, 1, lambda: os.kill(os.getpid(), signal.SIGINT))
    learn(job, out)


def measured(out: Path) -> None:
    """Losses and translations by all processes; each writes what it has."""
    corpus = in_memory(200)
    model = luong(corpus, hidden=12, seed=4)
    with torch.no_grad():
        for weights in model.parameters():
            weights.mul_(3)
    sentences = [pair.source for pair in corpus.train]
    together = Together("cpu")
    found = [together.translate(lambda some: beam_search(model, some, 3), sentences)]
    found.append(together.translate(lambda some: greedy(model, some), sentences))
    said = [[[list(one.words), one.score] for one in each] for each in found]
    loss = together.perplexity(model, corpus.train)
    rank = get_rank() if torch.distributed.is_initialized() else "alone"
    if rank == "alone":
        alone = beam_search(model, sentences, 3), greedy(model, sentences)
        assert said == [[[list(one.words), one.score] for one in each] for each in alone]
        assert loss == perplexity(model, corpus.train)
    Path(f"{out}.{rank}").write_text(json.dumps([said, loss]))


def evaluated(folder: Path) -> None:
    """The command line measures a model; each process writes what it prints."""
    with open(folder / f"evaluated.{os.environ['RANK']}", "w") as said, redirect_stdout(said):
        assert cli.main(["evaluate", str(folder / "model"), *MEASURE]) == 0


def killed(folder: Path) -> dict:
    """Kill the second of two processes between two updates; the first ends by itself."""
    out = folder / "killed"
    job = DROPPING | {"how": {"checkpoint": f"{out}.checkpoint", "every": 2, "resume": True}}
    children = crowd(2, learn, job, out)
    while not Path(f"{out}.checkpoint").exists():
        time.sleep(0.01)
    children[1].kill()
    codes = ended(children)
    told = Path(f"{out}.said.0").read_text()
    again = trained(2, job, out)
    return {"codes": codes, "told": told, "apart": apart(trained(2, DROPPING, out), again)}


def program(folder: Path) -> None:
    """Make everything, and write what was found."""
    importlib.import_module("torch._dynamo")  # as an optimiser's step does: once, not in each child
    double = JOB | {"double": True}
    found = {}
    for name, (size, accumulate) in {"token": (2, 3), "sentence": (3, 1)}.items():
        recipe = JOB["recipe"] if name == "token" else BAHDANAU
        changed = {"batch_size": 16, "epochs": 2, "keep": "best"}
        job = double | {"recipe": Recipe(**vars(recipe) | changed)}
        one = trained(1, job | {"how": {"measure_bleu": True}}, folder / "one")
        job["how"] = {"accumulate": accumulate, "measure_bleu": True}
        several = trained(size, job, folder / "several")
        same = [a == b for a, b in zip(one["bleu"], several["bleu"], strict=True)]
        found[name] = apart(one, several) | {"bleu": same}
    streamed = double | {"stream": as_files(folder / "files", 90, files=4) | {"lanes": 4}}
    one = trained(1, streamed, folder / "stream")
    for sizes in ((1, 2), (2, 1)):
        again = resumed_by(folder, sizes, streamed)
        row = apart(one, again)
        found[f"resumed {sizes}"] = row | {name: again[name] for name in ("codes", "told")}
    found["killed"] = killed(folder)
    out = folder / "interrupted"
    job = JOB | {"how": {"checkpoint": f"{out}.checkpoint"}}
    found["interrupted"] = {
        "codes": ended(crowd(2, interrupted, job, out)),
        "told": complaints(out),
    }
    (folder / "found.json").write_text(json.dumps(found))
    assert ended(crowd(1, measured, folder / "measured")) == [0]
    assert ended(crowd(2, measured, folder / "measured")) == [0, 0]
    luong(grammar_corpus(**CORPUS), hidden=6).save(folder / "model")
    assert ended(crowd(2, evaluated, folder)) == [0, 0]


if __name__ == "__main__":
    program(Path(sys.argv[1]))
    sys.exit()


# --- the tests


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("processes")
    environment = ENVIRONMENT | {"ATTNMT_DATA": str(folder / "data")}
    subprocess.run([sys.executable, __file__, folder], check=True, env=environment, timeout=600)
    return folder


@pytest.fixture(scope="module")
def found(made) -> dict:
    return json.loads((made / "found.json").read_text())


ROOT = Path(__file__).resolve().parents[3]
PATHS = [str(ROOT / folder) for folder in ("src", ".", "tests")]
ENVIRONMENT = os.environ | {"PYTHONPATH": os.pathsep.join(PATHS), "OMP_NUM_THREADS": "1"}


@pytest.mark.slow
@pytest.mark.parametrize("per", ["token", "sentence"])
def test_several_processes_find_what_one_finds(found, per):
    """90 pairs in batches of 16: the last has ten; two that cut their share in parts, and three."""
    assert found[per]["bleu"] == [True, True]
    assert found[per]["loss"] < 1e-9
    assert found[per]["weights"] < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [(1, 2), (2, 1)])
def test_another_number_of_processes_resumes_a_stream_within_an_epoch(found, sizes):
    row = found[f"resumed {sizes}"]
    assert row["codes"] == [1] * sizes[0]  # the disk was full: all of them stopped
    assert "could not be written" in row["told"]
    assert row["told"].count("What was there before is unchanged") == 1
    assert row["told"].count("the first process could not write") == sizes[0] - 1
    assert row["weights"] < 1e-9


@pytest.mark.slow
def test_when_a_process_is_killed_the_other_ends_and_says_how_to_go_on(found):
    row = found["killed"]
    assert row["codes"] == [1, -signal.SIGKILL]
    assert "another process has ended" in row["told"]
    assert "start all processes again with --resume" in row["told"]
    assert row["apart"] == {"loss": 0.0, "weights": 0.0}  # bit for bit, with dropout


@pytest.mark.slow
def test_ctrl_c_in_one_process_stops_all_after_the_same_step(found):
    assert found["interrupted"]["codes"] == [1, 1]
    assert found["interrupted"]["told"].count("KeyboardInterrupt") == 2


@pytest.mark.slow
def test_translations_and_perplexity_are_those_of_one_process(made):
    alone, *each = [json.loads((made / f"measured.{rank}").read_text()) for rank in ("alone", 0, 1)]
    assert each == [alone, alone]


@pytest.mark.slow
def test_evaluate_prints_once_what_one_process_prints(made, capfd):
    capfd.readouterr()
    assert cli.main(["evaluate", str(made / "model"), *MEASURE]) == 0
    alone = capfd.readouterr().out
    assert "perplexity" in alone
    assert [(made / f"evaluated.{rank}").read_text() for rank in (0, 1)] == [alone, ""]


# --- as the page on the command line says it

SETTINGS = """\
model: {name: luong, hidden: 6}
corpus: {name: grammar, train: 60, lengths: [4, 6], valid: 20, test: 20, long: 0, names: 0}
recipe: {name: laptop, epochs: 1, batch_size: 16}
"""


# Python runs it first in each process: the process then says how many pairs it learned from.
WATCH = """\
import atexit, os
if "RANK" in os.environ:
    from attnmt.scale.processes import Together
    shares, seen = Together.shares, []
    def watched(self, training):
        for share in shares(self, training):
            seen.extend(len(part.target_in) for part in share.parts)
            yield share
    Together.shares = watched
    atexit.register(lambda: open(f"seen.{os.environ['RANK']}", "w").write(str(sum(seen))))
"""
LAUNCHERS = {  # on a port that is free
    "torchrun": ["torch.distributed.run", "--standalone"],
    "accelerate launch": ["accelerate.commands.launch", "--main_process_port", "0"],
}


def launched(command: str, folder: Path) -> str:
    """What a launcher's processes print, on a machine without GPUs."""
    launcher = next(name for name in LAUNCHERS if command.startswith(name))
    words = command.removeprefix(launcher).split()
    path = os.pathsep.join([str(folder), ENVIRONMENT["PYTHONPATH"]])
    done = subprocess.run(
        [sys.executable, "-m", *LAUNCHERS[launcher], *words],
        cwd=folder,
        env=ENVIRONMENT | {"PYTHONPATH": path, "CUDA_VISIBLE_DEVICES": ""},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """A folder with the settings of a training, and the model that one process makes of them."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "settings.yaml").write_text(SETTINGS)
    (tmp_path / "sitecustomize.py").write_text(WATCH)
    assert cli.main(["train", "alone", "--config", "settings.yaml", "--device", "cpu"]) == 0
    return tmp_path


def check_same(folder: Path, said: str) -> None:
    """The launched training made the model that one process makes, and spoke with one voice."""
    assert said.count("CPU-seconds of training") == 1
    one, other = (Translator.load(folder / name) for name in ("alone", "my.model"))
    for weights, same in zip(one.parameters(), other.parameters(), strict=True):
        torch.testing.assert_close(same, weights, atol=1e-4, rtol=1e-4)


def check_shared(folder: Path) -> None:
    parts = [int((folder / f"seen.{rank}").read_text()) for rank in (0, 1)]
    assert sum(parts) == 60 and min(parts) >= 28


@pytest.mark.slow
def test_processes_that_torchrun_started_share(folder):
    """Without a device: what Accelerate would leave alone on a CPU, each with a whole model."""
    page = (ROOT / "book" / "command_line.md").read_text(encoding="utf8")
    (command,) = [line for line in page.splitlines() if line.startswith("torchrun ")]
    check_same(folder, launched(command, folder))
    check_shared(folder)


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.parametrize("how", ["", "--multi_gpu "], ids=["as it is", "told to start several"])
def test_without_gpus_accelerate_launch_starts_one_process_unless_told(folder, how):
    """The page says so. The one learns from all pairs; several share them."""
    command = f"accelerate launch {how}--num_processes 2 -m attnmt.cli train my.model"
    check_same(folder, launched(f"{command} --config settings.yaml", folder))
    if how:
        check_shared(folder)
    else:
        assert not list(folder.glob("seen.*"))


def test_processes_that_cannot_be_joined_end_with_one_line(monkeypatch):
    class Alone:
        num_processes = 1

        def __init__(self, **asked): ...

    monkeypatch.setattr(processes, "Accelerator", Alone)
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(ValueError, match=r"2 processes were started, but they cannot be joined"):
        Together()


# --- in one process


def test_the_rows_of_a_batch_are_shared_out(corpus):
    whole = next(batches(corpus.train, corpus.source_vocabulary, corpus.target_vocabulary, 5))
    parts = [rows_of(whole, first, 3) for first in range(3)]
    assert [len(part.target_in) for part in parts] == [2, 2, 1]
    for name in ("target_in", "target_out", "target_mask"):
        joined = torch.cat([getattr(part, name) for part in parts])
        order = [0, 3, 1, 4, 2]
        assert torch.equal(joined, getattr(whole, name)[order])
    assert rows_of(parts[2], 1, 3) is None


def test_parts_that_make_no_sense_are_refused(corpus):
    with pytest.raises(ValueError, match="accumulate must be a whole number of at least 1"):
        processes.fit(luong(corpus, hidden=4), corpus, device="cpu", accumulate=0)


def test_an_error_of_another_kind_is_not_mistaken_for_a_lost_process(monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(RuntimeError, match="shapes"), processes.peers_watched():
        raise RuntimeError("shapes do not fit")
    with pytest.raises(ConnectionError, match="--resume"), processes.peers_watched():
        raise RuntimeError("Connection closed by peer")
    with pytest.raises(ConnectionError, match="told to end"), processes.peers_watched():
        os.kill(os.getpid(), signal.SIGTERM)
