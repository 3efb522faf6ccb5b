"""Words and numbers: tokenise, detokenise, and the vocabulary between words and indices.

A sentence travels ``text -> words -> indices`` into a model and ``indices -> words -> text`` out of
it. The tokeniser is Moses's (``attnmt.text.moses``), the one both papers' data went through.
Where words are cut into subwords, these stand in the words' place: see ``attnmt.text.subwords``.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from attnmt.checks import flag, one_of, text_of, whole
from attnmt.text import moses
from attnmt.text.characters import clean
from attnmt.text.subwords import SPECIALS, Pieces, Words

PAD, UNK, BOS, EOS = range(4)
TOKENISERS = ("moses", "spaces")
ALIKE = ("'’‘ʼ`´", '"“”„', "-‐‑")  # signs that one means alike, whichever one types


def words_of(words: Iterable[str]) -> list[str]:
    """Words as a list.

    Raises:
        TypeError: they are one text, or no strings.
    """
    if isinstance(words, str) or not isinstance(words, Iterable):
        raise TypeError(f"words must be a list of words, not {words!r}")
    found = list(words)
    if strange := [word for word in found if not isinstance(word, str)]:
        raise TypeError(f"words must be strings, not {strange[0]!r}")
    return found


def tokenise(text: str, language: str, lower: bool = False, *, marks: bool = True) -> list[str]:
    """Split a sentence into words and punctuation marks, by the rules of Moses.

    :func:`detokenise` joins them to the same sentence. Where it could not know how, a word carries
    a mark (``attnmt.text.moses``): ``‿`` for a place without a space, ``␣`` for one with a space.

    >>> tokenise("Der Hund schläft.", "de")
    ['Der', 'Hund', 'schläft', '.']
    >>> tokenise("Wie geht's?", "de")
    ['Wie', 'geht', "‿'", 's', '?']

    Args:
        text: one sentence; first brought into the form of ``attnmt.text.characters.clean``.
        language: two letters, such as ``"de"``; it decides on apostrophes and abbreviations.
        lower: write everything in lower case.
        marks: whether words may carry marks. What a model only reads needs none.

    Raises:
        TypeError: the text is no string.
    """
    text_of(text=text, language=language)
    flag(lower=lower, marks=marks)
    text = clean(text)
    words = moses.cut(text, language)
    if marks:
        return moses.mark(words, language, text, lower=lower)
    return [word.lower() for word in words] if lower else words


def split(
    text: str, language: str, lower: bool = False, *, tokeniser: str = "moses", marks: bool = True
) -> list[str]:
    """Split a sentence by Moses, see :func:`tokenise`, or where it has spaces."""
    one_of(TOKENISERS, tokeniser=tokeniser)
    if tokeniser == "moses":
        return tokenise(text, language, lower, marks=marks)
    text_of(text=text)
    text = clean(text)
    return (text.lower() if lower else text).split()


def abbreviations(language: str) -> list[str]:
    """What keeps its full stop in :func:`tokenise`, as ``Dr`` does.

    With `` #NUMERIC_ONLY#`` behind it: before a number only.
    """
    return list(moses.tokeniser(language).NONBREAKING_PREFIXES)


def detokenise(words: Sequence[str], language: str) -> str:
    """Join words to a sentence as it is written: no space before a full stop.

    >>> detokenise(["Der", "Hund", "schläft", "."], "de")
    'Der Hund schläft.'
    """
    words = words_of(words)
    text_of(language=language)
    return moses.join([word for word in words if word], language)


class Vocabulary:
    """A fixed list of words, each with its index, and the four special symbols in front.

    ``<pad>`` 0 fills the end of short sentences in a batch, ``<unk>`` 1 stands for every word that
    is not in the list, ``<s>`` 2 starts and ``</s>`` 3 ends a target sentence.

    >>> vocabulary = Vocabulary(["der", "Hund"], "de")
    >>> vocabulary.encode(["der", "Hund", "bellt"])
    [4, 5, 1]
    >>> vocabulary.decode([4, 5, 1])
    ['der', 'Hund', '<unk>']

    Args:
        words: the words in the order of their indices, without the special symbols.
        language: the language they are of, for ``tokenise`` and ``detokenise``.
        lower: whether sentences are lower-cased on their way in.
        subwords: whether the words are pieces of words, in the order in which they were learned.
        tokeniser: ``"moses"``, or ``"spaces"``: sentences are in words already, with spaces
            between them.

    Attributes:
        units: cuts words into what the list holds, and joins it to words again.
        marks: whether words of the list carry the marks of :func:`tokenise`.

    Raises:
        ValueError: a word stands in the list twice.
    """

    def __init__(
        self,
        words: Iterable[str],
        language: str,
        lower: bool = False,
        *,
        subwords: bool = False,
        tokeniser: str = "moses",
    ):
        text_of(language=language)
        flag(lower=lower, subwords=subwords)
        one_of(TOKENISERS, tokeniser=tokeniser)
        self.words = SPECIALS + tuple(words_of(words))
        self.language = language
        self.lower = lower
        self.tokeniser = tokeniser
        self.units = Pieces(self.words[len(SPECIALS) :]) if subwords else Words()
        self.marks = any(sign in word for word in self.words for sign in moses.MARKS)
        letters = set("".join(self.words[len(SPECIALS) :]))
        alike: dict[str, str] = {}
        for signs in ALIKE:
            if known := [sign for sign in signs if sign in letters]:
                alike |= dict.fromkeys(set(signs) - letters, known[0])
        self._typed = str.maketrans(alike)
        self._index = {word: index for index, word in enumerate(self.words)}
        if len(self._index) < len(self.words):
            twice = next(w for w, count in Counter(self.words).items() if count > 1)
            raise ValueError(f"the word {twice!r} stands twice in the vocabulary")

    @classmethod
    def build(
        cls,
        sentences: Iterable[Sequence[str]],
        size: int,
        language: str,
        lower: bool = False,
        tokeniser: str = "moses",
    ) -> "Vocabulary":
        """Take the ``size`` most frequent words of some sentences; ties in alphabetical order."""
        whole(1, size=size)
        counts = Counter(word for sentence in sentences for word in sentence)
        for special in SPECIALS:  # a text that spells "<s>" must not forge the symbol
            counts.pop(special, None)
        by_frequency = sorted(counts, key=lambda word: (-counts[word], word))
        return cls(by_frequency[:size], language, lower, tokeniser=tokeniser)

    @property
    def arguments(self) -> dict[str, Any]:
        """What makes this vocabulary again, as ``Vocabulary(**arguments)``."""
        found: dict[str, Any] = {
            "words": self.words[len(SPECIALS) :],
            "language": self.language,
            "lower": self.lower,
        }
        found |= {"subwords": True} if self.units.mark else {}
        return found | ({} if self.tokeniser == "moses" else {"tokeniser": self.tokeniser})

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
        """Words to indices. A word that is not in the list, or forges a special symbol, is UNK.

        One that is known only without its marks is read without them.
        """
        words = words_of(words)
        return [
            self._index[known] if (known := self._known(word)) in self else UNK for word in words
        ]

    def _known(self, word: str) -> str:
        """The word, or without marks where the list has none like it."""
        return word if word in self or self.units.mark else moses.unmarked(word)

    def decode(self, indices: Iterable[int]) -> list[str]:
        """Indices to words.

        Raises:
            ValueError: there is no such index.
        """
        found = [int(index) for index in indices]
        if wrong := [index for index in found if not 0 <= index < len(self.words)]:
            raise ValueError(f"indices must be from 0 to {len(self.words) - 1}, not {wrong[0]}")
        return [self.words[index] for index in found]

    def tokenise(self, text: str, tokeniser: str | None = None) -> list[str]:
        """Split a sentence the way this vocabulary's words were split, into words or subwords.

        The first word loses its capital if it is known only without: *Das* becomes *das*. Where no
        word has a sign such as ’, it is read as the one like it that there is: ' (``ALIKE``).

        Args:
            text: one sentence.
            tokeniser: ``"spaces"`` if the sentence is in words already, whatever the vocabulary's
                own were.
        """
        tokeniser = self.tokeniser if tokeniser is None else tokeniser
        text_of(text=text)
        text = text.translate(self._typed)
        words = split(text, self.language, self.lower, tokeniser=tokeniser, marks=self.marks)
        if words and self.units.mark + words[0] not in self:
            small = words[0][:1].lower() + words[0][1:]
            if self.units.mark + small in self:
                words = [small, *words[1:]]
        return self.units.split(words)

    def detokenise(self, words: Sequence[str]) -> str:
        """Join words, or subwords, of this vocabulary's language to a sentence."""
        joined = self.units.join(words)
        return " ".join(joined) if self.tokeniser == "spaces" else detokenise(joined, self.language)
