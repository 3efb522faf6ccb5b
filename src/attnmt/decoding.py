"""Search for a translation, and read the alignment off a model."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from attnmt.batches import by_length, make_batch, pad
from attnmt.corpus import Link, Pair
from attnmt.model import Translator, evaluating
from attnmt.vocab import BOS, EOS, PAD

MAX_LENGTH = (2, 10)  # a translation ends after 2 * source length + 10 words at the latest


@dataclass(frozen=True)
class Translation:
    """What search found for one sentence.

    ``words`` without ``</s>``; ``score``, the sum of log p over the words and ``</s>``;
    ``alignment``, float32 (words, source words): where the model looked as it wrote each word, or
    None for a model that does not attend.
    """

    words: list[str]
    score: float
    alignment: np.ndarray | None


def _check(sentences: Sequence[Sequence[str]]) -> None:
    if isinstance(sentences, str) or any(isinstance(sentence, str) for sentence in sentences):
        raise TypeError(
            "sentences must be lists of words. Split a text first: "
            "[model.source_vocabulary.tokenise(text)]"
        )
    for number, sentence in enumerate(sentences):
        if len(sentence) == 0:
            raise ValueError(f"sentence {number} is empty: there is nothing to translate")


def greedy(
    model: Translator, sentences: Sequence[Sequence[str]], batch_size: int = 64
) -> list[Translation]:
    """Translate by taking the most probable word at each step.

    Args:
        model: a translator.
        sentences: lists of words; see ``model.source_vocabulary.tokenise``.
        batch_size: sentences translated side by side. It changes the speed and nothing else.

    Raises:
        TypeError: texts instead of lists of words.
        ValueError: an empty sentence.
    """
    _check(sentences)
    found: list[Translation | None] = [None] * len(sentences)
    with evaluating(model):
        lengths = [(len(sentence),) for sentence in sentences]
        for group in by_length(lengths, batch_size, pool=None, seed=0):
            batch = [sentences[index] for index in group]
            for index, translation in zip(group, _greedy(model, batch), strict=True):
                found[index] = translation
    return found


def _greedy(model: Translator, sentences: Sequence[Sequence[str]]) -> list[Translation]:
    source = pad([model.source_vocabulary.encode(words) for words in sentences]).to(model.device)
    memory, state = model.start(source)
    factor, extra = MAX_LENGTH
    limits = factor * source.lengths + extra  # (B,), each sentence its own
    y = torch.full_like(source.lengths, BOS)
    running = torch.ones_like(source.lengths, dtype=torch.bool)
    score = torch.zeros(len(sentences), device=model.device, dtype=memory.annotations.dtype)
    steps, aligns = [], []
    while running.any():
        log_p, align, state = model.step(y, state, memory)  # (B, V), (B, S)
        log_p[:, [PAD, BOS]] = -torch.inf  # never a word of a translation
        best, y = log_p.max(dim=-1)
        score += torch.where(running, best, 0)
        y = torch.where(running, y, EOS)
        steps.append(y)
        aligns.append(align)
        running = running & (y != EOS) & (len(steps) < limits)
    words = torch.stack(steps, dim=1).tolist()  # (B, T)
    weights = None
    if aligns[0] is not None:
        weights = torch.stack(aligns, dim=1).float().cpu().numpy()  # (B, T, S)
    translations = []
    for row, (indices, sentence) in enumerate(zip(words, sentences, strict=True)):
        length = indices.index(EOS) if EOS in indices else len(indices)
        alignment = None if weights is None else weights[row, :length, : len(sentence)].copy()
        words_out = model.target_vocabulary.decode(indices[:length])
        translations.append(Translation(words_out, float(score[row]), alignment))
    return translations


def force_align(
    model: Translator, pairs: Sequence[Pair], batch_size: int = 64
) -> list[frozenset[Link]]:
    """Align each target word with the one source word that has the largest weight.

    The model is made to say the reference and its weights are read, as Luong et al. 2015, section
    5.4, do to measure alignment error ("forced decoding").

    Returns:
        One set of links (source index, target index) a pair, counted from 0.

    Raises:
        ValueError: the model does not attend, so it has no alignment.
    """
    if not getattr(model.decoder, "attention", None):
        raise ValueError(f"a {model.config['model']} does not attend, so it has no alignment")
    links: list[frozenset[Link]] = [frozenset()] * len(pairs)
    lengths = [(len(pair.source),) for pair in pairs]
    with evaluating(model):
        for group in by_length(lengths, batch_size, pool=None, seed=0):
            batch_pairs = [pairs[index] for index in group]
            batch = make_batch(batch_pairs, model.source_vocabulary, model.target_vocabulary)
            _, align = model(batch.to(model.device))  # (B, T, S)
            strongest = align.argmax(dim=-1).tolist()  # (B, T)
            for index, pair, sources in zip(group, batch_pairs, strongest, strict=True):
                links[index] = frozenset((sources[t], t) for t in range(len(pair.target)))
    return links
