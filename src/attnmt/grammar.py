"""A synchronous German-English grammar: sentence pairs with gold word alignments.

Both languages grow from one plan. Every constituent is built once, as a `Phrase` that holds its
English and its German tokens; tokens that translate each other share an id, and shared ids become
links. A clause is a set of such phrases, one per *slot*, and the two languages differ in the order
in which they empty the slots. German uses topological fields:

    front field | left bracket  | middle field           | right bracket | post-field
    Gestern     | hat           | der Mann ein Buch      | gekauft       | , weil er müde war
    (adverbial) | (finite verb) | (subject, objects ...) | (verb, prefix)| (subordinate clause)

The words live in `lexicon/*.tsv` (see its README); this module knows only how they combine.

What the source says determines the target, in both directions. Hence some silences:
- *Sie* (polite), *du* and *ihr* never are subjects, since English has one *you*; only imperatives
  speak to somebody, and they say *du*.
- *sie* is she or they, and the verb tells which; as an object it could be her, them or it, so
  the grammar has no accusative *sie*. For the same reason *ihr* before a noun always means *her*.
- English simple past is Präteritum, present perfect is Perfekt.
- A noun phrase that ends in a clause ends its clause, so nothing after it could attach twice.
- `German women , die die Katze sehen ,` read the pronoun as the subject; it is the object only
  where form or meaning says so (`den`, or a thing, which cannot buy anybody).

Every token has at least a possible link. Possible, not sure, are: do-support (`does`), `to` after
`want`, the other helpers of `does not have to`, `in order`, the German article before a possessor,
and a comma that only one language writes (it goes with the conjunction or pronoun beside it).
"""

from __future__ import annotations

from bisect import bisect
from collections import namedtuple
from functools import cache
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import NamedTuple

CLASSES = [
    "noun",
    "name",
    "verb",
    "auxiliary",
    "modal",
    "article",
    "determiner",
    "number",
    "adjective",
    "pronoun",
    "preposition",
    "conjunction",
    "adverb",
    "particle",
    "negation",
    "punctuation",
]

LEXICON = Path(__file__).parent / "lexicon"
CASES = ("nominative", "accusative", "dative", "genitive")
PERSONS = ("I", "he", "they")  # how a subject governs its verb: ich, er, wir

# Endings by case; each row is masculine, feminine, neuter, plural.
ENDINGS = {
    "d": ("er ie as ie", "en ie as ie", "em er em en", "es er es er"),
    "dies": ("er e es e", "en e es e", "em er em en", "es er es er"),
    "ein": ("- e - e", "en e - e", "em er em en", "es er es er"),
    "weak": ("e e e en", "en e e en", "en en en en", "en en en en"),
    "mixed": ("er e es en", "en e es en", "en en en en", "en en en en"),
    "strong": ("er e es e", "en e es e", "em er em en", "en er en er"),
}
AFTER = {"d": "weak", "dies": "weak", "ein": "mixed", "strong": "strong", "": "strong"}
CONTRACTIONS = {
    ("in", "dem"): "im",
    ("an", "dem"): "am",
    ("von", "dem"): "vom",
    ("zu", "dem"): "zum",
    ("zu", "der"): "zur",
}
WHERE = (("behind", "hinter"), ("in front of", "vor"), ("next to", "neben"))

# The order of slots. English: the whole clause. German: the middle field, after the subject.
ENGLISH = [
    "subject",
    "finite",
    "negation",
    "frequency",
    "verb",
    "pronoun",
    "particle",
    "dative",
    "accusative",
    "indefinite",
    "complement",
    "manner",
    "place",
    "time",
    "post",
]
MIDDLE = [
    "pronoun",
    "time",
    "dative",
    "accusative",
    "frequency",
    "indefinite",
    "negation",
    "manner",
    "place",
    "complement",
]


# ------------------------------------------------------------------ lexicon


@cache
def lexicon(name: str) -> tuple:
    """Rows of `lexicon/<name>.tsv` as named tuples; `-` is read as the empty string.

    Raises ValueError with file and line if a row has another number of columns than the header.
    """
    path = LEXICON / f"{name}.tsv"
    header, rows = None, []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        cells = ["" if cell == "-" else cell for cell in line.split("\t")]
        if header is None:
            header = namedtuple(name.capitalize(), cells)
        elif len(cells) != len(header._fields):
            raise ValueError(
                f"{path}, line {number}: {len(cells)} columns, but the header names "
                f"{len(header._fields)}; separate columns by one tab and write - for none"
            )
        else:
            rows.append(header(*cells))
    return tuple(rows)


@cache
def with_class(name: str, classes: str, column: str = "classes") -> tuple:
    """Rows of a lexicon file that share at least one of the space-separated `classes`."""
    wanted = set(classes.split())
    return tuple(row for row in lexicon(name) if wanted & set(getattr(row, column).split()))


@cache
def finite_form(key: str, tense: str, sign: str):
    """The row of auxiliaries.tsv for, say, ("must", "present", "negative")."""
    for row in lexicon("auxiliaries"):
        if (row.key, row.tense, row.sign) == (key, tense, sign):
            return row
    raise KeyError((key, tense, sign))


@cache
def numerals() -> tuple:
    """(English, German) of 2-9 and 20-29: twenty-five, fünfundzwanzig."""
    units = [row for row in lexicon("numbers") if int(row.value) < 10]
    tens = [row for row in lexicon("numbers") if int(row.value) >= 10]
    pairs = [(unit.english, unit.german) for unit in units if unit.value != "1"] * 3
    for ten in tens:
        pairs.append((ten.english, ten.german))
        for unit in units:
            pairs.append((f"{ten.english}-{unit.english}", f"{unit.german}und{ten.german}"))
    return tuple(pairs)


def ending(paradigm: str, case: str, gender: str) -> str:
    """The ending of a paradigm: ending("weak", "dative", "f") == "en"."""
    return ENDINGS[paradigm][CASES.index(case)].split()["mfnp".index(gender)].strip("-")


def noun_form(noun, case: str, plural: bool) -> str:
    """A German noun in its case: den Studenten, des Hundes, mit den Hunden."""
    if plural:
        bare = case != "dative" or noun.plural[-1] in "ns"
        return noun.plural if bare else noun.plural + "n"
    inflected = case == "genitive" or (noun.declension == "weak" and case != "nominative")
    return noun.genitive if inflected else noun.german


def german_verb(verb, tense: str, person: str) -> str:
    """Present or Präteritum: er kauft, wir kaufen; ich/er kaufte, wir kauften."""
    if tense == "present":
        return verb.er if person == "he" else verb.german
    plural = "n" if verb.preterite.endswith("e") else "en"
    return verb.preterite + plural if person == "they" else verb.preterite


# ------------------------------------------------------------------ tokens, phrases, clauses


class Token(NamedTuple):
    """A word, its class, and the ids that link it surely or possibly to the other language."""

    word: str
    kind: str
    sure: tuple = ()
    possible: tuple = ()


class Phrase:
    """A constituent in both languages, and what other constituents must know of it."""

    __slots__ = ("contracts", "definite", "english", "german", "negated", "noun", "person")

    def __init__(self, english=(), german=(), person="he", noun=None, definite=True):
        self.english, self.german = list(english), list(german)
        self.person, self.noun, self.definite = person, noun, definite
        self.contracts = False  # may its article melt into a preposition: in dem -> im
        self.negated = False  # does it hold the negation: kein

    def __add__(self, other):
        return Phrase(self.english + other.english, self.german + other.german, self.person)


NOTHING = Phrase()


class Clause:
    """Slots filled with phrases; knows the two orders in which they are read out."""

    def __init__(self, front=NOTHING):
        self.slots = {"front": front}

    def __setitem__(self, slot, phrase):
        self.slots[slot] = phrase

    def __getitem__(self, slot):
        return self.slots.get(slot, NOTHING)

    def english(self, question=False) -> list:
        """Subject, verb, object; in questions the finite verb comes before the subject."""
        order = ["front", *ENGLISH]
        if question:
            order[1:3] = order[2:0:-1]
        return [token for slot in order for token in self[slot].english]

    def german(self, order: str) -> list:
        """`order` says where the finite verb stands: "second", "first", "last", or "none"."""
        subject, finite, right = (self[s].german for s in ("subject", "finite", "verb"))
        middle = [token for slot in MIDDLE for token in self[slot].german]
        if order == "second" and self["front"].german:
            middle = self["front"].german + finite + subject + middle + right
        elif order == "second":
            middle = subject + finite + middle + right
        elif order == "first":
            middle = finite + subject + middle + right
        else:
            middle = subject + middle + rejoin(right, finite)
        return middle + self["post"].german


def rejoin(right: list, finite: list) -> list:
    """Verb-final: the prefix returns to its verb. ruft ... an -> ..., weil er anruft."""
    if right and finite and right[-1].kind == "particle":
        prefix, verb = right[-1], finite[0]
        return right[:-1] + [verb._replace(word=prefix.word + verb.word)]
    return right + finite


class Setting(NamedTuple):
    """What a clause must know of its surroundings."""

    time: str  # past, present, perfect or pluperfect
    rich: float  # 0 bare ... 1 many modifiers
    depth: int = 0  # how many clauses this one is embedded in
    free: bool = True  # whether a modal or a negation makes sense here
    subject: str = ""  # German subject, so that "I see me" is not said

    def inner(self, **changes):
        """The setting of an embedded clause: one deeper, and plainer."""
        return self._replace(depth=self.depth + 1, rich=self.rich * 0.7, subject="", **changes)


class Sample(NamedTuple):
    """One sentence pair; links are (German index, English index), counted from 0."""

    german: tuple
    english: tuple
    sure: frozenset
    possible: frozenset
    german_classes: tuple
    english_classes: tuple


# ------------------------------------------------------------------ names


class Names:
    """An open class: a few known names at the head, a long made-up tail, Zipf-distributed.

    One made-up name in eight is kept aside; with `fresh` half of all names come from these.
    """

    def __init__(self, kind: str, endings: str, size: int):
        head = [(row.english, row.german) for row in lexicon("names") if row.kind == kind]
        made = [(name, name) for name in invent(size, endings.split())]
        self.kept = [pair for i, pair in enumerate(made) if i % 8 == 7]
        self.known = head + [pair for i, pair in enumerate(made) if i % 8 != 7]
        self.head = len(head)
        self.sums = list(accumulate(1 / (rank + 3) for rank in range(len(self.known))))

    def draw(self, random, fresh: bool, made_up: bool = False) -> tuple[str, str]:
        """An (English, German) name; `made_up` leaves out the known ones."""
        if fresh and random() < 0.5:
            return self.kept[int(random() * len(self.kept))]
        low = self.sums[self.head - 1] if made_up else 0.0
        return self.known[bisect(self.sums, low + random() * (self.sums[-1] - low) * 0.999999)]


def invent(size: int, endings: list[str]) -> list[str]:
    """`size` different made-up names, the same ones always: Brandek, Kolina ..."""
    random, names = Random(7).random, {}
    onsets = [
        "B",
        "Br",
        "D",
        "Dr",
        "F",
        "G",
        "Gr",
        "H",
        "K",
        "Kl",
        "L",
        "M",
        "N",
        "P",
        "R",
        "S",
        "St",
        "T",
        "V",
        "W",
        "Z",
    ]
    codas = ["l", "r", "n", "m", "s", "v", "d", "k", "rt", "nd", "ll"]
    while len(names) < size:
        parts = (onsets, "aeiou", codas, endings)
        names["".join(part[int(random() * len(part))] for part in parts)] = True
    return list(names)


@cache
def people() -> Names:
    return Names("person", "a o in ek ina us el ik", 1200)


@cache
def towns() -> Names:
    return Names("town", "burg heim stadt dorf ford mouth", 400)


# ------------------------------------------------------------------ the grammar


class Grammar:
    """Draws sentence pairs. Equal seeds give equal pairs everywhere: it uses only `random()`."""

    def __init__(self, seed: int = 0, fresh: bool = False):
        self.random = Random(seed).random
        self.fresh = fresh
        self.ids = 0

    def new_id(self) -> int:
        self.ids += 1
        return self.ids

    def chance(self, probability: float) -> bool:
        return self.random() < probability

    def pick(self, items):
        return items[int(self.random() * len(items))]

    def words(self, english: str, german: str, kind: str, german_kind: str = "") -> Phrase:
        """All words of one side linked surely to all words of the other."""
        ids = (self.new_id(),)
        return Phrase(
            [Token(word, kind, ids) for word in english.split()],
            [Token(word, german_kind or kind, ids) for word in german.split()],
        )

    def adverb(self, row) -> Phrase:
        """A fixed adverbial, linked as the lexicon says: two years ago, vor zwei Jahren."""
        sides = []
        links = [tuple(map(int, link.split("-"))) for link in row.links.split()]
        base = self.ids
        self.ids += len(links)
        for side, text in enumerate((row.english, row.german)):
            words = text.split()
            ids = [
                tuple(base + 1 + n for n, link in enumerate(links) if link[side] == i + 1)
                for i in range(len(words))
            ]
            sides.append([Token(w, adverb_kind(w, len(words)), i) for w, i in zip(words, ids)])
        return Phrase(*sides)

    # -------------------------------------------------------------- noun phrases

    def noun_phrase(self, case, classes, setting, *, plain=False, negation=0, **more) -> Phrase:
        """A noun phrase of one of `classes` in a German case.

        `plain`: neither pronoun, name nor coordination. `negation`, `heavy`, `definite`: see
        `full_phrase`.
        """
        draw, person = self.random(), "person" in classes or "adult" in classes
        if person and not plain:
            if draw < 0.14:
                return self.pronoun(case, setting)
            if draw < 0.36:
                return self.name(case)
            if draw < 0.36 + 0.12 * setting.rich and not negation and setting.depth < 2:
                return self.coordination(case, classes, setting)
        noun = self.pick(with_class("nouns", classes))
        return self.full_phrase(case, noun, setting, negation=negation, **more)

    def pronoun(self, case, setting, among=("ich", "er", "sie", "wir")) -> Phrase:
        """ich sah ihn, I saw him; the object never is the subject's own person.

        `ich` tells what was, not what is: this saves a present form of every verb.
        """
        column = "german" if case == "nominative" else case
        own = "ich" if column == "german" and setting.time == "present" else setting.subject
        while True:
            row = self.pick(lexicon("pronouns"))
            if getattr(row, column) and row.german != own and row.german in among:
                break
        english = row.english if case == "nominative" else row.english_object
        phrase = self.words(english, getattr(row, column), "pronoun")
        phrase.person = row.agreement
        return phrase

    def name(self, case) -> Phrase:
        """Anna, or with a title, which declines: mit Herrn Krandek, with Mr. Krandek."""
        if self.chance(0.75):
            return self.words(*people().draw(self.random, self.fresh), "name")
        lord = "Herr" if case == "nominative" else "Herrn"
        title = self.words(*self.pick((("Mr.", lord), ("Mrs.", "Frau"))), "noun")
        return title + self.words(*people().draw(self.random, self.fresh, made_up=True), "name")

    def coordination(self, case, classes, setting) -> Phrase:
        """der Mann und die Frau, the man and the woman."""
        inner = setting._replace(depth=2, rich=setting.rich * 0.5)
        first = self.noun_phrase(case, classes, inner, plain=self.chance(0.5))
        second = self.noun_phrase(case, classes, inner, plain=True)
        while first.person != "he" or first.english[0].kind == "pronoun":
            first = self.noun_phrase(case, classes, inner, plain=True)
        both = first + self.words("and", "und", "conjunction") + second
        both.person = "they"
        return both

    def full_phrase(
        self, case, noun, setting, *, heavy=False, negation=0, definite=False, number=None
    ) -> Phrase:
        """Determiner, adjectives, noun, and what may follow the noun.

        `heavy`: it may end in a relative clause. `negation`: id of a negation, which an indefinite
        phrase absorbs (not ... a book, kein Buch). `definite`: it must be definite.
        """
        plural = self.chance(0.28) if number is None else number == "plural"
        plural = plural and noun.english_plural != ""
        rich = setting.rich
        if "own" in noun.classes and not negation and case != "genitive" and rich > 0:
            if self.chance(0.05 + 0.25 * rich) or ("kin" in noun.classes and self.chance(0.4)):
                return self.possessed(case, noun, setting, plural)
        bare = plural or "drink" in noun.classes or "food" in noun.classes
        bare = bare and case in ("accusative", "dative")
        definite = definite or bool(negation)
        if negation and (bare or not plural) and "kin" not in noun.classes and self.chance(0.6):
            determiner, paradigm = self.kein(case, noun, plural, bare, negation), "ein"
        else:
            determiner, paradigm = self.determiner(case, noun, plural, bare, definite)
        phrase = determiner + self.adjectives(case, noun, plural, AFTER[paradigm], rich)
        phrase = phrase + self.noun(case, noun, plural)
        phrase.noun, phrase.person = noun, "they" if plural else "he"
        phrase.definite = determiner.definite
        phrase.negated = determiner.negated
        phrase.contracts = paradigm == "d" and not plural
        gender = "p" if plural else noun.gender
        if (
            "adult" in noun.classes
            and case != "genitive"
            and not plural
            and self.chance(0.12 * rich)
        ):
            self.extend(phrase, self.clothes(setting))
        elif heavy and setting.depth < 2 and self.chance(0.45 * rich):
            self.extend(phrase, self.relative(noun, gender, setting))
            phrase.contracts = False  # in dem Haus, das ..., not im Haus, das ...
        return phrase

    @staticmethod
    def extend(phrase, more) -> None:
        phrase.english += more.english
        phrase.german += more.german

    def noun(self, case, noun, plural) -> Phrase:
        """A noun; a compound is one German word for two English ones."""
        english = noun.english_plural if plural else noun.english
        return self.words(english, noun_form(noun, case, plural), "noun")

    def determiner(self, case, noun, plural, bare, definite) -> tuple[Phrase, str]:
        """The determiner and its paradigm: der, ein, dieser, mein, viele, drei or none."""
        gender = "p" if plural else noun.gender
        mass = bare and not plural
        kin = "kin" in noun.classes
        if bare and not definite and not kin and self.chance(0.6 if mass else 0.15):
            return Phrase(definite=False), ""
        if plural and not definite and not kin and self.chance(0.25):
            phrase = self.words(*self.pick(numerals()), "number")
            phrase.definite = False
            return phrase, ""
        own = kin or ("own" in noun.classes and self.chance(0.2))
        row = self.pick(determiners(plural, own, mass or definite))
        kind = "article" if row.german in ("d", "ein") else "determiner"
        phrase = self.words(row.english, row.german + ending(row.paradigm, case, gender), kind)
        phrase.definite = row.use != "indefinite"
        return phrase, row.paradigm

    def kein(self, case, noun, plural, bare, negation) -> Phrase:
        """not ... a book, kein Buch; not ... books, keine Bücher: kein answers not and a."""
        article = self.new_id()
        english = [] if bare else [Token("a", "article", (article,))]
        word = "kein" + ending("ein", case, "p" if plural else noun.gender)
        ids = (negation,) if bare else (negation, article)
        phrase = Phrase(english, [Token(word, "determiner", ids)], definite=False)
        phrase.negated = True
        return phrase

    def adjectives(self, case, noun, plural, paradigm, rich) -> Phrase:
        """Quality before colour, each with its ending: die sehr alten roten Hüte."""
        phrase = Phrase()
        suffix = ending(paradigm, case, "p" if plural else noun.gender)
        for kind, share in (("quality", 0.1 + 0.4 * rich), ("color", 0.05 + 0.25 * rich)):
            rows = adjectives_of(noun.classes, kind)
            if rows and rich and self.chance(share):
                if kind == "quality" and self.chance(0.25 * rich):
                    phrase = phrase + self.words("very", "sehr", "adverb")
                row = self.pick(rows)
                phrase = phrase + self.words(row.english, row.stem + suffix, "adjective")
        return phrase

    def possessed(self, case, noun, setting, plural=False, nested=False) -> Phrase:
        """Anna 's old dog, der alte Hund von Anna; the girl 's dog, der Hund des Mädchens.

        The owner may be owned: Anna 's sister 's dog, der Hund der Schwester von Anna.
        """
        clitic = self.new_id()
        core = self.adjectives(case, noun, plural, "weak", setting.rich * 0.7)
        core = core + self.noun(case, noun, plural)
        the = "d" + ending("d", case, "p" if plural else noun.gender)
        owner, link = self.owner(noun, setting, nested, clitic)
        english = owner.english + [Token("'s", "particle", (clitic,))] + core.english
        german = [Token(the, "article", (), (clitic,)), *core.german, *link, *owner.german]
        return Phrase(english, german, "they" if plural else "he", noun)

    def owner(self, noun, setting, nested, clitic) -> tuple[Phrase, list]:
        """Who something belongs to, and the word that says so: von before a name, or none."""
        if self.chance(0.4):
            return self.name("dative"), [Token("von", "preposition", (clitic,))]
        inner = setting._replace(depth=2, rich=setting.rich * 0.6)
        rows = with_class("nouns", "adult" if "kin" in noun.classes else "person")
        owner = self.pick(rows)
        if not nested and "own" in owner.classes and self.chance(0.4):
            phrase = self.possessed("genitive", owner, inner, nested=True)
        else:
            phrase = self.full_phrase("genitive", owner, inner, number="singular")
        first, *rest = phrase.german
        phrase.german = [first._replace(possible=first.possible + (clitic,)), *rest]
        return phrase, []

    def clothes(self, setting) -> Phrase:
        """the man with the red hat, der Mann mit dem roten Hut."""
        noun = self.pick(with_class("nouns", "clothing"))
        inner = setting._replace(depth=2, rich=setting.rich * 0.5)
        what = self.full_phrase("dative", noun, inner._replace(rich=0), number="singular")
        return self.words("with", "mit", "preposition") + what

    def prepositional(self, english: str, german: str, phrase: Phrase) -> Phrase:
        """A preposition before a phrase, contracted with its article: in the garden, im Garten."""
        before = self.words(english, german, "preposition")
        first, *rest = phrase.german
        if phrase.contracts and (german, first.word) in CONTRACTIONS:
            melted = before.german[0]._replace(
                word=CONTRACTIONS[german, first.word], sure=before.german[0].sure + first.sure
            )
            return Phrase(before.english + phrase.english, [melted, *rest])
        return before + phrase

    def place(self, setting) -> Phrase:
        """in Munich; at the station; behind the old house."""
        if self.chance(0.3):
            town = self.words(*towns().draw(self.random, self.fresh), "name")
            return self.words("in", "in", "preposition") + town
        noun = self.pick(with_class("nouns", "place"))
        inner = setting._replace(depth=2, rich=setting.rich * 0.6)
        phrase = self.full_phrase("dative", noun, inner)
        where = noun.location.split("=")
        if "building" in noun.classes and self.chance(0.4):
            where = self.pick(WHERE)
        return self.prepositional(*where, phrase)

    def goal(self, verb, setting) -> Phrase:
        """to the station, zum Bahnhof; to Munich, nach München."""
        if verb.object == "town":
            town = self.words(*towns().draw(self.random, self.fresh), "name")
            return self.words("to", "nach", "preposition") + town
        noun = self.pick(with_class("nouns", verb.object))
        inner = setting._replace(depth=2, rich=setting.rich * 0.6)
        return self.prepositional("to", "zu", self.full_phrase("dative", noun, inner))

    def relative(self, noun, gender, setting) -> Phrase:
        """A relative clause: , die schläft , / who sleeps; , den sie sieht , / whom she sees."""
        person = "person" in noun.classes
        animate = person or "animal" in noun.classes
        time = setting.time
        if time == "pluperfect":
            time = "past"
        elif time != "past" and self.chance(0.5):
            time = self.pick(("past", "perfect", "present"))
        inner = setting.inner(time=time, free=True)
        draw = self.random()
        if animate and draw < 0.5:
            who = self.relative_pronoun("who" if person else "that", "nominative", gender)
            who.person = "they" if gender == "p" else "he"
            kinds = "person adult" if "adult" in noun.classes else noun.classes
            verbs = with_class("verbs", kinds, "subject")
            clause = self.clause(inner, subject=who, verbs=verbs)
            return self.enclosed(Phrase(), clause, who)
        if person and draw < 0.65:
            verb = self.pick(with_class("verbs", "preposition", "frame"))
            english, german, case = governed(verb)
            pronoun = self.relative_pronoun("whom", case, gender)
            which = self.words(english, german, "preposition") + pronoun
        else:
            frames = "accusative dative" if person else "accusative"
            objects = with_class("verbs", noun.classes, "object")
            verb = self.pick([row for row in objects if row.frame in frames.split()])
            case = verb.frame
            which = pronoun = self.relative_pronoun("whom" if person else "that", case, gender)
        subject = None
        if animate and case == "accusative" and gender != "m" and which is pronoun:
            # die Frau, die er sieht: only a subject in a clear nominative shows who sees whom
            subject = self.pronoun("nominative", inner, among=("ich", "er", "wir"))
        clause = self.clause(inner, subject=subject, verbs=(verb,), gap=True)
        return self.enclosed(which, clause, pronoun)

    def relative_pronoun(self, english, case, gender) -> Phrase:
        """who, der; to whom, dem; the plural dative is denen."""
        german = "denen" if (case, gender) == ("dative", "p") else "d" + ending("d", case, gender)
        return self.words(english, german, "pronoun")

    def enclosed(self, opening, clause, owner, english_comma=()) -> Phrase:
        """A subordinate clause between German commas, which go with the word that opens it."""
        comma = Token(",", "punctuation", (), owner.english[0].sure)
        return Phrase(
            opening.english + clause.english(),
            [comma] + opening.german + clause.german("last") + [comma],
        )

    # -------------------------------------------------------------- clauses

    def clause(
        self,
        setting,
        *,
        subject=None,
        verbs=None,
        gap=False,
        infinitive=0,
        question=False,
        imperative=False,
        fronting=False,
    ) -> Clause:
        """Fill the slots of one clause.

        `subject`: a given subject. `verbs`: rows to choose from. `gap`: the object stands outside
        (relative pronoun, wh-word). `infinitive`: id of its `to`. `fronting`: an adverbial may
        take the front field.
        """
        clause = Clause()
        verb = self.pick(verbs or main_verbs(setting.depth == 0 and setting.rich > 0.25))
        given = infinitive or imperative
        tense, key = self.tense(setting, verb)
        if subject is None and not given:
            lean = setting._replace(rich=setting.rich * 0.8)
            subject = self.noun_phrase("nominative", verb.subject, lean, heavy=not gap)
        if subject:
            clause["subject"] = subject
            word = subject.german[0].word
            setting = setting._replace(subject=word)
        negation = 0
        if setting.free and not given and not question and self.chance(0.15):
            negation = self.new_id()
        if infinitive:
            self.zu_infinitive(clause, verb, infinitive)
        elif imperative:
            self.imperative_verb(clause, verb)
        elif key:
            self.complex_verb(clause, verb, tense, key, subject.person, negation)
        else:
            self.simple_verb(clause, verb, tense, subject.person, negation, question)
        self.adverbials(clause, verb, setting, tense, key, negation, fronting)
        if not gap:
            self.objects(clause, verb, setting, negation)
        self.post_field(clause, verb, setting)
        return clause

    def tense(self, setting, verb) -> tuple[str, str]:
        """Tense of the finite verb and the auxiliary that carries it, "" for none."""
        if setting.time in ("perfect", "pluperfect"):
            return ("present" if setting.time == "perfect" else "past"), "haben"
        possible = setting.free and "unwilled" not in verb.adverbials
        if possible and self.chance(0.6):
            if setting.time == "past":
                return "past", self.pick(("can", "must", "may", "want"))
            return "present", self.pick(("can", "must", "may", "want", "will", "will"))
        return setting.time, ""

    def simple_verb(self, clause, verb, tense, person, negation, question) -> None:
        """One finite verb and perhaps its prefix: ruft ... an. English may need a `do`."""
        v = (self.new_id(),)
        helper = ()
        if negation or question:
            helper = self.helper("do", tense, "positive", person, v[0], 0)
            english = verb.english
        elif tense == "past":
            english = verb.past
        else:
            english = verb.third if person == "he" else verb.english
        clause["finite"] = Phrase(helper, [Token(german_verb(verb, tense, person), "verb", v)])
        prefix = [Token(verb.prefix, "particle", v)] if verb.prefix else []
        self.verb(clause, english, prefix, v)
        if negation:
            clause["negation"] = self.negative(negation)

    def complex_verb(self, clause, verb, tense, key, person, negation) -> None:
        """A modal and an infinitive, or haben/sein and a participle, in the right bracket."""
        v, helper = (self.new_id(),), self.new_id()
        perfect = key == "haben"
        key = verb.auxiliary if perfect else key
        sign = "negative" if negation and not perfect else "positive"
        column = ("ich", "er", "wir")[PERSONS.index(person)]
        word = getattr(finite_form(key, tense, sign), column)
        kind = "auxiliary" if perfect or key == "will" else "modal"
        clause["finite"] = Phrase(
            self.helper(key, tense, sign, person, helper, negation), [Token(word, kind, (helper,))]
        )
        english, german = verb.english, verb.prefix + verb.german
        if perfect:
            english, german = verb.participle, verb.partizip
        self.verb(clause, english, [Token(german, "verb", v)], v)
        if negation:
            clause["negation"] = self.negative(negation, said=not perfect)

    def helper(self, key, tense, sign, person, verb, negation) -> list:
        """English helpers as auxiliaries.tsv writes them: `*` is linked surely to the German
        finite verb, `!` to its nicht, all else possibly to the finite verb."""
        kind = "auxiliary" if key in ("do", "haben", "sein", "will", "be") else "modal"
        tokens = []
        for mark in getattr(finite_form(key, tense, sign), person).split():
            word = mark.lstrip("*!")
            sure = (verb,) * ("*" in mark) + (negation,) * ("!" in mark)
            maybe = () if sure else (verb,)
            word_kind = {"not": "negation", "to": "particle"}.get(word, kind)
            tokens.append(Token(word, word_kind, sure, maybe))
        return tokens

    def negative(self, negation, said=False) -> Phrase:
        """not, nicht; `said`: the modal has already said the English part (cannot)."""
        english = [] if said else [Token("not", "negation", (negation,))]
        return Phrase(english, [Token("nicht", "negation", (negation,))])

    @staticmethod
    def verb(clause, english, german, ids) -> None:
        """picks up: verb and particle, both linked to the German verb and its prefix. A pronoun
        stands before a true particle (pick +up: picks him up), not before listens to."""
        parts = Phrase(), Phrase()
        for i, word in enumerate(english.split()):
            kind = "particle" if i else "verb"
            parts[word[0] == "+"].english.append(Token(word.lstrip("+"), kind, ids))
        clause["verb"], clause["particle"] = parts
        clause["verb"].german = german

    def zu_infinitive(self, clause, verb, to) -> None:
        """to invite, einzuladen: zu stands between prefix and verb, in one word with them."""
        v = self.new_id()
        if verb.prefix:
            german = [Token(verb.prefix + "zu" + verb.german, "verb", (v, to))]
        else:
            german = [Token("zu", "particle", (to,)), Token(verb.german, "verb", (v,))]
        self.verb(clause, verb.english, german, (v,))
        clause["verb"].english.insert(0, Token("to", "particle", (to,)))

    def imperative_verb(self, clause, verb) -> None:
        """Ruf ... an, call: the verb comes first, its prefix last."""
        v = (self.new_id(),)
        prefix = [Token(verb.prefix, "particle", v)] if verb.prefix else []
        clause["finite"] = Phrase((), [Token(verb.imperative, "verb", v)])
        self.verb(clause, verb.english, prefix, v)

    def adverbials(self, clause, verb, setting, tense, key, negation, fronting) -> None:
        """Time, frequency, place and manner, where the verb and the tense allow them."""
        rich = setting.rich
        finite = clause["finite"]
        if not finite.german:
            moment = ""
        elif setting.time in ("perfect", "pluperfect"):
            moment = setting.time
        else:
            moment = (
                "modal" if not clause["subject"].english or (key and tense == "present") else tense
            )
        tags = verb.adverbials.split()
        ends = verb.frame in ("clause", "infinitive")
        front = fronting and self.chance(0.3)
        times = adverbs("time", moment)
        if times and (front or not ends) and self.chance(0.04 + 0.5 * rich + 0.3 * front):
            clause["front" if front else "time"] = self.adverb(self.pick(times))
        elif not negation and len(finite.english) < 2 and self.chance(0.12):
            rows = adverbs("frequency", moment)
            if rows:
                clause["frequency"] = self.adverb(self.pick(rows))
        if "place" in tags and self.chance(0.04 + 0.4 * rich):
            free = fronting and not clause["front"].german and self.chance(0.3)
            clause["front" if free else "place"] = self.place(setting)
        if not negation and self.chance(0.2):
            rows = [row for row in adverbs("manner", "") if row.goes_with in tags]
            if rows:
                clause["manner"] = self.adverb(self.pick(rows))

    def objects(self, clause, verb, setting, negation) -> None:
        """The complements of the verb, by its frame."""
        setting = setting._replace(rich=setting.rich * 0.8)
        last = not (clause["place"].german or clause["manner"].german or clause["time"].german)
        if verb.frame == "double":
            clause["dative"] = self.noun_phrase(
                "dative", "person", setting, definite=bool(negation)
            )
        if verb.frame in ("accusative", "double"):
            self.direct_object(clause, verb, setting, negation, last)
        elif verb.frame == "dative":
            what = self.noun_phrase(
                "dative", verb.object, setting, heavy=last, definite=bool(negation)
            )
            clause[slot_of(what, "dative")] = what
        elif verb.frame == "preposition":
            english, german, case = governed(verb)
            what = self.noun_phrase(case, verb.object, setting, heavy=last, definite=bool(negation))
            clause["complement"] = self.prepositional(english, german, what)
        elif verb.frame == "goal":
            clause["complement"] = self.goal(verb, setting)

    def direct_object(self, clause, verb, setting, negation, last) -> None:
        """An accusative: definite before the adverbs, indefinite after; kein absorbs nicht."""
        what = self.noun_phrase("accusative", verb.object, setting, heavy=last, negation=negation)
        if what.negated:
            clause["negation"] = Phrase(clause["negation"].english)
        clause[slot_of(what, "accusative" if what.definite else "indefinite")] = what

    def post_field(self, clause, verb, setting) -> None:
        """What follows the right bracket: a dass-clause, an infinitive with zu or um ... zu."""
        if verb.frame == "clause":
            clause["post"] = self.that_clause(setting)
        elif verb.frame == "infinitive":
            to = self.new_id()
            clause["post"] = self.infinitive(setting, to, Phrase())
        elif "purpose" in verb.adverbials and setting.depth == 0:
            if self.chance(0.5 * setting.rich):
                to, order = self.new_id(), self.new_id()
                opening = Phrase(
                    [Token(word, "conjunction", (), (order,)) for word in ("in", "order")],
                    [Token("um", "conjunction", (), (order,))],
                )
                clause["post"] = self.infinitive(setting, to, opening)

    def that_clause(self, setting) -> Phrase:
        """, dass er schläft / that he sleeps."""
        times = {"past": ("past", "past", "pluperfect"), "pluperfect": ("past",)}
        time = self.pick(times.get(setting.time, ("present", "perfect", "past")))
        that = self.words("that", "dass", "conjunction")
        return self.enclosed(that, self.clause(setting.inner(time=time, free=True)), that)

    def infinitive(self, setting, to, opening) -> Phrase:
        """, den Hund zu suchen / to look for the dog; with an opening: , um ... zu / in order to."""
        clause = self.clause(
            setting.inner()._replace(subject=setting.subject),
            verbs=with_class("verbs", "aim", "adverbials"),
            infinitive=to,
        )
        comma = Token(",", "punctuation", (), (to,))
        german = [comma, *opening.german, *clause.german("none"), comma]
        return Phrase(opening.english + clause.english(), german)

    def copula(self, setting, question=False) -> Clause:
        """Der Hund ist müde, the dog is tired: an adjective without an ending."""
        clause = Clause()
        classes = self.pick(("person", "person", "animal", "vehicle furniture"))
        subject = self.noun_phrase("nominative", classes, setting._replace(rich=0.0), heavy=True)
        tense = "past" if setting.time == "past" else "present"
        link = self.new_id()
        german = getattr(
            finite_form("be", tense, "positive"), dict(I="ich", he="er", they="wir")[subject.person]
        )
        clause["subject"] = subject
        clause["finite"] = Phrase(
            self.helper("be", tense, "positive", subject.person, link, 0),
            [Token(german, "auxiliary", (link,))],
        )
        if setting.free and not question and self.chance(0.15):
            clause["negation"] = self.negative(self.new_id())
        classes = subject.noun.classes if subject.noun else "person"
        row = self.pick(adjectives_of(classes, "quality"))
        degree = self.words("very", "sehr", "adverb") if self.chance(0.3) else Phrase()
        clause["complement"] = degree + self.words(row.english, row.german, "adjective")
        return clause

    # -------------------------------------------------------------- sentences

    def subordinate(self, setting, time) -> tuple:
        """A conjunction that fits the main clause's time, and the clause behind it."""
        rows = with_class("conjunctions", time, "times")
        row = self.pick(rows)
        now = {"perfect": "present"}.get(time, time)
        if row.english == "after":
            now = "pluperfect"
        opening = self.words(row.english, row.german, "conjunction")
        inner = setting.inner(time=now, free=row.free == "yes")
        plain = self.copula(inner) if self.chance(0.12) and now != "pluperfect" else None
        return row, opening, plain or self.clause(inner)

    def main_clause(self, setting, order="second", front=NOTHING) -> Phrase:
        """A main clause, perhaps with a subordinate clause in its front field or after it."""
        lead = Phrase()
        draw = self.random()
        if front is NOTHING and draw < 0.3 * setting.rich:
            comma = self.new_id()
            _, opening, below = self.subordinate(setting, setting.time)
            lead = opening + Phrase(below.english(), below.german("last"))
            lead = lead + self.words(",", ",", "punctuation")
        free = not lead.german and front is NOTHING
        if setting.time in ("past", "present") and self.chance(0.07):
            clause = self.copula(setting)
        else:
            clause = self.clause(setting, fronting=free)
        if not free:
            clause["front"] = lead if lead.german else front
        phrase = Phrase(clause.english(), clause.german("second"))
        if free and draw > 1 - 0.3 * setting.rich and not clause["post"].german:
            phrase = phrase + self.trailing(setting)
        return phrase

    def trailing(self, setting) -> Phrase:
        """..., weil er müde war / because he was tired; before although English has a comma."""
        row, opening, clause = self.subordinate(setting, setting.time)
        if row.comma == "yes":
            before = self.words(",", ",", "punctuation")
        else:
            before = Phrase((), [Token(",", "punctuation", (), opening.english[0].sure)])
        after = Token(",", "punctuation", (), opening.english[0].sure)
        return before + opening + Phrase(clause.english(), clause.german("last") + [after])

    def joined(self, left, setting) -> Phrase:
        """Another main clause: , and / und; , but / , aber; , so / , deshalb with inversion; ;"""
        draw = self.random()
        if draw < 0.45:
            comma, link = self.new_id(), self.words("and", "und", "conjunction")
            mark = Token(",", "punctuation", (comma,), link.english[0].sure)
            if left.german[-1].word == ",":
                last = left.german[-1]
                left.german[-1] = last._replace(sure=last.sure + (comma,))
            else:
                mark = mark._replace(sure=())
            return left + Phrase([mark]) + link + self.main_clause(setting)
        comma = self.words(",", ",", "punctuation")
        if draw < 0.65:
            link = self.words("but", "aber", "conjunction")
            return left + comma + link + self.main_clause(setting)
        if draw < 0.75:
            front = self.words("so", "deshalb", "conjunction", "adverb")
            return left + comma + self.main_clause(setting, front=front)
        setting = setting._replace(time=self.time())
        return left + self.words(";", ";", "punctuation") + self.main_clause(setting)

    def time(self) -> str:
        return self.pick(("past", "past", "past", "present", "present", "perfect"))

    def statement(self, clauses: int, rich: float) -> Phrase:
        """One or more joined main clauses and a full stop."""
        setting = Setting(self.time(), rich)
        phrase = self.main_clause(setting)
        for _ in range(clauses - 1):
            phrase = self.joined(phrase, setting)
        return phrase + self.words(".", ".", "punctuation")

    def question(self, rich: float) -> Phrase:
        """Yes or no (verb first), or a wh-word in the front field."""
        setting = Setting(self.time(), rich, free=self.chance(0.8))
        draw = self.random()
        if draw < 0.15 and setting.time != "perfect":
            clause = self.copula(setting, question=True)
            phrase = Phrase(clause.english(True), clause.german("first"))
        elif draw < 0.3:
            who = self.words("who", "wer", "pronoun")
            clause = self.clause(setting, subject=who)
            phrase = Phrase(clause.english(), clause.german("second"))
        elif draw < 0.55:
            clause, who = self.asked_object(setting)
            clause["front"] = who
            phrase = Phrase(clause.english(True), clause.german("second"))
        else:
            clause = self.asked_clause(setting)
            why = [("why", "warum")]
            if not clause["place"].german and clause["verb"].english[0].word != "go":
                why.append(("where", "wo"))
            if not clause["time"].german and setting.time == "past":
                why.append(("when", "wann"))
            order = "first"
            if self.chance(0.5) and not clause["post"].german:
                clause["front"] = self.words(*self.pick(why), "adverb")
                order = "second"
            phrase = Phrase(clause.english(True), clause.german(order))
        return phrase + self.words("?", "?", "punctuation")

    def asked_clause(self, setting, **more) -> Clause:
        """A clause that can be inverted: one English auxiliary before the subject."""
        while True:
            clause = self.clause(setting, question=True, **more)
            if len(clause["finite"].english) == 1 and clause["finite"].english[0].word not in (
                "wants",
                "want",
                "wanted",
                "had to",
            ):
                return clause

    def asked_object(self, setting) -> tuple:
        """Was hat er gekauft, what has he bought; wen, wem, whom."""
        things = self.chance(0.5)
        classes = "text luggage small vehicle drink food" if things else "person"
        frames = ("accusative",) if things else ("accusative", "dative")
        rows = [r for r in with_class("verbs", classes, "object") if r.frame in frames]
        verb = self.pick([r for r in rows if things == ("person" not in r.object)])
        german = "was" if things else {"accusative": "wen", "dative": "wem"}[verb.frame]
        clause = self.asked_clause(setting, verbs=(verb,), gap=True)
        return clause, self.words("what" if things else "whom", german, "pronoun")

    def command(self, rich: float) -> Phrase:
        """Anna , ruf bitte ... an: an order to one friend."""
        rows = [row for row in main_verbs(False) if row.imperative]
        clause = self.clause(Setting("present", rich, subject="du"), verbs=rows, imperative=True)
        opening = Phrase()
        if self.chance(0.35):
            opening = self.words(*people().draw(self.random, self.fresh), "name")
            opening = opening + self.words(",", ",", "punctuation")
        elif self.chance(0.35):
            opening = self.words("please", "bitte", "adverb")
        phrase = opening + Phrase(clause.english(), clause.german("first"))
        if not clause["post"].german and self.chance(0.3 * rich):
            phrase = phrase + self.trailing(Setting("present", rich))
        return phrase + self.words("!", "!", "punctuation")

    def sample(self, length: int) -> Sample:
        """A pair of about `length` words."""
        self.ids = 0
        clauses = max(1, min(6, round(length / (11 + 16 * self.random()))))
        rich = min(1.0, max(0.02, (length / clauses - 5) / 14))
        draw = self.random()
        if clauses > 1 or draw > 0.14:
            phrase = self.statement(clauses, rich)
        else:
            phrase = self.question(rich) if draw < 0.09 else self.command(rich)
        return linked(articles(phrase.english), commas(phrase.german))


# ------------------------------------------------------------------ small helpers


@cache
def main_verbs(clausal: bool) -> tuple:
    """Verbs, those that take a clause or an infinitive only if `clausal`."""
    rows = lexicon("verbs")
    return tuple(r for r in rows if clausal or r.frame not in ("clause", "infinitive"))


@cache
def adjectives_of(classes: str, kind: str) -> tuple:
    return tuple(row for row in with_class("adjectives", classes) if row.kind == kind)


@cache
def adverbs(kind: str, moment: str) -> tuple:
    rows = [row for row in lexicon("adverbs") if row.kind == kind]
    return tuple(
        row for row in rows if (not moment and kind == "manner") or moment in row.goes_with.split()
    )


@cache
def determiners(plural: bool, own: bool, definite: bool) -> tuple:
    """Rows to choose from, each as often as its weight says."""
    number = "plural" if plural else "singular"
    uses = ("own",) if own else ("any",) if definite else ("any", "indefinite")
    rows = [r for r in lexicon("determiners") if number in r.number.split() and r.use in uses]
    return tuple(row for row in rows for _ in range(int(row.weight)))


def governed(verb) -> list[str]:
    """English and German preposition and the German case: ["for", "auf", "accusative"]."""
    english, rest = verb.preposition.split("=")
    return [english, *rest.split("+")]


def adverb_kind(word: str, words: int) -> str:
    if words == 1:
        return "adverb"
    special = {
        "on": "preposition",
        "in": "preposition",
        "am": "preposition",
        "vor": "preposition",
        "the": "article",
        "two": "number",
        "zwei": "number",
        "ago": "adverb",
        "every": "determiner",
        "jeden": "determiner",
        "last": "adjective",
        "letzte": "adjective",
        "next": "adjective",
        "nächste": "adjective",
    }
    return special.get(word, "noun")


def slot_of(phrase: Phrase, slot: str) -> str:
    """Pronouns move to the head of the middle field."""
    return "pronoun" if phrase.german[0].kind == "pronoun" and len(phrase.german) == 1 else slot


def articles(tokens: list) -> list:
    """a becomes an before a vowel."""
    for i, token in enumerate(tokens[:-1]):
        if token.word == "a" and tokens[i + 1].word[0] in "aeio":
            tokens[i] = token._replace(word="an")
    return tokens


def commas(tokens: list) -> list:
    """One comma where two clauses end or begin together; none at the edge of a sentence."""
    kept = []
    for token in tokens:
        if kept and kept[-1].word == "," and token.word in ",.?!;":
            last = kept.pop()
            if token.word == ",":
                token = Token(
                    ",", "punctuation", last.sure + token.sure, last.possible + token.possible
                )
        kept.append(token)
    return kept


def linked(english: list, german: list) -> Sample:
    """Turn shared ids into links: sure if both tokens hold the id surely, else possible."""
    holders = {}
    for i, token in enumerate(german):
        for key in token.sure:
            holders.setdefault(key, []).append((i, True))
        for key in token.possible:
            holders.setdefault(key, []).append((i, False))
    sure, possible = set(), set()
    for j, token in enumerate(english):
        for key in token.sure:
            for i, certain in holders.get(key, ()):
                possible.add((i, j))
                if certain:
                    sure.add((i, j))
        for key in token.possible:
            for i, _ in holders.get(key, ()):
                possible.add((i, j))
    return Sample(
        tuple([t.word for t in german]),
        tuple([t.word for t in english]),
        frozenset(sure),
        frozenset(possible),
        tuple([t.kind for t in german]),
        tuple([t.kind for t in english]),
    )


def quotas(count: int, lengths: range, fade: int = 0) -> dict[int, int]:
    """Share `count` sentences among `lengths`, evenly; with `fade`, long ones become rarer."""
    weights = [1 / (1 + max(0, length - fade) / fade) if fade else 1.0 for length in lengths]
    ends = [round(count * part / sum(weights)) for part in accumulate(weights)]
    return {length: end - start for length, start, end in zip(lengths, [0, *ends], ends)}


def fill(grammar: Grammar, quota: dict[int, int], side: int, seen: set) -> list[Sample]:
    """Draw samples until every length has its quota; `side` 0 counts German words, 1 English.

    No sentence that is in `seen` comes again, on either side; those drawn are added to it. Raises
    ValueError with the lengths that the grammar has no more sentences for.
    """
    left = {length: count for length, count in quota.items() if count > 0}
    lengths, samples, misses = list(left), [], 0
    while lengths:
        sample = grammar.sample(grammar.pick(lengths))
        length = len(sample[side])
        new = sample.german not in seen and sample.english not in seen
        if not left.get(length, 0) or not new or (grammar.fresh and not has_fresh(sample)):
            misses += 1
            if misses > 3_000:
                raise ValueError(f"no more sentences of {', '.join(map(str, lengths))} words")
            continue
        misses = 0
        seen.update((sample.german, sample.english))
        samples.append(sample)
        left[length] -= 1
        if not left[length]:
            lengths.remove(length)
    return sorted(samples, key=lambda _: grammar.random())  # the last drawn are of rare lengths


def has_fresh(sample: Sample) -> bool:
    """Whether a name occurs that is kept aside for `fresh`."""
    return any(word in fresh_names() for word in sample.german)


@cache
def fresh_names() -> frozenset:
    return frozenset(german for names in (people(), towns()) for _, german in names.kept)


def written(words: tuple[str, ...]) -> str:
    """Words as a sentence is written: a capital first, no space before a mark or an 's."""
    text = " ".join(words)
    for mark in (",", ".", ";", "?", "!", "'s"):
        text = text.replace(" " + mark, mark)
    return text[0].upper() + text[1:]
