"""Recorded runs: one JSON file each, with all that is needed to draw it, judge it and repeat it.

A chapter trains one model live; what it compares with others, or what it shows where real text
cannot be reached, it reads from these files. ``python -m attnmt.runs NAME`` makes one again.
"""

import argparse
import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import torch
from pydantic import TypeAdapter, ValidationError

from attnmt.corpus import Corpus, grammar_corpus, multi30k
from attnmt.decoding import force_align, greedy
from attnmt.files import write_aside
from attnmt.metrics import Bleu, Bucket, bleu, bleu_by_length, perplexity, texts
from attnmt.metrics import alignment_error_rate as aer
from attnmt.model import Translator, rnnsearch
from attnmt.training import History, Recipe, fit

# Sentences of our own, so that translations and alignments can be shown.
SAMPLES = {
    "multi30k": (
        "Ein Mann repariert sein Fahrrad vor einem kleinen Laden.",
        "Zwei kleine Mädchen spielen mit einem roten Ball im Garten.",
        "Eine alte Frau trinkt ihren Kaffee auf einer Bank im Park.",
        "Ein schwarzer Hund trägt einen Schuh und zwei Katzen sehen ihm zu.",
        "Der Junge, der einen gelben Helm trägt, springt in den See.",
        "Drei Männer mit weißen Hüten sitzen an einem Tisch und spielen Karten.",
        "Eine Frau zeigt einem Kind, wie man einen Drachen steigen lässt.",
        "Der Buchhändler sortiert am Abend seine Landkarten.",
    ),
    "grammar": (
        "Das Kind schläft.",
        "Die alte Frau hat gestern dem Lehrer ein Buch gegeben.",
        "Der Mann, der den Hund sucht, muss dem Kind nicht helfen.",
        "Peter hofft, dass die Ärztin morgen in München ankommt.",
    ),
}


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
    progress: bool = True,
) -> Run:
    """Train a model, translate the test pairs, and note down everything."""
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
    known = corpus.test[0].sure is not None
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
        samples=[translate_sample(model, text) for text in SAMPLES[corpus.name.split("-")[0]]],
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
RECIPES = {"multi30k": Recipe(), "grammar": Recipe(epochs=3)}
SYSTEMS: dict[str, Callable[..., Translator]] = {"rnnsearch": rnnsearch}
SEEDS = (0, 1, 2)


def make(name: str) -> Run:
    """Make a run of the book again, from its name: ``SYSTEM-CORPUS-SEED``."""
    system, corpus_name, seed = name.rsplit("-", 2)
    corpus = CORPORA[corpus_name]()
    model = SYSTEMS[system](corpus, seed=int(seed))
    return record(name, model, corpus, RECIPES[corpus_name], int(seed))


def main(arguments: Sequence[str] | None = None) -> None:
    """Record runs of the book, from the command line."""
    names = [f"{s}-{c}-{seed}" for s in SYSTEMS for c in CORPORA for seed in SEEDS]
    parser = argparse.ArgumentParser(prog="python -m attnmt.runs", description=__doc__)
    parser.add_argument("names", nargs="+", choices=names, metavar="NAME", help=", ".join(names))
    torch.set_num_threads(1)
    for name in parser.parse_args(arguments).names:
        run = make(name)
        print(
            f"{name}: BLEU {run.bleu.score:.2f} [{run.bleu.signature}], "
            f"{run.history.cpu_seconds:.0f} CPU-seconds of training, stored in {save_run(run)}"
        )


if __name__ == "__main__":
    main()
