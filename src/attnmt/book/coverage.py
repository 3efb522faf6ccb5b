"""What a translation says twice and what it leaves out, counted where the links are known.

Only *content words* count: nouns, names, verbs, adjectives, adverbs and numbers. The others stand
several times in most sentences. A word that is not in the model's vocabulary does not count either,
since no decoder could write it.

- A source word is **skipped** if none of the words that it is linked to is in the translation.
  Occurrences are counted, not places: if the reference has a word twice and the translation once,
  the second one is missing. A word that is translated wrongly counts as skipped, too.
- A word of the translation is **repeated** if it is there more often than in the reference. Its
  first occurrence never counts: a word that the reference lacks is invented, and repeated only
  from its second time on.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from attnmt.pairs import Pair
from attnmt.vocab import Vocabulary

CONTENT = frozenset({"noun", "name", "verb", "adjective", "adverb", "number"})


class Coverage(NamedTuple):
    """What one translation makes of its pair."""

    skipped: list[int]  #: places of source words that are left out.
    #: content words that are written too often, and how many times too often.
    repeated: Counter[str]


def content_words(pairs: Iterable[Pair], vocabulary: Vocabulary) -> set[str]:
    """Words of the vocabulary that are content words in most of their places."""
    seen: dict[str, Counter[str]] = {}
    for pair in pairs:
        for word, word_class in zip(pair.target, pair.classes, strict=True):
            seen.setdefault(word, Counter())[word_class] += 1
    content = {word for word, some in seen.items() if some.most_common(1)[0][0] in CONTENT}
    return {word for word in content if word in vocabulary}


def measure_coverage(pair: Pair, words: Sequence[str], content: set[str]) -> Coverage:
    """What a translation skips and repeats."""
    written = Counter(word for word in words if word in content)
    wanted = Counter(word for word in pair.target if word in content)
    seen: Counter[str] = Counter()
    missing = set()
    for t, word in enumerate(pair.target):
        seen[word] += 1
        if word in content and seen[word] > written[word]:
            missing.add(t)
    partners = [partners_of(pair, s, content) for s in range(len(pair.source))]
    repeated = Counter({word: n - max(1, wanted[word]) for word, n in written.items()})
    skipped = [s for s, some in enumerate(partners) if some and some <= missing]
    return Coverage(skipped, +repeated)  # the + drops what is not repeated


def partners_of(pair: Pair, s: int, content: set[str]) -> set[int]:
    """Places of the content words that source word ``s`` is surely linked to."""
    return {t for of, t in pair.sure if of == s and pair.target[t] in content}
