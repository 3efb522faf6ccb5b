"""What carries the strongest translators further? Trials, chosen from on validation alone.

A recurrent translator and a Transformer are trained with one thing changed at a time: German to
English from the last rungs of the ladder; English to German with tied embeddings, the same list for
both, and a seed that no recorded run has. Then the best changes are tried together. Validation says
what came of it: perplexity, and BLEU of greedy search and of a beam of 5 with some strengths of the
length normalisation; and greedily, of the mean of the weights after the last epochs. The test
captions are never translated. Start it again to go on: what is stored is not trained again.
Usage: make study NAME=strongest_trials
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn.functional import dropout
from torch.optim.swa_utils import AveragedModel

from attnmt import Translator
from attnmt.batches import Batch
from attnmt.corpus import Corpus
from attnmt.evidence.corpora import CORPORA
from attnmt.evidence.models import MODELS
from attnmt.evidence.modern import Modern
from attnmt.evidence.plan import model_arguments, read_plan, recipe_of
from attnmt.metrics import perplexity
from attnmt.recipes import Recipe
from attnmt.training import fit
from studies.strongest import BEAM, scores
from studies.study import head_of, open_store, save_store, store_of, versions

STORE = store_of(__file__)
SEEDS = {"pieces": 0, "german-shared": 1_000}  # of the first weights and the batches, by corpus
LAST = 4  # epochs of which the mean weights are measured, too
PENALTIES = (0.6, 1.2, 1.8)
BOTH: dict[str, dict[str, Any]] = {  # what is changed, by a trial's name, of both kinds of model
    "as it is": {},
    "half the rate": {"rate": 0.5},
    "twice the rate": {"rate": 2.0},
    "24 epochs": {"recipe": {"epochs": 24, "halve_after": 24}},
    "32 epochs": {"recipe": {"epochs": 32, "halve_after": 32}},
    "dropout 0.1 less": {"dropout": -0.1},
    "dropout 0.1 more": {"dropout": 0.1},
    "batches of 128": {"recipe": {"batch_size": 128}},
    "batches of 32": {"recipe": {"batch_size": 32}},
    "smoothing 0.2": {"modern": {"smoothing": 0.2}},
    "one more layer": {"more_layers": 1},
    "half as many units": {"units": 0.5},
    "half again as many units": {"units": 1.5},
    "a warm-up of an epoch": {"modern": {"warm_up": 454}},
    "half the pieces": {"pieces": 0.5},
    "as many pieces for each side": {"corpus": {"joint": False}},
    "embeddings not tied": {"tied": False},
}
RECURRENT: dict[str, dict[str, Any]] = {
    "dropout of the recurrent weights": {"modern": {"drop_recurrent": 0.2}},
    "general": {"model": {"score": "general"}},
    "weights drawn as the paper's": {"model": {"init": "paper"}},
    "embeddings of 512": {"model": {"embedding": 512}},
    "input feeding": {"model": {"feeding": True}},
}
TRIALS: dict[str, dict[str, dict[str, dict[str, Any]]]] = {  # by corpus and system of the plan
    "pieces": {
        "strongest": {
            "two layers": {"more_layers": 1},
            "tied embeddings": {"tied": True},
            "dropout of the recurrent weights": {"modern": {"drop_recurrent": 0.2}},
        },
        "transformer": {
            "twice the rate": {"rate": 2.0},
            "dropout 0.2": {"dropout": -0.1},
            "warm-up in the first epoch": {"modern": {"warm_up": 454}},
        },
    },
    "german-shared": {"tied": BOTH | RECURRENT, "transformer-tied": BOTH},
}
AND = " + "
TOGETHER = {  # the best of a system's single changes; tried once their trials were known
    "tied": [
        f"half again as many units{AND}smoothing 0.2",
        f"half again as many units{AND}32 epochs",
        f"half again as many units{AND}smoothing 0.2{AND}32 epochs",
    ],
}


class Computed(nn.Module):
    """An objective as a module, so that it can be computed with other weights."""

    def __init__(self, objective: Modern, model: Translator):
        super().__init__()
        self.objective = objective
        self.model = model

    def forward(self, batch: Batch) -> Tensor:
        """The loss of each target token, (tokens,)."""
        return self.objective(self.model, batch)


@dataclass(frozen=True)
class Dropping:
    """An objective of which some of the LSTMs' recurrent weights are 0 (Merity et al. 2018).

    Attributes:
        objective: without that.
        share: of the weights, drawn anew for each update (section 2 there).
    """

    objective: Modern
    share: float

    def __call__(self, model: Translator, batch: Batch) -> Tensor:
        """The loss of each target token, (tokens,)."""
        dropped = {
            f"model.{name}": weights * dropout(torch.ones_like(weights), self.share)
            for name, weights in model.named_parameters()
            if "weight_hh" in name
        }
        return functional_call(Computed(self.objective, model), dropped, (batch,))


@dataclass(frozen=True)
class Warming(Recipe):
    """A recipe whose rate rises from 0 first.

    Attributes:
        warm_up: updates in which it rises.
        updates_per_epoch: of all epochs.
    """

    warm_up: int = 0
    updates_per_epoch: int = 1

    def learning_rate_of(self, epoch: int, done: float = 0.0) -> float:
        """As of :class:`.Recipe`, less in the warm-up."""
        updates = round((epoch - 1 + done) * self.updates_per_epoch)
        rising = min(1.0, (updates + 1) / self.warm_up) if self.warm_up else 1.0
        return rising * super().learning_rate_of(epoch, done)


def averaged(model: Translator, first: int) -> tuple[AveragedModel, Callable]:
    """The mean of a model's weights at some moments, and the ``watch`` for :func:`.fit`.

    Args:
        model: before its training.
        first: updates before the first of these moments.
    """
    mean = AveragedModel(model)

    def watch(model: Translator, updates: int) -> None:
        if updates >= first:
            mean.update_parameters(model)

    return mean, watch


def changes_of(name: str, system: str, what: str) -> dict[str, Any]:
    """The changes of a trial, or those of several together."""
    found: dict[str, Any] = {}
    for one in what.split(AND):
        for part, change in TRIALS[name][system][one].items():
            both = isinstance(change, dict) and part in found
            found[part] = found[part] | change if both else change
    return found


def corpus_of(name: str, changes: dict[str, Any]) -> Corpus:
    """The corpus of a trial: the plan's, with changes."""
    of_corpus = read_plan()["corpora"][name]
    arguments = of_corpus["arguments"] | changes.get("corpus", {})
    arguments["subwords"] = round(arguments["subwords"] * changes.get("pieces", 1))
    return CORPORA[of_corpus["corpus"]](train=of_corpus["train"], **arguments)


def begin(corpus: Corpus, name: str, system: str, changes: dict[str, Any]) -> Translator:
    """The model of a trial before its training."""
    arguments = model_arguments(system, name) | changes.get("model", {})
    made = arguments.pop("model")
    if "tied" in changes:
        made = made.removesuffix("_tied") + "_tied" * changes["tied"]
    arguments["dropout"] = round(arguments["dropout"] + changes.get("dropout", 0), 2)
    arguments["hidden"] = round(arguments["hidden"] * changes.get("units", 1))
    layers = "blocks" if "blocks" in arguments else "layers"
    arguments[layers] = arguments.get(layers, 1) + changes.get("more_layers", 0)
    return MODELS[made](corpus, **arguments, seed=SEEDS[name])


def trial(corpus: Corpus, name: str, system: str, changes: dict[str, Any]) -> dict[str, Any]:
    """Train a system with changes: what validation says of it, and what it took."""
    model = begin(corpus, name, system, changes)
    modern = read_plan()["systems"][system]["modern"] | changes.get("modern", {})
    warm_up, share = modern.pop("warm_up", 0), modern.pop("drop_recurrent", 0.0)
    objective = Dropping(Modern(**modern), share) if share else Modern(**modern)
    recipe = replace(recipe_of(system, name), **changes.get("recipe", {}))
    recipe = replace(recipe, learning_rate=recipe.learning_rate * changes.get("rate", 1))
    steps = math.ceil(len(corpus.train) / recipe.batch_size)
    mean, watch = averaged(model, first=(recipe.epochs - LAST + 1) * steps)
    history = fit(
        model,
        corpus,
        Warming(**vars(recipe), warm_up=warm_up, updates_per_epoch=steps),
        seed=SEEDS[name],
        objective=objective,
        progress=False,
        curve_every=steps,
        watch=watch,
    )
    last = greedily(model, corpus)
    for penalty in PENALTIES:
        searched = scores(model, corpus, "valid", beam=BEAM, length_penalty=penalty)
        last[f"{penalty}"] = searched
    model.load_state_dict(mean.module.state_dict())
    found = {"device": model.device.type, "torch": versions()["torch"]}
    found["cpu_seconds"] = round(history.cpu_seconds)
    return {"changes": changes, **found, "last": last, "mean": greedily(model, corpus)}


def greedily(model: Translator, corpus: Corpus) -> dict[str, Any]:
    """Perplexity on validation, and the scores of greedy search."""
    found = round(perplexity(model, corpus.valid), 4)
    return {"perplexity": found, "greedy": scores(model, corpus, "valid")}


def main() -> None:
    """Make the trials that are missing."""
    store = open_store(STORE, head_of(__file__) | {"seeds": SEEDS, "beam": BEAM})
    trials = store.setdefault("trials", {})
    for name, systems in TRIALS.items():
        for system, changed in systems.items():
            done = trials.setdefault(name, {}).setdefault(system, {})
            for what in [*changed, *TOGETHER.get(system, [])]:
                if what not in done:
                    changes = changes_of(name, system, what)
                    done[what] = trial(corpus_of(name, changes), name, system, changes)
                    save_store(STORE, store)
                    print(name, system, what, flush=True)
