"""What several test files share: a corpus of a made-up language, and models over it."""

import random

import pytest
import torch

from attnmt import Corpus, Pair, rnnsearch

torch.set_num_threads(1)


def made_up_pair(rng: random.Random, length: int) -> Pair:
    """A source of words w0...w19, and the same words in reverse as a target of words v0...v19."""
    numbers = [rng.randrange(20) for _ in range(length)]
    source = tuple(f"w{number}" for number in numbers)
    target = tuple(f"v{number}" for number in reversed(numbers))
    links = frozenset((s, length - 1 - s) for s in range(length))
    return Pair(source, target, " ".join(source), " ".join(target), links, links)


def made_up_corpus(train: int = 300, seed: int = 0) -> Corpus:
    rng = random.Random(seed)
    parts = [
        [made_up_pair(rng, 1 + rng.randrange(12)) for _ in range(size)] for size in (train, 20, 50)
    ]
    return Corpus("made-up", "de", "en", *parts, vocabulary_size=20)


@pytest.fixture(scope="session")
def corpus() -> Corpus:
    return made_up_corpus()


@pytest.fixture
def sharp(corpus):
    """An untrained RNNsearch in double precision, its weights enlarged so that it is decided."""
    model = rnnsearch(corpus, hidden=12, seed=3).double().eval().requires_grad_(False)
    with torch.no_grad():
        for weights in model.parameters():
            weights.mul_(3)
    return model
