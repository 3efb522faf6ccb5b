"""How wide a window? Train local-m and local-p for several D, and see what the window covers.

The recorded runs of the book have D = 10. This script trains the same models, by the same recipe on
the controlled corpus, for other D. Of each, and of the recorded runs (local-m, local-p, and the
global model that has no window), it measures what chapter 5 compares: BLEU, perplexity, alignment
error in all and by word class, and how the windows lie over the gold links. The figures go to
``results/studies/windows.json``. It can be stopped and started again: what is stored is not
trained again. Usage: make study NAME=windows
"""

from collections.abc import Callable
from functools import partial
from itertools import product

from attnmt import (
    alignment_error_rate,
    bleu,
    fit,
    force_align,
    grammar_corpus,
    greedy,
    luong,
    perplexity,
)
from attnmt.batches import batches
from attnmt.corpus import Corpus
from attnmt.evidence.runs import load_run, undertrained_plan
from attnmt.metrics import alignment_error_by_class, texts
from attnmt.model import Translator, evaluating
from attnmt.training import Recipe
from studies.study import head_of, open_store, recorded, save_store, store_of

STORE = store_of(__file__)
WIDTHS = (1, 3, 5, 20)  # D = 10 is in the recorded runs
SEEDS = (0, 1)
RECORDED = {"global": "luong-general", "local-m": "luong-local-m", "local-p": "luong-local-p"}


def cover(model: Translator, corpus: Corpus) -> dict:
    """How the windows lie over the sure gold links of the test pairs, under forced decoding.

    A window of a model without one is the whole sentence.
    """
    asked = []
    inside = {}
    links = {}
    distance = 0.0
    weight = 0.0
    words = 0
    attention = model.decoder.attention
    hook = attention.register_forward_pre_hook(lambda _, arguments: asked.append(arguments))
    vocabularies = model.source_vocabulary, model.target_vocabulary
    pairs = sorted(corpus.test, key=lambda pair: (len(pair.target), len(pair.source)))
    try:
        with evaluating(model):
            for number, batch in enumerate(batches(pairs, *vocabularies, 64, pool=None)):
                _, align = model(batch)
                query, memory, time = asked.pop()
                keep = attention.window(query, memory, time)[0].expand_as(align)  # (B, T, S)
                centre = getattr(attention.window, "centre", None)
                p = centre(query, memory, time).expand(align.shape[:2]) if centre else None
                weight += float(align.sum(-1)[batch.target_mask].sum())
                words += int(batch.target_mask.sum())
                for row, pair in enumerate(pairs[64 * number :][:64]):
                    for s, t in pair.sure:
                        name = pair.classes[t]
                        links[name] = links.get(name, 0) + 1
                        inside[name] = inside.get(name, 0) + bool(keep[row, t, s])
                        if p is not None:
                            distance += abs(float(p[row, t]) - s)
    finally:
        hook.remove()
    total = sum(links.values())
    return {
        "inside": round(sum(inside.values()) / total, 4),
        "inside_by_class": {name: round(inside[name] / links[name], 4) for name in sorted(links)},
        "distance": round(distance / total, 3) if p is not None else None,
        "sum_of_weights": round(weight / words, 4),
    }


def measure(model: Translator, corpus: Corpus) -> dict:
    """All that is compared, on the test pairs; BLEU on the long ones, too."""
    scores = {}
    for part in ("test", "long"):
        pairs = getattr(corpus, part)
        translated = texts(model, greedy(model, [pair.source for pair in pairs]))
        references = [pair.target_text for pair in pairs]
        scores[part] = bleu(translated, references, lowercase=True, bootstrap=200)
    forced = force_align(model, corpus.test)
    by_class = alignment_error_by_class(forced, corpus.test)
    return {
        "bleu": round(scores["test"].score, 3),
        "bleu_long": round(scores["long"].score, 3),
        "signature": scores["test"].signature,
        "perplexity": round(perplexity(model, corpus.test), 4),
        "aer": round(alignment_error_rate(forced, corpus.test), 4),
        "aer_by_class": {name: round(value, 4) for name, value in by_class.items()},
        **cover(model, corpus),
    }


def saved(name: str) -> tuple[Translator, float]:
    """The model of a recorded run, and its training time."""
    return recorded(name), load_run(name).history.cpu_seconds


def main() -> None:
    """Fill the store."""
    corpus = grammar_corpus()
    recipe = Recipe(**undertrained_plan()["corpora"]["grammar"]["recipe"])
    head = {
        **head_of(__file__),
        "corpus": {"name": corpus.name, "fingerprint": corpus.fingerprint},
        "recorded_runs": list(RECORDED.values()),
        "cases": [],
    }
    store = open_store(STORE, head, "cases")

    def add(window: str, D: int | None, seed: int, make_model: Callable) -> None:
        case = {"window": window, "D": D, "seed": seed}
        if any(case.items() <= known.items() for known in store["cases"]):
            return
        model, seconds = make_model()
        case |= {"cpu_seconds": round(seconds, 1), **measure(model, corpus)}
        store["cases"].append(case)
        save_store(STORE, store)
        print(window, D, seed, "BLEU", case["bleu"], "AER", case["aer"], flush=True)

    def train(window: str, D: int, seed: int) -> tuple[Translator, float]:
        model = luong(corpus, score="general", window=window, D=D, seed=seed)
        return model, fit(model, corpus, recipe, seed=seed, progress=False).cpu_seconds

    for seed, (window, system) in product(undertrained_plan()["seeds"], RECORDED.items()):
        D = None if window == "global" else 10
        add(window, D, seed, make_model=partial(saved, f"{system}-grammar-{seed}"))
    for seed, D, window in product(SEEDS, WIDTHS, ("local-m", "local-p")):
        add(window, D, seed, make_model=partial(train, window, D, seed))
