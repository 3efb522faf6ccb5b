"""A synchronous German-English grammar: sentence pairs with gold word alignments.

Both languages grow from one plan. Every constituent is built once, as a `Phrase` that holds its
English and its German tokens; tokens that translate each other share an id, and shared ids become
links. A clause is a set of phrases, one per *slot*, and the two languages differ in the order in
which they empty the slots. German uses topological fields:

    front field | left bracket  | middle field              | right bracket  | post-field
    Gestern     | hatte         | der Mann das Buch         | gekauft        | , weil er müde war
    (adverbial) | (finite verb) | (subject, objects, nicht) | (verb, prefix) | (clauses)

The words live in `lexicon/*.tsv` (see its README); this module knows only how they combine. It is a
package of its own: this module needs nothing but Python, `store` keeps on disk what was drawn, and
`attnmt.corpus` reads it.

What the source says determines the target, in both directions. Hence some silences:
- English has one *you*, so nobody is addressed but in imperatives, and they say *du*.
- *sie* is she or they, and the verb tells which. As an object it could be her, them or it, so
  there is no accusative *sie*. *ihr* before a noun is *their* if the subject of its clause is
  they, the men, Anna and the dog; else it is *her*, whoever that may be.
- English simple past is Präteritum, present perfect Perfekt. One past event takes *als*.
- A noun phrase that ends in a clause ends its clause, so that nothing after it attaches twice.
- A relative *die* or *das* is the subject (*die Frau, die das Mädchen sieht*) unless meaning (a
  book buys nothing) or form (*die Frau, die er sieht*) says that it is the object.

Every token has at least a possible link. Possible, not sure, are those of do-support (*does*), of
*to* after *want* and the helpers of *does not have to*, of *in order*, of the German article
before a thing possessed, and of commas that one language alone writes: they go with the
conjunction, pronoun or *to* that opens the clause.
"""

from __future__ import annotations

from bisect import bisect
from collections import Counter, defaultdict, namedtuple
from collections.abc import Sequence
from functools import cache
from itertools import accumulate, count
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

LEXICON = Path(__file__).parent / "lexicon"
PLAIN = "intransitive accusative dative dative+accusative preposition goal"  # need no clause
TIMES = ("past", "past", "past", "present", "present", "perfect", "perfect")


# ------------------------------------------------------------------------------------- lexicon


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


# ---------------------------------------------------------------------- tokens, phrases, clauses


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


class Phrase:
    """A constituent in both languages, and what other constituents must know of it."""

    def __init__(self, english, german, person="he", classes="person", definite=True) -> None:
        self.english = english  # a list of tokens
        self.german = german  # another
        self.person = person  # how it governs a verb: I, he, they
        self.classes = classes  # those of its noun
        self.definite = definite

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


# --------------------------------------------------------------------------------- the grammar


class Grammar:
    """Draws sentence pairs; the same for a seed everywhere, for it uses `random()` only.

    With `fresh`, half of the names are such as no other grammar ever uses.
    """

    def __init__(self, seed: int = 0, fresh: bool = False):
        self.random = Random(seed).random
        self.fresh = fresh
        self.new_id = count(1).__next__

    def sentence(self, length: int) -> tuple[list[Token], list[Token]]:
        """German and English tokens of a statement, question or order of about `length` words."""
        self.used = []
        draw = self.random()
        if length > 24 or draw > 0.14:
            phrase = self.statement(length)
        else:
            phrase = (self.question if draw < 0.09 else self.order)(richness(length))
        return commas(phrase.german), articles(phrase.english)

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
        for tokens, side in zip(sides, (english, german), strict=True):
            for word, kind, *links in cells(side):
                tokens.append(Token(word, kind, *(tuple([ids[n] for n in part]) for part in links)))
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

    # ------------------------------------------------------------------------- noun phrases

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

    def relative(self, noun, setting) -> Phrase:
        """A relative clause: , die schläft, who sleeps; , den er sieht, whom he sees."""
        person = "person" in noun.classes
        draw = self.random()
        animate = person or "animal" in noun.classes
        time = "past"
        who, whom = ("who", "whom") if person else ("that", "that")
        if setting.time in ("present", "perfect"):
            time = self.pick((setting.time, "past", "perfect", "present"))
        inner = setting.inner(time)
        if animate and draw < 0.5:
            german = "d" + ending("relative", "nominative", noun.gender)
            subject = self.words(who, german, "pronoun", person=noun.person)
            verbs = select("verbs", subject=noun.classes, frame=PLAIN)
            return self.enclosed(self.clause(inner, verbs, subject))
        if person and draw < 0.65:
            verb = self.pick(select("verbs", frame="preposition"))
        else:
            verb = self.pick(select("verbs", object=noun.classes, frame="accusative dative"))
        known = animate and verb.frame == "accusative" and noun.gender != "m"
        subject = self.pronoun("nominative", inner, barred="sie") if known else None
        clause = self.clause(inner, (verb,), subject, gap=True)
        english, german, case = governed(verb)
        pronoun = self.words(whom, "d" + ending("relative", case, noun.gender), "pronoun")
        return self.enclosed(clause, self.words(english, german, "preposition") + pronoun)

    def enclosed(self, clause, opening=NOTHING, both=False) -> Phrase:
        """A subordinate clause between German commas, which go with the word that opens it.

        That word is a conjunction, the to of an infinitive, or a relative pronoun. `both`: the
        first comma is there in English, too.
        """
        clause["opening"] += opening
        phrase = clause.read("last")
        opener = next(t for t in phrase.english if t.sure and t.kind != "preposition")
        comma = Token(",", "punctuation", (), possible=opener.sure)
        ids = (self.new_id(),) * both
        english = [comma._replace(sure=ids, possible=())] * both + phrase.english
        return Phrase(english, [comma._replace(sure=ids), *phrase.german, comma])

    # ------------------------------------------------------------------------------ clauses

    def clause(
        self, setting, verbs=(), subject=None, form="statement", gap=False, fronting=False
    ) -> Clause:
        """Fill the slots of one clause.

        `verbs`, `subject`: given ones, to choose from. `gap`: the object stands outside (a
        relative pronoun). `form`: "statement", "question", "order" or "infinitive". `fronting`:
        an adverbial may take the front field.
        """
        clause = Clause()
        rich = setting.rich
        frames = PLAIN + " clause infinitive" * (setting.depth == 0 and rich > 0.25)
        verb = self.pick(verbs or select("verbs", frame=frames))
        if form == "infinitive":
            moment = self.zu_infinitive(clause, verb)
        else:
            lean = setting._replace(rich=rich * 0.8)
            heavy = setting.depth == 0
            subject = subject or self.noun_phrase("nominative", verb.subject, lean, heavy=heavy)
            clause["subject"] = subject
            first = subject.german[0].word
            they = subject.person == "they" and first != "wir"
            setting = setting._replace(subject=first, plural=they)
            if setting.free and form == "statement" and self.chance(0.15):
                clause.negation = self.new_id()
            moment = self.finite_verb(clause, verb, setting, form=form)
        self.adverbials(clause, verb, setting, moment=moment, fronting=fronting)
        if not gap:
            self.objects(clause, verb, setting)
        self.post_field(clause, verb, setting)
        return clause

    def helper(self, setting, verb, form) -> str:
        """The auxiliary or modal of a clause, "" for none; in questions one English word."""
        if "perfect" in setting.time:
            return verb.auxiliary
        plain = form == "order" or not setting.free or "unwilled" in verb.adverbials
        if plain or self.chance(0.4 if setting.rich else 0.7):
            return ""
        keys = ("can", "must", "may", "want") if form == "statement" else ("can",)
        return self.pick(keys if setting.time == "past" else (*keys, "will", "will"))

    def finite_verb(self, clause, verb, setting, form) -> str:
        """Finite verb and right bracket: ruft ... an; kann, hat ... angerufen; but weil er anruft.

        Returns what the clause's adverbs must suit: its tense, or "modal" for what is to come.
        """
        v = (self.new_id(),)
        time = setting.time
        person = clause["subject"].person
        key = self.helper(setting, verb, form)
        if key:
            self.auxiliary(clause, key, "past" if time in ("past", "pluperfect") else "present")
            english = verb.english
            german = verb.prefix + verb.german
            if "perfect" in time:
                english = verb.participle
                german = verb.partizip
            self.full_verb(clause, english, tokens(german, "verb", v), ids=v)
            return "modal" if time == "present" else time
        english = verb.third if person == "he" else verb.english
        if clause.negation or (form == "question" and clause["subject"].german[0].word != "wer"):
            self.auxiliary(clause, "do", time, verb=v[0])
            english = verb.english
        elif time == "past":
            english = verb.past
        german = verb_form(verb, time, person)
        prefix = verb.prefix
        if setting.depth:
            german = prefix + german
            prefix = ""
        clause["finite"] = Phrase(clause["finite"].english, tokens(german, "verb", v))
        self.full_verb(clause, english, tokens(prefix, "particle", v), ids=v)
        return "modal" if form == "order" else time

    def zu_infinitive(self, clause, verb) -> str:
        """to invite, einzuladen: zu goes between prefix and verb, in one word with them."""
        v = (self.new_id(),)
        to = (self.new_id(),)
        german = tokens("zu", "particle", to) + tokens(verb.german, "verb", v)
        if verb.prefix:
            german = tokens(f"{verb.prefix}zu{verb.german}", "verb", v + to)
        clause["finite"] = Phrase(tokens("to", "particle", to), [])
        self.full_verb(clause, verb.english, german, ids=v)
        return ""

    def auxiliary(self, clause, key, tense, verb=0) -> None:
        """A finite helper, with its not if there is one; `verb`: the id that do is linked to.

        In auxiliaries.tsv, 1 is the link of the verb and 2 that of the negation.
        """
        person = clause["subject"].person
        sign = "negative" if clause.negation else "positive"
        row = select("auxiliaries", key=key, tense=tense, sign=sign, person=person)[0]
        ids = {"1": verb or self.new_id(), "2": clause.negation}
        clause["finite"] = self.fixed(row.english, row.german, ids)
        if clause.negation:
            clause["negation"] = Phrase([], tokens("nicht", "negation", (clause.negation,)))

    def full_verb(self, clause, english, german, ids) -> None:
        """picks up: verb and particle, both linked to the German verb and its prefix.

        An object pronoun stands before a true particle (pick +up: picks him up), but not before
        the preposition of listens to.
        """
        verb, _, particle = english.partition(" +")
        verb, _, preposition = verb.partition(" ")
        verbs = tokens(verb, "verb", ids) + tokens(preposition, "particle", ids)
        clause["verb"] = Phrase(verbs, german)
        clause["particle"] = Phrase(tokens(particle, "particle", ids), [])

    def adverbials(self, clause, verb, setting, moment, fronting) -> None:
        """Time, frequency, place and manner, where the verb and the tense allow them."""
        rich = setting.rich
        tags = f"{moment} {verb.adverbials}"
        kinds = ("time", "frequency", "manner")
        times, often, manners = [select("adverbs", kind=k, goes_with=tags) for k in kinds]
        final = verb.frame in PLAIN and not setting.depth  # not after a clause, nor in one
        slot = "front" if fronting and self.chance(0.3) else "time" * final
        share = 0.04 + 0.6 * rich + 0.3 * (slot == "front")
        if times and slot and "time" not in self.used and self.chance(share):
            clause[slot] = self.adverb(times)
            self.used.append("time")  # no second one before the next ; or .
        elif often and rich and setting.free and not clause.negation and self.chance(0.12):
            adverb = self.adverb(often)
            if len(clause["finite"].english) < 2:  # not: wants to often
                clause["frequency"] = adverb
        if "place" in tags and self.chance(0.04 + 0.4 * rich):
            free = fronting and not clause["front"].german and self.chance(0.3)
            clause["front" if free else "place"] = self.place(setting)
        if manners and rich and not clause.negation and self.chance(0.2):
            clause["manner"] = self.adverb(manners)

    def objects(self, clause, verb, setting) -> None:
        """The complements of the verb, by its frame."""
        last = not any(clause[slot].english for slot in ("manner", "place", "time"))
        negation = clause.negation
        more = {"heavy": last, "definite": bool(clause.negation)}
        if "dative" in verb.frame:
            behind = {"heavy": False} if "accusative" in verb.frame else {}
            what = self.noun_phrase("dative", "person", setting, **more | behind)
            clause["pronoun" if what.is_pronoun() else "dative"] = what
        if "accusative" in verb.frame:
            if clause["pronoun"].german:  # not "gives her bread", which could be hers
                negation = 0
                more["definite"] = True
            what = self.noun_phrase("accusative", verb.object, setting, negation=negation, **more)
            if negation in what.german[0].sure:  # kein has said nicht
                clause["negation"] = NOTHING
            slot = "accusative" if what.definite else "indefinite"
            clause["pronoun" if what.is_pronoun() else slot] = what
        elif verb.preposition:
            english, german, case = governed(verb)
            if verb.object == "town":
                what = self.name("town")
            elif verb.frame == "goal":
                what = self.full_phrase(case, self.pick_noun(verb.object), setting.within(0.6))
            else:
                what = self.noun_phrase(case, verb.object, setting, **more)
            clause["complement"] = self.prepositional(english, german, what)

    def post_field(self, clause, verb, setting) -> None:
        """What follows the right bracket: a dass-clause, an infinitive with zu or um ... zu."""
        purpose = "purpose" in verb.adverbials and not clause.negation and not setting.depth
        if verb.frame == "clause":
            times = {"past": ("past", "past", "pluperfect"), "pluperfect": ("past",)}
            time = self.pick(times.get(setting.time, ("present", "perfect", "past")))
            below = self.clause(setting.inner(time))
            clause["post"] = self.enclosed(below, self.words("that", "dass", "conjunction"))
        elif verb.frame == "infinitive":
            clause["post"] = self.infinitive(setting, "aim", NOTHING)
        elif purpose and self.chance(setting.rich / 2):
            um = self.fixed("in/conjunction//1 order/conjunction//1", "um/conjunction//1")
            clause["post"] = self.infinitive(setting, "plan", um)

    def infinitive(self, setting, what, opening) -> Phrase:
        """, den Hund zu suchen, to look for the dog; , um ... zu, in order to."""
        verbs = select("verbs", adverbials=what)
        inner = setting.inner()._replace(subject=setting.subject, plural=setting.plural)
        clause = self.clause(inner, verbs, form="infinitive")
        return self.enclosed(clause, opening)

    def copula(self, setting) -> Clause:
        """der Hund ist müde, the dog is tired: an adjective of state, without an ending."""
        clause = Clause()
        classes = self.pick(("person", "person", "animal"))
        clause["subject"] = self.noun_phrase("nominative", classes, setting._replace(rich=0.0))
        if setting.free and self.chance(0.15):
            clause.negation = self.new_id()
        self.auxiliary(clause, "be", "past" if setting.time == "past" else "present")
        row = self.pick(select("adjectives", classes=clause["subject"].classes, kind="state"))
        degree = self.words("very", "sehr", "adverb") if self.chance(0.3) else NOTHING
        clause["complement"] = degree + self.words(row.english, row.german, "adjective")
        return clause

    # ---------------------------------------------------------------------------- sentences

    def subordinate(self, setting) -> tuple:
        """A clause whose conjunction fits the main clause's time, and the conjunction's row."""
        row = self.pick(select("conjunctions", times=setting.time))
        time = row.tense or ("present" if setting.time == "perfect" else setting.time)
        inner = setting.inner(time, free=row.free == "yes")
        copula = row.state == "yes" and self.chance(0.12)
        clause = self.copula(inner) if copula else self.clause(inner)
        clause["opening"] = self.words(row.english, row.german, "conjunction")
        return clause, row

    def main_clause(self, setting, front=NOTHING) -> Phrase:
        """A main clause, perhaps with a subordinate clause in its front field or after it."""
        draw = self.random()
        share = 0.3 * setting.rich
        if front is NOTHING and draw < share:
            front = self.subordinate(setting)[0].read("last") + self.mark(",")
        plain = setting.time != "perfect" and self.chance(0.07)
        clause = self.copula(setting) if plain else self.clause(setting, fronting=front is NOTHING)
        clause["front"] += front
        phrase = clause.read("second")
        if draw > 1 - share and not clause["post"].german:
            phrase += self.trailing(setting)
        return phrase

    def trailing(self, setting) -> Phrase:
        """, weil er müde war, because he was tired; before although English too has a comma."""
        clause, row = self.subordinate(setting)
        return self.enclosed(clause, both=row.comma == "yes")

    def joined(self, left, setting) -> Phrase:
        """One more main clause: , and (und); , but (, aber); , so (, deshalb, inverting); or ;"""
        draw = self.random()
        if draw < 0.45:
            link = self.words("and", "und", "conjunction")
            comma = Token(",", "punctuation", (), possible=link.english[0].sure)
            if left.german[-1].word == ",":  # a clause has ended: German has the comma, too
                comma = comma._replace(sure=(self.new_id(),), possible=())
                left.german[-1] = left.german[-1]._replace(sure=comma.sure)
            return left + Phrase([comma], []) + link + self.main_clause(setting)
        if draw > 0.75:
            setting = setting._replace(time=self.pick(TIMES))
            self.used = []
            return left + self.mark(";") + self.main_clause(setting)
        left += self.mark(",")
        if draw < 0.65:
            return left + self.words("but", "aber", "conjunction") + self.main_clause(setting)
        return left + self.main_clause(setting, self.fixed("so/conjunction/1", "deshalb/adverb/1"))

    def statement(self, length: int) -> Phrase:
        """Main clauses until about `length` words are said, and a full stop."""
        time = self.pick(TIMES)
        phrase = NOTHING
        room = length - 1
        while room > 4 or phrase is NOTHING:
            clauses = max(1, round(room / (14 + 14 * self.random())))
            setting = Setting(time, richness(room / clauses))
            first = phrase is NOTHING
            phrase = self.main_clause(setting) if first else self.joined(phrase, setting)
            room = length - len(phrase.german) - 1
        return phrase + self.mark(".")

    def question(self, rich: float) -> Phrase:
        """Verb first, or a wh-word in the front field: wer, was, wen, wem, warum, wo, wann."""
        setting = Setting(self.pick(TIMES), rich)
        draw = self.random()
        order = "second"
        if draw < 0.15:
            who = self.words("who", "wer", "pronoun")
            return self.clause(setting, subject=who, form="question").read(order) + self.mark("?")
        if draw < 0.4:  # wer and was decline like der and das
            row = self.pick(select("questions", gender="m n"))
            verb = self.pick(select("verbs", object=row.classes, frame="accusative dative"))
            clause = self.clause(setting, (verb,), form="question", gap=True)
            front = self.words(
                row.english, row.german + ending("der", verb.frame, row.gender), "pronoun"
            )
        else:
            clause = self.clause(setting, form="question")
            rows = select("questions", times=setting.time)
            rows = [row for row in rows if not any(clause[s].german for s in row.without.split())]
            row = self.pick(rows)
            front = self.words(row.english, row.german, "adverb")
            if clause["post"].german or self.chance(0.4):
                front = NOTHING
                order = "first"
        clause["front"] = front
        return clause.read(order, "question") + self.mark("?")

    def order(self, rich: float) -> Phrase:
        """Anna , ruf ... an !: an order to one friend."""
        verbs = [verb for verb in select("verbs", frame=PLAIN) if verb.imperative]
        setting = Setting("present", rich)
        you = self.words("you", "du", "pronoun", person="you")
        clause = self.clause(setting, verbs, you, form="order")
        phrase = clause.read("order", "order")
        draw = self.random()
        if draw < 0.35:
            phrase = self.name() + self.mark(",") + phrase
        elif draw < 0.6:
            phrase = self.words("please", "bitte", "adverb") + phrase
        if not clause["post"].german and self.chance(0.3 * rich):
            phrase += self.trailing(setting)
        return phrase + self.mark("!")


# ------------------------------------------------------------------------- from plan to sample


def richness(length: float) -> float:
    """How rich a clause of about that many words is."""
    return min(1.2, max(0.0, (length - 6) / 11))


def articles(tokens: list[Token]) -> list[Token]:
    """a becomes an before a vowel."""
    for i, token in enumerate(tokens[:-1]):
        if token.word == "a" and tokens[i + 1].word[0] in "aeio":
            tokens[i] = token._replace(word="an")
    return tokens


def commas(tokens: list[Token]) -> list[Token]:
    """One comma where two clauses meet, none before another mark."""
    kept: list[Token] = []
    for token in tokens:
        if kept and kept[-1].word == "," and token.word in (",", ".", "?", "!", ";"):
            last = kept.pop()
            if token.word == ",":
                sure = last.sure + token.sure
                possible = last.possible + token.possible
                token = Token(",", token.kind, sure, possible=possible)
        kept.append(token)
    return kept


def linked(german: list[Token], english: list[Token]) -> Sample:
    """Turn shared ids into links: sure if both tokens hold the id surely, else possible."""
    surely = defaultdict(list)  # of an id, the German words that hold it
    possibly = defaultdict(list)
    for i, (_, _, sure, possible) in enumerate(german):
        for key in sure:
            surely[key].append(i)
        for key in possible:
            possibly[key].append(i)
    links = []
    doubtful = []
    for j, (_, _, sure, possible) in enumerate(english):
        for key in sure:
            links += [(i, j) for i in surely[key]]
            doubtful += [(i, j) for i in possibly[key]]
        for key in possible:
            doubtful += [(i, j) for i in surely[key] + possibly[key]]
    german_words, german_kinds, *_ = zip(*german, strict=True)
    words, kinds, *_ = zip(*english, strict=True)
    sets = [frozenset(sorted(found)) for found in (links, links + doubtful)]
    return Sample(german_words, words, *sets, german_classes=german_kinds, english_classes=kinds)


def written(words: tuple[str, ...]) -> str:
    """Words as a sentence is written: a capital first, no space before a mark or an 's."""
    text = " ".join(words)
    for closer in (",", ".", ";", "?", "!", "'s"):
        text = text.replace(f" {closer}", closer)
    return text[0].upper() + text[1:]


# ------------------------------------------------------------------------------ many sentences


def quotas(count: int, lengths: range, fade: int = 0) -> dict[int, int]:
    """Share `count` sentences among `lengths`, evenly; above `fade` words they become rarer."""
    sums = list(accumulate(fade / max(length, fade) if fade else 1.0 for length in lengths))
    ends = [round(count * part / sums[-1]) for part in sums]
    return {length: ends[i] - (ends[i - 1] if i else 0) for i, length in enumerate(lengths)}


def fill(grammar: Grammar, quota: dict[int, int], side: int, seen: set) -> list[Sample]:
    """Draw samples until every length has its quota; `side` 0 counts German words, 1 English.

    No sentence in `seen` comes again, on either side; those drawn are added to it. Raises
    ValueError with the lengths that the grammar has no more sentences for.
    """
    left = +Counter(quota)
    samples = []
    misses = 0
    while left:
        lengths = list(left)
        aim = max(grammar.pick(lengths), grammar.pick(lengths), key=left.get)
        sides = grammar.sentence(aim)
        length = len(sides[side])
        words = [tuple([t.word for t in tokens]) for tokens in sides] if length in left else []
        fresh = words and not (grammar.fresh and fresh_names().isdisjoint(words[0]))
        if not fresh or not seen.isdisjoint(words):
            misses += 1
            if misses > 3_000:
                raise ValueError(f"no more sentences of {', '.join(map(str, lengths))} words")
            continue
        misses = 0
        seen.update(words)
        samples.append(linked(*sides))
        left[length] -= 1
        if not left[length]:
            del left[length]
    return sorted(samples, key=lambda _: grammar.random())  # rare lengths were drawn last
