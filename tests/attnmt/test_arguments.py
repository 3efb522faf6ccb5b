"""Arguments that make no sense are refused where they enter, in one line that names them."""

import inspect
import math

import pytest

import attnmt
from attnmt import Corpus, Pair, Recipe, Vocabulary, beam_search, bleu, greedy, tokenise
from attnmt.provenance import corpus_of
from attnmt.recipes import CrossEntropy

PAIR = Pair(("x",), ("y",), "x", "y")
PARTS = {key: [PAIR] for key in ("train", "valid", "test")}
GIVEN = {"name": "one", "source_language": "de", "target_language": "en", "vocabulary_size": 3}
ONE = Corpus(**GIVEN, **PARTS)
MODEL = attnmt.rnnsearch(ONE, hidden=4)
NUMBERS = ("x", -1, 0.5, True, None, math.nan, [3])
SIZES = [*NUMBERS, 0]
FLAGS = ("yes", 1, None)
TEXTS = (3, None, ["de"])
PATHS = (3, "", True)
UNNAMED = [("DE", "EN"), ("german", "english"), ("pt-BR", "en"), ("", "")]  # languages


def no(values, *fine):
    """The values but for those that an argument takes."""
    return [v for v in values if not any(v is f or (v == f and type(v) is type(f)) for f in fine)]


# What an argument of a name cannot be, whatever it is given to.
WRONG = {
    **dict.fromkeys(("vocabulary_size", "max_length", "epochs", "pool", "halve_every"), SIZES),
    **dict.fromkeys(("batch_size", "beam", "save_every", "resamples"), SIZES),
    **dict.fromkeys(("hidden", "embedding", "maxout", "alignment", "layers"), no(SIZES, None)),
    **dict.fromkeys(("valid", "test", "long", "names", "D"), NUMBERS),
    **dict.fromkeys(("lower", "joint", "marks", "progress", "resume", "measure_bleu"), FLAGS),
    **dict.fromkeys(("feeding", "bidirectional", "reverse", "unknown", "lowercase"), FLAGS),
    **dict.fromkeys(("tokenised", "fall"), FLAGS),
    "language": TEXTS,
    **dict.fromkeys(("sentences", "pairs", "words"), ("x", None, [3])),
    **dict.fromkeys(("target", "checkpoint"), PATHS),
    **dict.fromkeys(("valid_source", "test_source"), (2016, 1e3, True, "")),
    "bootstrap": [*NUMBERS, 1],
    "clip": no(SIZES, 0.5),
    "corpus": ["grammar", None],
    "curve_every": [0, -1, 1.5, "3"],
    "device": ["tpu", 3.5],
    "direction": ["de-fr", 3, None],
    "dropout": ["x", -0.1, 1, 1.0, True, None, math.nan],
    "edges": [(5, 1), (5,), (1, 2.5)],
    "halve_after": no(NUMBERS, None),
    "init": ["zero", 3, None],
    "keep": ["first", 3, None],
    "label_smoothing": ["x", None, True, -0.1, 1, math.nan],
    "languages": [*TEXTS, ("de",), ("de", "en", "fr"), ("de", 3), (False, "en"), *UNNAMED],
    "learning_rate": [*no(SIZES, 0.5), math.inf],
    "length_penalty": [*no(NUMBERS, 0.5), math.inf],
    "lengths": [7, (9, 4), (4, "x"), (4,), (True, 9), None],
    "n_best": [*SIZES, 99],
    "optimiser": ["adamw", 3, None],
    "pair": ["de-xx", 3, None],
    "part": ["tests", 3, None],
    "path": [3, None, ""],
    "per": ["word", 3, None],
    "precision": ["half"],
    "recipe": ["laptop", {"epochs": 1}],
    "score": ["cosine", 3, None],
    "seed": no(NUMBERS, -1),
    "shift": [*NUMBERS, 1.0],
    "sizes": ["huge", 3, None],
    "text": [3, None, [3]],
    "tokeniser": ["words", 3],
    "window": ["local", 3, None],
}
OWN = {"train": SIZES}
WITH_SEED = {"seed": NUMBERS}
# What is called with what it needs, and what else or what other things its arguments cannot be.
CALLS = [
    (attnmt.grammar_corpus, {}, OWN),
    (attnmt.multi30k, {}, OWN | {"test": ["2018", 3, None]}),
    (attnmt.corpus_from_files, {"source": "no such file"}, {}),
    (
        Corpus,
        GIVEN | PARTS,
        {key: ["abc", None, [("x", "y")]] for key in ("train", "valid", "test", "long", "names")}
        | {"tokeniser": ["words", 3, None]},
    ),
    (Pair, vars(PAIR).copy(), {"source": ["ein Hund"], "target": ()}),
    (Vocabulary, {"words": ["x"], "language": "de"}, {}),
    (Vocabulary(["x"], "de").decode, {}, {"indices": [[9], [-1]]}),
    (tokenise, {"text": "x", "language": "de"}, {}),
    (attnmt.detokenise, {"words": ["x"], "language": "de"}, {}),
    (attnmt.Translator.load, {}, {}),
    (MODEL.save, {}, {}),
    (attnmt.Ensemble, {}, {"models": [MODEL, None]}),
    (CrossEntropy, {}, {}),
    (attnmt.fit, {"model": MODEL, "corpus": ONE}, {"model": ["rnnsearch", None]}),
    (attnmt.rnnencdec, {"corpus": ONE}, WITH_SEED),
    (attnmt.rnnsearch, {"corpus": ONE}, WITH_SEED),
    (attnmt.sutskever, {"corpus": ONE}, WITH_SEED),
    (attnmt.luong, {"corpus": ONE}, WITH_SEED),
    (Recipe, {}, {}),
    (beam_search, {"model": MODEL, "sentences": [["x"]]}, {}),
    (greedy, {"model": MODEL, "sentences": [["x"]]}, {}),
    (attnmt.force_align, {"model": MODEL, "pairs": [PAIR]}, {}),
    (MODEL.translate, {"text": "x"}, {}),
    (
        bleu,
        {"hypotheses": ["x"], "references": ["x"]},
        {"references": [["x", "y"], [3], "x"], "tokeniser": ["words", 3, None]},
    ),
    (attnmt.chrf, {"hypotheses": ["x"], "references": ["x"]}, {}),
    (attnmt.bleu_by_length, {"hypotheses": ["x"], "pairs": [PAIR]}, {"pairs": ()}),
    (attnmt.perplexity, {"model": MODEL, "pairs": [PAIR]}, {}),
    (attnmt.paired_bootstrap, {key: ["x"] for key in ("baseline", "system", "references")}, {}),
    (corpus_of, {"model": MODEL, "settings": {"name": "grammar"}}, {"path": ()}),
]


@pytest.mark.parametrize(
    ("function", "right", "name", "values"),
    [
        pytest.param(function, right, name, (WRONG | more)[name], id=f"{function.__name__} {name}")
        for function, right, more in CALLS
        for name in inspect.signature(function).parameters
        if (WRONG | more).get(name)
    ],
)
def test_an_argument_that_makes_no_sense_is_refused_by_its_name(function, right, name, values):
    for wrong in values:
        print(f"{name}={wrong!r}")  # seen where it fails
        with pytest.raises((ValueError, TypeError)) as refused:
            function(**right | {name: wrong})
        message = str(refused.value)
        assert name in message and len(message.splitlines()) == 1
        assert "unexpected keyword" not in message
