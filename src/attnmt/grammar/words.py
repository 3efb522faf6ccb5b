"""The words of the grammar: tables, forms, and names.

The words live in `lexicon/*.tsv` (see its README). This module reads them, and inflects what a
table does not list.
"""

from __future__ import annotations

from collections import namedtuple
from functools import cache
from itertools import accumulate
from pathlib import Path
from random import Random

LEXICON = Path(__file__).parent / "lexicon"


@cache
def lexicon(name: str) -> tuple:
    """Rows of `lexicon/<name>.tsv` as named tuples, `-` read as empty, by `weight` if it has one.

    Raises ValueError with file and line if a row has another number of columns than the header.
    """
    path = LEXICON / f"{name}.tsv"
    lines = enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
    table = [(n, line.split("\t")) for n, line in lines if line.strip() and line[0] != "#"]
    header = namedtuple(name, table[0][1])
    rows = []
    for number, cells in table[1:]:
        if len(cells) != len(header._fields):
            raise ValueError(
                f"{path}, line {number}: {len(cells)} columns, but the header names "
                f"{len(header._fields)}. Separate columns by one tab and write - for none."
            )
        row = header(*("" if cell == "-" else cell for cell in cells))
        rows += [row] * int(getattr(row, "weight", 1))
    return tuple(rows)


@cache
def select(name: str, **columns: str) -> tuple:
    """Rows that have, in every column named, one of the words asked for.

    select("nouns", classes="person animal") is all people and all animals.
    """
    asked = [(column, set(words.split())) for column, words in columns.items()]

    def fits(row) -> bool:
        return all(not words.isdisjoint(getattr(row, column).split()) for column, words in asked)

    return tuple(row for row in lexicon(name) if fits(row))


@cache
def ending(paradigm: str, case: str, gender: str) -> str:
    """The ending of a paradigm; gender is m, f, n, or p: ending("weak", "dative", "f") is en."""
    return getattr(select("endings", paradigm=paradigm, case=case)[0], gender)


def verb_form(verb, tense: str, person: str) -> str:
    """Present or Präteritum: er kauft, wir kaufen, kauf; ich kaufte, wir kauften."""
    if tense == "present":
        return {"he": verb.er, "you": verb.imperative}.get(person, verb.german)
    plural = "n" if verb.preterite.endswith("e") else "en"
    return verb.preterite + plural * (person == "they")


@cache
def governed(verb) -> list[str]:
    """English and German preposition, if any, and case: ["for", "auf", "accusative"]."""
    government = verb.preposition or f"=+{verb.frame}"
    return government.replace("=", "+").split("+")


class Noun:
    """A row of the nouns in its case and number: den Studenten, des Hundes, mit den Hunden."""

    def __init__(self, row, case: str, plural: bool = False):
        self.classes = row.classes
        self.case = case
        self.plural = plural
        self.gender, self.person = ("p", "they") if plural else (row.gender, "he")
        self.english = row.english_plural if plural else row.english
        weak = row.declension == "weak" and case != "nominative"
        self.german = row.genitive if weak or case == "genitive" else row.german
        if plural:
            self.german = row.plural + "n" * (case == "dative" and row.plural[-1] not in "ns")


@cache
def cells(marked: str) -> list[tuple]:
    """Word, class, sure and possible links: "ago/adverb/3" is [("ago", "adverb", ["3"], [])]."""
    rows = [(*cell.split("/"), "", "")[:4] for cell in marked.split()]
    return [
        (word, kind, *([n for n in part.split("+") if n] for part in links))
        for word, kind, *links in rows
    ]


# --------------------------------------------------------------------------------------- names


# (English, German) names by rank, those kept for fresh grammars, and the sums of their frequencies.
Names = namedtuple("Names", "known kept sums")


@cache
def names(kind: str) -> Names:
    """Names of people or towns, by Zipf's law: a few known ones, then a long made-up tail.

    One made-up name in eight is kept aside. They are always the same: Brandek, Lortburg.
    """
    random = Random(7).random
    made = {}
    parts = [select("names", kind=part) for part in ("onset", "vowel", "coda", f"{kind}-ending")]
    while len(made) < (1200 if kind == "person" else 400):
        made["".join(part[int(random() * len(part))].english for part in parts)] = True
    tail = [(name, name) for name in made]
    known = [(row.english, row.german) for row in select("names", kind=kind)]
    known += [name for number, name in enumerate(tail) if number % 8 != 7]
    return Names(known, tail[7::8], list(accumulate(1 / (rank + 3) for rank in range(len(known)))))


@cache
def fresh_names() -> frozenset[str]:
    """The names that are kept for fresh grammars."""
    return frozenset(german for kind in ("person", "town") for _, german in names(kind).kept)
