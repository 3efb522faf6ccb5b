"""The command line: ``attnmt train | evaluate | translate | show | record | corpus``.

Exit codes: 0 all went well; 1 an error, told in one line; 2 a command that makes no sense; 130
stopped by Ctrl-C. ``attnmt COMMAND --help`` lists the options of a command.

Under ``torchrun`` or ``accelerate launch``, ``train`` is shared by all processes. That and a corpus
larger than memory are in ``attnmt.scale``, which is imported only when asked for: its libraries are
an extra.
"""

import os
import sys
from argparse import Action
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from inspect import signature
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import torch
from jsonargparse import ActionYesNo, ArgumentParser, auto_cli

from attnmt import DataUnavailable
from attnmt import corpus as corpora
from attnmt.book.live import shown
from attnmt.book.live.view import show_live
from attnmt.checks import one_of
from attnmt.corpus import PARTS
from attnmt.decoding import beam_search, force_align, on_words
from attnmt.evidence import record as recording
from attnmt.evidence.models import load
from attnmt.evidence.plan import CORPORA, planned, read_plan, results_folder
from attnmt.evidence.store import save_run
from attnmt.metrics import alignment_error_rate, bleu_by_protocol, perplexity, texts
from attnmt.model import CONSTRUCTORS, Translator
from attnmt.recipes import RECIPES, CrossEntropy, Recipe, likelihood, precision_on
from attnmt.text.subwords import cut_pairs
from attnmt.training import chosen_device, fit

Settings = dict[str, bool | int | float | list[int] | list[str] | str | None]
CHANGED = {name: partial(Recipe, **vars(recipe)) for name, recipe in RECIPES.items()}
GRAMMAR = {"name": "grammar"}  # the default corpus
LARGE = "large"  # a corpus larger than memory, which needs the extra
INSTALL = "python -m pip install 'attnmt[scale]'"
PAPERS = Path(__file__).with_name("papers")  # their recipes, as files
PROCESSES = int(os.environ.get("WORLD_SIZE", "1"))  # that a launcher has started
IS_FIRST = os.environ.get("RANK", "0") == "0"  # which prints, and writes files


def make(
    what: str, choices: Mapping[str, Callable], settings: Settings, *first: Any, **more: Any
) -> Any:
    """Call the function that ``settings["name"]`` chooses, with the other settings."""
    settings = more | settings
    name = settings.pop("name", None)
    one_of(choices, **{f"{what}.name": name})
    known = signature(choices[name])
    its_own = f"It has: {', '.join(list(known.parameters)[len(first) :])}"
    try:
        known.bind_partial(*first, **settings)  # what it does not know, before what it lacks
        known.bind(*first, **settings)
    except TypeError as error:
        raise ValueError(f"{what} {name}: {error}. {its_own}") from error
    try:
        return choices[name](*first, **settings)
    except TypeError as error:  # of what it handed on, of a value, or of a mistake of its own
        unexpected = [f"got an unexpected keyword argument {option!r}" for option in settings]
        if handed_on := [said for said in unexpected if said in str(error)]:
            raise ValueError(f"{what} {name}: {handed_on[0]}. {its_own}") from error
        raise ValueError(f"{what} {name}: {error}") from error


def listed(command: Callable[..., None]) -> Callable[..., None]:
    """Write into a command's help what corpora, models and recipes there are."""
    command.__doc__ = command.__doc__.format(
        corpora=", ".join([*CORPORA, LARGE]),
        models=", ".join(CONSTRUCTORS),
        recipes=", ".join(RECIPES),
    )
    return command


def scale() -> Any:
    """The module attnmt.scale.

    Raises:
        ValueError: a library that it needs is not installed.
    """
    try:
        from attnmt import scale
    except ModuleNotFoundError as error:
        raise ValueError(
            f"several processes and a corpus larger than memory need the library {error.name}, "
            f"which is not installed: {INSTALL}"
        ) from error
    return scale


def chosen_corpus(settings: Settings) -> corpora.Corpus:
    """The corpus that the settings name; one larger than memory needs the extra."""
    one_of((*CORPORA, LARGE), **{"corpus.name": settings.get("name")})
    large = settings["name"] == LARGE
    return make("corpus", {LARGE: scale().large_corpus} if large else CORPORA, settings)


@listed
def train(
    out: str,
    model: Settings = {"name": "rnnsearch"},  # noqa: B006  (jsonargparse copies defaults)
    corpus: Settings = GRAMMAR,
    recipe: Settings = {"name": "laptop"},  # noqa: B006
    seed: int = 0,
    resume: bool = False,
    every: int = 100,
    measure_bleu: bool = False,
    device: str | None = None,
    precision: str = "no",
    accumulate: int = 1,
    smoothing: float = 0.0,
) -> None:
    """Train a model and save it.

    The state of the training is kept beside it, in OUT.checkpoint, until the model is saved.

    Args:
        out: The file to save the model in. It must not exist yet.
        model: One of {models}, and its arguments: --model.name luong --model.score general
            --model.dropout 0.2
        corpus: One of {corpora}, and its arguments: --corpus.name files --corpus.source FILE
            --corpus.target FILE; --corpus.subwords 4000 cuts the words of files and of multi30k
            into so many pieces a side
        recipe: One of {recipes}, and what is to be changed of it: --recipe.epochs 3
        seed: Of the first weights, the order of batches and dropout.
        resume: Go on where a training that was stopped or killed left off.
        every: Steps between checkpoints.
        measure_bleu: Also measure BLEU after each epoch.
        device: cpu or cuda; by itself a GPU if there is one.
        precision: no, or bf16 for mixed precision.
        accumulate: Parts that each process cuts its share of a batch into, to save memory.
        smoothing: The share of the loss that all words have alike (label smoothing).
    """
    if Path(out).exists():
        raise FileExistsError(f"{out} exists. Delete it, or give another name.")
    with_data = chosen_corpus(corpus)
    how = make("recipe", CHANGED, recipe)
    network = make("model", CONSTRUCTORS, model, with_data, seed=seed)
    kept = Path(f"{out}.checkpoint")
    precision = precision_on(chosen_device(device), precision)
    plain = precision == "no" and not smoothing
    learn = fit
    if PROCESSES > 1 or accumulate != 1:
        learn = partial(scale().fit, gradient_accumulation=accumulate)
    history = learn(
        network,
        with_data,
        how,
        seed=seed,
        device=device,
        checkpoint=kept,
        save_every=every,
        resume=resume,
        measure_bleu=measure_bleu,
        objective=likelihood if plain else CrossEntropy(smoothing, precision),
    )
    if not IS_FIRST:
        return
    network.save(out)
    kept.unlink()
    for epoch in history.epochs:
        score = "" if epoch.bleu is None else f", BLEU {epoch.bleu:.2f}"
        print(f"epoch {epoch.epoch}: perplexity {epoch.valid_perplexity:.2f} on valid{score}")
    print(f"{out}: {history.cpu_seconds:.0f} CPU-seconds of training on {history.device}")


@listed
def evaluate(
    model: str,
    corpus: Settings = GRAMMAR,
    part: str = "test",
    beam: int = 1,
    length_penalty: float = 0.0,
) -> None:
    """Measure a model: BLEU, perplexity, and alignment error where alignments are known.

    Args:
        model: The file of a saved model.
        corpus: One of {corpora}, and its arguments, as in train; of subwords the model has its own.
        part: Of the corpus: valid, test; of the grammar's also long and names.
        beam: Hypotheses to search with; 1 is greedy.
        length_penalty: The larger, the longer the translations that a beam finds.
    """
    one_of(PARTS, part=part)
    measured_on = chosen_corpus(
        {name: value for name, value in corpus.items() if name != "subwords"}
    )
    network = load(model)
    check_languages(model, network, measured_on)
    sides = network.source_vocabulary.units, network.target_vocabulary.units
    whole = getattr(measured_on, part)
    pairs = cut_pairs(whole, *sides)  # into the model's pieces, if it has any
    network.to(chosen_device())
    sources = [pair.source for pair in pairs]
    found = beam_search(network, sources, beam=beam, length_penalty=length_penalty)
    for scored in bleu_by_protocol(network, found, whole, words=measured_on.bleu_of_words):
        print(f"BLEU {scored.score:.2f} [{scored.signature}]")
    print(f"perplexity {perplexity(network, pairs):.3f}")
    if network.attends and pairs[0].sure is not None:
        print(f"AER {alignment_error_rate(force_align(network, pairs), pairs):.3f}")


def check_languages(path: str, model: Translator, corpus: corpora.Corpus) -> None:
    """Refuse a corpus that is not of the model's languages: every score would be 0."""
    known = (model.source_vocabulary.language, model.target_vocabulary.language)
    given = (corpus.source_language, corpus.target_language)
    if known != given:
        raise ValueError(
            f"{path} translates from {known[0]} to {known[1]}, but the corpus is from {given[0]} "
            f"to {given[1]}. Choose a corpus from {known[0]} to {known[1]}."
        )


def translate(model: str, beam: int = 5, alignments: bool = False) -> None:
    """Translate standard input, line by line: each line gives one line, an empty one an empty one.

    Args:
        model: The file of a saved model.
        beam: Hypotheses to search with; 1 is greedy.
        alignments: Write words apart, then a tab and, for each of them, the source word that had
            the largest weight: 0-0 1-2 is source-target, counted from 0.
    """
    network = load(model).to(chosen_device())
    if alignments and not network.attends:
        raise ValueError(f"{model} is a model that does not attend: it has no alignments")
    sys.stdout.reconfigure(encoding="utf-8")
    for number, line in enumerate(sys.stdin.buffer, 1):
        try:
            words = network.source_vocabulary.tokenise(line.decode("utf-8-sig"))
        except UnicodeDecodeError as error:
            why = f"not UTF-8 ({error.reason}); the lines before are translated"
            raise ValueError(f"standard input, line {number}: {why}") from error
        written = ""
        if words:
            (found,) = beam_search(network, [words], beam)
            (written,) = texts(network, [found])
            if alignments:
                found, _ = on_words(network, found, words)
                links = [f"{s}-{t}" for t, s in enumerate(found.alignment.argmax(axis=1))]
                written = f"{' '.join(found.words)}\t{' '.join(links)}"
        print(written, flush=True)


def show(
    model: str,
    out: str | None = None,
    sentence: str = "",
    english: str = "",
    port: int = 0,
    browser: bool = True,
) -> None:
    """Show a model in a browser: translate what is typed, see where it looks, step by step.

    Without --out, a server on this machine (127.0.0.1) shows it until Ctrl-C.

    Args:
        model: The file of a saved model.
        out: A folder to write the page into, for any site; the line that embeds it is printed.
        sentence: To begin with.
        english: Its translation: then wrong words are marked.
        port: Of the server; 0 is any that is free.
        browser: Open the page in a browser.
    """
    network = load(model)
    view = show_live(network, sentence, english=english)
    if out is None:
        shown.serve(view, port, browser)
        return
    path = shown.write_folder(view, out)
    about = "the alignment is shown" if network.attends else "it does not attend: words alone"
    print(f"{path}: {path.stat().st_size / 1e6:.1f} MB, {network.config['model']}, {about}")
    print("To show it in a page of yours, put the folder beside that page, and into it this line:")
    print(shown.embedding(out, f"The model {Path(model).name} translates as you type"))


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
    for name in names:
        chosen = of_tier(name, folder) if name in tiers else [name]
        if not chosen:
            print(f"tier {name}: nothing to do, {why_nothing(work)}", file=sys.stderr)
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


def why_nothing(work: str | None) -> str:
    """Why :func:`of_tier` found no run."""
    if work:
        return f"all its runs are recorded, and their models are in {work}"
    return "all its runs are recorded. To make them again, name a folder for models: --work FOLDER"


@listed
def corpus(corpus: Settings = GRAMMAR, part: str = "train", pairs: int = 5) -> None:
    """Show how large a corpus is, and some of its pairs.

    Args:
        corpus: One of {corpora}, and its arguments, as in train.
        part: Of the corpus: train, valid, test; of the grammar's also long and names.
        pairs: How many to show.
    """
    one_of(PARTS, part=part)
    shown = chosen_corpus(corpus)
    for name, of_part in shown.parts.items():
        if of_part:
            words = sum(len(pair.source) for pair in of_part) / len(of_part)
            print(f"{name}: {len(of_part):,} pairs, {words:.1f} source words each")
    sides = len(shown.source_vocabulary), len(shown.target_vocabulary)
    print(f"vocabulary: {sides[0]:,} source words, {sides[1]:,} target words", shown.report or "")
    for pair in islice(getattr(shown, part), pairs):
        print(f"{pair.source_text}\t{pair.target_text}")


class Parser(ArgumentParser):
    """Options that are true or false need no value, and names are given word by word."""

    def add_argument(self, *names: str, **settings: Any) -> Action:
        """Add an option or an argument of a command."""
        if settings.get("type") is bool:
            del settings["type"]
            settings["action"] = ActionYesNo(yes_prefix="", no_prefix="no-")
        elif names == ("names",):
            settings = {"help": settings.get("help"), "nargs": "+", "type": str}
        return super().add_argument(*names, **settings)


def with_recipe_files(arguments: Sequence[str]) -> list[str]:
    """The arguments, in which the name of a paper's recipe is replaced by its file."""
    found = list(arguments)
    for place, (option, value) in enumerate(pairwise(arguments)):
        if option == "--config" and not Path(value).exists():
            of_paper = PAPERS / f"{value}.yaml"
            found[place + 1] = str(of_paper) if of_paper.exists() else value
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit code."""
    arguments = with_recipe_files(sys.argv[1:] if arguments is None else arguments)
    try:
        auto_cli(
            [train, evaluate, translate, show, record, corpus],
            arguments,
            prog="attnmt",
            description="Train and use translators.",
            parser_class=Parser,
        )
        sys.stdout.flush()
        if torch.distributed.is_initialized():
            torch.distributed.destroy_process_group()
    except KeyboardInterrupt:
        print("attnmt: stopped. --resume goes on with a training.", file=sys.stderr)
        return 130
    except BrokenPipeError:  # who reads our output has closed it; what is left must not be written
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (OSError, ValueError, ArithmeticError, RuntimeError, DataUnavailable) as error:
        said = str(error).strip().splitlines() or [type(error).__name__]  # PyTorch may say a lot
        print(f"attnmt: {said[0]}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":  # for launchers: torchrun -m attnmt.cli
    sys.exit(main())
