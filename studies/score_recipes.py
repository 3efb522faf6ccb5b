"""Which learning rate and which first weights suit each of Luong's scores?

The recipe of the recorded runs was found with dot, and so may favour dot. Each score, local-p among
them, and some of them with input feeding, is therefore tried with half, once and twice that
recipe's learning rate, and with each kind of first weights: PyTorch's; the paper's, uniform in
+-0.1; and for general also ``W_a`` at the identity, where it begins as dot. A trial is a shorter
training with the same schedule: three of the nine epochs on captions, two of the five on the
controlled corpus, the rate halved for the last. The rungs of Luong's ladder are tried on captions
with once and twice the rate, and with PyTorch's and the paper's first weights: half the rate and
the identity were best for no score there. The perplexity on validation chooses; the seed of the
trials is no recorded run's. A trial that diverged has no perplexity. Start it again to go on: what
is stored is not trained again. Usage: make study NAME=score_recipes
"""

import time
from itertools import product
from typing import Any

import torch

from attnmt import Recipe, fit
from attnmt.evidence.models import MODELS
from attnmt.evidence.plan import load_corpus, model_arguments, read_plan
from attnmt.pairs import Corpus
from studies.study import open_store, save_store, store_of

STORE = store_of(__file__)
SEED = 1_000  # of the first weights and of the batches
SHARES = (1.0, 0.5, 2.0)  # of the recipe's learning rate
EPOCHS = {"multi30k": 3, "grammar": 2}
SCORES = (
    "luong-general",
    "luong-dot",
    "luong-local-p",
    "luong-scaled-dot",
    "luong-concat",
    "luong-location",
)
RUNGS = tuple(name for name in read_plan()["systems"] if name.startswith("ladder-"))
SYSTEMS = {
    "multi30k": (*SCORES, "luong-feeding", *RUNGS),
    "grammar": (*SCORES, "luong-feeding", "luong-local-p-feeding"),
}


def tried(system: str) -> list[tuple[str, float]]:
    """The kinds of first weights, each with the shares of the rate, that a system is tried with."""
    if system in RUNGS:
        return list(product(("torch", "paper"), (1.0, 2.0)))
    general = read_plan()["systems"][system]["score"] == "general"
    return list(product(("torch", "paper", "identity") if general else ("torch", "paper"), SHARES))


def recipe(corpus_name: str, share: float) -> Recipe:
    """The recipe of a trial: the plan's, shorter, with a share of its learning rate."""
    whole = read_plan()["corpora"][corpus_name]["recipe"]
    epochs = EPOCHS[corpus_name]
    return Recipe(
        epochs=epochs,
        batch_size=whole["batch_size"],
        learning_rate=share * whole["learning_rate"],
        halve_after=epochs - 1,
    )


def trial(corpus: Corpus, corpus_name: str, system: str, init: str, share: float) -> dict[str, Any]:
    """Train one model: its validation perplexity after each epoch, and what that took."""
    arguments = model_arguments(system, corpus_name)
    constructor = MODELS[arguments.pop("model")]
    arguments["init"] = "torch" if init == "identity" else init
    model = constructor(corpus, **arguments, seed=SEED)
    if init == "identity":
        torch.nn.init.eye_(model.decoder.attention.score.W_a.weight)
    began = time.process_time()
    try:
        history = fit(
            model, corpus, recipe(corpus_name, share), seed=SEED, device="cpu", progress=False
        )
        perplexities = [round(epoch.valid_perplexity, 4) for epoch in history.epochs]
    except FloatingPointError:  # the training diverged
        perplexities = []
    return {
        "system": system,
        "first_weights": init,
        "share": share,
        "valid_perplexity": perplexities,
        "cpu_seconds": round(time.process_time() - began),
    }


def main() -> None:
    """Make the trials that are missing, system by system."""
    store = open_store(STORE, seed=SEED, epochs=EPOCHS)
    trials = store.setdefault("trials", {name: [] for name in EPOCHS})
    for name in EPOCHS:
        corpus = load_corpus(name)
        for system in SYSTEMS[name]:
            for key in ((system, *one) for one in tried(system)):
                if key in {(t["system"], t["first_weights"], t["share"]) for t in trials[name]}:
                    continue
                trials[name].append(trial(corpus, name, *key))
                print(name, trials[name][-1], flush=True)
                save_store(STORE, store)
