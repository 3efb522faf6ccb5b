"""A synchronous German-English grammar: sentence pairs with gold word alignments.

Both languages grow from one plan. Every constituent is built once, as a `Phrase` that holds its
English and its German tokens; tokens that translate each other share an id, and shared ids become
links. A clause is a set of phrases, one per *slot*, and the two languages differ in the order in
which they empty the slots. German uses topological fields:

    front field | left bracket  | middle field              | right bracket  | post-field
    Gestern     | hatte         | der Mann das Buch         | gekauft        | , weil er müde war
    (adverbial) | (finite verb) | (subject, objects, nicht) | (verb, prefix) | (clauses)

The words live in `lexicon/*.tsv` (see its README); this module knows only how they combine.

What the source says determines the target, in both directions. Hence some silences:
- English has one *you*, so nobody is addressed but in imperatives, and they say *du*.
- *sie* is she or they, and the verb tells which. As an object it could be her, them or it, so
  there is no accusative *sie*; *ihr* before a noun always is her, never their.
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
from collections import namedtuple
from functools import cache
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import NamedTuple

LEXICON = Path(__file__).parent / "lexicon"
PLAIN = (
    "intransitive accusative dative dative+accusative preposition goal"  # frames without a clause
)

# The order in which slots are read: an English clause; the German middle field
# after the subject and the pronouns.
ENGLISH = (  # noqa: SIM905 - a list of strings would take sixteen lines
    "front subject finite negation frequency verb pronoun particle dative accusative indefinite "
    "complement manner place time post"
).split()
MIDDLE = (  # noqa: SIM905
    "time dative accusative frequency indefinite negation manner place complement"
).split()


# ------------------------------------------------------------------------------------- lexicon


@cache
def lexicon(name: str) -> tuple:
    """Rows of `lexicon/<name>.tsv` as named tuples, `-` read as empty, by `weight` if it has one.

    Raises ValueError with file and line if a row has another number of columns than the header.
    """
    path = LEXICON / f"{name}.tsv"
    header, rows = None, []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        cells = ["" if cell == "-" else cell for cell in line.split("\t")]
        if header is None:
            header = namedtuple(name, cells)
        elif len(cells) != len(header._fields):
            raise ValueError(
                f"{path}, line {number}: {len(cells)} columns, but the header names "
                f"{len(header._fields)}. Separate columns by one tab and write - for none."
            )
        else:
            rows += [header(*cells)] * int(getattr(header(*cells), "weight", 1))
    return tuple(rows)


@cache
def select(name: str, **columns: str) -> tuple:
    """Rows that have, in every column named, one of the words asked for.

    select("nouns", classes="person animal") is all people and all animals.
    """

    def fits(row) -> bool:
        return all(set(getattr(row, c).split()) & set(v.split()) for c, v in columns.items())

    return tuple(row for row in lexicon(name) if fits(row))


def ending(paradigm: str, case: str, gender: str) -> str:
    """The ending of a paradigm; gender is m, f, n, or p: ending("weak", "dative", "f") is en."""
    return getattr(select("endings", paradigm=paradigm, case=case)[0], gender)


def gender_of(noun, plural: bool) -> str:
    return "p" if plural else noun.gender


def noun_form(noun, case: str, plural: bool) -> str:
    """A German noun in its case: den Studenten, des Hundes, mit den Hunden."""
    if plural:
        return noun.plural + "n" * (case == "dative" and noun.plural[-1] not in "ns")
    inflected = case == "genitive" or (noun.declension == "weak" and case != "nominative")
    return noun.genitive if inflected else noun.german


def verb_form(verb, tense: str, person: str) -> str:
    """Present or Präteritum: er kauft, wir kaufen; ich kaufte, wir kauften (no ich kaufe)."""
    if tense == "present":
        return verb.er if person == "he" else verb.german
    plural = "n" if verb.preterite.endswith("e") else "en"
    return verb.preterite + plural * (person == "they")


# ---------------------------------------------------------------------- tokens, phrases, clauses


class Token(NamedTuple):
    """A word, its class, and the ids that link it surely or possibly to the other language."""

    word: str
    kind: str
    sure: tuple = ()
    possible: tuple = ()


class Phrase:
    """A constituent in both languages, and what other constituents must know of it."""

    def __init__(self, english=(), german=(), person="he", definite=True):
        self.english, self.german = list(english), list(german)
        self.person = person  # how it governs a verb: I, he, they
        self.noun = None  # the row of its noun
        self.definite = definite
        self.contracts = False  # may its article melt into a preposition: in dem, im
        self.negated = False  # does it hold the negation: kein

    def __add__(self, other: Phrase) -> Phrase:
        return Phrase(self.english + other.english, self.german + other.german, self.person)


NOTHING = Phrase()


class Clause(dict):
    """Slots filled with phrases; knows the orders in which they are read out."""

    def __missing__(self, slot: str) -> Phrase:
        return NOTHING

    def english(self, question: bool = False) -> list[Token]:
        """Subject, verb, object; in a question the finite verb stands before the subject."""
        order = ENGLISH
        if question:
            order = ["front", "finite", "subject", *ENGLISH[3:]]
        return [token for slot in order for token in self[slot].english]

    def german(self, order: str) -> list[Token]:
        """`order` says where the finite verb stands: "second", "first", or "last"."""
        front, subject, finite = (self[s].german for s in ("front", "subject", "finite"))
        middle = [token for slot in MIDDLE for token in self[slot].german]
        pronoun, bracket, post = (self[s].german for s in ("pronoun", "verb", "post"))
        if order == "last":
            if finite and bracket and bracket[0].kind == "particle":  # ruft ... an, but anruft
                bracket, finite = [], [finite[0]._replace(word=bracket[0].word + finite[0].word)]
            return subject + pronoun + middle + bracket + finite + post
        if order == "second" and not front:
            front, subject = subject, []
        full = len(subject) > 1 or (subject and subject[0].kind != "pronoun")
        start = pronoun + subject if full else subject + pronoun  # sah ihn der Mann, sah er ihn
        return front + finite + start + middle + bracket + post


class Setting(NamedTuple):
    """What a constituent must know of its surroundings."""

    time: str  # past, present, perfect or pluperfect
    rich: float  # from 0, bare, to 1 or so, many modifiers
    depth: int = 0  # in how many clauses or phrases it is embedded
    free: bool = True  # whether a modal or a negation makes sense in its clause
    subject: str = ""  # the German subject, so that nobody sees himself

    def inner(self, time: str = "", free: bool = True, subject: str = "") -> Setting:
        """The setting of an embedded clause: one deeper, and plainer."""
        return Setting(time or self.time, self.rich * 0.8, self.depth + 1, free, subject)

    def within(self, share: float) -> Setting:
        """The setting of an embedded noun phrase, which holds no clause."""
        return Setting(self.time, self.rich * share, 2, self.free, self.subject)


class Sample(NamedTuple):
    """One sentence pair; links are (German index, English index), counted from 0."""

    german: tuple[str, ...]
    english: tuple[str, ...]
    sure: frozenset[tuple[int, int]]
    possible: frozenset[tuple[int, int]]
    german_classes: tuple[str, ...]
    english_classes: tuple[str, ...]


# --------------------------------------------------------------------------------------- names


class Names(NamedTuple):
    """An open class: (English, German) names by rank, those kept for fresh grammars, and sums."""

    known: list
    kept: list
    sums: list


@cache
def names(kind: str) -> Names:
    """Names of people or towns, by Zipf's law: a few known ones, then a long made-up tail.

    One made-up name in eight is kept aside. They are always the same: Brandek, Lortburg.
    """
    random, made = Random(7).random, {}
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
        self.ids = 0

    def sentence(self, length: int) -> tuple[list[Token], list[Token]]:
        """German and English tokens of a statement, question or order of about `length` words."""
        self.ids, self.used, draw = 0, [], self.random()
        if length > 24 or draw > 0.14:
            phrase = self.statement(length)
        else:
            phrase = (self.question if draw < 0.09 else self.order)(richness(length))
        return commas(phrase.german), articles(phrase.english)

    def new_id(self) -> int:
        self.ids += 1
        return self.ids

    def chance(self, probability: float) -> bool:
        return self.random() < probability

    def pick(self, items):
        return items[int(self.random() * len(items))]

    def pick_noun(self, classes: str):
        """A noun of some classes, preferably new to this sentence."""
        rows = select("nouns", classes=classes)
        for _ in range(4):
            noun = self.pick(rows)
            if noun.german not in self.used:
                break
        self.used.append(noun.german)
        return noun

    def words(self, english: str, german: str, kind: str, german_kind: str = "") -> Phrase:
        """All words of one side, linked surely to all words of the other."""
        ids = (self.new_id(),)
        return Phrase(
            [Token(word, kind, ids) for word in english.split()],
            [Token(word, german_kind or kind, ids) for word in german.split()],
        )

    def adverb(self, row) -> Phrase:
        """A fixed adverbial; the lexicon numbers its links: two/number/1 years/noun/2 ago/..."""
        base, sides = self.ids, []
        for text in (row.english, row.german):
            cells = [word.split("/") for word in text.split()]
            ids = [tuple(base + int(link) for link in cell[2].split("+")) for cell in cells]
            self.ids = max(self.ids, *(max(link) for link in ids))
            sides.append([Token(*cell[:2], link) for cell, link in zip(cells, ids, strict=True)])
        return Phrase(*sides)

    def name(self, kind: str = "person") -> Phrase:
        """A name that is new to this sentence."""
        pool = names(kind)
        while True:
            rank = bisect(pool.sums, self.random() * pool.sums[-1], hi=len(pool.sums) - 1)
            pair = pool.known[rank]
            if self.fresh and self.chance(0.5):
                pair = self.pick(pool.kept)
            if pair[1] not in self.used:
                self.used.append(pair[1])
                return self.words(*pair, "name")

    def mark(self, word: str) -> Phrase:
        return self.words(word, word, "punctuation")

    # ------------------------------------------------------------------------- noun phrases

    def noun_phrase(self, case, classes, setting, *, negation=0, **more) -> Phrase:
        """A pronoun, a name, two phrases with and, or a full phrase (which takes `more`)."""
        draw, person = self.random(), "person" in classes or "adult" in classes
        if person and draw < (0.14 if setting.rich else 0.3):
            return self.pronoun(case, setting)
        if person and draw < (0.36 if setting.rich else 0.7):
            return self.titled(case)
        free = setting.depth < 2 and not (negation or more.get("definite"))
        if free and 0.36 < draw < 0.36 + 0.12 * setting.rich:
            inner = setting.within(0.5)
            noun = self.pick_noun(classes)
            first = self.titled(case) if person else self.full_phrase(case, noun, inner)
            noun = self.pick_noun(classes.split()[0] if person else classes)
            second = self.full_phrase(case, noun, inner)
            both = first + self.words("and", "und", "conjunction") + second
            both.person = "they"
            return both
        return self.full_phrase(case, self.pick_noun(classes), setting, negation=negation, **more)

    def pronoun(self, case, setting, among=("ich", "er", "sie", "wir")) -> Phrase:
        """ich sah ihn, I saw him; the object never is the subject's own person.

        `ich` tells what was, not what is: that saves a present form of every verb.
        """
        column = "german" if case == "nominative" else case
        own = "ich" if column == "german" and setting.time == "present" else setting.subject
        rows = [row for row in lexicon("pronouns") if row.german != own and row.german in among]
        row = self.pick([row for row in rows if getattr(row, column)])
        english = row.english if column == "german" else row.english_object
        phrase = self.words(english, getattr(row, column), "pronoun")
        phrase.person = row.agreement
        return phrase

    def titled(self, case) -> Phrase:
        """Anna; or with a title, which declines: mit Herrn Krandek, with Mr. Krandek."""
        name = self.name()
        famous = select("names", kind="person")
        if self.chance(0.7) or name.english[0].word in {row.english for row in famous}:
            return name
        lord = "Herr" if case == "nominative" else "Herrn"
        return self.words(*self.pick((("Mr.", lord), ("Mrs.", "Frau"))), "noun") + name

    def full_phrase(
        self, case, noun, setting, *, heavy=False, negation=0, definite=False, number=""
    ) -> Phrase:
        """Determiner, adjectives, noun, and what may follow the noun.

        `heavy`: it may end in a relative clause. `negation`: id of a negation, which an indefinite
        phrase absorbs. `definite`: it must be. `number`: "singular" forbids a plural.
        """
        rich, classes = setting.rich, noun.classes.split()
        plural = bool(noun.english_plural) and number != "singular" and self.chance(0.28)
        owned = "own" in classes and case != "genitive" and rich > 0 and not negation
        if owned and self.chance(0.05 + 0.3 * rich + 0.4 * ("kin" in classes)):
            return self.possessed(case, noun, setting, plural)
        first, paradigm = self.determiner(case, noun, plural, negation, definite, rich)
        core = self.adjectives(case, noun, plural, paradigm, rich) + self.noun(case, noun, plural)
        tail, modified = Phrase(), setting.depth < 2
        if modified and "adult" in classes and not plural and self.chance(0.12 * rich):
            tail = self.clothes(setting)
        elif modified and heavy and self.chance(0.45 * rich):
            tail = self.relative(noun, gender_of(noun, plural), setting)
        phrase = first + core + tail
        phrase.noun, phrase.person = noun, "they" if plural else "he"
        phrase.definite, phrase.negated = first.definite, first.negated
        closed = tail.german[-1:] and tail.german[-1].word == ","  # in dem Haus, das ..., not: im
        phrase.contracts = paradigm == "der" and not plural and not closed
        return phrase

    def noun(self, case, noun, plural) -> Phrase:
        """A noun; a compound is one German word for two English ones: house key."""
        english = noun.english_plural if plural else noun.english
        return self.words(english, noun_form(noun, case, plural), "noun")

    def determiner(self, case, noun, plural, negation, definite, rich) -> tuple[Phrase, str]:
        """The determiner and its paradigm: der, ein, dieser, mein, viele, drei, or none at all.

        kein answers not and, if there is one, a: not ... a book, kein Buch.
        """
        classes = noun.classes.split()
        mass = "drink" in classes or "food" in classes
        negated = negation and "kin" not in classes and self.chance(0.6)
        uses = "any" if definite or negation else "any indefinite"
        if uses != "any" and case == "accusative":
            uses += " bare"
        if "kin" in classes or ("own" in classes and rich and self.chance(0.2)):
            uses = "own"
        number = "plural" if plural else "mass" if mass else "singular"
        row = self.pick(select("determiners", number=number, use="negative" if negated else uses))
        word = row.german + ending(row.paradigm, case, gender_of(noun, plural))
        phrase = self.words(row.english, word, row.kind)
        if negated:
            phrase.german[0] = Token(word, row.kind, (*phrase.german[0].sure, negation))
        phrase.definite, phrase.negated = row.use in ("any", "own"), bool(negated)
        return phrase, row.paradigm

    def adjectives(self, case, noun, plural, paradigm, rich) -> Phrase:
        """Quality before colour, with their endings: die sehr alten roten Hüte."""
        phrase = Phrase()
        declension = select("endings", paradigm=paradigm)[0].adjective
        suffix = ending(declension, case, gender_of(noun, plural))
        for kind, share in (("quality", 0.1 + 0.4 * rich), ("color", 0.05 + 0.25 * rich)):
            rows = select("adjectives", classes=noun.classes, kind=kind)
            if rows and rich and self.chance(share):
                if kind == "quality" and self.chance(0.25 * rich):
                    phrase = phrase + self.words("very", "sehr", "adverb")
                row = self.pick(rows)
                phrase = phrase + self.words(row.english, row.stem + suffix, "adjective")
        return phrase

    def possessed(self, case, noun, setting, plural=False, nested=False) -> Phrase:
        """Anna 's old dog, der alte Hund von Anna; the girl 's dog, der Hund des Mädchens.

        The owner may be owned: Anna 's friend 's dog, der Hund des Freundes von Anna.
        """
        clitic = self.new_id()
        core = self.adjectives(case, noun, plural, "der", setting.rich * 0.7)
        core = core + self.noun(case, noun, plural)
        the = "d" + ending("der", case, gender_of(noun, plural))
        if self.chance(0.4):
            owner, link = self.titled("dative"), [Token("von", "preposition", (clitic,))]
        else:
            owner, link = self.owner(noun, setting.within(0.6), nested), []
            owner.german[0] = owner.german[0]._replace(sure=(*owner.german[0].sure, clitic))
        phrase = Phrase(
            [*owner.english, Token("'s", "particle", (clitic,)), *core.english],
            [Token(the, "article", (), (clitic,)), *core.german, *link, *owner.german],
        )
        phrase.noun, phrase.person = noun, "they" if plural else "he"
        phrase.contracts = not plural
        return phrase

    def owner(self, noun, inner, nested) -> Phrase:
        """The genitive of a person, who may be somebody's friend."""
        owner = self.pick_noun("adult" if "kin" in noun.classes else "person")  # not both kin
        if not nested and "own" in owner.classes and self.chance(0.4):
            return self.possessed("genitive", owner, inner, nested=True)
        return self.full_phrase("genitive", owner, inner, number="singular")

    def clothes(self, setting) -> Phrase:
        """the man with the red hat, der Mann mit dem roten Hut."""
        noun = self.pick_noun("clothing")
        what = self.full_phrase("dative", noun, setting.within(0.0), number="singular")
        return self.words("with", "mit", "preposition") + what

    def prepositional(self, english: str, german: str, phrase: Phrase) -> Phrase:
        """A preposition, contracted with an article: in the garden, im Garten."""
        before = self.words(english, german, "preposition")
        article, *rest = phrase.german
        row = select("prepositions", german=german)[0]
        melted = {"dem": row.dem, "der": row.der}.get(article.word)
        if phrase.contracts and melted:
            ids = before.german[0].sure + article.sure
            before.german = [Token(melted, "preposition", ids, article.possible)]
            phrase.german = rest
        return before + phrase

    def place(self, setting) -> Phrase:
        """in Munich; at the station; behind the old house."""
        if self.chance(0.3):
            return self.words("in", "in", "preposition") + self.name("town")
        noun = self.pick_noun("place")
        english, german = noun.location.split("=")
        if "building" in noun.classes and self.chance(0.4):
            english, german, *_ = self.pick(select("prepositions", use="building"))
        phrase = self.full_phrase("dative", noun, setting.within(0.6))
        return self.prepositional(english, german, phrase)

    def goal(self, verb, setting) -> Phrase:
        """to the station, zum Bahnhof; to Munich, nach München."""
        if verb.object == "town":
            return self.words("to", "nach", "preposition") + self.name("town")
        noun = self.pick_noun(verb.object)
        return self.prepositional("to", "zu", self.full_phrase("dative", noun, setting.within(0.6)))

    def relative(self, noun, gender, setting) -> Phrase:
        """A relative clause: , die schläft, who sleeps; , den er sieht, whom he sees."""
        person = "person" in noun.classes
        animate, draw = person or "animal" in noun.classes, self.random()
        time = "past"
        if setting.time in ("present", "perfect"):
            time = self.pick((setting.time, "past", "perfect", "present"))
        inner = setting.inner(time)
        who, whom = ("who", "whom") if person else ("that", "that")
        if animate and draw < 0.5:
            pronoun = self.relative_pronoun(who, "nominative", gender)
            verbs = select("verbs", subject=noun.classes, frame=PLAIN)
            clause = self.clause(inner, subject=pronoun, verbs=verbs)
            return self.enclosed(NOTHING, clause, pronoun.english[0])
        if person and draw < 0.65:
            verb = self.pick(select("verbs", frame="preposition"))
            english, german, case = governed(verb)
            pronoun = self.relative_pronoun(whom, case, gender)
            opening = self.words(english, german, "preposition") + pronoun
        else:
            frames = "accusative dative" if person else "accusative"
            verb = self.pick(select("verbs", object=noun.classes, frame=frames))
            opening = pronoun = self.relative_pronoun(whom, verb.frame, gender)
        subject = None
        if animate and verb.frame == "accusative" and gender != "m":
            subject = self.pronoun("nominative", inner, among=("ich", "er", "wir"))
        clause = self.clause(inner, subject=subject, verbs=(verb,), gap=True)
        return self.enclosed(opening, clause, pronoun.english[0])

    def relative_pronoun(self, english, case, gender) -> Phrase:
        """who, der; whom, den or dem; the plural dative is denen."""
        german = "denen" if (case, gender) == ("dative", "p") else "d" + ending("der", case, gender)
        phrase = self.words(english, german, "pronoun")
        phrase.person = "they" if gender == "p" else "he"
        return phrase

    def enclosed(self, opening, clause, owner, both=False) -> Phrase:
        """A subordinate clause between German commas, which go with the word that opens it.

        `both`: the first comma is there in English, too.
        """
        comma = Token(",", "punctuation", (), owner.sure)
        mark = self.mark(",") if both else Phrase()
        before = comma._replace(sure=mark.german[0].sure) if both else comma
        german = [before, *opening.german, *clause.german("last"), comma]
        return Phrase(mark.english + opening.english + clause.english(), german)

    # ------------------------------------------------------------------------------ clauses

    def clause(
        self, setting, *, subject=None, verbs=None, gap=False, form="statement", fronting=False
    ) -> Clause:
        """Fill the slots of one clause.

        `subject`, `verbs`: given ones, to choose from. `gap`: the object stands outside (a
        relative pronoun). `form`: "statement", "question", "order" or "infinitive". `fronting`:
        an adverbial may take the front field.
        """
        clause, negation, rich = Clause(), 0, setting.rich
        frames = PLAIN + " clause infinitive" * (setting.depth == 0 and rich > 0.25)
        verb = self.pick(verbs or select("verbs", frame=frames))
        if form == "infinitive":
            moment = self.zu_infinitive(clause, verb)
        elif form == "order":
            moment = self.imperative(clause, verb)
        else:
            if not subject:
                lean, heavy = setting._replace(rich=rich * 0.8), setting.depth == 0
                subject = self.noun_phrase("nominative", verb.subject, lean, heavy=heavy)
            clause["subject"] = subject
            setting = setting._replace(subject=subject.german[0].word)
            if setting.free and form == "statement" and self.chance(0.15):
                negation = self.new_id()
            key = self.helper(setting, verb, form)
            finite = self.complex_verb if key else self.simple_verb
            moment = finite(clause, verb, setting.time, key, negation, form)
            if negation:  # a modal has said the English part: cannot, must not
                said = [] if key not in ("", "haben") else [Token("not", "negation", (negation,))]
                clause["negation"] = Phrase(said, [Token("nicht", "negation", (negation,))])
        self.adverbials(clause, verb, setting, moment, negation, fronting)
        if not gap:
            self.objects(clause, verb, setting, negation)
        self.post_field(clause, verb, setting)
        return clause

    def helper(self, setting, verb, form) -> str:
        """The auxiliary or modal of a clause, "" for none; in questions one English word."""
        if "perfect" in setting.time:
            return "haben"
        if (
            not setting.free
            or "unwilled" in verb.adverbials
            or self.chance(0.4 if setting.rich else 0.7)
        ):
            return ""
        keys = ("can", "must", "may", "want") if form == "statement" else ("can",)
        return self.pick(keys if setting.time == "past" else (*keys, "will", "will"))

    def simple_verb(self, clause, verb, time, _, negation, form) -> str:
        """One finite verb, its prefix in the right bracket: ruft ... an. English may need do."""
        v, person = (self.new_id(),), clause["subject"].person
        helper, english = [], verb.third if person == "he" else verb.english
        if negation or (form == "question" and clause["subject"].german[0].word != "wer"):
            self.auxiliary(clause, "do", time, link=v[0])
            helper, english = clause["finite"].english, verb.english
        elif time == "past":
            english = verb.past
        clause["finite"] = Phrase(helper, [Token(verb_form(verb, time, person), "verb", v)])
        self.full_verb(clause, english, self.prefix(verb, v), v)
        return time

    def complex_verb(self, clause, verb, time, key, negation, _) -> str:
        """A modal and an infinitive, or haben or sein and a participle: kann, hat ... angerufen."""
        v, tense = (self.new_id(),), "past" if time in ("past", "pluperfect") else "present"
        if key == "haben":
            self.auxiliary(clause, verb.auxiliary, tense)
            english, german, moment = verb.participle, verb.partizip, time
        else:
            self.auxiliary(clause, key, tense, negation)
            english, german = verb.english, verb.prefix + verb.german
            moment = "modal" if tense == "present" else tense
        self.full_verb(clause, english, [Token(german, "verb", v)], v)
        return moment

    def prefix(self, verb, ids) -> list[Token]:
        return [Token(verb.prefix, "particle", ids)] if verb.prefix else []

    def zu_infinitive(self, clause, verb) -> str:
        """to invite, einzuladen: zu goes between prefix and verb, in one word with them."""
        v, to = (self.new_id(),), self.new_id()
        bracket = [Token("zu", "particle", (to,)), Token(verb.german, "verb", v)]
        if verb.prefix:
            bracket = [Token(verb.prefix + "zu" + verb.german, "verb", (*v, to))]
        self.full_verb(clause, verb.english, bracket, v)
        clause["verb"].english.insert(0, Token("to", "particle", (to,)))
        return ""

    def imperative(self, clause, verb) -> str:
        """call, ruf ... an: the verb comes first."""
        v = (self.new_id(),)
        clause["finite"] = Phrase((), [Token(verb.imperative, "verb", v)])
        self.full_verb(clause, verb.english, self.prefix(verb, v), v)
        return "modal"

    def auxiliary(self, clause, key, tense, negation=0, link=0) -> None:
        """A finite helper as auxiliaries.tsv writes it: `*` marks an English word that is linked
        surely to the German one, `!` one linked surely to nicht; others are linked possibly."""
        person, sign = clause["subject"].person, "negative" if negation else "positive"
        row = select("auxiliaries", key=key, tense=tense, sign=sign)[0]
        link = link or self.new_id()
        kind = "modal" if key in ("can", "must", "may", "want") else "auxiliary"
        english = []
        for mark in getattr(row, person).split():
            sure = (link,) * ("*" in mark) + (negation,) * ("!" in mark)
            word = mark.lstrip("*!")
            special = {"not": "negation", "to": "particle"}.get(word, kind)
            english.append(Token(word, special, sure, () if sure else (link,)))
        german = getattr(row, {"I": "ich", "he": "er", "they": "wir"}[person])
        clause["finite"] = Phrase(english, [Token(german, kind, (link,))])

    def full_verb(self, clause, english, german, ids) -> None:
        """picks up: verb and particle, both linked to the German verb and its prefix.

        An object pronoun stands before a true particle (pick +up: picks him up), but not before
        the preposition of listens to.
        """
        head = [word for word in english.split() if word[0] != "+"]
        tokens = [Token(word, "particle" if i else "verb", ids) for i, word in enumerate(head)]
        clause["verb"] = Phrase(tokens, german)
        tail = [word[1:] for word in english.split() if word[0] == "+"]
        clause["particle"] = Phrase([Token(word, "particle", ids) for word in tail])

    def adverbials(self, clause, verb, setting, moment, negation, fronting) -> None:
        """Time, frequency, place and manner, where the verb and the tense allow them."""
        rich, tags = setting.rich, verb.adverbials
        final = verb.frame in PLAIN and not setting.depth  # not after a clause, nor in one
        slot = "front" if fronting and self.chance(0.3) else "time" * final
        times = select("adverbs", kind="time", goes_with=moment)
        often = select("adverbs", kind="frequency", goes_with=moment)
        share = 0.04 + 0.6 * rich + 0.3 * (slot == "front")
        if times and slot and "time" not in self.used and self.chance(share):
            clause[slot] = self.adverb(self.pick(times))
            self.used.append("time")  # no second one before the next ; or .
        elif often and rich and setting.free and not negation and self.chance(0.12):
            place = "frequency" if len(clause["finite"].english) < 2 else "none"  # not: wants to
            clause[place] = self.adverb(self.pick(often))
        if "place" in tags and self.chance(0.04 + 0.4 * rich):
            free = fronting and not clause["front"].german and self.chance(0.3)
            clause["front" if free else "place"] = self.place(setting)
        manners = select("adverbs", kind="manner", goes_with=tags)
        if manners and rich and not negation and self.chance(0.2):
            clause["manner"] = self.adverb(self.pick(manners))

    def objects(self, clause, verb, setting, negation) -> None:
        """The complements of the verb, by its frame."""
        last = not any(clause[slot].english for slot in ("manner", "place", "time"))
        definite, both = bool(negation), verb.frame == "dative+accusative"
        if "dative" in verb.frame:
            whom = "person" if both else verb.object
            what = self.noun_phrase(
                "dative", whom, setting, heavy=last and not both, definite=definite
            )
            clause["pronoun" if is_pronoun(what) else "dative"] = what
        if "accusative" in verb.frame:
            if clause["pronoun"].german:  # not "gives her bread", which could be hers
                negation, definite = 0, True
            more = {"heavy": last, "negation": negation, "definite": definite}
            what = self.noun_phrase("accusative", verb.object, setting, **more)
            if what.negated:
                clause["negation"] = Phrase(clause["negation"].english)
            slot = "accusative" if what.definite else "indefinite"
            clause["pronoun" if is_pronoun(what) else slot] = what
        if verb.frame == "preposition":
            english, german, case = governed(verb)
            what = self.noun_phrase(case, verb.object, setting, heavy=last, definite=definite)
            clause["complement"] = self.prepositional(english, german, what)
        elif verb.frame == "goal":
            clause["complement"] = self.goal(verb, setting)

    def post_field(self, clause, verb, setting) -> None:
        """What follows the right bracket: a dass-clause, an infinitive with zu or um ... zu."""
        purpose = "purpose" in verb.adverbials and not clause["negation"].german
        if verb.frame == "clause":
            times = {"past": ("past", "past", "pluperfect"), "pluperfect": ("past",)}
            time = self.pick(times.get(setting.time, ("present", "perfect", "past")))
            that = self.words("that", "dass", "conjunction")
            below = self.clause(setting.inner(time))
            clause["post"] = self.enclosed(that, below, that.english[0])
        elif verb.frame == "infinitive":
            clause["post"] = self.infinitive(setting, Phrase())
        elif purpose and not setting.depth and self.chance(setting.rich / 2):
            order = self.new_id()
            opening = Phrase(
                [Token(word, "conjunction", (), (order,)) for word in ("in", "order")],
                [Token("um", "conjunction", (), (order,))],
            )
            clause["post"] = self.infinitive(setting, opening)

    def infinitive(self, setting, opening) -> Phrase:
        """, den Hund zu suchen, to look for the dog; , um ... zu, in order to."""
        inner = setting.inner(subject=setting.subject)
        verbs = select("verbs", adverbials="plan" if opening.german else "aim")
        clause = self.clause(inner, verbs=verbs, form="infinitive")
        return self.enclosed(opening, clause, clause["verb"].english[0])

    def copula(self, setting) -> Clause:
        """der Hund ist müde, the dog is tired: an adjective of state, without an ending."""
        clause = Clause()
        classes = self.pick(("person", "person", "animal"))
        bare = setting._replace(rich=0.0)
        clause["subject"] = subject = self.noun_phrase("nominative", classes, bare)
        self.auxiliary(clause, "be", "past" if setting.time == "past" else "present")
        if setting.free and self.chance(0.15):
            clause["negation"] = self.words("not", "nicht", "negation")
        of = subject.noun.classes if subject.noun else "person"
        row = self.pick(select("adjectives", classes=of, kind="state"))
        degree = self.words("very", "sehr", "adverb") if self.chance(0.3) else Phrase()
        clause["complement"] = degree + self.words(row.english, row.german, "adjective")
        return clause

    # ---------------------------------------------------------------------------- sentences

    def subordinate(self, setting) -> tuple:
        """A conjunction that fits the main clause's time, as row and phrase, and a clause."""
        row = self.pick(select("conjunctions", times=setting.time))
        time = "pluperfect" if row.english == "after" else setting.time
        inner = setting.inner(time="present" if time == "perfect" else time, free=row.free == "yes")
        copula = row.german not in ("bevor", "nachdem") and self.chance(0.12)
        clause = self.copula(inner) if copula else self.clause(inner)
        return row, self.words(row.english, row.german, "conjunction"), clause

    def main_clause(self, setting, front=NOTHING) -> Phrase:
        """A main clause, perhaps with a subordinate clause in its front field or after it."""
        draw = self.random()
        if front is NOTHING and draw < 0.3 * setting.rich:
            _, opening, below = self.subordinate(setting)
            front = opening + Phrase(below.english(), below.german("last"))
            front = front + self.mark(",")
        plain = setting.time != "perfect" and self.chance(0.07)
        clause = self.copula(setting) if plain else self.clause(setting, fronting=front is NOTHING)
        if front is not NOTHING:
            clause["front"] = front
        phrase = Phrase(clause.english(), clause.german("second"))
        if draw > 1 - 0.3 * setting.rich and not clause["post"].german:
            phrase = phrase + self.trailing(setting)
        return phrase

    def trailing(self, setting) -> Phrase:
        """, weil er müde war, because he was tired; before although English too has a comma."""
        row, opening, clause = self.subordinate(setting)
        return self.enclosed(opening, clause, opening.english[0], both=row.comma == "yes")

    def joined(self, left, setting) -> Phrase:
        """One more main clause: , and (und); , but (, aber); , so (, deshalb, inverting); or ;"""
        draw = self.random()
        if draw < 0.45:
            link = self.words("and", "und", "conjunction")
            comma = Token(",", "punctuation", (), link.english[0].sure)
            if left.german[-1].word == ",":  # a clause has ended: German has the comma, too
                comma = comma._replace(sure=(self.new_id(),), possible=())
                left.german[-1] = left.german[-1]._replace(sure=comma.sure)
            return left + Phrase([comma]) + link + self.main_clause(setting)
        if draw > 0.75:
            setting, self.used = setting._replace(time=self.time()), []
            return left + self.mark(";") + self.main_clause(setting)
        comma = self.mark(",")
        if draw < 0.65:
            link = self.words("but", "aber", "conjunction")
            return left + comma + link + self.main_clause(setting)
        front = self.words("so", "deshalb", "conjunction", "adverb")
        return left + comma + self.main_clause(setting, front)

    def time(self) -> str:
        return self.pick(("past", "past", "past", "present", "present", "perfect", "perfect"))

    def statement(self, length: int) -> Phrase:
        """Main clauses until about `length` words are said, and a full stop."""
        time, phrase = self.time(), NOTHING
        while True:
            room = length - len(phrase.german) - 1
            if phrase is not NOTHING and room < 5:
                return phrase + self.mark(".")
            clauses = max(1, round(room / (14 + 14 * self.random())))
            setting = Setting(time, richness(room / clauses))
            first = phrase is NOTHING
            phrase = self.main_clause(setting) if first else self.joined(phrase, setting)

    def question(self, rich: float) -> Phrase:
        """Verb first, or a wh-word in the front field: wer, was, wen, wem, warum, wo, wann."""
        setting, draw, order = Setting(self.time(), rich), self.random(), "second"
        if draw < 0.15:
            who = self.words("who", "wer", "pronoun")
            clause, front = self.clause(setting, subject=who, form="question"), NOTHING
        elif draw < 0.4:
            things = self.chance(0.5)
            classes = "text luggage small drink food" if things else "person"
            frames = "accusative" if things else "accusative dative"
            verb = self.pick(select("verbs", object=classes, frame=frames))
            german = {"accusative": "was" if things else "wen", "dative": "wem"}[verb.frame]
            clause = self.clause(setting, verbs=(verb,), gap=True, form="question")
            front = self.words("what" if things else "whom", german, "pronoun")
        else:
            clause, asked = self.clause(setting, form="question"), [("why", "warum")]
            if setting.time == "past" and not clause["time"].german:
                asked.append(("when", "wann"))
            if not clause["place"].german and not clause["complement"].german:
                asked.append(("where", "wo"))
            front = self.words(*self.pick(asked), "adverb")
            if clause["post"].german or self.chance(0.4):
                front, order = NOTHING, "first"
        clause["front"] = front
        phrase = Phrase(clause.english(question=draw > 0.15), clause.german(order))
        return phrase + self.mark("?")

    def order(self, rich: float) -> Phrase:
        """Anna , ruf ... an !: an order to one friend."""
        setting = Setting("present", rich, subject="du")
        verbs = [verb for verb in select("verbs", frame=PLAIN) if verb.imperative]
        clause = self.clause(setting, verbs=verbs, form="order")
        opening, draw = Phrase(), self.random()
        if draw < 0.35:
            opening = self.name() + self.mark(",")
        elif draw < 0.6:
            opening = self.words("please", "bitte", "adverb")
        phrase = opening + Phrase(clause.english(), clause.german("first"))
        if not clause["post"].german and self.chance(0.3 * rich):
            phrase = phrase + self.trailing(setting._replace(subject=""))
        return phrase + self.mark("!")


# ------------------------------------------------------------------------- from plan to sample


def richness(length: float) -> float:
    """How rich a clause of about that many words is."""
    return min(1.2, max(0.0, (length - 6) / 11))


def governed(verb) -> list[str]:
    """English and German preposition and the German case: ["for", "auf", "accusative"]."""
    return verb.preposition.replace("=", "+").split("+")


def is_pronoun(phrase: Phrase) -> bool:
    """Whether it moves to the head of the middle field."""
    return [token.kind for token in phrase.german] == ["pronoun"]


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
                ids = last.sure + token.sure, last.possible + token.possible
                token = Token(",", "punctuation", *ids)
        kept.append(token)
    return kept


def linked(german: list[Token], english: list[Token]) -> Sample:
    """Turn shared ids into links: sure if both tokens hold the id surely, else possible."""
    holders: dict[int, list] = {}
    for i, token in enumerate(german):
        for key in token.sure + token.possible:
            holders.setdefault(key, []).append((i, key in token.sure))
    sure, possible = set(), set()
    for j, token in enumerate(english):
        for key in token.sure + token.possible:
            for i, certain in holders.get(key, ()):
                possible.add((i, j))
                if certain and key in token.sure:
                    sure.add((i, j))
    words, kinds = ([tuple(t[n] for t in side) for side in (german, english)] for n in (0, 1))
    return Sample(*words, frozenset(sure), frozenset(possible), *kinds)


def written(words: tuple[str, ...]) -> str:
    """Words as a sentence is written: a capital first, no space before a mark or an 's."""
    text = " ".join(words)
    for mark in (",", ".", ";", "?", "!", "'s"):
        text = text.replace(f" {mark}", mark)
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
    left = {length: count for length, count in quota.items() if count > 0}
    samples, misses = [], 0
    while left:
        lengths = list(left)
        aim = max(grammar.pick(lengths), grammar.pick(lengths), key=left.get)
        sides = grammar.sentence(aim)
        length = len(sides[side])
        words = [tuple(token.word for token in tokens) for tokens in sides]
        fresh = not grammar.fresh or not fresh_names().isdisjoint(words[0])
        if length not in left or not fresh or not seen.isdisjoint(words):
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
