"""Parallel text: pairs of sentences that mean the same, and the corpora they come in.

Two corpora serve the whole book: :func:`grammar_corpus`, made by our own grammar with alignments
that are known, and :func:`multi30k`, real captions of images.
"""

import hashlib
import os
import random
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from attnmt.checks import one_of, whole
from attnmt.grammar import Sample, written
from attnmt.grammar.store import draw_once, uncollected
from attnmt.text import MULTI30K_URL, data_folder, default_folder, raw_pairs, read_lines
from attnmt.text.subwords import in_pieces
from attnmt.vocab import Vocabulary, tokenise

Link = tuple[int, int]
Texts = Iterable[tuple[str, str]]  # raw sentences, source and target
PARTS = ("train", "valid", "test", "long", "names")  # of a corpus


@dataclass(frozen=True)
class Pair:
    """A sentence and its translation.

    ``source`` and ``target`` are words, or subwords; ``source_text`` and ``target_text`` the raw
    sentences that BLEU is measured on. Where the alignment of the words is known, ``sure`` and
    ``possible`` are sets of links ``(source index, target index)`` counted from 0, every sure link
    also being a possible one (Och and Ney 2003), and ``classes`` names the word class of each
    target word; otherwise ``None``.
    """

    source: tuple[str, ...]
    target: tuple[str, ...]
    source_text: str
    target_text: str
    sure: frozenset[Link] | None = None
    possible: frozenset[Link] | None = None
    classes: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Corpus:
    """Parallel text in three parts: to learn from, to choose by, and to be measured on.

    ``report`` counts what happened on the way in (pairs read, dropped, kept). The grammar's corpus
    also has ``long``, pairs longer than any of ``train``, and ``names``, pairs with a name that
    ``train`` never shows. ``pieces``, if there are any, are the subwords of source and target.
    With ``bleu_of_words``, BLEU is measured on the words themselves, in lower case, as work on
    Multi30k reports it; otherwise on sentences as one would print them.
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

    @property
    def parts(self) -> dict[str, list[Pair]]:
        """The pairs of each part, of those that are empty, too."""
        return {part: getattr(self, part) for part in PARTS}

    @cached_property
    def source_vocabulary(self) -> Vocabulary:
        """The ``vocabulary_size`` most frequent source words of ``train``, or the subwords."""
        return self._vocabulary(0, [pair.source for pair in self.train], self.source_language)

    @cached_property
    def target_vocabulary(self) -> Vocabulary:
        """The ``vocabulary_size`` most frequent target words of ``train``, or the subwords."""
        return self._vocabulary(1, [pair.target for pair in self.train], self.target_language)

    def _vocabulary(self, side: int, sentences: list[tuple[str, ...]], language: str) -> Vocabulary:
        if self.pieces:
            return Vocabulary(self.pieces[side], language, lower=self.lower, subwords=True)
        return Vocabulary.build(sentences, self.vocabulary_size, language, lower=self.lower)

    @cached_property
    def fingerprint(self) -> str:
        """A checksum of every pair. Equal fingerprints mean equal corpora."""
        digest = hashlib.sha256()
        for pairs in self.parts.values():
            for pair in pairs:
                digest.update(f"{' '.join(pair.source)}\t{' '.join(pair.target)}\n".encode())
            digest.update(b"\f")
        return digest.hexdigest()[:16]


def take_pairs(
    texts: Texts, languages: tuple[str, str], lower: bool, max_length: int, report: dict[str, int]
) -> list[Pair]:
    """Tokenise raw pairs; those with an empty or over-long side are dropped.

    Args:
        texts: raw sentences.
        languages: of source and target, two letters each.
        lower: write everything in lower case.
        max_length: pairs with more words on either side are dropped.
        report: is changed: what was read and dropped is added to its counts.
    """
    pairs = []
    for raw_source, raw_target in texts:
        source_text = " ".join(raw_source.split())
        target_text = " ".join(raw_target.split())
        source = tuple(tokenise(source_text, languages[0], lower))
        target = tuple(tokenise(target_text, languages[1], lower))
        report["read"] = report.get("read", 0) + 1
        if not source or not target:
            report["empty"] = report.get("empty", 0) + 1
        elif max(len(source), len(target)) > max_length:
            report["too long"] = report.get("too long", 0) + 1
        else:
            pairs.append(Pair(source, target, source_text=source_text, target_text=target_text))
    return pairs


# ------------------------------------------------------------------------------- a reader's text


def corpus_from_files(
    source: str | os.PathLike,
    target: str | os.PathLike | None = None,
    *,
    languages: tuple[str, str] = ("de", "en"),
    valid: int = 500,
    test: int = 500,
    seed: int = 0,
    vocabulary_size: int = 4_092,
    lower: bool = True,
    max_length: int = 50,
    subwords: int | None = None,
) -> Corpus:
    """A corpus of your own parallel text, plain or gzipped.

    Args:
        source: source sentences, one a line; or, if there is no ``target``, both: source, a tab,
            target, and perhaps further columns, which are ignored.
        target: their translations, line by line.
        languages: two letters each, for the tokeniser.
        valid, test: pairs to set aside, drawn at random; the rest is ``train``, without source
            sentences that stand in ``valid`` or ``test``, too.
        seed: which pairs are set aside.
        vocabulary_size: words a side.
        lower: write everything in lower case.
        max_length: pairs with more words on either side are dropped.
        subwords: as of :func:`multi30k`.

    Raises:
        FileNotFoundError: no such file.
        ValueError: files that cannot be read as parallel text; the message names file and line.
    """
    report: dict[str, int] = {}
    texts = _read_texts(source, target)
    pairs = take_pairs(texts, languages, lower, max_length=max_length, report=report)
    if len(pairs) <= valid + test:
        raise ValueError(
            f"{source} has {len(pairs):,} usable pairs (read {report['read']:,}, empty "
            f"{report.get('empty', 0):,}, over {max_length} words {report.get('too long', 0):,}), "
            f"too few to set aside valid={valid:,} and test={test:,} and learn from the rest"
        )
    draw = random.Random(seed)
    pairs.sort(key=lambda _: draw.random())  # a shuffle that is the same in every Python
    held_out = pairs[: valid + test]
    rest = pairs[valid + test :]
    known = {pair.source for pair in held_out}
    train = [pair for pair in rest if pair.source not in known]
    report |= {"also held out": len(rest) - len(train), "kept": len(train)}
    if not train:
        raise ValueError(f"{source}: every training sentence also stands in valid or test")
    name = Path(source).name.split(".")[0]
    found = Corpus(
        name,
        *languages,
        train=train,
        valid=held_out[:valid],
        test=held_out[valid:],
        vocabulary_size=vocabulary_size,
        lower=lower,
        report=report,
    )
    return in_pieces(found, subwords)


def _read_texts(
    source: str | os.PathLike, target: str | os.PathLike | None
) -> list[tuple[str, str]]:
    """The pairs of sentences in two files, or in the first two columns of one."""
    lines = read_lines(source)
    if target is not None:
        targets = read_lines(target)
        if len(lines) != len(targets):
            raise ValueError(
                f"{source} has {len(lines):,} lines and {target} {len(targets):,}: from line "
                f"{min(len(lines), len(targets)) + 1:,} on, sentences have no partner"
            )
        return list(zip(lines, targets, strict=True))
    for number, line in enumerate(lines, 1):
        if line.strip() and "\t" not in line:
            raise ValueError(
                f"{source}, line {number:,}: no tab, so there is no target column. Give the "
                "translations as a second file, or write: source, tab, target."
            )
    columns = [[*line.split("\t"), ""] for line in lines]  # an empty line has no target, either
    return [(row[0], row[1]) for row in columns]


# ------------------------------------------------------------------------------------- Multi30k

MULTI30K_PAIRS = ("de-en", "en-de", "en-fr", "fr-en")
MULTI30K_TESTS = {
    "flickr2016": "test_2016_flickr",
    "flickr2017": "test_2017_flickr",
    "coco2017": "test_2017_mscoco",
}


def multi30k(
    pair: str = "de-en",
    train: int = 10_000,
    seed: int = 0,
    *,
    vocabulary_size: int = 4_092,
    lower: bool = True,
    max_length: int = 50,
    subwords: int | None = None,
    joint: bool = False,
    test: str = "flickr2016",
    folder: str | os.PathLike | None = None,
    url: str = MULTI30K_URL,
) -> Corpus:
    """Captions of images in German, English and French (Elliott et al. 2016, 2017).

    Each file is downloaded once (1.3 MB for a pair of languages) from a pinned commit and checked.

    Args:
        pair: ``"de-en"``, ``"en-de"``, ``"en-fr"`` or ``"fr-en"``: source and target language.
        train: pairs to draw out of the 29,000. A smaller draw is a part of every larger one.
        seed: which pairs are drawn.
        vocabulary_size: words a side. With the four special symbols, the default makes 4,096: a
            multiple of 16, which matrix products like.
        lower: write everything in lower case.
        max_length: training pairs with more words on either side are dropped, as both papers do.
        subwords: pieces a side that words are cut into, in place of ``vocabulary_size`` whole words
            (Sennrich et al. 2016). They are learned from ``train``.
        joint: let both sides have the same pieces, learned from both together.
        test: the captions to test with: 1,000 of ``"flickr2016"``, 1,000 of ``"flickr2017"``, or
            461 of ``"coco2017"``, whose verbs are ambiguous (Elliott et al. 2017).
        folder: where the files are, instead of ``attnmt.text.data_folder()``; they lie in
            its ``multi30k``.
        url: the address of the files.

    Raises:
        ValueError: an unknown pair or test, more pairs than there are, or a number of subwords that
            the text does not allow.
        DataUnavailable: the files are neither on this machine nor to be had.
    """
    one_of(MULTI30K_PAIRS, pair=pair)
    one_of(tuple(MULTI30K_TESTS), test=test)
    whole(1, train=train)
    source, target = pair.split("-")
    languages = source, target
    shelf = Path(folder or data_folder()) / "multi30k"
    draw = random.Random(seed)
    texts = raw_pairs("train", languages, shelf, url=url)
    texts.sort(key=lambda _: draw.random())  # a shuffle that is the same in every Python
    report: dict[str, int] = {}
    kept: list[Pair] = []
    for start in range(0, len(texts), 1_000):  # not many more are tokenised than are needed
        if len(kept) < train:
            some = texts[start : start + 1_000]
            kept += take_pairs(some, languages, lower, max_length=max_length, report=report)
    if len(kept) < train:
        raise ValueError(
            f"train={train:,} pairs were asked for, but {pair} of Multi30k has {len(kept):,} of at "
            f"most {max_length} words (read {report['read']:,}, dropped "
            f"{report['read'] - len(kept):,}). Ask for fewer."
        )
    held_out = {}  # complete, whatever the sentences' lengths
    for part, file in (("valid", "val"), ("test", MULTI30K_TESTS[test])):
        texts = raw_pairs(file, languages, shelf, url=url)
        held_out[part] = take_pairs(texts, languages, lower, max_length=sys.maxsize, report={})
    found = Corpus(
        f"multi30k-{pair}" + ("" if test == "flickr2016" else f"-{test}"),
        *languages,
        train=kept[:train],
        valid=held_out["valid"],
        test=held_out["test"],
        vocabulary_size=vocabulary_size,
        lower=lower,
        report=report | {"kept": train},
        bleu_of_words=True,
    )
    return in_pieces(found, subwords, joint)


# ------------------------------------------------------------------------ the controlled corpus

GRAMMAR_DIRECTIONS = ("de-en", "en-de")
GRAMMAR_LENGTHS = (4, 60)  # what the grammar can be asked for; `long` goes 20 words further
GRAMMAR_SUPPLY = 5_000  # sentences of one length that it surely has


def grammar_corpus(
    train: int = 16_000,
    direction: str = "de-en",
    lengths: tuple[int, int] = (4, 40),
    seed: int = 0,
    *,
    valid: int = 500,
    test: int = 5_000,
    long: int = 300,
    names: int = 300,
    vocabulary_size: int = 1_020,
) -> Corpus:
    """Pairs from our own German-English grammar, their alignments known by construction.

    The same for a seed on every machine. No sentence occurs twice in the whole corpus, on either
    side, and ``valid``, ``test``, ``long`` and ``names`` do not depend on ``train``. Once made, the
    pairs are kept in ``attnmt.text.data_folder()``, in ``grammar``; if it is read-only, in
    ``~/.cache/attnmt``; and if that cannot be written either, they are made again each time.

    Args:
        train: pairs to learn from. Above 10 words, longer sentences are rarer, as in real text.
        direction: ``"de-en"`` or ``"en-de"``: source and target language.
        lengths: fewest and most words of a source sentence, punctuation marks included.
        seed: which pairs are drawn.
        valid, test: pairs of the same lengths, as many of each length.
        long: test pairs with up to 20 words more than any of ``train``.
        names: test pairs that hold a name which ``train`` never shows.
        vocabulary_size: words a side. With the four special symbols, the default makes 1,024.

    Raises:
        ValueError: an unknown direction, lengths that cannot be met, or more pairs than the
            grammar can fill without repeating itself.
    """
    one_of(GRAMMAR_DIRECTIONS, direction=direction)
    fewest, most = GRAMMAR_LENGTHS
    given = isinstance(lengths, tuple | list) and all(isinstance(length, int) for length in lengths)
    if not given or len(lengths) != 2 or not fewest <= lengths[0] <= lengths[1] <= most:
        raise ValueError(
            f"lengths must be two numbers of words, the smaller first, from {fewest} to {most}, "
            f"not {lengths!r}"
        )
    shortest, longest = lengths
    inside = range(shortest, longest + 1)
    beyond = range(longest + 1, longest + 21)
    parts: dict[str, tuple[int, Sequence[int]]]
    parts = {"valid": (valid, inside), "test": (test, inside), "long": (long, beyond)}
    parts |= {"names": (names, inside), "train": (train, inside)}  # train comes last: see above
    side = GRAMMAR_DIRECTIONS.index(direction)
    for part, (count, words) in parts.items():
        if not (part == "train") <= count <= GRAMMAR_SUPPLY * len(words):
            raise ValueError(
                f"{part} must be from {int(part == 'train')} to {GRAMMAR_SUPPLY * len(words):,} "
                f"pairs, not {count:,}: the grammar has no more without repeats of {words[0]} to "
                f"{words[-1]} words. For more, allow more lengths."
            )
    samples = draw_once([data_folder, default_folder], parts, side, seed)
    with uncollected():
        drawn = {part: [_pair(sample, direction) for sample in samples[part]] for part in parts}
    source, target = direction.split("-")
    return Corpus(
        f"grammar-{direction}",
        source,
        target,
        train=drawn["train"],
        valid=drawn["valid"],
        test=drawn["test"],
        long=drawn["long"],
        names=drawn["names"],
        vocabulary_size=vocabulary_size,
    )


def _pair(sample: Sample, direction: str) -> Pair:
    """A sample of the grammar, read in one direction."""
    source, target, sure, possible, source_classes, classes = sample  # German to English
    if direction == "en-de":
        source, target = target, source
        classes = source_classes
        sure = frozenset(sorted((e, g) for g, e in sure))
        possible = frozenset(sorted((e, g) for g, e in possible))
    texts = written(source), written(target)
    return Pair(source, target, *texts, sure=sure, possible=possible, classes=classes)
