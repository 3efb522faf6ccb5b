"""What becomes of the papers' own recipes on a small corpus? Train by them, and store it.

Bahdanau et al. train with Adadelta from very small weights, Luong et al. with plain SGD whose
learning rate is halved. Both take hundreds of thousands of updates. This script follows their
recipes on the 16,000 pairs of the controlled corpus, with the paper's first weights and with
PyTorch's, without and with dropout. The book's quick recipe stands beside them: its runs are
recorded in ``results/`` already, and are copied from there. All goes into
``results/studies/recipes.json``, which the page ``locking_on`` reads. It can be stopped and started
again: what is stored is not trained again. Usage: make study NAME=recipes
"""

import time
from dataclasses import asdict

from attnmt import alignment_error_rate, bleu, fit, force_align, grammar_corpus, greedy
from attnmt.corpus import Corpus
from attnmt.evidence.runs import load_run
from attnmt.metrics import perplexity, texts
from attnmt.model import CONSTRUCTORS
from attnmt.recipes import BAHDANAU, LUONG, LUONG_DROPOUT, Recipe
from attnmt.training import History
from studies.study import head_of, open_store, save_store, store_of

STORE = store_of(__file__)
SEEDS = (0, 1)
DEAR = 280  # CPU-seconds of training: a system whose first seed takes more gets no second one

# A model's constructor and arguments, and the recipe.
SYSTEMS: dict[str, tuple[dict, Recipe]] = {
    "RNNsearch, Adadelta, the paper's first weights": (
        {"model": "rnnsearch", "init": "paper"},
        BAHDANAU,
    ),
    "RNNsearch, Adadelta": ({"model": "rnnsearch"}, BAHDANAU),
    "Luong dot, SGD, the paper's first weights": (
        {"model": "luong", "score": "dot", "init": "paper"},
        LUONG,
    ),
    "Luong general, SGD, dropout": (
        {"model": "luong", "score": "general", "dropout": 0.2},
        LUONG_DROPOUT,
    ),
}
# The book's own recipe: a name here, and that of its recorded runs.
RECORDED = {
    "RNNsearch, Adam": "rnnsearch-grammar",
    "Luong general, Adam": "luong-general-grammar",
}


def told(history: History) -> dict:
    """A history as JSON, with what it cost."""
    epochs = [
        {
            "epoch": epoch.epoch,
            "train_perplexity": round(epoch.train_perplexity, 4),
            "valid_perplexity": round(epoch.valid_perplexity, 4),
            "learning_rate": epoch.learning_rate,
            "gradient_norm": round(epoch.gradient_norm, 4),
            "cpu_seconds": round(epoch.cpu_seconds, 1),
        }
        for epoch in history.epochs
    ]
    return {"cpu_seconds": round(history.cpu_seconds, 1), "epochs": epochs}


def train(corpus: Corpus, arguments: dict, recipe: Recipe, seed: int) -> dict:
    """Train one model from one seed; returns its history, and what the test pairs say."""
    arguments = {**arguments, "seed": seed}
    model = CONSTRUCTORS[arguments.pop("model")](corpus, **arguments)
    history = fit(model, corpus, recipe, seed=seed, device="cpu", progress=False)
    translated = texts(model, greedy(model, [pair.source for pair in corpus.test]))
    score = bleu(translated, [pair.target_text for pair in corpus.test], lowercase=True)
    return {
        "seed": seed,
        **told(history),
        "test_perplexity": round(perplexity(model, corpus.test), 4),
        "bleu": round(score.score, 3),
        "signature": score.signature,
        "aer": round(alignment_error_rate(force_align(model, corpus.test), corpus.test), 4),
    }


def copied(name: str, seed: int) -> dict:
    """The same of a recorded run."""
    run = load_run(f"{name}-{seed}")
    return {
        "seed": seed,
        "recorded": run.name,
        **told(run.history),
        "test_perplexity": round(run.test_perplexity, 4),
        "bleu": round(run.bleu.score, 3),
        "signature": run.bleu.signature,
        "aer": round(run.aer, 4),
    }


def systems_of(corpus: Corpus) -> dict[str, dict]:
    """All systems of the study: those that are recorded with their runs, the others without."""
    systems = {}
    for name, (arguments, recipe) in SYSTEMS.items():
        systems[name] = {"model": arguments, "recipe": asdict(recipe), "runs": []}
    for name, recorded in RECORDED.items():
        first = load_run(f"{recorded}-{SEEDS[0]}")
        runs = [copied(recorded, seed) for seed in SEEDS]
        systems[name] = {"model": first.model, "recipe": asdict(first.recipe), "runs": runs}
        if first.corpus["fingerprint"] != corpus.fingerprint:
            raise SystemExit(f"{recorded} was recorded on another corpus: record it again.")
    return systems


def add_run(system: dict, name: str, corpus: Corpus, seed: int) -> None:
    """Train a system from one more seed, unless that is there or the first was too dear."""
    runs = system["runs"]
    began = time.process_time()
    if seed in [run["seed"] for run in runs]:
        return
    if runs and max(run["cpu_seconds"] for run in runs) > DEAR:
        system["left_out"] = f"seed {seed}: the first took more than {DEAR} CPU-seconds"
        print(name, seed, "left out", flush=True)
        return
    arguments, recipe = SYSTEMS[name]
    runs.append(train(corpus, arguments, recipe, seed=seed))
    print(name, seed, f"{time.process_time() - began:.0f} CPU-seconds", flush=True)


def main() -> None:
    """Fill the store."""
    corpus = grammar_corpus()
    systems = systems_of(corpus)
    store = {
        **head_of(__file__),
        "corpus": {
            "name": corpus.name,
            "train": len(corpus.train),
            "fingerprint": corpus.fingerprint,
        },
        "seeds": SEEDS,
        "one_seed_above_cpu_seconds": DEAR,
        "systems": systems,
    }
    stored = open_store(STORE, store, "systems")["systems"]
    for name in SYSTEMS:
        there = stored.get(name, {})
        if all(there.get(key) == systems[name][key] for key in ("model", "recipe")):
            systems[name]["runs"] = there["runs"]
    for seed in SEEDS:
        for name in SYSTEMS:
            add_run(systems[name], name, corpus, seed=seed)
            save_store(STORE, store)
