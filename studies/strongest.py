"""How far can it go? The strongest translator in every protocol, its ensemble, its trials.

Takes the recorded runs of ``SYSTEMS``, with their trained models in ``_build/models``. The strength
of the length normalisation is chosen on the validation captions: the strongest models and the
Transformers are searched with all of ``PENALTIES`` there, and with the best of these for their
system on the test captions, once; the other systems with that of the strongest.
Then the strongest models translate together. Each trial trains a model that differs from the
strongest or from the Transformer in one thing, and is measured on validation only.
Scores go to ``results/studies/strongest.json``, which the page *How far can it go?* reads; no
caption is stored. What is stored is not done again.
Usage: make study NAME=strongest
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn.functional import dropout

from attnmt import Ensemble, Translator, beam_search, greedy
from attnmt.batches import Batch
from attnmt.book.tables import mean
from attnmt.corpus import Corpus
from attnmt.decoding import Model
from attnmt.evidence.models import MODELS
from attnmt.evidence.modern import Modern
from attnmt.evidence.plan import load_corpus, model_arguments, planned, read_plan, recipe_of
from attnmt.evidence.protocols import protocols
from attnmt.metrics import perplexity, texts
from attnmt.model import seeded
from attnmt.recipes import Recipe
from attnmt.text.subwords import in_words
from attnmt.training import fit
from studies.study import head_of, open_store, recorded_on, save_store, store_of, trained_model

STORE = store_of(__file__)
STRONGEST = "strongest-pieces"
TRANSFORMER = "transformer-pieces"
SYSTEMS = (STRONGEST, TRANSFORMER, "luong-dot-pieces", "luong-dot-multi30k")
WORDS = "luong-dot-multi30k-0"  # what a sample is translated by for comparison
BEAM = 5
PENALTIES = (0.0, 0.6, 1.0, 1.4, 1.8, 2.2)
LAST = 4  # epochs of which the mean weights are measured, too
TRIALS: dict[str, dict[str, dict[str, Any]]] = {  # what is changed of a system, by a trial's name
    "strongest": {
        "two layers": {"model": {"layers": 2}},
        "tied embeddings": {"tied": True},
        "dropout of the recurrent weights": {"modern": {"drop_recurrent": 0.2}},
    },
    "transformer": {
        "twice the rate": {"recipe": {"learning_rate": 2e-3}},
        "dropout 0.2": {"model": {"dropout": 0.2}},
        "warm-up in the first epoch": {"modern": {"warm_up": 454}},
    },
}


def runs_of(system: str) -> list[str]:
    """The recorded runs of a system and corpus, seed by seed."""
    names = recorded_on(system.rpartition("-")[2])
    return [name for name in names if name.rpartition("-")[0] == system]


def corpus_for(name: str) -> Corpus:
    """The corpus of a run."""
    return load_corpus(planned()[name][1])


def scores(model: Model, corpus: Corpus, part: str, **search: Any) -> dict[str, float]:
    """BLEU of one search on a part of a corpus, by the signature of each protocol."""
    pairs = getattr(corpus, part)
    sources = [pair.source for pair in pairs]
    found = beam_search(model, sources, **search) if search else greedy(model, sources)
    of = protocols(model, found, getattr(in_words(corpus), part), words=True)
    return {one.signature: round(one.score, 3) for one in of}


def in_moses_words(found: dict[str, float]) -> float:
    """Of the scores of one search, that of lower-cased words as Moses parts them."""
    (score,) = (score for signature, score in found.items() if "tok:none" in signature)
    return score


def on_validation(name: str, found: dict[str, dict[str, float]]) -> None:
    """Add a run's scores on the validation captions, by greedy search and with each penalty."""
    searches = {f"{p}": {"beam": BEAM, "length_penalty": p} for p in PENALTIES}
    searches = {"greedy": {}} | searches
    if missing := searches.keys() - found.keys():
        model = trained_model(name)
        corpus = corpus_for(name)
        found |= {one: scores(model, corpus, "valid", **searches[one]) for one in sorted(missing)}


def chosen(runs: dict[str, Any], system: str) -> float:
    """The penalty with the best mean on validation, over the models of a system."""
    valid = [runs[name]["valid"] for name in runs_of(system)]
    return max(PENALTIES, key=lambda p: mean([in_moses_words(one[f"{p}"]) for one in valid]))


def on_test(model: Model, corpus: Corpus, penalty: float) -> dict[str, dict[str, float]]:
    """Scores on the test captions, of greedy search, of a plain beam and of the chosen one."""
    return {
        "greedy": scores(model, corpus, "test"),
        "beam": scores(model, corpus, "test", beam=BEAM),
        "normalised": scores(model, corpus, "test", beam=BEAM, length_penalty=penalty),
    }


def samples(models: dict[str, Model], penalty: float) -> list[dict[str, Any]]:
    """Our own captions, as the first of the models cuts them, and as each of them translates."""
    found = []
    for text in read_plan()["corpora"]["pieces"]["samples"]:
        sources = {who: model.source_vocabulary.tokenise(text) for who, model in models.items()}
        row: dict[str, Any] = {"text": text, "pieces": next(iter(sources.values()))}
        for who, model in models.items():
            best = beam_search(model, [sources[who]], BEAM, length_penalty=penalty)
            (row[who],) = texts(model, best)
        found.append(row)
    return found


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


class Mean:
    """The mean of a model's weights at some moments, a ``watch`` for :func:`.fit`.

    Args:
        first: updates before the first of these moments.
    """

    def __init__(self, first: int):
        self.first = first
        self.moments = 0
        self.weights: dict[str, Tensor] = {}

    def __call__(self, model: Translator, updates: int) -> None:
        """Let the weights of now join the mean."""
        if updates < self.first:
            return
        self.moments += 1
        for name, weights in model.state_dict().items():
            before = self.weights.get(name, weights)
            self.weights[name] = before.lerp(weights, 1 / self.moments)


class Scaled(nn.Embedding):
    """An embedding whose weights serve as a readout, too: small ones, read as if they were not."""

    def __init__(self, words: int, m: int):
        super().__init__(words, m)
        nn.init.normal_(self.weight, std=m**-0.5)

    def forward(self, words: Tensor) -> Tensor:
        """As of an embedding, with a mean square of 1 at first."""
        return super().forward(words) * self.embedding_dim**0.5


def tie(model: Translator) -> None:
    """Let the decoder's readout have the weights of its embedding (Press and Wolf 2017).

    Where features have another size than embeddings, a matrix goes between.
    """
    decoder = model.decoder
    readout = "W_out" if hasattr(decoder, "W_out") else "W_o"
    before: nn.Linear = getattr(decoder, readout)
    words, m = decoder.embedding.weight.shape
    decoder.embedding = Scaled(words, m)
    after = nn.Linear(m, words)
    after.weight = decoder.embedding.weight
    if before.in_features != m:
        after = nn.Sequential(nn.Linear(before.in_features, m, bias=False), after)
    setattr(decoder, readout, after)


def trial(of: str, changes: dict[str, Any]) -> dict[str, Any]:
    """Train a system with changes, seed 0; its cost, and what validation says of it.

    Of the last weights, and of the mean of those after the last epochs.
    """
    corpus = load_corpus("pieces")
    arguments = model_arguments(of, "pieces") | changes.get("model", {})
    model = MODELS[arguments.pop("model")](corpus, **arguments, seed=0)
    if changes.get("tied"):
        with seeded(0):
            tie(model)
    modern = read_plan()["systems"][of]["modern"] | changes.get("modern", {})
    warm_up, share = modern.pop("warm_up", 0), modern.pop("drop_recurrent", 0.0)
    objective = Dropping(Modern(**modern), share) if share else Modern(**modern)
    recipe = replace(recipe_of(of, "pieces"), **changes.get("recipe", {}))
    steps = math.ceil(len(corpus.train) / recipe.batch_size)
    mean_weights = Mean(first=(recipe.epochs - LAST + 1) * steps)
    history = fit(
        model,
        corpus,
        Warming(**vars(recipe), warm_up=warm_up, updates_per_epoch=steps),
        objective=objective,
        progress=False,
        curve_every=steps,
        watch=mean_weights,
    )
    last = on_valid(model, corpus)
    model.load_state_dict(mean_weights.weights)
    cost = {"cpu_seconds": round(history.cpu_seconds)}
    return {"changes": changes, **cost, **last, "mean": on_valid(model, corpus)}


def on_valid(model: Model, corpus: Corpus) -> dict[str, Any]:
    """Perplexity on validation, and the scores of greedy search."""
    found = round(perplexity(model, corpus.valid), 4)
    return {"perplexity": found, "greedy": scores(model, corpus, "valid")}


def measure(store: dict[str, Any]) -> None:
    """The recorded models, on validation, then on test, and the strongest of them together."""
    runs = store.setdefault("runs", {})
    penalties = store["penalties"] = {}
    for system in (STRONGEST, TRANSFORMER):
        for name in runs_of(system):
            on_validation(name, runs.setdefault(name, {}).setdefault("valid", {}))
            save_store(STORE, store)
        penalties[system] = chosen(runs, system)
    for system in SYSTEMS:
        penalty = penalties.get(system, penalties[STRONGEST])
        for name in runs_of(system):
            run = runs.setdefault(name, {})
            if run.get("penalty") != penalty:
                run["test"] = on_test(trained_model(name), corpus_for(name), penalty)
                run["penalty"] = penalty
                save_store(STORE, store)
    members = runs_of(STRONGEST)
    if store.get("ensemble", {}).get("members") != members:
        measure_together(store, members, penalties[STRONGEST])


def measure_together(store: dict[str, Any], members: Sequence[str], penalty: float) -> None:
    """The ensemble of some models, on test, and translations of our own captions."""
    together = Ensemble(trained_model(name) for name in members)
    found = on_test(together, corpus_for(members[0]), penalty)
    store["ensemble"] = {"members": members, "test": found}
    models = {"strongest": trained_model(members[0]), "together": together}
    store["samples"] = samples(models | {"words": trained_model(WORDS)}, penalty)
    save_store(STORE, store)


def main() -> None:
    """Fill the store."""
    store = open_store(STORE, {**head_of(__file__), "beam": BEAM})
    measure(store)
    for of, changed in TRIALS.items():
        trials = store.setdefault("trials", {}).setdefault(of, {})
        for name, changes in changed.items():
            if name not in trials:
                trials[name] = trial(of, changes)
                save_store(STORE, store)
                print(of, name, flush=True)
