"""The whole family side by side: what chapter 8 compares and the recorded runs do not hold.

Takes the book's recorded models (trained again where the folder of models does not have them) and
stores in ``results/studies/family.json``:

- alignment: for each model of the controlled corpus that attends, alignment error under forced
  decoding, by word class, and both ways of Luong et al. 2015, footnote 14: the weights a_t given to
  the word that is predicted (``aer``) and to the word just read (``aer_of_read``).
- yardsticks: alignment error of the diagonal, and of IBM Model 1 (Brown et al. 1993) by NLTK, of
  the same training pairs. It links a target word with its most probable source word, or with none.
- shape: of the same models, how sharp their weights are, and how seldom they step back; of the sure
  gold links, how seldom they do.
- short: RNNencdec and RNNsearch trained on pairs of at most ``SHORT`` source words, as Bahdanau et
  al. 2015 did with 30 and 50; and on as many pairs of any length, since there are fewer short ones.
- known words: BLEU on pairs without unknown words, ``<unk>`` forbidden (their column "No UNK").
- paired: paired bootstraps of systems that the papers rank, seed by seed.
- one word: BLEU of every recorded run with each ``<unk>`` counted as one word.
- negations: translations of test sentences that negate twice. (Controlled corpus.)
- looks: the weights of one test sentence in several models, seed 0.
- samples: sentences of our own, and what four models made of them, seed 0.

Of captions only scores are stored. What the file already holds is not computed again: delete the
file to start anew. Usage: make study NAME=family
"""

import math
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from functools import cache
from importlib.metadata import version
from itertools import pairwise, product

import torch

from attnmt import (
    Recipe,
    Translator,
    alignment_error_rate,
    bleu,
    fit,
    force_align,
    greedy,
    replace_unknown,
)
from attnmt.batches import make_batch
from attnmt.corpus import Corpus, Link, Pair
from attnmt.metrics import (
    alignment_error_by_class,
    bleu_by_length,
    paired_bootstrap,
    perplexity,
    texts,
    without_unknown,
)
from attnmt.model import CONSTRUCTORS, evaluating
from attnmt_book.corpora import CORPORA
from attnmt_book.links import best_possible, diagonal, jump, weights_on
from attnmt_book.runs import undertrained_names, undertrained_plan
from studies.study import head_of, open_store, recorded, save_store, store_of, versions

STORE = store_of(__file__)
NAMES = ("grammar", "multi30k")  # of the corpora
SEEDS = tuple(undertrained_plan()["seeds"])
WITHOUT = ("rnnencdec", "sutskever", "sutskever-forward")  # they do not attend

SHORT = 20  # source words; the corpus has 4 to 40
TRAINED = ("rnnencdec", "rnnsearch")
ITERATIONS = 5  # of IBM Model 1

# Systems that the papers rank: the second is said to be the better one.
RANKED = (
    ("rnnencdec", "rnnsearch"),
    ("sutskever-forward", "sutskever"),
    ("sutskever", "luong-location"),
    ("sutskever-forward", "luong-location"),
    ("luong-location", "luong-dot"),
    ("luong-general", "luong-dot"),
    ("luong-concat", "luong-dot"),
    ("luong-dot", "luong-feeding"),
    ("luong-general", "luong-local-m"),
    ("luong-general", "luong-local-p"),
    ("luong-local-m", "luong-local-p"),
    ("luong-dot", "luong-local-p"),
    ("luong-local-m-dot", "luong-local-m"),
    ("luong-local-p-dot", "luong-local-p"),
    ("luong-dot", "luong-local-m-dot"),
    ("luong-dot", "luong-local-p-dot"),
    ("rnnsearch", "luong-local-p"),
    ("luong-dot", "luong-bidirectional"),
)

LOOKS = (
    "rnnsearch",
    "luong-location",
    "luong-dot",
    "luong-general",
    "luong-local-m",
    "luong-local-p",
    "luong-feeding",
    "luong-bidirectional",
)
SPEAKERS = ("rnnencdec", "rnnsearch", "luong-bidirectional", "luong-feeding")
SAMPLES = (  # kind, source, reference: all our own
    (
        "unseen names",
        "Frau Tamsel besuchte am Sonntag Jorin in Lindau.",
        "Mrs. Tamsel visited Jorin in Lindau on Sunday.",
    ),
    (
        "two negations",
        "Maria muss nicht sagen, dass der Hund nicht schläft.",
        "Maria does not have to say that the dog does not sleep.",
    ),
    (
        "two negations",
        "Der Mann, der nicht schläft, ist nicht müde.",
        "The man who does not sleep is not tired.",
    ),
    (
        "the same words twice",
        "Der alte Mann sucht den Hund, und der Hund sucht den alten Mann.",
        "The old man looks for the dog, and the dog looks for the old man.",
    ),
    ("object first", "Den Hund sucht der Mann.", "The man looks for the dog."),
    (
        "unknown words",
        "Der Vogel hat den Fisch nicht gesehen.",
        "The bird has not seen the fish.",
    ),
)
LONG = 45  # source words of one more sample, out of the corpus's long pairs


@cache
def corpus_of(name: str) -> Corpus:
    """A corpus of the book."""
    return CORPORA[name]()


@cache
def translated(name: str) -> list[str]:
    """The test sentences as a recorded model translates them."""
    model = recorded(name)
    corpus = corpus_of(name.split("-")[-2])
    return texts(model, greedy(model, [pair.source for pair in corpus.test]))


# ---------------------------------------------------------------------------------- alignment


def errors(links: list, pairs: list[Pair]) -> dict:
    """Alignment error, in all and by word class."""
    return {
        "aer": alignment_error_rate(links, pairs),
        "by_class": alignment_error_by_class(links, pairs),
    }


def alignment(name: str) -> dict:
    """Errors of one model, both ways."""
    model = recorded(name)
    pairs = corpus_of("grammar").test
    read = alignment_error_rate(force_align(model, pairs, shift=1), pairs)
    return errors(force_align(model, pairs), pairs) | {"aer_of_read": read}


def shape(name: str) -> dict:
    """How the weights of one model lie: how sharp, and how often they step back.

    ``entropy`` is the mean over all target words, in bits; where weights do not sum to one they
    are made to. ``not_back`` is the share of steps from one target word to the next in which the
    source word of the largest weight does not lie further left.
    """
    model = recorded(name)
    pairs = corpus_of("grammar").test
    entropies: list[float] = []
    with evaluating(model):
        for start in range(0, len(pairs), 50):
            some = pairs[start : start + 50]
            batch = make_batch(some, model.source_vocabulary, model.target_vocabulary)
            _, align = model(batch)  # (B, T, S), </s> in the last of T
            share = align / align.sum(dim=-1, keepdim=True)
            entropy = torch.special.entr(share).sum(dim=-1) / math.log(2)
            for row, pair in zip(entropy.tolist(), some, strict=True):
                entropies += row[: len(pair.target)]
    links = force_align(model, pairs)
    return {"entropy": sum(entropies) / len(entropies), "not_back": not_back(links)}


def not_back(links: list) -> float:
    """The share of steps from a linked target word to the next that do not lead to the left."""
    steps = []
    for of_pair in links:
        first = {t: s for s, t in sorted(of_pair, reverse=True)}  # the leftmost of several
        ordered = [s for _, s in sorted(first.items())]
        steps += [here <= after for here, after in pairwise(ordered)]
    return sum(steps) / len(steps)


def gold_shape() -> dict:
    """The same of the sure links."""
    return {"not_back": not_back([pair.sure for pair in corpus_of("grammar").test])}


def yardstick(way: Callable[[Pair], set[Link]]) -> dict:
    """Alignment errors of a way to link words that needs no model."""
    pairs = corpus_of("grammar").test
    return errors([way(pair) for pair in pairs], pairs)


def ibm_model_1() -> dict:
    """Words aligned by IBM Model 1, learned from the training pairs."""
    corpus = corpus_of("grammar")
    began = time.process_time()
    links = ibm_model_1_links(corpus.train, corpus.test)
    seconds = time.process_time() - began
    asked = {"pairs": len(corpus.train), "iterations": ITERATIONS, "cpu_seconds": seconds}
    share = sum(map(len, links)) / sum(len(pair.target) for pair in corpus.test)
    return errors(links, corpus.test) | asked | {"linked": share, "version": version("nltk")}


def ibm_model_1_links(train: Sequence[Pair], pairs: Sequence[Pair]) -> list[set[Link]]:
    """Links by NLTK's IBM Model 1: p(target word | source word) and nothing else."""
    from nltk.translate import AlignedSent, IBMModel1  # it takes its time, so only where needed

    bitext = [AlignedSent(list(pair.target), list(pair.source)) for pair in train]
    table = IBMModel1(bitext, ITERATIONS).translation_table

    def link(pair: Pair, t: int) -> int | None:
        """The most probable of no source word (None, which wins ties) and all source words."""
        probabilities = table[pair.target[t]]
        places = [None, *range(len(pair.source))]
        return max(places, key=lambda s: probabilities[None if s is None else pair.source[s]])

    links = []
    for pair in pairs:
        found = {(link(pair, t), t) for t in range(len(pair.target))}
        links.append({(s, t) for s, t in found if s is not None})
    return links


# ------------------------------------------------------------------------- Bahdanau's Table 1


def known_words(model: Translator, corpus: Corpus) -> dict:
    """BLEU on the test pairs whose words are all known, with ``<unk>`` forbidden."""
    pairs = [corpus.test[k] for k in without_unknown(corpus.test, corpus)]
    found = texts(model, greedy(model, [pair.source for pair in pairs], unknown=False))
    score = bleu(found, [pair.target_text for pair in pairs], lowercase=True, bootstrap=200)
    return {"pairs": len(pairs), **asdict(score)}


def short(system: str, kind: str, seed: int) -> dict:
    """A system trained on short pairs, or on as many pairs of any length."""
    corpus = corpus_of("grammar")
    few = [pair for pair in corpus.train if len(pair.source) <= SHORT]
    if kind == "any":
        few = random.Random(0).sample(corpus.train, len(few))
    less = replace(corpus, train=few)
    for side in ("source_vocabulary", "target_vocabulary"):  # the same words for all
        less.__dict__[side] = getattr(corpus, side)
    model = CONSTRUCTORS[system](less, seed=seed)
    recipe = Recipe(**undertrained_plan()["corpora"]["grammar"]["recipe"])
    history = fit(model, less, recipe, seed=seed, progress=False)
    found = []
    scores = {}
    for part in ("test", "long"):
        pairs = getattr(corpus, part)
        found += (some := texts(model, greedy(model, [pair.source for pair in pairs])))
        scores[part] = asdict(bleu(some, [p.target_text for p in pairs], True, bootstrap=200))
    return {
        "train": len(few),
        "longest": max(len(pair.source) for pair in few),
        "valid_perplexity": [epoch.valid_perplexity for epoch in history.epochs],
        "test_perplexity": perplexity(model, corpus.test),
        "cpu_seconds": history.cpu_seconds,
        "parts": scores,
        "known_words": known_words(model, corpus),
        "by_length": [asdict(b) for b in bleu_by_length(found, corpus.test + corpus.long)],
    }


# ----------------------------------------------------------------------- pairs of systems, samples


def paired(baseline: str, system: str) -> dict:
    """The second's gain over the first, with its p-value."""
    references = [pair.target_text for pair in corpus_of(system.split("-")[-2]).test]
    both = translated(baseline), translated(system)
    return asdict(paired_bootstrap(*both, references, lowercase=True))


def negations(name: str) -> dict:
    """Of the test sentences that say not twice: how often the translation says it less, more."""
    pairs = corpus_of("grammar").test
    counts = {"fewer": 0, "two": 0, "more": 0}
    for pair, sentence in zip(pairs, translated(name), strict=True):
        if pair.target.count("not") == 2:
            said = sentence.split().count("not")
            counts["fewer" if said < 2 else "two" if said == 2 else "more"] += 1
    return counts


def one_word(name: str) -> dict:
    """BLEU with each ``<unk>`` measured as one wrong word; sacreBLEU's tokeniser makes it three."""
    sentences = translated(name)
    corpus = corpus_of(name.split("-")[-2])
    references = [pair.target_text for pair in corpus.test]
    score = bleu([text.replace("<unk>", "unk") for text in sentences], references, lowercase=True)
    return {"score": score.score, "written": sum(text.count("<unk>") for text in sentences)}


def looks() -> dict:
    """Weights of several models that read the reference of one test pair, chosen as in chapter 3.

    It is the pair of at most 14 source words with a sure link farthest off the diagonal.
    """
    pair = max((p for p in corpus_of("grammar").test if len(p.source) <= 14), key=jump)
    weights = {}
    for system in LOOKS:
        model = recorded(f"{system}-grammar-0")
        weights[system] = weights_on(model, pair).double().numpy().round(3).tolist()
    of_pair = {"source": pair.source, "target": pair.target, "sure": sorted(pair.sure)}
    return of_pair | {"weights": weights}


def samples() -> list[dict]:
    """Sentences of our own, translated."""
    corpus = corpus_of("grammar")
    long = next(pair for pair in corpus.long if len(pair.source) == LONG)
    asked = [*SAMPLES, ("long", long.source_text, long.target_text)]
    sentences = [corpus.source_vocabulary.tokenise(text) for _, text, _ in asked]
    told = [
        {"kind": kind, "source": text, "reference": reference, "said": {}}
        for kind, text, reference in asked
    ]
    for one, words in zip(told, sentences, strict=True):
        one["unknown"] = [word for word in words if word not in corpus.source_vocabulary]
    for system in SPEAKERS:
        model = recorded(f"{system}-grammar-0")
        found = greedy(model, sentences)
        copied = replace_unknown(found, sentences) if model.attends else found
        both = zip(texts(model, found), texts(model, copied), strict=True)
        for one, (raw, replaced) in zip(told, both, strict=True):
            one["said"][system] = {"greedy": raw, "replaced": replaced}
    return told


# -------------------------------------------------------------------------------------- the store


def plan() -> list[tuple]:
    """All that is to be computed: part, key, function, arguments; what is quick comes first."""
    of_grammar = [name for name in undertrained_names() if "-grammar-" in name]
    todo: list[tuple] = [
        ("yardsticks", "diagonal", yardstick, diagonal),
        ("yardsticks", "best possible", yardstick, best_possible),
        ("yardsticks", "IBM Model 1", ibm_model_1),
        ("shape", "gold", gold_shape),
    ]
    for name in of_grammar:
        if name.rsplit("-", 2)[0] not in WITHOUT:
            todo.append(("alignment", name, alignment, name))
            todo.append(("shape", name, shape, name))
    todo += [("looks", "one test pair", looks), ("samples", "our own", samples)]
    for system, corpus, seed in product(TRAINED, NAMES, SEEDS):
        name = f"{system}-{corpus}-{seed}"
        todo.append(
            ("known words", name, lambda n=name, c=corpus: known_words(recorded(n), corpus_of(c)))
        )
    for name in of_grammar:
        todo.append(("negations", name, negations, name))
    todo += [("one word", name, one_word, name) for name in undertrained_names()]
    for corpus, seed, (first, second) in product(NAMES, SEEDS, RANKED):
        baseline = f"{first}-{corpus}-{seed}"
        system = f"{second}-{corpus}-{seed}"
        if {baseline, system} <= set(undertrained_names()):
            todo.append(("paired", f"{baseline} {system}", paired, baseline, system))
    for seed, kind, system in product(SEEDS, ("short", "any"), TRAINED):
        todo.append(("short", f"{system}-{kind}-{seed}", short, system, kind, seed))
    return todo


def main() -> None:
    """Fill the store."""
    head = {
        **head_of(__file__),
        "corpora": {name: corpus_of(name).fingerprint for name in NAMES},
        "short": SHORT,
        "versions": versions() | {"sacrebleu": version("sacrebleu")},
        "parts": {},
    }
    store = open_store(STORE, head, "parts")

    def fill(part: str, key: str, compute: Callable, *arguments) -> None:
        known = store["parts"].setdefault(part, {})
        if key not in known:
            known[key] = compute(*arguments)
            save_store(STORE, store)
            print(f"{time.process_time():6.0f}", part, key, flush=True)

    for task in plan():
        fill(*task)
