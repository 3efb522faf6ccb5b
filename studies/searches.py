"""What search is worth to models of full runs: beams, length normalisation, ensembles, names.

Takes every recorded run of ``SYSTEMS`` on the controlled corpus, as many seeds as there are, with
its trained model in ``_build/models`` (trained again where it is missing, which takes long).
Searches the first 1,000 test pairs and the 300 long ones in several ways, and stores scores in
``results/studies/searches.json``, which chapter 7 and its evidence page read. What the file already
holds is not computed again, so further seeds are added by a further start.
Usage: make study NAME=searches
"""

import time
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from attnmt import Ensemble, beam_search, greedy, replace_unknown
from attnmt.book.demonstrations import TEST_PAIRS
from attnmt.decoding import Searchable, Translation
from attnmt.evidence.comparison import BLEU_SCORE, LENGTH, by_sentences
from attnmt.evidence.plan import load_corpus
from attnmt.evidence.store import load_statistics, recorded
from attnmt.metrics import bleu_statistics, texts
from attnmt.pairs import Pair
from studies.study import open_store, save_store, store_of, trained_model

STORE = store_of(__file__)
CORPUS = "grammar"
SYSTEMS = ("luong-dot", "rnnsearch")
SEEDS = 5  # at most
WIDTHS = (2, 5, 10, 25)
PENALTIES = (0.0, 1.0)
FURTHER = ((5, 0.5), (5, 1.5))  # widths and penalties beside all of those
SEARCHES = {
    f"beam {width}, alpha {penalty}": {"beam": width, "length_penalty": penalty}
    for width, penalty in (*product(WIDTHS, PENALTIES), *FURTHER)
}
BASELINES = ("greedy", "beam 5, alpha 0.0")  # over which gains have a standard error
SEARCHED = ("test", "long")
CLOSE = 0.05  # BLEU by which a model may differ from its recorded run, on another processor
SAME = 1e-3  # log p closer than that is the same


class Judge:
    """Measures translations of the same pairs, and what each search gains over another.

    Attributes:
        greedy: the model's greedy translations.
        sentences: the source words of each pair.
    """

    def __init__(self, model: Searchable, pairs: Sequence[Pair]):
        self.model = model
        self.pairs = pairs
        self.sentences = [pair.source for pair in pairs]
        self.greedy = greedy(model, self.sentences)
        self.statistics: dict[str, np.ndarray] = {}  # of each search: (pairs, 10)

    def right(self, found: Sequence[Translation]) -> int:
        """How many are the reference, a word that the model cannot write counted as ``<unk>``."""
        known = self.model.target_vocabulary
        aims = (known.decode(known.encode(pair.target)) for pair in self.pairs)
        return sum(one.words == aim for one, aim in zip(found, aims, strict=True))

    def score(self, name: str, found: Sequence[Translation]) -> dict[str, Any]:
        """BLEU, length and log p, and how many are the reference, or have another log p."""
        references = [pair.target_text for pair in self.pairs]
        statistics = bleu_statistics(texts(self.model, found), references, lowercase=True)
        self.statistics[name] = statistics
        gains = [a.score - b.score for a, b in zip(found, self.greedy, strict=True)]
        return {
            "bleu": round(float(BLEU_SCORE.score(statistics.sum(0))), 4),
            "length": round(float(LENGTH.score(statistics.sum(0))), 5),
            "log_p": round(sum(one.score for one in found) / len(found), 4),
            "right": self.right(found),
            "more_probable": sum(gain > SAME for gain in gains),
            "less_probable": sum(gain < -SAME for gain in gains),
        }

    def errors(self, baseline: str) -> dict[str, float]:
        """The standard error, over sentences, of what each search gains in BLEU over one of them.

        A paired bootstrap: all searches are measured on the same draws of the sentences.
        """
        names = list(self.statistics)
        drawn = by_sentences(list(self.statistics.values()), BLEU_SCORE).resampled
        gains = drawn - drawn[:, [names.index(baseline)]]
        return dict(zip(names, gains.std(axis=0, ddof=1).round(4).tolist(), strict=True))


def searched(model: Searchable, pairs: Sequence[Pair]) -> dict[str, Any]:
    """The scores of greedy search and of each of ``SEARCHES``, and the errors of their gains.

    A beam's "cpu_seconds" are those of its search.
    """
    judge = Judge(model, pairs)
    scores = {"greedy": judge.score("greedy", judge.greedy)}
    for name, how in SEARCHES.items():
        began = time.process_time()
        translations = beam_search(model, judge.sentences, **how)
        seconds = round(time.process_time() - began, 1)
        scores[name] = judge.score(name, translations) | {"cpu_seconds": seconds}
    return {"scores": scores, "errors": {name: judge.errors(name) for name in BASELINES}}


def names_copied(model: Searchable, pairs: Sequence[Pair]) -> dict[str, Any]:
    """Pairs with a name that training never showed: each ``<unk>`` replaced by a copy."""
    judge = Judge(model, pairs)
    copied = replace_unknown(judge.greedy, judge.sentences)
    counts = {"pairs": len(pairs), "written": 0, "unknown_copied": 0}
    for pair, before, after in zip(pairs, judge.greedy, copied, strict=True):
        strange = {word for word in pair.source if word not in model.source_vocabulary}
        for old, new in zip(before.words, after.words, strict=True):
            counts["written"] += old == "<unk>"
            counts["unknown_copied"] += old == "<unk>" and new in strange
    scores = {"greedy": judge.score("greedy", judge.greedy)}
    scores["copied"] = judge.score("copied", copied)
    return {**counts, "scores": scores, "errors": {"greedy": judge.errors("greedy")}}


def of_run(name: str) -> dict[str, Any]:
    """All searches with one recorded model.

    Raises:
        SystemExit: the model is not the one that was recorded.
    """
    model = trained_model(name)
    corpus = load_corpus(CORPUS)
    found = {part: searched(model, getattr(corpus, part)[:TEST_PAIRS]) for part in SEARCHED}
    found["names"] = names_copied(model, corpus.names)
    ours = found["test"]["scores"]["greedy"]["bleu"]
    theirs = recorded_bleu(name, "test")
    if abs(ours - theirs) > CLOSE:
        raise SystemExit(f"the model of {name} has a BLEU of {ours:.2f}, and its run {theirs:.2f}")
    return found


def recorded_bleu(name: str, part: str) -> float:
    """What greedy search scored when the run was recorded, on as many pairs as here."""
    return float(
        BLEU_SCORE.score(load_statistics(name)[f"{part}_bleu"][:TEST_PAIRS].sum(0, dtype=int))
    )


def together(names: Sequence[str]) -> dict[str, Any]:
    """The ensemble of some runs, on the test pairs: greedy, and with a beam of 5."""
    pairs = load_corpus(CORPUS).test[:TEST_PAIRS]
    judge = Judge(Ensemble([trained_model(name) for name in names]), pairs)
    fives = beam_search(judge.model, judge.sentences, beam=5)
    return {
        "members": list(names),
        "greedy": judge.score("greedy", judge.greedy),
        "beam 5": judge.score("beam 5", fives),
    }


def main() -> None:
    """Fill the store, one run of a system after the other, then their ensemble."""
    store = open_store(STORE, corpus=load_corpus(CORPUS).fingerprint)
    runs = store.setdefault("runs", {})
    ensembles = store.setdefault("ensembles", {})
    for system in SYSTEMS:
        names = [run.name for run in recorded(f"{system}-{CORPUS}", SEEDS)]
        for name in names:
            if name not in runs:
                runs[name] = of_run(name)
                save_store(STORE, store)
                print(name, flush=True)
        ensemble = f"{system}, {len(names)} seeds"
        if len(names) > 1 and ensemble not in ensembles:
            ensembles[ensemble] = together(names)
            save_store(STORE, store)
            print(ensemble, flush=True)
