"""Checkpoints: a training that is killed and resumed ends as one that was not, bit for bit.

Run as a program, this file is the killer of the kill test: ``python test_checkpoints.py FOLDER``.
"""

import importlib
import json
import math
import os
import random
import signal
import subprocess
import sys
import threading
import time
from dataclasses import asdict, replace
from pathlib import Path

import pytest
import torch
from conftest import made_up_corpus
from safetensors.torch import load_file, save_file

from attnmt import Recipe, fit, perplexity, training
from attnmt.model import luong
from attnmt.recipes import BAHDANAU, LUONG_DROPOUT, CrossEntropy

# Small enough that a whole training is a fraction of a second.
SMALL = {"epochs": 4, "batch_size": 12}
KILLED = {
    "adam": replace(Recipe(keep="best", learning_rate=0.03), **SMALL),
    "adadelta": replace(BAHDANAU, **SMALL),
    "sgd": replace(LUONG_DROPOUT, halve_after=2, **SMALL),
    "falling": replace(Recipe(learning_rate=0.03, fall=True), **SMALL),
}
KILLS = 32


def dropping(corpus, **changed):
    """A model with dropout, so that the random generator's state matters."""
    return luong(corpus, **{"hidden": 6, "dropout": 0.3} | changed)


def losses_of(model, batch):
    """What the model's class computes at this moment: training lets it be of a faster one."""
    return type(model).token_losses(model, batch)


def weights_of(model):
    return {name: value.clone() for name, value in model.state_dict().items()}


def same(one, other):
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


def without_times(history):
    """The epochs of a history, except for the time that they took."""
    timed = ("seconds", "cpu_seconds")
    return [
        {name: value for name, value in asdict(epoch).items() if name not in timed}
        for epoch in history.epochs
    ]


# ------------------------------------------------------------------------------------- the killer


def live(corpus, name, folder, checkpoint, pipe=None):
    """Train to the end, in a process of its own; through the pipe go the steps, one byte each."""
    model = dropping(corpus)
    if pipe is not None:
        model.token_losses = lambda batch: (os.write(pipe, b"."), losses_of(model, batch))[1]
    resumed = (
        {} if checkpoint is None else {"checkpoint": checkpoint, "save_every": 2, "resume": True}
    )
    history = fit(model, corpus, KILLED[name], 5, "cpu", progress=False, **resumed)
    save_file(weights_of(model), folder / "weights")
    (folder / "history.json").write_text(json.dumps(without_times(history)))


def forked(function, *arguments):
    """Run a function in a child; the process began with torch imported and nothing computed."""
    if child := os.fork():
        return child
    try:
        function(*arguments)
        os._exit(0)
    except BaseException as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
        os._exit(1)


def kill_again_and_again(folder):
    """Kill trainings at random moments after their first step, until there were enough kills."""
    torch.set_num_threads(1)
    importlib.import_module("torch._dynamo")  # as an optimiser's step does: once, not in each child
    corpus, draw = made_up_corpus(train=120), random.Random(0)
    dropping(corpus)  # what each child need not repeat
    perplexity(dropping(corpus), corpus.valid)
    report = {"kills": 0, "in_write": 0, "rounds": []}
    for name in KILLED:
        (folder / name).mkdir()
        _, status = os.waitpid(forked(live, corpus, name, folder / name, None), 0)
        assert status == 0
    while report["kills"] < KILLS or len(report["rounds"]) < len(KILLED):
        number = len(report["rounds"])
        name = list(KILLED)[number % len(KILLED)]
        here = folder / f"round-{number}"
        kept = here / "kept"  # nothing but the checkpoint is written there
        kept.mkdir(parents=True)
        lives = 0
        while True:
            ours, theirs = os.pipe()
            child = forked(live, corpus, name, here, kept / "checkpoint", theirs)
            os.close(theirs)
            took = 0.0
            for _ in range(draw.randint(2, 12)):  # steps of this life that have begun
                began = time.perf_counter()
                os.read(ours, 1)
                took = time.perf_counter() - began
            time.sleep(draw.uniform(0, 1) * took)  # some moment of the last, or of what follows it
            os.kill(child, signal.SIGKILL)
            _, status = os.waitpid(child, 0)
            os.close(ours)
            lives += 1
            if os.WIFSIGNALED(status):
                report["kills"] += 1
                report["in_write"] += len(list(kept.glob(".checkpoint.*")))
            else:
                assert status == 0
                break
        report["rounds"].append([name, lives, sorted(os.listdir(kept))])
    (folder / "report.json").write_text(json.dumps(report))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_killed_at_any_moment_and_resumed_it_ends_with_the_same_weights(tmp_path):
    there = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, __file__, tmp_path]
    subprocess.run(command, check=True, timeout=600, env=there)
    report = json.loads((tmp_path / "report.json").read_text())
    print(report)
    assert report["kills"] >= KILLS >= 30
    assert {name for name, _, _ in report["rounds"]} == set(KILLED)
    for number, (name, _, files) in enumerate(report["rounds"]):
        ended, undisturbed = tmp_path / f"round-{number}", tmp_path / name
        assert same(load_file(ended / "weights"), load_file(undisturbed / "weights"))
        history = json.loads((ended / "history.json").read_text())
        assert history == json.loads((undisturbed / "history.json").read_text())
        assert len(history) == 4
        assert files == ["checkpoint"]  # what a kill left beside it was cleared away


# --------------------------------------------------------------------------- stopping and going on

pytestmark = pytest.mark.usefixtures("ctrl_c_is_heard")


class Stop(Exception):
    """Something that ends a training from outside."""


def stop_after(model, steps):
    """Let the training of a model fail in the step after some steps."""
    seen = []

    def counted(batch):
        seen.append(1)
        if len(seen) > steps and model.training:
            raise Stop
        return losses_of(model, batch)

    model.token_losses = counted


def train(model, corpus, path=None, recipe=KILLED["adam"], seed=5, resume=True, **more):
    more = {"save_every": 3} | more if path else more
    resume = resume and path is not None
    return fit(
        model, corpus, recipe, seed, "cpu", progress=False, checkpoint=path, resume=resume, **more
    )


@pytest.fixture(scope="module")
def small():
    return made_up_corpus(train=120)


@pytest.fixture(scope="module")
def begun(small, tmp_path_factory):
    """A checkpoint of a training that stopped after 17 of 40 steps, which nobody changes."""
    path = tmp_path_factory.mktemp("begun") / "checkpoint"
    stop_after(model := dropping(small), 17)
    with pytest.raises(Stop):
        train(model, small, path)
    return path


@pytest.fixture(scope="module")
def undisturbed(small):
    model = dropping(small)
    return weights_of(model), train(model, small, measure_bleu=True), weights_of(model)


@pytest.mark.parametrize("steps", [3, 29])
def test_a_training_that_stopped_goes_on(small, tmp_path, undisturbed, steps):
    path = tmp_path / "checkpoint"
    model = dropping(small)
    stop_after(model, steps)
    with pytest.raises(Stop):
        train(model, small, path, measure_bleu=True)
    model = dropping(small)
    history = train(model, small, path, measure_bleu=True)
    assert same(weights_of(model), undisturbed[2])
    assert without_times(history) == without_times(undisturbed[1])


def test_a_checkpoint_changes_nothing(small, tmp_path, undisturbed):
    model = dropping(small)
    for _ in range(2):  # the second time the training is at its end, and only read back
        history = train(model, small, tmp_path / "checkpoint", measure_bleu=True)
        assert same(weights_of(model), undisturbed[2])
        assert without_times(history) == without_times(undisturbed[1])
        assert os.listdir(tmp_path) == ["checkpoint"]
        assert not model.training
        stop_after(model := dropping(small), 0)


def test_the_best_weights_found_before_a_stop_are_kept_in_the_end(small, tmp_path, monkeypatch):
    path, best = tmp_path / "checkpoint", {}
    perplexities = iter([4.0, 2.0, 5.0, 6.0])

    def perplexity(model, _):
        value = next(perplexities)
        if value == 2.0:
            best.update(weights_of(model))
        return value

    monkeypatch.setattr(training, "perplexity", perplexity)
    stop_after(model := dropping(small), 23)  # in the third epoch
    with pytest.raises(Stop):
        train(model, small, path)
    history = train(model := dropping(small), small, path)
    assert [epoch.valid_perplexity for epoch in history.epochs] == [4, 2, 5, 6]
    assert history.best.epoch == 2
    assert same(weights_of(model), best)


def test_without_resume_a_checkpoint_is_not_overwritten(small, begun):
    before = begun.read_bytes()
    with pytest.raises(FileExistsError, match=f"{begun} exists: resume it, delete it"):
        train(dropping(small), small, begun, resume=False)
    assert begun.read_bytes() == before


def test_nothing_is_resumed_without_a_checkpoint(small):
    with pytest.raises(ValueError, match="resume needs a checkpoint"):
        fit(dropping(small), small, resume=True)


# ------------------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("model.seed", {"model": lambda c: dropping(c, seed=1)}),
        ("encoder", {"model": lambda c: dropping(c).double()}),
        ("recipe.epochs", {"recipe": replace(KILLED["adam"], epochs=5)}),
        ("recipe.optimiser", {"recipe": replace(KILLED["adam"], optimiser="sgd")}),
        ("seed", {"seed": 6}),
        ("corpus", {"corpus": made_up_corpus(train=120, seed=1)}),
        ("vocabularies", {"corpus": replace(made_up_corpus(train=120), lower=True)}),
        ("label_smoothing", {"objective": CrossEntropy(label_smoothing=0.2)}),
    ],
)
def test_the_checkpoint_of_another_training_is_refused(small, begun, name, change):
    changed = {"model": dropping, "corpus": small} | change
    corpus = changed.pop("corpus")
    model, before = changed.pop("model")(corpus), begun.read_bytes()
    weights = weights_of(model)
    with pytest.raises(ValueError, match=rf"{begun.name} is the checkpoint of another.*its {name}"):
        train(model, corpus, begun, **changed)
    assert begun.read_bytes() == before
    assert same(weights_of(model), weights)


# ---------------------------------------------------------------------------------- NaN and Ctrl-C


def test_a_loss_that_is_no_number_stops_and_keeps_the_last_checkpoint(small, tmp_path, undisturbed):
    path, model = tmp_path / "checkpoint", dropping(small)
    seen, last = [], {}

    def poisoned(batch):
        seen.append(1)
        last["weights"], last["file"] = weights_of(model), path.read_bytes()
        return losses_of(model, batch) * (math.nan if len(seen) == 9 else 1)

    model.token_losses = poisoned
    with pytest.raises(FloatingPointError, match=r"nan.*epoch 1, batch 9, at learning rate 0\.03"):
        train(model, small, path)
    assert path.read_bytes() == last["file"]
    assert same(weights_of(model), last["weights"])
    assert not model.training
    train(model := dropping(small), small, path)
    assert same(weights_of(model), undisturbed[2])


@pytest.mark.parametrize(
    ("spoil", "seen"),
    [
        (lambda losses: losses * 0 + 701, "701 a token"),  # exp of it soon is no number
        (lambda losses: losses + (losses * 0).sqrt(), "a gradient of norm nan"),
    ],
    ids=["loss too large for a perplexity", "gradient no number"],
)
def test_a_step_that_would_leave_the_numbers_is_not_taken(small, spoil, seen):
    """The loss is a number still."""
    model = dropping(small)
    before = weights_of(model)
    model.token_losses = lambda batch: spoil(losses_of(model, batch))
    with pytest.raises(FloatingPointError, match=rf"{seen}.*batch 1, at.*try a smaller one"):
        train(model, small)
    assert same(weights_of(model), before)


@pytest.mark.parametrize("worst", [math.nan, math.inf])
def test_a_perplexity_that_is_no_number_stops_too(small, tmp_path, monkeypatch, worst):
    path = tmp_path / "checkpoint"
    monkeypatch.setattr(training, "perplexity", lambda *_: worst)
    with pytest.raises(FloatingPointError, match=r"on valid, in epoch 1.*checkpoint is as it was"):
        train(dropping(small), small, path)


def press_after(model, steps, times=1):
    """Press Ctrl-C in the middle of a step."""
    seen = []

    def counted(batch):
        seen.append(1)
        if model.training and len(seen) == steps:
            for _ in range(times):
                signal.raise_signal(signal.SIGINT)
        return losses_of(model, batch)

    model.token_losses = counted
    return seen


@pytest.mark.parametrize("kept", [False, True], ids=["no checkpoint", "a checkpoint"])
def test_ctrl_c_keeps_what_was_learned(small, tmp_path, undisturbed, kept):
    path, model = tmp_path / "checkpoint" if kept else None, dropping(small)
    handler, seen = signal.getsignal(signal.SIGINT), press_after(model, 8)
    with pytest.raises(KeyboardInterrupt):
        train(model, small, path, **{"save_every": 100} if kept else {})
    assert len(seen) == 8  # the step under way was the last
    assert signal.getsignal(signal.SIGINT) is handler
    assert not model.training
    assert not same(weights_of(model), undisturbed[0])  # it has learned
    if not kept:
        return
    assert load_file(path).keys() > {"random/cpu"}
    saved = {name[6:]: value for name, value in load_file(path).items() if name[:6] == "model/"}
    assert same(weights_of(model), saved)
    train(model := dropping(small), small, path)
    assert same(weights_of(model), undisturbed[2])


def test_a_second_ctrl_c_does_not_wait(small):
    """It interrupts in the middle of the first step: nothing was learned."""
    seen = press_after(model := dropping(small), 1, times=2)
    before = weights_of(model)
    with pytest.raises(KeyboardInterrupt):
        train(model, small)
    assert len(seen) == 1
    assert same(weights_of(model), before)


def test_training_in_a_thread_leaves_signals_alone(small, undisturbed):
    handler, model = signal.getsignal(signal.SIGINT), dropping(small)
    thread = threading.Thread(target=train, args=(model, small))
    thread.start()
    assert signal.getsignal(signal.SIGINT) is handler
    thread.join()
    assert same(weights_of(model), undisturbed[2])


if __name__ == "__main__":
    kill_again_and_again(Path(sys.argv[1]))
