"""Arguments that make no sense are refused where they enter, in one line that names them."""

import math
from dataclasses import replace
from functools import partial

import pytest

import attnmt
from attnmt import Corpus, Pair, Recipe, Vocabulary, beam_search, bleu, greedy, tokenise
from attnmt.provenance import corpus_of
from attnmt.recipes import CrossEntropy

PAIR = Pair(("x",), ("y",), "x", "y")
ONE = Corpus("one", "de", "en", [PAIR], [PAIR], [PAIR], vocabulary_size=3)
MODEL = attnmt.rnnsearch(ONE, hidden=4)
NUMBERS = ("x", -1, 0.5, True, None, math.nan, [3])
SIZES = [*NUMBERS, 0]
FLAGS = ("yes", 1, None)
TEXTS = (3, None, ["de"])
UNNAMED = [("DE", "EN"), ("german", "english"), ("pt-BR", "en"), ("", "")]  # languages
FILE = "no such file"


def no(values, *fine):
    """The values but for those that an argument takes."""
    return [v for v in values if not any(v is f or (v == f and type(v) is type(f)) for f in fine)]


def models(*more):
    sizes = {name: [*no(NUMBERS, None), 0] for name in ("hidden", "embedding", *more)}
    return sizes | {
        "dropout": ["x", -0.1, 1, 1.0, True, None, math.nan],
        "sizes": ["huge", 3, None],
        "init": ["zero", 3, None],
        "seed": NUMBERS,
        "corpus": ["grammar", None],
    }


FILES = partial(attnmt.corpus_from_files, FILE)
TABLE = [
    (
        attnmt.grammar_corpus,
        {
            **dict.fromkeys(("train", "vocabulary_size"), SIZES),
            "direction": ["de-fr", 3, None],
            "lengths": [7, (9, 4), (4, "x"), (4,), (True, 9), None],
            "seed": no(NUMBERS, -1),
            **dict.fromkeys(("valid", "test", "long", "names"), NUMBERS),
        },
    ),
    (
        attnmt.multi30k,
        {
            "pair": ["de-xx", 3, None],
            "seed": no(NUMBERS, -1),
            **dict.fromkeys(("train", "vocabulary_size", "max_length"), SIZES),
            **dict.fromkeys(("lower", "joint"), FLAGS),
            "test": ["2018", 3, None],
        },
    ),
    (
        FILES,
        {
            "target": [3, "", True],
            "languages": [*TEXTS, ("de",), ("de", "en", "fr"), ("de", 3), (False, "en"), *UNNAMED],
            **dict.fromkeys(("valid", "test"), NUMBERS),
            "seed": no(NUMBERS, -1),
            **dict.fromkeys(("vocabulary_size", "max_length"), SIZES),
            "lower": FLAGS,
            "tokeniser": ["words", 3, None],
            **dict.fromkeys(("valid_source", "test_source"), (2016, 1e3, True, "")),
        },
    ),
    (
        partial(Corpus, "one", "de", "en", [PAIR], [PAIR], [PAIR]),
        {"vocabulary_size": SIZES},
    ),
    (partial(replace, ONE), {"tokeniser": ["words", 3, None]}),
    (
        partial(Corpus, "one", "de", "en", valid=[], test=[], vocabulary_size=3),
        {"train": ["abc", None, [("x", "y")]]},
    ),
    (partial(Pair, target=("y",), source_text="x", target_text="y"), {"source": ["ein Hund"]}),
    (partial(Vocabulary, ["x"], "de"), {"lower": FLAGS, "tokeniser": ["words", 3]}),
    (partial(Vocabulary, ["x"]), {"language": TEXTS}),
    (partial(Vocabulary, language="de"), {"words": ["x", None, [3]]}),
    (Vocabulary(["x"], "de").decode, {"indices": [[9], [-1]]}),
    (partial(tokenise, "x"), {"language": TEXTS}),
    (partial(tokenise, "x", "de"), {"lower": FLAGS, "marks": FLAGS}),
    (partial(tokenise, language="de"), {"text": TEXTS}),
    (partial(attnmt.detokenise, language="de"), {"words": ["x", None, [3]]}),
    (partial(attnmt.detokenise, ["x"]), {"language": TEXTS}),
    (attnmt.Translator.load, {"path": [3, None, ""]}),
    (MODEL.save, {"path": [3, None, ""]}),
    (attnmt.Ensemble, {"models": [MODEL, None]}),
    (
        CrossEntropy,
        {"label_smoothing": ["x", None, True, -0.1, 1, math.nan], "precision": ["half"]},
    ),
    (partial(attnmt.fit, MODEL), {"corpus": ["grammar", None]}),
    (partial(attnmt.fit, corpus=ONE), {"model": ["rnnsearch", None]}),
    (
        partial(attnmt.fit, MODEL, ONE),
        {
            "recipe": ["laptop", {"epochs": 1}],
            "seed": no(NUMBERS, -1),
            "device": ["tpu", 3.5],
            "checkpoint": [3, ""],
            "save_every": SIZES,
            **dict.fromkeys(("progress", "resume", "measure_bleu"), FLAGS),
            "curve_every": [0, -1, 1.5, "3"],
        },
    ),
    (partial(attnmt.rnnencdec, ONE), models("maxout")),
    (partial(attnmt.rnnsearch, ONE), models("maxout", "alignment")),
    (partial(attnmt.sutskever, ONE), {**models("layers"), "reverse": FLAGS}),
    (
        partial(attnmt.luong, ONE),
        {
            **models("layers"),
            "score": ["cosine", 3, None],
            "window": ["local", 3, None],
            "D": NUMBERS,
            "max_length": SIZES,
            **dict.fromkeys(("feeding", "bidirectional", "reverse"), FLAGS),
        },
    ),
    (
        Recipe,
        {
            **dict.fromkeys(("epochs", "batch_size", "pool", "halve_every"), SIZES),
            "halve_after": no(NUMBERS, None),
            "learning_rate": [*no(NUMBERS, 0.5), 0, math.inf],
            "clip": [*no(NUMBERS, 0.5), 0],
            "fall": FLAGS,
            "optimiser": ["adamw", 3, None],
            "per": ["word", 3, None],
            "keep": ["first", 3, None],
        },
    ),
    (
        partial(beam_search, MODEL, [["x"]]),
        {
            "beam": SIZES,
            "n_best": [*NUMBERS, 0, 99],
            "batch_size": SIZES,
            "length_penalty": [*no(NUMBERS, 0.5), math.inf],
            "unknown": FLAGS,
        },
    ),
    (partial(greedy, MODEL), {"sentences": ["x", None, [3]]}),
    (partial(greedy, MODEL, [["x"]]), {"batch_size": SIZES, "unknown": FLAGS}),
    (
        partial(attnmt.force_align, MODEL, [PAIR]),
        {"batch_size": SIZES, "shift": [*NUMBERS, 1.0]},
    ),
    (MODEL.translate, {"text": [3, None, [3]]}),
    (partial(MODEL.translate, "x"), {"beam": SIZES, "tokeniser": ["words", 3]}),
    (
        partial(bleu, ["x"], ["x"]),
        {
            "bootstrap": [*NUMBERS, 1],
            "lowercase": FLAGS,
            "tokenised": FLAGS,
            "tokeniser": ["words", 3, None],
        },
    ),
    (partial(attnmt.chrf, ["x"], ["x"]), {"bootstrap": [*NUMBERS, 1], "lowercase": FLAGS}),
    (partial(attnmt.bleu_by_length, ["x"], [PAIR]), {"edges": [(5, 1), (5,), (1, 2.5)]}),
    (partial(attnmt.perplexity, MODEL), {"pairs": ["x", None, ["x"]]}),
    (partial(bleu, ["x"]), {"references": [["x", "y"], [3], "x"]}),
    (partial(attnmt.perplexity, MODEL, [PAIR]), {"batch_size": SIZES}),
    (partial(attnmt.paired_bootstrap, ["x"], ["x"], ["x"]), {"resamples": SIZES}),
    (partial(corpus_of, MODEL, settings={"name": "grammar"}), {"part": ["tests", 3, None]}),
]


@pytest.mark.parametrize(
    ("function", "name", "values"),
    [
        pytest.param(function, name, values, id=f"{number} {name}")
        for number, (function, table) in enumerate(TABLE)
        for name, values in table.items()
    ],
)
def test_an_argument_that_makes_no_sense_is_refused_by_its_name(function, name, values):
    if name == "corpus" and function.func is not attnmt.fit:
        function = partial(function.func)
    for wrong in values:
        print(f"{name}={wrong!r}")  # seen where it fails
        with pytest.raises((ValueError, TypeError)) as refused:
            function(**{name: wrong})
        message = str(refused.value)
        assert name in message and len(message.splitlines()) == 1
        assert "unexpected keyword" not in message
