"""Recorded runs: all that is needed to draw a training, to judge it and to repeat it.

A chapter trains one model live; what it compares with others, or what it shows where real text
cannot be reached, it reads from these files. ``results/runs.toml`` lists the runs of the book, and
``attnmt record NAME`` makes one again. A run is three files:

- ``NAME.json``: the model, the recipe, the learning curve, the scores, some translated samples;
- ``sentences/NAME.npz``: for each test sentence, the counts that BLEU, AER and perplexity add up,
  so that two runs can be compared sentence by sentence;
- ``translations/NAME.txt.gz``: every translation, so that a score can be measured anew, another
  way. Only of the controlled corpus, whose text is ours.
"""

import gzip
import io
import json
import platform
import time
import tomllib
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from pydantic import TypeAdapter, ValidationError

from attnmt.checks import one_of
from attnmt.corpus import Corpus, Pair
from attnmt.decoding import Translation, force_align, greedy
from attnmt.evidence.corpora import CORPORA
from attnmt.evidence.folders import results_folder
from attnmt.evidence.gold import LINKED, gold_pairs
from attnmt.evidence.links import on_words
from attnmt.evidence.models import MODELS, load
from attnmt.evidence.modern import Modern, precision_on
from attnmt.evidence.searches import entropies, monotone_steps, search_of
from attnmt.files import write_aside
from attnmt.metrics import (
    Bleu,
    Bucket,
    alignment_statistics,
    bleu,
    bleu_by_length,
    bleu_statistics,
    references,
    sentence_losses,
    texts,
    without_unknown,
)
from attnmt.model import Translator
from attnmt.recipes import RECIPES, Recipe
from attnmt.text.subwords import cut_pairs, in_words
from attnmt.training import History, best_device, fit, likelihood


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
    where there are any long and names); ``by_length`` is of test and long together; ``aer`` is of
    test, or, on captions, of the pairs with gold links; ``command`` makes the run again. The first
    format had no learning curve within epochs, kept no translations, and counted an ``<unk>`` as
    three words. ``modern`` has the arguments of :class:`.Modern`, if it was the objective.
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
    format: Literal["attnmt-run-1", "attnmt-run-2"]
    modern: dict[str, Any] = field(default_factory=dict)

    @property
    def bleu(self) -> Bleu:
        """BLEU on the test set."""
        return self.parts["test"]


RUN = TypeAdapter(Run)
PARTS = ("test", "long", "names")
LINKS = ("test_aer", "gold_aer")  # the first of them that a run has is its AER


@dataclass(frozen=True)
class Sentences:
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


def record(
    name: str,
    model: Translator,
    corpus: Corpus,
    recipe: Recipe,
    seed: int = 0,
    *,
    samples: Sequence[str] = (),
    searches: Sequence[str] = (),
    modern: Mapping[str, Any] | None = None,
    **of_fit: Any,
) -> tuple[Run, Sentences]:
    """Train a model, translate the test pairs and some samples, and note down everything.

    Args:
        name: of the run.
        model, corpus, recipe, seed: as for :func:`~attnmt.training.fit`.
        samples: raw sentences whose translations and alignments are kept.
        searches: further ones that are measured, of ``attnmt.evidence.searches.SEARCHES``.
        modern: arguments of :class:`.Modern`, if that is the objective.
        of_fit: further arguments of :func:`~attnmt.training.fit`.
    """
    modern = dict(modern or {})
    if "precision" in modern:  # the run says which one it had
        device = of_fit.get("device") or best_device()
        modern["precision"] = precision_on(device, modern["precision"])
    objective = Modern(**modern) if modern else likelihood
    history = fit(model, corpus, recipe, seed=seed, objective=objective, **of_fit)
    sentences, search_cpu_seconds = measure(model, corpus, searches)
    statistics = sentences.statistics
    run = Run(
        name=name,
        command=f"attnmt record {name}",
        model=model.config,
        recipe=recipe,
        seed=seed,
        corpus=about(corpus),
        parameters=sum(weights.numel() for weights in model.parameters()),
        history=history,
        test_perplexity=perplexity_of(statistics["test_losses"]),
        parts=bleu_of_parts(sentences.translations, corpus),
        by_length=bleu_of_lengths(sentences.translations, corpus),
        aer=next((aer_of(statistics[key]) for key in LINKS if key in statistics), None),
        samples=[translate_sample(model, text) for text in samples],
        versions={"python": platform.python_version(), "torch": torch.__version__.split("+")[0]},
        search_cpu_seconds=search_cpu_seconds,
        format="attnmt-run-2",
        modern=modern,
    )
    return run, sentences if ours(corpus) else Sentences(statistics)


def about(corpus: Corpus) -> dict[str, str | int]:
    """What a run says of its corpus."""
    sizes = {"train": len(corpus.train), "test": len(corpus.test)}
    return {"name": corpus.name, **sizes, "fingerprint": corpus.fingerprint}


def bleu_of_parts(translations: Mapping[str, list[str]], corpus: Corpus) -> dict[str, Bleu]:
    """BLEU of each part of a corpus that was translated."""
    corpus = in_words(corpus)
    found = {}
    for part, texts_of_part in translations.items():
        theirs = references(getattr(corpus, part), tokenised(corpus))
        how = {"bootstrap": 200, "tokenised": tokenised(corpus)}
        found[part] = bleu(texts_of_part, theirs, lowercase=True, **how)
    return found


def bleu_of_lengths(translations: Mapping[str, list[str]], corpus: Corpus) -> list[Bucket]:
    """BLEU by the length of the source, of all parts together but the unseen names."""
    corpus = in_words(corpus)
    there = [part for part in translations if part != "names"]
    return bleu_by_length(
        [text for part in there for text in translations[part]],
        [pair for part in there for pair in getattr(corpus, part)],
        tokenised=tokenised(corpus),
    )


def ours(corpus: Corpus) -> bool:
    """Whether the corpus's text is our own, so that its translations can be kept."""
    return corpus.name.startswith("grammar-")


def tokenised(corpus: Corpus) -> bool:
    """Whether BLEU is measured on the words themselves: Moses's, in lower case, of captions.

    So work on Multi30k reports it. All else is printed as one would, and sacreBLEU parts it.
    """
    return corpus.name.startswith("multi30k-")


def written(model: Translator, found: Sequence[Translation], corpus: Corpus) -> list[str]:
    """Translations as BLEU reads them."""
    if tokenised(corpus):
        return [" ".join(model.target_vocabulary.units.join(one.words)) for one in found]
    return texts(model, found)


def measure(
    model: Translator, corpus: Corpus, searches: Sequence[str] = ()
) -> tuple[Sentences, float]:
    """Translate all test pairs of a corpus, and count; also the CPU-seconds of greedy search.

    Of a corpus in pieces, words are counted; losses and their tokens are of pieces.
    """
    whole = in_words(corpus)
    statistics: dict[str, np.ndarray] = {}
    translations: dict[str, list[str]] = {}
    further = {name: search_of(name, model, corpus) for name in searches}
    search_cpu_seconds = 0.0
    for part in PARTS:
        if not (pairs := getattr(corpus, part)):
            continue
        began = time.process_time()
        found = greedy(model, [pair.source for pair in pairs])
        search_cpu_seconds += time.process_time() - began
        translations[part] = written(model, found, corpus)
        theirs = references(getattr(whole, part), tokenised(corpus))
        count = partial(bleu_counts, theirs=theirs, tokenised=tokenised(corpus))
        counted = {"bleu": count(translations[part])}
        counted |= _counts(model, pairs)
        counted["length"] = np.array([len(p.source) for p in getattr(whole, part)], dtype=np.uint16)
        if model.attends and not corpus.pieces:
            counted |= {"monotone": monotone_steps(found), "entropy": entropies(found)}
        for name, search in further.items():
            counted[f"{name}_bleu"] = count(written(model, search(pairs, found), corpus))
        statistics |= {f"{part}_{what}": rows for what, rows in counted.items()}
    if model.attends and corpus.name == LINKED:
        units = model.source_vocabulary.units, model.target_vocabulary.units
        statistics["gold_aer"] = link_counts(model, cut_pairs(gold_pairs(whole), *units))
    return Sentences(statistics, translations), search_cpu_seconds


def bleu_counts(ours: list[str], theirs: list[str], tokenised: bool) -> np.ndarray:
    """:func:`.bleu_statistics`, small: (N, 10)."""
    found = bleu_statistics(ours, theirs, lowercase=True, tokenised=tokenised)
    return found.astype(np.uint16)


def link_counts(model: Translator, pairs: Sequence[Pair]) -> np.ndarray:
    """:func:`.alignment_statistics` of a model's links, small: (N, 4)."""
    return alignment_statistics(force_align(model, pairs), pairs).astype(np.uint16)


def _counts(model: Translator, pairs: Sequence[Pair]) -> dict[str, np.ndarray]:
    """What is counted of pairs without a translation of them."""
    known = np.zeros(len(pairs), dtype=bool)
    known[without_unknown(pairs, model)] = True
    counted = {
        "losses": sentence_losses(model, pairs).astype(np.float32),
        "known": known,
    }
    if model.attends and pairs[0].sure is not None:
        counted["aer"] = link_counts(model, pairs)
    return counted


def perplexity_of(losses: np.ndarray) -> float:
    """Perplexity from the rows of :func:`.sentence_losses`."""
    total, tokens = losses.astype(float).sum(axis=0)
    return float(np.exp(total / tokens))


def aer_of(links: np.ndarray) -> float:
    """The alignment error rate from the rows of :func:`.alignment_statistics`."""
    sure, possible, predicted, known = links.astype(int).sum(axis=0)
    return float(1 - (sure + possible) / (predicted + known))


def translate_sample(model: Translator, text: str) -> Sample:
    """Translate one raw sentence, and keep the alignment, on words."""
    source = model.source_vocabulary.tokenise(text)
    (found,) = greedy(model, [source])
    found, source = on_words(model, found, source)
    weights = None if found.alignment is None else found.alignment.astype(float).round(4).tolist()
    return Sample(source, found.words, found.score, alignment=weights)


# ------------------------------------------------------------------------------- store and load


def undertrained_folder() -> Path:
    """Where the runs of the earlier edition lie, which were trained too little."""
    return results_folder() / "undertrained"


def undertrained_plan() -> dict[str, Any]:
    """What the earlier edition's ``runs.toml`` says: ``seeds``, ``systems``, ``corpora``."""
    return book(undertrained_folder())


def undertrained_names() -> list[str]:
    """The runs of the earlier edition, as ``SYSTEM-CORPUS-SEED``, in alphabetical order."""
    return sorted(path.stem for path in undertrained_folder().glob("*.json"))


def undertrained(name: str) -> Run:
    """:func:`load_run` of a run of the earlier edition."""
    return load_run(name, undertrained_folder())


def recorded(system: str, corpus_name: str = "grammar") -> list[Run]:
    """The earlier edition's runs of a system: one for each seed, as far as they were made."""
    runs = []
    for seed in undertrained_plan()["seeds"]:
        with suppress(FileNotFoundError):
            runs.append(undertrained(f"{system}-{corpus_name}-{seed}"))
    return runs


def read_study(name: str) -> dict[str, Any]:
    """What a study measured, from ``studies/NAME.json``, here or in the earlier edition's folder.

    Raises:
        FileNotFoundError: no such study; the message lists those there are.
    """
    folders = [folder / "studies" for folder in (results_folder(), undertrained_folder())]
    there = {path.stem: path for folder in folders for path in sorted(folder.glob("*.json"))}
    if name not in there:
        raise FileNotFoundError(f"no study {name!r} in {folders[0]}. There are: {', '.join(there)}")
    return json.loads(there[name].read_text(encoding="utf-8"))


def of_length(run: Run, shortest: int) -> float:
    """A run's BLEU on sentences of one range of source lengths, which begins at ``shortest``.

    Raises:
        ValueError: no range begins there; the message lists those that do.
    """
    scores = {bucket.shortest: bucket.bleu.score for bucket in run.by_length}
    if shortest not in scores:
        raise ValueError(f"shortest must be one of {', '.join(map(str, scores))}, not {shortest!r}")
    return scores[shortest]


def save_run(run: Run, sentences: Sentences | None = None, folder: Path | None = None) -> Path:
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


def _statistics_file(name: str, folder: Path) -> Path:
    return folder / "sentences" / f"{name}.npz"


def _translations_file(name: str, folder: Path) -> Path:
    return folder / "translations" / f"{name}.txt.gz"


def load_statistics(name: str, folder: Path | None = None) -> dict[str, np.ndarray]:
    """What a run counted in each test sentence: see :class:`Sentences`.

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
        again = f"Make it again with: attnmt record {name}"
        raise ValueError(f"{path} is damaged ({error}). {again}") from error


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
        again = f"Make it again with: attnmt record {name}"
        raise ValueError(f"{path} is damaged ({error}). {again}") from error
    return found


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


# ------------------------------------------------------------------------- the runs of the book

TITLES = {  # what figures and tables call the systems
    "rnnencdec": "RNNencdec",
    "sutskever-forward": "no attention",
    "sutskever": "no attention, reversed",
    "rnnsearch": "RNNsearch",
    "luong-location": "location",
    "luong-dot": "dot",
    "luong-scaled-dot": "scaled dot",
    "luong-general": "general",
    "luong-concat": "concat",
    "luong-bidirectional": "dot, both directions",
    "luong-local-m-dot": "local-m dot",
    "luong-local-p-dot": "local-p dot",
    "luong-local-m": "local-m general",
    "luong-local-p": "local-p general",
    "luong-feeding": "dot + feed",
    "luong-local-p-feeding": "local-p general + feed",
}


@cache
def book(folder: Path | None = None) -> dict[str, Any]:
    """What a folder's ``runs.toml`` says: ``systems``, ``tiers``, ``corpora`` and ``searches``."""
    path = (folder or results_folder()) / "runs.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


def planned(*tiers: str) -> dict[str, tuple[str, str, int]]:
    """System, corpus and seed of each run of the book, or of some tiers, by the run's name.

    Names of systems and corpora may have hyphens, so a name is looked up, not taken apart.

    Raises:
        ValueError: no such tier.
    """
    plan = book()["tiers"]
    there = {tier["name"]: tier for tier in plan}
    for tier in tiers:
        one_of(there, tier=tier)
    return {
        f"{system}-{tier['corpus']}-{seed}": (system, tier["corpus"], seed)
        for tier in plan
        if tier["name"] in (tiers or there)
        for seed in tier["seeds"]
        for system in tier["systems"]
    }


def names(*tiers: str) -> list[str]:
    """The runs of the book, or of some tiers, as ``SYSTEM-CORPUS-SEED``, seed by seed."""
    return list(planned(*tiers))


@cache
def corpus_of(name: str) -> Corpus:
    """A corpus of the plan, with as many training pairs as that says.

    Raises:
        DataUnavailable: its text is neither on this machine nor to be had.
    """
    plan = book()["corpora"][name]
    return CORPORA[plan.get("corpus", name)](train=plan["train"], **plan.get("arguments", {}))


def constructed(system: str, corpus_name: str) -> dict[str, Any]:
    """The constructor of a system (``model``), and its arguments on a corpus.

    Those that the corpus gives to that constructor come first, and the system's own go before them.
    """
    own = dict(book()["systems"][system])
    for key in ("recipe", "modern", "measure_bleu", "stretch"):
        own.pop(key, None)
    return book()["corpora"][corpus_name].get("models", {}).get(own["model"], {}) | own


def recipe_of(system: str, corpus_name: str) -> Recipe:
    """The recipe of a corpus; or the one of ``attnmt.recipes.RECIPES`` that the system names; or
    the corpus's with the changes that the system has. ``stretch`` makes it that many times as long,
    with all its halvings that many times as far apart.
    """
    recipe = book()["corpora"][corpus_name]["recipe"]
    own = book()["systems"][system].get("recipe", {})
    found = RECIPES[own] if isinstance(own, str) else Recipe(**recipe | own)
    if (times := book()["systems"][system].get("stretch", 1)) == 1:
        return found
    halve_after = found.halve_after and times * found.halve_after
    longer = {"epochs": times * found.epochs, "halve_every": times * found.halve_every}
    return replace(found, halve_after=halve_after, **longer)


def make(name: str, work: Path | None = None, progress: bool = True) -> tuple[Run, Sentences]:
    """Make a run of the book again.

    Args:
        name: one of :func:`names`.
        work: a folder for the trained model, ``<name>.safetensors``, and while it is trained, for
            its checkpoint: a run that was killed goes on where it was.
        progress: show a bar.

    Raises:
        ValueError: the book has no such run.
        DataUnavailable: its text is neither on this machine nor to be had.
    """
    one_of(names(), name=name)
    system, corpus_name, seed = planned()[name]
    corpus = corpus_of(corpus_name)
    plan = book()["corpora"][corpus_name]
    arguments = constructed(system, corpus_name)
    model = MODELS[arguments.pop("model")](corpus, **arguments, seed=seed)
    checkpoint = work / f"{name}.checkpoint" if work else None
    run, sentences = record(
        name,
        model,
        corpus,
        recipe=recipe_of(system, corpus_name),
        seed=seed,
        samples=plan["samples"],
        searches=_searches(system, corpus_name),
        modern=book()["systems"][system].get("modern"),
        measure_bleu=book()["systems"][system].get("measure_bleu", False),
        curve_every=plan["curve"],
        checkpoint=checkpoint,
        every=250,
        resume=checkpoint is not None,
        progress=progress,
    )
    if work:
        model.save(work / f"{name}.safetensors")
        checkpoint.unlink()
    return run, sentences


def measure_again(name: str, work: Path, folder: Path | None = None) -> tuple[Run, Sentences]:
    """Measure a recorded run once more, by its trained model, as ``make`` left it in ``work``.

    So a run that was recorded before a search or a statistic was thought of gets it, too.

    Raises:
        ValueError: the model does not write what was recorded, so it is another one.
        FileNotFoundError: there is no such run, or no such model.
    """
    one_of(names(), name=name)
    system, corpus_name, _ = planned()[name]
    run = load_run(name, folder)
    path = work / f"{name}.safetensors"
    corpus = corpus_of(corpus_name)
    sentences, _ = measure(load(path), corpus, _searches(system, corpus_name))
    found = bleu_of_parts(sentences.translations, corpus)
    before = load_statistics(name, folder)
    counts = [f"{part}_bleu" for part in run.parts]
    if not all(np.array_equal(before[key], sentences.statistics[key]) for key in counts):
        raise ValueError(
            f"{path} has a BLEU of {found['test'].score:.2f}, and the run {name!r} "
            f"{run.bleu.score:.2f}: it is another model. Make the run again: attnmt record {name}"
        )
    return run, sentences if ours(corpus) else Sentences(sentences.statistics)


def _searches(system: str, corpus_name: str) -> list[str]:
    return book().get("searches", {}).get(f"{system}-{corpus_name}", [])
