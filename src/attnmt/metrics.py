"""How good is it? Perplexity, BLEU, chrF, BLEU by length, two systems compared."""

import json
import math
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, cast

import numpy as np
from sacrebleu.metrics import BLEU, CHRF
from sacrebleu.significance import PairedTest, Result

from attnmt.batches import by_length, make_batch
from attnmt.checks import flag, one_of, whole
from attnmt.decoding import Model, Translation
from attnmt.fast import sooner
from attnmt.model import Vocabularies, evaluating
from attnmt.pairs import Pair, check_pairs
from attnmt.vocab import SPECIALS, UNK

Side = Sequence[str]  # a sentence for each pair: what a system wrote, or the references
MOST_NATS = 700  # nats a token: exp of much more is no number
CHRF_ORDER = 6  # characters of the longest n-grams that chrF counts
ONE_WORD = "⟨unk⟩"  # sacreBLEU's tokeniser leaves it in one piece, but cuts <unk> into three words


def sentence_losses(model: Model, pairs: Sequence[Pair], batch_size: int = 64) -> np.ndarray:
    """-log p of each reference under teacher forcing, and its tokens, ``</s>`` counted: (N, 2).

    Raises:
        ValueError: no pairs.
    """
    check_pairs(pairs=pairs)
    if not pairs:
        raise ValueError("perplexity needs at least one pair")
    found = np.zeros((len(pairs), 2))
    lengths = [(len(pair.target), len(pair.source)) for pair in pairs]
    with evaluating(model), sooner(model):
        for rows in by_length(lengths, batch_size, pool=None, seed=0):
            together = [pairs[row] for row in rows]
            batch = make_batch(together, model.source_vocabulary, model.target_vocabulary)
            losses = model.token_losses(batch.to(model.device)).double().cpu()
            tokens = batch.target_mask.sum(dim=1).cpu()
            for row, one in zip(rows, losses.split(tokens.tolist()), strict=True):
                found[row] = [float(one.sum()), len(one)]
    return found


def perplexity(model: Model, pairs: Sequence[Pair], batch_size: int = 64) -> float:
    """exp of the mean -log p per target token, under teacher forcing; ``</s>`` counts, pads not.

    Infinite where that is larger than any number.

    >>> from attnmt import grammar_corpus, rnnsearch
    >>> corpus = grammar_corpus(train=20, valid=2, test=3, long=0, names=0)
    >>> model = rnnsearch(corpus, hidden=8)
    >>> perplexity(model, corpus.test) > 1
    True

    Raises:
        ValueError: no pairs.
    """
    return perplexity_of(sentence_losses(model, pairs, batch_size))


def perplexity_of(losses: np.ndarray) -> float:
    """Perplexity from the rows of :func:`sentence_losses`: (N, 2)."""
    total, tokens = losses.astype(float).sum(axis=0)
    return math.inf if total / tokens > MOST_NATS else math.exp(total / tokens)


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
    hypotheses: Side,
    references: Side,
    lowercase: bool = False,
    bootstrap: int = 0,
    *,
    tokenised: bool = False,
    tokeniser: str = "13a",
) -> Bleu:
    """BLEU by sacreBLEU on raw sentences, which it tokenises itself (Papineni et al. 2002).

    An ``<unk>`` counts as one word, one that no reference has.

    >>> found = bleu(["the dog sleeps in the garden ."], ["the dog sleeps in the house ."])
    >>> round(found.score, 1)
    64.3

    Args:
        hypotheses: translations as they would be printed: detokenised.
        references: raw reference sentences, one for each.
        lowercase: ignore case.
        bootstrap: number of resamples for the confidence interval, at least 2; 0 for none.
        tokenised: both are words already, with spaces between them, and sacreBLEU parts nothing.
        tokeniser: how sacreBLEU parts sentences: ``"13a"``, its usual way; ``"zh"``,
            ``"ja-mecab"`` (which needs a library) or ``"char"`` for what is written without spaces;
            or another that it has. See :attr:`.Corpus.bleu_tokeniser`.

    Raises:
        TypeError: one sentence instead of lists.
        ValueError: no sentences, or not as many of both; a number of resamples that gives no
            interval; a tokeniser that sacreBLEU does not have, or whose library is missing.
    """
    metric = _bleu_metric(lowercase, tokeniser, tokenised)
    result, signature, low, high = _corpus_score(metric, hypotheses, references, bootstrap)
    precisions = tuple(result.precisions)
    return Bleu(result.score, signature, precisions, result.bp, len(references), low=low, high=high)


def _bleu_metric(lowercase: bool, tokeniser: str, tokenised: bool = False) -> BLEU:
    flag(lowercase=lowercase, tokenised=tokenised)
    one_of(sorted(BLEU.TOKENIZERS), tokeniser=tokeniser)
    parted = "none" if tokenised else tokeniser
    try:
        return BLEU(lowercase=lowercase, tokenize=parted, force=tokenised)  # without a warning
    except (ImportError, RuntimeError) as error:
        why = str(error).strip().splitlines()[0]
        raise ValueError(f"sacreBLEU's tokeniser {tokeniser} does not run here: {why}") from error


@dataclass(frozen=True)
class Chrf:
    """A chrF score from 0 to 100, with what is needed to compare it; its fields are as of Bleu."""

    score: float
    signature: str
    sentences: int
    low: float | None = None
    high: float | None = None


def chrf(hypotheses: Side, references: Side, lowercase: bool = False, bootstrap: int = 0) -> Chrf:
    """chrF by sacreBLEU on raw sentences: the F-score of their character n-grams (Popovic 2015).

    It counts n-grams of one to six characters, spaces left out, and weighs recall twice as much as
    precision. So it sees that a word is nearly right, which BLEU does not. Its bootstrap draws the
    same sentences as that of :func:`bleu`.

    >>> round(chrf(["the dog sleeps"], ["the dog sleeps"]).score)
    100

    Args:
        hypotheses, references, lowercase, bootstrap: as of :func:`bleu`.

    Raises:
        TypeError, ValueError: as :func:`bleu`.
    """
    flag(lowercase=lowercase)
    metric = CHRF(char_order=CHRF_ORDER, lowercase=lowercase)
    result, signature, low, high = _corpus_score(metric, hypotheses, references, bootstrap)
    return Chrf(result.score, signature, len(references), low=low, high=high)


def _corpus_score(
    metric: BLEU | CHRF, hypotheses: Side, references: Side, bootstrap: int
) -> tuple[Any, str, float | None, float | None]:
    """sacreBLEU's score, its signature, and the two ends of the interval, if one is asked for."""
    _check(hypotheses, references)
    whole(0, bootstrap=bootstrap)
    if bootstrap == 1:
        raise ValueError("bootstrap must be at least 2 for an interval, or 0 for none, not 1")
    ours = unknown_as_one_word(hypotheses)
    result = metric.corpus_score(ours, [_nfc(references)], n_bootstrap=max(1, bootstrap))
    signature = str(metric.get_signature())
    if not bootstrap:
        return result, signature, None, None
    # its report as JSON is the public way to the interval
    report = json.loads(result.format(width=12, signature=signature, is_json=True))
    mean = report.get("confidence_mean", 0.0)  # left out where all resamples have a BLEU of 0
    half = report.get("confidence_var", 0.0)
    return result, signature, mean - half, mean + half


def unknown_as_one_word(sentences: Side) -> list[str]:
    """Sentences in which ``<unk>`` is written so that sacreBLEU's tokeniser does not cut it."""
    return [sentence.replace(SPECIALS[UNK], ONE_WORD) for sentence in _nfc(sentences)]


def _nfc(sentences: Side) -> list[str]:
    """Sentences in which what looks equal is equal: an ü is one character."""
    return [unicodedata.normalize("NFC", sentence) for sentence in sentences]


def bleu_statistics(
    hypotheses: Side, references: Side, lowercase: bool = False, *, tokenised: bool = False
) -> np.ndarray:
    """What BLEU adds up over sentences: (N, 10) whole numbers.

    The columns are the length of the translation and of the reference, the right n-grams and all
    n-grams of the translation, each for n = 1..4. BLEU of any choice of sentences follows from the
    sum of their rows: sacreBLEU's ``BLEU.compute_bleu``.

    Raises:
        TypeError, ValueError: as :func:`bleu`.
    """
    _check(hypotheses, references)
    tokeniser = "none" if tokenised else "13a"
    # the order that is effective is of no effect on what is counted
    metric = BLEU(lowercase=lowercase, effective_order=True, tokenize=tokeniser, force=tokenised)
    rows = []
    for ours, reference in zip(unknown_as_one_word(hypotheses), references, strict=True):
        one = metric.sentence_score(ours, _nfc([reference]))
        rows.append([one.sys_len, one.ref_len, *one.counts, *one.totals])
    return np.array(rows)


def chrf_statistics(hypotheses: Side, references: Side, lowercase: bool = False) -> np.ndarray:
    """What chrF adds up over sentences: (N, 18) whole numbers.

    For each n = 1..6 three columns, in sacreBLEU's order: the character n-grams of the translation
    (none where the reference has none), those of the reference, and those that both have.

    Raises:
        TypeError, ValueError: as :func:`chrf`.
    """
    _check(hypotheses, references)
    rows = []
    for pair in zip(unknown_as_one_word(hypotheses), references, strict=True):
        ours, theirs = ("".join((s.lower() if lowercase else s).split()) for s in pair)
        row: list[int] = []
        for n in range(1, CHRF_ORDER + 1):
            written, wanted = (
                Counter(text[k : k + n] for k in range(len(text) - n + 1))
                for text in (ours, theirs)
            )
            row += [written.total() if wanted else 0, wanted.total(), (written & wanted).total()]
        rows.append(row)
    return np.array(rows)


def chrf_of(sums: np.ndarray) -> np.ndarray:
    """chrF from sums of the rows of :func:`chrf_statistics`, each of shape (..., 18), to (...)."""
    counts = sums.reshape(*sums.shape[:-1], CHRF_ORDER, 3).astype(float)
    written, wanted, right = np.moveaxis(counts, -1, 0)
    there = (written > 0) & (wanted > 0)  # orders that count
    shares = [
        np.divide(right, all_, out=np.zeros_like(right), where=there).sum(-1)
        / np.maximum(there.sum(-1), 1)
        for all_ in (written, wanted)
    ]
    precision, recall = shares
    weighed = 4 * precision + recall  # beta = 2
    return 100 * np.divide(
        5 * precision * recall, weighed, out=np.zeros_like(weighed), where=weighed > 0
    )


def _check(hypotheses: Side, references: Side) -> None:
    sides = {"hypotheses": hypotheses, "references": references}
    for side, sentences in sides.items():
        if isinstance(sentences, str):
            raise TypeError(f"{side} must be lists of sentences, not one sentence")
        if not isinstance(sentences, Sequence | np.ndarray):
            raise TypeError(f"{side} must be a list of sentences, not {sentences!r}")
        if strange := [sentence for sentence in sentences if not isinstance(sentence, str)]:
            raise TypeError(
                f"{side} must be lists of sentences, strings, and not of {strange[0]!r}"
            )
    if len(hypotheses) != len(references) or len(references) == 0:
        raise ValueError(
            f"{len(hypotheses)} hypotheses for {len(references)} references: each sentence needs "
            "exactly one of both, and there must be some"
        )


@dataclass(frozen=True)
class PairedBleu:
    """BLEU of two systems on the same sentences; ``difference`` is the second's gain.

    ``p_value``: how often sentences drawn at random would show a difference at least as large if
    the systems were equally good. ``signature`` says exactly how all was measured.
    """

    baseline: float
    system: float
    difference: float
    p_value: float
    signature: str


def paired_bootstrap(
    baseline: Side,
    system: Side,
    references: Side,
    lowercase: bool = False,
    resamples: int = 1_000,
    *,
    tokeniser: str = "13a",
) -> PairedBleu:
    """Is a system better than a baseline, or were its sentences lucky? (Koehn 2004.)

    Paired bootstrap resampling by sacreBLEU: both systems are measured on the same ``resamples``
    draws of the sentences. The draws follow sacreBLEU's seed, 12345 unless ``SACREBLEU_SEED`` is
    set, so the answer is the same each time; the signature has the seed. Where the scores are
    equal the p-value is 1 (sacreBLEU says ``1 / (resamples + 1)`` of outputs that are the same).
    An ``<unk>`` counts as one word.

    >>> aims = ["the dog sleeps in the garden .", "a cat sees the small bird ."]
    >>> paired_bootstrap([aim[4:] for aim in aims], aims, aims, resamples=10).difference > 0
    True

    Args:
        baseline: translations of one system, detokenised.
        system: translations of the other.
        references: raw reference sentences, one for each.
        lowercase: ignore case.
        resamples: draws; the smallest p-value is ``1 / (resamples + 1)``.
        tokeniser: as of :func:`bleu`.

    Raises:
        TypeError: one sentence instead of lists.
        ValueError: no sentences, not as many of all three, no resamples; a tokeniser as of
            :func:`bleu`.
    """
    _check(baseline, references)
    _check(system, references)
    whole(1, resamples=resamples)
    metrics = {"BLEU": _bleu_metric(lowercase, tokeniser)}
    systems: list[tuple[str, Side]] = [
        ("baseline", unknown_as_one_word(baseline)),
        ("system", unknown_as_one_word(system)),
    ]
    test = PairedTest(systems, metrics, [_nfc(references)], test_type="bs", n_samples=resamples)
    signatures, scores = test()
    signature = str(signatures["BLEU"])
    first, second = cast(list[Result], scores["BLEU"])
    difference = second.score - first.score
    p_value = second.p_value if difference and second.p_value is not None else 1.0
    return PairedBleu(first.score, second.score, difference, p_value=p_value, signature=signature)


def texts(model: Model, translations: Sequence[Translation], tokenised: bool = False) -> list[str]:
    """Translations as sentences: their words joined, or with spaces between them.

    >>> from attnmt import grammar_corpus, rnnsearch
    >>> corpus = grammar_corpus(train=20, valid=2, test=3, long=0, names=0)
    >>> model = rnnsearch(corpus, hidden=8)
    >>> from attnmt import Translation
    >>> texts(model, [Translation(["the", "dog", "sleeps", "."], score=-1.0, alignment=None)])
    ['the dog sleeps.']
    """
    if tokenised:
        return [" ".join(model.target_vocabulary.units.join(one.words)) for one in translations]
    return [model.target_vocabulary.detokenise(one.words) for one in translations]


def references(pairs: Sequence[Pair], tokenised: bool = False) -> list[str]:
    """What BLEU compares with: each pair's target, raw, or its words with spaces between them."""
    return [" ".join(pair.target) if tokenised else pair.target_text for pair in pairs]


def bleu_by_protocol(
    model: Model, found: Sequence[Translation], pairs: Sequence[Pair], *, words: bool
) -> list[Bleu]:
    """BLEU of the same translations as different papers report it; never to be mixed.

    Work on Multi30k mostly counts lower-cased words as Moses parts them. sacreBLEU's own way, made
    for comparing papers, takes the sentences as they would be printed and parts them itself (Post
    2018). The signatures tell them apart.

    Returns:
        sacreBLEU's, with case ignored; the same with case, if the model writes any; then, if asked
        for, that of lower-cased Moses words.
    """
    printed = texts(model, found)
    theirs = references(pairs)
    scores = [bleu(printed, theirs, lowercase=True)]
    if not model.target_vocabulary.lower:
        scores.append(bleu(printed, theirs))
    if words:
        ours, theirs = texts(model, found, tokenised=True), references(pairs, tokenised=True)
        scores.append(bleu(ours, theirs, lowercase=True, tokenised=True))
    return scores


@dataclass(frozen=True)
class Bucket:
    """BLEU on the sentences of ``shortest`` to ``longest`` source words."""

    shortest: int
    longest: int
    bleu: Bleu


def bleu_by_length(
    hypotheses: Side,
    pairs: Sequence[Pair],
    edges: Sequence[int] = (1, 6, 11, 16, 21, 26, 31, 36, 41, 51, 61),
    lowercase: bool = True,
    bootstrap: int = 200,
    *,
    tokenised: bool = False,
    tokeniser: str = "13a",
) -> list[Bucket]:
    """BLEU for each bucket of source length; empty buckets are left out.

    Each bucket's :class:`Bleu` has its number of sentences and its interval. For the column "No
    UNK" of Bahdanau et al. 2015, pick hypotheses and pairs by :func:`without_unknown` first.

    >>> pair = Pair(("ein", "Hund"), ("a", "dog"), "ein Hund", "a big dog sleeps")
    >>> (bucket,) = bleu_by_length(["a big dog sleeps"], [pair], bootstrap=0)
    >>> bucket.shortest, bucket.longest, round(bucket.bleu.score)
    (1, 5, 100)

    Args:
        hypotheses: translated sentences, one for each pair.
        pairs: their sources and references. Those shorter or longer than all edges do not count.
        edges: first length of each bucket, and one past the last.
        lowercase: ignore case.
        bootstrap: resamples for each bucket's 95% interval.
        tokenised: hypotheses are words with spaces between them; references are the pairs' words.
        tokeniser: as of :func:`bleu`.

    Raises:
        ValueError: not as many hypotheses as pairs, or edges that do not rise.
    """
    if len(hypotheses) != len(pairs):
        raise ValueError(f"{len(hypotheses)} hypotheses for {len(pairs)} pairs")
    whole(0, **{f"edges[{number}]": edge for number, edge in enumerate(edges)})
    if len(edges) < 2 or list(edges) != sorted(edges):
        raise ValueError(f"edges must be two lengths or more, the smallest first, not {edges!r}")
    buckets = []
    for first, past in pairwise(edges):
        inside = [k for k, pair in enumerate(pairs) if first <= len(pair.source) < past]
        if inside:
            ours = [hypotheses[k] for k in inside]
            theirs = references([pairs[k] for k in inside], tokenised)
            score = bleu(
                ours, theirs, lowercase, bootstrap, tokenised=tokenised, tokeniser=tokeniser
            )
            buckets.append(Bucket(first, past - 1, score))
    return buckets


def without_unknown(pairs: Sequence[Pair], vocabularies: Vocabularies) -> list[int]:
    """Indices of the pairs whose words are all known, on both sides.

    >>> from attnmt import Corpus
    >>> pairs = [Pair(("ein",), ("a",), "ein", "a"), Pair(("Hund",), ("dog",), "Hund", "dog")]
    >>> corpus = Corpus("two", "de", "en", pairs[:1], [], pairs, vocabulary_size=9)
    >>> without_unknown(corpus.test, corpus)
    [0]

    Args:
        pairs: sentences and references.
        vocabularies: a corpus or a model: whatever has both vocabularies.
    """
    indices = []
    for number, pair in enumerate(pairs):
        source = vocabularies.source_vocabulary.encode(pair.source)
        target = vocabularies.target_vocabulary.encode(pair.target)
        if UNK not in source and UNK not in target:
            indices.append(number)
    return indices
