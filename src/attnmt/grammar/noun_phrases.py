"""Noun phrases in both languages: pronouns, names, determiners, adjectives, possessors."""

from __future__ import annotations

from bisect import bisect
from collections import defaultdict
from collections.abc import Sequence
from itertools import count
from random import Random
from typing import Any

from attnmt.grammar.phrases import NOTHING, Phrase, Token, tokens
from attnmt.grammar.words import Noun, cells, ending, lexicon, names, select


class Draws:
    """Random choices, and the words that they choose; the same for a seed everywhere."""

    def __init__(self, seed: int = 0, fresh: bool = False):
        self.random = Random(seed).random
        self.fresh = fresh
        self.new_id = count(1).__next__

    def chance(self, probability: float) -> bool:
        return self.random() < probability

    def pick(self, items: Sequence[Any]) -> Any:
        return items[int(self.random() * len(items))]

    def pick_noun(self, classes: str) -> tuple:
        """A noun of some classes, preferably new to this sentence."""
        rows = select("nouns", classes=classes)
        for _ in range(4):
            noun = self.pick(rows)
            if noun.german not in self.used:
                break
        self.used.append(noun.german)
        return noun

    def words(self, english: str, german: str, kind: str, person: str = "he") -> Phrase:
        """All words of one side, linked surely to all words of the other."""
        ids = (self.new_id(),)
        return Phrase(tokens(english, kind, ids), tokens(german, kind, ids), person)

    def mark(self, word: str) -> Phrase:
        return self.words(word, word, "punctuation")

    def fixed(self, english: str, german: str, ids=()) -> Phrase:
        """Words with their classes and links: two/number/1 years/noun/2 ago/adverb/3.

        Equal numbers are linked; a word may have several, 1+2, and, after one more slash, possible
        ones: do/modal//1. `ids` gives numbers an id that they have already.
        """
        ids = defaultdict(self.new_id, ids)
        sides = ([], [])
        for found, side in zip(sides, (english, german), strict=True):
            for word, kind, *links in cells(side):
                found.append(Token(word, kind, *(tuple([ids[n] for n in part]) for part in links)))
        return Phrase(*sides)

    def adverb(self, rows) -> Phrase:
        """One of some adverbs, which may turn round: two years ago, vor zwei Jahren."""
        row = self.pick(rows)
        return self.fixed(row.english, row.german)

    def name(self, kind: str = "person") -> Phrase:
        """A name that is new to this sentence."""
        pool = names(kind)
        pair = None
        while not pair or pair[1] in self.used:
            rank = bisect(pool.sums, self.random() * pool.sums[-1], hi=len(pool.sums) - 1)
            fresh = self.fresh and self.chance(0.5)
            pair = self.pick(pool.kept) if fresh else pool.known[rank]
        self.used.append(pair[1])
        return self.words(*pair, "name")


class NounPhrases(Draws):
    """Subjects, objects, and what stands behind a preposition; `Clauses` adds their relatives."""

    def noun_phrase(self, case, classes, setting, *, definite=False, **more) -> Phrase:
        """A pronoun, a name, two phrases with and, or a full phrase (which takes `more`)."""
        draw = self.random()
        person = "person" in classes or "adult" in classes
        pronoun, name = (0.14, 0.36) if setting.rich else (0.3, 0.7)
        if person and draw < name:
            return self.pronoun(case, setting) if draw < pronoun else self.titled(case)
        row = self.pick_noun(classes)
        if setting.depth < 2 and not definite and 0.36 < draw < 0.36 + 0.12 * setting.rich:
            inner = setting.within(0.5)
            first = self.titled(case) if person else self.full_phrase(case, row, inner)
            row = self.pick_noun(classes.split()[0] if person else classes)
            second = self.full_phrase(case, row, inner)
            both = first + self.words("and", "und", "conjunction") + second
            return Phrase(both.english, both.german, "they")
        return self.full_phrase(case, row, setting, definite=definite, **more)

    def pronoun(self, case, setting, barred="") -> Phrase:
        """ich sah ihn, I saw him; the object never is the subject's own person.

        `ich` tells what was, not what is: that saves a present form of every verb.
        """
        subject = case == "nominative"
        own = "ich" if subject and setting.time == "present" else setting.subject
        rows = [row for row in lexicon("pronouns") if row.nominative not in (own, barred)]
        row = self.pick([row for row in rows if getattr(row, case)])
        english = row.subject if subject else row.object
        return self.words(english, getattr(row, case), "pronoun", person=row.agreement)

    def titled(self, case) -> Phrase:
        """Anna; or with a title, which declines: mit Herrn Krandek, with Mr. Krandek."""
        name = self.name()
        if self.chance(0.7) or select("names", kind="person", english=name.english[0].word):
            return name
        lord = "Herr" if case == "nominative" else "Herrn"
        return self.words(*self.pick((("Mr.", lord), ("Mrs.", "Frau"))), "noun") + name

    def full_phrase(
        self, case, row, setting, heavy=False, negation=0, definite=False, single=False
    ) -> Phrase:
        """Determiner, adjectives, noun, and what may follow: der alte Mann mit dem roten Hut.

        `heavy`: it may end in a relative clause. `negation`: id of a negation, which an indefinite
        phrase absorbs. `definite`, `single`: it must be.
        """
        rich = setting.rich
        modified = setting.depth < 2
        noun = Noun(row, case, bool(row.english_plural) and not single and self.chance(0.28))
        owned = "own" in row.classes and case != "genitive" and rich > 0 and not negation
        if owned and self.chance(0.05 + 0.3 * rich + 0.4 * ("kin" in row.classes)):
            return self.possessed(noun, setting)
        first, determiner = self.determiner(noun, negation, definite, setting=setting)
        phrase = first + self.core(noun, determiner.paradigm, rich)
        if modified and "adult" in row.classes and not noun.plural and self.chance(0.12 * rich):
            clothing = self.pick_noun("clothing")
            bare = setting.within(0.0)
            hat = self.full_phrase("dative", clothing, bare, single=True)
            phrase += self.words("with", "mit", "preposition") + hat
        elif modified and heavy and self.chance(0.45 * rich):
            phrase += self.relative(noun, setting)
        definite = determiner.use in ("any", "own")
        return Phrase(
            phrase.english, phrase.german, noun.person, classes=noun.classes, definite=definite
        )

    def determiner(self, noun, negation, definite, setting) -> tuple:
        """A determiner and its row: der, ein, dieser, mein, viele, drei, or none at all.

        kein answers not and, if there is one, a: not ... a book, kein Buch. ihr is their with a
        plural subject: sie kaufen ihr Auto, they buy their car.
        """
        negated = negation and "kin" not in noun.classes and self.chance(0.6)
        use = "any indefinite" + " bare" * (noun.case == "accusative")
        if "kin" in noun.classes or ("own" in noun.classes and setting.rich and self.chance(0.2)):
            use = "own"
        elif definite:
            use = "any"
        number = "plural" if noun.plural else "mass" if "mass" in noun.classes else "singular"
        row = self.pick(select("determiners", number=number, use="negative" if negated else use))
        german = row.german + ending(row.paradigm, noun.case, noun.gender)
        theirs = row.german == "ihr" and setting.plural
        shown = select("determiners", use="their")[0] if theirs else row
        phrase = self.words(shown.english, german, row.kind)
        if negated:
            phrase.german[0] = phrase.german[0].also(negation)
        return phrase, row

    def core(self, noun, paradigm, rich) -> Phrase:
        """Adjectives, quality before colour, and their noun: sehr alten roten Hüte.

        A compound is one German word for two English ones: house key, Hausschlüssel.
        """
        phrase = NOTHING
        declension = select("endings", paradigm=paradigm)[0].adjective
        for kind, share in (("quality", 0.1 + 0.4 * rich), ("color", 0.05 + 0.25 * rich)):
            rows = select("adjectives", classes=noun.classes, kind=kind)
            if rows and rich and self.chance(share):
                if kind == "quality" and self.chance(0.25 * rich):
                    phrase += self.words("very", "sehr", "adverb")
                row = self.pick(rows)
                german = row.stem + ending(declension, noun.case, noun.gender)
                phrase += self.words(row.english, german, "adjective")
        return phrase + self.words(noun.english, noun.german, "noun")

    def possessed(self, noun, setting, nested=False) -> Phrase:
        """Anna 's old dog, der alte Hund von Anna; the girl 's dog, der Hund des Mädchens.

        The owner may be owned: Anna 's friend 's dog, der Hund des Freundes von Anna.
        """
        clitic = self.new_id()
        core = self.core(noun, "der", setting.rich * 0.7)
        if self.chance(0.4):
            owner = Phrase([], tokens("von", "preposition")) + self.titled("dative")
        else:
            owner = self.owner(noun, setting.within(0.6), nested)
        owner.german[0] = owner.german[0].also(clitic)
        the = tokens("d" + ending("der", noun.case, noun.gender), "article", (), possible=(clitic,))
        english = owner.english + tokens("'s", "particle", (clitic,)) + core.english
        german = the + core.german + owner.german
        return Phrase(english, german, noun.person, classes=noun.classes)

    def owner(self, noun, inner, nested) -> Phrase:
        """The genitive of a person, who may be somebody's friend."""
        row = self.pick_noun("adult" if "kin" in noun.classes else "person")  # not both kin
        if not nested and "own" in row.classes and self.chance(0.4):
            return self.possessed(Noun(row, "genitive"), inner, nested=True)
        return self.full_phrase("genitive", row, inner, single=True)

    def prepositional(self, english: str, german: str, phrase: Phrase) -> Phrase:
        """A preposition, contracted with an article: in the garden, im Garten.

        Not if the phrase ends in a clause (in dem Haus, das ...), nor if it is two (with and).
        """
        before = self.words(english, german, "preposition")
        article = phrase.german[0]
        melted = getattr(select("prepositions", german=german)[0], article.word, "")
        if melted and phrase.person == "he" and phrase.german[-1].word != ",":
            ids = before.german[0].sure + article.sure
            before.german = [Token(melted, "preposition", ids, possible=article.possible)]
            phrase.german = phrase.german[1:]
        return before + phrase

    def place(self, setting) -> Phrase:
        """in Munich; at the station; behind the old house."""
        if self.chance(0.3):
            return self.words("in", "in", "preposition") + self.name("town")
        row = self.pick_noun("place")
        english, german = row.location.split("=")
        if "building" in row.classes and self.chance(0.4):
            english, german, *_ = self.pick(select("prepositions", use="building"))
        where = self.full_phrase("dative", row, setting.within(0.6))
        return self.prepositional(english, german, where)
