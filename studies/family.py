"""The whole family, seed by seed: what a paired bootstrap says of models with 750 updates.

Takes the models of the earlier edition (trained again where the folder of models does not have
them) and stores in ``results/studies/family.json``, under "paired", the gain in BLEU of systems
that the papers rank, with its p-value, on both corpora. The evidence page of chapter 8 shows that
the test is often certain of both signs: it speaks of two trained models, not of two methods.

What the file already holds is not computed again: delete the file to start anew.
Usage: make study NAME=family
"""

import time
from dataclasses import asdict
from functools import cache
from importlib.metadata import version
from itertools import product

from attnmt import greedy
from attnmt.corpus import Corpus
from attnmt.evidence.corpora import CORPORA
from attnmt.evidence.runs import undertrained_names, undertrained_plan
from attnmt.metrics import paired_bootstrap, texts
from studies.study import head_of, open_store, recorded, save_store, store_of, versions

STORE = store_of(__file__)
NAMES = ("grammar", "multi30k")  # of the corpora
SEEDS = tuple(undertrained_plan()["seeds"])

# Systems that the papers rank: the second is said to be the better one.
RANKED = (
    ("rnnencdec", "rnnsearch"),
    ("sutskever-forward", "sutskever"),
    ("sutskever", "luong-location"),
    ("sutskever-forward", "luong-location"),
    ("luong-location", "luong-dot"),
    ("luong-general", "luong-dot"),
    ("luong-concat", "luong-dot"),
    ("luong-dot", "luong-feeding"),
    ("luong-general", "luong-local-m"),
    ("luong-general", "luong-local-p"),
    ("luong-local-m", "luong-local-p"),
    ("luong-dot", "luong-local-p"),
    ("luong-local-m-dot", "luong-local-m"),
    ("luong-local-p-dot", "luong-local-p"),
    ("luong-dot", "luong-local-m-dot"),
    ("luong-dot", "luong-local-p-dot"),
    ("rnnsearch", "luong-local-p"),
    ("luong-dot", "luong-bidirectional"),
)


@cache
def corpus_of(name: str) -> Corpus:
    """A corpus of the book."""
    return CORPORA[name]()


@cache
def translated(name: str) -> list[str]:
    """The test sentences as a recorded model translates them."""
    model = recorded(name)
    corpus = corpus_of(name.split("-")[-2])
    return texts(model, greedy(model, [pair.source for pair in corpus.test]))


def paired(baseline: str, system: str) -> dict:
    """The second's gain over the first, with its p-value."""
    references = [pair.target_text for pair in corpus_of(system.split("-")[-2]).test]
    both = translated(baseline), translated(system)
    return asdict(paired_bootstrap(*both, references, lowercase=True))


def plan() -> list[tuple[str, str]]:
    """The runs that are compared: baseline and system."""
    named = [
        (f"{first}-{corpus}-{seed}", f"{second}-{corpus}-{seed}")
        for corpus, seed, (first, second) in product(NAMES, SEEDS, RANKED)
    ]
    return [both for both in named if set(both) <= set(undertrained_names())]


def main() -> None:
    """Fill the store."""
    head = {
        **head_of(__file__),
        "corpora": {name: corpus_of(name).fingerprint for name in NAMES},
        "versions": versions() | {"sacrebleu": version("sacrebleu")},
        "parts": {"paired": {}},
    }
    store = open_store(STORE, head, "parts")
    known = store["parts"]["paired"]
    for both in plan():
        if (key := " ".join(both)) not in known:
            known[key] = paired(*both)
            save_store(STORE, store)
            print(f"{time.process_time():6.0f}", key, flush=True)
