"""What sentences are built of: tokens with their links, phrases in both languages, clauses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from attnmt.grammar.words import select


class Token(NamedTuple):
    """A word, its class, and the ids that link it surely or possibly to the other language."""

    word: str
    kind: str
    sure: tuple = ()
    possible: tuple = ()

    def also(self, link: int) -> Token:
        """The same, with one more sure link."""
        return self._replace(sure=(*self.sure, link))


def tokens(text: str, kind: str, sure: tuple = (), possible: tuple = ()) -> list[Token]:
    """The words of a text, all of one class and with the same links."""
    if " " not in text:  # most are one word, and this is the busiest line of all
        return [Token(text, kind, sure, possible=possible)] if text else []
    return [Token(word, kind, sure, possible=possible) for word in text.split()]


@dataclass(eq=False)
class Phrase:
    """A constituent in both languages, and what other constituents must know of it."""

    english: list[Token]
    german: list[Token]
    person: str = "he"  # how it governs a verb: I, he, they
    classes: str = "person"  # those of its noun
    definite: bool = True

    def __add__(self, other: Phrase) -> Phrase:
        return Phrase(self.english + other.english, self.german + other.german, self.person)

    def is_pronoun(self) -> bool:
        """Whether it moves to the head of the middle field: gestern hat ihn der Mann gesehen."""
        return [token.kind for token in self.german] == ["pronoun"]


NOTHING = Phrase([], [])


class Clause(dict):
    """Slots filled with phrases. In which order they are read out, `orders.tsv` says."""

    negation = 0  # the id of its negation

    def __missing__(self, slot: str) -> Phrase:
        return NOTHING

    def read(self, german: str, english: str = "statement") -> Phrase:
        """Both languages; `german`: the finite verb's position, or "order", which drops du."""
        if german == "second" and not self["front"].german:
            german = "subject"
        elif german in ("first", "second"):
            german = "front+pronoun" if self["subject"].is_pronoun() else "front+noun"
        sides = []
        for language, order in (("english", english), ("german", german)):
            slots = select("orders", language=language, order=order)[0].slots.split()
            filled = [getattr(self[slot], language) for slot in slots if slot in self]
            sides.append([token for side in filled for token in side])
        return Phrase(*sides)


class Setting(NamedTuple):
    """What a constituent must know of its surroundings."""

    time: str  # past, present, perfect or pluperfect
    rich: float  # from 0, bare, to 1 or so, many modifiers
    depth: int = 0  # in how many clauses or phrases it is embedded
    free: bool = True  # whether a modal or a negation makes sense in its clause
    subject: str = ""  # the German subject, so that nobody sees himself
    plural: bool = False  # whether that is "they" or plural: then ihr means their, not her

    def inner(self, time: str = "", free: bool = True) -> Setting:
        """The setting of an embedded clause, whose subject comes later: deeper, and plainer."""
        return Setting(time or self.time, self.rich * 0.8, self.depth + 1, free=free)

    def within(self, share: float) -> Setting:
        """The setting of an embedded noun phrase, which holds no clause."""
        return self._replace(rich=self.rich * share, depth=2)


class Sample(NamedTuple):
    """One sentence pair; links are (German index, English index), counted from 0."""

    german: tuple[str, ...]
    english: tuple[str, ...]
    sure: frozenset[tuple[int, int]]
    possible: frozenset[tuple[int, int]]
    german_classes: tuple[str, ...]
    english_classes: tuple[str, ...]
