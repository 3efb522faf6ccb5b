"""More captions: what do descriptions that nobody translated add to the strongest translators?

Multi30k has five further descriptions of every training picture in German, and five in English,
each written by somebody who saw the picture and not the other descriptions (Elliott et al. 2016,
task 2). A translator into the other language reads those of a target language backwards, and what
it writes stands as their source (Sennrich et al. 2016, *Improving Neural Machine Translation Models
with Monolingual Data*). So these models learn from more text than all others of the book.

A description is left out if its words are those of a target sentence of any validation or test set,
or of a training pair. Of the true pairs each epoch has all twice, of the others all once.
The models are measured on the captions of other pictures, too.
Takes the models of ``READS`` in ``_build/models``; one that is missing is trained again. Scores go
to ``results/studies/back_translation.json``; what is translated stays in ``_build``.
Usage: make study NAME=back_translation
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pooch

from attnmt import Translator, greedy
from attnmt.book.tables import mean
from attnmt.corpus import MULTI30K_TESTS, Corpus, Pair
from attnmt.evidence.models import MODELS
from attnmt.evidence.modern import Modern
from attnmt.evidence.plan import load_corpus, model_arguments, read_plan, recipe_of, searches_of
from attnmt.evidence.searches import BEAMS
from attnmt.files import write_aside
from attnmt.metrics import perplexity
from attnmt.text import MULTI30K_URL, data_folder, read_lines
from attnmt.text.subwords import cut_pairs, in_words
from attnmt.training import fit
from attnmt.vocab import tokenise
from studies.other_pictures import of_each_test
from studies.strongest import scores
from studies.study import MODELS as KEPT
from studies.study import head_of, open_store, save_store, store_of, trained_model, versions

STORE = store_of(__file__)
URL = MULTI30K_URL.replace("task1", "task2")
FILES = dict(line.split() for line in read_lines(Path(__file__).with_suffix(".sha256")))
SYSTEM = "tied-wider"
READS = {  # by corpus, the run whose model reads its target language
    "german-shared": "strongest-pieces-0",
    "english-shared": "tied-wider-german-shared-0",
}
SEED = 0
TRUE = 2  # times that an epoch has each true pair
EPOCHS = 5
MOST_WORDS = 50


def descriptions(language: str) -> list[str]:
    """All further descriptions of the training pictures, 145,000, downloaded once and checked."""
    folder = data_folder() / "multi30k-task2"
    shelf = pooch.create(folder, base_url=f"{URL}/", registry=FILES)
    paths = [shelf.fetch(file) for file in FILES if file.split(".")[2] == language]
    return [" ".join(text.split()) for path in paths for text in read_lines(path)]


def held_out(name: str) -> set[tuple[str, ...]]:
    """The target sentences of all validation and test sets, and of the training pairs."""
    corpora = [in_words(load_corpus(name, test=test)) for test in MULTI30K_TESTS]
    pairs = [pair for one in corpora for part in (one.valid, one.test, one.train) for pair in part]
    return {pair.target for pair in pairs}


def new_targets(name: str, language: str) -> tuple[list[tuple[str, tuple[str, ...]]], dict]:
    """Descriptions that stand in no part of a corpus, each with its words, and what was counted."""
    known = held_out(name)
    found: dict[tuple[str, ...], str] = {}
    texts = descriptions(language)
    counts = {"read": len(texts), "in the corpus": 0, "twice": 0, "no words or too many": 0}
    for text in texts:
        words = tuple(tokenise(text, language, lower=True))
        if words in known:
            counts["in the corpus"] += 1
        elif words in found:
            counts["twice"] += 1
        elif not 0 < len(words) <= MOST_WORDS:
            counts["no words or too many"] += 1
        else:
            found[words] = text
    return [(text, words) for words, text in found.items()], counts


def read_backwards(name: str, texts: Iterable[str]) -> list[list[str]]:
    """What the model of ``READS`` writes for each text, as lower-cased words; kept in a file."""
    path = KEPT.parent / "back_translation" / f"{name}.txt"
    if not path.exists():
        model = trained_model(READS[name])
        sources = [model.source_vocabulary.tokenise(text) for text in texts]
        units = model.target_vocabulary.units
        lines = [" ".join(units.join(one.words)).lower() for one in greedy(model, sources)]
        path.parent.mkdir(parents=True, exist_ok=True)
        write_aside(path, "".join(f"{line}\n" for line in lines).encode())
    return [line.split() for line in path.read_text(encoding="utf-8").splitlines()]


def looks(sentences: Sequence[Sequence[str]]) -> dict[str, float]:
    """How long some sentences are, and how many have no full stop."""
    without = [words[-1] != "." for words in sentences]
    words = mean([len(words) for words in sentences])
    return {"words": round(words, 3), "without a full stop": round(mean(without), 4)}


def larger(name: str) -> tuple[Corpus, dict[str, Any]]:
    """A corpus of the plan with synthetic pairs, in the pieces that it has, and what they are."""
    corpus = load_corpus(name)
    targets, counts = new_targets(name, corpus.target_language)
    sources = read_backwards(name, [text for text, _ in targets])
    pairs = [
        Pair(tuple(source), words, source_text=" ".join(source), target_text=text)
        for source, (text, words) in zip(sources, targets, strict=True)
        if 0 < len(source) <= MOST_WORDS
    ]
    counts |= {"synthetic pairs": len(pairs), "true pairs": len(corpus.train)}
    facts = {
        "pairs": counts,
        "descriptions": looks([words for _, words in targets]),
        "captions": looks([pair.target for pair in in_words(corpus).train]),
    }
    units = corpus.source_vocabulary.units, corpus.target_vocabulary.units
    return replace(corpus, train=TRUE * corpus.train + cut_pairs(pairs, *units)), facts


def trained(corpus: Corpus, name: str) -> tuple[Translator, dict[str, Any]]:
    """The system, trained on a larger corpus, and what that took."""
    path = KEPT / f"{SYSTEM}-{name}-back-{SEED}"
    arguments = model_arguments(SYSTEM, name)
    model = MODELS[arguments.pop("model")](corpus, **arguments, seed=SEED)
    recipe = replace(recipe_of(SYSTEM, name), epochs=EPOCHS, halve_after=EPOCHS)
    KEPT.mkdir(parents=True, exist_ok=True)
    history = fit(
        model,
        corpus,
        recipe,
        seed=SEED,
        objective=Modern(**read_plan()["systems"][SYSTEM]["modern"]),
        checkpoint=path.with_suffix(".checkpoint"),
        every=1_000,
        resume=True,
        progress=False,
    )
    model.save(path.with_suffix(".safetensors"))
    path.with_suffix(".checkpoint").unlink()
    tokens = sum(epoch.tokens for epoch in history.epochs)
    took = {"tokens": tokens, "cpu_seconds": round(history.cpu_seconds)}
    return model, took | {"device": model.device.type, "torch": versions()["torch"]}


def search_of(name: str) -> str:
    """The beam that the plan gives the system on a corpus."""
    (search,) = searches_of(SYSTEM, name)
    return search


def measured(model: Translator, name: str) -> dict[str, Any]:
    """Scores on the validation and the test captions, greedy and with the beam."""
    corpus = load_corpus(name)
    beam = BEAMS[search_of(name)]
    return {
        part: {"greedy": scores(model, corpus, part), "beam": scores(model, corpus, part, **beam)}
        for part in ("valid", "test")
    }


def run(name: str) -> dict[str, Any]:
    """Train the system on a corpus with synthetic pairs, and measure it."""
    corpus, facts = larger(name)
    model, took = trained(corpus, name)
    found = facts | took | {"perplexity": round(perplexity(model, corpus.valid), 4)}
    others = of_each_test(model, name, **BEAMS[search_of(name)])
    return found | measured(model, name) | {"elsewhere": others}


def main() -> None:
    """Make the runs that are missing."""
    store = open_store(STORE, head_of(__file__) | {"seed": SEED, "reads": READS})
    runs = store.setdefault("runs", {})
    for name in READS:
        if name not in runs:
            runs[name] = run(name)
            save_store(STORE, store)
            print(name, flush=True)
