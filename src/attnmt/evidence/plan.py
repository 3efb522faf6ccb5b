"""The plan of the recorded runs: what ``results/runs.toml`` says.

It lists tiers of runs, the systems with their arguments, the corpora with their recipes, and the
further searches that a system is measured with. A run is named SYSTEM-CORPUS-SEED.

A corpus is a function that returns a :class:`.Corpus` and takes ``train``, how many training pairs.
To add one, list it in ``attnmt.corpus.MAKERS``: then runs, studies and the command line know it by
its name.
"""

import tomllib
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from attnmt.checks import one_of
from attnmt.corpus import MAKERS
from attnmt.evidence.joined import joined_captions
from attnmt.pairs import Corpus
from attnmt.recipes import RECIPES, Recipe

CHECKOUT = Path(__file__).parents[3]
LACKING = (
    "the installed package has no {}, which come with the book: install it from the book's "
    "repository, by `pip install .` there"
)
CORPORA: dict[str, Callable[..., Corpus]] = MAKERS | {"joined": joined_captions}

TITLES = {  # what figures and tables call the systems
    "rnnencdec": "RNNencdec",
    "sutskever-forward": "no attention",
    "sutskever": "no attention, reversed",
    "rnnsearch": "RNNsearch",
    "luong-location": "location",
    "luong-dot": "dot",
    "luong-scaled-dot": "scaled dot",
    "luong-general": "general",
    "luong-concat": "concat",
    "luong-bidirectional": "dot, both directions",
    "luong-local-m-dot": "local-m dot",
    "luong-local-p-dot": "local-p dot",
    "luong-local-m": "local-m general",
    "luong-local-p": "local-p general",
    "luong-feeding": "dot + feed",
    "luong-local-p-feeding": "local-p general + feed",
}


def results_folder() -> Path:
    """Where recorded runs lie: in the repository, or inside the installed package.

    Raises:
        FileNotFoundError: the package was installed without them.
    """
    for folder in (CHECKOUT / "results", Path(__file__).parent / "results"):
        if folder.is_dir():
            return folder
    raise FileNotFoundError(LACKING.format("recorded runs"))


@cache
def read_plan() -> dict[str, Any]:
    """What ``results/runs.toml`` says: ``tiers``, ``systems``, ``corpora`` and ``searches``."""
    path = results_folder() / "runs.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


def planned(*tiers: str) -> dict[str, tuple[str, str, int]]:
    """System, corpus and seed of each run of the plan, or of some tiers, by the run's name.

    They come tier by tier, and seed by seed. Names of systems and corpora may have hyphens, so a
    name is looked up, not taken apart.

    Raises:
        ValueError: no such tier.
    """
    tiers_of_plan = read_plan()["tiers"]
    there = {tier["name"]: tier for tier in tiers_of_plan}
    for tier in tiers:
        one_of(there, tier=tier)
    return {
        f"{system}-{tier['corpus']}-{seed}": (system, tier["corpus"], seed)
        for tier in tiers_of_plan
        if tier["name"] in (tiers or there)
        for seed in tier["seeds"]
        for system in tier["systems"]
    }


@cache
def load_corpus(name: str) -> Corpus:
    """A corpus by its name in the plan, with as many training pairs as that says.

    Raises:
        DataUnavailable: its text is neither on this machine nor to be had.
    """
    of_corpus = read_plan()["corpora"][name]
    make = CORPORA[of_corpus.get("corpus", name)]
    return make(train=of_corpus["train"], **of_corpus.get("arguments", {}))


def model_arguments(system: str, corpus_name: str) -> dict[str, Any]:
    """The constructor of a system (``model``, of ``MODELS``), and its arguments on a corpus.

    Where both give the same argument, the system's value counts, not the corpus's.
    """
    own = dict(read_plan()["systems"][system])
    for key in ("recipe", "modern", "measure_bleu", "stretch"):
        own.pop(key, None)
    return read_plan()["corpora"][corpus_name].get("models", {}).get(own["model"], {}) | own


def recipe_of(system: str, corpus_name: str) -> Recipe:
    """The recipe of a corpus; or the one of ``attnmt.recipes.RECIPES`` that the system names; or
    the corpus's with the changes that the system has. ``stretch`` makes it that many times as long,
    with all its halvings that many times as far apart.
    """
    recipe = read_plan()["corpora"][corpus_name]["recipe"]
    own = read_plan()["systems"][system].get("recipe", {})
    found = RECIPES[own] if isinstance(own, str) else Recipe(**recipe | own)
    if (times := read_plan()["systems"][system].get("stretch", 1)) == 1:
        return found
    halve_after = found.halve_after and times * found.halve_after
    longer = {"epochs": times * found.epochs, "halve_every": times * found.halve_every}
    return replace(found, halve_after=halve_after, **longer)
