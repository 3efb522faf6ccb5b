"""How far can it go? The strongest translator in every protocol, its ensemble, its trials.

Takes the recorded runs of ``SYSTEMS``, with their trained models in ``_build/models``. The strength
of the length normalisation is chosen on the validation captions: the strongest models and the
Transformers are searched with all of ``PENALTIES`` there, and with the best of these for their
system on the test captions, once; the other systems with that of the strongest.
Then the strongest models translate together, and those from English to German, which have the
search that the plan gives them.
Scores go to ``results/studies/strongest.json``, which the page *How far can it go?* reads; no
caption is stored. What is stored is not done again.
Usage: make study NAME=strongest
"""

from collections.abc import Sequence
from typing import Any

from attnmt import Ensemble, beam_search, greedy
from attnmt.book.tables import mean
from attnmt.corpus import Corpus
from attnmt.decoding import Model
from attnmt.evidence.plan import load_corpus, planned, read_plan, searches_of
from attnmt.evidence.protocols import protocols
from attnmt.evidence.searches import BEAMS
from attnmt.metrics import texts
from attnmt.text.subwords import in_words
from studies.study import head_of, open_store, recorded_on, save_store, store_of, trained_model

STORE = store_of(__file__)
STRONGEST = "strongest-pieces"
TRANSFORMER = "transformer-pieces"
SYSTEMS = (STRONGEST, TRANSFORMER, "luong-dot-pieces", "luong-dot-multi30k")
WORDS = "luong-dot-multi30k-0"  # what a sample is translated by for comparison
GERMAN = tuple(f"tied-wider-german-shared-{seed}" for seed in (1, 2, 3))  # of one machine
BEAM = 5
PENALTIES = (0.0, 0.6, 1.0, 1.4, 1.8, 2.2)


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
    if "german" not in store:
        store["german"] = into_german()
        save_store(STORE, store)


def measure_together(store: dict[str, Any], members: Sequence[str], penalty: float) -> None:
    """The ensemble of some models, on test, and translations of our own captions."""
    together = Ensemble(trained_model(name) for name in members)
    found = on_test(together, corpus_for(members[0]), penalty)
    store["ensemble"] = {"members": members, "test": found}
    models = {"strongest": trained_model(members[0]), "together": together}
    store["samples"] = samples(models | {"words": trained_model(WORDS)}, penalty)
    save_store(STORE, store)


def into_german() -> dict[str, Any]:
    """The ensemble from English to German, on the validation and the test captions."""
    together = Ensemble(trained_model(name) for name in GERMAN)
    system, corpus_name, _ = planned()[GERMAN[0]]
    (search,) = searches_of(system, corpus_name)
    corpus = load_corpus(corpus_name)
    found = {part: scores(together, corpus, part, **BEAMS[search]) for part in ("valid", "test")}
    return {"members": list(GERMAN), "search": search, **found}


def main() -> None:
    """Fill the store."""
    store = open_store(STORE, {**head_of(__file__), "beam": BEAM})
    measure(store)
