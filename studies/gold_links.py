"""Gold links of real text: how far the annotators agree, and how far one comes without attention.

The yardsticks are measured on the 150 pairs of captions that have gold links: the diagonal, IBM
Model 1 (Brown et al. 1993) by NLTK, learned from all 29,000 training pairs, and the best that at
most one link a word can do. The last is not 0: a word may have two sure links. Each is measured
against the settled links and against those of each annotator. The figures go to
``results/studies/gold_links.json``; no word of a caption is stored.
Usage: make study NAME=gold_links
"""

import time
from collections.abc import Sequence, Set
from importlib.metadata import version

from attnmt import alignment_error_rate, multi30k
from attnmt.corpus import Link, Pair
from attnmt.evidence.gold import BY, gold_links, gold_pairs
from attnmt.evidence.links import best_possible, diagonal
from studies.study import head_of, save_store, store_of

STORE = store_of(__file__)
TRAIN = 29_000
ITERATIONS = 5  # of IBM Model 1


def counts() -> dict:
    """How many links each drew, and how many words have none."""
    found = {}
    for who in BY:
        drawn = [gold.by[who] for gold in gold_links()]
        linked = sum(len({t for _, t in one.possible}) for one in drawn)
        found[who] = {
            "sure": sum(len(one.sure) for one in drawn),
            "possible": sum(len(one.possible - one.sure) for one in drawn),
            "unlinked": sum(gold.words[1] for gold in gold_links()) - linked,
        }
    return found


def ibm_model_1_links(train: Sequence[Pair], pairs: Sequence[Pair]) -> list[set[Link]]:
    """Links by NLTK's IBM Model 1: p(target word | source word) and nothing else."""
    from nltk.translate import AlignedSent, IBMModel1  # it takes its time, so only where needed

    bitext = [AlignedSent(list(pair.target), list(pair.source)) for pair in train]
    table = IBMModel1(bitext, ITERATIONS).translation_table

    def link(pair: Pair, t: int) -> int | None:
        """The most probable of no source word (None, which wins ties) and all source words."""
        probabilities = table[pair.target[t]]
        places = [None, *range(len(pair.source))]
        return max(places, key=lambda s: probabilities[None if s is None else pair.source[s]])

    links = []
    for pair in pairs:
        found = {(link(pair, t), t) for t in range(len(pair.target))}
        links.append({(s, t) for s, t in found if s is not None})
    return links


def main() -> None:
    """Fill the store."""
    corpus = multi30k("de-en", train=TRAIN)
    pairs = {who: gold_pairs(corpus, who) for who in BY}
    began = time.process_time()
    links: dict[str, Sequence[Set[Link]]] = {
        "diagonal": [diagonal(pair) for pair in pairs["settled"]],
        "IBM Model 1": ibm_model_1_links(corpus.train, pairs["settled"]),
        "best possible": [best_possible(pair) for pair in pairs["settled"]],
        "first annotator": [pair.sure for pair in pairs["first"]],
        "second annotator": [pair.sure for pair in pairs["second"]],
    }
    aer = {
        name: {who: alignment_error_rate(drawn, pairs[who]) for who in BY}
        for name, drawn in links.items()
    }
    save_store(
        STORE,
        {
            **head_of(__file__),
            "corpus": corpus.fingerprint,
            "words": [sum(gold.words[side] for gold in gold_links()) for side in (0, 1)],
            "links": counts(),
            "aer": aer,
            "iterations": ITERATIONS,
            "cpu_seconds": time.process_time() - began,
            "nltk": version("nltk"),
            "sacremoses": version("sacremoses"),
        },
    )
