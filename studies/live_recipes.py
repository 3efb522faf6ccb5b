"""Which recipe teaches a chapter's model enough, in one live training, from every seed?

A chapter trains once, within its 300 CPU-seconds, and its reader should see attention that has
found its words. Candidates differ in the number of pairs, in the batch size and in the learning
rate's way down; each is tried from seed 0. The one that the book takes, ``attnmt.book.sizes.LIVE``,
is then tried from five seeds with each of three systems. A run is measured as a chapter measures:
BLEU on the first 1,000 test pairs and the long ones, alignment error on the first 1,000. All goes
into ``results/studies/live_recipes.json``, which the evidence page of chapter 3 reads. It can be
stopped and started again: what is stored is not trained again. Usage: make study NAME=live_recipes
"""

from dataclasses import asdict, dataclass

from attnmt import alignment_error_rate, fit, force_align, grammar_corpus
from attnmt.book.demonstrations import TEST_PAIRS, translate_test
from attnmt.book.sizes import LIVE, LIVE_PAIRS
from attnmt.corpus import Corpus
from attnmt.model import CONSTRUCTORS
from attnmt.recipes import Recipe
from studies.study import head_of, open_store, save_store, store_of

STORE = store_of(__file__)
SEEDS = (0, 1, 2, 3, 4)
CURVE = 100  # updates between two points of a learning curve
SYSTEMS = {
    "dot": {"model": "luong", "score": "dot"},
    "RNNsearch": {"model": "rnnsearch"},
    "RNNencdec": {"model": "rnnencdec"},
}


@dataclass(frozen=True)
class Candidate:
    """A recipe, the number of training pairs, and the systems that try it from seed 0."""

    pairs: int
    recipe: Recipe
    systems: tuple[str, ...]


CHOSEN = "fresh pairs, batches of 32, falling rate"
CANDIDATES = {
    CHOSEN: Candidate(LIVE_PAIRS, LIVE, tuple(SYSTEMS)),
    "fresh pairs, batches of 32, constant rate": Candidate(
        48_000, Recipe(epochs=1, batch_size=32, halve_after=None), ("dot",)
    ),
    "fresh pairs, batches of 64, falling rate": Candidate(
        48_000, Recipe(epochs=1, batch_size=64, fall=True), ("dot",)
    ),
    "16,000 pairs three times, batches of 64, rate halved": Candidate(
        16_000, Recipe(epochs=3, batch_size=64, halve_after=2), ("dot",)
    ),
    "fresh pairs, batches of 16, falling rate": Candidate(
        48_000, Recipe(epochs=1, batch_size=16, fall=True), ("dot", "RNNencdec")
    ),
}


def planned() -> list[tuple[str, str, int]]:
    """Candidate, system, seed of each run: the chosen one from all seeds, the others from one."""
    return [
        (name, system, seed)
        for system in SYSTEMS
        for name, candidate in CANDIDATES.items()
        if system in candidate.systems
        for seed in (SEEDS if name == CHOSEN else SEEDS[:1])
    ]


def train(corpus: Corpus, system: str, recipe: Recipe, *, seed: int) -> dict:
    """Train one model from one seed; returns its learning curve and what a chapter measures."""
    arguments = SYSTEMS[system] | {"seed": seed}
    model = CONSTRUCTORS[arguments.pop("model")](corpus, **arguments)
    history = fit(model, corpus, recipe, seed=seed, device="cpu", progress=False, curve_every=CURVE)
    found = translate_test(model, corpus)
    tested = corpus.test[:TEST_PAIRS]
    error = alignment_error_rate(force_align(model, tested), tested) if model.attends else None
    return {
        "seed": seed,
        "cpu_seconds": round(history.cpu_seconds, 1),
        "curve": [[point.updates, round(point.valid_perplexity, 3)] for point in history.curve],
        "bleu": round(found.test.score, 2),
        "long": round(found.long.score, 2),
        "by_length": [
            [bucket.shortest, bucket.longest, round(bucket.bleu.score, 2)]
            for bucket in found.by_length
        ],
        "aer": None if error is None else round(error, 4),
    }


def main() -> None:
    """Fill the store."""
    corpora: dict[int, Corpus] = {}
    candidates = {
        name: {"pairs": candidate.pairs, "recipe": asdict(candidate.recipe), "runs": {}}
        for name, candidate in CANDIDATES.items()
    }
    store = open_store(STORE, head_of(__file__) | {"chosen": CHOSEN, "seeds": SEEDS})
    stored = store.get("candidates", {})
    store["candidates"] = candidates
    for name, candidate in CANDIDATES.items():
        there = stored.get(name, {"pairs": 0, "recipe": {}})
        if (there["pairs"], Recipe(**there["recipe"])) == (candidate.pairs, candidate.recipe):
            candidates[name]["runs"] = there["runs"]
    for name, system, seed in planned():
        runs = candidates[name]["runs"].setdefault(system, [])
        if seed in [run["seed"] for run in runs]:
            continue
        pairs = CANDIDATES[name].pairs
        if pairs not in corpora:
            corpora[pairs] = grammar_corpus(train=pairs)
        runs.append(train(corpora[pairs], system, CANDIDATES[name].recipe, seed=seed))
        save_store(STORE, store)
        print(name, system, seed, runs[-1]["bleu"], runs[-1]["aer"], flush=True)
