"""What a page offers to translate: growing sentences, random ones, and a gloss for every word.

Everything comes out of the controlled corpus's grammar, so that the page's models know how it is
put together, and nothing is typed by hand. ``python -m attnmt.book.live.sentences`` writes
``book/_live/sentences.json`` again, always the same.
"""

import json
import sys
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator
from itertools import count
from pathlib import Path

from attnmt.book.live.weights import pretrained
from attnmt.files import write_aside
from attnmt.grammar import (
    TIMES,
    Grammar,
    Phrase,
    Sample,
    Setting,
    articles,
    commas,
    fill,
    linked,
    names,
    quotas,
    richness,
    select,
)
from attnmt.vocab import SPECIALS, Vocabulary

PAGE = Path("book") / "_live" / "sentences.json"  # from the repository's root
SEED = 1_000_000  # of the first grammar; those of the corpora are small numbers
CHAINS = 12
GROWTH = ((5, 8), (12, 18), (20, 28), (31, 37), (41, 47), (52, 58))  # words of a chain's sentences
RANDOM = quotas(100, range(6, 41))  # lengths of the random sentences
GLOSSED = quotas(12_000, range(6, 41))  # and of those that glosses are read off
SECOND = 0.25  # a second meaning is told if it has this share
OF_PREPOSITION = 0.1  # a preposition has many meanings: up to three, each with this share


# ------------------------------------------------------------------------- growing sentences


def snapshot(grammar: Grammar, phrase: Phrase) -> Sample:
    """A statement as it stands now, with its full stop."""
    statement = phrase + grammar.mark(".")
    return linked(commas(statement.german), articles(statement.english))


def known_only(sample: Sample, vocabulary: Collection[str]) -> bool:
    """Whether the vocabulary has all words, and the lexicon all names: none is made up."""
    named = [word for word, kind in zip(*sample[::4], strict=True) if kind == "name"]
    real = {row.german for row in select("names", kind="person town")}
    return real.issuperset(named) and all(word in vocabulary for word in sample.german)


def longer(grammar: Grammar, left: Phrase, setting: Setting, length: tuple[int, int]) -> Phrase:
    """One more main clause, so that a statement has from ``length[0]`` to ``length[1]`` words."""
    used = list(grammar.used)
    while True:
        grammar.used = list(used)
        # what there is stays as it is: joining may change the last token
        grown = grammar.joined(Phrase(left.english, left.german, left.person), setting)
        if length[0] <= len(snapshot(grammar, grown).german) <= length[1]:
            return grown


def chain(seed: int, vocabulary: Collection[str]) -> list[Sample] | None:
    """A statement that grows clause by clause, one sample a length of GROWTH.

    None if the grammar of this seed comes to a word that the vocabulary lacks.
    """
    grammar = Grammar(seed)
    grammar.used = []
    setting = Setting(grammar.pick(TIMES), richness(GROWTH[0][0]))
    phrase = grammar.main_clause(setting)
    samples = []
    if not GROWTH[0][0] <= len(snapshot(grammar, phrase).german) <= GROWTH[0][1]:
        return None
    for length in GROWTH[1:]:
        samples.append(snapshot(grammar, phrase))
        if not known_only(samples[-1], vocabulary):
            return None
        phrase = longer(grammar, phrase, setting._replace(rich=richness(10)), length=length)
    samples.append(snapshot(grammar, phrase))
    return samples if known_only(samples[-1], vocabulary) else None


def chains(vocabulary: Collection[str]) -> list[list[Sample]]:
    """Growing sentences, all of whose words the vocabulary has; each begins in its own way."""
    found: dict[str, list[Sample]] = {}
    for seed in count(SEED):
        samples = chain(seed, vocabulary)
        if samples:
            found.setdefault(samples[0].german[-2], samples)  # its last word
        if len(found) == CHAINS:
            return list(found.values())


def random_sentences(vocabulary: Collection[str]) -> list[Sample]:
    """Sentences of 6 to 40 words, all of which the vocabulary has."""
    samples = fill(Grammar(SEED), dict.fromkeys(RANDOM, 30), side=0, seen=set())
    left = Counter(RANDOM)
    chosen = []
    for sample in samples:
        if left[len(sample.german)] and all(word in vocabulary for word in sample.german):
            left[len(sample.german)] -= 1
            chosen.append(sample)
    return chosen


# ---------------------------------------------------------------------------------- glosses


def meanings(sample: Sample) -> Iterator[tuple[str, str, bool, str]]:
    """(German word, what the English sentence says for it, whether it surely does, its class).

    A modal's meaning holds its helpers: musste, had to; durfte, was allowed to.
    """
    surely = {german for german, _ in sample.sure}
    partners = defaultdict(list)
    for german, english in sorted(sample.possible):  # the sure ones are among them
        helper = sample.german_classes[german] == "modal"
        if (german, english) in sample.sure or german not in surely or helper:
            word = sample.english[english]
            partners[german].append("a" if word == "an" else word)
    for german, words in partners.items():
        meaning = " ".join(words).removesuffix(" 's")
        yield sample.german[german], meaning, german in surely, sample.german_classes[german]


def own_meaning(particle: Counter) -> Counter:
    """What a verb's particle means by itself: mit, of *brought along* and *bring along*: along.

    Nothing where its verbs have no word in common.
    """
    last = {meaning.partition(" ")[2] for meaning in particle}
    return Counter({last.pop(): sum(particle.values())} if len(last) == 1 and all(last) else {})


def told(counts: Counter, kinds: Collection[str], nouns: Collection[str]) -> list[str]:
    """The meanings worth telling: a noun's own before its use as a title, an 's at the end."""
    most, share = (3, OF_PREPOSITION) if "preposition" in kinds else (2, SECOND)
    ranked = sorted(counts, key=lambda meaning: (-counts[meaning], meaning))[:most]
    enough = [meaning for meaning in ranked if counts[meaning] >= share * sum(counts.values())]
    return sorted(enough or ranked[:1], key=lambda word: (word not in nouns, word == "'s"))


def made_names() -> dict[str, str]:
    """German name -> English name, of people and towns that the models may have read."""
    known = (names(kind).known for kind in ("person", "town"))
    return {german: english for pairs in known for english, german in pairs}


def glosses(words: Iterable[str]) -> dict[str, str]:
    """What each German word means, read off the gold links of sentences of the grammar.

    The most frequent meaning, and a second one if it has its share: sie: they / she. Of a
    preposition up to three, without those of the verbs whose particle it is: auf: for / on / at.
    Possible links count only for a word that has no sure one. Marks have no gloss.
    """
    sure: dict[str, Counter] = defaultdict(Counter)
    possible: dict[str, Counter] = defaultdict(Counter)
    particles: dict[str, Counter] = defaultdict(Counter)
    kinds: dict[str, set[str]] = defaultdict(set)
    for german, english in made_names().items():
        sure[german][english] += 1
    for sample in fill(Grammar(SEED + 1), GLOSSED, side=0, seen=set()):
        for german, english, surely, kind in meanings(sample):
            counts = particles if kind == "particle" else sure if surely else possible
            counts[german][english] += 1
            kinds[german].add(kind)
    nouns = {row.german: row.english for row in select("nouns")}
    found = {}
    for word in words:
        with_particle = own_meaning(particles[word]) if sure[word] else particles[word]
        counts = sure[word] + with_particle or possible[word]
        if any(letter.isalpha() for letter in word):
            found[word] = " / ".join(told(counts, kinds[word], nouns=(nouns.get(word),)))
    return found


# --------------------------------------------------------------------------------- the file


def offers(vocabulary: Vocabulary) -> dict:
    """All that a page offers, for models with this source vocabulary.

    Returns:
        ``chains``, lists of growing sentences; ``random`` sentences; ``glosses``, word -> English;
        ``complete``, the words to complete what is typed, most frequent first and the names last;
        ``names``, how many of them are names. A sentence is {"german": words, "english": words},
        the English being the reference.

    Raises:
        ValueError: a word of the vocabulary that the grammar does not have.
    """

    def as_told(sample: Sample) -> dict:
        return {"german": sample.german, "english": sample.english}

    words = vocabulary.words[len(SPECIALS) :]
    glossed = glosses(words)
    named = made_names()
    if lacking := [word for word, gloss in glossed.items() if not gloss]:
        raise ValueError(f"the grammar has no translation of {', '.join(lacking)}")
    return {
        "chains": [[as_told(sample) for sample in samples] for samples in chains(vocabulary)],
        "random": [as_told(sample) for sample in random_sentences(vocabulary)],
        "glosses": glossed,
        "complete": sorted(glossed, key=lambda word: word in named),
        "names": sum(word in named for word in glossed),
    }


def write(path: Path = PAGE, model: str = "rnnsearch") -> None:
    """Write the file for the pages; all pretrained models have the vocabulary of this one."""
    found = offers(pretrained(model).source_vocabulary)
    text = json.dumps(found, ensure_ascii=False, separators=(",", ":"))
    write_aside(path, f"{text}\n".encode())


if __name__ == "__main__":
    sys.exit(write())
