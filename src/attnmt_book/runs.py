"""Recorded runs: one JSON file each, with all that is needed to draw it, judge it and repeat it.

A chapter trains one model live; what it compares with others, or what it shows where real text
cannot be reached, it reads from these files. ``results/runs.toml`` lists the runs of the book, and
``attnmt record NAME`` makes one again.
"""

import platform
import time
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import torch
from pydantic import TypeAdapter, ValidationError

from attnmt.checks import one_of
from attnmt.corpus import Corpus, grammar_corpus, multi30k
from attnmt.decoding import force_align, greedy
from attnmt.files import write_aside
from attnmt.metrics import Bleu, Bucket, bleu, bleu_by_length, perplexity, texts
from attnmt.metrics import alignment_error_rate as aer
from attnmt.model import CONSTRUCTORS, Translator
from attnmt.training import RECIPES, History, Recipe, fit


@dataclass(frozen=True)
class Sample:
    """A sentence of our own, its translation, and where the model looked: (words, source words)."""

    source: list[str]
    words: list[str]
    score: float
    alignment: list[list[float]] | None


@dataclass(frozen=True)
class Run:
    """One training and all that was measured after it.

    ``parts`` holds a :class:`.Bleu` for each part of the corpus that was translated (test, and
    where there are any long and names); ``by_length`` is of test and long together; ``command``
    makes the run again.
    """

    name: str
    command: str
    model: dict[str, Any]
    recipe: Recipe
    seed: int
    corpus: dict[str, str | int]
    parameters: int
    history: History
    test_perplexity: float
    parts: dict[str, Bleu]
    by_length: list[Bucket]
    aer: float | None
    samples: list[Sample]
    versions: dict[str, str]
    search_cpu_seconds: float
    format: Literal["attnmt-run-1"]

    @property
    def bleu(self) -> Bleu:
        """BLEU on the test set."""
        return self.parts["test"]


RUN = TypeAdapter(Run)


def record(
    name: str,
    model: Translator,
    corpus: Corpus,
    recipe: Recipe,
    seed: int = 0,
    samples: Sequence[str] = (),
    progress: bool = True,
) -> Run:
    """Train a model, translate the test pairs and some samples, and note down everything."""
    history = fit(model, corpus, recipe, seed, progress=progress)
    of_corpus = {"name": corpus.name, "train": len(corpus.train), "test": len(corpus.test)}
    cpu = time.process_time()
    parts, pairs, hypotheses = {}, [], []
    for part in ("test", "long", "names"):
        if of_part := getattr(corpus, part):
            translated = texts(model, greedy(model, [pair.source for pair in of_part]))
            references = [pair.target_text for pair in of_part]
            parts[part] = bleu(translated, references, lowercase=True, bootstrap=200)
            if part != "names":
                pairs += of_part
                hypotheses += translated
    search_cpu_seconds = time.process_time() - cpu
    known = model.attends and corpus.test[0].sure is not None
    asked = {"model": model.config, "recipe": recipe, "seed": seed, "history": history}
    return Run(
        name=name,
        command=f"attnmt record {name}",
        **asked,
        corpus=of_corpus | {"fingerprint": corpus.fingerprint},
        parameters=sum(weights.numel() for weights in model.parameters()),
        test_perplexity=perplexity(model, corpus.test),
        parts=parts,
        by_length=bleu_by_length(hypotheses, pairs),
        aer=aer(force_align(model, corpus.test), corpus.test) if known else None,
        samples=[translate_sample(model, text) for text in samples],
        versions={"python": platform.python_version(), "torch": torch.__version__.split("+")[0]},
        search_cpu_seconds=search_cpu_seconds,
        format="attnmt-run-1",
    )


def translate_sample(model: Translator, text: str) -> Sample:
    """Translate one raw sentence, and keep the alignment."""
    source = model.source_vocabulary.tokenise(text)
    (found,) = greedy(model, [source])
    weights = None if found.alignment is None else found.alignment.astype(float).round(4).tolist()
    return Sample(source, found.words, found.score, weights)


# ------------------------------------------------------------------------------- store and load


def results_folder() -> Path:
    """Where recorded runs lie: in the repository, or inside the installed package."""
    checkout = Path(__file__).parents[2] / "results"
    return checkout if checkout.is_dir() else Path(__file__).parent / "results"


def undertrained_folder() -> Path:
    """Where the runs lie that were recorded at first, of models trained for less long."""
    return results_folder() / "undertrained"


def save_run(run: Run, folder: Path | None = None) -> Path:
    """Write a run as ``<name>.json``: aside first, then renamed."""
    path = (folder or results_folder()) / f"{run.name}.json"
    write_aside(path, RUN.dump_json(run) + b"\n")
    return path


def load_run(name: str, folder: Path | None = None) -> Run:
    """Read a recorded run by its name.

    Raises:
        FileNotFoundError: no such run; the message lists those there are.
        ValueError: the file is damaged, or no run of this package.
    """
    folder = folder or results_folder()
    path = folder / f"{name}.json"
    if not path.exists():
        there = ", ".join(sorted(file.stem for file in folder.glob("*.json"))) or "none"
        raise FileNotFoundError(f"no recorded run {name!r} in {folder}. There are: {there}")
    try:
        return RUN.validate_json(path.read_bytes())
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "the file"
        raise ValueError(
            f"{path} is damaged or not a recorded run ({place}: {first['msg']}). "
            f"Make it again with: attnmt record {name}"
        ) from error


def undertrained(name: str) -> Run:
    """:func:`load_run` of one of the first runs."""
    return load_run(name, undertrained_folder())


# ------------------------------------------------------------------------- the runs of the book

CORPORA: dict[str, Callable[[], Corpus]] = {"grammar": grammar_corpus, "multi30k": multi30k}


@cache
def book() -> dict[str, Any]:
    """What ``results/runs.toml`` says: ``seeds``, ``systems``, and recipe and samples by corpus.

    A system is a constructor with its arguments. It may name ``corpora`` of its own, if it is not
    for all, and one of ``attnmt.training.RECIPES`` in place of the corpus's ``recipe``.
    """
    return tomllib.loads((results_folder() / "runs.toml").read_text(encoding="utf-8"))


def names() -> list[str]:
    """All runs of the book: ``SYSTEM-CORPUS-SEED``."""
    plan, pairs = book(), []
    for name, system in plan["systems"].items():
        pairs += [(name, corpus) for corpus in system.get("corpora", plan["corpora"])]
    return [f"{name}-{corpus}-{seed}" for name, corpus in pairs for seed in plan["seeds"]]


def make(name: str, models: Path | None = None, progress: bool = True) -> Run:
    """Make a run of the book again.

    Args:
        name: one of :func:`names`.
        models: a folder to save the trained model in, as ``<name>.safetensors``.
        progress: show a bar.

    Raises:
        ValueError: the book has no such run.
    """
    one_of(names(), name=name)
    system, corpus_name, seed = name.rsplit("-", 2)
    corpus, plan = CORPORA[corpus_name](), book()["corpora"][corpus_name]
    arguments = {**book()["systems"][system], "seed": int(seed)}
    recipe = RECIPES[arguments.pop("recipe")] if "recipe" in arguments else Recipe(**plan["recipe"])
    arguments.pop("corpora", None)
    model = CONSTRUCTORS[arguments.pop("model")](corpus, **arguments)
    run = record(name, model, corpus, recipe, int(seed), plan["samples"], progress)
    if models:
        model.save(Path(models) / f"{name}.safetensors")
    return run
