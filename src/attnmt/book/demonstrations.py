"""Demonstrations: what a chapter does with a model that it trains itself.

Find real text, train, translate the test pairs, print how it went, and compare with a full run.
"""

import os
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from IPython.display import Markdown

from attnmt.book.sizes import SIZES
from attnmt.book.tables import NOTHING, table, with_range
from attnmt.corpus import multi30k
from attnmt.decoding import TextTranslation, Translation, greedy
from attnmt.evidence.plan import read_plan
from attnmt.evidence.record import record
from attnmt.evidence.store import Run, load_run
from attnmt.metrics import Bleu, Bucket, bleu, bleu_by_length, references, texts
from attnmt.model import Translator
from attnmt.pairs import Corpus, Pair
from attnmt.recipes import Recipe
from attnmt.text import DataUnavailable, TextWarning
from attnmt.training import History

# Test pairs that a chapter measures, and longer ones; recorded runs have all of them.
TEST_PAIRS = SIZES["chapter"].tested
MEANINGS = (  # of the sample captions, which are sentences of our own
    "A man is repairing his bicycle in front of a small shop.",
    "Two little girls are playing with a red ball in the garden.",
    "An old woman is drinking her coffee on a bench in the park.",
    "A black dog is carrying a shoe and two cats are watching him.",
    "The boy wearing a yellow helmet is jumping into the lake.",
    "Three men with white hats are sitting at a table playing cards.",
    "A woman is showing a child how to fly a kite.",
    "The bookseller is sorting his maps in the evening.",
)


def real_text(*args, stand_in: str = "a recorded run", **kwargs) -> Corpus | None:
    """:func:`.multi30k`, or None where it cannot be reached, with one line that says so.

    The line also says what the page shows in its place, ``stand_in``. With
    ``ATTNMT_REAL_TEXT=required`` in the environment a chapter stops instead: for machines that have
    the data and should notice when it is not found.
    """
    try:
        return multi30k(*args, **kwargs)
    except DataUnavailable as error:
        if os.environ.get("ATTNMT_REAL_TEXT") == "required":
            raise
        print(f"Real text cannot be reached here; {stand_in} stands in. ({error})")
        return None


@dataclass(frozen=True)
class Translated:
    """Test pairs and long pairs with their translations, one after the other."""

    pairs: list[Pair]  #: those of the test, then the long ones.
    translations: list[Translation]  #: greedy, one for each pair.
    sentences: list[str]  #: the same as text.
    test: Bleu  #: BLEU of the first part.
    long: Bleu | None  #: BLEU of the second; None for a corpus that has no long pairs.
    by_length: list[Bucket]  #: BLEU of both, by the length of the source.

    @property
    def scores(self) -> str:
        """Both as a line says them."""
        longer = "" if self.long is None else f", longer {self.long.score:.1f}"
        return f"test {self.test.score:.1f}{longer} BLEU"


def corpus_has(corpus: Corpus, what: str) -> bool:
    """Whether a corpus has what a cell needs; if not, a sentence says that the cell is left out.

    A chapter is written for :func:`.grammar_corpus`. One's own text has no known links, and another
    direction not the sentences that a chapter speaks of.
    """
    known = bool(corpus.test) and corpus.test[0].sure is not None
    german = known and corpus.source_language == "de"
    ours = corpus.name == "grammar-de-en"
    there, needed = {
        "links": (known, "known links between words"),
        "glosses": (german, "German sentences with known links"),
        "sentences": (ours, "the controlled corpus' own German sentences"),
    }[what]
    if not there:
        print(f"Left out: this cell needs {needed}, and {corpus.name} has none.")
    return there


def translate_test(model: Translator, corpus: Corpus) -> Translated:
    """Translate the first ``TEST_PAIRS`` test pairs and long ones, greedily, and score them.

    BLEU reads captions as recorded runs do, as words in lower case.
    """
    if not corpus.test:
        raise ValueError(f"{corpus.name} has no test pairs: set some aside, such as test=500")
    some = list(corpus.test[:TEST_PAIRS])
    pairs = some + list(corpus.long[:TEST_PAIRS])
    translations = greedy(model, [pair.source for pair in pairs])
    sentences = texts(model, translations, corpus.bleu_of_words)
    expected = references(pairs, corpus.bleu_of_words)
    parted = {"tokenised": corpus.bleu_of_words, "tokeniser": corpus.bleu_tokeniser}
    how = {"lowercase": True} | parted
    count = len(some)
    return Translated(
        pairs=pairs,
        translations=translations,
        sentences=sentences,
        test=bleu(sentences[:count], expected[:count], **how),
        long=bleu(sentences[count:], expected[count:], **how) if corpus.long else None,
        by_length=bleu_by_length(sentences, pairs, **parted),
    )


def translate_yours(model: Translator, sentence: str, reference: str = "") -> TextTranslation:
    """Translate a sentence of the reader's own, and print what became of it.

    Words that the model does not know are named, and a translation without words is explained.
    """
    with warnings.catch_warnings(category=TextWarning, action="ignore"):  # it is printed here
        found = model.translate(sentence, beam=1)
    if not found.source:
        print("There is nothing to translate yet: write a sentence.")
        return found
    print(" ".join(found.words) or "Nothing: the model ends the sentence at once. Train it longer.")
    if found.unknown:
        print("not known, so read as <unk>:", ", ".join(found.unknown))
    if reference:
        print("reference:", reference)
    return found


def train_or_load(
    name: str, captions: Corpus | None, make: Callable[[Corpus], Translator], *, recipe: Recipe
) -> tuple[Translator | None, Run]:
    """Train a model on captions and measure it; without captions, load a recorded run instead.

    Returns:
        The model, or None where there are no captions; and the run.
    """
    if captions is None:
        return None, load_run(name)
    model = make(captions)
    samples = read_plan()["corpora"]["live"]["samples"]
    run, _ = record(name, model, captions, recipe=recipe, samples=samples)
    return model, run


def print_training(model: Translator, history: History) -> None:
    """Print how large a model is and how long its training took."""
    print(f"{sum(weights.numel() for weights in model.parameters()):,} parameters, ", end="")
    print(f"{history.cpu_seconds:.0f} CPU-seconds of training on {history.device}")


def print_run(run: Run) -> None:
    """Print what a run was trained on, for how long, and its BLEU on the test pairs."""
    print(f"{run.corpus['train']:,} training pairs, ", end="")
    print(f"{run.history.cpu_seconds:.0f} CPU-seconds")
    score = run.bleu
    print(f"test BLEU {score.score:.1f}, 95% interval {score.low:.1f} to {score.high:.1f}")
    print(score.signature)


def sample_table(run: Run, ends: Sequence[Run], places: Sequence[int] = range(8)) -> Markdown:
    """Sample captions as two models translate them: a demonstration, and one of a full run.

    Returns:
        A table; its last row has BLEU on the test captions, where both were measured alike.
    """
    end = ends[0]
    both = [_read(one) for one in (run, end)]
    rows = []
    for place in places:
        german = " ".join(run.samples[place].source)
        wrote = (" ".join(one.samples[place].words).replace("<", r"\<") for one in (run, end))
        rows.append([f"{german}<br>*{MEANINGS[place]}*", *wrote])
    alike = run.bleu.signature == end.bleu.signature
    scores = [f"{run.bleu.score:.1f}" if alike else NOTHING]
    scores.append(with_range([one.bleu.score for one in ends]))
    return table(["German, *and what it means*", *both], [*rows, ["**BLEU**", *scores]])


def _read(run: Run) -> str:
    """How much a model has read."""
    epochs = len(run.history.epochs)
    often = {1: "once", 2: "twice"}.get(epochs, f"{epochs} times")
    return f"{run.corpus['train']:,} pairs, {often}"
