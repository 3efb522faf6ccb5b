"""What the trials suggest next, with three seeds of each kind of model, and those seeds together.

The Transformer's best trial is trained with three seeds; and of each kind of model a recipe with
both newer ideas of ``studies/strongest_trials.py`` and more epochs. Validation chooses between the
recipes of a kind, and the strength of the length normalisation of a beam of 5: by the mean over
the seeds. What is chosen is then measured on the test captions of each set, once, seed by seed and
as an ensemble. (The recurrent model's best trial has runs in the plan.) Trained models stay in
``_build/models``, and BLEU goes to ``results/studies/strongest_seeds.json``; what is stored is not
done again. Usage: make study NAME=strongest_seeds
"""

from pathlib import Path
from typing import Any

from attnmt import Ensemble
from attnmt.book.tables import mean
from attnmt.decoding import Model
from attnmt.evidence.models import load
from studies.other_pictures import of_each_test
from studies.strongest import BEAM, in_moses_words
from studies.strongest_trials import AND, begin, by_beams, changes_of, corpus_of, greedily, train
from studies.study import MODELS, head_of, open_store, save_store, store_of

STORE = store_of(__file__)
CORPUS = "german-shared"  # English to German
SEEDS = (0, 1, 2)
PENALTIES = (0.6, 1.2, 1.8, 2.4)
NEWER = ("24 epochs", "cut by chance", "read twice")
RECIPES = {  # by system: the changes between which validation chooses
    "tied": [AND.join(["1.5 times as many units", *NEWER])],
    "transformer-tied": ["24 epochs", AND.join(NEWER)],
}


def path_of(system: str, what: str, seed: int) -> Path:
    """Where a trained model is kept."""
    return MODELS / f"{system}-{what.replace(AND, '-').replace(' ', '-')}-{seed}.safetensors"


def trained(system: str, what: str, seed: int) -> dict[str, Any]:
    """Train one seed of a recipe, keep the model, and say what validation says of it."""
    changes = changes_of(CORPUS, system, what)
    corpus = corpus_of(CORPUS, changes)
    model = begin(corpus, CORPUS, system, changes, seed)
    _, took = train(model, corpus, CORPUS, system, changes, seed)
    MODELS.mkdir(parents=True, exist_ok=True)
    model.save(path_of(system, what, seed))
    valid = greedily(model, corpus) | by_beams(model, corpus, PENALTIES)
    return took | {"parameters": sum(of.numel() for of in model.parameters()), "valid": valid}


def chosen(recipes: dict[str, Any]) -> tuple[str, float]:
    """The recipe, and the strength of the normalisation, with the best mean on validation."""
    means = {
        (what, p): mean([in_moses_words(run["valid"][f"{p}"]) for run in runs.values()])
        for what, runs in recipes.items()
        for p in PENALTIES
    }
    return max(means, key=means.__getitem__)


def on_tests(model: Model, penalty: float) -> dict[str, dict[str, float]]:
    """BLEU on the test captions of each set, by greedy search and by the beam."""
    beam = of_each_test(model, CORPUS, beam=BEAM, length_penalty=penalty)
    return {"greedy": of_each_test(model, CORPUS), "beam": beam}


def measured(system: str, recipes: dict[str, Any]) -> dict[str, Any]:
    """What was chosen, and its scores on the test captions: of each seed, and of all together."""
    what, penalty = chosen(recipes)
    models = [load(path_of(system, what, seed)) for seed in SEEDS]
    seeds = [on_tests(model, penalty) for model in models]
    together = on_tests(Ensemble(models), penalty)
    return {"what": what, "penalty": penalty, "seeds": seeds, "together": together}


def main() -> None:
    """Make what is missing."""
    store = open_store(STORE, head_of(__file__) | {"beam": BEAM})
    for system, recipes in RECIPES.items():
        of = store.setdefault(system, {"valid": {}})
        for what in recipes:
            runs = of["valid"].setdefault(what, {})
            for seed in map(str, SEEDS):
                if seed not in runs:
                    runs[seed] = trained(system, what, int(seed))
                    save_store(STORE, store)
        if "test" not in of:
            of["test"] = measured(system, of["valid"])
            save_store(STORE, store)
            print(system, flush=True)
