"""When does attention lock on? Change one choice at a time, and watch the alignment.

A model that attends spends its first updates as if it did not: the weights are spread, the decoder
learns a language model of the target. Then, within some hundred updates, attention locks on:
alignment error and perplexity fall together. This script finds the update at which that happens,
for a base model and for the same model with one choice changed, and stores the curves in
``results/studies/lock_on.json``, which the page ``locking_on`` reads. It can be stopped and started
again: what is stored is not trained again. Usage: make study NAME=lock_on
"""

import math
import time
from collections.abc import Callable, Iterator

import torch
from torch import nn

from attnmt import alignment_error_rate, force_align, grammar_corpus, luong, perplexity
from attnmt.batches import Batch, batches
from attnmt.corpus import Corpus
from attnmt.fast import sooner
from attnmt.model import Translator, seeded
from studies.study import head_of, open_store, save_store, store_of

STORE = store_of(__file__)
SEEDS = (0, 1)
EVERY = 25  # updates between two measurements
MOST = 1_500  # updates at most
LOCKED = 0.5  # alignment error below this: locked on (a diagonal has 0.66, see chapter 1)
AFTER = 150  # updates to go on after that, for the picture
BASE = {"score": "general"}  # one-directional LSTMs, 128 units, torch's initial weights
BATCH = 64
RATE = 4e-3


def identity(model: Translator) -> None:
    """W_a = I: general starts as dot."""
    nn.init.eye_(model.decoder.attention.score.W_a.weight)


def forget_bias(model: Translator) -> None:
    """The LSTMs' forget gates start open: their two biases sum to 1 (Jozefowicz et al. 2015)."""
    for lstm in (model.encoder.rnn, model.decoder.rnn):
        for name, bias in lstm.named_parameters():
            if name.startswith("bias"):
                _, forget, _, _ = bias.chunk(4)  # input, forget, cell, output
                forget.fill_(1.0 if name.startswith("bias_ih") else 0.0)


def small_embeddings(model: Translator) -> None:
    """Embeddings of a tenth of torch's size, which is a standard deviation of 1."""
    model.encoder.embedding.weight.mul_(0.1)
    model.decoder.embedding.weight.mul_(0.1)


# What is changed against the base: the model's arguments, its first weights, or the training.
CHOICES: dict[str, dict] = {
    "base: general score": {},
    "W_a started at the identity": {"start": identity},
    "all weights uniform in ±0.1": {"model": {"init": "paper"}},
    "embeddings a tenth as large": {"start": small_embeddings},
    "forget bias 1": {"start": forget_bias},
    "learning rate halved": {"rate": RATE / 2},
    "learning rate doubled": {"rate": RATE * 2},
    "32 pairs a batch": {"batch": 32},
    "128 pairs a batch": {"batch": 128},
    "bidirectional encoder": {"model": {"bidirectional": True}},
    "dot score": {"model": {"score": "dot"}},
    "concat score": {"model": {"score": "concat"}},
}


def forever(corpus: Corpus, size: int, seed: int) -> Iterator[Batch]:
    """Batches, epoch after epoch."""
    epoch = 0
    while True:
        vocabularies = corpus.source_vocabulary, corpus.target_vocabulary
        yield from batches(corpus.train, *vocabularies, size, seed=seed + 1_000_003 * epoch)
        epoch += 1


def watch(
    corpus: Corpus,
    seed: int,
    model: dict | None = None,
    start: Callable[[Translator], None] | None = None,
    rate: float = RATE,
    batch: int = BATCH,
) -> dict:
    """Train until some updates after attention locked on; measure on 100 validation pairs."""
    began = time.process_time()
    pairs = corpus.valid[:100]
    translator = luong(corpus, **{**BASE, **(model or {}), "seed": seed})
    if start:
        with torch.no_grad():
            start(translator)
    optimiser = torch.optim.Adam(translator.parameters(), lr=rate, fused=True)
    curve = []
    locked_on = None
    with seeded(seed):
        for update, some in enumerate(forever(corpus, batch, seed), 1):
            translator.train()
            optimiser.zero_grad(set_to_none=True)
            with sooner(translator):
                translator.token_losses(some).mean().backward()
            nn.utils.clip_grad_norm_(translator.parameters(), 1.0)
            optimiser.step()
            if update % EVERY == 0:
                error = alignment_error_rate(force_align(translator, pairs), pairs)
                curve.append([update, round(error, 4), round(perplexity(translator, pairs), 3)])
                if locked_on is None and error < LOCKED:
                    locked_on = update
            if update >= min(MOST, math.inf if locked_on is None else locked_on + AFTER):
                break
    seconds = round(time.process_time() - began, 1)
    return {"seed": seed, "locked_on": locked_on, "curve": curve, "cpu_seconds": seconds}


def main() -> None:
    """Fill the store."""
    corpus = grammar_corpus()
    head = {
        **head_of(__file__),
        "corpus": {"name": corpus.name, "fingerprint": corpus.fingerprint},
        "columns": ["update", "alignment error", "perplexity"],
        "locked_below": LOCKED,
        "most_updates": MOST,
        "choices": {},
    }
    store = open_store(STORE, head, "choices")
    for seed in SEEDS:
        for choice, changes in CHOICES.items():
            runs = store["choices"].setdefault(choice, [])
            if seed in [run["seed"] for run in runs]:
                continue
            runs.append(watch(corpus, seed, **changes))
            save_store(STORE, store)
            print(choice, seed, "locked on at", runs[-1]["locked_on"], flush=True)
