"""What a chapter does with a model that it trains itself: train it, translate, say how it went."""

from collections.abc import Callable
from dataclasses import dataclass

from attnmt.corpus import Corpus, Pair
from attnmt.decoding import Translation, greedy
from attnmt.metrics import Bleu, Bucket, bleu, bleu_by_length, texts
from attnmt.model import Translator
from attnmt.training import History, Recipe
from attnmt_book.runs import Run, record, undertrained, undertrained_plan

MOST = 1_000  # test pairs that a chapter measures; recorded runs have all of them


@dataclass(frozen=True)
class Translated:
    """Test pairs and long pairs with their translations, one after the other.

    Attributes:
        pairs: those of the test, then the long ones.
        translations: greedy, one for each pair.
        sentences: the same as text.
        test: BLEU of the first part.
        long: BLEU of the second.
        by_length: BLEU of both, by the length of the source.
    """

    pairs: list[Pair]
    translations: list[Translation]
    sentences: list[str]
    test: Bleu
    long: Bleu
    by_length: list[Bucket]


def translate_test(model: Translator, corpus: Corpus, most: int = MOST) -> Translated:
    """Translate the first ``most`` test pairs and all long ones, greedily, and score them."""
    some = list(corpus.test[:most])
    pairs = some + list(corpus.long)
    translations = greedy(model, [pair.source for pair in pairs])
    sentences = texts(model, translations)
    references = [pair.target_text for pair in pairs]
    count = len(some)
    return Translated(
        pairs=pairs,
        translations=translations,
        sentences=sentences,
        test=bleu(sentences[:count], references[:count], lowercase=True),
        long=bleu(sentences[count:], references[count:], lowercase=True),
        by_length=bleu_by_length(sentences, pairs),
    )


def train_or_load(
    name: str, captions: Corpus | None, make: Callable[[Corpus], Translator], *, recipe: Recipe
) -> tuple[Translator | None, Run]:
    """Train a model on captions and measure it; without captions, load a recorded run instead.

    Args:
        name: of the recorded run of the same configuration, such as "rnnsearch-multi30k-0".
        captions: from :func:`.real_text`.
        make: makes the model for a corpus.
        recipe: how to train it.

    Returns:
        The model, or None where there are no captions; and the run.
    """
    if captions is None:
        return None, undertrained(name)
    model = make(captions)
    samples = undertrained_plan()["corpora"]["multi30k"]["samples"]
    run, _ = record(name, model, captions, recipe=recipe, samples=samples)
    return model, run


def say_training(model: Translator, history: History) -> None:
    """Print how large a model is and how long its training took."""
    print(f"{sum(weights.numel() for weights in model.parameters()):,} parameters, ", end="")
    print(f"{history.cpu_seconds:.0f} CPU-seconds of training on {history.device}")


def say_run(run: Run) -> None:
    """Print what a run was trained on, for how long, and its BLEU on the test pairs."""
    print(f"{run.corpus['train']:,} training pairs, ", end="")
    print(f"{run.history.cpu_seconds:.0f} CPU-seconds")
    score = run.bleu
    print(f"test BLEU {score.score:.1f}, 95% interval {score.low:.1f} to {score.high:.1f}")
    print(score.signature)
