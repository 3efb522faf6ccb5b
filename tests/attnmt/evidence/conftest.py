"""A run of a tiny model, and plans of other runs."""

import pytest

from attnmt import (
    Recipe,
    rnnsearch,
)
from attnmt.evidence import plan
from attnmt.evidence import record as recording
from attnmt.evidence.record import record


@pytest.fixture
def use(monkeypatch):
    """A function that takes another plan than that of the book, and its corpora."""

    def use(some: dict, corpora: dict | None = None) -> None:
        for module in (plan, recording):
            monkeypatch.setattr(module, "read_plan", lambda: some)
        if corpora:
            monkeypatch.setattr(recording, "load_corpus", corpora.get)

    return use


@pytest.fixture(scope="session")
def model(corpus):
    return rnnsearch(corpus, hidden=8)


@pytest.fixture(scope="session")
def made(model, corpus):
    samples = ["w1 w2 w3", "w4"]
    recipe = Recipe(epochs=2, batch_size=16)
    return record(
        "tiny-made-0", model, corpus, recipe, 0, samples=samples, curve_every=2, progress=False
    )


@pytest.fixture(scope="session")
def run(made):
    return made[0]


@pytest.fixture(scope="session")
def statistics(made):
    return made[1]
