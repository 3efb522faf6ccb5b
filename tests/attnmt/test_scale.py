"""scale.py: several processes are one training, and a corpus on the disk is one in memory.

Run as a program, this file is what the tests look at: ``python test_scale.py FOLDER`` makes
trainings of several processes, which it forks after everything was imported.
"""

import gzip
import importlib
import json
import multiprocessing
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import redirect_stderr
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("accelerate")
import torch
from conftest import made_up_corpus

from attnmt import Recipe, Translator, Vocabulary, cli, luong, scale
from attnmt.options import Settings, from_file
from attnmt.recipes import BAHDANAU, LUONG_DROPOUT
from attnmt.scale import SharedTraining, large_corpus

# --- the program


def trained(folder: Path, name: str, *, recipe: Recipe, dropout: float = 0.0, **how) -> None:
    """Train, by this process and those beside it, and write what was found; or the error."""
    torch.set_num_threads(1)
    corpus = made_up_corpus(90)
    model = luong(corpus, hidden=6, dropout=dropout, seed=1).double()
    rank = os.environ["RANK"]
    with open(folder / f"{name}.error.{rank}", "w") as errors, redirect_stderr(errors):
        try:
            history = scale.fit(
                model, corpus, recipe, 2, device="cpu", curve_every=3, measure_bleu=True, **how
            )
        except BaseException as error:
            print(f"{type(error).__name__}: {error}", file=errors)
            sys.exit(1)
    if rank == "0":
        losses = [(e.train_perplexity, e.valid_perplexity, e.bleu) for e in history.epochs]
        curve = [point.valid_perplexity for point in history.curve]
        torch.save({"weights": model.state_dict(), "losses": losses, "curve": curve}, folder / name)


def crowd(size: int, folder: Path, name: str, before=None, **job) -> list:
    """Start so many processes, joined as a launcher would."""
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]

    def work(rank: int) -> None:
        place = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": size}
        place |= {"MASTER_ADDR": "localhost", "MASTER_PORT": port}
        os.environ.update({key: str(value) for key, value in place.items()})
        if before:
            before(rank)
        trained(folder, name, progress=False, **job)

    fork = multiprocessing.get_context("fork")
    children = [fork.Process(target=work, args=(rank,)) for rank in range(size)]
    for child in children:
        child.start()
    return children


def ended(children: list) -> list[int]:
    """Wait for processes; returns their exit codes."""
    for child in children:
        child.join()
    return [child.exitcode for child in children]


def interrupt_the_second(rank: int) -> None:
    """Ctrl-C is pressed in the second process, before its fifth step."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    losses = SharedTraining.losses

    def watched(self, batch):
        if (self.updates, self.rank) == (4, 1):
            os.kill(os.getpid(), signal.SIGINT)
        return losses(self, batch)

    SharedTraining.losses = watched


def program(folder: Path) -> None:
    """Make all trainings, and write the exit codes."""
    importlib.import_module("torch._dynamo")  # as an optimiser's step does: once, not in each child
    token = Recipe(batch_size=16, epochs=2, keep="best")
    sentence = Recipe(**vars(BAHDANAU) | {"batch_size": 16, "epochs": 2})
    codes = {}
    for name, recipe in {"token": token, "sentence": sentence}.items():
        codes[name] = ended(crowd(1, folder, name, recipe=recipe))
    parts = {"recipe": token, "gradient_accumulation": 3}
    codes["token by 2"] = ended(crowd(2, folder, "token by 2", **parts))
    codes["sentence by 3"] = ended(crowd(3, folder, "sentence by 3", recipe=sentence))
    for dropout in (0.3, 0.0):
        job = {"recipe": token, "dropout": dropout}
        if dropout:  # without, it is what "token" is
            codes["whole"] = ended(crowd(2, folder, "whole", **job))
        name = f"killed {dropout}"
        kept = folder / f"{name}.checkpoint"
        job |= {"checkpoint": kept, "save_every": 2, "resume": True}
        children = crowd(2, folder, name, **job)
        while not kept.exists():
            time.sleep(0.001)
        children[1].kill()
        codes[name] = ended(children)
        (folder / f"{name}.error.0").rename(folder / f"{name}.first")
        codes[f"{name} again"] = ended(crowd(2 if dropout else 1, folder, name, **job))
    job = {"recipe": token, "checkpoint": folder / "interrupted.checkpoint"}
    codes["interrupted"] = ended(crowd(2, folder, "interrupted", interrupt_the_second, **job))
    (folder / "codes.json").write_text(json.dumps(codes))


if __name__ == "__main__":
    program(Path(sys.argv[1]))
    sys.exit()


# --- what its processes found

ROOT = Path(__file__).resolve().parents[2]
PATHS = [str(ROOT / folder) for folder in ("src", ".", "tests")]
ENVIRONMENT = os.environ | {"PYTHONPATH": os.pathsep.join(PATHS), "OMP_NUM_THREADS": "1"}


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    if not hasattr(os, "fork"):
        pytest.skip("needs fork")
    folder = tmp_path_factory.mktemp("processes")
    command = [sys.executable, __file__, str(folder)]
    subprocess.run(command, check=True, env=ENVIRONMENT, timeout=600)
    return folder


@pytest.fixture(scope="module")
def codes(made) -> dict:
    return json.loads((made / "codes.json").read_text())


def check_same(folder: Path, one: str, other: str, tolerance: float) -> None:
    """Two trainings told the same, and ended with the same weights."""
    found, again = (torch.load(folder / name) for name in (one, other))
    tolerances = {"atol": tolerance, "rtol": tolerance}
    for side in ("losses", "curve"):
        numbers = [torch.tensor(each[side], dtype=torch.float64) for each in (found, again)]
        torch.testing.assert_close(*numbers, **tolerances)
    torch.testing.assert_close(found["weights"], again["weights"], **tolerances)


@pytest.mark.slow
@pytest.mark.parametrize("several", ["token by 2", "sentence by 3"])
def test_several_processes_find_what_one_finds(made, codes, several):
    """90 pairs in batches of 16: the last has ten; two that cut their share in parts, and three."""
    assert set(codes[several]) == {0}
    check_same(made, several.split()[0], several, 1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dropout", "whole", "tolerance"), [(0.3, "whole", 0), (0.0, "token", 1e-9)]
)
def test_when_a_process_is_killed_the_other_ends_and_the_training_goes_on(
    made, codes, dropout, whole, tolerance
):
    """By two processes again, bit for bit, with dropout; by one, up to rounding."""
    name = f"killed {dropout}"
    assert codes[name] == [1, -signal.SIGKILL]
    error = (made / f"{name}.first").read_text()
    assert error.startswith("ConnectionError: another process has ended") and error.count("\n") == 1
    assert "start all processes again with --resume" in error
    assert set(codes[f"{name} again"]) == {0}
    check_same(made, whole, name, tolerance)


@pytest.mark.slow
def test_ctrl_c_in_one_process_stops_all_after_the_same_step(made, codes):
    assert codes["interrupted"] == [1, 1]
    for rank in (0, 1):
        assert "KeyboardInterrupt" in (made / f"interrupted.error.{rank}").read_text()


# --- as the page on the command line has it

SETTINGS = """\
model: {name: luong, hidden: 6}
corpus: {name: grammar, train: 60, lengths: [4, 6], valid: 20, test: 20, long: 0, names: 0}
recipe: {name: laptop, epochs: 1, batch_size: 16}
"""
# Python runs it first in each process: the process then says how many pairs it learned from.
WATCH = """\
import atexit, os
if "RANK" in os.environ:
    from attnmt.scale import SharedTraining
    losses, seen = SharedTraining.losses, []
    def watched(self, batch):
        seen.append(len(batch.target_in))
        return losses(self, batch)
    SharedTraining.losses = watched
    def note():
        if seen:  # no helper of Python's, which ends after the training
            open(f"seen.{os.environ['RANK']}", "w").write(str(sum(seen)))
    atexit.register(note)
"""


@pytest.mark.slow
def test_processes_that_torchrun_started_share(tmp_path, monkeypatch):
    """Without a device: what Accelerate would leave alone on a CPU, each with a whole model."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "settings.yaml").write_text(SETTINGS)
    (tmp_path / "sitecustomize.py").write_text(WATCH)
    assert cli.main(["train", "alone", "--config", "settings.yaml", "--device", "cpu"]) == 0
    page = (ROOT / "book" / "command_line.md").read_text(encoding="utf8")
    (command,) = [line for line in page.splitlines() if line.startswith("torchrun ")]
    path = os.pathsep.join([str(tmp_path), ENVIRONMENT["PYTHONPATH"]])
    done = subprocess.run(
        [sys.executable, "-m", "torch.distributed.run", "--standalone", *command.split()[1:]],
        env=ENVIRONMENT | {"PYTHONPATH": path, "CUDA_VISIBLE_DEVICES": ""},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("CPU-seconds of training") == 1
    one, other = (Translator.load(tmp_path / name) for name in ("alone", "my.model"))
    for weights, same in zip(one.parameters(), other.parameters(), strict=True):
        torch.testing.assert_close(same, weights, atol=1e-4, rtol=1e-4)
    parts = [int((tmp_path / f"seen.{rank}").read_text()) for rank in (0, 1)]
    assert sum(parts) == 60 and min(parts) >= 28


def test_processes_that_cannot_be_joined_end_with_one_line(corpus, monkeypatch):
    alone = SimpleNamespace(num_processes=1)
    monkeypatch.setattr(scale, "Accelerator", lambda cpu: alone)
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(ValueError, match=r"2 processes were started, but they cannot be joined"):
        scale.fit(luong(corpus, hidden=4), corpus)


# --- text on the disk


@pytest.fixture
def files(tmp_path, monkeypatch) -> Path:
    """A folder with the training pairs in two files a side."""
    monkeypatch.setenv("ATTNMT_DATA", str(tmp_path / "data"))
    corpus = made_up_corpus(150)
    for name, pairs in {"0": corpus.train[:80], "1": corpus.train[80:], "v": corpus.valid}.items():
        for side in ("source", "target"):
            lines = [f"{getattr(pair, side + '_text')}\n" for pair in pairs]
            (tmp_path / f"{name}.{side}").write_text("".join(lines))
    return tmp_path


def both(folder: Path, name: str) -> list[str]:
    return [str(folder / f"{name}.{side}") for side in ("source", "target")]


def test_a_corpus_on_the_disk_trains_as_one_in_memory(files):
    large = large_corpus(both(files, "[01]"), both(files, "v"), vocabulary_size=20)
    small = made_up_corpus(150)
    assert list(large.train) == [large.train[i] for i in range(150)]
    assert [(p.source, p.target) for p in large.train] == [
        (p.source, p.target) for p in small.train
    ]
    models = []
    for corpus in (large, small):
        models.append(luong(corpus, hidden=4, seed=1))
        recipe = Recipe(batch_size=16, epochs=1)
        scale.fit(models[-1], corpus, recipe, device="cpu", progress=False)
    for one, other in zip(*(model.parameters() for model in models)):
        assert torch.equal(one, other)


def test_it_is_cut_once_and_again_when_a_file_has_changed(files, monkeypatch):
    first = large_corpus(both(files, "[01]"), both(files, "v"))
    with monkeypatch.context() as patch:
        patch.setattr(scale, "take_pairs", lambda *_, **__: [])  # nothing would be kept
        again = large_corpus(both(files, "[01]"), both(files, "v"))
    assert list(again.train) == list(first.train)
    for side in ("source", "target"):
        with open(files / f"0.{side}", "a") as more:
            more.write("w1\n")
    assert large_corpus(both(files, "[01]"), both(files, "v")).report == {"kept": 151}


PAIRS = [("Ein Hund.", "A dog."), ("Zwei Hunde", "Two dogs"), ("", "No dog."), ("Drei\tHunde", "x")]


def in_file(folder: Path, kind: str):
    """The pairs in files of one kind; returns their place."""
    if kind == "two":
        for side, texts in zip(("s", "t"), zip(*PAIRS)):
            (folder / f"x.{side}").write_text("".join(f"{text}\n" for text in texts))
        return [str(folder / "x.s"), str(folder / "x.t")]
    path = folder / "x.tsv.gz"
    path.write_bytes(gzip.compress("".join(f"{s}\t{t}\n" for s, t in PAIRS[:3]).encode()))
    return str(path)


@pytest.mark.parametrize("kind", ["two", "tsv.gz"])
def test_every_kind_of_file_gives_the_same_pairs(tmp_path, monkeypatch, kind):
    monkeypatch.setenv("ATTNMT_DATA", str(tmp_path / "data"))
    place = in_file(tmp_path, kind)
    corpus = large_corpus(place, place, max_length=2)
    assert [pair.source for pair in corpus.valid[:2]] == [("Ein", "Hund", "."), ("Zwei", "Hunde")]
    assert corpus.valid[1].target == ("Two", "dogs")
    assert corpus.train[0] == corpus.valid[1]  # the first has three words


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a\tb\nno tab here\n", r"x\.tsv, row 2: no pair of sentences there"),
        (b"a\tb\nc\td\n\xff\te\n", r"x\.tsv could not be read .*utf-8"),
    ],
)
def test_what_is_wrong_is_told_by_file(tmp_path, monkeypatch, content, message):
    monkeypatch.setenv("ATTNMT_DATA", str(tmp_path / "data"))
    path = tmp_path / "x.tsv"
    path.write_bytes(content)
    (tmp_path / "v.tsv").write_text("a\tb\n")
    for train, valid in (("x", "v"), ("v", "x")):
        with pytest.raises(ValueError, match=message):
            large_corpus(str(tmp_path / f"{train}.tsv"), str(tmp_path / f"{valid}.tsv"))


def test_files_that_do_not_belong_together_are_refused(files):
    with open(files / "v.target", "a") as target:
        target.write("too much\n")
    with pytest.raises(ValueError, match=r"v\.source and .*v\.target, row 21: no pair"):
        large_corpus(both(files, "0"), both(files, "v"))
    (files / "1.target").unlink()
    with pytest.raises(ValueError, match="as many files for source as for target"):
        large_corpus(both(files, "[01]"), both(files, "0"))
    with pytest.raises(FileNotFoundError, match="no file nowhere"):
        large_corpus("nowhere", both(files, "0"))


# --- the papers' recipes, and a machine without the extra

PAPERS = {  # recipe; weights of the output layer, with the vocabulary in them
    "bahdanau-wmt14-enfr": (BAHDANAU, "decoder.W_o.weight", (30_004, 500)),
    "luong-wmt14-ende": (LUONG_DROPOUT, "decoder.W_out.weight", (50_004, 1_000)),
}


@pytest.mark.parametrize("name", PAPERS)
def test_a_recipe_is_the_papers_at_its_own_size(name, tmp_path, monkeypatch, capsys):
    recipe, weights, shape = PAPERS[name]
    options = from_file(str(cli.PAPERS / f"{name}.yaml"), ["model", "corpus", "recipe"], ["seed"])
    given = {key[2:]: text for key, _, text in (option.partition("=") for option in options)}
    assert cli.HOW.make(cli.HOW.given(given)) == recipe
    corpora = Settings("corpus", {"large": large_corpus}, "large").given(given)
    size = corpora["vocabulary_size"]
    words = [Vocabulary((f"w{i}" for i in range(size)), of) for of in corpora["languages"]]
    corpus = SimpleNamespace(source_vocabulary=words[0], target_vocabulary=words[1])
    with torch.device("meta"):
        model = cli.MODELS.make(cli.MODELS.given(given) | {"init": "torch"}, corpus)
    assert tuple(model.state_dict()[weights].shape) == shape
    monkeypatch.chdir(tmp_path)
    assert cli.main(["train", "out", "--config", name]) == 1
    assert "no file wmt14/" in capsys.readouterr().err
