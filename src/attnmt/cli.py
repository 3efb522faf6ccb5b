"""The command line: ``attnmt train | evaluate | translate | show | record | corpus``.

Exit codes: 0 all went well; 1 an error, told in one line; 2 a command that makes no sense; 130
stopped by Ctrl-C. ``attnmt COMMAND --help`` lists the options of a command.

Under ``torchrun`` or ``accelerate launch``, ``train`` is shared by all processes. That and a corpus
larger than memory are in ``attnmt.scale``, which is imported only when asked for: its libraries are
an extra.
"""

import os
import sys
import warnings
import webbrowser
from argparse import SUPPRESS
from collections.abc import Sequence
from functools import partial
from itertools import islice, pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from attnmt import __version__
from attnmt.alignment import alignment_error_rate, force_align
from attnmt.book.live.view import embedding, show_live, write_page
from attnmt.checks import ArgumentError, file_name, one_of, whole
from attnmt.decoding import beam_search
from attnmt.devices import chosen_device
from attnmt.evidence import record as recording
from attnmt.evidence.models import load
from attnmt.evidence.plan import CORPORA, planned, read_plan, results_folder
from attnmt.evidence.store import save_run
from attnmt.metrics import bleu, bleu_by_protocol, perplexity, texts
from attnmt.model import CONSTRUCTORS, Translator
from attnmt.options import Makers, Parser, Settings, add_command, arguments_of, from_file, plain
from attnmt.pairs import BLEU_TOKENISER, CEILING, PARTS, Corpus
from attnmt.provenance import corpus_of
from attnmt.recipes import RECIPES, CrossEntropy, Recipe, likelihood, precision_on
from attnmt.text import TextWarning
from attnmt.text.subwords import cut_pairs
from attnmt.training import fit

Given = dict[str, Any]  # the name and the arguments of a model, a corpus or a recipe
LARGE = "large"  # a corpus larger than memory, which needs the extra
INSTALL = "python -m pip install 'attnmt[scale]'"
PAPERS = Path(__file__).with_name("papers")  # their recipes, as files


# --------------------------------------------------------------------------------------- settings


def recipe_of(name: str) -> Any:
    """A function that makes the recipe of that name, with what is to be changed of it."""
    changed = partial(Recipe, **vars(RECIPES[name]))
    changed.__doc__ = Recipe.__doc__
    return changed


def scale() -> ModuleType:
    """The module attnmt.scale.

    Raises:
        ArgumentError: a library that it needs is not installed.
    """
    try:
        from attnmt import scale
    except ModuleNotFoundError as error:
        raise ArgumentError(
            f"several processes and a corpus larger than memory need the library {error.name}, "
            f"which is not installed: {INSTALL}"
        ) from error
    return scale


def corpora(arguments: Sequence[str]) -> Makers:
    """What corpora there are; the large one only if the arguments name it."""
    given = [*arguments, *("=".join(both) for both in pairwise(arguments))]
    named = not {f"--corpus={LARGE}", f"--corpus.name={LARGE}"}.isdisjoint(given)
    return CORPORA | {LARGE: scale().large_corpus} if named else CORPORA


def know_corpus_of(model: Translator) -> None:
    """Have the large corpus among those there are, if a model was trained on it."""
    origin = (model.trained_on or {}).get("origin") or {}
    if origin.get("name") == LARGE:
        CORPUS.makers = CORPORA | {LARGE: scale().large_corpus}


MODELS = Settings("model", CONSTRUCTORS, "rnnsearch", skip=1)
CORPUS = Settings("corpus", CORPORA, "grammar")
HOW = Settings("recipe", {name: recipe_of(name) for name in RECIPES}, "laptop")


# --------------------------------------------------------------------------------------- commands


def train(
    out: str,
    model: Given,
    corpus: Given,
    recipe: Given,
    seed: int = 0,
    start: str | None = None,
    resume: bool = False,
    save_every: int = 100,
    measure_bleu: bool = False,
    device: str | None = None,
    precision: str = "no",
    gradient_accumulation: int = 1,
    label_smoothing: float = 0.0,
) -> None:
    """Train a model and save it.

    The state of the training is kept beside it, in OUT.checkpoint, until the model is saved.

    Args:
        out: the file to save the model in. It must not exist yet
        seed: of the first weights, the order of batches and dropout
        start: a finished model to go on from, in place of a new one
        resume: go on where a training that was stopped or killed left off
        save_every: steps between checkpoints
        measure_bleu: also measure BLEU after each epoch
        device: cpu or cuda; by itself a GPU if there is one
        precision: no, or bf16 for mixed precision
        gradient_accumulation: parts that each process cuts its share of a batch into, to save
            memory
        label_smoothing: the share of the loss that all words have alike, from 0 to below 1
    """
    file_name(out=out)
    if Path(out).exists():
        raise FileExistsError(f"{out} exists. Delete it, or give another name.")
    if start and model:
        raise ArgumentError(f"--start {start} is a model: --model cannot be another one")
    precision = precision_on(chosen_device(device), precision)
    objective = CrossEntropy(label_smoothing, precision)
    how = HOW.make(recipe or {"name": HOW.default})
    begun = load(start) if start else None
    origin = None
    if begun and not corpus:
        know_corpus_of(begun)
        origin = (begun.trained_on or {}).get("origin")
        if not origin:
            raise ArgumentError(f"{start} does not say what it was trained on: name a corpus, too")
    with_data = CORPUS.make(corpus or origin or {"name": CORPUS.default})
    network = begun or MODELS.make(model or {"name": MODELS.default}, with_data, seed=seed)
    kept = Path(f"{out}.checkpoint")
    learn: Any = fit
    if process_count() > 1 or gradient_accumulation != 1:
        learn = partial(scale().fit, gradient_accumulation=gradient_accumulation)
    history = learn(
        network,
        with_data,
        how,
        seed=seed,
        device=device,
        checkpoint=kept,
        save_every=save_every,
        resume=resume,
        measure_bleu=measure_bleu,
        objective=likelihood if objective == CrossEntropy() else objective,
    )
    if os.environ.get("RANK", "0") != "0":  # of several processes, the first writes
        return
    network.save(out)
    kept.unlink()
    for epoch in history.epochs:
        score = "" if epoch.bleu is None else f", BLEU {epoch.bleu:.2f}"
        print(f"epoch {epoch.epoch}: perplexity {epoch.valid_perplexity:.2f} on valid{score}")
    print(f"{out}: {history.cpu_seconds:.0f} CPU-seconds of training on {history.device}")


def process_count() -> int:
    """How many processes a launcher (torchrun, accelerate launch) has started for this command."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def evaluate(
    model: str,
    corpus: Given,
    split: str = "test",
    beam: int = 5,
    length_penalty: float = 0.0,
    bleu_tokeniser: str | None = None,
) -> None:
    """Measure a model: BLEU, perplexity, and alignment error where alignments are known.

    By itself on the corpus that it was trained on; a corpus that is named is another one.

    Args:
        model: the file of a saved model
        split: of the corpus: train, valid, test; of the grammar's also long and names
        beam: hypotheses to search with; 1 is greedy
        length_penalty: the larger, the longer the translations that a beam finds
        bleu_tokeniser: sacreBLEU's: 13a, zh, ja-mecab, char and others; by itself that of the
            language
    """
    one_of(PARTS, split=split)
    if process_count() > 1:
        raise ArgumentError("evaluate runs in one process: start it without a launcher")
    network = load(model)
    know_corpus_of(network)
    measured_on = corpus_of(network, CORPUS.makers, corpus, model, split)
    uncut = getattr(measured_on, split)
    if not uncut:
        raise ArgumentError(f"split {split} of {measured_on.name} has no pairs")
    sides = network.source_vocabulary.units, network.target_vocabulary.units
    pairs = cut_pairs(uncut, *sides)  # into the model's pieces, if it has any
    network.to(chosen_device())
    tokeniser = bleu_tokeniser or measured_on.bleu_tokeniser
    bleu(["x"], ["x"], tokeniser=tokeniser)  # is refused before the search, not after it
    sources = [pair.source for pair in pairs]
    found = beam_search(network, sources, beam, length_penalty)
    print(f"{len(pairs):,} pairs, {split} of {measured_on.name}")
    if tokeniser == BLEU_TOKENISER:
        scores = bleu_by_protocol(network, found, uncut, words=measured_on.bleu_of_words)
    else:
        aims = [pair.target_text for pair in uncut]
        scores = [bleu(texts(network, found), aims, lowercase=True, tokeniser=tokeniser)]
    for scored in scores:
        print(f"BLEU {scored.score:.2f} [{scored.signature}]")
    if measured_on.ceiling < CEILING:
        print(f"BLEU of the references, cut into words and joined: {measured_on.ceiling:.2f}")
    print(f"perplexity {perplexity(network, pairs):.3f}")
    if network.attends and pairs[0].sure is not None:
        print(f"AER {alignment_error_rate(force_align(network, pairs), pairs):.3f}")


def translate(
    model: str,
    beam: int = 5,
    length_penalty: float = 0.0,
    alignments: bool = False,
    tokeniser: str | None = None,
) -> None:
    """Translate standard input, line by line: each line gives one line, an empty one an empty one.

    Args:
        model: the file of a saved model
        beam: hypotheses to search with; 1 is greedy
        length_penalty: the larger, the longer the translations that a beam finds
        alignments: write words apart, then a tab and, for each of them, the source word that had
            the largest weight: 0-0 1-2 is source-target, counted from 0
        tokeniser: spaces for text that is in words already, or moses; by itself the model's
    """
    network = load(model).to(chosen_device())
    if alignments and not network.attends:
        raise ValueError(f"{model} is a model that does not attend: it has no alignments")
    if sys.stdin is None:
        raise ArgumentError("standard input is closed: give it the text to translate")
    for number, line in enumerate(sys.stdin.buffer, 1):
        try:
            text = line.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            why = f"not UTF-8 ({error.reason}); the lines before are translated"
            raise ValueError(f"standard input, line {number}: {why}") from error
        found = network.translate(text, beam, length_penalty, tokeniser)
        written = found.text
        if alignments and found.source:
            links = [f"{s}-{t}" for t, s in enumerate(found.alignment.argmax(axis=1))]
            written = f"{' '.join(found.words)}\t{' '.join(links)}"
        print(written, flush=True)


def show(
    model: str,
    out: str | None = None,
    sentence: str = "",
    english: str = "",
    browser: bool = True,
) -> None:
    """Write a page that shows a model: it translates what is typed, and says where it looks.

    The page is one file. It opens in a browser, or can be put on any site.

    Args:
        model: The file of a saved model.
        out: The file to write, which is not opened then; else MODEL-page.html, here.
        sentence: To begin with.
        english: Its translation: then wrong words are marked.
        browser: Open the page in a browser.
    """
    network = load(model)
    view = show_live(network, sentence, english=english)
    path = write_page(view, out or f"{Path(model).stem}-page.html")
    about = "the alignment is shown" if network.attends else "it does not attend: words alone"
    print(f"{path}: {path.stat().st_size / 1e6:.1f} MB, {network.config['model']}, {about}")
    print("To show it in a page of yours, put the file beside that page, and into it this line:")
    print(embedding(path, f"The model {Path(model).name} translates as you type"))
    if out is None and browser and not webbrowser.open(path.resolve().as_uri()):
        print(f"No browser was found: open {path} in one.")


def record(names: list[str], work: str | None = None) -> None:
    """Make recorded runs of the book again, on one thread.

    Args:
        names: Of the runs, SYSTEM-CORPUS-SEED; or of a tier, for its runs that are not there yet,
            or whose trained model is not in the folder.
        work: A folder for the trained models, and for the state of the one in training: a run that
            was stopped goes on from there.
    """
    torch.set_num_threads(1)
    tiers = {tier["name"] for tier in read_plan()["tiers"]}
    if unknown := set(names) - planned().keys() - tiers:
        known = ", ".join([*sorted(tiers), *planned()])
        raise ValueError(f"no run {min(unknown)!r}. There are: {known}")
    folder = Path(work) if work else None
    why = f"and their models are in {work}" if work else "and are made again with --work FOLDER"
    for name in names:
        chosen = of_tier(name, folder) if name in tiers else [name]
        if not chosen:
            print(f"tier {name}: nothing to do, all its runs are recorded, {why}", file=sys.stderr)
        for one in chosen:
            run, statistics = recording.make_run(one, folder)
            path = save_run(run, statistics)
            print(f"{path}: BLEU {run.bleu.score:.2f} [{run.bleu.signature}]", flush=True)


def of_tier(tier: str, work: Path | None) -> list[str]:
    """The runs of a tier that are not recorded, or have no model in ``work``."""
    there = [name for name in planned(tier) if (results_folder() / f"{name}.json").exists()]
    if work:
        there = [name for name in there if (work / f"{name}.safetensors").exists()]
    return [name for name in planned(tier) if name not in there]


def corpus(corpus: Given, split: str = "train", pairs: int = 5) -> None:
    """Show how large a corpus is, and some of its pairs.

    Args:
        split: of the corpus: train, valid, test; of the grammar's also long and names
        pairs: how many to show
    """
    one_of(PARTS, split=split)
    whole(0, pairs=pairs)
    found: Corpus = CORPUS.make(corpus or {"name": CORPUS.default})
    for name, of_part in found.parts.items():
        if of_part:
            words = sum(len(pair.source) for pair in of_part) / len(of_part)
            print(f"{name}: {len(of_part):,} pairs, {words:.1f} source words each")
    sides = len(found.source_vocabulary), len(found.target_vocabulary)
    print(f"vocabulary: {sides[0]:,} source words, {sides[1]:,} target words")
    if found.report:
        counted = (f"{what} {count:,}" for what, count in found.report.items())
        print("pairs:", ", ".join(counted))
    for pair in islice(getattr(found, split), pairs):
        print(f"{pair.source_text}\t{pair.target_text}")


# ------------------------------------------------------------------------------------------- main

COMMANDS = {  # and the settings that they take
    train: (MODELS, CORPUS, HOW),
    evaluate: (CORPUS,),
    translate: (),
    show: (),
    record: (),
    corpus: (CORPUS,),
}


def parser_of(arguments: Sequence[str]) -> Parser:
    """The parser of all commands."""
    parser = Parser("attnmt", description="Train and use translators.", allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"attnmt {__version__}")
    traceback = {"action": "store_true", "default": SUPPRESS, "help": "of an error, for developers"}
    parser.add_argument("--traceback", **traceback)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    CORPUS.makers = corpora(arguments)
    for command, groups in COMMANDS.items():
        add_command(commands, command, groups)
    return parser


def with_file(arguments: list[str]) -> list[str]:
    """The arguments, those of ``--config`` before the others, which change them.

    Raises:
        ArgumentError: it is no file of settings.
    """
    parser = Parser("attnmt", add_help=False, allow_abbrev=False)
    parser.add_argument("--config", nargs="?", const="")
    given, rest = parser.parse_known_args(arguments)
    known = {one.__name__: options_of(one, groups) for one, groups in COMMANDS.items()}
    if given.config is None or not rest or rest[0] not in known:
        return arguments
    if not given.config:
        raise ArgumentError("--config needs a file of settings")
    of_paper = PAPERS / f"{given.config}.yaml"
    path = given.config if Path(given.config).exists() or not of_paper.exists() else str(of_paper)
    return [rest[0], *from_file(path, known[rest[0]], known["train"]), *rest[1:]]


def options_of(command: Any, groups: Sequence[Settings]) -> list[str]:
    """The names of a command's options, and of its settings."""
    found = [one.name for one in arguments_of(command).values() if one.default is not one.empty]
    return found + [group.group for group in groups]


def own_corpus(command: str, parsed: Given) -> Given | None:
    """The corpus that options change which name none: that of the model a command begins with.

    Raises:
        ArgumentError: the model does not say what it was trained on.
    """
    path = parsed.get("model") if command == "evaluate" else parsed.get("start")
    given = [option for option in parsed if option.startswith("corpus.")]
    if path is None or not given or "corpus.name" in given:
        return None
    facts = load(path).trained_on
    if not facts or "name" not in facts["origin"]:
        raise ArgumentError(f"{path} does not say what it was trained on: give --corpus.name, too")
    return facts["origin"]


def run(arguments: Sequence[str]) -> None:
    """Run a command.

    Raises:
        ArgumentError: it makes no sense.
    """
    words = plain(with_file(list(arguments)))
    parser = parser_of(words)
    known, unknown = parser.parse_known_args(words)
    parsed = vars(known)
    name = parsed.pop("command")
    (command,) = (one for one in COMMANDS if one.__name__ == name)
    if unknown:  # an option of no model, corpus or recipe is answered by its group, see there
        option, _, value = unknown[0].removeprefix("--").partition("=")
        if option.partition(".")[0] not in {group.group for group in COMMANDS[command]}:
            parser.error(f"{name} has no {unknown[0]}")
        parsed[option] = value
    changed = own_corpus(name, parsed)
    settings = {
        group.group: group.given(parsed, changed if group is CORPUS else None)
        for group in COMMANDS[command]
    }
    own = {option: value for option, value in parsed.items() if "." not in option}
    command(**own, **settings)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    developer = "--traceback" in given
    printed: set[str] = set()
    tell_others = warnings.showwarning

    def tell(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
        """Say what one should know of a text in a line, once."""
        if not issubclass(category, TextWarning):
            tell_others(message, category, *where, **more)
        elif str(message) not in printed:
            printed.add(str(message))
            print(f"attnmt: {message}", file=sys.stderr)

    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape")  # as names of files are
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", TextWarning)
            warnings.showwarning = tell
            run([argument for argument in given if argument != "--traceback"])
        if sys.stdout:
            sys.stdout.flush()
        if torch.distributed.is_initialized():
            torch.distributed.destroy_process_group()
    except KeyboardInterrupt:
        print("attnmt: stopped. --resume goes on with a training.", file=sys.stderr)
        return 130
    except BrokenPipeError:  # who reads our output has closed it; what is left must not be written
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        if developer:
            raise
        lines = str(error).strip().splitlines() or [type(error).__name__]  # PyTorch may say a lot
        print(f"attnmt: {lines[0]}", file=sys.stderr)
        return 2 if isinstance(error, ArgumentError) else 1
    return 0


if __name__ == "__main__":  # for launchers: torchrun -m attnmt.cli
    sys.exit(main())
