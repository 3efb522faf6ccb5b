"""How long would the papers' own trainings take on a machine of today? Predicted, not measured.

The work of an update is counted from the models at their own size, without making them. What a
processor makes of it is measured here, on one core, for one update of the paper's batch. For GPUs
there is no measurement: their time is ``work / (peak * share)`` plus a latency for every operation
that Python starts, and the share is taken from the papers, which tell how long they needed on GPUs
whose peak is known. So a prediction is a range, and it is no better than these assumptions.

Usage: make study NAME=papers_size
"""

import time
from types import SimpleNamespace
from typing import Any

import torch
from torch.profiler import ProfilerActivity, profile

from attnmt import Translator, Vocabulary, luong, rnnsearch
from attnmt.batches import Batch, pad
from attnmt.fast import sooner
from studies.study import head_of, save_store, store_of

STORE = store_of(__file__)
WORDS = (
    25  # a sentence of WMT'14, both sides: 116M and 110M words in 4.5M pairs (Luong et al. 2015)
)
LATENCY = 10e-6  # seconds to start an operation, of those that the profiler counts: an assumption
BANDWIDTH = 100e9  # bytes a second between the GPUs of one machine: an assumption
PAPERS = {  # what they tell of their training, and the peak of their GPU in float32, by its maker
    "bahdanau": {"pairs": 6.67e5 * 80, "hours": 252, "peak": 5.2e12, "batch": 80},
    "luong": {"pairs": 12 * 4.5e6, "words a second": 1_000, "peak": 4.29e12, "batch": 128},
}
GPUS = {  # peaks by their makers, in products a second times two
    "A100, float32 (TF32)": 156e12,
    "H100, float32 (TF32)": 495e12,
}
COUNTS = (1, 2, 4, 8)


def model_of(paper: str) -> Translator:
    """The model of a paper at its own size."""
    size = {"bahdanau": 30_000, "luong": 50_000}[paper]
    vocabularies = [Vocabulary((f"w{i}" for i in range(size)), of) for of in ("en", "de")]
    corpus = SimpleNamespace(source_vocabulary=vocabularies[0], target_vocabulary=vocabularies[1])
    if paper == "bahdanau":
        return rnnsearch(corpus, sizes="paper")
    best = {"score": "general", "window": "local-p", "feeding": True, "reverse": True}
    return luong(corpus, sizes="paper", dropout=0.2, **best)


def work_of(model: Translator) -> float:
    """Operations of an update for a pair of ``WORDS`` words: 6 for each weight that a word meets.

    A product of a weight counts two, and its gradients twice as many. Embeddings are looked up, and
    both sentences are taken to be ``WORDS`` words long.
    The additive score and the weighted sum, which grow with the square of the length, are left out:
    at this length they are some percent.
    """
    weights = sum(
        parameter.numel()
        for name, parameter in model.named_parameters()
        if parameter.dim() > 1 and "embedding" not in name
    )
    return 6.0 * weights * WORDS


def batch_of(model: Translator, pairs: int) -> Batch:
    """So many pairs of ``WORDS`` words."""
    ids = torch.randint(4, len(model.target_vocabulary), (pairs, WORDS)).tolist()
    both = pad(ids)
    return Batch(both, both.ids, target_out=both.ids, target_mask=both.mask)


def measure(model: Translator, pairs: int) -> dict[str, float]:
    """One update's gradient on one core: operations a second, and operations that were started."""
    batch = batch_of(model, pairs)
    began = time.process_time()
    with sooner(model), profile(activities=[ProfilerActivity.CPU]) as seen:
        model.token_losses(batch).mean().backward()
    seconds = time.process_time() - began
    started = sum(one.count for one in seen.key_averages() if one.key.startswith("aten::"))
    return {"cpu_seconds": seconds, "rate": work_of(model) * pairs / seconds, "started": started}


def share_of(paper: str, work: float) -> float:
    """The share of its GPU's peak that a paper's training had."""
    told = PAPERS[paper]
    if "hours" in told:
        rate = told["pairs"] * work / (told["hours"] * 3_600)
    else:
        rate = told["words a second"] / WORDS * work
    return rate / told["peak"]


def hours(paper: str, work: float, rate: float, *, started: float, gpus: int, size: float) -> float:
    """Hours of the paper's training by so many GPUs of one machine.

    Args:
        paper: whose.
        work: operations for a pair.
        rate: operations a second, of each GPU.
        started: operations that Python starts in an update.
        gpus: how many share an update.
        size: bytes of the gradient, which all of them exchange.
    """
    told = PAPERS[paper]
    updates = told["pairs"] / told["batch"]
    exchange = 2 * (gpus - 1) / gpus * size / BANDWIDTH
    return updates * (told["batch"] * work / gpus / rate + started * LATENCY + exchange) / 3_600


def predict(paper: str) -> dict[str, Any]:
    """Work, measurement and hours of a paper's model."""
    model = model_of(paper)
    work = work_of(model)
    size = 4 * sum(parameter.numel() for parameter in model.parameters())
    told = PAPERS[paper]
    found = {"work": work, "bytes": size, "share": share_of(paper, work)}
    found["core"] = measure(model, told["batch"])
    found["years on a core"] = told["pairs"] * work / found["core"]["rate"] / 3_600 / 24 / 365
    how = {"started": found["core"]["started"], "size": size}
    found["hours"] = {
        name: [hours(paper, work, peak * found["share"], gpus=gpus, **how) for gpus in COUNTS]
        for name, peak in GPUS.items()
    }
    return found


def main() -> None:
    """Predict both."""
    assumed = {"words": WORDS, "latency": LATENCY, "bandwidth": BANDWIDTH, "gpus": COUNTS}
    store = head_of(__file__) | {"assumed": assumed, "peaks": GPUS, "papers": PAPERS}
    for paper in PAPERS:
        store[paper] = predict(paper)
        save_store(STORE, store)


def said(store: dict[str, Any]) -> dict[str, str]:
    """The numbers of the page *At the papers' size*, as they are written there."""
    found = {"latency": f"{store['assumed']['latency'] * 1e6:.0f}"}
    found["bandwidth"] = f"{store['assumed']['bandwidth'] / 1e9:.0f}"
    for paper in PAPERS:
        row = store[paper]
        found[f"{paper}-work"] = f"{row['work'] / 1e9:.1f}"
        found[f"{paper}-share"] = f"{row['share']:.0%}"
        found[f"{paper}-rate"] = f"{row['core']['rate'] / 1e9:.0f}"
        found[f"{paper}-years"] = f"{row['years on a core']:.1f}"
        found[f"{paper}-started"] = f"{row['core']['started']:,}"
        for name, each in row["hours"].items():
            for gpus, needed in zip(COUNTS, each, strict=True):
                found[f"{paper}-{name.split(',')[0]}-{gpus}"] = f"{needed:.0f}"
                found[f"{paper}-{name.split(',')[0]}-{gpus}-cost"] = f"{needed * gpus:.0f}"
    return found
