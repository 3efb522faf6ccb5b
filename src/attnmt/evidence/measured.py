"""What recorded runs measured, as systems that can be compared.

Chapters and the list of claims come here for numbers: ``measured(runs, "bleu")`` is the system of
some runs that differ in the seed alone, from the statistics of every test sentence
(``results/sentences/NAME.npz``). :mod:`.comparison` compares such systems.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from attnmt.checks import one_of
from attnmt.evidence.comparison import (
    AER,
    BLEU_SCORE,
    LENGTH,
    NATS,
    PERPLEXITY,
    Metric,
    System,
    by_scores,
    by_sentences,
    ratio,
    share,
)
from attnmt.evidence.store import Run, load_statistics

METRICS = {
    "bleu": BLEU_SCORE,
    "aer": AER,
    "perplexity": PERPLEXITY,
    "nats": NATS,
    "length": LENGTH,
    "monotone": Metric("steps that do not go back", 2, None, score=ratio),
    "entropy": Metric("bits of a word's weights", 2, None, score=ratio),
}
KEPT_AS = {"perplexity": "losses", "nats": "losses", "length": "bleu"}  # else: as the metric
Parts = str | Sequence[str]


class NotRecorded(ValueError):
    """What was asked for is not in a run."""


def measured(
    runs: Sequence[Run], what: str = "bleu", part: Parts = "test", *, search: str = ""
) -> System:
    """The system of some runs that differ in the seed alone.

    Args:
        runs: one for each seed.
        what: "bleu"; "aer", "perplexity" or "nats" (its logarithm), where lower is better; "length"
            of the translations per word of the references; "monotone" or "entropy" of alignments;
            or "cpu_seconds" of training.
        part: "test", "long" or "names"; with lengths of the source in words, such as
            "test:6-10", only those sentences; "test:known" only those without unknown words. Two
            parts: the share of the first one's score that is kept in the second.
        search: "" for the greedy search of all runs, or the name of another.

    Raises:
        ValueError: another name, or fewer than two runs.
        NotRecorded: what was asked for is not in the runs; the message says what is missing.
    """
    one_of((*METRICS, "cpu_seconds"), what=what)
    if what == "cpu_seconds":
        return by_scores([run.history.cpu_seconds for run in runs])
    parts = (part,) if isinstance(part, str) else tuple(part)
    arrays = [[sentences(run, each, what, search=search) for each in parts] for run in runs]
    if any(array is None for of_run in arrays for array in of_run):
        how = f" with the search {search!r}" if search else ""
        raise NotRecorded(f"{runs[0].name}: no {what} of {part!r}{how} was recorded")
    metric = METRICS[what]
    return by_sentences(arrays, metric if len(parts) == 1 else share(metric))


def sentences(run: Run, part: str, what: str, search: str = "") -> np.ndarray | None:
    """A run's statistics (sentences, k) of a part of the test set; None if they were not kept.

    The arrays are those of :class:`.PerSentence`: PART_WHAT, or PART_SEARCH_WHAT for another
    search; PART_length has the words of each source, PART_known whether a sentence has no unknown
    word. The alignment error of captions is of the pairs with gold links, which are a part of test.
    """
    arrays = _statistics(run.name)
    name, _, chosen = part.partition(":")
    array = arrays.get("_".join(filter(None, [name, search, KEPT_AS.get(what, what)])))
    if array is None and (part, what) == ("test", "aer"):
        return arrays.get("gold_aer")
    if array is None or not chosen:
        return array
    if chosen == "known":
        known = arrays.get(f"{name}_known")
        return None if known is None else array[known.astype(bool)]
    shortest, longest = (int(end) for end in chosen.split("-"))
    lengths = arrays[f"{name}_length"]
    return array[(lengths >= shortest) & (lengths <= longest)]


@lru_cache(maxsize=256)
def _statistics(name: str) -> dict[str, np.ndarray]:
    return load_statistics(name)
