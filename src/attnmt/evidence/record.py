"""Recording: a system of the plan is trained, and all that its run says is measured.

``attnmt record NAME`` makes a run of :mod:`.plan` again; :mod:`.store` keeps it. A run's scores are
those of greedy search. Some claims compare the same model with itself, searched in another way:
with a beam, or with its unknown words replaced. ``results/runs.toml`` says which searches a system
is recorded with.
"""

import platform
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from attnmt.alignment import (
    alignment_error_rate_of,
    alignment_statistics,
    force_align,
    read_dictionary,
    replace_unknown,
)
from attnmt.checks import one_of
from attnmt.decoding import Translation, beam_search, greedy, on_words
from attnmt.devices import chosen_device
from attnmt.evidence.links import GOLD_CORPUS, gold_pairs
from attnmt.evidence.models import MODELS
from attnmt.evidence.plan import (
    load_corpus,
    model_arguments,
    planned,
    read_plan,
    recipe_of,
)
from attnmt.evidence.store import Run, SampleTranslation, Statistics
from attnmt.metrics import (
    Bleu,
    Bucket,
    bleu,
    bleu_by_length,
    bleu_statistics,
    chrf_statistics,
    perplexity_of,
    references,
    sentence_losses,
    texts,
    without_unknown,
)
from attnmt.model import Translator
from attnmt.pairs import Corpus, Pair
from attnmt.recipes import CrossEntropy, Recipe, likelihood, precision_on
from attnmt.text.subwords import cut_pairs, in_words
from attnmt.training import fit

TRANSLATED = ("test", "long", "names")
Search = Callable[[Sequence[Pair], Sequence[Translation]], list[Translation]]
BEAMS = {
    "beam5": {"beam": 5},
    "beam5-normalised": {"beam": 5, "length_penalty": 1.0},
    "beam5-0.6": {"beam": 5, "length_penalty": 0.6},
    "beam5-1.8": {"beam": 5, "length_penalty": 1.8},
    "beam50": {"beam": 50},
}


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
) -> tuple[Run, Statistics]:
    """Train a model, translate the test pairs and some samples, and note down everything.

    ``samples`` are raw sentences, ``searches`` those of :func:`.search_of` besides greedy search,
    ``modern`` the arguments of :class:`.CrossEntropy`, if that is the objective; the others are as
    for :func:`~attnmt.training.fit`.

    Returns:
        The run, and what was counted in each test sentence, as of :func:`.load_statistics`.
    """
    modern = dict(modern or {})
    if "precision" in modern:  # the run says which one it had
        device = chosen_device(of_fit.get("device"))
        modern["precision"] = precision_on(device, modern["precision"])
    smoothing, precision = modern.get("smoothing", 0.0), modern.get("precision", "no")
    objective = CrossEntropy(smoothing, precision) if modern else likelihood
    history = fit(model, corpus, recipe, seed=seed, objective=objective, **of_fit)
    statistics, translations, search_cpu_seconds = measure(model, corpus, searches)
    run = Run(
        name=name,
        command=f"attnmt record {name}",
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
        test_perplexity=perplexity_of(statistics["test_losses"]),
        parts=bleu_of_parts(translations, corpus),
        by_length=bleu_of_lengths(translations, corpus),
        aer=aer_of(statistics),
        samples=[translate_sample(model, text) for text in samples],
        versions=versions(),
        search_cpu_seconds=search_cpu_seconds,
        format="attnmt-run-2",
        modern=modern,
        device=model.device.type,
    )
    return run, statistics


def versions() -> dict[str, str]:
    """What the numbers depend on, beside the code."""
    return {"python": platform.python_version(), "torch": torch.__version__.split("+")[0]}


def aer_of(statistics: Statistics) -> float | None:
    """Of the test pairs; else of the captions with gold links; None if neither was measured."""
    links = [statistics[key] for key in ("test_aer", "gold_aer") if key in statistics]
    return alignment_error_rate_of(links[0]) if links else None


def bleu_of_parts(translations: Mapping[str, list[str]], corpus: Corpus) -> dict[str, Bleu]:
    """BLEU of each part of a corpus that was translated."""
    corpus = in_words(corpus)
    found = {}
    for part, texts_of_part in translations.items():
        theirs = references(getattr(corpus, part), corpus.bleu_of_words)
        how = {"bootstrap": 200, "tokenised": corpus.bleu_of_words}
        found[part] = bleu(texts_of_part, theirs, lowercase=True, **how)
    return found


def bleu_of_lengths(translations: Mapping[str, list[str]], corpus: Corpus) -> list[Bucket]:
    """BLEU by the length of the source, of all parts together but the unseen names."""
    corpus = in_words(corpus)
    there = [part for part in translations if part != "names"]
    return bleu_by_length(
        [text for part in there for text in translations[part]],
        [pair for part in there for pair in getattr(corpus, part)],
        tokenised=corpus.bleu_of_words,
    )


def measure(
    model: Translator, corpus: Corpus, searches: Sequence[str] = ()
) -> tuple[Statistics, dict[str, list[str]], float]:
    """Translate all test pairs of a corpus, and count.

    Of a corpus in pieces, words are counted; losses and their tokens are of pieces.

    Returns:
        What was counted, as of :func:`.load_statistics`; the translations of each part; and the
        CPU-seconds of greedy search.
    """
    whole = in_words(corpus)
    count = partial(bleu_statistics, lowercase=True, tokenised=corpus.bleu_of_words)
    statistics: dict[str, np.ndarray] = {}
    translations: dict[str, list[str]] = {}
    further = {name: search_of(name, model, corpus) for name in searches}
    search_cpu_seconds = 0.0
    for part in TRANSLATED:
        if not (pairs := getattr(corpus, part)):
            continue
        began = time.process_time()
        found = greedy(model, [pair.source for pair in pairs])
        search_cpu_seconds += time.process_time() - began
        ours = translations[part] = texts(model, found, corpus.bleu_of_words)
        theirs = references(getattr(whole, part), corpus.bleu_of_words)
        counted = {
            "bleu": count(ours, theirs),
            "chrf": chrf_statistics(ours, theirs, lowercase=True),
            "losses": sentence_losses(model, pairs),
            "known": np.isin(np.arange(len(pairs)), without_unknown(pairs, model)),
        }
        if model.attends and pairs[0].sure is not None:
            counted["aer"] = alignment_statistics(force_align(model, pairs), pairs)
        counted["length"] = np.array([len(pair.source) for pair in getattr(whole, part)])
        if model.attends and not corpus.pieces:
            counted |= {"monotone": monotone_steps(found), "entropy": entropies(found)}
        for name, search in further.items():
            again = texts(model, search(pairs, found), corpus.bleu_of_words)
            counted[f"{name}_bleu"] = count(again, theirs)
        statistics |= {f"{part}_{what}": rows for what, rows in counted.items()}
    if model.attends and corpus.name == GOLD_CORPUS:
        units = model.source_vocabulary.units, model.target_vocabulary.units
        linked = cut_pairs(gold_pairs(whole), *units)
        statistics["gold_aer"] = alignment_statistics(force_align(model, linked), linked)
    small = {"i": np.uint16, "f": np.float32, "b": bool}
    statistics = {name: rows.astype(small[rows.dtype.kind]) for name, rows in statistics.items()}
    return statistics, translations, search_cpu_seconds


def translate_sample(model: Translator, text: str) -> SampleTranslation:
    """Translate one raw sentence, and keep the alignment, on words."""
    source = model.source_vocabulary.tokenise(text)
    (found,) = greedy(model, [source])
    found, source = on_words(model, found, source)
    weights = None if found.alignment is None else found.alignment.astype(float).round(4).tolist()
    return SampleTranslation(source, found.words, found.score, alignment=weights)


# ---------------------------------------------------------------- searches, and how attention moves


def search_of(name: str, model: Translator, corpus: Corpus) -> Search:
    """ "replaced", or one of ``BEAMS``; it takes pairs and their greedy translations.

    "replaced" looks the source word of each ``<unk>`` up in a dictionary that is read off the
    model's own alignments of the training pairs, or copies it (Luong et al. 2015, section 4.2).
    """
    if name == "replaced":
        dictionary = read_dictionary(force_align(model, corpus.train), corpus.train)
        return lambda pairs, written: replace_unknown(
            written, [pair.source for pair in pairs], dictionary
        )
    return lambda pairs, written: beam_search(model, [pair.source for pair in pairs], **BEAMS[name])


def monotone_steps(translations: Sequence[Translation]) -> np.ndarray:
    """How often attention goes forwards or stays, from one written word to the next.

    Returns:
        Two counts a sentence, (sentences, 2), of steps on which the strongest source word is not
        left of the one before, and of all steps, one fewer than words.
    """
    rows = []
    for found in translations:
        steps = np.diff(found.alignment.argmax(axis=1)) if len(found.words) else np.empty(0)
        rows.append([np.count_nonzero(steps >= 0), len(steps)])
    return np.array(rows).reshape(-1, 2)


def entropies(translations: Sequence[Translation]) -> np.ndarray:
    """How spread the weights of the written words are.

    Weights that do not add up to one, as local-p's, are normalised first: else they have no
    entropy.

    Returns:
        Two numbers a sentence, (sentences, 2), the bits summed over the words, and the words.
    """
    rows = []
    for found in translations:
        weights = found.alignment.astype(float)  # (T, S)
        weights /= weights.sum(axis=1, keepdims=True)
        surprise = np.log2(weights, where=weights > 0, out=np.zeros_like(weights))
        rows.append([-(weights * surprise).sum(), len(weights)])
    return np.array(rows).reshape(-1, 2)


# --------------------------------------------------------------------------- runs of the plan


def make_run(name: str, work: Path | None = None, progress: bool = True) -> tuple[Run, Statistics]:
    """Make a run of the plan again.

    Args:
        name: one of :func:`.planned`.
        work: a folder for the trained model, ``<name>.safetensors``, and while it is trained, for
            its checkpoint: a run that was killed goes on where it was.
        progress: show a bar.

    Raises:
        ValueError: the plan has no such run.
        DataUnavailable: its text is neither on this machine nor to be had.
    """
    one_of(planned(), name=name)
    system, corpus_name, seed = planned()[name]
    corpus = load_corpus(corpus_name)
    of_system = read_plan()["systems"][system]
    of_corpus = read_plan()["corpora"][corpus_name]
    arguments = model_arguments(system, corpus_name)
    model = MODELS[arguments.pop("model")](corpus, **arguments, seed=seed)
    checkpoint = work / f"{name}.checkpoint" if work else None
    run, statistics = record(
        name,
        model,
        corpus,
        recipe=recipe_of(system, corpus_name),
        seed=seed,
        samples=of_corpus["samples"],
        searches=read_plan().get("searches", {}).get(f"{system}-{corpus_name}", []),
        modern=of_system.get("modern"),
        measure_bleu=of_system.get("measure_bleu", False),
        curve_every=of_corpus["curve"],
        checkpoint=checkpoint,
        save_every=250,
        resume=checkpoint is not None,
        progress=progress,
    )
    if work:
        model.save(work / f"{name}.safetensors")
        checkpoint.unlink()
    return run, statistics
