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
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn.functional import cross_entropy, dropout, log_softmax
from torch.optim.swa_utils import AveragedModel

from attnmt import Translator
from attnmt.batches import Batch, Source
from attnmt.corpus import Corpus, Pair
from attnmt.evidence.corpora import CORPORA
from attnmt.evidence.models import MODELS
from attnmt.evidence.modern import Modern
from attnmt.evidence.plan import model_arguments, read_plan, recipe_of
from attnmt.metrics import perplexity
from attnmt.recipes import Recipe
from attnmt.text.subwords import in_words, letters_of
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
    "1.5 times as many units": {"units": 1.5},
    "a warm-up of an epoch": {"modern": {"warm_up": 454}},
    "cut by chance": {"cut_by_chance": 0.1},
    "read twice": {"modern": {"agreement": 5.0}},
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
        f"1.5 times as many units{AND}smoothing 0.2",
        f"1.5 times as many units{AND}32 epochs",
        f"1.5 times as many units{AND}smoothing 0.2{AND}32 epochs",
    ],
}


Objective = Callable[[Translator, Batch], Tensor]  # the loss of each target token, (tokens,)


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
class Agreeing:
    """An objective by which a model, with two draws of dropout, should say the same (R-Drop).

    Liang et al. 2021, section 2, halved: a pair is read twice, and its loss is the mean of both,
    plus a share of how far the two distributions of each word are apart.

    Attributes:
        smoothing: as of :class:`.Modern`.
        weight: alpha of the paper.
    """

    smoothing: float
    weight: float

    def __call__(self, model: Translator, batch: Batch) -> Tensor:
        """The loss of each target token, (tokens,)."""
        both = twice(batch)
        features, _ = model(both)  # (2B, T, f)
        logits = model.decoder.readout(features[both.target_mask])  # (2 tokens, V)
        words = both.target_out[both.target_mask]
        losses = cross_entropy(logits, words, reduction="none", label_smoothing=self.smoothing)
        p, q = log_softmax(logits, dim=1).chunk(2)
        apart = (p.exp() - q.exp()) * (p - q)  # adds up to KL(p || q) + KL(q || p)
        return losses.view(2, -1).mean(0) + self.weight / 4 * apart.sum(1)


def twice(batch: Batch) -> Batch:
    """A batch and behind it the same once more: (2B, ...)."""

    def doubled(*parts: Tensor) -> list[Tensor]:
        return [torch.cat([part, part]) for part in parts]

    source = Source(*doubled(*vars(batch.source).values()))
    return Batch(source, *doubled(batch.target_in, batch.target_out, batch.target_mask))


class CutByChance(Sequence[Pair]):
    """The training pairs of a corpus in pieces, cut anew whenever one is asked for (BPE-dropout).

    Provilkov et al. 2020, section 3: before each joint of two neighbours, every possible one is
    left out with some probability, so a word has many cuts, and a model learns what its parts mean.
    Drawing is slow, so each word has :attr:`CUTS` of them, drawn at the beginning.

    Args:
        corpus: in pieces.
        share: the probability.
        seed: of the draws.
    """

    CUTS = 16

    def __init__(self, corpus: Corpus, share: float, seed: int):
        self.pairs = in_words(corpus).train
        self.draw = random.Random(seed)
        self.cuts: list[dict[str, list[list[str]]]] = []
        for side, pieces in zip(("source", "target"), corpus.pieces, strict=True):
            rank = {piece: number for number, piece in enumerate(pieces)}
            drawn = {}
            for word in sorted({word for pair in self.pairs for word in getattr(pair, side)}):
                cuts = (cut_by_chance(word, rank, share, self.draw) for _ in range(self.CUTS))
                drawn[word] = list(cuts)
            self.cuts.append(drawn)

    def __len__(self) -> int:
        return len(self.pairs)

    def __getitem__(self, index: Any) -> Any:
        pair = self.pairs[index]
        source, target = (
            tuple(piece for word in words for piece in self.draw.choice(cuts[word]))
            for words, cuts in zip((pair.source, pair.target), self.cuts, strict=True)
        )
        return replace(pair, source=source, target=target)


def cut_by_chance(
    word: str, rank: Mapping[str, int], share: float, draw: random.Random
) -> list[str]:
    """Cut one word as :func:`attnmt.text.subwords.cut` does, but leave out some joints.

    Args:
        word, rank: as there.
        share: the probability with which a possible joint is left out, each time anew.
        draw: makes the draws.
    """
    pieces = letters_of(word)
    while True:
        joints = {
            place: one + other
            for place, (one, other) in enumerate(pairwise(pieces))
            if one + other in rank and draw.random() >= share
        }
        if not joints:
            return pieces
        place = min(joints, key=lambda place: rank[joints[place]])
        pieces[place : place + 2] = [joints[place]]


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


def begin(corpus: Corpus, name: str, system: str, changes: dict[str, Any], seed: int) -> Translator:
    """The model of a trial before its training."""
    arguments = model_arguments(system, name) | changes.get("model", {})
    made = arguments.pop("model")
    if "tied" in changes:
        made = made.removesuffix("_tied") + "_tied" * changes["tied"]
    arguments["dropout"] = round(arguments["dropout"] + changes.get("dropout", 0), 2)
    arguments["hidden"] = round(arguments["hidden"] * changes.get("units", 1))
    layers = "blocks" if "blocks" in arguments else "layers"
    arguments[layers] = arguments.get(layers, 1) + changes.get("more_layers", 0)
    return MODELS[made](corpus, **arguments, seed=seed)


def objective_of(modern: dict[str, Any]) -> tuple[Objective, int]:
    """The objective of a trial, and in how many updates the rate rises from 0."""
    modern = dict(modern)
    warm_up = modern.pop("warm_up", 0)
    if weight := modern.pop("agreement", 0.0):
        return Agreeing(weight=weight, **modern), warm_up
    share = modern.pop("drop_recurrent", 0.0)
    return (Dropping(Modern(**modern), share) if share else Modern(**modern)), warm_up


def train(
    model: Translator, corpus: Corpus, name: str, system: str, changes: dict[str, Any], seed: int
) -> tuple[AveragedModel, dict[str, Any]]:
    """Train a system with changes: the mean of its weights at the last epochs, and what it took."""
    of_system = read_plan()["systems"][system]["modern"]
    objective, warm_up = objective_of(of_system | changes.get("modern", {}))
    recipe = replace(recipe_of(system, name), **changes.get("recipe", {}))
    recipe = replace(recipe, learning_rate=recipe.learning_rate * changes.get("rate", 1))
    if share := changes.get("cut_by_chance"):
        drawn = cast(list[Pair], CutByChance(corpus, share, seed))
        corpus = replace(corpus, train=drawn)
    steps = math.ceil(len(corpus.train) / recipe.batch_size)
    mean, watch = averaged(model, first=(recipe.epochs - LAST + 1) * steps)
    history = fit(
        model,
        corpus,
        Warming(**vars(recipe), warm_up=warm_up, updates_per_epoch=steps),
        seed=seed,
        objective=objective,
        progress=False,
        curve_every=steps,
        watch=watch,
    )
    took = {"device": model.device.type, "torch": versions()["torch"]}
    return mean, took | {"cpu_seconds": round(history.cpu_seconds)}


def trial(corpus: Corpus, name: str, system: str, changes: dict[str, Any]) -> dict[str, Any]:
    """Train a system with changes: what validation says of it, and what it took."""
    model = begin(corpus, name, system, changes, SEEDS[name])
    mean, took = train(model, corpus, name, system, changes, SEEDS[name])
    last = greedily(model, corpus) | by_beams(model, corpus)
    model.load_state_dict(mean.module.state_dict())
    return {"changes": changes, **took, "last": last, "mean": greedily(model, corpus)}


def by_beams(
    model: Translator, corpus: Corpus, penalties: Sequence[float] = PENALTIES
) -> dict[str, dict[str, float]]:
    """Scores on validation by a beam, with some strengths of the length normalisation."""
    return {
        f"{penalty}": scores(model, corpus, "valid", beam=BEAM, length_penalty=penalty)
        for penalty in penalties
    }


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
