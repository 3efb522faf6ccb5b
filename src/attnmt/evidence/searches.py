"""What more is measured of a recorded model: other searches, and how its attention moves.

A run's scores are those of greedy search. Some claims compare the same model with itself, searched
in another way: with a beam, or with its unknown words replaced. ``results/runs.toml`` says which
searches a system is recorded with.
"""

from collections.abc import Callable, Sequence

import numpy as np

from attnmt.corpus import Corpus, Pair
from attnmt.decoding import (
    Translation,
    beam_search,
    force_align,
    read_dictionary,
    replace_unknown,
)
from attnmt.model import Translator

Search = Callable[[Sequence[Pair], Sequence[Translation]], list[Translation]]
BEAMS = {
    "beam5": {"beam": 5},
    "beam5-normalised": {"beam": 5, "length_penalty": 1.0},
    "beam5-0.6": {"beam": 5, "length_penalty": 0.6},
    "beam5-1.8": {"beam": 5, "length_penalty": 1.8},
    "beam50": {"beam": 50},
}


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
    return np.array(rows, dtype=np.uint16).reshape(-1, 2)


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
    return np.array(rows, dtype=np.float32).reshape(-1, 2)
