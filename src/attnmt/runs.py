"""Recorded runs: one JSON file each, with all that is needed to draw it, judge it and repeat it.

A chapter trains one model live; what it compares with others, or what it shows where real text
cannot be reached, it reads from these files. ``results/runs.toml`` lists the runs of the book, and
``python -m attnmt.runs NAME`` makes one again.
"""

import platform
import sys
import time
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import torch
from pydantic import TypeAdapter, ValidationError

from attnmt.corpus import Corpus, grammar_corpus, multi30k
from attnmt.decoding import force_align, greedy
from attnmt.files import write_aside
from attnmt.metrics import Bleu, Bucket, bleu, bleu_by_length, perplexity, texts
from attnmt.metrics import alignment_error_rate as aer
from attnmt.model import CONSTRUCTORS, Translator
from attnmt.training import History, Recipe, fit


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

    ``parts`` holds a :class:`Bleu` for each part of the corpus that was translated (test, and where
    there are any long and names); ``by_length`` is of test and long together; ``command`` makes the
    run again.
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
    return Run(
        name=name,
        command=f"python -m attnmt.runs {name}",
        model=model.config,
        recipe=recipe,
        seed=seed,
        corpus={
            "name": corpus.name,
            "train": len(corpus.train),
            "test": len(corpus.test),
            "fingerprint": corpus.fingerprint,
        },
        parameters=sum(weights.numel() for weights in model.parameters()),
        history=history,
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
            f"Make it again with: python -m attnmt.runs {name}"
        ) from error


# ------------------------------------------------------------------------- the runs of the book

CORPORA: dict[str, Callable[[], Corpus]] = {"multi30k": multi30k, "grammar": grammar_corpus}


@cache
def book() -> dict[str, Any]:
    """What ``results/runs.toml`` says: ``seeds``, ``systems``, and recipe and samples by corpus."""
    return tomllib.loads((results_folder() / "runs.toml").read_text(encoding="utf-8"))


def names() -> list[str]:
    """All runs of the book: ``SYSTEM-CORPUS-SEED``."""
    plan = book()
    return [f"{s}-{c}-{n}" for s in plan["systems"] for c in plan["corpora"] for n in plan["seeds"]]


def make(name: str, models: Path | None = None, progress: bool = True) -> Run:
    """Make a run of the book again.

    Args:
        name: one of :func:`names`.
        models: a folder to save the trained model in, as ``<name>.safetensors``.
        progress: show a bar.

    Raises:
        ValueError: the book has no such run.
    """
    if name not in names():
        raise ValueError(f"the book has no run {name!r}. It has: {', '.join(names())}")
    system, corpus_name, seed = name.rsplit("-", 2)
    corpus, plan = CORPORA[corpus_name](), book()
    arguments = {**plan["systems"][system], "seed": int(seed)}
    model = CONSTRUCTORS[arguments.pop("model")](corpus, **arguments)
    recipe, samples = Recipe(**plan["corpora"][corpus_name]["recipe"]), plan["corpora"][corpus_name]
    run = record(name, model, corpus, recipe, int(seed), samples["samples"], progress)
    if models:
        model.save(Path(models) / f"{name}.safetensors")
    return run


if __name__ == "__main__":
    torch.set_num_threads(1)
    for asked in sys.argv[1:] or sys.exit(f"name some of: {', '.join(names())}"):
        done = make(asked)
        print(f"{save_run(done)}: BLEU {done.bleu.score:.2f} [{done.bleu.signature}]", flush=True)
