"""Sentences cut into words by the rules of Moses, and joined again so that nothing is lost.

The library sacremoses cuts and joins. Its way to join guesses where spaces were, and for much text
it guesses wrong: *geht's*, *5 € pro Tag*, *and/or*. So a word can carry a mark at either end, for
the places where the guess is wrong and there alone: ``‿`` says that no space is there, and ``␣``
that one is. ``geht's`` is cut into ``geht ‿' s``, and comes back as it was.

A mark stands on a punctuation mark rather than on a word beside it, so that no word is two words.
"""

import re
from collections.abc import Sequence
from functools import cache
from itertools import pairwise

from sacremoses import MosesDetokenizer, MosesTokenizer

from attnmt.text.characters import depends

TIED = "‿"  # no space is here, where Moses would write one
APART = "␣"  # a space is here, where Moses would write none
MARKS = (TIED, APART)
PARTS = re.compile(f"([{TIED}{APART}]?)(.+?)([{TIED}{APART}]?)", re.DOTALL)

tokeniser = cache(MosesTokenizer)  # one for each language
detokeniser = cache(MosesDetokenizer)


@cache
def _alone(character: str) -> bool:
    """Whether Moses would cut a character off that is of the one before it."""
    return depends(character) and character not in MosesTokenizer.IsAlnum


def cut(text: str, language: str) -> list[str]:
    """The words and punctuation marks of a sentence, without marks.

    Accents, Thai tones and joiners stay with the letter that they are of.
    """
    letters = _letters(text)
    bare = "".join(letter[0] for letter in letters)
    words = tokeniser(language).tokenize(bare, escape=False)
    if "".join(words) != bare.replace(" ", ""):
        words = bare.split()  # it holds a word that sacremoses itself writes for dots
    left = (letter for letter in letters if letter != " ")
    return ["".join(next(left) for _ in word) for word in words]


def _letters(text: str) -> list[str]:
    """Characters, each with those behind it that are of it and that Moses would cut off."""
    letters: list[str] = []
    for character in text:
        if _alone(character) and letters and letters[-1] != " ":
            letters[-1] += character
        else:
            letters.append(character)
    return letters


def usual_spaces(words: Sequence[str], language: str) -> list[bool]:
    """Whether Moses writes a space before each of some words."""
    joined = detokeniser(language).detokenize(list(words), unescape=False)
    spaces = []
    place = 0
    for word in words:
        space = joined.startswith(" ", place)
        place += space
        if not joined.startswith(word, place):  # Moses has a rule for such a word: @-@
            return [bool(number) for number in range(len(words))]
        place += len(word)
        spaces.append(space)
    return spaces


def mark(words: Sequence[str], language: str, text: str, lower: bool) -> list[str]:
    """Words with the marks that :func:`join` needs to write the text again."""
    found = [word.lower() for word in words] if lower else list(words)
    usual = usual_spaces(found, language)
    place = 0
    for number, word in enumerate(words):
        space = text.startswith(" ", place)
        place += space + len(word)
        if space != usual[number]:
            which = APART if space else TIED
            if _bears_mark(words[number - 1], word):
                found[number] = which + found[number]
            else:
                found[number - 1] += which
    return found


def _bears_mark(left: str, right: str) -> bool:
    """Of two neighbours, whether the right one gets the mark: rather none that has letters."""
    if left in MARKS or right in MARKS:  # of the text itself: what stands there is not doubled
        return left in MARKS
    worded = [any(map(str.isalnum, word)) for word in (left, right)]
    return worded != [False, True]


def _parted(word: str) -> tuple[str, str, str]:
    """The mark at the left end, the word itself, the mark at the right end."""
    found = PARTS.fullmatch(word)
    return (found[1], found[2], found[3]) if found else ("", word, "")


def unmarked(word: str) -> str:
    """A word without its marks."""
    return word if word.isalnum() else _parted(word)[1]


def join(words: Sequence[str], language: str) -> str:
    """Words as a sentence: with Moses' spaces, but where a mark says otherwise."""
    if not any(sign in word for word in words for sign in MARKS):
        return detokeniser(language).detokenize(list(words), unescape=False)
    parts = [_parted(word) for word in words]
    spaces = usual_spaces([word for _, word, _ in parts], language)
    text = parts[0][1]
    for ((_, _, left), (right, word, _)), usual in zip(pairwise(parts), spaces[1:], strict=True):
        signs = left + right
        space = TIED not in signs if signs else usual
        text += " " * space + word
    return text
