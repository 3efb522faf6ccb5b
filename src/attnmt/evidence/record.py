"""Recording: a system of the plan is trained, and all that its run says is measured.

``attnmt record NAME`` makes a run of :mod:`.plan` again; :mod:`.store` keeps it.
"""

import platform
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from attnmt.checks import one_of
from attnmt.corpus import Corpus, Pair
from attnmt.decoding import Translation, force_align, greedy, on_words
from attnmt.evidence.gold import gold_pairs, has_gold_links
from attnmt.evidence.models import MODELS, load
from attnmt.evidence.plan import (
    load_corpus,
    model_arguments,
    planned,
    read_plan,
    recipe_of,
    searches_of,
)
from attnmt.evidence.searches import entropies, monotone_steps, search_of
from attnmt.evidence.store import PerSentence, Run, SampleTranslation, load_run, load_statistics
from attnmt.metrics import (
    Bleu,
    Bucket,
    alignment_error_rate_of,
    alignment_statistics,
    bleu,
    bleu_by_length,
    bleu_statistics,
    perplexity_of,
    references,
    sentence_losses,
    texts,
    without_unknown,
)
from attnmt.model import Translator
from attnmt.objectives import CrossEntropy, likelihood, precision_on
from attnmt.recipes import Recipe
from attnmt.text.subwords import cut_pairs, in_words
from attnmt.training import best_device, fit

TRANSLATED = ("test", "long", "names")


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
) -> tuple[Run, PerSentence]:
    """Train a model, translate the test pairs and some samples, and note down everything.

    Args:
        name: of the run.
        model, corpus, recipe, seed: as for :func:`~attnmt.training.fit`.
        samples: raw sentences whose translations and alignments are kept.
        searches: further ones that are measured, see :func:`.search_of`.
        modern: arguments of :class:`.CrossEntropy`, if that is the objective.
        of_fit: further arguments of :func:`~attnmt.training.fit`.
    """
    modern = dict(modern or {})
    if "precision" in modern:  # the run says which one it had
        device = of_fit.get("device") or best_device()
        modern["precision"] = precision_on(device, modern["precision"])
    objective = CrossEntropy(**modern) if modern else likelihood
    history = fit(model, corpus, recipe, seed=seed, objective=objective, **of_fit)
    sentences, search_cpu_seconds = measure(model, corpus, searches)
    statistics = sentences.statistics
    run = Run(
        name=name,
        command=f"attnmt record {name}",
        model=model.config,
        recipe=recipe,
        seed=seed,
        corpus=describe(corpus),
        parameters=sum(weights.numel() for weights in model.parameters()),
        history=history,
        test_perplexity=perplexity_of(statistics["test_losses"]),
        parts=bleu_of_parts(sentences.translations, corpus),
        by_length=bleu_of_lengths(sentences.translations, corpus),
        aer=aer_of(statistics),
        samples=[translate_sample(model, text) for text in samples],
        versions={"python": platform.python_version(), "torch": torch.__version__.split("+")[0]},
        search_cpu_seconds=search_cpu_seconds,
        format="attnmt-run-2",
        modern=modern,
        device=model.device.type,
    )
    return run, sentences if corpus.own_text else PerSentence(statistics)


def aer_of(statistics: Mapping[str, np.ndarray]) -> float | None:
    """Of the test pairs; else of the captions with gold links; None if neither was measured."""
    links = [statistics[key] for key in ("test_aer", "gold_aer") if key in statistics]
    return alignment_error_rate_of(links[0]) if links else None


def describe(corpus: Corpus) -> dict[str, str | int]:
    """What a run says of its corpus."""
    sizes = {"train": len(corpus.train), "test": len(corpus.test)}
    return {"name": corpus.name, **sizes, "fingerprint": corpus.fingerprint}


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


def as_scored(model: Translator, found: Sequence[Translation], corpus: Corpus) -> list[str]:
    """Translations as BLEU reads them."""
    if corpus.bleu_of_words:
        return [" ".join(model.target_vocabulary.units.join(one.words)) for one in found]
    return texts(model, found)


def measure(
    model: Translator, corpus: Corpus, searches: Sequence[str] = ()
) -> tuple[PerSentence, float]:
    """Translate all test pairs of a corpus, and count; also the CPU-seconds of greedy search.

    Of a corpus in pieces, words are counted; losses and their tokens are of pieces.
    """
    whole = in_words(corpus)
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
        translations[part] = as_scored(model, found, corpus)
        theirs = references(getattr(whole, part), corpus.bleu_of_words)
        count = partial(bleu_counts, theirs=theirs, tokenised=corpus.bleu_of_words)
        counted = {"bleu": count(translations[part])}
        counted |= _without_translations(model, pairs)
        counted["length"] = np.array([len(p.source) for p in getattr(whole, part)], dtype=np.uint16)
        if model.attends and not corpus.pieces:
            counted |= {"monotone": monotone_steps(found), "entropy": entropies(found)}
        for name, search in further.items():
            counted[f"{name}_bleu"] = count(as_scored(model, search(pairs, found), corpus))
        statistics |= {f"{part}_{what}": rows for what, rows in counted.items()}
    if model.attends and has_gold_links(corpus):
        units = model.source_vocabulary.units, model.target_vocabulary.units
        statistics["gold_aer"] = link_statistics(model, cut_pairs(gold_pairs(whole), *units))
    return PerSentence(statistics, translations), search_cpu_seconds


def bleu_counts(said: list[str], theirs: list[str], tokenised: bool) -> np.ndarray:
    """:func:`.bleu_statistics`, small: (N, 10)."""
    found = bleu_statistics(said, theirs, lowercase=True, tokenised=tokenised)
    return found.astype(np.uint16)


def link_statistics(model: Translator, pairs: Sequence[Pair]) -> np.ndarray:
    """:func:`.alignment_statistics` of a model's links, small: (N, 4)."""
    return alignment_statistics(force_align(model, pairs), pairs).astype(np.uint16)


def _without_translations(model: Translator, pairs: Sequence[Pair]) -> dict[str, np.ndarray]:
    """What is counted of pairs without a translation of them."""
    known = np.zeros(len(pairs), dtype=bool)
    known[without_unknown(pairs, model)] = True
    counted = {
        "losses": sentence_losses(model, pairs).astype(np.float32),
        "known": known,
    }
    if model.attends and pairs[0].sure is not None:
        counted["aer"] = link_statistics(model, pairs)
    return counted


def translate_sample(model: Translator, text: str) -> SampleTranslation:
    """Translate one raw sentence, and keep the alignment, on words."""
    source = model.source_vocabulary.tokenise(text)
    (found,) = greedy(model, [source])
    found, source = on_words(model, found, source)
    weights = None if found.alignment is None else found.alignment.astype(float).round(4).tolist()
    return SampleTranslation(source, found.words, found.score, alignment=weights)


# --------------------------------------------------------------------------- runs of the plan


def make_run(name: str, work: Path | None = None, progress: bool = True) -> tuple[Run, PerSentence]:
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
    run, sentences = record(
        name,
        model,
        corpus,
        recipe=recipe_of(system, corpus_name),
        seed=seed,
        samples=of_corpus["samples"],
        searches=searches_of(system, corpus_name),
        modern=of_system.get("modern"),
        measure_bleu=of_system.get("measure_bleu", False),
        curve_every=of_corpus["curve"],
        checkpoint=checkpoint,
        every=250,
        resume=checkpoint is not None,
        progress=progress,
    )
    if work:
        model.save(work / f"{name}.safetensors")
        checkpoint.unlink()
    return run, sentences


def measure_again(name: str, work: Path, folder: Path | None = None) -> tuple[Run, PerSentence]:
    """Measure a recorded run once more, by the model that :func:`make_run` left in ``work``.

    So a run that was recorded before a search or a statistic was thought of gets it, too.

    Raises:
        ValueError: the model does not write what was recorded, so it is another one.
        FileNotFoundError: there is no such run, or no such model.
    """
    one_of(planned(), name=name)
    system, corpus_name, _ = planned()[name]
    run = load_run(name, folder)
    path = work / f"{name}.safetensors"
    corpus = load_corpus(corpus_name)
    sentences, _ = measure(load(path), corpus, searches_of(system, corpus_name))
    before = load_statistics(name, folder)
    counts = [f"{part}_bleu" for part in run.parts]
    if not all(np.array_equal(before[key], sentences.statistics[key]) for key in counts):
        found = bleu_of_parts(sentences.translations, corpus)["test"]
        raise ValueError(
            f"{path} has a BLEU of {found.score:.2f}, and the run {name!r} "
            f"{run.bleu.score:.2f}: it is another model. Make the run again: attnmt record {name}"
        )
    return run, sentences if corpus.own_text else PerSentence(sentences.statistics)
