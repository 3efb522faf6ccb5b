"""Subwords: words cut into pieces, so that a model reads and writes words it has never seen.

The pieces are learned by byte-pair encoding (Sennrich et al. 2016): from single letters on, the two
neighbours that stand side by side most often become one piece, again and again, until there are as
many pieces as asked for. A frequent word ends as one piece, and a rare one as several: *hundeleine*
may become ``▁hunde leine``. A piece that begins a word has the mark ``▁`` in front, which is all
that it takes to join pieces to words again.

What is learned is a list of pieces, in the order in which they were learned, and nothing else: it
is kept as a vocabulary's words are, as text, and reading it cannot run code.
"""

import io
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise
from numbers import Integral
from typing import Any

import numpy as np

from attnmt.text.moses import MARKS, unmarked

SPECIALS = ("<pad>", "<unk>", "<s>", "</s>")  # of a vocabulary; no piece may be one of them
MARK = "▁"  # U+2581, in front of each word; in a text it is read as _
LONGEST = 200  # letters; longer words are cut in parts of so many, so that time grows with length
RESERVED = "▅"  # U+2585, which sentencepiece keeps for itself: it skips lines that hold it


def letters_of(word: str) -> list[str]:
    """The mark and the characters of a word."""
    return [MARK, *word.replace(MARK, "_")]


def learn_pieces(sentences: Iterable[Sequence[str]], size: int) -> list[str]:
    """Learn the pieces of some sentences: their characters, then what was joined, in order.

    Every character is a piece, so a word of known characters can always be written. Digits are
    never joined: a number is written digit by digit, and none is unknown whose digits were seen.
    What is learned is the same in every run. (The library sentencepiece counts, breaks ties, and
    joins.)

    Args:
        sentences: lists of words.
        size: pieces in all.

    Raises:
        ValueError: fewer pieces than there are characters, or more than the text can give.
    """
    sentences = list(sentences)
    counts = Counter(letter for words in sentences for word in words for letter in letters_of(word))
    letters = sorted(counts, key=lambda letter: (-counts[letter], letter))
    if not isinstance(size, Integral) or isinstance(size, bool) or size < len(letters):
        raise ValueError(
            f"subwords must be a whole number of at least {len(letters):,}, not {size!r}: so many "
            "different characters has this text, the mark of a word's beginning included"
        )
    size = int(size)
    joined = _joined_pieces(sentences, size) if letters and size > len(letters) else []
    pieces = letters + joined[: size - len(letters)]
    if len(pieces) < size:
        raise ValueError(
            f"subwords={size:,} is more than this text has: it gives {len(pieces):,} pieces at "
            "most. Ask for fewer, or learn from more text."
        )
    return pieces


def _joined_pieces(sentences: Sequence[Sequence[str]], size: int) -> list[str]:
    """The pieces of two characters or more, by sentencepiece; fewer if there are not so many."""
    import sentencepiece  # here, since only learning needs it: a trained model is used without

    model = io.BytesIO()
    used = {letter for words in sentences for word in words for letter in word}
    stand_in = next(letter for letter in map(chr, range(0xE000, 0xF8FF)) if letter not in used)
    signs = str.maketrans({MARK: "_", RESERVED: stand_in})
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=(" ".join(words).translate(signs) for words in sentences),
        model_writer=model,
        model_type="bpe",
        vocab_size=size + 1,  # its own <unk> counts, too
        hard_vocab_limit=False,
        character_coverage=1.0,
        normalization_rule_name="identity",
        split_digits=True,
        split_by_unicode_script=False,
        bos_id=-1,
        eos_id=-1,
        max_sentence_length=2**30,  # bytes; it would skip longer sentences in silence
        minloglevel=2,
    )
    found = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    pieces = [found.id_to_piece(number) for number in range(1, found.get_piece_size())]
    pieces = [piece.replace(stand_in, RESERVED) for piece in pieces if len(piece) > 1]
    return [piece for piece in pieces if piece not in SPECIALS]


def cut(word: str, rank: Mapping[str, int]) -> list[str]:
    """Cut one word into pieces, as byte-pair encoding does.

    Of all neighbours that make a piece, those that were learned first are joined, the leftmost of
    equals, until none are left. A word of more than ``LONGEST`` letters is cut in parts, each for
    itself.

    Args:
        word: any characters. One that was never seen stays a piece of its own.
        rank: of each piece, when it was learned.
    """
    letters = letters_of(word)
    parts = [letters[start : start + LONGEST] for start in range(0, len(letters), LONGEST)]
    return [piece for part in parts for piece in _joined(part, rank)]


def _joined(pieces: list[str], rank: Mapping[str, int]) -> list[str]:
    """Letters of one word, joined to the pieces that were learned."""
    while True:
        pairs = [first + second for first, second in pairwise(pieces)]
        best = min(pairs, key=lambda pair: rank.get(pair, math.inf), default="")
        if best not in rank:
            return pieces
        place = pairs.index(best)
        pieces[place : place + 2] = [best]


class Words:
    """The units of a vocabulary of words: nothing is cut, and nothing joined."""

    mark = ""

    def split(self, words: Iterable[str]) -> list[str]:
        """Words to units."""
        return list(words)

    def places(self, units: Sequence[str]) -> list[int]:
        """For each unit, the number of the word that it is of, counted from 0."""
        return list(range(len(units)))

    def join(self, units: Sequence[str]) -> list[str]:
        """Units to words."""
        return list(units)


class Pieces(Words):
    """The units of a vocabulary of subwords.

    ``join(split(words))`` is ``words``, whatever their characters (but for the mark itself).

    Args:
        pieces: in the order in which they were learned; see :func:`learn_pieces`.
    """

    mark = MARK

    def __init__(self, pieces: Iterable[str]):
        self._rank = {piece: number for number, piece in enumerate(pieces)}
        self._cut: dict[str, list[str]] = {}  # words that were cut before

    def split(self, words: Iterable[str]) -> list[str]:
        """Words to pieces."""
        found = []
        for word in words:
            if word not in self._cut:
                self._cut[word] = cut(self._readable(word), self._rank)
            found += self._cut[word]
        return found

    def _readable(self, word: str) -> str:
        """A word without marks of :mod:`.moses` that no piece has."""
        strange = any(sign in word and sign not in self._rank for sign in MARKS)
        return unmarked(word) if strange else word

    def places(self, units: Sequence[str]) -> list[int]:
        """For each piece, the number of the word that it is of, counted from 0.

        A model may begin with a piece that begins no word. There a word begins all the same.
        """
        begins = [unit.startswith(MARK) or number == 0 for number, unit in enumerate(units)]
        return [count - 1 for count in accumulate(begins)]

    def join(self, units: Sequence[str]) -> list[str]:
        """Pieces to words."""
        places = self.places(units)
        words = [""] * len(set(places))
        for place, unit in zip(places, units, strict=True):
            words[place] += unit.removeprefix(MARK)
        return words


def join_alignment(
    alignment: np.ndarray, target: Sequence[int], source: Sequence[int]
) -> np.ndarray:
    """An alignment between pieces, joined to one between words: (T, S) to (words, source words).

    Columns are summed: the weight on a source word is that on all its pieces. Rows are averaged: a
    target word of three pieces was written in three steps, in each of which the model looked
    somewhere, and its row says where on the average. So each row still adds up to what it did, 1.

    Args:
        alignment: a row for each target piece, a column for each source piece.
        target: for each row the number of its word, see :meth:`Pieces.places`.
        source: for each column the number of its word.
    """
    rows = np.zeros((1 + max(target, default=-1), len(target)))
    rows[target, np.arange(len(target))] = 1
    rows /= rows.sum(axis=1, keepdims=True)
    columns = np.zeros((len(source), 1 + max(source, default=-1)))
    columns[np.arange(len(source)), source] = 1
    return (rows @ alignment @ columns).astype(alignment.dtype)


def strongest_links(
    weights: np.ndarray, pair: Any, source: Words, target: Words
) -> frozenset[tuple[int, int]]:
    """Each target word of a pair, linked with the source word that has the largest weight.

    Args:
        weights: (T, S), of the pair's units; what stands behind its end is left out.
        pair: of sentences.
        source, target: the ``units`` of the two vocabularies, by which weights are joined to words.
    """
    rows = target.places(pair.target)
    columns = source.places(pair.source)
    joined = join_alignment(weights[: len(rows), : len(columns)], rows, columns)
    return frozenset((int(s), t) for t, s in enumerate(joined.argmax(axis=1)))


def with_sides(pairs: Iterable[Any], source: Callable, target: Callable) -> list[Any]:
    """Pairs whose sides are made anew of their words; raw sentences and links stay."""
    return [
        replace(pair, source=tuple(source(pair.source)), target=tuple(target(pair.target)))
        for pair in pairs
    ]


def cut_pairs(pairs: Iterable[Any], source: Words, target: Words) -> list[Any]:
    """Pairs whose words are cut by the ``units`` of two vocabularies; links are between words."""
    return with_sides(pairs, source.split, target.split)


def in_pieces(corpus: Any, size: int | None, joint: bool = False) -> Any:
    """A corpus in subwords: pieces are learned from ``train``, and all pairs cut.

    Raw sentences stay, on which BLEU is measured, and known links stay between words.

    Args:
        corpus: of words.
        size: pieces a side; None leaves the corpus as it is, if ``joint`` is not asked for.
        joint: learn one list of pieces from both sides together, so that a name, or a word that
            both languages write alike, is the same piece in both (Sennrich et al. 2016, section
            3.2).

    Raises:
        ValueError: as :func:`learn_pieces`, the corpus is in pieces already, or ``joint`` without a
            size.
    """
    if size is None and joint:
        raise ValueError("joint is for subwords: say how many pieces, too")
    if size is None:
        return corpus
    if corpus.pieces:
        raise ValueError(f"{corpus.name} is in pieces already: begin with the corpus of words")
    sides = [[pair.source for pair in corpus.train], [pair.target for pair in corpus.train]]
    texts = [sides[0] + sides[1]] if joint else sides
    learned = [tuple(learn_pieces(text, size)) for text in texts]
    pieces = learned[0], learned[-1]
    units = [Pieces(side) for side in pieces]
    parts = {part: cut_pairs(pairs, *units) for part, pairs in corpus.parts.items()}
    return replace(corpus, vocabulary_size=size, pieces=pieces, **parts)


def in_words(corpus: Any) -> Any:
    """A corpus in subwords as it was before :func:`in_pieces`; one of words is itself.

    Its ``train`` are the pairs that were kept, and its vocabularies are of words again.
    """
    if not corpus.pieces:
        return corpus
    units = [Pieces(side).join for side in corpus.pieces]
    parts = {part: with_sides(pairs, *units) for part, pairs in corpus.parts.items()}
    return replace(corpus, pieces=(), **parts)
