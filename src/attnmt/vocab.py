"""Words and numbers: tokenise, detokenise, and the vocabulary between words and indices.

A sentence travels ``text -> words -> indices`` into a model and ``indices -> words -> text`` out of
it. The tokeniser is Moses's (by sacremoses), the one both papers' data went through. Where words
are cut into subwords, these stand in the words' place: see ``attnmt.text.subwords``.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from sacremoses import MosesDetokenizer, MosesTokenizer

from attnmt.checks import whole
from attnmt.text.subwords import Pieces, Words

PAD, UNK, BOS, EOS = range(4)
SPECIALS = ("<pad>", "<unk>", "<s>", "</s>")


_tokeniser = cache(MosesTokenizer)  # one for each language
_detokeniser = cache(MosesDetokenizer)


def tokenise(text: str, language: str, lower: bool = False) -> list[str]:
    """Split a sentence into words and punctuation marks, by the rules of Moses.

    Args:
        text: one sentence.
        language: two letters, ``"de"`` or ``"en"``; it decides on apostrophes and abbreviations.
        lower: write everything in lower case.
    """
    words = _tokeniser(language).tokenize(text, escape=False)
    return [word.lower() for word in words] if lower else words


def abbreviations(language: str) -> list[str]:
    """What keeps its full stop in :func:`tokenise`, as ``Dr`` does.

    With `` #NUMERIC_ONLY#`` behind it: before a number only.
    """
    return list(_tokeniser(language).NONBREAKING_PREFIXES)


def detokenise(words: Sequence[str], language: str) -> str:
    """Join words to a sentence as it is written: no space before a full stop."""
    return _detokeniser(language).detokenize(list(words), unescape=False)


class Vocabulary:
    """A fixed list of words, each with its index, and the four special symbols in front.

    ``<pad>`` 0 fills the end of short sentences in a batch, ``<unk>`` 1 stands for every word that
    is not in the list, ``<s>`` 2 starts and ``</s>`` 3 ends a target sentence.

    Args:
        words: the words in the order of their indices, without the special symbols.
        language: the language they are of, for ``tokenise`` and ``detokenise``.
        lower: whether sentences are lower-cased on their way in.
        subwords: whether the words are pieces of words, in the order in which they were learned.

    Attributes:
        units: cuts words into what the list holds, and joins it to words again.
    """

    def __init__(
        self, words: Iterable[str], language: str, lower: bool = False, *, subwords: bool = False
    ):
        self.words = SPECIALS + tuple(words)
        self.language = language
        self.lower = lower
        self.units = Pieces(self.words[len(SPECIALS) :]) if subwords else Words()
        self._index = {word: index for index, word in enumerate(self.words)}
        if len(self._index) < len(self.words):
            twice = next(w for w, count in Counter(self.words).items() if count > 1)
            raise ValueError(f"the word {twice!r} stands twice in the vocabulary")

    @classmethod
    def build(
        cls, sentences: Iterable[Sequence[str]], size: int, language: str, lower: bool = False
    ) -> "Vocabulary":
        """Take the ``size`` most frequent words of some sentences; ties in alphabetical order."""
        whole(1, size=size)
        counts = Counter(word for sentence in sentences for word in sentence)
        for special in SPECIALS:  # a text that spells "<s>" must not forge the symbol
            counts.pop(special, None)
        by_frequency = sorted(counts, key=lambda word: (-counts[word], word))
        return cls(by_frequency[:size], language, lower)

    @property
    def arguments(self) -> dict[str, Any]:
        """What makes this vocabulary again, as ``Vocabulary(**arguments)``."""
        return {
            "words": self.words[len(SPECIALS) :],
            "language": self.language,
            "lower": self.lower,
        } | ({"subwords": True} if self.units.mark else {})

    def __len__(self) -> int:
        """The number of words, special symbols included."""
        return len(self.words)

    def __contains__(self, word: str) -> bool:
        """Whether it is a word of the list; a special symbol is not."""
        return self._index.get(word, UNK) > EOS

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Vocabulary):
            return NotImplemented
        return self.arguments == other.arguments

    def encode(self, words: Iterable[str]) -> list[int]:
        """Words to indices. A word that is not in the list, or forges a special symbol, is UNK."""
        return [self._index[word] if word in self else UNK for word in words]

    def decode(self, indices: Iterable[int]) -> list[str]:
        """Indices to words."""
        return [self.words[index] for index in indices]

    def tokenise(self, text: str) -> list[str]:
        """Split a sentence the way this vocabulary's words were split, into words or subwords.

        The first word loses its capital if it is known only without: *Das* becomes *das*.
        """
        words = tokenise(text, self.language, self.lower)
        if words and self.units.mark + words[0] not in self:
            small = words[0][:1].lower() + words[0][1:]
            if self.units.mark + small in self:
                words = [small, *words[1:]]
        return self.units.split(words)

    def detokenise(self, words: Sequence[str]) -> str:
        """Join words, or subwords, of this vocabulary's language to a sentence."""
        return detokenise(self.units.join(words), self.language)
