"""Gold links of real text: how far two readings agree, and what models and yardsticks find.

The yardsticks are measured on the 150 pairs of captions that have gold links: the diagonal, IBM
Model 1 (Brown et al. 1993) by NLTK, learned from all 29,000 training pairs, and the best that at
most one link a word can do. The last is not 0: a word may have two sure links. Each is measured
against the settled links and against those of each reading.

Then every recorded run on captions that attends, with its trained model in ``_build/models``
(trained again where it is missing, which takes long): each target word is linked to the source word
with the largest weight, as for the alignment error rate, and a link is right if the gold has it,
sure or possible. Content words and function words are counted apart, and so are words that have no
gold link. What is stored is not counted again; no word of a caption is stored.
Usage: make study NAME=gold_links
"""

import time
from collections import Counter
from collections.abc import Sequence, Set
from importlib.metadata import version

from attnmt import alignment_error_rate, force_align, multi30k
from attnmt.evidence.links import BY, best_possible, diagonal, gold_links, gold_pairs
from attnmt.evidence.store import load_run
from attnmt.pairs import Corpus, Link, Pair
from studies.study import open_store, recorded_on, save_store, store_of, trained_model

STORE = store_of(__file__)
TRAIN = 29_000
ITERATIONS = 5  # of IBM Model 1
# By hand: articles, pronouns, prepositions, auxiliaries, conjunctions, punctuation.
SERVING = """
a an the this that these those some another each both all no . , ' 's
he she it they him them her his its their who which what whose himself themselves
in on at of to with from by for into onto over under up down out off through near next behind
front along across around between against towards while as and or but than
is are was be being been has have having do does there not
"""
FUNCTION = frozenset(SERVING.split())
CLASSES = ("content", "function", "unlinked")


def counts() -> dict:
    """How many links each reading drew, and how many words have none."""
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


def yardsticks(corpus: Corpus) -> dict:
    """The alignment error rate of each, by whose links count."""
    pairs = {who: gold_pairs(corpus, who) for who in BY}
    links: dict[str, Sequence[Set[Link]]] = {
        "diagonal": [diagonal(pair) for pair in pairs["settled"]],
        "IBM Model 1": ibm_model_1_links(corpus.train, pairs["settled"]),
        "best possible": [best_possible(pair) for pair in pairs["settled"]],
        "first reading": [pair.sure for pair in pairs["first"]],
        "second reading": [pair.sure for pair in pairs["second"]],
    }
    return {
        name: {who: alignment_error_rate(drawn, pairs[who]) for who in BY}
        for name, drawn in links.items()
    }


def class_of(pair: Pair, t: int) -> str:
    """Of a target word: what it is, if it has a gold link at all."""
    if all(place != t for _, place in pair.possible):
        return "unlinked"
    return "function" if pair.target[t] in FUNCTION else "content"


def reached(links: Sequence[Set[Link]], pairs: Sequence[Pair]) -> dict[str, list[int]]:
    """For each class of target words: how many links are right, and how many there are."""
    right = Counter()
    drawn = Counter()
    for found, pair in zip(links, pairs, strict=True):
        for s, t in found:
            kind = class_of(pair, t)
            drawn[kind] += 1
            right[kind] += (s, t) in pair.possible
    return {kind: [right[kind], drawn[kind]] for kind in CLASSES}


def main() -> None:
    """Fill the store."""
    corpus = multi30k("de-en", train=TRAIN)
    store = open_store(
        STORE,
        corpus=corpus.fingerprint,
        words=[sum(gold.words[side] for gold in gold_links()) for side in (0, 1)],
        links=counts(),
        iterations=ITERATIONS,
        nltk=version("nltk"),
        sacremoses=version("sacremoses"),
    )
    if "aer" not in store:
        began = time.process_time()
        store["aer"] = yardsticks(corpus)
        store["cpu_seconds"] = time.process_time() - began
        save_store(STORE, store)
    pairs = gold_pairs(corpus)
    runs = store.setdefault("runs", {})
    for name in recorded_on("multi30k"):
        if name not in runs and load_run(name).aer is not None:  # it attends
            runs[name] = reached(force_align(trained_model(name), pairs), pairs)
            save_store(STORE, store)
            print(name, runs[name], flush=True)
