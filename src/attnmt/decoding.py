"""Search for a translation, and read alignments off a model.

Search asks two things of a model: ``start``, which reads source sentences, and ``step``, which
takes the words written last and answers with log p of every next word. So whatever has the two can
be searched: each model of the family, and an :class:`Ensemble` of them.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attnmt.batches import Batch, Source, make_batch, pad
from attnmt.checks import whole
from attnmt.corpus import Link, Pair
from attnmt.model import SIDES, Translator, evaluating
from attnmt.vocab import BOS, EOS, PAD, SPECIALS, UNK

MAX_LENGTH = (2, 10)  # a translation ends after 2 * source length + 10 words at the latest
BATCH_WORDS = 4_096  # source words of a batch, padding counted: fewer sentences if they are long


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


# ------------------------------------------------------------------------------------- ensembles


class Each(tuple):
    """The memories, or the states, of an ensemble's members."""

    def select(self, rows: Tensor) -> "Each":
        """Those of some hypotheses, by index."""
        return Each(part.select(rows) for part in self)


class Ensemble:
    """Models that translate together: p of each next word is the mean of their probabilities.

    An ensemble stands wherever a model is searched, forced or measured. Its alignment is the mean
    over the members that attend. (Sutskever et al. 2014, section 3.6, and Luong et al. 2015,
    section 4.2, report ensembles without a formula. The mean of distributions is one again.)

    Args:
        models: at least one, with the same vocabularies and on one device. The members of an
            ensemble among them join one by one.

    Raises:
        ValueError: no models, or vocabularies that differ.
    """

    def __init__(self, models: Iterable["Translator | Ensemble"]):
        self.members = [member for model in models for member in members(model)]
        if not self.members:
            raise ValueError("an ensemble needs at least one model")
        first = self.members[0]
        for side in SIDES:
            for number, member in enumerate(self.members):
                if getattr(member, side) != getattr(first, side):
                    raise ValueError(
                        f"member {number} of the ensemble has another {side} than member 0: make "
                        "all members from the same corpus"
                    )
            setattr(self, side, getattr(first, side))
        self.device = first.device
        self.attends = any(member.attends for member in self.members)
        self.config = {"model": "ensemble", "members": [m.config for m in self.members]}

    def start(self, source: Source) -> tuple[Each, Each]:
        """Every member reads the source sentences."""
        memories, states = zip(*(member.start(source) for member in self.members), strict=True)
        return Each(memories), Each(states)

    def step(self, y_prev: Tensor, state: Each, memory: Each) -> tuple[Tensor, Tensor | None, Each]:
        """``log(1/K sum_k p_k)`` (B, V), the mean align (B, S) or None, and the new states."""
        each = zip(self.members, state, memory, strict=True)
        log_p, align, states = zip(*(m.step(y_prev, s, own) for m, s, own in each), strict=True)
        return _log_mean(log_p), _mean(align), Each(states)

    def token_losses(self, batch: Batch) -> Tensor:
        """-log p of each real target token of a batch, in reading order: (tokens,)."""
        return -_log_mean([-member.token_losses(batch) for member in self.members])

    def __call__(self, batch: Batch) -> tuple[None, Tensor | None]:
        """Read source and reference: no features in common, and the mean align (B, T, S)."""
        return None, _mean([member(batch)[1] for member in self.members])


def _log_mean(log_p: Sequence[Tensor]) -> Tensor:
    return torch.stack(list(log_p)).logsumexp(dim=0) - math.log(len(log_p))


def _mean(aligns: Sequence[Tensor | None]) -> Tensor | None:
    known = [align for align in aligns if align is not None]
    return torch.stack(known).mean(dim=0) if known else None


Model = Translator | Ensemble


def members(model: Model) -> list[Translator]:
    """The models in an ensemble; of a single model, itself."""
    return getattr(model, "members", [model])


# ---------------------------------------------------------------------------------------- search


def greedy(
    model: Model, sentences: Sequence[Sequence[str]], batch_size: int = 64, unknown: bool = True
) -> list[Translation]:
    """Translate by taking the most probable word at each step.

    Args:
        model: a translator, or an ensemble.
        sentences: lists of words; see ``model.source_vocabulary.tokenise``.
        batch_size: sentences translated side by side, at most. It changes the speed, nothing else.
        unknown: whether ``<unk>`` may be written. (Bahdanau et al. 2015, Table 1, forbid it in the
            column "No UNK".) Its probability then goes to no other word.

    Raises:
        TypeError: texts instead of lists of words.
        ValueError: an empty sentence.
    """
    _check(sentences)
    return _side_by_side(model, sentences, len, batch_size, partial(_greedy, model, unknown))


def _greedy(model, unknown, sentences):
    """B sentences side by side; one that has ended goes on writing ``</s>``, at no cost."""
    memory, state, limits = _start(model, sentences)
    y = torch.full_like(limits, BOS)  # (B,)
    running = torch.ones_like(limits, dtype=torch.bool)
    score = torch.zeros_like(limits, dtype=torch.float)
    steps, aligns = [], []
    while running.any():
        log_p, align, state = model.step(y, state, memory)  # (B, V), (B, S)
        log_p[:, NEVER[unknown]] = -torch.inf
        best, y = log_p.max(dim=-1)
        score = score + torch.where(running, best, 0)
        y = torch.where(running, y, EOS)
        steps.append(y)
        aligns.append(align)
        running = running & (y != EOS) & (len(steps) < limits)
    written = zip(sentences, torch.stack(steps, dim=1).tolist(), score.tolist(), strict=True)
    return [
        _translation(model, sentence, words, [row] * len(words), score, aligns)
        for row, (sentence, words, score) in enumerate(written)
    ]


def beam_search(
    model: Model,
    sentences: Sequence[Sequence[str]],
    beam: int = 5,
    length_penalty: float = 0.0,
    n_best: int = 1,
    batch_size: int = 64,
    unknown: bool = True,
) -> list[Translation] | list[list[Translation]]:
    """Translate by keeping the ``beam`` best hypotheses at each step.

    Each hypothesis is continued by every word, and of all continuations the best ``beam`` stay. One
    that has written ``</s>`` stays as it is, and goes on competing. The search for a sentence stops
    when nothing that could still be written would change the answer, or at the greatest length.

    Hypotheses are ranked by ``score / lp``, ``lp = ((5 + length) / 6) ** length_penalty`` (Wu et
    al. 2016, section 7, equation 14), where the length counts ``</s>``. With 0, the default, that
    is log p itself, which favours short translations.

    Args:
        model: a translator, or an ensemble.
        sentences: lists of words; see ``model.source_vocabulary.tokenise``.
        beam: hypotheses kept for each sentence; 1 is greedy search.
        length_penalty: at least 0; the larger, the longer the translations.
        n_best: translations to return for each sentence, at most ``beam``.
        batch_size: sentences translated side by side, at most. It changes the speed, nothing else.
        unknown: whether ``<unk>`` may be written; see :func:`greedy`.

    Returns:
        The best translation of each sentence; with ``n_best`` above 1 a list of them, best first,
        which is shorter only where there are not so many. ``score`` is log p, never divided.

    Raises:
        TypeError: texts instead of lists of words.
        ValueError: an empty sentence, or an argument out of its range.
    """
    _check(sentences)
    whole(1, beam=beam, n_best=n_best)
    if n_best > beam:
        raise ValueError(f"n_best must be a whole number from 1 to beam={beam}, not {n_best!r}")
    if not 0 <= length_penalty < math.inf:
        raise ValueError(f"length_penalty must be 0 or more, not {length_penalty!r}")
    search = partial(_beam_search, model, beam, length_penalty, n_best, unknown)
    found = _side_by_side(model, sentences, len, batch_size, search)
    return found if n_best > 1 else [best for (best,) in found]


def _beam_search(model, beam, length_penalty, n_best, unknown, sentences):
    """B sentences, of which b are still searched, with k = ``beam`` hypotheses: b k rows a step.

    No hypothesis is copied. A step leaves behind, for each row of the next, the word that was
    written and a back-pointer: the row that it was read from, where its align is, too.
    """

    def lp(length: Tensor) -> Tensor:
        return ((5 + length) / 6) ** length_penalty

    memory, state, limits = _start(model, sentences)
    live = torch.arange(len(limits), device=limits.device)  # (b,) the sentences still searched
    row = live.repeat_interleave(beam)
    memory, state = memory.select(row), state.select(row)
    y = torch.full_like(row, BOS)  # (b k,)
    score = torch.full((len(live), beam), -torch.inf, device=live.device)  # (b, k) sum of log p
    score[:, 0] = 0  # at first the k are all alike, so that one takes part
    length = torch.zeros_like(y)  # (b k,) words and </s>
    steps, aligns = [], []
    found: list[Any] = [None] * len(sentences)
    while len(live):
        log_p, align, state = model.step(y, state, memory)  # (b k, V), (b k, S)
        aligns.append(align)
        log_p[:, NEVER[unknown]] = -torch.inf
        log_p, word = log_p.topk(min(beam, log_p.size(1)))  # (b k, j): no more of one can stay
        ended = y == EOS
        log_p[ended], word[ended] = -torch.inf, EOS
        log_p[ended, 0] = 0  # from </s> there is one way on: to stay as it is

        score = score.flatten()[:, None] + log_p  # (b k, j)
        length = length + ~ended
        rank, best = (score / lp(length)[:, None]).view(len(live), -1).topk(beam)  # (b, k)
        best += torch.arange(0, score.numel(), score[0].numel() * beam, device=y.device)[:, None]
        row = best // score.size(1)  # (b, k): whom each continues
        score, word = score.take(best), word.take(best)  # (b, k)

        ended = word == EOS
        # log p only falls: no hypothesis can outrank its score of now at the greatest length
        hope = (score / lp(limits)[:, None]).masked_fill(ended, -torch.inf).amax(dim=1)
        done = ended[:, :n_best].all(dim=1) & (rank[:, n_best - 1] >= hope)
        done |= limits == len(aligns)
        for b in done.nonzero().flatten().tolist():
            index, best = int(live[b]), (part[b, :n_best].tolist() for part in (word, row, score))
            found[index] = [
                _translation(model, sentences[index], *_trace(steps, last, at), total, aligns)
                for last, at, total in zip(*best, strict=True)
                if total != -math.inf
            ]
        live, limits, score, row, word = (part[~done] for part in (live, limits, score, row, word))
        row, y = row.flatten(), word.flatten()  # (b k,)
        steps.append((y.tolist(), row.tolist()))
        state, length = state.select(row), length[row]
        if done.any():
            memory = memory.select(row)
    return found


NEVER = {True: [PAD, BOS], False: [PAD, BOS, UNK]}  # what no translation holds, by `unknown`


def _trace(steps: list[tuple[list[int], list[int]]], word: int, row: int):
    """All words of the hypothesis that ends in ``word``, and the rows that they were read from."""
    words, rows = [word], [row]
    for written, pointers in reversed(steps):
        words.append(written[rows[-1]])
        rows.append(pointers[rows[-1]])
    return words[::-1], rows[::-1]


def _start(model: Model, sentences: Sequence[Sequence[str]]) -> tuple[Any, Any, Tensor]:
    """Memory and state of some sentences, and the greatest length of each translation."""
    source = pad([model.source_vocabulary.encode(words) for words in sentences]).to(model.device)
    factor, extra = MAX_LENGTH
    return *model.start(source), factor * source.lengths + extra


def _translation(model, sentence, words, rows, score, aligns) -> Translation:
    """A translation of ``words`` up to ``</s>``; at step t, ``aligns[t][rows[t]]`` is its align."""
    length = words.index(EOS) if EOS in words else len(words)
    alignment = None
    if model.attends:
        # one row more than there may be words, since there may be none
        weights = [align[row] for align, row in zip(aligns, rows[: length + 1], strict=False)]
        weights = torch.stack(weights)[:length, : len(sentence)]
        alignment = weights.float().cpu().contiguous().numpy()
    return Translation(model.target_vocabulary.decode(words[:length]), score, alignment)


def _check(sentences: Sequence[Sequence[str]]) -> None:
    if isinstance(sentences, str) or any(isinstance(sentence, str) for sentence in sentences):
        raise TypeError(
            "sentences must be lists of words. Split a text first: "
            "[model.source_vocabulary.tokenise(text)]"
        )
    for number, sentence in enumerate(sentences):
        if len(sentence) == 0:
            raise ValueError(f"sentence {number} is empty: there is nothing to translate")


def _side_by_side(model: Model, items: Sequence, size: Callable, batch_size: int, answer: Callable):
    """Answer in batches of items that are alike in ``size``; answers in the order of the items."""
    whole(1, batch_size=batch_size)
    answers: list[Any] = [None] * len(items)
    order = sorted(range(len(items)), key=lambda k: -size(items[k]))
    with evaluating(*members(model)):
        while order:
            most = min(batch_size, BATCH_WORDS // (size(items[order[0]]) + 1))  # the longest first
            batch, order = order[: max(1, most)], order[max(1, most) :]
            for k, found in zip(batch, answer([items[k] for k in batch]), strict=True):
                answers[k] = found
    return answers


# ------------------------------------------------------------------- alignments and unknown words


def force_align(
    model: Model, pairs: Sequence[Pair], batch_size: int = 64, shift: int = 0
) -> list[frozenset[Link]]:
    """Align each target word with the one source word that has the largest weight.

    The model is made to say the reference and its weights are read, as Luong et al. 2015, section
    5.4, do to measure alignment error ("forced decoding").

    Args:
        model: a translator that attends, or an ensemble with one.
        pairs: sentences and references.
        batch_size: pairs read side by side, at most. It changes the speed, nothing else.
        shift: which word a_t speaks of. Luong's h_t has read y_{t-1} and predicts y_t (footnote
            14): 0 gives a_t to the word that is predicted, y_t, and 1 to the word just read,
            y_{t-1}.

    Returns:
        One set of links (source index, target index) a pair, counted from 0.

    Raises:
        ValueError: the model does not attend, so it has no alignment; or another shift.
    """
    if not model.attends:
        raise ValueError(f"a {model.config.get('model')} does not attend, so it has no alignment")
    if shift not in (0, 1):
        raise ValueError(f"shift must be 0 (the word predicted) or 1 (the word read), not {shift}")

    def links(pairs: list[Pair]) -> list[frozenset[Link]]:
        batch = make_batch(pairs, model.source_vocabulary, model.target_vocabulary)
        _, align = model(batch.to(model.device))  # (B, T, S), </s> in the last of T
        strongest = align.argmax(dim=-1).tolist()  # (B, T)
        return [
            frozenset((row[t + shift], t) for t in range(len(pair.target)))
            for row, pair in zip(strongest, pairs, strict=True)
        ]

    return _side_by_side(model, pairs, lambda pair: len(pair.source), batch_size, links)


def read_dictionary(links: Sequence[Set[Link]], pairs: Sequence[Pair]) -> dict[str, str]:
    """For each source word, the target word that it is linked with most often.

    ``read_dictionary(force_align(model, corpus.train), corpus.train)`` reads a dictionary for
    :func:`replace_unknown` off the training pairs. They hold the words themselves, also those that
    no vocabulary has. Of words as frequent the first in the alphabet is taken.
    """
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for linked, pair in zip(links, pairs, strict=True):
        for s, t in linked:
            counts[pair.source[s]][pair.target[t]] += 1
    return {word: max(sorted(found), key=found.get) for word, found in counts.items()}


def replace_unknown(
    translations: Sequence[Translation],
    sentences: Sequence[Sequence[str]],
    dictionary: Mapping[str, str] | None = None,
) -> list[Translation]:
    """Replace each ``<unk>`` by the source word with the largest weight, or by its translation.

    Jean et al. 2015, and Luong et al. 2015, section 4.2: "unk replacement", 1.9 BLEU in Table 1.

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
    entries, replaced = dictionary or {}, []
    for number, (found, sentence) in enumerate(zip(translations, sentences, strict=True)):
        if found.alignment is None or found.alignment.shape[1] != len(sentence):
            raise ValueError(
                f"translation {number} has no alignment with the {len(sentence)} words of its "
                "sentence. The model must attend, and the sentences stand in the same order."
            )
        strongest = [sentence[s] for s in found.alignment.argmax(axis=1)]
        known = zip(found.words, strongest, strict=True)
        words = [entries.get(x, x) if y == SPECIALS[UNK] else y for y, x in known]
        replaced.append(replace(found, words=words))
    return replaced
