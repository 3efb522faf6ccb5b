"""Pairs of sentences that mean the same, and a corpus of them; the makers are in `corpus`."""

import hashlib
import re
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import islice
from typing import Any

from sacrebleu.metrics import BLEU

from attnmt.checks import flag, one_of, text_of, whole
from attnmt.text import TextWarning
from attnmt.text.characters import clean
from attnmt.text.processed import traces
from attnmt.text.subwords import LONGEST, with_sides
from attnmt.vocab import TOKENISERS, Vocabulary, split

Link = tuple[int, int]
Texts = Iterable[tuple[str, str]]  # raw sentences, source and target
PARTS = ("train", "valid", "test", "long", "names")  # of a corpus
CEILING = 99  # BLEU; where the references' round trip has less, that is said
SAMPLE = 1_000  # pairs by which a text is judged
BLEU_TOKENISER = "13a"  # sacreBLEU's own
BLEU_TOKENISERS = {"zh": "zh", "ja": "ja-mecab"}  # of languages that are written without spaces
UNSPACED = re.compile(
    "[\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff\u3000-\u30ff\u3400-\u9fff\uff01-\uff5e]"
)


@dataclass(frozen=True)
class Pair:
    """A sentence and its translation.

    ``source`` and ``target`` are words, or subwords; ``source_text`` and ``target_text`` the raw
    sentences that BLEU is measured on. Where the alignment of the words is known, ``sure`` and
    ``possible`` are sets of links ``(source index, target index)`` counted from 0, every sure link
    also being a possible one (Och and Ney 2003), and ``classes`` names the word class of each
    target word; otherwise ``None``.

    >>> Pair(("der", "Hund"), ("the", "dog"), "der Hund", "the dog").target
    ('the', 'dog')
    """

    source: tuple[str, ...]
    target: tuple[str, ...]
    source_text: str
    target_text: str
    sure: frozenset[Link] | None = None
    possible: frozenset[Link] | None = None
    classes: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if isinstance(self.source, str) or isinstance(self.target, str):
            raise TypeError(
                "source and target must be words, not one text: tokenise(text, language)"
            )


def check_pairs(**parts: Iterable[Any]) -> None:
    """Refuse an argument that holds no pairs; the first one is looked at.

    Raises:
        TypeError: it is something else.
    """
    for name, pairs in parts.items():
        if isinstance(pairs, str) or not isinstance(pairs, Iterable):
            raise TypeError(f"{name} must be pairs of sentences, not {pairs!r}")
        for pair in islice(pairs, 1):
            if not isinstance(pair, Pair):
                raise TypeError(f"{name} must be pairs of sentences, Pair, not {pair!r}")


def _checksum(*parts: Iterable[Pair]) -> str:
    """Of every pair of some parts."""
    digest = hashlib.sha256()
    for pairs in parts:
        for pair in pairs:
            digest.update(f"{' '.join(pair.source)}\t{' '.join(pair.target)}\n".encode())
        digest.update(b"\f")
    return digest.hexdigest()[:16]


@dataclass(frozen=True)
class Corpus:
    """Parallel text in three parts: to learn from, to choose by, and to be measured on.

    ``report`` counts what happened on the way in (pairs read, dropped, kept). The grammar's corpus
    also has ``long``, pairs longer than any of ``train``, and ``names``, pairs with a name that
    ``train`` never shows. ``pieces``, if there are any, are the subwords of source and target.
    With ``bleu_of_words``, BLEU is measured on the words themselves, in lower case, as work on
    Multi30k reports it; otherwise on sentences as one would print them. ``origin``, the maker's
    ``name`` and arguments, is kept with a model, so that its corpus can be made again.

    >>> pairs = [Pair(("der", "Hund"), ("the", "dog"), "der Hund", "the dog")]
    >>> corpus = Corpus("one", "de", "en", pairs, pairs, pairs, vocabulary_size=10)
    >>> corpus.source_vocabulary.words
    ('<pad>', '<unk>', '<s>', '</s>', 'Hund', 'der')
    """

    name: str
    source_language: str
    target_language: str
    train: list[Pair] = field(repr=False)
    valid: list[Pair] = field(repr=False)
    test: list[Pair] = field(repr=False)
    vocabulary_size: int
    lower: bool = False
    long: list[Pair] = field(default_factory=list, repr=False)
    names: list[Pair] = field(default_factory=list, repr=False)
    report: dict[str, int] = field(default_factory=dict)
    pieces: tuple[tuple[str, ...], ...] = field(default=(), repr=False)
    bleu_of_words: bool = False
    tokeniser: str = "moses"
    origin: dict[str, Any] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        text_of(name=self.name, source_language=self.source_language)
        text_of(target_language=self.target_language)
        whole(1, vocabulary_size=self.vocabulary_size)
        flag(lower=self.lower)
        one_of(TOKENISERS, tokeniser=self.tokeniser)
        check_pairs(**self.parts)

    @property
    def parts(self) -> dict[str, list[Pair]]:
        """The pairs of each part, of those that are empty, too."""
        return {part: getattr(self, part) for part in PARTS}

    @cached_property
    def source_vocabulary(self) -> Vocabulary:
        """The ``vocabulary_size`` most frequent source words of ``train``, or the subwords."""
        return self._vocabulary(0, (pair.source for pair in self.train), self.source_language)

    @cached_property
    def target_vocabulary(self) -> Vocabulary:
        """The ``vocabulary_size`` most frequent target words of ``train``, or the subwords."""
        return self._vocabulary(1, (pair.target for pair in self.train), self.target_language)

    def _vocabulary(
        self, side: int, sentences: Iterable[tuple[str, ...]], language: str
    ) -> Vocabulary:
        how: dict[str, Any] = {"lower": self.lower, "tokeniser": self.tokeniser}
        if self.pieces:
            return Vocabulary(self.pieces[side], language, subwords=True, **how)
        return Vocabulary.build(sentences, self.vocabulary_size, language, **how)

    @cached_property
    def fingerprint(self) -> str:
        """A checksum of every pair. Equal fingerprints mean equal corpora."""
        return _checksum(*self.parts.values())

    @property
    def facts(self) -> dict[str, Any]:
        """What a model should know of the corpus that it was trained on, as JSON can hold it.

        Languages, case, tokeniser and pieces are in its vocabularies.
        """
        return {
            "name": self.name,
            "origin": self.origin,
            "sizes": {part: len(pairs) for part, pairs in self.parts.items()},
            "fingerprints": {part: _checksum(self.parts[part]) for part in ("train", "test")},
        }

    @cached_property
    def ceiling(self) -> float:
        """The BLEU that can be reached, that of the references, cut into words and joined again.

        Measured on the first ``SAMPLE`` pairs of ``test``, or of what there is, case ignored.
        """
        pairs = (self.test or self.valid or self.train)[:SAMPLE]
        aims = [pair.target_text.lower() for pair in pairs]
        again = [self.target_vocabulary.detokenise(pair.target).lower() for pair in pairs]
        if again == aims:
            return 100.0
        metric = BLEU(tokenize="char" if "target" in self.unspaced else BLEU_TOKENISER)
        return metric.corpus_score(again, [aims]).score

    @cached_property
    def unspaced(self) -> list[str]:
        """The sides, source or target, that are written without spaces; no words are seen."""
        pairs = (self.train or self.test or self.valid)[:SAMPLE]
        sides = {
            "source": "".join(pair.source_text for pair in pairs),
            "target": "".join(pair.target_text for pair in pairs),
        }
        return [side for side, text in sides.items() if 2 * len(UNSPACED.findall(text)) > len(text)]

    @property
    def bleu_tokeniser(self) -> str:
        """The sacreBLEU tokeniser for the target, ``"13a"``, or another if it has no spaces."""
        if "target" not in self.unspaced or self.tokeniser == "spaces":
            return BLEU_TOKENISER
        return BLEU_TOKENISERS.get(self.target_language, "char")


def take_pairs(
    texts: Texts,
    languages: tuple[str, str],
    lower: bool,
    max_length: int,
    report: dict[str, int],
    *,
    tokeniser: str = "moses",
    marks: bool = True,
) -> list[Pair]:
    """Tokenise raw pairs; those with an empty or over-long side are dropped.

    Args:
        texts: raw sentences.
        languages: of source and target, two or three small letters each.
        lower: write everything in lower case.
        max_length: pairs with more words on either side are dropped.
        report: is changed: what was read and dropped is added to its counts.
        tokeniser: ``"moses"``, or ``"spaces"`` for text that is in words already.
        marks: whether target words may carry marks, see :func:`.tokenise`. Captions and recorded
            models have none.
    """
    pairs = []
    cut = partial(split, lower=lower, tokeniser=tokeniser)
    for raw_source, raw_target in texts:
        source_text = clean(raw_source)
        target_text = clean(raw_target)
        source = tuple(cut(source_text, languages[0], marks=False))
        target = tuple(cut(target_text, languages[1], marks=marks))
        report["read"] = report.get("read", 0) + 1
        if not source or not target:
            report["empty"] = report.get("empty", 0) + 1
        elif max(len(source), len(target)) > max_length:
            report["too long"] = report.get("too long", 0) + 1
        else:
            pairs.append(Pair(source, target, source_text=source_text, target_text=target_text))
    return pairs


def without_long_pieces(corpus: Corpus, max_length: int, drawn: Sequence[str]) -> Corpus:
    """A corpus without the pairs that have too many pieces; its report counts them."""
    if not corpus.pieces:
        return corpus
    kept: dict[str, Any] = {
        part: [p for p in corpus.parts[part] if max(len(p.source), len(p.target)) <= max_length]
        for part in ("train", *drawn)
    }
    long = sum(len(corpus.parts[part]) - len(pairs) for part, pairs in kept.items())
    if not kept["train"]:
        raise ValueError(
            f"max_length={max_length} leaves no training pair: all have more pieces. Ask for more, "
            "or for more subwords."
        )
    report = corpus.report | {"too many pieces": long, "kept": len(kept["train"])}
    return replace(corpus, **kept, report=report if long else corpus.report)


def warn_of_text(corpus: Corpus, lines: Sequence[str]) -> None:
    """Say in one line each what one should know of a text that was just read.

    That another program has processed it; that a perfect translation could not reach a BLEU of 100;
    that a language is written without spaces; that a word is too long to be cut as one; that
    nothing is left to learn from.
    """
    found = []
    if corpus.tokeniser == "moses" and (seen := traces(lines)):
        found.append(
            f"{corpus.name} was cut or escaped before: {'; '.join(seen)}. Moses would cut that "
            'again. If the text is in words already, say so: tokeniser="spaces".'
        )
    if corpus.ceiling < CEILING:
        found.append(
            f"{corpus.name}: the references themselves, cut into words and joined again, have "
            f"{corpus.ceiling:.1f} BLEU. No translation can have more."
        )
    if corpus.bleu_tokeniser != BLEU_TOKENISER:
        found.append(
            f"{corpus.name}: the target is written without spaces, so sacreBLEU must cut it: "
            f'bleu(..., tokeniser="{corpus.bleu_tokeniser}"). Its usual way counts whole '
            "sentences as words, and finds 0."
        )
    if not corpus.pieces and (sides := corpus.unspaced):
        found.append(
            f"{corpus.name}: the {' and the '.join(sides)} is written without spaces, so its words "
            "are whole phrases. Cut them: subwords=2000."
        )
    if corpus.pieces and (
        count := sum(len(word) > LONGEST for line in lines for word in line.split())
    ):
        found.append(f"{corpus.name}: {count:,} words of over {LONGEST} letters are cut in parts.")
    if not corpus.train:
        found.append(f"{corpus.name}: all pairs are set aside, none is left to learn from.")
    for message in found:
        warnings.warn(message, TextWarning, stacklevel=3)


def in_lower_case(corpus: Corpus) -> Corpus:
    """The same corpus, its words in lower case; the raw sentences stay."""

    def small(words: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(word.lower() for word in words)

    parts: dict[str, Any] = {
        part: with_sides(pairs, small, small) for part, pairs in corpus.parts.items()
    }
    return replace(corpus, lower=True, **parts)
