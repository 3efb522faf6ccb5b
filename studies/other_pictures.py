"""Captions of other pictures: the strongest translator each way on the test sets of 2017.

All that was chosen for these models was chosen on the validation captions. So the captions of 2016
are a fair test, but our models were compared on them more than once. Those of 2017 are of other
pictures, and those of COCO have verbs with several meanings (Elliott et al. 2017); both are
measured here once, by the search that the plan gives each model.
Takes the trained models of ``RUNS`` in ``_build/models``; one that is missing is trained again.
BLEU of lower-cased Moses words goes to ``results/studies/other_pictures.json``; no caption does.
Usage: make study NAME=other_pictures
"""

from typing import Any

from attnmt.corpus import MULTI30K_TESTS
from attnmt.decoding import Model
from attnmt.evidence.plan import load_corpus, planned, searches_of
from attnmt.evidence.searches import BEAMS
from studies.strongest import in_moses_words, scores
from studies.study import head_of, open_store, save_store, store_of, trained_model

STORE = store_of(__file__)
RUNS = ("tied-wider-english-shared-0", "tied-wider-german-shared-0")


def of_each_test(model: Model, corpus_name: str, **search: Any) -> dict[str, float]:
    """BLEU of one search on the captions of each test set; without arguments of greedy search."""
    found = {}
    for test in MULTI30K_TESTS:
        of = scores(model, load_corpus(corpus_name, test=test), "test", **search)
        found[test] = in_moses_words(of)
    return found


def main() -> None:
    """Fill the store."""
    store = open_store(STORE, head_of(__file__))
    runs = store.setdefault("runs", {})
    for name in RUNS:
        if name not in runs:
            system, corpus_name, _ = planned()[name]
            (search,) = searches_of(system, corpus_name)
            bleu = of_each_test(trained_model(name), corpus_name, **BEAMS[search])
            runs[name] = {"search": search, "bleu": bleu}
            save_store(STORE, store)
