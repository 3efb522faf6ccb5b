"""Recorded runs on disk: all that is needed to draw a training, to judge it and to repeat it.

A chapter trains one model live; what it compares with others, or what it shows where real text
cannot be reached, it reads from these files. A run is three of them:

- ``NAME.json``: the model, the recipe, the learning curve, the scores, some translated samples;
- ``sentences/NAME.npz``: for each test sentence, the counts that BLEU, AER and perplexity add up,
  so that two runs can be compared sentence by sentence;
- ``translations/NAME.txt.gz``: every translation, so that a score can be measured anew, another
  way. Only of text that is our own.

What a study measured is one file, ``studies/NAME.json``.
"""

import gzip
import io
import json
import zipfile
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import TypeAdapter, ValidationError

from attnmt.evidence.folders import results_folder
from attnmt.files import write_aside
from attnmt.metrics import Bleu, Bucket
from attnmt.recipes import Recipe
from attnmt.training import History


@dataclass(frozen=True)
class SampleTranslation:
    """A sentence of our own, its translation, and where the model looked: (words, source words)."""

    source: list[str]
    words: list[str]
    score: float
    alignment: list[list[float]] | None


@dataclass(frozen=True)
class Run:
    """One training and all that was measured after it.

    ``parts`` holds a :class:`.Bleu` for each part of the corpus that was translated (test, and
    where there are any long and names); ``by_length`` is of test and long together; ``aer`` is of
    test, or, on captions, of the pairs with gold links; ``command`` makes the run again; ``modern``
    has the arguments of :class:`.CrossEntropy`, if it was the objective. What a run took is no
    measure of its cost on a processor if ``device`` is ``"cuda"``, a GPU.
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
    samples: list[SampleTranslation]
    versions: dict[str, str]
    search_cpu_seconds: float
    format: Literal["attnmt-run-2"]
    modern: dict[str, Any] = field(default_factory=dict)
    device: str = "cpu"

    @property
    def bleu(self) -> Bleu:
        """BLEU on the test set."""
        return self.parts["test"]


RUN = TypeAdapter(Run)


@dataclass(frozen=True)
class PerSentence:
    """What a run knows of each test sentence.

    ``statistics`` has arrays with a row for each sentence of a part of the corpus, named
    ``PART_bleu`` (:func:`.bleu_statistics`), ``PART_losses`` (:func:`.sentence_losses`),
    ``PART_aer`` (:func:`.alignment_statistics`, where alignments are known and the model attends),
    ``PART_length`` (words of the source) and ``PART_known`` (whether both vocabularies have all of
    its words); for a model that attends ``PART_monotone`` (:func:`.monotone_steps`) and
    ``PART_entropy`` (:func:`.entropies`); and ``PART_SEARCH_bleu`` of each further search.
    ``gold_aer`` is of the captions that have gold links (:mod:`.gold`). The ``translations`` have
    the sentences of each part, if the text is ours.
    """

    statistics: dict[str, np.ndarray]
    translations: dict[str, list[str]] = field(default_factory=dict)


def save_run(run: Run, sentences: PerSentence | None = None, folder: Path | None = None) -> Path:
    """Write a run, each file aside first, then renamed; ``NAME.json`` comes last."""
    folder = folder or results_folder()
    path = folder / f"{run.name}.json"
    if sentences:
        packed = io.BytesIO()
        np.savez_compressed(packed, allow_pickle=False, **sentences.statistics)
        write_aside(_statistics_file(run.name, folder), packed.getvalue())
        if sentences.translations:
            lines = [
                f"{part}\t{s}\n" for part, some in sentences.translations.items() for s in some
            ]
            packed_text = gzip.compress("".join(lines).encode(), mtime=0)
            write_aside(_translations_file(run.name, folder), packed_text)
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
        raise _damaged(path, name, f"{place}: {first['msg']}") from error


def recorded(name: str, seeds: int) -> list[Run]:
    """The runs of ``SYSTEM-CORPUS`` that are recorded, in order, up to the first missing one."""
    found: list[Run] = []
    for seed in range(seeds):
        if not (results_folder() / f"{name}-{seed}.json").exists():
            break
        found.append(load_run(f"{name}-{seed}"))
    return found


def load_statistics(name: str, folder: Path | None = None) -> dict[str, np.ndarray]:
    """What a run counted in each test sentence: see :class:`PerSentence`.

    Raises:
        FileNotFoundError: the run kept nothing of its sentences.
        ValueError: the file is damaged.
    """
    path = _statistics_file(name, folder or results_folder())
    if not path.exists():
        raise FileNotFoundError(f"run {name!r} kept nothing of its sentences: there is no {path}")
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as arrays:
            return {key: arrays[key] for key in arrays.files}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise _damaged(path, name, error) from error


def load_translations(name: str, folder: Path | None = None) -> dict[str, list[str]]:
    """The translations of a run, as sentences, for each part of its corpus.

    They are in the repository, not in the installed package.

    Raises:
        FileNotFoundError: the run kept none.
        ValueError: the file is damaged.
    """
    path = _translations_file(name, folder or results_folder())
    if not path.exists():
        raise FileNotFoundError(f"run {name!r} kept no translations: there is no {path}")
    found: dict[str, list[str]] = {}
    try:
        for line in gzip.decompress(path.read_bytes()).decode().splitlines():
            part, sentence = line.split("\t")
            found.setdefault(part, []).append(sentence)
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise _damaged(path, name, error) from error
    return found


def _damaged(path: Path, name: str, why: Exception | str) -> ValueError:
    return ValueError(f"{path} is damaged ({why}). Make it again with: attnmt record {name}")


def _statistics_file(name: str, folder: Path) -> Path:
    return folder / "sentences" / f"{name}.npz"


def _translations_file(name: str, folder: Path) -> Path:
    return folder / "translations" / f"{name}.txt.gz"


def of_length(run: Run, shortest: int) -> float:
    """A run's BLEU on sentences of one range of source lengths, which begins at ``shortest``.

    Raises:
        ValueError: no range begins there; the message lists those that do.
    """
    scores = {bucket.shortest: bucket.bleu.score for bucket in run.by_length}
    if shortest not in scores:
        raise ValueError(f"shortest must be one of {', '.join(map(str, scores))}, not {shortest!r}")
    return scores[shortest]


def read_study(name: str) -> dict[str, Any]:
    """What a study measured, from ``studies/NAME.json``.

    Raises:
        FileNotFoundError: no such study; the message lists those there are.
    """
    folder = results_folder() / "studies"
    path = folder / f"{name}.json"
    if not path.exists():
        there = ", ".join(sorted(file.stem for file in folder.glob("*.json")))
        raise FileNotFoundError(f"no study {name!r} in {folder}. There are: {there}")
    return json.loads(path.read_text(encoding="utf-8"))
