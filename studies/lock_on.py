"""When does attention lock on? Change the size of the first scores alone, and watch the weights.

At first a model that attends learns what it can without looking: its weights are on the wrong
words. Then, within some hundred updates, attention locks on, and perplexity falls steeply. Is it
the size of the first scores that decides when? For each of three scores this study multiplies one
part's first weights by 1/4, 1 and 4 and changes nothing else: ``W_a`` of *general*, ``v_a`` of
*concat*, and all of the encoder for *dot*, which has no weights of its own. Training is that of the
live recipe without its falling rate: Adam at 0.004, 32 fresh pairs of the controlled corpus an
update. It stops some updates after the moment.
"""

import math
from collections.abc import Iterator

import torch
from torch import nn

from attnmt import grammar_corpus, luong, perplexity
from attnmt.batches import Batch, batches
from attnmt.evidence.links import gold_mass, spread_of_scores
from attnmt.fast import sooner
from attnmt.model import Translator, seeded
from attnmt.pairs import Corpus
from studies.study import open_store, save_store, store_of

STORE = store_of(__file__)
SEEDS = (0, 1)
SIZES = (0.25, 1, 4)  # by which first weights are multiplied
SCALED = {
    "dot": "encoder",
    "general": "decoder.attention.score.W_a",
    "concat": "decoder.attention.score.v_a",
}
EVERY = 25  # updates between two measurements
MOST_UPDATES = 1_500  # updates at most
LOCKED = 0.5  # locked on: half of the attention is on the words' own links
AFTER = 150  # updates to go on after that, for the picture
WATCHED = 100  # validation pairs
BATCH = 32
RATE = 4e-3


def scaled(corpus: Corpus, score: str, size: float, seed: int) -> Translator:
    """A fresh model whose first scores are smaller or larger than they would have been."""
    model = luong(corpus, score=score, seed=seed)
    with torch.no_grad():
        for weights in model.get_submodule(SCALED[score]).parameters():
            weights.mul_(size)
    return model


def forever(corpus: Corpus, seed: int) -> Iterator[Batch]:
    """Batches, epoch after epoch."""
    epoch = 0
    vocabularies = corpus.source_vocabulary, corpus.target_vocabulary
    while True:
        yield from batches(corpus.train, *vocabularies, BATCH, seed=seed + 1_000_003 * epoch)
        epoch += 1


def watch(model: Translator, corpus: Corpus, seed: int) -> dict:
    """Train until some updates after attention locked on: when it did, and the curves."""
    pairs = corpus.valid[:WATCHED]
    first = spread_of_scores(model, pairs)
    optimiser = torch.optim.Adam(model.parameters(), lr=RATE, fused=True)
    curve = []
    locked_on = None
    with seeded(seed):
        for update, batch in enumerate(forever(corpus, seed), 1):
            model.train()
            optimiser.zero_grad(set_to_none=True)
            with sooner(model):
                model.token_losses(batch).mean().backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
            if update % EVERY == 0:
                mass = gold_mass(model, pairs)
                curve.append([update, round(mass, 4), round(perplexity(model, pairs), 3)])
                if locked_on is None and mass > LOCKED:
                    locked_on = update
            if update >= min(MOST_UPDATES, math.inf if locked_on is None else locked_on + AFTER):
                break
    return {"seed": seed, "first_spread": round(first, 4), "locked_on": locked_on, "curve": curve}


def main() -> None:
    """Fill the store."""
    corpus = grammar_corpus(train=MOST_UPDATES * BATCH)
    store = open_store(
        STORE,
        corpus={"name": corpus.name, "fingerprint": corpus.fingerprint},
        columns=["update", "gold mass", "perplexity"],
        locked_above=LOCKED,
        most_updates=MOST_UPDATES,
    )
    none_yet = {score: {str(size): [] for size in SIZES} for score in SCALED}
    for seed in SEEDS:
        for score, by_size in store.setdefault("scores", none_yet).items():
            for size, runs in by_size.items():
                if seed in [run["seed"] for run in runs]:
                    continue
                runs.append(watch(scaled(corpus, score, float(size), seed=seed), corpus, seed))
                save_store(STORE, store)
                print(score, size, seed, "locked on at", runs[-1]["locked_on"], flush=True)
