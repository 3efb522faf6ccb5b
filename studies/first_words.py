"""Which words does it help to read the source from its end? Word by word from the beginning.

Sutskever's model is recorded with its source reversed and as it stands. Each translation of a long
test sentence is followed up to its first wrong word: a word is right if the reference has the same
at its place, and it is *asked* only if all words before it are right. Chapter 2 shows, for the
first words, what share of those asked is right. Nothing is trained and nothing is translated anew:
the counts are of the translations that the runs kept. Start it again when further runs are
recorded: it takes a few seconds. Usage: make study NAME=first_words
"""

from collections.abc import Sequence

from attnmt.evidence.plan import load_corpus
from attnmt.evidence.store import recorded
from attnmt.pairs import Pair
from attnmt.vocab import tokenise
from studies.study import head_of, save_store, store_of, translations_of

STORE = store_of(__file__)
SYSTEMS = ("sutskever", "sutskever-forward")
SEEDS = 8  # at most
SHORTEST = 21  # source words
PLACES = 8  # of target words, from the first on


def right_before_wrong(written: Sequence[str], reference: Sequence[str]) -> int:
    """How many words agree, from the first on, whatever their case."""
    for k, (one, other) in enumerate(zip(written, reference, strict=False)):
        if one.lower() != other.lower():
            return k
    return min(len(written), len(reference))


def count(pairs: Sequence[Pair], sentences: Sequence[str]) -> dict[str, list[int]]:
    """At each of the first places: how often all words before it are right, and it, too."""
    asked = [0] * PLACES
    right = [0] * PLACES
    for pair, text in zip(pairs, sentences, strict=True):
        agreed = right_before_wrong(tokenise(text, "en"), pair.target)
        for place in range(min(PLACES, len(pair.target))):
            asked[place] += agreed >= place
            right[place] += agreed > place
    return {"asked": asked, "right": right}


def main() -> None:
    """Fill the store."""
    corpus = load_corpus("grammar")
    long = [k for k, pair in enumerate(corpus.test) if len(pair.source) >= SHORTEST]
    counts = {}
    for system in SYSTEMS:
        for seed in range(len(recorded(f"{system}-grammar", SEEDS))):
            name = f"{system}-grammar-{seed}"
            sentences = translations_of(name)["test"]
            some = [sentences[k] for k in long]
            counts[name] = count([corpus.test[k] for k in long], some)
    store = {
        **head_of(__file__),
        "corpus": {"fingerprint": corpus.fingerprint},
        "shortest": SHORTEST,
        "longest": max(len(corpus.test[k].source) for k in long),
        "sentences": len(long),
        "counts": counts,
    }
    save_store(STORE, store)
