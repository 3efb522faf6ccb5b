"""Search for a translation.

Search asks two things of a model: ``start``, which reads source sentences, and ``step``, which
takes the words written last and answers with log p of every next word. So whatever has the two is
:class:`Searchable`: each model of the family, and an :class:`Ensemble` of them.
"""

import math
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple, Protocol, Self, cast

import numpy as np
import torch
from torch import Tensor, nn

from attnmt.batches import Batch, Source, pad
from attnmt.checks import at_least, flag, text_of, whole
from attnmt.fast import sooner
from attnmt.model import SIDES, Translator, Vocabularies, evaluating
from attnmt.text import TextWarning
from attnmt.text.processed import traces
from attnmt.text.subwords import join_alignment
from attnmt.vocab import BOS, EOS, PAD, UNK

Words = Sequence[str]
Sentences = Sequence[Words]
MAX_LENGTH = (2, 10)  # a translation ends after 2 * source length + 10 words at the latest
LARGEST_POWER = 15  # a length penalty up to which lp is a number of 32 bits, of 2,000 words
BATCH_WORDS = 4_096  # source words of a batch, padding counted: fewer sentences if they are long
# never written, if unknown words may be, or not
FORBIDDEN = {True: [PAD, BOS], False: [PAD, BOS, UNK]}


@dataclass(frozen=True)
class Translation:
    """What search found for one sentence.

    ``words`` without ``</s>``; ``score``, the sum of log p over the words and ``</s>``;
    ``alignment``, float32 (words, source words): where the model looked as it wrote each word, or
    None for a model that does not attend.

    >>> Translation(["the", "dog"], score=-0.5, alignment=None).words
    ['the', 'dog']
    """

    words: list[str]
    score: float
    alignment: np.ndarray | None


@dataclass(frozen=True, repr=False)
class TextTranslation(Translation):
    """The translation of a raw sentence, on words also where the model reads and writes pieces.

    ``text`` is the sentence as one would print it, ``source`` the words that were translated, and
    ``unknown`` those of them that the model does not know.
    """

    source: list[str]
    text: str
    unknown: list[str]

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"TextTranslation({self.text!r})"


# ---------------------------------------------------------------------- what search asks of a model


class Rows(Protocol):
    """A memory or a state: it has one row for each hypothesis."""

    def select(self, rows: Tensor) -> Self:
        """Those of some hypotheses, by index."""


class Searchable(Vocabularies, Protocol):
    """What search asks of a model, which is a torch.nn.Module besides."""

    @property
    def device(self) -> torch.device:
        """Where its sentences go."""

    @property
    def attends(self) -> bool:
        """Whether ``step`` gives an alignment."""

    def start(self, source: Source) -> tuple[Rows, Rows]:
        """Read B source sentences: the memory and the first state, B rows each."""

    def step(self, y_prev: Tensor, state: Any, memory: Any) -> tuple[Tensor, Tensor | None, Rows]:
        """From y_{i-1} (B,) to log p(y_i) (B, V), align (B, S) or None, and the new state."""


# ------------------------------------------------------------------------------------- ensembles


class Each(tuple):
    """The memories, or the states, of an ensemble's members."""

    def select(self, rows: Tensor) -> "Each":
        """Those of some hypotheses, by index."""
        return Each(part.select(rows) for part in self)


class Ensemble(nn.Module):
    """Models that translate together: p of each next word is the mean of their probabilities.

    An ensemble may be used wherever a model is searched, forced or measured. Its alignment is the
    mean over the members that attend. (Sutskever et al. 2014, section 3.6, and Luong et al. 2015,
    section 4.2, report ensembles without a formula. The mean of distributions is one again.)

    >>> from attnmt import grammar_corpus, rnnsearch
    >>> corpus = grammar_corpus(train=20, valid=2, test=3, long=0, names=0)
    >>> model = rnnsearch(corpus, hidden=8)
    >>> both = Ensemble([model, rnnsearch(corpus, hidden=8, seed=1)])
    >>> len(greedy(both, [["der", "Hund", "schläft"]]))
    1

    Args:
        models: at least one, with the same vocabularies and on one device. The members of an
            ensemble among them join one by one.

    Attributes:
        members: the models, none of them an ensemble.

    Raises:
        ValueError: no models, or vocabularies that differ.
        TypeError: no list of models, or one that is no model.
    """

    def __init__(self, models: Iterable["Translator | Ensemble"]):
        super().__init__()
        self.members = nn.ModuleList()
        if isinstance(models, nn.Module) or not isinstance(models, Iterable):
            raise TypeError("an ensemble needs a list of models: Ensemble([model, other])")
        for model in models:
            self.members.extend(model.members if isinstance(model, Ensemble) else [model])
        if not self.members:
            raise ValueError("an ensemble needs at least one model")
        first = self.each[0]
        if strange := [m for m in self.each if not all(hasattr(m, side) for side in SIDES)]:
            raise TypeError(f"an ensemble is of models, not of {type(strange[0]).__name__}")
        for side in SIDES:
            for number, member in enumerate(self.each):
                if getattr(member, side) != getattr(first, side):
                    raise ValueError(
                        f"member {number} of the ensemble has another {side} than member 0: make "
                        "all members from the same corpus"
                    )
        self.source_vocabulary = first.source_vocabulary
        self.target_vocabulary = first.target_vocabulary
        self.config = {"model": "ensemble", "members": [m.config for m in self.each]}
        self.trained_on = getattr(first, "trained_on", None)  # a model of one's own has none

    @property
    def each(self) -> list[Translator]:
        """The members, one by one."""
        return cast(list[Translator], list(self.members))

    @property
    def device(self) -> torch.device:
        """Where the members are."""
        return self.each[0].device

    @property
    def attends(self) -> bool:
        """Whether any member does."""
        return any(member.attends for member in self.each)

    def start(self, source: Source) -> tuple[Each, Each]:
        """Every member reads the source sentences."""
        memories, states = zip(*(member.start(source) for member in self.each), strict=True)
        return Each(memories), Each(states)

    def step(self, y_prev: Tensor, state: Each, memory: Each) -> tuple[Tensor, Tensor | None, Each]:
        """``log(1/K sum_k p_k)`` (B, V), the mean align (B, S) or None, and the new states."""
        each = zip(self.each, state, memory, strict=True)
        log_p, align, states = zip(*(m.step(y_prev, s, own) for m, s, own in each), strict=True)
        return _log_mean(log_p), _mean(align), Each(states)

    def token_losses(self, batch: Batch) -> Tensor:
        """-log p of each real target token of a batch, in reading order: (tokens,)."""
        return -_log_mean([-member.token_losses(batch) for member in self.each])

    def translate(
        self, text: str | Sequence[str], **options: Any
    ) -> TextTranslation | list[TextTranslation]:
        """Translate a raw sentence, or a list of them: see :func:`translate`."""
        return translate(self, text, **options)

    def forward(self, batch: Batch) -> tuple[None, Tensor | None]:
        """Read source and reference: no features in common, and the mean align (B, T, S)."""
        return None, _mean([member(batch)[1] for member in self.each])


def _log_mean(log_p: Sequence[Tensor]) -> Tensor:
    return torch.stack(list(log_p)).logsumexp(dim=0) - math.log(len(log_p))


def _mean(aligns: Sequence[Tensor | None]) -> Tensor | None:
    known = [align for align in aligns if align is not None]
    return torch.stack(known).mean(dim=0) if known else None


Model = Translator | Ensemble


# ---------------------------------------------------------------------------------- greedy search


def greedy(
    model: Searchable,
    sentences: Sentences,
    batch_size: int = 64,
    unknown: bool = True,
) -> list[Translation]:
    """Translate by taking the most probable word at each step.

    >>> from attnmt import grammar_corpus, rnnsearch
    >>> corpus = grammar_corpus(train=20, valid=2, test=3, long=0, names=0)
    >>> model = rnnsearch(corpus, hidden=8)
    >>> (found,) = greedy(model, [["der", "Hund", "schläft"]])
    >>> found.alignment.shape == (len(found.words), 3)
    True

    Args:
        model: a translator, or an ensemble.
        sentences: lists of words; see ``model.source_vocabulary.tokenise``.
        batch_size: sentences translated side by side, at most. It changes the speed, nothing else.
        unknown: whether ``<unk>`` may be written. (Bahdanau et al. 2015, Table 1, forbid it in the
            column "No UNK".) Its probability then goes to no other word.

    Raises:
        TypeError: texts instead of lists of words, or no model.
        ValueError: an empty sentence.
    """
    _check(sentences)
    flag(unknown=unknown)
    search = partial(_greedy, model, unknown)
    return answer_in_batches(model, sentences, search, [*map(len, sentences)], batch_size)


def _greedy(model: Searchable, unknown: bool, sentences: Sentences) -> list[Translation]:
    """B sentences side by side, of which b are still being written."""
    memory, state, limits = _start(model, sentences)
    live = torch.arange(len(limits), device=limits.device)  # (b,) the sentences not yet ended
    y = torch.full_like(limits, BOS)  # (b,)
    score = torch.zeros_like(limits, dtype=torch.float)  # (B,) sum of log p
    trail = Trail()
    steps: list[Tensor] = []
    while len(live):
        log_p, align, state = model.step(y, state, memory)  # (b, V), (b, S)
        log_p[:, FORBIDDEN[unknown]] = -torch.inf
        best, y = log_p.max(dim=-1)
        score = score + best.new_zeros(len(limits)).index_copy(0, live, best)
        steps.append(torch.full_like(limits, EOS).index_copy(0, live, y))
        trail.look(align, live, size=len(limits))
        going = ((y != EOS) & (len(steps) < limits[live])).nonzero().flatten()
        if len(going) < len(live):
            live = live[going]
            y = y[going]
            memory = memory.select(going)
            state = state.select(going)
    looked = trail.aligns
    written = zip(sentences, torch.stack(steps, dim=1).tolist(), score.tolist(), strict=True)
    return [
        _translation(model, sentence, words, score=total, rows=[row] * len(words), aligns=looked)
        for row, (sentence, words, total) in enumerate(written)
    ]


# ------------------------------------------------------------------------------------ beam search


def beam_search(
    model: Searchable,
    sentences: Sentences,
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

    >>> from attnmt import grammar_corpus, rnnsearch
    >>> corpus = grammar_corpus(train=20, valid=2, test=3, long=0, names=0)
    >>> model = rnnsearch(corpus, hidden=8)
    >>> (five,) = beam_search(model, [["der", "Hund", "schläft"]], beam=5, n_best=5)
    >>> five[0].score >= five[1].score
    True

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
        TypeError: texts instead of lists of words, or no model.
        ValueError: an empty sentence, or an argument out of its range.
    """
    _check(sentences)
    whole(1, beam=beam, n_best=n_best)
    if n_best > beam:
        raise ValueError(f"n_best must be a whole number from 1 to beam={beam}, not {n_best!r}")
    at_least(0, length_penalty=length_penalty)
    flag(unknown=unknown)
    how = Beam(beam, length_penalty, n_best, unknown=unknown)
    search = partial(_beam_search, model, how)
    found = answer_in_batches(model, sentences, search, [*map(len, sentences)], batch_size)
    return found if n_best > 1 else [best for (best,) in found]


class Beam(NamedTuple):
    """How to search: the arguments of :func:`beam_search`; ``width`` is its ``beam``, k."""

    width: int
    length_penalty: float
    n_best: int
    unknown: bool

    def rank(self, score: Tensor, length: Tensor) -> Tensor:
        """``score / lp``, by which hypotheses compete, of log p and lengths.

        A large penalty makes a power that no number can hold. There -log(-rank) stands for the
        rank: it is in the same order.
        """
        if self.length_penalty <= LARGEST_POWER:
            return score / ((5 + length) / 6) ** self.length_penalty
        power = min(self.length_penalty, 1e6)  # above, the longer one wins in any case
        return power * ((5 + length) / 6).double().log() - (-score).double().log()


class Hypotheses(NamedTuple):
    """k hypotheses for each of b sentences, the best first: four tensors (b, k).

    ``word`` is what each wrote last, ``row`` (0 to b k - 1) the hypothesis of the step before that
    it continues, ``score`` its sum of log p, ``length`` its number of words, ``</s>`` counted.
    """

    word: Tensor
    row: Tensor
    score: Tensor
    length: Tensor

    @classmethod
    def first(cls, rows: Tensor) -> "Hypotheses":
        """Nothing but ``<s>``, for rows (b, k). All k are alike, so only one of them takes part."""
        word = torch.full_like(rows, BOS)
        score = torch.full(rows.shape, -torch.inf, device=rows.device)
        score[:, 0] = 0
        return cls(word, rows, score, length=torch.zeros_like(rows))

    @property
    def ended(self) -> Tensor:
        """Which have written ``</s>``: (b, k)."""
        return self.word == EOS


def expand(hypotheses: Hypotheses, log_p: Tensor, rows: Tensor | None = None) -> Hypotheses:
    """Continue each hypothesis by its j most probable next words: (b, k) to (b, k j).

    Of one hypothesis no more than k can be among the best k of all, so j = k is enough. One that
    has ended has one way on, at no cost: to stay as it is. Others that are not in ``rows`` have no
    way on.

    Args:
        hypotheses: (b, k).
        log_p: of every next word, (R, V).
        rows: whom ``log_p`` continues, (R,) of 0 to b k - 1; all of them if not given.
    """
    b, k = hypotheses.word.shape
    best, next_word = log_p.topk(min(k, log_p.size(1)))  # (R, j)
    row = torch.arange(b * k, device=best.device)  # (b k,)
    rows = row if rows is None else rows
    word = next_word.new_full((b * k, best.size(1)), EOS)  # (b k, j)
    cost = best.new_full(word.shape, -torch.inf)
    word[rows] = next_word
    cost[rows] = best
    ended = hypotheses.ended.flatten()  # (b k,)
    word[ended] = EOS
    cost[ended] = -torch.inf
    cost[ended, 0] = 0
    score = hypotheses.score.flatten()[:, None] + cost  # (b k, j)
    length = hypotheses.length.flatten() + ~ended  # (b k,)
    row, length = (part[:, None].expand_as(word) for part in (row, length))  # (b k, j)
    return Hypotheses(*(part.reshape(b, -1) for part in (word, row, score, length)))


def keep(candidates: Hypotheses, beam: Beam) -> Hypotheses:
    """The k candidates of each sentence that rank highest: (b, k j) to (b, k)."""
    _, best = beam.rank(candidates.score, candidates.length).topk(beam.width)  # (b, k)
    return Hypotheses(*(part.gather(1, best) for part in candidates))


def hopeful(hypotheses: Hypotheses, limits: Tensor, beam: Beam) -> Tensor:
    """Which hypotheses can still change a sentence's answers, (b, k).

    Since log p only falls, the best that an open hypothesis can hope for is its present score at
    the greatest length. Where ``n_best`` that have ended rank higher, it need not be continued, nor
    need those below it, which have still less to hope for.

    Args:
        hypotheses: (b, k).
        limits: the greatest length of each translation, (b,).
        beam: says how many answers are wanted, and how hypotheses rank.
    """
    rank = beam.rank(hypotheses.score, hypotheses.length)  # (b, k)
    rank = rank.masked_fill(~hypotheses.ended, -torch.inf)
    answer = rank.topk(beam.n_best).values[:, -1:]  # (b, 1) the last that would be an answer
    possible = ~hypotheses.ended & (hypotheses.score > -torch.inf)
    return possible & (beam.rank(hypotheses.score, limits[:, None]) >= answer)


def finished(hypotheses: Hypotheses, limits: Tensor, beam: Beam) -> Tensor:
    """Which sentences have their answers, (b,); arguments as of :func:`hopeful`."""
    return ~hopeful(hypotheses, limits, beam).any(dim=1)


@dataclass
class Trail:
    """What the steps left behind, so that no hypothesis is ever copied.

    ``steps`` has for each row of the next step the word that was written and a back-pointer, the
    row of this step that it continues; ``aligns`` (b k, S) where each row of this step looked.
    """

    steps: list[tuple[list[int], list[int]]] = field(default_factory=list)
    aligns: list[Tensor | None] = field(default_factory=list)

    def look(self, align: Tensor | None, rows: Tensor, size: int) -> None:
        """Note where the rows that were computed, (R,), looked: among all ``size`` = b k."""
        if align is not None:
            align = align.new_zeros(size, align.size(1)).index_copy(0, rows, align)
        self.aligns.append(align)

    def back(self, word: int, row: int) -> tuple[list[int], list[int]]:
        """All words of the hypothesis that ends in ``word``, and the row that each was read from.

        Args:
            word: written in the step that is not yet in ``steps``.
            row: of that step.
        """
        words = [word]
        rows = [row]
        for written, pointers in reversed(self.steps):
            words.append(written[rows[-1]])
            rows.append(pointers[rows[-1]])
        return words[::-1], rows[::-1]


def _beam_search(model: Searchable, beam: Beam, sentences: Sentences) -> list[list[Translation]]:
    """B sentences side by side, of which b are still searched, with k hypotheses each.

    Of these b k rows a step computes the R that have hope. (At first that is one a sentence.)
    """
    memory, state, limits = _start(model, sentences)
    live = torch.arange(len(limits), device=limits.device)  # (b,) the sentences still searched
    hypotheses = Hypotheses.first(live[:, None].repeat(1, beam.width))
    hope = hopeful(hypotheses, limits, beam)  # (b, k)
    selected, read = live[:0], memory
    trail = Trail()
    found: list[list[Translation]] = [[] for _ in sentences]
    while len(live):
        rows = hope.flatten().nonzero().flatten()  # (R,)
        words = hypotheses.word.flatten()[rows]
        sentence = live.repeat_interleave(beam.width)[rows]  # (R,)
        if not torch.equal(sentence, selected):
            selected, read = sentence, memory.select(sentence)
        log_p, align, state = model.step(words, state, read)  # (R, V), (R, S)
        log_p[:, FORBIDDEN[beam.unknown]] = -torch.inf
        trail.look(align, rows, hope.numel())
        hypotheses = keep(expand(hypotheses, log_p, rows), beam)
        hope = hopeful(hypotheses, limits, beam)
        going = hope.any(dim=1) & (limits > len(trail.aligns))  # (b,)
        for b in (~going).nonzero().flatten().tolist():
            best = Hypotheses(*(part[b, : beam.n_best] for part in hypotheses))
            number = int(live[b])
            found[number] = _translations(model, sentences[number], best, trail=trail)
        live = live[going]
        limits = limits[going]
        hypotheses = Hypotheses(*(part[going] for part in hypotheses))
        hope = hope[going]
        trail.steps.append((hypotheses.word.flatten().tolist(), hypotheses.row.flatten().tolist()))
        state = state.select(torch.searchsorted(rows, hypotheses.row[hope]))  # where in R each was
    return found


def _translations(
    model: Searchable, sentence: Words, best: Hypotheses, trail: Trail
) -> list[Translation]:
    """The hypotheses (n_best,) of one sentence, traced back; fewer where there are fewer."""
    translations = []
    for word, row, score, _ in zip(*(part.tolist() for part in best), strict=True):
        if score != -math.inf:
            words, rows = trail.back(word, row)
            path = {"score": score, "rows": rows, "aligns": trail.aligns}
            translations.append(_translation(model, sentence, words, **path))
    return translations


# ------------------------------------------------------------------------ what both searches share


def _start(model: Searchable, sentences: Sentences) -> tuple[Rows, Rows, Tensor]:
    """Memory and state of some sentences, and the greatest length of each translation, (B,)."""
    source = pad([model.source_vocabulary.encode(words) for words in sentences]).to(model.device)
    memory, state = model.start(source)
    factor, extra = MAX_LENGTH
    return memory, state, factor * source.lengths + extra


def _translation(
    model: Searchable, sentence: Words, words: list[int], score: float, rows: list, aligns: list
) -> Translation:
    """A translation of ``words`` up to ``</s>``; at step t it looked as ``aligns[t][rows[t]]``."""
    length = words.index(EOS) if EOS in words else len(words)
    alignment = None
    if model.attends:
        looked = [aligns[t][rows[t]] for t in range(length)]
        weights = torch.stack(looked) if looked else torch.empty(0, len(sentence))
        alignment = weights[:, : len(sentence)].float().cpu().contiguous().numpy()
    return Translation(model.target_vocabulary.decode(words[:length]), score, alignment)


def _check(sentences: Sentences) -> None:
    if not isinstance(sentences, Iterable):
        raise TypeError(f"sentences must be lists of words, not {sentences!r}")
    if isinstance(sentences, str) or any(isinstance(sentence, str) for sentence in sentences):
        raise TypeError(
            "sentences must be lists of words. Split a text first: "
            "[model.source_vocabulary.tokenise(text)]"
        )
    for number, sentence in enumerate(sentences):
        if not isinstance(sentence, Sequence):
            raise TypeError(f"sentences must be lists of words, not of {sentence!r}")
        if len(sentence) == 0:
            raise ValueError(f"sentence {number} is empty: there is nothing to translate")


def side_by_side(lengths: Sequence[int], batch_size: int) -> list[list[int]]:
    """Which sentences of these lengths are read together, by number; the longest come first."""
    waiting = sorted(range(len(lengths)), key=lambda number: -lengths[number])
    batches = []
    while waiting:
        count = max(1, min(batch_size, BATCH_WORDS // (lengths[waiting[0]] + 1)))
        batches.append(waiting[:count])
        waiting = waiting[count:]
    return batches


def answer_in_batches(
    model: Searchable, items: Sequence, answer: Callable, lengths: Sequence[int], batch_size: int
) -> list[Any]:
    """Answer in batches of items that are alike in length; answers in the order of the items."""
    whole(1, batch_size=batch_size)
    if not isinstance(model, nn.Module):
        raise TypeError(f"model must be a model, not {model!r}: Translator.load reads one")
    answers: dict[int, Any] = {}
    with evaluating(model), sooner(model):
        for batch in side_by_side(lengths, batch_size):
            found = answer([items[number] for number in batch])
            answers.update(zip(batch, found, strict=True))
    return [answers[number] for number in range(len(items))]


# -------------------------------------------------------------------------------- raw sentences


def translate(
    model: Model,
    text: str | Sequence[str],
    beam: int = 5,
    length_penalty: float = 0.0,
    tokeniser: str | None = None,
) -> TextTranslation | list[TextTranslation]:
    """Translate a raw sentence, or a list of them: ``model.translate("Ein Satz.")``.

    Args:
        model: a translator, or an ensemble.
        text: one sentence, or several.
        beam: see :func:`beam_search`; 1 is greedy search.
        length_penalty: see :func:`beam_search`.
        tokeniser: ``"spaces"`` if the text is in words already.

    Returns:
        A translation for each; that of an empty text is empty.

    Raises:
        TypeError: the text is neither a string nor a list of strings.
        ValueError: an argument out of its range.

    Warns:
        TextWarning: words that the model does not know, by name; text that was processed before; a
            model that has learned too little to write anything.
    """
    texts = [text] if isinstance(text, str) else text
    if not isinstance(texts, list | tuple):
        raise TypeError(f"text must be one sentence or a list of sentences, not {text!r}")
    for sentence in texts:
        text_of(text=sentence)
    read = [model.source_vocabulary.tokenise(sentence, tokeniser) for sentence in texts]
    some = [sentence for sentence in read if sentence]
    found = iter(cast(list[Translation], beam_search(model, some, beam, length_penalty)))
    answers = []
    for words in read:
        one = next(found) if words else Translation([], 0.0, None)
        answers.append(_of_text(model, one, words))
    _warn_of(answers, traces(texts) if tokeniser != "spaces" else [])
    return answers[0] if isinstance(text, str) else answers


def _of_text(model: Model, found: Translation, sentence: Words) -> TextTranslation:
    """A translation of a raw sentence, from what search found for its words or pieces."""
    target, source = model.target_vocabulary, model.source_vocabulary
    text = target.detokenise(found.words)
    found, words = on_words(model, found, sentence)
    unknown = [word for word in words if UNK in source.encode(source.units.split([word]))]
    return TextTranslation(**vars(found), source=words, text=text, unknown=unknown)


def _warn_of(found: Sequence[TextTranslation], processed: Sequence[str]) -> None:
    """Say in one line each what one should know of some translations."""
    if processed:
        line = f"the text was cut or escaped before: {'; '.join(processed)}. If it is in words "
        warnings.warn(line + 'already, say so: tokeniser="spaces"', TextWarning, stacklevel=3)
    if unknown := dict.fromkeys(word for one in found for word in one.unknown):
        line = f"the model does not know: {', '.join(unknown)}. It reads <unk> there"
        warnings.warn(line, TextWarning, stacklevel=3)
    if any(one.source for one in found) and not any(one.words for one in found):
        line = "the model ends the sentence before the first word: it has learned too little yet. "
        warnings.warn(line + "Train it for more epochs", TextWarning, stacklevel=3)


def on_words(model: Model, found: Translation, sentence: Words) -> tuple[Translation, list[str]]:
    """A translation and its sentence on words, also where the model reads and writes subwords.

    Args:
        model: that translated; an ensemble, too.
        found: the translation. It is not changed.
        sentence: what was translated, as the model read it.

    Returns:
        The translation, its words and its alignment joined, and the words of the sentence.
    """
    target = model.target_vocabulary.units
    source = model.source_vocabulary.units
    alignment = found.alignment
    if alignment is not None:
        places = target.places(found.words), source.places(sentence)
        alignment = join_alignment(alignment, *places)
    joined = replace(found, words=target.join(found.words), alignment=alignment)
    return joined, source.join(sentence)
