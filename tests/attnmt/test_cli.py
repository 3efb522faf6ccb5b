"""cli.py: what each command prints, where, and with which exit code."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import made_up_corpus

from attnmt import Recipe, Translator, __version__, beam_search, cli, fit, greedy
from attnmt.book import pretrained
from attnmt.evidence import record as recording
from attnmt.evidence.plan import CORPORA, planned
from attnmt.evidence.store import load_run
from attnmt.metrics import bleu_by_protocol
from attnmt.model import rnnsearch, sutskever
from attnmt.options import from_file, value_of
from attnmt.recipes import CrossEntropy, precision_on

SMALL = [
    *("--model.hidden", "6", "--corpus.train", "60", "--corpus.lengths", "[4,6]"),
    *("--corpus.valid", "20", "--corpus.test", "20", "--corpus.long", "0", "--corpus.names", "0"),
]
CORPUS = SMALL[2:]
pytestmark = pytest.mark.usefixtures("ctrl_c_is_heard", "no_proxy")


@pytest.fixture
def run(capfd, monkeypatch):
    """Run a command in this process, with some bytes as its standard input."""

    class Standard:
        buffer = None

    def run(*arguments, given=b""):
        Standard.buffer = given.splitlines(keepends=True)
        monkeypatch.setattr(sys, "stdin", Standard)
        try:
            code = cli.main([str(argument) for argument in arguments])
        except SystemExit as stop:
            code = stop.code
        return code, *capfd.readouterr()

    return run


@pytest.fixture
def refused(run):
    """Run a command that prints nothing but one line of error; returns the line."""

    def refused(*arguments, given=b"", exit_code=1):
        code, stdout, stderr = run(*arguments, given=given)
        assert (code, stdout) == (exit_code, "")
        assert stderr.startswith("attnmt: ") and len(stderr.splitlines()) == 1
        return stderr

    return refused


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A model that has learned to turn w1 w2 around, and its file."""
    corpus = made_up_corpus(train=400)
    model = rnnsearch(corpus, hidden=24)
    fit(model, corpus, Recipe(epochs=4, batch_size=16, learning_rate=1e-2), progress=False)
    path = tmp_path_factory.mktemp("model") / "model"
    model.save(path)
    return path


@pytest.fixture
def files(tmp_path):
    """A made-up corpus in files, and the options that name it."""
    files = {"source": tmp_path / "mine.de", "target": tmp_path / "mine.en"}
    for side, path in files.items():
        lines = [getattr(one, f"{side}_text") for one in made_up_corpus(train=80).train]
        path.write_text("\n".join(lines) + "\n")
    files |= {"valid": 10, "test": 40}
    options = [f"--corpus.{name}={value}" for name, value in files.items()]
    return files, ["--corpus.name", "files", *options]


# ------------------------------------------------------------------------------------------ train


def test_train_saves_the_model_that_fit_would_make(run, tmp_path):
    out = tmp_path / "model"
    code, stdout, stderr = run(
        *("train", out, *SMALL, "--recipe.epochs", 2, "--seed", 3, "--measure_bleu"),
        *("--device", "cpu", "--label-smoothing", 0.2, "--precision", "bf16"),
    )
    assert code == 0
    assert "epoch 1: perplexity" in stdout and "BLEU" in stdout
    assert re.search(rf"{re.escape(str(out))}: \d+ CPU-seconds of training", stdout)
    assert "epoch 2/2" in stderr and "tokens/s" in stderr
    assert os.listdir(tmp_path) == ["model"]
    settings = {"train": 60, "lengths": [4, 6], "valid": 20, "test": 20, "long": 0, "names": 0}
    corpus = cli.CORPORA["grammar"](**settings)
    model = rnnsearch(corpus, hidden=6, seed=3)
    how = {"seed": 3, "device": "cpu", "progress": False}
    objective = CrossEntropy(label_smoothing=0.2, precision=precision_on("cpu", "bf16"))
    fit(model, corpus, Recipe(epochs=2, keep="best"), **how, objective=objective)
    saved = Translator.load(out)
    assert saved.config == model.config
    for one, other in zip(saved.parameters(), model.parameters()):
        assert one.equal(other)


def test_a_name_with_large_in_it_does_not_ask_for_the_large_corpus(monkeypatch):
    monkeypatch.setattr(cli, "scale", lambda: pytest.fail("its library is not needed"))
    for arguments in (["translate", "large.model"], ["train", "m", "--corpus.source", "large.tsv"]):
        assert cli.corpora(arguments) is CORPORA
    monkeypatch.undo()
    pytest.importorskip("accelerate")
    for arguments in (["--corpus.name=large"], ["--corpus.name", "large"], ["--corpus", "large"]):
        assert "large" in cli.corpora(arguments)


@pytest.mark.parametrize(("name", "known"), [("large", True), ("files", False)])
def test_a_model_of_the_large_corpus_finds_it_again(monkeypatch, name, known):
    pytest.importorskip("accelerate")
    monkeypatch.setattr(cli.CORPUS, "makers", CORPORA)
    model = rnnsearch(made_up_corpus(), hidden=3)
    model.trained_on = {"origin": {"name": name}}
    cli.know_corpus_of(model)
    assert ("large" in cli.CORPUS.makers) == known


def test_a_model_that_names_no_corpus_is_not_trained_on_another(refused, tmp_path):
    rnnsearch(made_up_corpus(), hidden=3).save(tmp_path / "old")
    told = refused("train", tmp_path / "new", "--start", tmp_path / "old", exit_code=2)
    assert "does not say what it was trained on" in told


def test_settings_may_come_from_a_file_and_the_command_line_changes_them(run, tmp_path):
    file, out = tmp_path / "small.yaml", tmp_path / "model"
    file.write_text(
        "model: {name: luong, score: general, hidden: 5}\n"
        "corpus: {name: grammar, train: 60, valid: 20, test: 20, long: 0, names: 0}\n"
        "recipe: {name: luong, epochs: 1}\n"
        "seed: 4\n"
    )
    code, _, stderr = run("train", out, "--config", file, "--model.hidden", 7)
    assert code == 0, stderr
    assert run("evaluate", out, "--config", file)[0] == 0  # which needs the corpus of it alone
    config = Translator.load(out).config
    assert {"model": "luong", "score": "general", "hidden": 7, "seed": 4}.items() <= config.items()


def test_a_corpus_that_is_not_there_is_named(refused, tmp_path):
    files = ("train", tmp_path / "model", "--corpus", "files")
    assert "corpus files needs --corpus.source" in refused(*files, exit_code=2)
    assert "nowhere.de" in refused(*files, "--corpus.source", tmp_path / "nowhere.de")


def test_train_overwrites_nothing(refused, tmp_path):
    out = tmp_path / "model"
    out.write_text("precious")
    assert f"{out} exists. Delete it, or give another name." in refused("train", out, *SMALL)
    assert out.read_text() == "precious"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (["--model.hiden", "3"], "model rnnsearch has no 'hiden'. It has: hidden, embedding"),
        (["--model", "gpt"], "model.name must be one of rnnencdec, .*, not 'gpt'"),
        (["--corpus.name", "wmt"], f"corpus.name must be one of {', '.join(CORPORA)}, not 'wmt'"),
        (["--corpus.lengths", "[4]"], r"corpus.lengths must be \[int,int\], not '\[4\]'"),
        (["--recipe.epoch", "3"], "recipe laptop has no 'epoch'. It has: epochs, "),
        (["--recipe.epochs", "many"], "recipe.epochs must be int, not 'many'"),
        (["--gradient-accumulation", "0"], "gradient_accumulation must be a whole number of at"),
        (["--seed", "one"], "argument --seed: invalid int value: 'one'"),
        (["--bogus"], "train has no --bogus"),
        (["--config"], "--config needs a file of settings"),
        (["--config", "no.yaml"], "no.yaml"),
    ],
)
def test_a_setting_that_makes_no_sense_ends_with_2_and_is_named(refused, tmp_path, wrong, message):
    made = ("train", tmp_path / "model", *SMALL, *wrong)
    assert re.search(message, refused(*made, exit_code=1 if wrong[1:] == ["no.yaml"] else 2))
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("wrong", [[], ["fly"], ["train"], ["evaluate", "x", "--part", "valid"]])
def test_a_command_that_makes_no_sense_ends_with_2(refused, wrong):
    refused(*wrong, exit_code=2)


def test_help_lists_the_options_of_each_model_corpus_and_recipe(run):
    code, stdout, _ = run("train", "--help")
    assert code == 0
    plain = " ".join(stdout.split())
    for message in (
        "--model.score TEXT luong: a name in SCORES, such as dot, general or concat (default: dot)",
        "--model.output_state TEXT rnnencdec: the state that the output layer reads",
        "--corpus.lengths [int,int] grammar: fewest and most words of a source sentence",
        "--recipe.learning_rate float laptop: the step size",
        "--recipe.fall true|false",
    ):
        assert message in plain
    assert run("--version")[:2] == (0, f"attnmt {__version__}\n")


def test_names_of_files_are_text_and_so_is_what_yaml_would_read_otherwise(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "settings.yaml").write_text(
        "corpus: {name: files, source: 2016, target: 1e3, languages: [no, en], valid: 10}\n"
        "corpus-is-not: of evaluate\n"
    )
    group = cli.Settings("corpus", CORPORA, "grammar")
    words = from_file("settings.yaml", ["corpus"], ["corpus_is_not"])
    parsed = {name[2:]: text for name, _, text in (word.partition("=") for word in words)}
    found = {"name": "files", "source": "2016", "target": "1e3", "languages": ("no", "en")}
    assert group.given(parsed) == found | {"valid": 10}


def test_a_training_goes_on_from_a_finished_model_on_its_corpus(run, refused, tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    assert run("train", first, *SMALL, "--recipe.epochs", 1)[0] == 0
    assert run("train", second, "--start", first, "--recipe.epochs", 1)[0] == 0
    one, other = Translator.load(first), Translator.load(second)
    assert one.trained_on == other.trained_on and one.config == other.config
    assert not all(a.equal(b) for a, b in zip(one.parameters(), other.parameters()))
    again = ("train", tmp_path / "x", "--start", first, "--model", "luong")
    assert "--model cannot be another one" in refused(*again, exit_code=2)


def test_what_a_text_means_as_a_value():
    assert value_of("none", str | None) == "none"
    assert value_of("null", str | None) is value_of("none", int | None) is None
    assert value_of("['de', \"en\"]", tuple[str, str]) == ("de", "en")


def test_a_file_of_settings_cannot_run_code(run, tmp_path):
    file, trap = tmp_path / "trap.yaml", tmp_path / "trap"
    spec = {"class_path": "pathlib.Path.touch", "init_args": {"self": str(trap)}}
    for settings in (
        f"model: {json.dumps(spec)}\n",
        f"model: {{name: rnnsearch, hidden: {json.dumps(spec)}}}\n",
        f"seed: !!python/object/apply:pathlib.Path.touch [{trap}]\n",
        f"seed: {json.dumps(spec)}\n",
    ):
        file.write_text(settings)
        code, _, _ = run("train", tmp_path / "model", "--config", file)
        assert code in (1, 2)
        assert not trap.exists()


# -------------------------------------------------------------------------------------- translate


def test_translate_gives_a_line_for_a_line(run, trained):
    given = b"\xef\xbb\xbfw1 w2 w3\n\n  \t\nw4\r\nw5 w6"  # no end of line after the last
    code, stdout, stderr = run("translate", trained, given=given)
    assert (code, stderr) == (0, "")
    lines = stdout.split("\n")
    assert lines[1] == lines[2] == "" == lines[5] and len(lines) == 6
    greedily = run("translate", trained, "--beam", 1, given=given)[1].split("\n")
    found = greedy(Translator.load(trained), [["w1", "w2", "w3"], ["w4"], ["w5", "w6"]])
    assert [greedily[line] for line in (0, 3, 4)] == [" ".join(one.words) for one in found]


def test_a_packaged_model_is_saved_and_translates_on_the_command_line(run, tmp_path):
    """The one whose constructor is not in the core."""
    pretrained("attention-only").save(tmp_path / "model")
    given = b"Die alte Frau hat dem Lehrer ein Buch gegeben.\n"
    code, stdout, _ = run("translate", tmp_path / "model", "--beam", 1, given=given)
    assert (code, stdout) == (0, "the old woman has given the teacher a book.\n")


def test_alignments_stand_behind_a_tab(run, trained):
    code, stdout, _ = run("translate", trained, "--beam", 1, "--alignments", given=b"w1 w2 w3\n\n")
    assert code == 0
    first, second, _ = stdout.split("\n")
    (found,) = greedy(Translator.load(trained), [["w1", "w2", "w3"]])
    links = [f"{weights.argmax()}-{word}" for word, weights in enumerate(found.alignment)]
    assert found.words  # it has learned to say something
    assert first == " ".join(found.words) + "\t" + " ".join(links)
    assert second == ""


def test_a_model_that_does_not_attend_has_no_alignments_to_print_or_to_show(
    run, refused, tmp_path, corpus
):
    sutskever(corpus, hidden=4).save(tmp_path / "model")
    path = tmp_path / "model"
    assert "does not attend" in refused("translate", path, "--alignments", given=b"w1\n")
    code, stdout, _ = run("show", tmp_path / "model", "--out", tmp_path / "page")
    assert code == 0
    assert "sutskever, it does not attend: words alone" in stdout


def test_bytes_that_are_not_utf8_are_named_by_line_and_nothing_is_lost(run, trained):
    good = run("translate", trained, given=b"w1 w2\n\nw3\n")[1]
    given = b"w1 w2\n\nw3\nw4 \xff\nw5\n"
    code, stdout, stderr = run("translate", trained, given=given)
    assert code == 1
    assert stdout == good
    assert "standard input, line 4: not UTF-8" in stderr


@pytest.mark.parametrize("content", [None, b"not a model"])
def test_a_file_that_is_no_model_is_a_clear_error(refused, tmp_path, content):
    path = tmp_path / "model"
    if content is not None:
        path.write_bytes(content)
    for command in ("translate", "evaluate", "show"):
        assert str(path) in refused(command, path)
        with pytest.raises((FileNotFoundError, ValueError)):
            cli.main([command, str(path), "--traceback"])


# ------------------------------------------------------------------------------------------ show


def test_show_writes_a_page_and_the_line_that_embeds_it(run, trained, tmp_path):
    out = tmp_path / "my page.html"
    code, stdout, stderr = run("show", trained, "--out", out, "--sentence", "w1 w2")
    assert (code, stderr) == (0, "")
    message, _, line = stdout.splitlines()
    written, _, about = message.rpartition(": ")
    assert written == str(out)
    assert re.fullmatch(r"0.\d MB, rnnsearch, the alignment is shown", about)
    assert line.startswith('<iframe src="my page.html" title="The model model translates')
    page = out.read_text(encoding="utf-8")
    assert '"sentence": "w1 w2"' in page
    assert not re.search(r'(src|href)="?(http|/)', page)  # nothing of any other server
    assert run("show", trained, "--out", out)[0] == 0  # our own page may be replaced
    assert '"sentence": ""' in out.read_text()


def test_show_overwrites_no_other_file(refused, trained, tmp_path):
    out = tmp_path / "page.html"
    out.write_text("precious")
    message = f"{out} exists, and is no page of attnmt show. Give another name."
    assert message in refused("show", trained, "--out", out)
    assert out.read_text() == "precious"
    assert str(tmp_path) in refused("show", trained, "--out", tmp_path)  # a folder


@pytest.mark.parametrize("found", [True, False])
def test_show_opens_the_page_in_a_browser(run, trained, tmp_path, monkeypatch, found):
    opened = []
    monkeypatch.setattr(cli.webbrowser, "open", lambda address: opened.append(address) or found)
    monkeypatch.chdir(tmp_path)
    code, stdout, stderr = run("show", trained)
    assert (code, stderr) == (0, "")
    assert opened == [(tmp_path / "model-page.html").as_uri()]
    assert ("No browser was found" in stdout) is not found
    assert run("show", trained, "--no-browser")[0] == 0
    assert run("show", trained, "--out", tmp_path / "other")[0] == 0
    assert len(opened) == 1


# ------------------------------------------------------------------- evaluate, corpus and record


def test_evaluate_prints_bleu_with_its_signature_perplexity_and_aer(run, refused, tmp_path):
    out = tmp_path / "model"
    assert run("train", out, *SMALL, "--recipe.epochs", 1)[0] == 0
    answers = [run("evaluate", out, *more, "--split", "valid") for more in (CORPUS, [])]
    assert answers[0] == answers[1]  # by itself, the corpus that it was trained on
    code, stdout, _ = answers[0]
    assert code == 0
    measured, score, cased, perplexity, aer = stdout.splitlines()  # nothing is lost in joining
    assert measured == "20 pairs, valid of grammar-de-en"
    assert score.startswith("BLEU ") and "case:lc" in score and "tok:13a" in score
    assert cased.startswith("BLEU ") and "case:mixed" in cased
    assert perplexity.startswith("perplexity ") and aer.startswith("AER 0.")
    stderr = refused("evaluate", out, *CORPUS, "--split", "nowhere", exit_code=2)
    assert "split must be one of" in stderr and "'nowhere'" in stderr
    stderr = refused("evaluate", out, *CORPUS, "--corpus.direction", "en-de", exit_code=2)
    message = f"{out} translates de to en, and the corpus is of en and de"
    assert message in stderr


def test_evaluate_searches_as_it_is_told(run, trained, files):
    """The first scores are those of the search that was asked for."""
    files, given = files
    how = {"beam": 4, "length_penalty": 5.0}
    asked = [f"--{name}={value}" for name, value in how.items()]
    code, stdout, stderr = run("evaluate", trained, *given, *asked)
    assert code == 0, stderr
    pairs = cli.CORPORA["files"](**files).test
    model = Translator.load(trained)
    found = beam_search(model, [pair.source for pair in pairs], **how)
    scores = bleu_by_protocol(model, found, pairs, words=False)
    assert stdout.splitlines()[1:3] == [f"BLEU {one.score:.2f} [{one.signature}]" for one in scores]
    _, greedy_stdout, _ = run("evaluate", trained, *given, "--beam", 1)
    assert stdout.splitlines()[1] != greedy_stdout.splitlines()[1]


def test_corpus_shows_counts_and_pairs(run):
    code, stdout, _ = run("corpus", *CORPUS, "--pairs", 3)
    assert code == 0
    assert "train: 60 pairs" in stdout and "valid: 20 pairs" in stdout and "long" not in stdout
    assert "vocabulary: " in stdout
    assert sum("\t" in line for line in stdout.splitlines()) == 3


def test_record_makes_the_runs_that_it_is_told_or_none(run, refused, tmp_path, monkeypatch):
    made, like = [], load_run("rnnsearch-grammar-0")

    def instead(name, work):
        made.append(name)
        return replace(like, name=name), {}

    monkeypatch.setattr(recording, "make_run", instead)
    monkeypatch.setattr(cli, "save_run", lambda run, _: f"{run.name}.json")
    names = list(planned())[:2]
    code, stdout, _ = run("record", *names)
    assert (code, made) == (0, names)
    assert f"{names[0]}.json: BLEU" in stdout
    assert "no run 'nobody-nowhere-7'" in refused("record", names[0], "nobody-nowhere-7")
    assert made == names  # nothing was begun
    assert "tier A: nothing to do" in run("record", "A")[2]
    assert run("record", "A", "--work", tmp_path)[0] == 0  # all are recorded, and have no model
    assert made[2:] == list(planned("A"))


# ---------------------------------------------------------------------- the command as a process


COMMAND = [Path(sys.executable).parent / "attnmt"]
# As a user's process is: one that holds back what it prints until it is told to flush.
BUFFERED = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
BUFFERED["PYTHONWARNINGS"] = "ignore"  # such as PyTorch's about a graphics card too old for it


def test_translate_answers_each_line_before_the_next_is_given(trained):
    process = subprocess.Popen(
        [*COMMAND, "translate", trained],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=BUFFERED,
    )
    watchdog = threading.Timer(300, process.kill)  # a line that never comes must not hang the tests
    watchdog.daemon = True
    watchdog.start()
    with process:
        for _ in range(3):
            process.stdin.write(b"w1 w2\n")
            process.stdin.flush()
            assert process.stdout.readline().endswith(b"\n")
        process.stdout.close()  # who reads has gone
        process.stdin.write(b"w1 w2\n")
        process.stdin.close()
        assert process.wait(timeout=300) == 1
        if os.name == "posix":  # Windows says that the argument is invalid
            assert process.stderr.read() == b""
    watchdog.cancel()


@pytest.mark.skipif(os.name != "posix", reason="Windows sends no Ctrl-C to one process")
def test_ctrl_c_ends_with_130_and_resume_goes_on_to_the_same_weights(tmp_path, run):
    """The real process, stopped by a real signal."""
    begun, whole = tmp_path / "begun", tmp_path / "whole"
    more = [*SMALL, "--recipe.epochs", "12", "--recipe.batch_size", "10", "--save_every", "5"]
    more += ["--device", "cpu"]
    command = [*COMMAND, "train", begun, *more]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    checkpoint = tmp_path / "begun.checkpoint"
    while process.poll() is None and not checkpoint.exists():  # then Ctrl-C is awaited
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=300)
    assert process.returncode == 130, stderr
    assert stdout == b"" and b"attnmt: stopped. --resume goes on" in stderr
    assert b"Traceback" not in stderr
    assert os.listdir(tmp_path) == ["begun.checkpoint"]
    before = checkpoint.read_bytes()
    assert run("train", begun, *more)[0] == 1  # not without --resume
    assert checkpoint.read_bytes() == before
    assert run("train", begun, *more, "--resume")[0] == 0
    assert run("train", whole, *more)[0] == 0
    assert sorted(os.listdir(tmp_path)) == ["begun", "whole"]
    one, other = (Translator.load(path).parameters() for path in (begun, whole))
    assert all(ours.equal(theirs) for ours, theirs in zip(one, other))
