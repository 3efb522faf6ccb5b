"""Recorded runs on disk: all that is needed to draw a training, to judge it and to repeat it.

A chapter trains one model live; what it compares with others, or what it shows where real text
cannot be reached, it reads from these files. A run is three of them:

- ``NAME.json``: the model, the recipe, the learning curve, the scores, some translated samples;
- ``sentences/NAME.npz``: for each test sentence, the counts that BLEU, AER and perplexity add up,
  so that two runs can be compared sentence by sentence;
- ``counts/NAME.npz``: those of chrF, which came later. They have a file of their own because the
  verdicts hold a checksum of ``sentences``.

What a study measured is one file, ``studies/NAME.json``.

:func:`trained` says what a system was trained with, and whether more training would move it. Two
systems that are compared should both have what they need. A system is *converged* when twice the
updates, with its schedule stretched, move its mean test BLEU over two seeds by less than half a
point. Tier V of ``results/runs.toml`` trains such systems, ``SYSTEM-doubled-CORPUS``; as they are
recorded, they decide. Until then a system counts as *not converged* if its perplexity on validation
still fell fast before the first halving of the learning rate: what little the last updates gain
after that shows how low the rate is, not how much there is to learn.
"""

import io
import json
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import TypeAdapter, ValidationError

from attnmt.evidence.plan import read_plan, results_folder
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


FOLDERS = ("sentences", "counts")
Statistics = Mapping[str, np.ndarray]


def save_run(run: Run, statistics: Statistics | None = None, folder: Path | None = None) -> Path:
    """Write a run, each file aside first, then renamed; ``NAME.json`` comes last."""
    folder = folder or results_folder()
    path = folder / f"{run.name}.json"
    for which in FOLDERS:
        arrays = {
            name: packed_chrf(rows) if "_chrf" in name else rows
            for name, rows in (statistics or {}).items()
            if name.endswith("_chrf") == (which == "counts")
        }
        if arrays:
            write_aside(folder / which / f"{run.name}.npz", zipped(arrays))
    write_aside(path, RUN.dump_json(run) + b"\n")
    return path


def zipped(arrays: Statistics) -> bytes:
    """A file for ``np.load``, a third smaller than NumPy's own, and the same on every call."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as file:
        for name, rows in arrays.items():
            entry = zipfile.ZipInfo(f"{name}.npy")  # without the hour
            entry.compress_type = zipfile.ZIP_LZMA
            with file.open(entry, "w") as member:
                np.lib.format.write_array(member, np.asarray(rows), allow_pickle=False)
    return content.getvalue()


def packed_chrf(rows: np.ndarray) -> np.ndarray:
    """Rows of :func:`.chrf_statistics`, (N, 18), as they are stored, (N, 8).

    The characters of translation and reference say how many n-grams there are. Beside them stand
    the n-grams that the reference lacks, mostly none.
    """
    written, wanted, right = np.moveaxis(rows.reshape(len(rows), -1, 3), 2, 0)
    return np.column_stack([written[:, 0], wanted[:, 0], written - right]).astype(np.uint16)


def unpacked_chrf(stored: np.ndarray) -> np.ndarray:
    """The rows again: (N, 8) to (N, 18)."""
    missed = stored[:, 2:].astype(int)
    longer = np.arange(missed.shape[1])
    written, wanted = (np.maximum(stored[:, [k]].astype(int) - longer, 0) for k in (0, 1))
    written *= wanted > 0  # as sacreBLEU counts: none where the reference has none
    return np.stack([written, wanted, written - missed], axis=2).reshape(len(stored), -1)


def load_run(name: str, folder: Path | None = None) -> Run:
    """Read a recorded run by its name.

    Raises:
        FileNotFoundError: no such run; the message lists those there are.
        ValueError: the file is damaged, or no run of this package.
    """
    folder = folder or results_folder()
    path = _existing(folder, name, "recorded run")
    try:
        return RUN.validate_json(path.read_bytes())
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "the file"
        raise _damaged(path, name, f"{place}: {first['msg']}") from error


def _existing(folder: Path, name: str, what: str) -> Path:
    """The path of NAME.json, which must be there."""
    path = folder / f"{name}.json"
    if not path.exists():
        there = ", ".join(sorted(file.stem for file in folder.glob("*.json"))) or "none"
        raise FileNotFoundError(f"no {what} {name!r} in {folder}. There are: {there}")
    return path


def recorded(name: str, seeds: int) -> list[Run]:
    """The runs of ``SYSTEM-CORPUS`` that are recorded, in order, up to the first missing one."""
    names = (f"{name}-{seed}" for seed in range(seeds))
    there = takewhile(lambda run: (results_folder() / f"{run}.json").exists(), names)
    return [load_run(run) for run in there]


def load_statistics(name: str, folder: Path | None = None) -> dict[str, np.ndarray]:
    """What a run counted in each test sentence.

    Returns:
        Arrays with a row for each sentence of a part of the corpus, namely ``PART_bleu``
        (:func:`.bleu_statistics`), ``PART_chrf`` (:func:`.chrf_statistics`), ``PART_losses``
        (:func:`.sentence_losses`), ``PART_aer`` (:func:`.alignment_statistics`, where alignments
        are known and the model attends), ``PART_length`` (words of the source), and ``PART_known``
        (whether both vocabularies have all of its words); for a model that attends
        ``PART_monotone`` (:func:`.monotone_steps`) and ``PART_entropy`` (:func:`.entropies`); and
        ``PART_SEARCH_bleu`` of each further search. ``gold_aer`` is of the captions that have gold
        links. Runs on captions that were recorded before chrF was counted have none of it.

    Raises:
        FileNotFoundError: the run kept nothing of its sentences.
        ValueError: a file is damaged.
    """
    folder = folder or results_folder()
    paths = [folder / which / f"{name}.npz" for which in FOLDERS]
    found: dict[str, np.ndarray] = {}
    for path in filter(Path.exists, paths):
        try:
            with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as arrays:
                found |= {
                    key: unpacked_chrf(arrays[key]) if "_chrf" in key else arrays[key]
                    for key in arrays.files
                }
        except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
            raise _damaged(path, name, error) from error
    if not found:
        raise FileNotFoundError(f"run {name!r} kept nothing of its sentences: no {paths[0]}")
    return found


def _damaged(path: Path, name: str, why: Exception | str) -> ValueError:
    return ValueError(f"{path} is damaged ({why}). Make it again with: attnmt record {name}")


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
    path = _existing(results_folder() / "studies", name, "study")
    return json.loads(path.read_text(encoding="utf-8"))


# --------------------------------------------------------------------- cost and convergence

CLOSE = 0.5  # BLEU by which twice the updates may move a converged system
PAIRS = 2  # seeds that are doubled
FALLING = 0.05  # of its perplexity, in the tenth of all updates before the first halving
NOT_TESTED = "convergence not tested by doubling"
FOUND_WITH = "luong-dot"  # the recipes that systems of a corpus share

Load = Callable[[str, int], Sequence[Run]]  # from SYSTEM-CORPUS and a number of seeds


@dataclass(frozen=True)
class Trained:
    """One side of a comparison."""

    system: str  #: as in ``runs.toml``.
    updates: int  #: of each seed.
    cpu_seconds: float  #: of training, the mean over seeds.
    converged: str  #: in words.
    own_trials: bool  #: trials of this very system found its recipe.

    @property
    def text(self) -> str:
        """For a table."""
        cost = f"{self.updates:,} updates, {self.cpu_seconds:,.0f} CPU-seconds"
        trials = "trials of its own" if self.own_trials else "no trials of its own"
        return f"{self.system}: {cost}; {trials}; {self.converged}"


def doubled(stem: str) -> str:
    """The name of ``SYSTEM-CORPUS`` with twice the updates."""
    system, _, corpus = stem.rpartition("-")
    return f"{system}-doubled-{corpus}"


def trained(stem: str, runs: Sequence[Run], load: Load) -> Trained:
    """What the recorded runs of ``SYSTEM-CORPUS`` were trained with, seeds 0 and 1 first."""
    updates = runs[0].history.curve[-1].updates
    twice = load(doubled(stem), PAIRS)
    if len(twice) == PAIRS:
        means = [np.mean([run.bleu.score for run in some[:PAIRS]]) for some in (twice, runs)]
        adds = float(means[0] - means[1])
        moved = f"twice as many move BLEU by {adds:+.1f}".replace("-", "−")
        state = "converged" if abs(adds) < CLOSE else "not converged"
        converged = f"{state} after {updates:,} updates: {moved}"
    elif np.median([fall(run) for run in runs]) > FALLING:
        converged = f"not converged after {updates:,} updates"
    else:
        converged = NOT_TESTED
    seconds = float(np.mean([run.history.cpu_seconds for run in runs]))
    system = stem.rpartition("-")[0]
    return Trained(system, updates, seconds, converged, own_trials=own_trials(system))


def fall(run: Run) -> float:
    """By what share validation perplexity fell in a tenth of all updates before the first halving.

    It is 0 for a run whose rate is never halved.
    """
    recipe = run.recipe
    if recipe.halve_after is None or recipe.fall:
        return 0.0
    updates = [point.updates for point in run.history.curve]
    perplexities = [point.valid_perplexity for point in run.history.curve]
    halved = updates[-1] * recipe.halve_after / recipe.epochs
    begin, end = np.interp([halved - updates[-1] / 10, halved], updates, perplexities)
    return float(1 - end / begin)


def own_trials(system: str) -> bool:
    """Whether trials of this very system found its recipe: dot, or what has a recipe of its own.

    The recipe that all systems of a corpus share was found with dot.
    """
    return system == FOUND_WITH or "recipe" in read_plan()["systems"].get(system, {})
