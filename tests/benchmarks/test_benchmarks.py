"""benchmarks/: what is measured beside the peers, and what is said of a peer that is not there."""

import pytest
import torch

from attnmt.batches import make_batch
from benchmarks import run
from benchmarks.systems import Attnmt


def test_our_side_learns(corpus):
    torch.manual_seed(0)
    system = Attnmt(corpus, "feeding", hidden=8, embedding=6)
    batch = make_batch(corpus.train[:8], corpus.source_vocabulary, corpus.target_vocabulary)
    losses = [system.step(system.prepare(batch)) for _ in range(8)]
    assert losses[-1] < losses[0]


def test_ratios_are_of_totals_and_of_batches():
    row = {}
    run.compare(row, {"attnmt": [9.0, 1.0, 2.0], "JoeyNMT": [9.0, 2.0, 6.0]}, "attnmt", before=1)
    assert row["ratios"]["JoeyNMT"]["of_totals"] == pytest.approx(8 / 3)
    assert row["ratios"]["JoeyNMT"]["quartiles"][1] == pytest.approx(2.5)
