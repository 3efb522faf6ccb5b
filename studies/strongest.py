"""How far can it go? The strongest translator in every protocol, its ensemble, its trials.

Takes the recorded runs of ``SYSTEMS``, with their trained models in ``_build/models``. The strength
of the length normalisation is chosen on the validation captions: the strongest models are searched
with all of ``PENALTIES`` there, and all models with the best of these on the test captions, once.
Then the strongest models translate together. Each trial trains a model that differs from the
strongest in one thing, and is measured on validation only.
Scores go to ``results/studies/strongest.json``, which the page *How far can it go?* reads; no
caption is stored. What is stored is not done again.
Usage: make study NAME=strongest
"""

from dataclasses import replace
from functools import partial
from typing import Any

from attnmt import Ensemble, beam_search, greedy
from attnmt.corpus import Corpus
from attnmt.decoding import Model
from attnmt.metrics import perplexity, texts
from attnmt.training import fit
from attnmt_book.models import MODELS
from attnmt_book.modern import Modern
from attnmt_book.protocols import protocols
from attnmt_book.runs import book, constructed, corpus_of, load_run, planned, recipe_of
from attnmt_book.tables import mean
from attnmt_text.subwords import in_words
from studies.study import head_of, open_store, recorded, save_store, store_of

STORE = store_of(__file__)
STRONGEST = "strongest-pieces"
SYSTEMS = (STRONGEST, "transformer-pieces", "luong-dot-pieces", "luong-dot-multi30k")
WORDS = "luong-dot-multi30k-0"  # what a sample is translated by for comparison
BEAM = 5
PENALTIES = (0.0, 0.6, 1.0, 1.4)
TRIALS: dict[str, dict[str, Any]] = {  # what is changed of a system, by the name of the trial
    "mean of the last four epochs' weights": {"of": "strongest", "modern": {"average": 4}},
    "two layers": {"of": "strongest", "model": {"layers": 2}},
    "score general": {"of": "strongest", "model": {"score": "general"}},
    "embeddings of 512": {"of": "strongest", "model": {"embedding": 512}},
    "dropout 0.5": {"of": "strongest", "model": {"dropout": 0.5}},
    "Transformer, twice the rate": {"of": "transformer", "recipe": {"learning_rate": 2e-3}},
    "Transformer, dropout 0.2": {"of": "transformer", "model": {"dropout": 0.2}},
}


def runs_of(system: str) -> list[str]:
    """The recorded runs of a system and corpus, seed by seed."""
    found = []
    for name, (of, corpus, _) in planned().items():
        if f"{of}-{corpus}" == system:
            try:
                load_run(name)
            except FileNotFoundError:
                continue
            found.append(name)
    return found


def corpus_for(name: str) -> Corpus:
    """The corpus of a run."""
    return corpus_of(planned()[name][1])


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


def on_validation(model: Model, corpus: Corpus) -> dict[str, dict[str, float]]:
    """Scores on the validation captions, of greedy search and of each penalty's beam."""
    found = {"greedy": scores(model, corpus, "valid")}
    for penalty in PENALTIES:
        found[f"{penalty}"] = scores(model, corpus, "valid", beam=BEAM, length_penalty=penalty)
    return found


def chosen(runs: dict[str, Any]) -> float:
    """The penalty with the best mean on validation, over the strongest models."""
    valid = [runs[name]["valid"] for name in runs_of(STRONGEST)]
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
    for text in book()["corpora"]["pieces"]["samples"]:
        sources = {who: model.source_vocabulary.tokenise(text) for who, model in models.items()}
        row: dict[str, Any] = {"text": text, "pieces": next(iter(sources.values()))}
        for who, model in models.items():
            best = beam_search(model, [sources[who]], BEAM, length_penalty=penalty)
            (row[who],) = texts(model, best)
        found.append(row)
    return found


def trial(of: str, **changes: Any) -> dict[str, Any]:
    """Train a system with changes, seed 0; its cost, and its scores on validation."""
    corpus = corpus_of("pieces")
    arguments = constructed(of, "pieces") | changes.get("model", {})
    model = MODELS[arguments.pop("model")](corpus, **arguments, seed=0)
    modern = book()["systems"][of]["modern"] | changes.get("modern", {})
    recipe = replace(recipe_of(of, "pieces"), **changes.get("recipe", {}))
    history = fit(model, corpus, recipe, engine=partial(Modern, **modern), progress=False)
    return {
        "changes": changes,
        "cpu_seconds": round(history.cpu_seconds),
        "perplexity": round(perplexity(model, corpus.valid), 4),
        "valid": on_validation(model, corpus),
    }


def measure(store: dict[str, Any]) -> None:
    """The recorded models, on validation, then on test, and the strongest of them together."""
    runs = store.setdefault("runs", {})
    for system in SYSTEMS[:2]:
        for name in runs_of(system):
            if name not in runs:
                runs[name] = {"valid": on_validation(recorded(name), corpus_for(name))}
                save_store(STORE, store)
                print(name, "on validation", flush=True)
    store["penalty"] = penalty = chosen(runs)
    for name in (name for system in SYSTEMS for name in runs_of(system)):
        run = runs.setdefault(name, {})
        if "test" not in run:
            run["test"] = on_test(recorded(name), corpus_for(name), penalty)
            save_store(STORE, store)
            print(name, "on test", flush=True)
    members = runs_of(STRONGEST)
    if store.get("ensemble", {}).get("members") != members:
        together = Ensemble(recorded(name) for name in members)
        found = on_test(together, corpus_for(members[0]), penalty)
        store["ensemble"] = {"members": members, "test": found}
        models = {"strongest": recorded(members[0]), "together": together}
        store["samples"] = samples(models | {"words": recorded(WORDS)}, penalty)
        save_store(STORE, store)


def main() -> None:
    """Fill the store."""
    store = open_store(STORE, {**head_of(__file__), "beam": BEAM})
    measure(store)
    trials = store.setdefault("trials", {})
    for name, changes in TRIALS.items():
        if name not in trials:
            trials[name] = trial(**changes)
            save_store(STORE, store)
            print(name, flush=True)
