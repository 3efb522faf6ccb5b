"""How costs grow: time and memory against each size, one at a time, the others kept.

Times are CPU-milliseconds of one training step or one search, the least of several: other work on
the machine can only slow a call down. Memory is what a step keeps for its gradient: all tensors
that autograd saves, each counted once. Words are drawn at random, since costs do not depend on
them. ``book/what_it_costs.ipynb`` draws what is stored, in two minutes.
Usage: python -m benchmarks.costs
"""

import time
from collections.abc import Callable
from types import SimpleNamespace

import torch
from torch import Tensor

from attnmt import Translator, beam_search, luong
from attnmt.batches import Batch, pad
from attnmt.evidence.record import versions
from attnmt.fast import sooner
from attnmt.recipes import OPTIMISERS
from attnmt.vocab import Vocabulary
from benchmarks.systems import learn
from studies.study import save_store, store_of

STORE = store_of(__file__)
LENGTHS = (25, 50, 100, 200, 400, 800)  # source words; of the target 25
VOCABULARIES = (1_000, 2_000, 4_000, 8_000, 16_000, 32_000)
BATCHES = (4, 8, 16, 32, 64, 128, 256)
BEAMS = (1, 2, 5, 10, 20)
WORDS, SENTENCES, LENGTH = 2_000, 32, 15  # of a vocabulary, batch, sentence: where it is the same


def model_of(words: int, **arguments: object) -> Translator:
    """A model whose vocabularies have so many words, the special symbols included."""
    same = Vocabulary([f"w{number}" for number in range(words - 4)], "de")
    corpus = SimpleNamespace(source_vocabulary=same, target_vocabulary=same)
    return luong(corpus, score="general", hidden=128, **arguments)


def fastest(call: Callable[[], object], times: int) -> float:
    """CPU-milliseconds of one call, after one that does not count."""
    call()
    spent = []
    for _ in range(times):
        begin = time.process_time()
        call()
        spent.append(1_000 * (time.process_time() - begin))
    return min(spent)


def kept(model: Translator, batch: Batch) -> float:
    """MiB of tensors that a step keeps for its gradient, parameters left out."""
    weights = {w.untyped_storage().data_ptr() for w in model.parameters()}
    sizes: dict[int, int] = {}

    def note(tensor: Tensor) -> Tensor:
        sizes[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        model.token_losses(batch).mean()
    return sum(size for at, size in sizes.items() if at not in weights) / 2**20


def step_of(
    words: int = WORDS,
    sentences: int = SENTENCES,
    source: int = LENGTH,
    target: int = LENGTH,
    **arguments: object,
) -> dict[str, float]:
    """What one training step costs: milliseconds, and MiB kept."""
    model = model_of(words, **arguments).train()
    drawn = [torch.randint(4, words, (sentences, T)).tolist() for T in (source, target)]
    both = [pad(ids) for ids in drawn]
    batch = Batch(both[0], both[1].ids, target_out=both[1].ids, target_mask=both[1].mask)
    adam = OPTIMISERS["adam"](model.parameters(), lr=1e-3)
    with sooner(model):
        spent = fastest(lambda: learn(model, adam, batch), times=7)
        return {"milliseconds": round(spent, 3), "mib": round(kept(model, batch), 3)}


def search_of(beam: int) -> dict[str, float]:
    """What a search costs that ends at its greatest length, for each sentence."""
    model = model_of(WORDS)
    drawn = torch.randint(4, WORDS, (SENTENCES, LENGTH)).tolist()
    sentences = [model.source_vocabulary.decode(ids) for ids in drawn]
    spent = fastest(lambda: beam_search(model, sentences, beam), times=3)
    return {"milliseconds": round(spent / SENTENCES, 3)}


def main() -> None:
    """Measure all of it anew, and write the store."""
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    torch.manual_seed(0)
    curves: dict[str, dict] = {}
    for window in ("global", "local-m", "local-p"):
        lengths = {S: step_of(source=S, target=25, sentences=8, window=window) for S in LENGTHS}
        curves[f"source length, {window}"] = lengths
    curves["vocabulary"] = {V: step_of(V) for V in VOCABULARIES}
    curves["batch"] = {B: step_of(sentences=B) for B in BATCHES}
    curves["beam"] = {k: search_of(k) for k in BEAMS}
    command = "python -m benchmarks.costs"
    save_store(STORE, {"command": command, "versions": versions(), "curves": curves})


if __name__ == "__main__":
    main()
