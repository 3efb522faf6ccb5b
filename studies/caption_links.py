"""Which words of real captions does attention link right? Content words and function words apart.

Takes every recorded run on captions that attends, with its trained model in ``_build/models``
(trained again where it is missing, which takes long). On the 150 pairs with gold links, each target
word is linked to the source word with the largest weight, as for the alignment error rate, and a
link is right if the gold has it, sure or possible. Words that have no gold link are counted apart.
Only counts are stored, in ``results/studies/caption_links.json``; what it holds is not counted
again. Usage: make study NAME=caption_links
"""

from collections import Counter
from collections.abc import Sequence, Set

from attnmt import force_align, multi30k
from attnmt.corpus import Link, Pair
from attnmt.evidence.gold import gold_pairs
from attnmt.evidence.store import load_run
from studies.study import head_of, open_store, recorded_on, save_store, store_of, trained_model

STORE = store_of(__file__)
TRAIN = 29_000
# By hand: articles, pronouns, prepositions, auxiliaries, conjunctions, punctuation.
SERVING = """
a an the this that these those some another each both all no . , ' 's
he she it they him her them his its their who which what whose himself themselves
in on at of to with from by for into onto over under up down out off through near next behind
front along across around between against towards while as and or but than
is are was be being been has have having do does there not
"""
FUNCTION = frozenset(SERVING.split())
CLASSES = ("content", "function", "unlinked")


def class_of(pair: Pair, t: int) -> str:
    """Of a target word: what it is, if it has a gold link at all."""
    if all(place != t for _, place in pair.possible):
        return "unlinked"
    return "function" if pair.target[t] in FUNCTION else "content"


def count(links: Sequence[Set[Link]], pairs: Sequence[Pair]) -> dict[str, list[int]]:
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
    pairs = gold_pairs(corpus)
    store = open_store(STORE, head_of(__file__) | {"corpus": corpus.fingerprint})
    runs = store.setdefault("runs", {})
    for name in recorded_on("multi30k"):
        if name in runs or load_run(name).aer is None:  # it does not attend
            continue
        runs[name] = count(force_align(trained_model(name), pairs), pairs)
        save_store(STORE, store)
        print(name, runs[name], flush=True)
