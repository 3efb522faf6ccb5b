"""The attention-only model of chapter 9, trained ahead of time, beside the book's recorded runs.

There is no second copy of the model: its classes are the code cells of ``book/09_lookup.ipynb``
that carry the tag ``model``, and ``attnmt_book.models`` runs those cells. This script trains the
model on both corpora with the seeds of the book, and once with another learning rate. Each run is
stored as the book's recorded runs are, in ``results/studies/attention_only.json``, with a hash of
the cells. It can be stopped and started again: what is stored is not trained again, as long as the
cells are the same.
Usage: make study NAME=attention_only
"""

from dataclasses import replace

from attnmt import fit
from attnmt_book.corpora import CORPORA
from attnmt_book.models import cells, code_hash, execute
from attnmt_book.runs import RUN, record, undertrained_plan
from studies.study import head_of, open_store, save_store, store_of

STORE = store_of(__file__)
NAMES = ("grammar", "multi30k")  # of the corpora
RATES = (2e-3, 4e-3)  # on the controlled corpus, seed 0


class Study:
    """The store, and what fills it step by step."""

    def __init__(self, sources: list[str]):
        self.of_chapter = execute(sources)
        self.corpora = {name: CORPORA[name]() for name in NAMES}
        head = {
            **head_of(__file__),
            "code": code_hash(sources),
            "corpora": {name: corpus.fingerprint for name, corpus in self.corpora.items()},
            "runs": {name: {} for name in self.corpora},
            "rates": {},
        }
        self.store = open_store(STORE, head, "code", "runs", "rates")
        if self.store["code"] != head["code"]:
            raise SystemExit(f"{STORE} is of other cells. Move it away to begin again.")

    def train(self, name: str, seed: int) -> None:
        """Train and store one run, unless it is there."""
        runs = self.store["runs"][name]
        if str(seed) in runs:
            return
        corpus = self.corpora[name]
        run, _ = record(
            f"attention-only-{name}-{seed}",
            self.of_chapter["attention_only"](corpus, seed=seed),
            corpus,
            recipe=self.of_chapter["RECIPES"][name],
            seed=seed,
            samples=undertrained_plan()["corpora"][name]["samples"],
            progress=False,
        )
        runs[str(seed)] = RUN.dump_python(run, mode="json") | {"command": self.store["command"]}
        save_store(STORE, self.store)
        print(run.name, "BLEU", run.bleu.score, "AER", run.aer, flush=True)

    def try_rate(self, rate: float) -> None:
        """The perplexities after each epoch at another learning rate."""
        if str(rate) in self.store["rates"]:
            return
        corpus = self.corpora["grammar"]
        if rate == self.of_chapter["LEARNING_RATE"]:
            history = RUN.validate_python(self.store["runs"]["grammar"]["0"]).history
        else:
            recipe = replace(self.of_chapter["RECIPES"]["grammar"], learning_rate=rate)
            model = self.of_chapter["attention_only"](corpus, seed=0)
            history = fit(model, corpus, recipe, seed=0, progress=False)
        measured = [round(epoch.valid_perplexity, 4) for epoch in history.epochs]
        self.store["rates"][str(rate)] = measured
        save_store(STORE, self.store)
        print("learning rate", rate, measured, flush=True)


def main() -> None:
    """Fill the store."""
    study = Study(cells())
    for seed in undertrained_plan()["seeds"]:
        study.train("grammar", seed)
    for rate in RATES:
        study.try_rate(rate)
    for seed in undertrained_plan()["seeds"]:
        study.train("multi30k", seed)
