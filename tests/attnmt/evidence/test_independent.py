"""Every verdict again, on an independent path: from the stored statistics, in plain NumPy.

Nothing here is imported from the package. Claims and runs are read from their files; BLEU, the
bootstrap, Welch's variance, Student's interval, Holm's steps and the verdicts are written once
more, straight from their definitions. The draws of the bootstrap are the book's, so that all must
agree to four decimals.
"""

import json
import math
import tomllib
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

RESULTS = Path(__file__).parents[3] / "results"
FILE = tomllib.loads((RESULTS / "claims.toml").read_text(encoding="utf-8"))
STORED = json.loads((RESULTS / "verdicts.json").read_text(encoding="utf-8"))["rows"]
DRAWS = 1_000
SEED = 12345
ARRAYS = {"nats": "losses", "length": "bleu", "share": "bleu"}


def bleu(sums):
    """Papineni et al. 2002 with sacreBLEU's exponential smoothing, of sums (..., 10)."""
    written, wanted = sums[..., 0], sums[..., 1]
    correct, total = sums[..., 2:6], sums[..., 6:10]
    halvings = np.cumsum(correct == 0, axis=-1)
    precision = np.where(correct == 0, 1 / (2.0**halvings * total), correct / total)
    brevity = np.where(written < wanted, np.exp(1 - wanted / written), 1.0)
    return 100 * brevity * np.exp(np.log(precision).mean(-1))


def quotient(sums):
    return sums[..., 0] / sums[..., 1]


def aer(sums):
    return 1 - (sums[..., 0] + sums[..., 1]) / (sums[..., 2] + sums[..., 3])


SCORES = {"bleu": bleu, "aer": aer}


@cache
def kept(run):
    with np.load(RESULTS / "sentences" / f"{run}.npz") as arrays:
        return {key: arrays[key] for key in arrays.files}


def rows_of(run, metric, part, search):
    """(sentences, k) of a part of the test set."""
    arrays = kept(run)
    name, _, chosen = part.partition(":")
    if metric == "aer" and f"{name}_aer" not in arrays:
        name = "gold"  # of captions, only some have gold links
    array = arrays["_".join(filter(None, (name, search, ARRAYS.get(metric, metric))))]
    if chosen == "known":
        return array[arrays[f"{name}_known"] == 1]
    if chosen:
        low, high = map(int, chosen.split("-"))
        words = arrays[f"{name}_length"]
        return array[(words >= low) & (words <= high)]
    return array


@cache
def counts(sentences, number):
    chosen = np.random.default_rng([SEED, number]).integers(sentences, size=(DRAWS, sentences))
    table = np.zeros((DRAWS, sentences))
    np.add.at(table, (np.arange(DRAWS)[:, None], chosen), 1)
    return table


@cache
def system(name, seeds, metric, parts):
    """Scores (seeds,), scores of the draws (draws, seeds) and the fewest sentences."""
    stem, _, search = name.partition("@")
    score = SCORES.get(ARRAYS.get(metric, metric), quotient)
    if metric == "length":
        score = quotient
    of_parts, drawn, sizes = [], [], []
    for number, part in enumerate(parts):
        columns = [rows_of(f"{stem}-{s}", metric, part, search) for s in range(seeds)]
        columns = [one.astype(float) for one in columns]
        sizes.append(len(columns[0]))
        of_parts.append(np.array([score(one.sum(0)) for one in columns]))
        table = counts(sizes[-1], number)
        drawn.append(np.stack([score(table @ one) for one in columns], axis=1))
    if len(parts) == 2:
        return of_parts[1] / of_parts[0], drawn[1] / drawn[0], min(sizes)
    return of_parts[0], drawn[0], min(sizes)


def seconds(name, seeds):
    runs = [json.loads((RESULTS / f"{name}-{s}.json").read_text("utf-8")) for s in range(seeds)]
    epochs = [run["history"]["epochs"] for run in runs]
    return np.array([sum(epoch["cpu_seconds"] for epoch in one) for one in epochs])


def terms(row):
    """Difference; variance and degrees over seeds; variance and degrees over sentences."""
    sides = list(zip((row["first"], row["second"]), row["seeds"]))
    parts = tuple(row.get("parts", ["test"]))
    if row["metric"] == "cpu_seconds":
        found = [(seconds(name, seeds), None, 0) for name, seeds in sides]
    else:
        found = [system(n, s, row["metric"], parts) for n, s in sides if isinstance(n, str)]
    number = 0.0 if isinstance(row["second"], str) else row["second"]
    stems = {name.partition("@")[0] for name, _ in sides if isinstance(name, str)}
    if len(stems) == 1 and len(found) == 2:  # the same models, searched in two ways
        (one, draws, size), (other, others, _) = found
        found = [(one - other, draws - others, size)]
    means = [scores.mean() for scores, _, _ in found]
    difference = means[0] - means[1] if len(found) == 2 else means[0] - number
    each = [scores.var(ddof=1) / len(scores) for scores, _, _ in found]
    lone = [v**2 / (len(scores) - 1) for v, (scores, _, _) in zip(each, found)]
    over_seeds = sum(each), sum(each) ** 2 / sum(lone)
    if found[0][1] is None:
        return difference, over_seeds, (0.0, math.inf)
    luck = [draws - scores for scores, draws, _ in found]
    alone = [one.var(axis=1, ddof=1).mean() / one.shape[1] for one in luck]
    middle = luck[0].mean(1) - (luck[1].mean(1) if len(luck) == 2 else 0)
    left = max(middle.var(ddof=1) - sum(alone), 0.0)
    return difference, over_seeds, (left, min(DRAWS, found[0][2]) - 1)


def half(found, level):
    _, *both = found
    return math.sqrt(sum(v * stats.t.ppf((1 + level) / 2, f) ** 2 for v, f in both))


def p_value(found):
    """By halving: the p at which the interval just reaches zero."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if half(found, 1 - middle) > abs(found[0]) else (low, middle)
    return high


def margin(row):
    corpus = row["first"].partition("@")[0].rpartition("-")[2]
    corpus = "joined" if corpus == "joined30" else corpus
    widest = FILE["defaults"][corpus][row["metric"]]["margin"]
    effect = row["gap"]
    if "theirs" in row:
        second, first = row["theirs"]
        effect = math.log(first / second) if row["metric"] == "nats" else first - second
    return min(widest, abs(effect) / 2)


def verdict(row, low, high):
    if low > 0 or high < 0:
        return "same sign" if (low > 0) == (row["expected"] == "above") else "opposite sign"
    return "no difference" if -margin(row) < low and high < margin(row) else "undecided"


def there(row):
    sides = zip((row["first"], row["second"]), row["seeds"])
    return "waits" not in row and all(
        (RESULTS / f"{name.partition('@')[0]}-{seed}.json").exists()
        for name, seeds in sides
        if isinstance(name, str)
        for seed in range(seeds)
    )


@cache
def judged():
    """Of each row its difference, the ends of its interval, and the verdict."""
    rows = [row for row in FILE["claims"] if "reason" not in row]
    found = {row["id"]: terms(row) for row in rows if there(row)}
    levels = {row["id"]: 0.95 for row in rows if row["kind"] == "Q"}
    for group in {row["group"] for row in rows}:
        family = [row["id"] for row in rows if row["group"] == group and row["kind"] != "Q"]
        ranked = sorted((p_value(found[id]) if id in found else 2.0, id) for id in family)
        left = len(family)
        for p, id in ranked:
            levels[id] = 1 - 0.05 / left
            if p < 0.05 / left and left > 1:
                left -= 1
            else:
                levels |= {other: 1 - 0.05 / left for q, other in ranked if (q, other) > (p, id)}
                break
    again = {}
    for row in rows:
        if (one := found.get(row["id"])) is None:
            again[row["id"]] = None
            continue
        reach = half(one, levels[row["id"]])
        low, high = one[0] - reach, one[0] + reach
        says = "no verdict" if row["kind"] == "Q" else verdict(row, low, high)
        again[row["id"]] = one[0], low, high, says
    return again


def test_all_rows_that_can_be_run_are_judged_again():
    assert set(judged()) == {id for id, row in STORED.items() if row["verdict"] != "not run"}
    assert sum(found is not None for found in judged().values()) > 60


@pytest.mark.parametrize("id", [row["id"] for row in FILE["claims"] if "reason" not in row])
def test_a_verdict_is_the_same_on_an_independent_path(id):
    found, stored = judged()[id], STORED[id]
    if found is None:
        assert stored["verdict"] == "waiting"
        return
    *numbers, says = found
    assert stored["verdict"] == says
    known = [stored["difference"], *stored["interval"]]
    assert numbers == pytest.approx(known, abs=5e-5, rel=1e-7)
