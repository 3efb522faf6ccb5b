"""How often a trained model says something twice and leaves something else out.

The translations of the book's recorded runs on the controlled corpus are counted as
:mod:`attnmt.book.coverage` says; nothing is trained and nothing is translated anew. For each run
``results/studies/coverage.json`` has the counts by source length, the sentences that do *both*, and
the trigrams that were in the same sentence before. ``apart`` compares dot with and without input
feeding, seed by seed: on how many test sentences the *first* does both while the other writes the
reference, word for word, and the other way round. Chapter 6 and its evidence page read it. Start it
again when further runs are recorded: it takes a minute. Usage: make study NAME=coverage
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from attnmt.book.coverage import content_words, measure_coverage, trigrams_again
from attnmt.evidence.plan import load_corpus
from attnmt.pairs import Corpus
from attnmt.vocab import SPECIALS, UNK, tokenise
from studies.study import head_of, recorded_on, save_store, store_of, translations_of

STORE = store_of(__file__)
EDGES = (1, 11, 21, 31, 41, 61)  # source words: first of each bucket, and one past the last
APART = ("luong-dot", "luong-feeding")


@dataclass(frozen=True)
class Counted:
    """One run: its counts by length, and the sentences in which it does both."""

    rows: list[dict]
    both: set[int]


def count(corpus: Corpus, sentences: Sequence[str], content: set[str]) -> Counted:
    """Count the translations of the test pairs, then of the long ones.

    Args:
        corpus: the controlled one.
        sentences: one for each of these pairs.
        content: words that count.
    """
    buckets = {first: Counter() for first in EDGES[:-1]}
    both = set()
    for k, (pair, text) in enumerate(zip(corpus.test + corpus.long, sentences, strict=True)):
        words = tokenise(text, "en")  # an unknown word falls into pieces, none of them content
        found = measure_coverage(pair, words, content)
        again, trigrams = trigrams_again(words)
        counts = {"sentences": 1, "both": found.both, "source": found.source}
        counts |= {"skipped": len(found.skipped), "repeated": found.repeated.total()}
        counts |= {"target": found.target, "trigrams": trigrams, "trigrams again": again}
        buckets[max(edge for edge in EDGES if edge <= len(pair.source))].update(counts)
        if found.both:
            both.add(k)
    rows = [
        {"shortest": first, "longest": past - 1, **buckets[first]}
        for first, past in pairwise(EDGES)
    ]
    return Counted(rows, both)


def readable(corpus: Corpus) -> list[str]:
    """The references of the test pairs as a model could write them, its unknown words replaced."""
    vocabulary = corpus.target_vocabulary
    known = [[w if w in vocabulary else SPECIALS[UNK] for w in p.target] for p in corpus.test]
    return [vocabulary.detokenise(words) for words in known]


def main() -> None:
    """Fill the store."""
    corpus = load_corpus("grammar")
    content = content_words(corpus.test + corpus.long, corpus.target_vocabulary)
    join = corpus.target_vocabulary.detokenise
    own = count(corpus, [join(pair.target) for pair in corpus.test + corpus.long], content)
    references = readable(corpus)
    found = {}
    right = {}
    for name in recorded_on("grammar"):
        sentences = translations_of(name)
        found[name] = count(corpus, sentences["test"] + sentences["long"], content)
        right[name] = {k for k, text in enumerate(sentences["test"]) if text == references[k]}
        print(name, flush=True)
    apart = []
    for seed in range(len(found)):
        first, second = (f"{system}-grammar-{seed}" for system in APART)
        if first in found and second in found:
            ways = {"first": found[first].both & right[second]}
            ways |= {"second": found[second].both & right[first]}
            apart.append({"seed": seed, **{way: len(some) for way, some in ways.items()}})
    store = {
        **head_of(__file__),
        "corpus": {"fingerprint": corpus.fingerprint},
        "test": len(corpus.test),
        "references": own.rows,
        "counts": {name: counted.rows for name, counted in found.items()},
        "systems": APART,
        "apart": apart,
    }
    save_store(STORE, store)
