"""How good is it? Perplexity, BLEU, BLEU by length, and alignment error rate."""

import math
from collections.abc import Sequence, Set
from dataclasses import dataclass
from itertools import pairwise

from sacrebleu.metrics import BLEU

from attnmt.batches import batches
from attnmt.corpus import Link, Pair
from attnmt.decoding import Translation
from attnmt.model import Translator, evaluating


def perplexity(model: Translator, pairs: Sequence[Pair], batch_size: int = 64) -> float:
    """exp of the mean -log p per target token, under teacher forcing; ``</s>`` counts, pads not."""
    total, tokens = 0.0, 0
    with evaluating(model):
        vocabularies = model.source_vocabulary, model.target_vocabulary
        for batch in batches(pairs, *vocabularies, batch_size, pool=None):
            losses = model.token_losses(batch.to(model.device))
            total += float(losses.double().sum())
            tokens += len(losses)
    if tokens == 0:
        raise ValueError("perplexity needs at least one pair")
    return math.exp(total / tokens)


@dataclass(frozen=True)
class Bleu:
    """A BLEU score from 0 to 100, with what is needed to compare it.

    ``signature`` says exactly how it was measured; ``low`` and ``high`` bound its 95% bootstrap
    interval (None without bootstrap); ``precisions`` are the clipped n-gram precisions in percent.
    """

    score: float
    signature: str
    precisions: tuple[float, ...]
    brevity_penalty: float
    sentences: int
    low: float | None = None
    high: float | None = None


def bleu(
    hypotheses: Sequence[str],
    references: Sequence[str],
    lowercase: bool = False,
    bootstrap: int = 0,
) -> Bleu:
    """BLEU by sacreBLEU on raw sentences, which it tokenises itself (Papineni et al. 2002).

    Args:
        hypotheses: translations as they would be printed: detokenised.
        references: raw reference sentences, one for each.
        lowercase: ignore case.
        bootstrap: number of resamples for the confidence interval; 0 for none.
    """
    if isinstance(hypotheses, str) or isinstance(references, str):
        raise TypeError("hypotheses and references must be lists of sentences, not one sentence")
    if len(hypotheses) != len(references) or not references:
        raise ValueError(
            f"{len(hypotheses)} hypotheses for {len(references)} references: each sentence needs "
            "exactly one of both, and there must be some"
        )
    metric = BLEU(lowercase=lowercase)
    result = metric.corpus_score(list(hypotheses), [list(references)], n_bootstrap=bootstrap or 1)
    low = high = None
    if bootstrap:
        low, high = result._mean - result._ci, result._mean + result._ci
    signature, precisions = str(metric.get_signature()), tuple(result.precisions)
    return Bleu(result.score, signature, precisions, result.bp, len(references), low, high)


def texts(model: Translator, translations: Sequence[Translation]) -> list[str]:
    """Translations as sentences: their words joined."""
    return [model.target_vocabulary.detokenise(translation.words) for translation in translations]


@dataclass(frozen=True)
class Bucket:
    """BLEU on the sentences of ``shortest`` to ``longest`` source words."""

    shortest: int
    longest: int
    bleu: Bleu


def bleu_by_length(
    hypotheses: Sequence[str],
    pairs: Sequence[Pair],
    edges: Sequence[int] = (1, 6, 11, 16, 21, 26, 31, 36, 41, 51, 61),
    lowercase: bool = True,
    bootstrap: int = 200,
) -> list[Bucket]:
    """BLEU for each bucket of source length; empty buckets are left out.

    Args:
        hypotheses: translated sentences, one for each pair.
        pairs: their sources and references.
        edges: first length of each bucket, and one past the last.
        lowercase: ignore case.
        bootstrap: resamples for each bucket's 95% interval.
    """
    if len(hypotheses) != len(pairs):
        raise ValueError(f"{len(hypotheses)} hypotheses for {len(pairs)} pairs")
    buckets = []
    for first, past in pairwise(edges):
        inside = [k for k, pair in enumerate(pairs) if first <= len(pair.source) < past]
        if inside:
            ours, theirs = [hypotheses[k] for k in inside], [pairs[k].target_text for k in inside]
            buckets.append(Bucket(first, past - 1, bleu(ours, theirs, lowercase, bootstrap)))
    return buckets


def alignment_error_rate(links: Sequence[Set[Link]], pairs: Sequence[Pair]) -> float:
    """``1 - (|A & S| + |A & P|) / (|A| + |S|)`` over all pairs (Och and Ney 2003); lower is better.

    Args:
        links: A, the predicted links of each pair.
        pairs: pairs with sure links S and possible links P.

    Raises:
        ValueError: pairs without known alignments, or not as many as ``links``.
    """
    if len(links) != len(pairs):
        raise ValueError(f"{len(links)} sets of links for {len(pairs)} pairs")
    if any(pair.sure is None for pair in pairs):
        raise ValueError("these pairs have no known alignment; AER needs sure and possible links")
    agreed = size = 0
    for predicted, pair in zip(links, pairs, strict=True):
        agreed += len(predicted & pair.sure) + len(predicted & pair.possible)
        size += len(predicted) + len(pair.sure)
    return 1 - agreed / size
