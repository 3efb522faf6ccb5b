"""How costs grow: time and memory against each size, one at a time, the others kept.

Times are CPU-milliseconds of one training step or one search, the least of several. Memory is
what a step keeps for its gradient: all tensors that autograd saves, each counted once. Words are
drawn at random, since costs do not depend on them. ``book/what_it_costs.ipynb`` draws what is
stored.
Usage: python -m benchmarks.costs
"""

import random
import time
from collections.abc import Callable
from types import SimpleNamespace

import torch
from torch import Tensor

from attnmt import Pair, Translator, beam_search, luong
from attnmt.batches import Batch, batches, make_batch, pad
from attnmt.encoder import StackedLSTM
from attnmt.fast import HeldLSTM, sooner
from attnmt.recipes import OPTIMISERS
from attnmt.vocab import Vocabulary
from benchmarks.systems import learn
from studies.study import save_store, store_of, versions

STORE = store_of(__file__)
LENGTHS = (25, 50, 100, 200, 400, 800)  # source words; of the target 25
WINDOWS = ("global", "local-m", "local-p")
VOCABULARIES = (1_000, 2_000, 4_000, 8_000, 16_000, 32_000)
BATCHES = (4, 8, 16, 32, 64, 128, 256)
PAIRS = (1_000, 4_000, 16_000, 64_000)
BEAMS = (1, 2, 5, 10, 20)
WORDS = 2_000  # of each vocabulary, where it is not what varies
SENTENCES = 32  # in a batch, where it is not what varies
LENGTH = 15  # words of a sentence, where it is not what varies


def vocabularies_of(words: int) -> SimpleNamespace:
    """Two vocabularies of so many words, the special symbols included."""
    names = [f"w{number}" for number in range(words - 4)]
    return SimpleNamespace(
        source_vocabulary=Vocabulary(names, "de"), target_vocabulary=Vocabulary(names, "en")
    )


def pairs_of(corpus: SimpleNamespace, number: int, source: int, target: int) -> list[Pair]:
    """Pairs of random words, all of the same two lengths."""
    draw = random.Random(0)
    words = corpus.source_vocabulary.decode(range(4, len(corpus.source_vocabulary)))
    pairs = []
    for _ in range(number):
        sides = (draw.choices(words, k=source), draw.choices(words, k=target))
        pairs.append(Pair(*sides, *(" ".join(side) for side in sides)))
    return pairs


def fastest(call: Callable[[], object], times: int = 7) -> float:
    """CPU-milliseconds of one call, after one that does not count.

    The least of several: other work on the machine can only slow a call down.
    """
    call()
    spent = []
    for _ in range(times):
        begin = time.process_time()
        call()
        spent.append(1_000 * (time.process_time() - begin))
    return round(min(spent), 3)


def kept(model: Translator, batch: Batch) -> float:
    """MiB of tensors that a step keeps for its gradient, parameters left out."""
    weights = {w.untyped_storage().data_ptr() for w in model.parameters()}
    sizes: dict[int, int] = {}

    def note(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in weights:
            sizes[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        model.token_losses(batch).mean()
    return round(sum(sizes.values()) / 2**20, 3)


def step_of(
    words: int = WORDS,
    sentences: int = SENTENCES,
    source: int = LENGTH,
    target: int = LENGTH,
    **model: object,
) -> dict[str, float]:
    """What one training step costs: milliseconds, and MiB kept."""
    corpus = vocabularies_of(words)
    made = luong(corpus, score="general", hidden=128, **model).train()
    vocabularies = (corpus.source_vocabulary, corpus.target_vocabulary)
    batch = make_batch(pairs_of(corpus, sentences, source=source, target=target), *vocabularies)
    adam = OPTIMISERS["adam"](made.parameters(), lr=1e-3)
    with sooner(made):
        spent = fastest(lambda: learn(made, adam, batch))
        return {"milliseconds": spent, "mib": kept(made, batch)}


def search_of(beam: int) -> dict[str, float]:
    """What a search costs that ends at its greatest length, for each sentence."""
    corpus = vocabularies_of(WORDS)
    model = luong(corpus, score="general", hidden=128)
    sentences = [pair.source for pair in pairs_of(corpus, SENTENCES, source=LENGTH, target=LENGTH)]
    spent = fastest(lambda: beam_search(model, sentences, beam), times=3)
    return {"milliseconds": round(spent / SENTENCES, 3)}


def epoch_of(pairs: int) -> dict[str, float]:
    """What a step costs when so many pairs are trained on: the batches are made, too."""
    corpus = vocabularies_of(WORDS)
    corpus.train = pairs_of(corpus, pairs, source=LENGTH, target=LENGTH)
    model = luong(corpus, score="general", hidden=128).train()
    adam = OPTIMISERS["adam"](model.parameters(), lr=1e-3)
    vocabularies = (corpus.source_vocabulary, corpus.target_vocabulary)
    made = batches(corpus.train, *vocabularies, SENTENCES)
    with sooner(model):
        next(made)  # all pairs are put into order before the first
        spent = fastest(lambda: learn(model, adam, next(made)), times=15)
        return {"milliseconds": spent}


def lessons() -> dict[str, list[float]]:
    """Milliseconds of the same work done in two ways, the slow one first."""
    torch.manual_seed(0)
    sentences = [[4] * draw for draw in random.Random(0).choices(range(8, 21), k=64)]
    encoder = StackedLSTM(WORDS, 128, 256, bidirectional=True)
    source = pad(sentences)

    def read(kind: type[StackedLSTM]) -> None:
        states, _ = kind.read(encoder, source.ids, source.lengths)
        states.sum().backward()

    ways = [fastest(lambda by=by: read(by)) for by in (StackedLSTM, HeldLSTM)]
    parts = [torch.randn(64, 256) for _ in range(20)]
    hoisted = torch.stack(parts).flatten(0, 1)
    matrix = torch.randn(1_024, 256)
    loop = fastest(lambda: [part @ matrix.T for part in parts], times=15)
    once = fastest(lambda: hoisted @ matrix.T, times=15)
    return {
        "an encoder packed, and with a padding input": ways,
        "a product in each of 20 steps, and once": [loop, once],
    }


def main() -> None:
    """Measure all of it anew, in two minutes, and write the store."""
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    curves: dict[str, dict] = {}
    for window in WINDOWS:
        lengths = {S: step_of(source=S, target=25, sentences=8, window=window) for S in LENGTHS}
        curves[f"source length, {window}"] = lengths
    curves["vocabulary"] = {V: step_of(V) for V in VOCABULARIES}
    curves["batch"] = {B: step_of(sentences=B) for B in BATCHES}
    curves["pairs"] = {N: epoch_of(N) for N in PAIRS}
    curves["beam"] = {k: search_of(k) for k in BEAMS}
    head = {"command": "python -m benchmarks.costs", "versions": versions()}
    save_store(STORE, {**head, "curves": curves, "lessons": lessons()})


if __name__ == "__main__":
    main()
