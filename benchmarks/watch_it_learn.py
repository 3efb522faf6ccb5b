"""How soon attention locks on in the page *Watch it learn*: updates and seconds.

Every task with every score and three seeds is trained by node; CPU-seconds are those of the updates
alone. With Chromium, those that lock on are trained once more in the browser, at full speed and
slowed down four times by Chromium itself (on the page's own thread, which is the only one that
Chromium slows down; readers' machines train beside it). Seconds there are by the clock, so
``load`` says how busy the machine was.
Usage: python -m benchmarks.watch_it_learn [locked] [browser] [broken]
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from itertools import product

from press.browser import chromium, served
from press.extensions.live import SOURCE
from studies.study import ROOT, STUDIES, save_store

STORE = STUDIES / "watch_it_learn.json"
RUNNER = ROOT / "benchmarks" / "watch_it_learn.mjs"
TASKS = ("german", "korean", "copy", "reverse")
SCORES = {
    "dot": {"score": "dot(q, k)"},
    "additive": {"score": "dot(v, tanh(W(q) + U(k)))", "asks": "before"},
    "scaled": {"score": "dot(q, k) / sqrt(n)"},
    "general": {"score": "dot(q, W(k))"},
    "location": {"score": "W(q)[j]"},
}
SEEDS = (1, 2, 3)
MOST_UPDATES = 600
LENGTHS = {  # the first exercise
    f"length {length}, {name}": {"task": "copy", "length": length, "attention": attention}
    for length in (4, 8, 16)
    for name, attention in (("one vector", False), ("attention", True))
}
IN_PAGE = """async ({ spec, most }) => {
    const { Training } = await import("./learn.mjs");
    const { DEFAULTS, LOCKED } = await import("./learn_choices.mjs");
    const run = new Training({ ...DEFAULTS, ...spec });
    const begun = performance.now();
    while (run.updates < most) {
        for (let at = 0; at < 10; at++) run.update();
        if (run.look().mass > LOCKED) break;
    }
    return { updates: run.updates, seconds: (performance.now() - begun) / 1000 };
}"""


def trained(jobs: list[dict], kept: tuple[str, ...]) -> Iterator[tuple[dict, dict]]:
    """Each job, and what node says of its run: see watch_it_learn.mjs."""
    printed = subprocess.check_output(["node", RUNNER], input=json.dumps(jobs), encoding="utf-8")
    for job, line in zip(jobs, printed.splitlines(), strict=True):
        found = {name: json.loads(line)[name] for name in kept}
        yield job, {k: round(x, 3) if isinstance(x, float) else x for k, x in found.items()}


def locked() -> list[dict]:
    """Each task, score and seed: the updates until 90% of the weight is on the right word."""
    jobs = [
        {"name": name, "spec": {"task": task, "seed": seed} | spec, "updates": MOST_UPDATES}
        for (name, spec), task, seed in product(SCORES.items(), TASKS, SEEDS)
    ]
    kept = ("locked", "CPU-seconds", "right", "mass")
    return [
        {"task": job["spec"]["task"], "score": job["name"], "seed": job["spec"]["seed"]} | found
        for job, found in trained([job | {"stop": True} for job in jobs], kept)
    ]


def broken() -> list[dict]:
    """The first exercise, and each line of *Break it* in the page's own module; two seeds each."""
    program = f"import {{ BREAKS }} from {(SOURCE / 'learn_choices.mjs').as_uri()!r};"
    program += "console.log(JSON.stringify(BREAKS))"
    command = ["node", "--input-type=module", "--eval", program]
    breaks = json.loads(subprocess.check_output(command))
    specs = [(name, spec, 600) for name, spec in LENGTHS.items()]
    specs += [(f"break: {name}", spec, 300) for name, spec in breaks.items()]
    jobs = [
        {"name": name, "spec": spec | {"seed": seed}, "updates": updates, "stop": False}
        for (name, spec, updates), seed in product(specs, SEEDS[:2])
    ]
    kept = ("name", "locked", "updates", "right", "mass", "top", "entropy", "links", "looks")
    return [{"seed": job["spec"]["seed"]} | found for job, found in trained(jobs, kept)]


def browser() -> list[dict]:
    """Those of the stored trainings that lock on, once more in Chromium, by the clock."""
    from playwright.sync_api import sync_playwright

    stored = json.loads(STORE.read_text(encoding="utf8"))["locked"]
    some = [{k: one[k] for k in ("task", "score", "seed")} for one in stored if one["locked"]]
    found = []
    with served(SOURCE) as address, sync_playwright() as driver:
        program = driver.chromium.launch(executable_path=chromium(), args=["--disable-gpu"])
        for slower, one in product((1, 4), some):
            page = program.new_page()
            page.set_default_timeout(600_000)
            page.goto(f"{address}learn.html")
            session = page.context.new_cdp_session(page)
            session.send("Emulation.setCPUThrottlingRate", {"rate": slower})
            spec = {"task": one["task"], "seed": one["seed"]} | SCORES[one["score"]]
            ran = page.evaluate(IN_PAGE, {"spec": spec, "most": MOST_UPDATES})
            ran |= {"seconds": round(ran["seconds"], 2), "load": round(os.getloadavg()[0], 1)}
            found.append(one | {"slower": slower} | ran)
            print(found[-1], flush=True)
            page.close()
        program.close()
    return found


def main(parts: list[str]) -> None:
    """Measure the parts that are named, or all, and write them into the store."""
    store = json.loads(STORE.read_text(encoding="utf8")) if STORE.is_file() else {}
    for part in parts or ("locked", "broken", "browser"):
        store[part] = {"locked": locked, "broken": broken, "browser": browser}[part]()
        save_store(STORE, store)


if __name__ == "__main__":
    main(sys.argv[1:])
