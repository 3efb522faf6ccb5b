"""What node answers, and what it must say: PyTorch's words, and its weights within CLOSE."""

import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from conftest import missing

from attnmt import greedy
from attnmt.book.live.weights import load_compact

SENTENCES = 500  # of the test part, for each model that a page shows
CLOSE = 1e-3  # attention weights
SAME = 1e-4  # what is seen, and more: only sums in another order


def need_node() -> None:
    """Skip a test where there is no node, or let it fail where one must be."""
    if shutil.which("node") is None:
        missing("there is no node: the page's modules are not tested")


def ask_node(script: Path, jobs: Sequence[dict]) -> list:
    """What one of the scripts beside this file answers to some jobs."""
    need_node()
    text = json.dumps(jobs, default=str)
    ran = subprocess.run(["node", script], input=text, capture_output=True, encoding="utf-8")
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def check(path: Path, sentences: Sequence[Sequence[str]], answers: Sequence[dict]) -> None:
    """Compare the page's translations with PyTorch's, by the same file of weights.

    Args:
        path: of the weights.
        sentences: what both translated.
        answers: the page's {"words", "align", "score"} for each.
    """
    model = load_compact(path)
    furthest = 0.0
    for words, expected, answer in zip(sentences, greedy(model, sentences), answers, strict=True):
        assert answer["words"] == expected.words, words
        assert abs(answer["score"] - expected.score) < CLOSE * (1 + len(words))
        if not model.attends:
            assert answer["align"] is None
        elif expected.words:
            align = np.array(answer["align"])
            assert align.shape == expected.alignment.shape
            furthest = max(furthest, np.abs(align - expected.alignment).max())
    assert furthest < CLOSE
    assert furthest < SAME, "within what the page needs, but no longer the same sums"
    print(f"{path.name}: {len(sentences)} sentences, weights within {furthest:.1e}")
