"""What input feeding changes: words skipped and repeated, and more systems with and without it.

First the book's recorded models (made again where ``_build/models`` does not have them) translate
the test sentences, and what is counted there goes to ``counts``. Then further systems are trained
with the book's recipe for the controlled corpus, and two of them twice as long; their measurements
go to ``trained``. Everything is stored in ``results/studies/feeding.json``, which chapter 8 reads:
numbers, no sentences. It can be stopped and started again: what is stored is not done again.
Usage: make study NAME=feeding

How words are counted, on the controlled corpus. A *content word* is a target word whose most
frequent class is one of ``CONTENT``. Where a word stands k times in the reference and fewer times
in the translation, its last places in the reference are *missing*.

- source: source words with a sure link to a content word of the reference
- skipped: those of which every linked content word is missing. A wrong translation counts, too.
- target: content words of the translation
- repeated: occurrences of a content word beyond those in the reference, the first never counted
- invented: content words that the reference does not have, each counted once
- short: by how many content words translations are shorter than their references, at least 0 each

Where the model looked, of the source words above: *seldom* if their weights sum to less than 1/2
over the whole translation, *often* if to more than 3/2.

Reading the reference, a weight *hits* if the largest of a target word's weights is on a possible
link of it. Hits are counted apart for words after a word that stands *once* in its sentence so far,
and after one that was there *before*: such a word does not tell where the model has arrived.

On both corpora, *doubled* counts words that directly follow themselves, and ``again`` the n-grams
that stood in the same sentence before.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from attnmt import Recipe, Translator, force_align, greedy, luong
from attnmt.corpus import Corpus, Pair
from attnmt.decoding import Translation
from attnmt.evidence.corpora import CORPORA
from attnmt.evidence.runs import record, undertrained_plan
from studies.study import head_of, open_store, recorded, save_store, store_of

STORE = store_of(__file__)
SEEDS = (0, 1, 2)
COUNTED = {
    "grammar": ("luong-dot", "luong-feeding", "luong-bidirectional", "rnnsearch"),
    "multi30k": ("luong-dot", "luong-feeding"),
}
CONTENT = {"noun", "name", "verb", "adjective", "adverb", "number"}
EDGES = (1, 11, 21, 31, 41, 61)  # source words: first of each bucket, and one past the last
GRAMS = (2, 3, 4)

THE_BOOKS = Recipe(**undertrained_plan()["corpora"]["grammar"]["recipe"])
LONGER = Recipe(epochs=2 * THE_BOOKS.epochs, halve_after=2 * THE_BOOKS.halve_after)
TRAINED: dict[str, tuple[Recipe, dict]] = {
    "bidirectional + feed": (THE_BOOKS, {"bidirectional": True, "feeding": True}),
    "dot, twice as long": (LONGER, {}),
    "dot + feed, twice as long": (LONGER, {"feeding": True}),
    "location + feed": (THE_BOOKS, {"score": "location", "feeding": True}),
    "local-p + feed": (THE_BOOKS, {"score": "general", "window": "local-p", "feeding": True}),
}


def content_words(corpus: Corpus) -> set[str]:
    """Target words that are content words in most of their places."""
    classes: dict[str, Counter] = {}
    for pair in corpus.train + corpus.test + corpus.long:
        for word, word_class in zip(pair.target, pair.classes, strict=True):
            classes.setdefault(word, Counter())[word_class] += 1
    return {word for word, seen in classes.items() if seen.most_common(1)[0][0] in CONTENT}


def count_words(pair: Pair, found: Translation, content: set[str]) -> Counter:
    """What a translation skips, repeats and invents, and where the model looked too little."""
    written = Counter(word for word in found.words if word in content)
    missing = set()
    seen = Counter()
    for t, word in enumerate(pair.target):
        seen[word] += 1
        if seen[word] > written[word]:
            missing.add(t)
    wanted = Counter(word for word in pair.target if word in content)
    count = Counter(sentences=1, target=written.total(), reference=wanted.total())
    count["short"] = max(0, wanted.total() - written.total())
    for word, times in written.items():
        count["repeated"] += max(0, times - max(1, wanted[word]))
        count["invented"] += wanted[word] == 0
    looked = found.alignment.sum(0) if found.words else [0.0] * len(pair.source)
    for s in range(len(pair.source)):
        linked = {t for of, t in pair.sure if of == s and pair.target[t] in content}
        if linked:
            count["source"] += 1
            count["skipped"] += linked <= missing
            count["seldom"] += bool(looked[s] < 0.5)
            count["often"] += bool(looked[s] > 1.5)
    return count


def count_grams(sentences: Sequence[Sequence[str]]) -> dict:
    """Words doubled, and n-grams that stood in the same sentence before."""
    count = Counter()
    for words in sentences:
        count["words"] += len(words)
        count["doubled"] += sum(a == b for a, b in pairwise(words))
        for n in GRAMS:
            grams = [tuple(words[k : k + n]) for k in range(len(words) - n + 1)]
            count[f"{n}-grams"] += len(grams)
            count[f"{n}-grams again"] += len(grams) - len(set(grams))
    return dict(count)


def count_hits(model: Translator, pairs: Sequence[Pair]) -> dict:
    """How often the largest weight is on a link, after words that are new and after others."""
    count = Counter()
    for pair, links in zip(pairs, force_align(model, pairs), strict=True):
        linked = {t for _, t in pair.possible}
        for s, t in links:
            if t and t in linked:
                group = "before" if pair.target[t - 1] in pair.target[: t - 1] else "once"
                count[f"{group}, words"] += 1
                count[f"{group}, hits"] += (s, t) in pair.possible
    return dict(count)


def count_all(model: Translator, corpus: Corpus) -> dict:
    """All counts of one model."""
    pairs = corpus.test + corpus.long
    found = greedy(model, [pair.source for pair in pairs])
    counts: dict = {"grams": count_grams([one.words for one in found])}
    if corpus.test[0].sure is None:
        return counts
    content = content_words(corpus)
    counts["hits"] = count_hits(model, corpus.test)
    counts["by length"] = []
    for first, past in pairwise(EDGES):
        total = Counter()
        for pair, one in zip(pairs, found, strict=True):
            if first <= len(pair.source) < past:
                total.update(count_words(pair, one, content))
        counts["by length"].append({"shortest": first, "longest": past - 1, **total})
    return counts


def train(corpus: Corpus, system: str, seed: int) -> dict:
    """One further system: trained, measured and counted."""
    recipe, arguments = TRAINED[system]
    model = luong(corpus, seed=seed, **arguments)
    run, _ = record(system, model, corpus, recipe=recipe, seed=seed, progress=False)
    return {
        "seed": seed,
        "epochs": recipe.epochs,
        "halve_after": recipe.halve_after,
        "parameters": run.parameters,
        "valid_perplexity": [epoch.valid_perplexity for epoch in run.history.epochs],
        "test_perplexity": run.test_perplexity,
        "bleu": {part: score.score for part, score in run.parts.items()},
        "signature": run.bleu.signature,
        "aer": run.aer,
        "cpu_seconds": run.history.cpu_seconds,
        **count_all(model, corpus),
    }


def main() -> None:
    """Fill the store."""
    corpora = {name: CORPORA[name]() for name in COUNTED}
    head = {
        **head_of(__file__),
        "corpora": {name: corpus.fingerprint for name, corpus in corpora.items()},
        "content": sorted(CONTENT),
        "counts": {},
        "references": {},
        "trained": {},
    }
    store = open_store(STORE, head, "counts", "references", "trained")

    for name, corpus in corpora.items():
        references = [pair.target for pair in corpus.test + corpus.long]
        store["references"][name] = count_grams(references)
        for system in COUNTED[name]:
            runs = store["counts"].setdefault(f"{system}-{name}", [])
            for seed in SEEDS[len(runs) :]:
                model = recorded(f"{system}-{name}-{seed}")
                runs.append({"seed": seed, **count_all(model, corpus)})
                save_store(STORE, store)
                print(system, name, seed, flush=True)
    for seed in SEEDS:
        for system in TRAINED:
            runs = store["trained"].setdefault(system, [])
            if seed not in [run["seed"] for run in runs]:
                runs.append(train(corpora["grammar"], system, seed))
                save_store(STORE, store)
                print(system, seed, runs[-1]["bleu"], flush=True)
