"""A synchronous German-English grammar: sentence pairs with gold word alignments.

Both languages grow from one plan. Every constituent is built once, as a `Phrase` that holds its
English and its German tokens; tokens that translate each other share an id, and shared ids become
links. A clause is a set of phrases, one per *slot*, and the two languages differ in the order in
which they empty the slots. German uses topological fields:

    front field | left bracket  | middle field              | right bracket  | post-field
    Gestern     | hatte         | der Mann das Buch         | gekauft        | , weil er müde war
    (adverbial) | (finite verb) | (subject, objects, nicht) | (verb, prefix) | (clauses)

`words` has the words and their forms, `phrases` what sentences are built of, `noun_phrases` and
`clauses` how they combine, and this module whole sentences. It needs nothing but Python; `store`
keeps on disk what was drawn, and `attnmt.corpus` reads it.

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

from collections import Counter, defaultdict
from collections.abc import Callable
from itertools import accumulate

from attnmt.grammar.clauses import PLAIN, Clauses
from attnmt.grammar.phrases import NOTHING, Phrase, Sample, Setting, Token
from attnmt.grammar.words import ending, fresh_names, select

TIMES = ("past", "past", "past", "present", "present", "perfect", "perfect")


class Grammar(Clauses):
    """Draws sentence pairs; the same for a seed everywhere, for it uses `random()` only.

    With `fresh`, half of the names are such as no other grammar ever uses.
    """

    def sentence(self, length: int) -> tuple[list[Token], list[Token]]:
        """German and English tokens of a statement, question or order of about `length` words."""
        self.used = []
        draw = self.random()
        if length > 24 or draw > 0.14:
            phrase = self.statement(length)
        else:
            phrase = (self.question if draw < 0.09 else self.order)(richness(length))
        return commas(phrase.german), articles(phrase.english)

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

    def shared(ids: Callable[[Token], tuple]) -> frozenset[tuple[int, int]]:
        holders = defaultdict(list)  # of an id, its German words
        for i, token in enumerate(german):
            for key in ids(token):
                holders[key].append(i)
        asked = ((key, j) for j, token in enumerate(english) for key in ids(token))
        return frozenset(sorted((i, j) for key, j in asked for i in holders[key]))

    sure = shared(lambda token: token.sure)
    possible = shared(lambda token: token.sure + token.possible)
    german_words, german_kinds, *_ = zip(*german, strict=True)
    words, kinds, *_ = zip(*english, strict=True)
    return Sample(german_words, words, sure, possible, german_kinds, english_classes=kinds)


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
