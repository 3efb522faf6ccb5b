"""Clauses in both languages: slots, filled by what the verb asks for."""

from __future__ import annotations

from attnmt.grammar.noun_phrases import NounPhrases
from attnmt.grammar.phrases import NOTHING, Clause, Phrase, Token, tokens
from attnmt.grammar.words import ending, governed, select, verb_form

PLAIN = "intransitive accusative dative dative+accusative preposition goal"  # need no clause


class Clauses(NounPhrases):
    """Statements, questions, orders, infinitives and relative clauses, slot by slot."""

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

    # --------------------------------------------------------------------- relative clauses

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
