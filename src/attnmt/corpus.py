"""The corpora: our own grammar's, real captions, and a reader's own text.

Two serve the whole book: :func:`grammar_corpus`, made by our own grammar with alignments that are
known, and :func:`multi30k`, captions of images.
"""

import json
import os
import random
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from numbers import Integral
from pathlib import Path
from typing import Any

from attnmt.checks import ArgumentError, as_python, file_name, flag, one_of, whole
from attnmt.grammar.generate import written
from attnmt.grammar.phrases import Sample
from attnmt.grammar.store import draw_once
from attnmt.pairs import Corpus, Pair, take_pairs, warn_of_text, without_long_pieces
from attnmt.text import data_folder, default_folder, raw_pairs, read_pairs
from attnmt.text.subwords import in_pieces
from attnmt.vocab import TOKENISERS

CODE = re.compile("[a-z]{2,3}")  # of a language


def _as_json(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a maker as JSON has them, files by their whole paths."""
    found = {}
    for name, value in arguments.items():
        if value is not None and name.endswith(("source", "target")):
            value = os.path.abspath(value) if isinstance(value, str | os.PathLike) else value
        found[name] = value
    return json.loads(json.dumps(found, default=as_python))


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
    tokeniser: str = "moses",
    valid_source: str | os.PathLike | None = None,
    valid_target: str | os.PathLike | None = None,
    test_source: str | os.PathLike | None = None,
    test_target: str | os.PathLike | None = None,
) -> Corpus:
    """A corpus of your own parallel text, plain or gzipped.

    >>> from tempfile import NamedTemporaryFile
    >>> with NamedTemporaryFile("w", encoding="utf-8", suffix=".tsv") as file:
    ...     for number in range(9):
    ...         _ = file.write(f"Satz {number}.\\tSentence {number}.\\n")
    ...     file.flush()
    ...     corpus = corpus_from_files(file.name, valid=2, test=2)
    >>> len(corpus.train), len(corpus.test), corpus.test[0].source[0]
    (5, 2, 'satz')

    Args:
        source: source sentences, one a line; or, if there is no ``target``, both: source, a tab,
            target, and perhaps further columns, which are ignored.
        target: their translations, line by line.
        languages: two or three small letters each, for the tokeniser.
        valid, test: pairs to set aside, drawn at random; the rest is ``train``, without source
            sentences that stand in ``valid`` or ``test``, too.
        seed: which pairs are set aside.
        vocabulary_size: words a side.
        lower: write everything in lower case.
        max_length: pairs with more words on either side are dropped; with ``subwords``, those with
            more pieces, too.
        subwords: as of :func:`multi30k`.
        tokeniser: ``"moses"``, or ``"spaces"`` for text that is in words, or pieces, already.
        valid_source, valid_target: files of their own for ``valid``, in place of a draw. They are
            kept whole, whatever the sentences' lengths.
        test_source, test_target: likewise for ``test``.

    Raises:
        FileNotFoundError: no such file.
        TypeError, ValueError: an argument that makes no sense, or files that cannot be read as
            parallel text; the message names the argument, or file and line.

    Warns:
        TextWarning: what one should know of the text, see ``attnmt.pairs.warn_of_text``.
    """
    origin = _as_json({"name": "files", **locals()})
    own: dict[str, tuple[Any, Any]]
    own = {"valid": (valid_source, valid_target), "test": (test_source, test_target)}
    own = {part: names for part, names in own.items() if names != (None, None)}
    files = {"train": (source, target)} | own
    _check_files(files)
    _check_languages(languages)
    whole(0, valid=valid, test=test)
    whole(1, vocabulary_size=vocabulary_size, max_length=max_length)
    whole(-sys.maxsize, seed=seed)
    flag(lower=lower)
    one_of(TOKENISERS, tokeniser=tokeniser)
    texts = {part: read_pairs(*names) for part, names in files.items()}
    report: dict[str, int] = {}
    take = partial(take_pairs, languages=(languages[0], languages[1]), lower=lower)
    take = partial(take, tokeniser=tokeniser)
    pairs = take(texts["train"], max_length=max_length, report=report)
    parts: dict[str, Any] = {}
    for part, names in own.items():
        parts[part] = take(texts[part], max_length=sys.maxsize, report={})
        if not parts[part]:
            raise ValueError(f"{names[0]} has no pair that is not empty on either side")
    to_draw = {"valid": valid, "test": test}
    to_draw = {part: count for part, count in to_draw.items() if part not in own}
    if not pairs or len(pairs) < sum(to_draw.values()):
        raise ValueError(
            f"{source} has {len(pairs):,} usable pairs (read {report['read']:,}, empty "
            f"{report.get('empty', 0):,}, over {max_length} words {report.get('too long', 0):,}), "
            f"too few to set aside valid={valid:,} and test={test:,} and learn from the rest"
        )
    draw = random.Random(int(seed))
    pairs.sort(key=lambda _: draw.random())  # a shuffle that is the same in every Python
    for part, count in to_draw.items():
        parts[part], pairs = pairs[:count], pairs[count:]
    known = {pair.source for part in parts.values() for pair in part}
    train = [pair for pair in pairs if pair.source not in known]
    report |= {"also held out": len(pairs) - len(train), "kept": len(train)}
    if pairs and not train:
        raise ValueError(f"{source}: every training sentence also stands in valid or test")
    found = Corpus(
        Path(source).name.split(".")[0],
        languages[0],
        languages[1],
        train=train,
        **parts,
        vocabulary_size=vocabulary_size,
        lower=lower,
        report=report,
        tokeniser=tokeniser,
        origin=origin,
    )
    found = without_long_pieces(in_pieces(found, subwords), max_length, drawn=tuple(to_draw))
    warn_of_text(found, [sentence for some in texts.values() for pair in some for sentence in pair])
    return found


def _check_files(files: Mapping[str, tuple]) -> None:
    """Refuse what cannot be the names of two files, or of one."""
    for part, (source, target) in files.items():
        of_part = "" if part == "train" else f"{part}_"
        file_name(**{f"{of_part}source": source})
        if target is not None:
            file_name(**{f"{of_part}target": target})


def _check_languages(languages: Sequence[str]) -> None:
    """Refuse what cannot be the languages of source and target."""
    given = isinstance(languages, tuple | list) and all(isinstance(one, str) for one in languages)
    if not given or len(languages) != 2 or not all(map(CODE.fullmatch, languages)):
        raise ArgumentError(
            "languages must be two, of source and target, in small letters, such as "
            f'("de", "en"), not {languages!r}'
        )


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
) -> Corpus:
    """Captions of images in German, English and French (Elliott et al. 2016, 2017).

    Each file is downloaded once (1.3 MB for a pair of languages) from a pinned commit, checked, and
    kept in ``attnmt.text.data_folder()``, in ``multi30k``.

    >>> corpus = multi30k("de-en", train=10_000)  # doctest: +SKIP

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

    Raises:
        ValueError: an unknown pair or test, more pairs than there are, or a number of subwords that
            the text does not allow.
        DataUnavailable: the files are neither on this machine nor to be had.
    """
    origin = _as_json({"name": "multi30k", **locals()})
    one_of(MULTI30K_PAIRS, pair=pair)
    one_of(tuple(MULTI30K_TESTS), test=test)
    whole(1, train=train, vocabulary_size=vocabulary_size, max_length=max_length)
    whole(-sys.maxsize, seed=seed)
    flag(lower=lower, joint=joint)
    take = partial(take_pairs, lower=lower, marks=False)
    source, target = pair.split("-")
    languages = source, target
    draw = random.Random(int(seed))
    texts = raw_pairs("train", languages)
    texts.sort(key=lambda _: draw.random())  # a shuffle that is the same in every Python
    report: dict[str, int] = {}
    kept: list[Pair] = []
    for start in range(0, len(texts), 1_000):  # not many more are tokenised than are needed
        if len(kept) < train:
            some = texts[start : start + 1_000]
            kept += take(some, languages, max_length=max_length, report=report)
    if len(kept) < train:
        raise ValueError(
            f"train={train:,} pairs were asked for, but {pair} of Multi30k has {len(kept):,} of at "
            f"most {max_length} words (read {report['read']:,}, dropped "
            f"{report['read'] - len(kept):,}). Ask for fewer."
        )
    held_out: dict[str, Any] = {}  # complete, whatever the sentences' lengths
    for part, file in (("valid", "val"), ("test", MULTI30K_TESTS[test])):
        texts = raw_pairs(file, languages)
        held_out[part] = take(texts, languages, max_length=sys.maxsize, report={})
    found = Corpus(
        f"multi30k-{pair}" + ("" if test == "flickr2016" else f"-{test}"),
        *languages,
        train=kept[:train],
        **held_out,
        vocabulary_size=vocabulary_size,
        lower=lower,
        report=report | {"kept": train},
        bleu_of_words=True,
        origin=origin,
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

    >>> corpus = grammar_corpus(train=20, valid=2, test=3, long=0, names=0)
    >>> len(corpus.train), len(corpus.test), corpus.test[0].sure is None
    (20, 3, False)

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
    origin = _as_json({"name": "grammar", **locals()})
    one_of(GRAMMAR_DIRECTIONS, direction=direction)
    whole(1, train=train, vocabulary_size=vocabulary_size)
    whole(0, valid=valid, test=test, long=long, names=names)
    whole(-sys.maxsize, seed=seed)
    fewest, most = GRAMMAR_LENGTHS
    given = isinstance(lengths, tuple | list) and not any(
        isinstance(one, bool) or not isinstance(one, Integral) for one in lengths
    )
    if not given or len(lengths) != 2 or not fewest <= lengths[0] <= lengths[1] <= most:
        raise ValueError(
            f"lengths must be two numbers of words, the smaller first, from {fewest} to {most}, "
            f"not {lengths!r}"
        )
    shortest, longest = map(int, lengths)
    seed = int(seed)
    inside = range(shortest, longest + 1)
    beyond = range(longest + 1, longest + 21)
    parts: dict[str, tuple[int, Sequence[int]]]
    parts = {"valid": (valid, inside), "test": (test, inside), "long": (long, beyond)}
    parts |= {"names": (names, inside), "train": (train, inside)}  # train comes last: see above
    side = GRAMMAR_DIRECTIONS.index(direction)
    parts = {part: (int(count), words) for part, (count, words) in parts.items()}
    for part, (count, words) in parts.items():
        if count > (supply := GRAMMAR_SUPPLY * len(words)):
            raise ValueError(
                f"{part} must be at most {supply:,} pairs, not {count:,}: the grammar has no more "
                f"without repeats of {words[0]} to {words[-1]} words. For more, allow more lengths."
            )
    samples = draw_once([data_folder, default_folder], parts, side, seed)
    drawn: dict[str, Any]
    drawn = {part: [_pair(sample, direction) for sample in samples[part]] for part in parts}
    source, target = direction.split("-")
    how: dict[str, Any] = {"vocabulary_size": vocabulary_size, "origin": origin}
    return Corpus(f"grammar-{direction}", source, target, **drawn, **how)


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


MAKERS: dict[str, Callable[..., Corpus]] = {
    "grammar": grammar_corpus,
    "multi30k": multi30k,
    "files": corpus_from_files,
}
