"""How soon attention locks on in the page *Watch it learn*: updates and CPU-seconds.

Every task with every score and three seeds is trained by node, until 90% of the weight is on the
right word; and the page's first exercise, with attention and without. CPU-seconds are those of the
updates alone.
Usage: python -m benchmarks.watch_it_learn
"""

import json
import subprocess
from collections.abc import Iterator

from studies.study import ROOT, STUDIES, save_store

STORE = STUDIES / "watch_it_learn.json"
RUNNER = ROOT / "benchmarks" / "watch_it_learn.mjs"
TASKS = ("german", "copy", "reverse")
SCORES = {
    "dot": {"score": "dot(q, k)"},
    "additive": {"score": "dot(v, tanh(W(q) + U(k)))", "asks": "before"},
    "scaled": {"score": "dot(q, k) / sqrt(n)"},
    "general": {"score": "dot(q, W(k))"},
    "location": {"score": "W(q)[j]"},
}
SEEDS = (1, 2, 3)
MOST_UPDATES = 600
LENGTHS = (4, 8, 16)
WITH = {"one vector": False, "attention": True}


def trained(jobs: list[dict], kept: tuple[str, ...]) -> Iterator[dict]:
    """What node says of each run: see watch_it_learn.mjs."""
    asked = json.dumps(jobs)
    said = subprocess.run(["node", RUNNER], input=asked, capture_output=True, text=True, check=True)
    for found in map(json.loads, said.stdout.splitlines()):
        print(found["name"], found["spec"], found["locked"], f"{found['mass']}", flush=True)
        numbers = {name: found[name] for name in kept}
        rounded = {name: round(x, 3) for name, x in numbers.items() if isinstance(x, float)}
        yield {"name": found["name"], "seed": found["spec"]["seed"]} | numbers | rounded


def locked() -> list[dict]:
    """Each task, score and seed: the updates until 90% of the weight is on the right word."""
    jobs = [
        {
            "name": f"{task} {score}",
            "spec": {"task": task, "seed": seed} | told,
            "updates": MOST_UPDATES,
            "stop": True,
        }
        for score, told in SCORES.items()
        for task in TASKS
        for seed in SEEDS
    ]
    runs = []
    for found in trained(jobs, ("locked", "CPU-seconds", "right", "mass")):
        task, score = found.pop("name").split()
        runs.append({"task": task, "score": score} | found)
    return runs


def exercise() -> list[dict]:
    """The page's first exercise, two seeds each."""
    jobs = [
        {
            "name": f"length {length}, {name}",
            "spec": {"task": "copy", "length": length, "attention": attention, "seed": seed},
            "updates": MOST_UPDATES,
            "stop": False,
        }
        for length in LENGTHS
        for name, attention in WITH.items()
        for seed in SEEDS[:2]
    ]
    return list(trained(jobs, ("locked", "updates", "right", "mass")))


def main() -> None:
    """Train, and write the store."""
    store = json.loads(STORE.read_text(encoding="utf-8"))
    save_store(STORE, store | {"locked": locked(), "broken": exercise()})


if __name__ == "__main__":
    main()
