"""Does local attention help where a source is long? Up to 200 words, with D from 2 to 10.

Half of the controlled test sentences are no longer than a window of D = 10 is wide, so a window
hardly chooses there. Here sentences are joined to sources of up to 200 words, with all their gold
links. Beyond a sentence, the translation keeps the order of its source. All systems learn from the
same sources, most of them short, by one recipe that was tried with global *dot* alone. They are
measured by the length of the source: BLEU of greedy search, alignment error and, for a window, the
share of sure gold links inside it. CPU time is measured apart, with a window as a mask and with the
window alone (``attnmt.book.window_alone``). Start it again to go on: what is stored is not trained
again. Usage: make study NAME=long_sources
"""

import random
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, replace
from functools import partial
from itertools import pairwise, product

from attnmt import (
    Recipe,
    Translator,
    alignment_error_rate,
    bleu,
    fit,
    force_align,
    grammar_corpus,
    greedy,
    luong,
)
from attnmt.attention import Local
from attnmt.batches import Batch, make_batch
from attnmt.book.window_alone import attend_within
from attnmt.evidence.joined import join
from attnmt.evidence.links import diagonal, error_of, windows_on
from attnmt.fast import sooner
from attnmt.metrics import texts
from attnmt.model import evaluating
from attnmt.pairs import Corpus, Pair
from studies.study import open_store, save_store, store_of

STORE = store_of(__file__)
SEEDS = (0, 1)
ONCE = ("local-p, D = 5", "local-p, D = 2")  # only from the first seed: the wider one failed, too
SENTENCES = 64_000  # of the controlled corpus, to learn from
TESTED = 2_500  # sentences
TIMES = 2  # sources that a sentence stands in, each time beside others
WORDS = 2_044  # of each vocabulary: none of the corpus is unknown
ENOUGH = 180  # words that no source is joined beyond
LONGEST = 200  # words of a source; longer ones are left out
EDGES = (1, 41, 61, 101, 151, LONGEST + 1)  # first length of each bucket, and one past the last
RECIPE = Recipe(epochs=1, batch_size=16, learning_rate=4e-3, halve_after=None, fall=True)
CURVE = 250  # updates between two points of a learning curve
SIDE_BY_SIDE = 16  # sources whose cost is measured together
ROUNDS = 5
WIDTHS = (10, 5, 2)
SYSTEMS = {
    "global, dot": {"score": "dot"},
    "global, general": {"score": "general"},
    **{
        f"{window}, D = {D}": {"score": "general", "window": window, "D": D}
        for window in ("local-m", "local-p")
        for D in WIDTHS
    },
}


def join_linked(pairs: Sequence[Pair]) -> Pair:
    """One pair of several, one after the other, with the gold links of all."""
    S = T = 0
    links: dict[str, set] = {"sure": set(), "possible": set()}
    for pair in pairs:
        for name, moved in links.items():
            moved |= {(s + S, t + T) for s, t in getattr(pair, name)}
        S += len(pair.source)
        T += len(pair.target)
    classes = tuple(name for pair in pairs for name in pair.classes)
    sets = {name: frozenset(moved) for name, moved in links.items()}
    return replace(join(pairs), **sets, classes=classes)


def join_all(pairs: Sequence[Pair], seed: int, *, mostly_short: bool) -> list[Pair]:
    """All pairs in random order, joined to sources of 1 to ``LONGEST`` words.

    For each source a length is drawn, and pairs are joined until it has as many words.

    Args:
        pairs: to be joined.
        seed: of their order and of the lengths.
        mostly_short: lengths from 10 to 20 words are as likely as those from 90 to 180. Otherwise
            each length is.
    """
    rng = random.Random(seed)
    waiting = rng.sample(pairs, len(pairs))
    found = []
    while waiting:
        share = rng.random()
        enough = ENOUGH**share if mostly_short else ENOUGH * share
        group = [waiting.pop()]
        while waiting and sum(len(pair.source) for pair in group) < enough:
            group.append(waiting.pop())
        found.append(join_linked(group))
    return [pair for pair in found if len(pair.source) <= LONGEST]


def long_corpus() -> Corpus:
    """The controlled corpus, its sentences joined."""
    alone = grammar_corpus(train=SENTENCES, vocabulary_size=WORDS)
    again = [join_all(alone.train, seed, mostly_short=True) for seed in range(TIMES)]
    return replace(
        alone,
        name="grammar-long",
        train=[pair for pairs in again for pair in pairs],
        valid=join_all(alone.valid, 0, mostly_short=True),
        test=join_all(alone.test[:TESTED], 0, mostly_short=False),
        long=[],
        names=[],
    )


def buckets(pairs: Sequence[Pair]) -> Iterator[list[Pair]]:
    """The pairs of each bucket of source length."""
    for first, past in pairwise(EDGES):
        yield [pair for pair in pairs if first <= len(pair.source) < past]


@contextmanager
def by_window_alone(model: Translator) -> Iterator[None]:
    """Inside, the model attends within its local window, and touches nothing else."""
    attention = model.decoder.attention
    attention.forward = partial(attend_within, attention)
    try:
        yield
    finally:
        del attention.forward


def is_local(model: Translator) -> bool:
    """Whether the model has a window."""
    return isinstance(model.decoder.attention.window, Local)


def inside(model: Translator, pairs: Sequence[Pair]) -> float:
    """Share of the sure links that are inside the window while the model reads the references."""
    within = [
        abs(s - float(centres[t])) <= model.config["D"]
        for pair, (centres, _) in zip(pairs, windows_on(model, pairs), strict=True)
        for s, t in pair.sure
    ]
    return sum(within) / len(within)


def measure(model: Translator, pairs: Sequence[Pair]) -> dict:
    """What is measured on the pairs of a bucket."""
    found = greedy(model, [pair.source for pair in pairs])
    score = bleu(texts(model, found), [pair.target_text for pair in pairs], lowercase=True)
    written = sum(len(translation.words) for translation in found)
    return {
        "bleu": round(score.score, 2),
        "signature": score.signature,
        "length": round(written / sum(len(pair.target) for pair in pairs), 3),
        "aer": round(alignment_error_rate(force_align(model, pairs), pairs), 4),
        "inside": round(inside(model, pairs), 4) if is_local(model) else None,
    }


def train(corpus: Corpus, system: str, seed: int) -> dict:
    """Train one model, and measure it in each bucket."""
    model = luong(corpus, **SYSTEMS[system], seed=seed)
    history = fit(model, corpus, RECIPE, seed=seed, device="cpu", progress=False, curve_every=CURVE)
    return {
        "system": system,
        "seed": seed,
        "cpu_seconds": round(history.cpu_seconds, 1),
        "curve": [[point.updates, round(point.valid_perplexity, 3)] for point in history.curve],
        "valid_perplexity": round(history.best.valid_perplexity, 3),
        "buckets": [measure(model, pairs) for pairs in buckets(corpus.test)],
    }


def about(pairs: Sequence[Pair]) -> dict:
    """What a bucket holds, what a walk along the diagonal finds, and what windows on t hold."""
    lengths = [len(pair.source) for pair in pairs]
    shifts = [abs(min(t, len(p.source) - 1) - s) for p in pairs for s, t in p.sure]
    return {
        "shortest": min(lengths),
        "longest": max(lengths),
        "sources": len(pairs),
        "words": sum(lengths),
        "diagonal_aer": round(error_of(diagonal, pairs), 4),
        "inside": {D: round(sum(x <= D for x in shifts) / len(shifts), 4) for D in WIDTHS},
    }


def learn(model: Translator, batch: Batch) -> None:
    """Compute the gradient of a batch."""
    model.token_losses(batch).sum().backward()


def write(model: Translator, batch: Batch) -> None:
    """Take as many steps of a search as the references have words."""
    with evaluating(model):
        memory, state = model.start(batch.source)
        for y in batch.target_in.unbind(dim=1):
            _, _, state = model.step(y, state, memory)


USES = {"search": write, "learning": learn}


def cost(model: Translator, use: str, batch: Batch, *, alone: bool) -> float:
    """CPU time of a source of the batch, in milliseconds."""
    with sooner(model), by_window_alone(model) if alone else nullcontext():
        began = time.process_time()
        USES[use](model, batch)
        return 1_000 * (time.process_time() - began) / len(batch.target_in)


def costs(corpus: Corpus) -> list[dict]:
    """What each system and way to attend costs in each bucket. The weights do not matter.

    All cases take turns, round after round, and the fastest counts, since other work on the machine
    can only slow one down.
    """
    models = {name: luong(corpus, **arguments) for name, arguments in SYSTEMS.items()}
    vocabularies = corpus.source_vocabulary, corpus.target_vocabulary
    batches = [make_batch(pairs[:SIDE_BY_SIDE], *vocabularies) for pairs in buckets(corpus.test)]
    fastest: dict[tuple, list[float]] = {}
    for _ in range(ROUNDS):
        for (name, model), alone, use in product(models.items(), (False, True), USES):
            if is_local(model) or not alone:
                found = [cost(model, use, batch, alone=alone) for batch in batches]
                best = fastest.get((name, alone, use), found)
                fastest[name, alone, use] = [*map(min, found, best)]
    keys = ("system", "alone", "use")
    return [
        dict(zip(keys, case, strict=True)) | {"milliseconds": [round(x, 2) for x in found]}
        for case, found in fastest.items()
    ]


def planned() -> list[tuple[str, int]]:
    """System and seed of each run, one seed of all systems after the other."""
    return [
        (system, seed)
        for seed in SEEDS
        for system in SYSTEMS
        if seed == SEEDS[0] or system not in ONCE
    ]


def main() -> None:
    """Train what is missing, then measure what it costs."""
    corpus = long_corpus()
    store = open_store(
        STORE,
        corpus={"fingerprint": corpus.fingerprint},
        recipe=asdict(RECIPE),
        train=[len(pairs) for pairs in buckets(corpus.train)],
        test=[about(pairs) for pairs in buckets(corpus.test)],
    )
    runs = store.setdefault("runs", [])
    for system, seed in planned():
        if (system, seed) not in {(run["system"], run["seed"]) for run in runs}:
            runs.append(train(corpus, system, seed))
            save_store(STORE, store)
            print(runs[-1], flush=True)
    if "costs" not in store:
        store["costs"] = costs(corpus)
        save_store(STORE, store)
