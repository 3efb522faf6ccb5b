"""A checker of German and English that knows nothing of the generator.

It reads the words of the lexicon, but has its own paradigms and its own idea of a German sentence:
it cuts the embedded clauses out between their commas (they end with their finite verb), splits the
rest into main clauses, gathers noun phrases, and asks of every clause whether its finite verb
stands where it must, its right bracket is filled, and its noun phrases can be shared out among
subject and objects with all endings agreeing.

    german_faults(("der", "Hund", "schlafen", "."))  ->  ["no subject agrees with schlafen"]
    english_faults(("the", "dog", "sleep", "."))     ->  ["he sleep"]
"""

import itertools
from functools import cache
from pathlib import Path

LEXICON = Path(__file__).parents[3] / "src" / "attnmt" / "grammar" / "lexicon"
STOPS = (".", "?", "!", ";")


class Fault(Exception):
    """What is wrong with a sentence."""


@cache
def table(name):
    lines = (LEXICON / f"{name}.tsv").read_text(encoding="utf-8").splitlines()
    head, *rows = [line.split("\t") for line in lines if line and not line.startswith("#")]
    return [dict(zip(head, ["" if c == "-" else c for c in row], strict=True)) for row in rows]


def words_of(marked):
    """The words of an adverbial: two/number/1 years/noun/2 -> two, years."""
    return tuple(word.split("/")[0] for word in marked.split())


# ------------------------------------------------------------------ paradigms: case + gender
# n nominative, a accusative, d dative, g genitive; m, f, n, and p for plural

ARTICLE = {
    "der": "nm df gf gp",
    "die": "nf af np ap",
    "das": "nn an",
    "den": "am dp",
    "dem": "dm dn",
    "des": "gm gn",
}
RELATIVE = {"der": "nm df", "die": "nf af np ap", "das": "nn an", "den": "am", "dem": "dm dn"}
RELATIVE["denen"] = "dp"
EIN = {"": "nm nn an", "e": "nf af", "en": "am", "em": "dm dn", "er": "df gf", "es": "gm gn"}
KEIN = EIN | {"e": "nf af np ap", "en": "am dp", "er": "df gf gp"}
DIESER = {"er": "nm df gf gp", "e": "nf af np ap", "es": "nn an gm gn", "en": "am dp"}
DIESER["em"] = "dm dn"
VIELE = {"e": "np ap", "en": "dp", "er": "gp"}

DETERMINERS = {word: ("weak", set(cells.split())) for word, cells in ARTICLE.items()}
for stem in ("mein", "sein", "ihr", "unser", "kein", "ein"):
    for tail, cells in (EIN if stem == "ein" else KEIN).items():
        DETERMINERS[stem + tail] = ("bare" if not tail else "weak", set(cells.split()))
for tail, cells in DIESER.items():
    DETERMINERS["dies" + tail] = ("weak", set(cells.split()))
for stem in ("viel", "einig"):
    for tail, cells in VIELE.items():
        DETERMINERS[stem + tail] = ("strong", set(cells.split()))


def adjective_ending(kind, cell):
    """The one ending an adjective may have, by what stands before it."""
    if kind == "weak" or (kind == "bare" and cell not in ("nm", "nn", "an")):
        return "e" if cell in ("nm", "nf", "nn", "af", "an") else "en"
    if cell in ("gm", "gn"):
        return "en"
    strong = {"e": "nf af np ap", "er": "nm df gf gp", "es": "nn an", "em": "dm dn", "en": "am dp"}
    return next(tail for tail, cells in strong.items() if cell in cells.split())


def noun_cells(row, word):
    """The cases in which a noun may look like this."""
    cells, gender = set(), row["gender"]
    for case in "nadg":
        weak = row["declension"] == "weak" and case != "n"
        singular = row["genitive"] if weak or case == "g" else row["german"]
        if word == singular:
            cells.add(case + gender)
        plural = row["plural"]
        if case == "d" and plural and not plural.endswith(("n", "s")):
            plural += "n"
        if plural and word == plural:
            cells.add(case + "p")
    return cells


@cache
def nouns():
    found = {}
    for row in table("nouns"):
        for word in {row["german"], row["genitive"], row["plural"], row["plural"] + "n"}:
            if noun_cells(row, word):
                found.setdefault(word, set()).update(noun_cells(row, word))
    return found


@cache
def adjectives():
    stems = {row["stem"]: row["german"] for row in table("adjectives")}
    forms = {s + e: e for s in stems for e in ("e", "en", "er", "es", "em")}
    return forms, set(stems.values())


# ------------------------------------------------------------------ verbs
# (lemma row or auxiliary, form, persons); forms: finite, infinitive, participle, imperative, zu

AUXILIARIES = {
    "haben": "habe:1s hat:3s haben:1p3p hatte:1s3s hatten:1p3p",
    "sein": "bin:1s ist:3s sind:1p3p war:1s3s waren:1p3p",
    "werden": "werde:1s wird:3s werden:1p3p",
    "können": "kann:1s3s können:1p3p konnte:1s3s konnten:1p3p",
    "müssen": "muss:1s3s müssen:1p3p musste:1s3s mussten:1p3p",
    "dürfen": "darf:1s3s dürfen:1p3p durfte:1s3s durften:1p3p",
    "wollen": "will:1s3s wollen:1p3p wollte:1s3s wollten:1p3p",
}


@cache
def verbs():
    found = {}

    def add(word, row, form, persons=""):
        found.setdefault(word, []).append((row, form, persons))

    for lemma, forms in AUXILIARIES.items():
        for form in forms.split():
            word, persons = form.split(":")
            add(word, lemma, "finite", persons)
    for row in table("verbs"):
        past, prefix = row["preterite"], row["prefix"]
        finite = ((row["er"], "3s"), (row["german"], "1p3p"), (past, "1s3s"))
        finite += ((past + ("n" if past[-1] == "e" else "en"), "1p3p"),)
        for word, persons in finite:
            add(word, row, "apart" if prefix else "finite", persons)
            if prefix:
                add(prefix + word, row, "finite", persons)
        add(prefix + row["german"], row, "infinitive")
        add(row["partizip"], row, "participle")
        if row["imperative"]:
            add(row["imperative"], row, "imperative")
        if prefix:
            add(prefix + "zu" + row["german"], row, "zu")
    return found


SUBORDINATORS = {row["german"] for row in table("conjunctions")} | {"dass"}
ADVERBS = sorted((words_of(row["german"]) for row in table("adverbs")), key=len)[::-1]
PRONOUNS = {"ich": ("n", "1s"), "er": ("n", "3s"), "wir": ("n", "1p"), "sie": ("n", "3s3p")}
PRONOUNS |= {"mich": ("a", ""), "ihn": ("a", ""), "mir": ("d", ""), "ihm": ("d", "")}
PRONOUNS |= {"ihr": ("d", ""), "ihnen": ("d", ""), "uns": ("ad", "")}
QUESTIONS = {"wer": ("n", "3s"), "was": ("a", ""), "wen": ("a", ""), "wem": ("d", "")}
PREPOSITIONS = ("in", "an", "auf", "hinter", "vor", "neben", "zu", "nach", "mit", "von")
MELTED = {"im": "dem", "am": "dem", "vom": "dem", "zum": "dem", "zur": "der"}
NUMBERS = {row["german"] for row in table("determiners") if row["kind"] == "number"}
PREFIXES = {row["prefix"] for row in table("verbs")} - {""}


def is_finite(word):
    return any(form == "finite" for _, form, _ in verbs().get(word, ()))


class Item:
    """A constituent: kind, the cells it may have, its gender, and whether it is plural."""

    def __init__(self, kind, word="", cells=(), persons=""):
        self.kind, self.word, self.cells, self.persons = kind, word, set(cells), persons

    def cases(self):
        return {cell[0] for cell in self.cells}


# ------------------------------------------------------------------ German


def german_faults(words):
    """Everything found wrong with a tokenised German sentence; an empty list if nothing is."""
    try:
        German(list(words)).sentence()
    except Fault as fault:
        return [str(fault)]
    return []


class German:
    def __init__(self, words):
        self.words = words
        self.in_infinitive = False  # whose zu must not be taken for another one's

    def sentence(self):
        words = self.words
        if not words or words[-1] not in ".?!":
            raise Fault("no mark at the end")
        if any(a in (",", *STOPS) and b in (",", *STOPS) for a, b in itertools.pairwise(words)):
            raise Fault("two marks in a row")
        if words[-1] == "!":
            self.order(self.flat(0, len(words))[0])
            return
        items, _ = self.flat(0, len(words))
        clauses = [[]]
        for item in items:
            if item.kind == "stop":
                clauses.append([])
            else:
                clauses[-1].append(item)
        for clause in clauses[:-1]:
            self.coordinated(clause, words[-1] == "?")

    # -------- cutting out embedded clauses

    def opens(self, i):
        """Whether an embedded clause opens at word i: conjunction, relative pronoun, um."""
        word = self.words[i]
        if word in SUBORDINATORS or word == "um":
            return True
        if i == 0 or self.words[i - 1] != ",":
            return False
        if word in PREPOSITIONS and self.words[i + 1] in RELATIVE:
            return self.is_relative(i + 1)
        return word in RELATIVE and self.is_relative(i)

    def is_relative(self, i):
        """A relative pronoun is not the article of the word behind it: the clause ends in a
        finite verb before any finite verb in second place could come."""
        return self.embedded_end(i) is not None

    def embedded_end(self, i):
        """Index of the finite verb (or zu-infinitive) that ends the clause opening at i."""
        infinitive = self.words[i] == "um"
        j = i + 1
        while j < len(self.words):
            word = self.words[j]
            if word in STOPS:
                return None
            if word == ",":
                if self.opens(j + 1):
                    inner = self.embedded_end(self.skip(j + 1))
                    if inner is None or self.words[inner + 1] != ",":
                        return None
                    j = inner + 2
                    continue
                return None
            if infinitive:
                if self.zu(j):
                    return self.zu(j)
            elif self.zu(j):
                return None  # an infinitive clause, and the pronoun was an article
            elif is_finite(word):
                following = self.words[j + 1]
                if following in (",", *STOPS):
                    return j
                if not (following in verbs() and is_finite(following)):
                    return None
            j += 1
        return None

    def skip(self, i):
        return i + 1 if self.words[i] in PREPOSITIONS else i

    def zu(self, j):
        """The last index of a zu-infinitive that begins at j, else 0."""
        forms = verbs()
        if self.words[j] == "zu" and any(
            form == "infinitive" and not row["prefix"]
            for row, form, _ in forms.get(self.words[j + 1], ())
            if isinstance(row, dict)
        ):
            return j + 1
        return j if any(form == "zu" for _, form, _ in forms.get(self.words[j], ())) else 0

    def opens_infinitive(self, i):
        """Whether a bare infinitive clause (without um) begins at word i, after a comma."""
        for j in range(i, len(self.words)):
            if self.zu(j):
                return True
            if self.words[j] in STOPS or is_finite(self.words[j]):
                return False
            if self.words[j] in ("und", "aber", "deshalb") and self.words[j - 1] == ",":
                return False
            if self.words[j] == ",":
                return self.opens(j + 1) and self.after_embedded(j)
        return False

    def after_embedded(self, j):
        end = self.embedded_end(self.skip(j + 1))
        return end is not None and self.opens_infinitive(end + 2)

    # -------- from words to items

    def flat(self, i, stop):
        """Items from word i on; embedded clauses are checked and become one item each."""
        items = []
        while i < stop:
            word = self.words[i]
            if word in STOPS:
                items.append(Item("stop", word))
                i += 1
            elif word == ",":
                i = self.comma(items, i)
            elif word in SUBORDINATORS:
                if items and items[-1].kind not in ("stop", "link"):
                    raise Fault(f"no comma before {word}")
                i = self.embedded(items, i, i)
                if self.words[i] != ",":
                    raise Fault("no comma after a fronted clause")
                i += 1
            else:
                i = self.item(items, i)
        return items, i

    def comma(self, items, i):
        """A comma opens an embedded clause, or stands before aber and deshalb, or after a name."""
        word = self.words[i + 1]
        if word in ("aber", "deshalb"):
            items.append(Item("stop", ","))
            if word == "aber":
                items.append(Item("link", word))
                return i + 2
            return i + 1
        if self.words[-1] == "!" and i == 1 and self.is_name(0):
            items.clear()
            return i + 1
        if (self.opens(i + 1) and word in RELATIVE) or (word in PREPOSITIONS and self.opens(i + 1)):
            head = items[-1] if items else None
            return self.closed(self.embedded(items, i + 1, self.skip(i + 1), head))
        if self.opens(i + 1) or self.opens_infinitive(i + 1):
            return self.closed(self.embedded(items, i + 1, i + 1))
        raise Fault(f"a comma before {word}")

    def closed(self, i):
        """Step over the comma that closes an embedded clause, unless another mark follows."""
        if self.words[i] in STOPS:
            return i
        if self.words[i] != ",":
            raise Fault(f"no comma before {self.words[i]}")
        following = self.words[i + 1]
        if following in ("aber", "deshalb") or following in SUBORDINATORS or following == "um":
            return i
        return i + 1 if self.in_infinitive or not self.opens_infinitive(i + 1) else i

    def embedded(self, items, start, pronoun, head=None):
        """Check the embedded clause that opens at `start`; return the index after its end."""
        word = self.words[pronoun]
        relative = word in RELATIVE and word not in SUBORDINATORS and head is not None
        opener = word if word in SUBORDINATORS or word == "um" else ""
        if relative or opener in SUBORDINATORS:
            end = self.embedded_end(pronoun)
        else:
            end = self.infinitive_end(start)
        if end is None:
            raise Fault(f"no finite verb at the end of the clause with {word}")
        if relative:
            if head.kind not in ("np", "pp"):
                raise Fault(f"{word} has nothing to refer to")
            self.relative(head, start, pronoun, end)
            head.persons = head.persons.replace("!", "")
        else:
            before, self.in_infinitive = self.in_infinitive, opener not in SUBORDINATORS
            body, _ = self.flat(start + bool(opener), end + 1)
            self.in_infinitive = before
            self.clause(body, "last" if opener in SUBORDINATORS else "zu")
            items.append(Item("clause", opener or "zu"))
        return end + 1

    def infinitive_end(self, i):
        j = i
        while j < len(self.words):
            if self.zu(j):
                return self.zu(j)
            if self.words[j] == "," and self.opens(j + 1):
                j = self.embedded_end(self.skip(j + 1)) + 1
            j += 1
        return None

    def relative(self, head, start, pronoun, end):
        """The pronoun has its case from its clause, gender and number from its head."""
        genders = {cell[1] for cell in head.cells}
        cells = {cell for cell in RELATIVE[self.words[pronoun]].split() if cell[1] in genders}
        if not cells:
            raise Fault(f"{self.words[pronoun]} does not agree with {head.word}")
        body, _ = self.flat(pronoun + 1, end + 1)
        persons = "".join({"3p" if cell[1] == "p" else "3s" for cell in cells})
        item = Item("np", self.words[pronoun], cells, persons)
        if start != pronoun:
            item = self.prepositional(self.words[start], item)
        self.clause([item, *body], "last")

    def prepositional(self, preposition, item):
        wanted = "da" if preposition == "auf" else "d"
        cells = {cell for cell in item.cells if cell[0] in wanted}
        if not cells:
            raise Fault(f"{preposition} does not govern {item.word}")
        return Item("pp", preposition, cells)

    def item(self, items, i):
        """One constituent that begins at word i."""
        words = self.words
        for adverb in ADVERBS:
            if tuple(words[i : i + len(adverb)]) == adverb:
                items.append(Item("adverb", adverb[0]))
                return i + len(adverb)
        word = words[i]
        if word == "und" or word == "aber":
            items.append(Item("link", word))
        elif word in ("nicht", "bitte", "deshalb", "warum", "wo", "wann"):
            items.append(Item("adverb", word))
        elif word in QUESTIONS:
            case, persons = QUESTIONS[word]
            items.append(Item("np", word, {case + "m"}, persons))
        elif word == "zu" and self.zu(i):
            items.append(Item("verb", words[i + 1] + "/zu"))
            return i + 2
        elif word in PREFIXES and (i + 1 == len(words) or self.ends(i + 1)) and self.apart(items):
            items.append(Item("prefix", word))
        elif word in MELTED or word in PREPOSITIONS:
            return self.prepositional_phrase(items, i)
        elif word in PRONOUNS and not (word == "ihr" and self.noun_follows(i)):
            cases, persons = PRONOUNS[word]
            items.append(Item("np", word, {case + "x" for case in cases}, persons))
            items[-1].kind = "pronoun"
        elif word == "sehr" and words[i + 1] in adjectives()[1] and not self.noun_follows(i + 1):
            items.append(Item("predicate", words[i + 1]))
            return i + 2
        elif word in adjectives()[1] and not self.noun_follows(i):
            items.append(Item("predicate", word))
        elif word in verbs():
            items.append(Item("verb", word))
        else:
            phrase, i = self.noun_phrase(i)
            items.append(phrase)
            return i
        return i + 1

    def ends(self, i):
        return self.words[i] in (",", "und", *STOPS)

    def apart(self, items):
        return any(
            form in ("apart", "imperative") and row["prefix"]
            for item in items
            if item.kind == "verb"
            for row, form, _ in verbs().get(item.word, ())
        )

    def noun_follows(self, i):
        """Whether word i is the determiner or adjective of a noun; "ihr Katzen" is not."""
        j = i + 1
        if self.words[i] == "ihr" and self.words[j] in nouns():
            return bool(nouns()[self.words[j]] & {"nm", "nn", "an"})
        while self.words[j] in adjectives()[0] or self.words[j] == "sehr":
            j += 1
        return self.words[j] in nouns()

    def prepositional_phrase(self, items, i):
        word = self.words[i]
        if word in MELTED:
            phrase, i = self.noun_phrase(i + 1, ("weak", set(ARTICLE[MELTED[word]].split())))
            word = {"im": "in", "am": "an", "vom": "von", "zum": "zu", "zur": "zu"}[word]
        elif self.words[i + 1] in PRONOUNS and not (
            self.words[i + 1] == "ihr" and self.noun_follows(i + 1)
        ):
            cases, _ = PRONOUNS[self.words[i + 1]]
            phrase, i = Item("np", self.words[i + 1], {case + "x" for case in cases}), i + 2
        else:
            phrase, i = self.noun_phrase(i + 1)
        items.append(self.prepositional(word, phrase))
        return i

    def noun_phrase(self, i, determiner=None):
        """A name, or determiner, adjectives and noun, whose cells all agree."""
        words, start = self.words, i
        if words[i] in ("Herr", "Herrn", "Frau") and self.is_name(i + 1):
            cases = {"Herr": "n", "Herrn": "ad", "Frau": "nad"}[words[i]]
            return Item("np", words[i + 1], {case + "x" for case in cases}, "3s"), i + 2
        if determiner is None and self.is_name(i):
            return Item("np", words[i], {case + "x" for case in "nad"}, "3s"), i + 1
        kind, cells = determiner or ("strong", {c + g for c in "nadg" for g in "mfnp"})
        if determiner is None and words[i] in DETERMINERS:
            kind, cells = DETERMINERS[words[i]]
            i += 1
        elif determiner is None and words[i] in NUMBERS:
            cells = {case + "p" for case in "nadg"}
            i += 1
        tails = []
        while words[i] in adjectives()[0] or words[i] == "sehr":
            if words[i] != "sehr":
                tails.append(adjectives()[0][words[i]])
            i += 1
        if words[i] not in nouns():
            raise Fault(f"no noun at {' '.join(words[start : i + 1])}")
        text = " ".join(words[start : i + 1])
        cells = {
            cell
            for cell in cells & nouns()[words[i]]
            if all(tail == adjective_ending(kind, cell) for tail in tails)
        }
        if not cells:
            raise Fault(f"no agreement in {text}")
        persons = "".join(sorted({"3p" if cell[1] == "p" else "3s" for cell in cells}))
        return Item("np", text, cells, persons), i + 1

    def is_name(self, i):
        word = self.words[i]
        return word[0].isupper() and word not in nouns() and word.isalpha() and word not in TITLES

    # -------- clauses

    def order(self, items):
        """An imperative: please, verb, middle field, prefix."""
        items = [item for item in items if item.kind != "stop"]
        if items and items[0].word == "bitte":
            items = items[1:]
        verb = items[0] if items else None
        rows = [
            row
            for row, form, _ in verbs().get(verb.word if verb else "", ())
            if form == "imperative"
        ]
        if not rows:
            raise Fault("no imperative at the head")
        row, rest = rows[0], items[1:]
        self.bracket(row, rest, row["prefix"])
        self.roles(row, [item for item in rest if item.kind not in ("prefix", "clause")], None)

    def coordinated(self, items, question):
        """One main clause, or several with und between: some way of splitting must do."""
        if items and items[0].kind == "link":
            items = items[1:]
        links = [n for n, item in enumerate(items) if item.kind == "link" and item.word == "und"]
        try:
            self.main(items, question)
            return
        except Fault as error:
            fault = error
        for n in links:
            try:
                self.main(items[:n], question)
                self.coordinated(items[n + 1 :], question)
                return
            except Fault as error:
                fault = error if len(links) < 2 else fault
        raise fault

    def main(self, items, question):
        """Verb second; in a yes-no question verb first."""
        places = [n for n, item in enumerate(items) if item.kind == "verb"]
        if not places:
            raise Fault("no verb")
        first = places[0]
        if not any(form in ("finite", "apart") for _, form, _ in verbs()[items[first].word]):
            raise Fault(f"{items[first].word} is not finite")
        if first == 0 and not question:
            raise Fault("nothing before the finite verb")
        if first and not self.one_constituent(items[:first]):
            raise Fault(f"{items[first].word} does not stand second")
        self.clause(items, "main", first)

    def one_constituent(self, front):
        """A clause, adverbial or phrase alone, or a noun phrase with what belongs to it."""
        head, *rest = front
        if head.kind in ("adverb", "clause", "pronoun"):
            return not rest
        previous = None
        for item in rest:
            if item.kind == "link":
                previous = item
                continue
            coordinated = previous is not None and previous.kind == "link"
            genitive = item.kind == "np" and "g" in item.cases()
            attribute = item.kind == "pp" and item.word in ("mit", "von")
            if not (coordinated or genitive or attribute):
                return False
            previous = item
        return head.kind in ("np", "pp")

    def clause(self, items, order, place=None):
        """Find the finite verb and the right bracket, then share out the noun phrases."""
        if order == "zu":
            last = items[-1] if items else None
            word = last.word.removesuffix("/zu") if last else ""
            wanted = "infinitive" if last and last.word.endswith("/zu") else "zu"
            rows = [row for row, form, _ in verbs().get(word, ()) if form == wanted]
            if not rows:
                raise Fault("no zu-infinitive at the end")
            self.roles(rows[0], items[:-1], None)
            return
        if order == "last":
            if not items or items[-1].kind != "verb":
                raise Fault("no finite verb at the end")
            finite, rest = items[-1].word, items[:-1]
        else:
            finite, rest = items[place].word, items[:place] + items[place + 1 :]
        fault = Fault(f"{finite} is not finite")
        for row, form, persons in verbs()[finite]:
            if form not in ("finite", "apart"):
                continue
            if isinstance(row, dict) and row["prefix"] and (form == "apart") != (order == "main"):
                continue  # the prefix stands apart in a main clause, and nowhere else
            try:
                self.predicate(row, form, persons, list(rest), order)
                return
            except Fault as error:
                fault = error
        raise fault

    def predicate(self, row, form, persons, rest, order):
        """The verb that governs the clause: the finite one, or the one in the right bracket."""
        if isinstance(row, str):
            copula = [item for item in rest if item.kind == "predicate"]
            if row == "sein" and copula:
                tail = [item for item in rest if item.kind not in ("predicate", "clause")]
                self.roles({"frame": "copula", "object": ""}, tail, persons)
                return
            wanted = "participle" if row in ("haben", "sein") else "infinitive"
            kept = [item for item in rest if item.kind != "clause" or item is rest[0]]
            if not kept or kept[-1].kind != "verb":
                raise Fault(f"the right bracket of {row} is empty")
            rows = [r for r, f, _ in verbs()[kept[-1].word] if f == wanted]
            if wanted == "participle":
                rows = [r for r in rows if r["auxiliary"] == row]
            if not rows:
                raise Fault(f"{row} with {kept[-1].word}")
            after = rest[rest.index(kept[-1]) + 1 :]
            if any(item.kind != "clause" for item in after):
                raise Fault("something behind the right bracket")
            self.roles(rows[0], kept[:-1], persons)
            return
        self.bracket(row, rest, row["prefix"] if form == "apart" else "")
        self.roles(row, [i for i in rest if i.kind not in ("prefix", "clause")], persons)

    def bracket(self, row, rest, prefix):
        if any(item.kind == "verb" for item in rest):
            raise Fault("a second verb")
        body = [item for item in rest if item.kind != "clause"]
        found = [item.word for item in body if item.kind == "prefix"]
        if found != ([prefix] if prefix else []):
            raise Fault(f"prefix {found} where {row['german']} wants {prefix!r}")
        if prefix and body[-1].kind != "prefix":
            raise Fault("something behind the prefix")

    def roles(self, row, items, persons):
        """Share out noun phrases: a subject (unless `persons` is None), the verb's objects, and
        genitives and attributes behind other phrases."""
        frame = row["frame"]
        needs = {"accusative": "a", "dative": "d", "dative+accusative": "da"}.get(frame, "")
        needs = sorted(needs + ("n" if persons is not None else ""))
        if any(item.kind == "verb" for item in items):
            raise Fault("a verb too many")
        if "governs" not in row and frame == "preposition":
            wanted, case = row["preposition"].split("=")[1].split("+")
            if not any(
                item.kind == "pp" and item.word == wanted and case[0] in item.cases()
                for item in items
            ):
                raise Fault(f"{row['german']} without {wanted} and its case")
        elif any(item.kind == "pp" and item.cases() == {"a"} for item in items):
            raise Fault("a place in the accusative")
        if frame == "goal" and not any(i.word in ("zu", "nach") for i in items if i.kind == "pp"):
            raise Fault(f"{row['german']} goes nowhere")
        if not any(self.share(way, needs, persons) for way in self.together(items)):
            words = " | ".join(item.word for item in items)
            raise Fault(f"no roles in {words} for {row.get('german', 'sein')}")

    def together(self, items):
        """Every way of joining what und joins: one plural phrase, in a case both can have.

        Yields the noun phrases alone; `follows` marks one that stands behind another phrase.
        """
        links = [n for n, item in enumerate(items) if item.kind == "link"]
        if not links:
            for before, item in zip([None, *items], items):
                item.follows = before is not None and before.kind in ("np", "pp")
            yield [item for item in items if item.kind in ("np", "pronoun")]
            return
        n = links[0]
        right = items[n + 1] if n + 1 < len(items) else None
        if right is None or right.kind != "np":
            raise Fault("und joins nothing")
        for back in range(n - 1, -1, -1):
            left = items[back]
            if left.kind not in ("np", "pp"):
                return
            cases = left.cases() & right.cases()
            if cases:
                both = Item(left.kind, left.word, {case + "p" for case in cases}, "3p")
                yield from self.together(
                    [*items[:back], both, *items[back + 1 : n], *items[n + 2 :]]
                )

    def share(self, phrases, needs, persons):
        """Whether the phrases can take the needed cases, each one once."""
        if not phrases:
            return not needs
        item, *rest = phrases
        for case in item.cases():
            if case in needs:
                if case == "n" and not self.agrees(item, persons):
                    continue
                left = list(needs)
                left.remove(case)
                if self.share(rest, left, persons):
                    return True
        if item.follows and item.kind == "np" and "g" in item.cases():
            return self.share(rest, needs, persons)
        return False

    def agrees(self, item, persons):
        """Whether the nominative reading of a phrase agrees with the verb."""
        if item.kind == "pronoun" or item.word in QUESTIONS or item.persons == "3p":
            mine = {item.persons[k : k + 2] for k in range(0, len(item.persons), 2)}
        else:
            mine = {"3p" if c == "np" else "3s" for c in item.cells if c[0] == "n"}
        return bool(mine & {persons[k : k + 2] for k in range(0, len(persons), 2)})


TITLES = ("Herr", "Herrn", "Frau")


# ------------------------------------------------------------------ English

DO = {"do": "1s3p", "does": "3s", "did": "1s3s3p"}
HAVE = {"have": "1s3p", "has": "3s", "had": "1s3s3p"}
BE = {"am": "1s", "is": "3s", "are": "3p", "was": "1s3s", "were": "3p"}
MODALS = dict.fromkeys(("can", "could", "cannot", "must", "may", "will"), "1s3s3p")
HELPERS = DO | HAVE | BE | MODALS
SUBJECTS = {"I": "1s", "he": "3s", "she": "3s", "we": "3p", "they": "3p"}
ENGLISH_ADVERBS = [" ".join(words_of(row["english"])) for row in table("adverbs")]
CONJUNCTIONS = {row["english"] for row in table("conjunctions")}


@cache
def english_verbs():
    """word -> the persons it may be finite with, and the non-finite forms it may be."""
    found = {"want": {"1s3p", "base"}, "wants": {"3s"}, "wanted": {"1s3s3p"}}
    for row in table("verbs"):
        forms = (("english", "1s3p"), ("english", "base"), ("third", "3s"))
        for column, form in (*forms, ("past", "1s3s3p"), ("participle", "participle")):
            found.setdefault(row[column].split()[0], set()).add(form)
    return found


@cache
def english_nouns():
    """The last word of a noun -> 3s or 3p."""
    found = {}
    for row in table("nouns"):
        found[row["english"].split()[-1]] = "3s"
        if row["english_plural"]:
            found[row["english_plural"].split()[-1]] = "3p"
    return found


@cache
def first_parts():
    """The first words of compounds."""
    return {row["english"].split()[0] for row in table("nouns") if " " in row["english"]}


QUALITIES = {row["english"] for row in table("adjectives")} | {"very"}
DETERMINING = {row["english"] for row in table("determiners")} | QUALITIES | {"an"}


def english_faults(words):
    """What is wrong with agreement, verb forms and articles of a tokenised English sentence."""
    for word, after, third in zip(words, words[1:], [*words[2:], ""]):
        compound = after in first_parts() and third in english_nouns()
        number = english_nouns().get(third if compound else after)
        if word in ("a", "an") and ((word == "an") != (after[0] in "aeio") or number == "3p"):
            return [f"{word} {after}"]
        if (word == "this" and number == "3p") or (word in ("these", "many") and number == "3s"):
            return [f"{word} {after}"]
        if word in (",", *STOPS) and after in (",", *STOPS):
            return ["two marks in a row"]
    try:
        English(list(words)).check()
    except Fault as fault:
        return [str(fault)]
    return []


class English:
    """Reads from left to right. Every clause is a frame that waits for a subject and its verb."""

    def __init__(self, words):
        text = " ".join(words)
        for adverb in ENGLISH_ADVERBS:
            text = text.replace(f" {adverb} ", " ").removeprefix(adverb + " ")
        self.words = text.split()
        self.frames = []
        self.noun = "3s"  # number of the last noun, for who and that

    def check(self):
        words = self.words
        self.frames = [self.frame(done=words[-1] == "!")]
        i = 0
        while i < len(words):
            i = self.read(i)

    @staticmethod
    def frame(subject=None, done=False):
        rest = {"helper": "", "inverted": "", "we": False, "owner": ""}
        return {"subject": subject, "done": done} | rest

    def read(self, i):
        """Take one word or phrase; return the index behind it."""
        word, top = self.words[i], self.frames[-1]
        after = self.words[i + 1] if i + 1 < len(self.words) else ""
        if word in (",", *STOPS):
            if any(frame["subject"] and not frame["done"] for frame in self.frames):
                raise Fault("a subject without a verb")
            if any(frame["helper"] for frame in self.frames):
                raise Fault("a helper without a verb")
            self.frames = [self.frame(done=self.words[-1] == "!" and i == 1)]
        elif word in ("who", "whom", "that"):
            subject = word == "who" or (word == "that" and self.finite(after))
            self.frames.append(self.frame(self.noun if subject else None))
        elif word in CONJUNCTIONS and (top["subject"] or top["done"]):
            self.frames.append(self.frame())
        elif word in HELPERS and not (word == "have" and top["helper"]):
            self.helper(word)
        elif word == "to" and after in english_verbs() and self.words[i - 1][:6] != "listen":
            if "base" not in english_verbs()[after]:
                raise Fault(f"to {after}")
            top["helper"] = ""
            return i + 2
        elif word in english_verbs() and after != "'s":
            self.verb(word)
        elif word in SUBJECTS:
            top["we"] = word == "we"
            self.phrase(SUBJECTS[word])
        elif word in ("her", "their") and self.owns(i):
            if top["done"] or top["helper"]:
                self.owner(top, word)
            elif top["subject"] is None and self.governed(i):
                top["owner"] = word  # in their house the men sleep: the subject comes later
            elif word == "their":
                raise Fault("their in the subject")
        elif word in first_parts() and after in english_nouns():
            pass  # car, in car key
        elif word[0].isupper() or word in english_nouns():
            return self.noun_phrase(i)
        return i + 1

    def finite(self, word):
        return word in HELPERS or word in english_verbs() or word in ("not", "never")

    def noun_phrase(self, i):
        """A noun or name with its owners before it and what and joins to it."""
        word = self.words[i]
        if word in ("Mr.", "Mrs."):
            return i + 1
        after = self.words[i + 1]
        if after == "'s":
            return i + 2
        number = english_nouns().get(word, "3s")
        if self.governed(i):
            self.noun = number
            return i + 1
        self.phrase(number)
        self.noun = number
        return i + 1

    def owner(self, frame, word):
        """their with a subject they, her with any other."""
        theirs = frame["subject"] == "3p" and not frame["we"]
        if word != ("their" if theirs else "her"):
            raise Fault(f"{word} with a subject {frame['subject']}")

    def owns(self, i):
        """Whether her or their at i is a possessive: an adjective or a noun stands behind it."""
        after = self.words[i + 1]
        return after in QUALITIES | first_parts() or after in english_nouns()

    def governed(self, i):
        """Whether a preposition stands before the noun phrase that ends at i."""
        j = i - 1
        while j >= 0 and self.inside(j):
            j -= 1
        return j >= 0 and self.words[j] in ("with", "in", "at", "on", "behind", "of", "to", "for")

    def inside(self, j):
        """Whether word j belongs to the same noun phrase as the word behind it."""
        word, after = self.words[j], self.words[j + 1]
        if word in DETERMINING or word in ("'s", "Mr.", "Mrs.") or after == "'s":
            return True
        return word in first_parts() and after in english_nouns()

    def phrase(self, number):
        top = self.frames[-1]
        if top["done"] and not top["inverted"]:
            return
        top["subject"] = "3p" if top["subject"] else number  # a second one: joined by and

    def helper(self, word):
        top = self.frames[-1]
        if not top["done"] and top["subject"] is None:  # a question
            top["inverted"], top["helper"] = HELPERS[word], word
            return
        frame = self.settle(word, HELPERS[word])
        if word not in BE:
            frame["helper"] = word

    def verb(self, word):
        forms = english_verbs()[word]
        top = self.frames[-1]
        while top["done"] and not top["helper"] and len(self.frames) > 1:
            if not any(not f["done"] or f["helper"] for f in self.frames[:-1]):
                break
            self.frames.pop()
            top = self.frames[-1]
        if top["helper"]:
            wanted = "participle" if top["helper"] in HAVE else "base"
            if wanted not in forms:
                raise Fault(f"{top['helper']} ... {word}")
            if top["inverted"] and not agree(top["subject"], top["inverted"]):
                raise Fault(f"{top['helper']} {top['subject']}")
            top["helper"], top["inverted"], top["done"] = "", "", True
            return
        if top["done"]:
            if ("base" in forms and self.words[0] == "please") or self.words[-1] == "!":
                return
            raise Fault(f"{word}: a verb too many")
        persons = [form for form in forms if form[0].isdigit()]
        self.settle(word, persons[0] if persons else "")

    def settle(self, word, persons):
        """The finite verb of the innermost clause that still waits for one."""
        while self.frames[-1]["done"] and len(self.frames) > 1:
            self.frames.pop()
        frame = self.frames[-1]
        if frame["done"] or not frame["subject"]:
            raise Fault(f"{word} has no subject")
        if not agree(frame["subject"], persons):
            raise Fault(f"{frame['subject']} {word}")
        if frame["owner"]:
            self.owner(frame, frame["owner"])
        frame["done"] = True
        return frame


def agree(subject, persons):
    return subject in {persons[k : k + 2] for k in range(0, len(persons), 2)}
