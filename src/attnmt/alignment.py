"""Which words belong together: alignments of a model, their error, and what they are used for."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from numbers import Integral

import numpy as np

from attnmt.batches import make_batch
from attnmt.decoding import Model, Sentences, Translation, answer_in_batches
from attnmt.pairs import Link, Pair, check_pairs
from attnmt.text.subwords import MARK, strongest_links
from attnmt.vocab import SPECIALS, UNK


def force_align(
    model: Model, pairs: Sequence[Pair], batch_size: int = 64, shift: int = 0
) -> list[frozenset[Link]]:
    """Align each target word with the one source word that has the largest weight.

    The model is made to say the reference and its weights are read, as Luong et al. 2015, section
    5.4, do to measure alignment error ("forced decoding").

    >>> from attnmt import grammar_corpus, rnnsearch
    >>> corpus = grammar_corpus(train=20, valid=2, test=3, long=0, names=0)
    >>> model = rnnsearch(corpus, hidden=8)
    >>> links = force_align(model, corpus.test)
    >>> [len(some) for some in links] == [len(pair.target) for pair in corpus.test]
    True

    Args:
        model: a translator that attends, or an ensemble with one.
        pairs: sentences and references.
        batch_size: pairs read side by side, at most. It changes the speed, nothing else.
        shift: which word a_t speaks of. Luong's h_t has read y_{t-1} and predicts y_t (footnote
            14): 0 gives a_t to the word that is predicted, y_t, and 1 to the word just read,
            y_{t-1}.

    Returns:
        One set of links (source index, target index) a pair, counted from 0. They are between
        words, also where the pairs hold subwords, whose weights are joined first.

    Raises:
        ValueError: the model does not attend, so it has no alignment; or another shift.
    """
    if not model.attends:
        name = model.config.get("model", "made by hand")
        raise ValueError(f"this model ({name}) does not attend, so it has no alignment")
    check_pairs(pairs=pairs)
    if not isinstance(shift, Integral) or isinstance(shift, bool) or shift not in (0, 1):
        raise ValueError(f"shift must be 0 (the word predicted) or 1 (the word read), not {shift}")

    def links(pairs: list[Pair]) -> list[frozenset[Link]]:
        batch = make_batch(pairs, model.source_vocabulary, model.target_vocabulary)
        _, align = model(batch.to(model.device))  # (B, T, S), </s> in the last of T
        weights = align[:, shift:].double().cpu().numpy()
        units = model.source_vocabulary.units, model.target_vocabulary.units
        both = zip(weights, pairs, strict=True)
        return [strongest_links(weight, pair, *units) for weight, pair in both]

    lengths = [len(pair.source) for pair in pairs]
    return answer_in_batches(model, pairs, links, lengths, batch_size)


def read_dictionary(links: Sequence[Set[Link]], pairs: Sequence[Pair]) -> dict[str, str]:
    """For each source word, the target word that it is linked with most often.

    ``read_dictionary(force_align(model, corpus.train), corpus.train)`` reads a dictionary for
    :func:`replace_unknown` off the training pairs. They hold the words themselves, also those that
    no vocabulary has. Of words that are equally frequent, the first in the alphabet is taken.
    Links are between words, so of a corpus in subwords give the pairs of ``in_words(corpus)``.

    >>> pair = Pair(("der", "Hund"), ("the", "dog"), "der Hund", "the dog")
    >>> sorted(read_dictionary([{(0, 0), (1, 1)}], [pair]).items())
    [('Hund', 'dog'), ('der', 'the')]

    Raises:
        ValueError: pairs of which one side is in pieces.
    """
    for side in ("source", "target"):
        if pairs and all(getattr(pair, side)[0].startswith(MARK) for pair in pairs):
            message = f"the {side} of these pairs is in pieces, and links join words"
            raise ValueError(f"{message}: in_words(corpus)")
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for linked, pair in zip(links, pairs, strict=True):
        for s, t in linked:
            counts[pair.source[s]][pair.target[t]] += 1
    return {word: max(sorted(found), key=found.__getitem__) for word, found in counts.items()}


def replace_unknown(
    translations: Sequence[Translation],
    sentences: Sentences,
    dictionary: Mapping[str, str] | None = None,
) -> list[Translation]:
    """Replace each ``<unk>`` by the source word with the largest weight, or by its translation.

    Jean et al. 2015, and Luong et al. 2015, section 4.2: "unk replacement", 1.9 BLEU in Table 1.

    >>> found = Translation(["Mrs.", "<unk>"], score=-1.0, alignment=np.eye(2))
    >>> replace_unknown([found], [["Frau", "Zillin"]])[0].words
    ['Mrs.', 'Zillin']

    Args:
        translations: with alignments; they are not changed.
        sentences: the source words of each.
        dictionary: target words of source words, see :func:`read_dictionary`. A source word that it
            does not have is copied.

    Raises:
        ValueError: translations without alignment, or that are not those of the sentences.
    """
    if len(translations) != len(sentences):
        raise ValueError(f"{len(translations)} translations for {len(sentences)} sentences")
    entries = dictionary or {}
    replaced = []
    for number, (found, sentence) in enumerate(zip(translations, sentences, strict=True)):
        if found.alignment is None or found.alignment.shape[1] != len(sentence):
            raise ValueError(
                f"translation {number} has no alignment with the {len(sentence)} words of its "
                "sentence. The model must attend, and the sentences stand in the same order."
            )
        strongest = [sentence[s] for s in found.alignment.argmax(axis=1)]
        words = [
            entries.get(x_j, x_j) if y_i == SPECIALS[UNK] else y_i
            for y_i, x_j in zip(found.words, strongest, strict=True)
        ]
        replaced.append(replace(found, words=words))
    return replaced


def alignment_error_rate(links: Sequence[Set[Link]], pairs: Sequence[Pair]) -> float:
    """``1 - (|A & S| + |A & P|) / (|A| + |S|)`` over all pairs (Och and Ney 2003); lower is better.

    >>> links = frozenset({(0, 0), (1, 1)})
    >>> pair = Pair(("ein", "Hund"), ("a", "dog"), "", "", sure=links, possible=links)
    >>> alignment_error_rate([{(0, 0), (0, 1)}], [pair])
    0.5

    Args:
        links: A, the predicted links of each pair.
        pairs: pairs with sure links S and possible links P.

    Raises:
        ValueError: pairs without known alignments, or not as many as ``links``; no links at all.
    """
    return alignment_error_rate_of(alignment_statistics(links, pairs))


def alignment_error_rate_of(statistics: np.ndarray) -> float:
    """The alignment error rate from the rows of :func:`alignment_statistics`: (N, 4).

    Raises:
        ValueError: no links at all.
    """
    in_sure, in_possible, predicted, sure = statistics.astype(int).sum(axis=0)
    if predicted + sure == 0:
        raise ValueError("there are no links, neither predicted nor sure: AER is not defined")
    return float(1 - (in_sure + in_possible) / (predicted + sure))


def alignment_statistics(links: Sequence[Set[Link]], pairs: Sequence[Pair]) -> np.ndarray:
    """What AER adds up over pairs: ``|A & S|``, ``|A & P|``, ``|A|`` and ``|S|``; (N, 4).

    Raises:
        ValueError: pairs without known alignments, or not as many as ``links``.
    """
    rows = [
        [len(found & sure), len(found & possible), len(found), len(sure)]
        for found, (sure, possible) in zip(links, _gold(links, pairs), strict=True)
    ]
    return np.array(rows).reshape(-1, 4)


def alignment_error_by_class(links: Sequence[Set[Link]], pairs: Sequence[Pair]) -> dict[str, float]:
    """The alignment error rate of each class of target words, in alphabetical order.

    Of A, S and P only the links whose target word is of the class count. So every link counts in
    exactly one class, and a class is left out if A and S have no link of it.

    >>> links = frozenset({(0, 0), (1, 1)})
    >>> pair = Pair(("ein", "Hund"), ("a", "dog"), "", "", links, links, ("article", "noun"))
    >>> alignment_error_by_class([{(0, 0), (0, 1)}], [pair])
    {'article': 0.0, 'noun': 1.0}

    Args:
        links: A, the predicted links of each pair.
        pairs: pairs with sure and possible links, and with ``classes``.

    Raises:
        ValueError: as :func:`alignment_error_rate`, and pairs without classes.
    """
    classes = [pair.classes for pair in pairs if pair.classes is not None]
    if len(classes) < len(pairs):
        raise ValueError("these pairs have no word classes; the controlled corpus has them")
    gold = _gold(links, pairs)
    agreed: Counter[str] = Counter()  # |A & S| + |A & P| of each class
    size: Counter[str] = Counter()  # |A| + |S| of each class
    for predicted, (sure, possible), of_word in zip(links, gold, classes, strict=True):
        for right in (predicted & sure, predicted & possible):
            agreed.update(of_word[t] for _, t in right)
        for whole_set in (predicted, sure):
            size.update(of_word[t] for _, t in whole_set)
    return {name: 1 - agreed[name] / size[name] for name in sorted(size)}


def _gold(
    links: Sequence[Set[Link]], pairs: Sequence[Pair]
) -> list[tuple[frozenset[Link], frozenset[Link]]]:
    """S and P of each pair, as many as there are predictions."""
    if len(links) != len(pairs):
        raise ValueError(f"{len(links)} sets of links for {len(pairs)} pairs")
    known = [(pair.sure, pair.possible) for pair in pairs]
    gold = [
        (sure, possible) for sure, possible in known if sure is not None and possible is not None
    ]
    if len(gold) < len(pairs):
        raise ValueError("these pairs have no known alignment; AER needs sure and possible links")
    return gold
