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
TASKS = ("german", "copy", "reverse")
SCORES = {
    "dot": {"score": "dot(q, k)"},
    "additive": {"score": "dot(v, tanh(W(q) + U(k)))", "asks": "before"},
    "scaled": {"score": "dot(q, k) / sqrt(n)"},
    "general": {"score": "dot(q, W(k))"},
    "location": {"score": "W(q)[j]"},
}
SEEDS = (1, 2, 3)
MOST_UPDATES = 600  # updates
LENGTHS = {  # the first exercise: name -> what is told
    f"length {length}, {name}": {"task": "copy", "length": length, "attention": attention}
    for length in (4, 8, 16)
    for name, attention in (("one vector", False), ("attention", True))
}
MODULES = (
    "tape.mjs",
    "score.mjs",
    "learn.mjs",
    "learn_worker.mjs",
    "learn_choices.mjs",
    "learn_view.mjs",
    "learn.css",
)
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


def trained(jobs: list[dict]) -> Iterator[dict]:
    """What node says of each run: see watch_it_learn.mjs."""
    with subprocess.Popen(
        ["node", RUNNER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
    ) as node:
        node.stdin.write(json.dumps(jobs))
        node.stdin.close()
        for line in node.stdout:
            found = json.loads(line)
            print(found["name"], found["spec"], found["locked"], f"{found['mass']}", flush=True)
            yield found
    if node.returncode:
        raise RuntimeError("node could not train")


def rounded(found: dict, names: tuple[str, ...]) -> dict:
    return {
        name: round(found[name], 3) if isinstance(found[name], float) else found[name]
        for name in names
    }


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
    kept = ("locked", "CPU-seconds", "right", "mass")
    runs = []
    for found in trained(jobs):
        task, score = found["name"].split()
        named = {"task": task, "score": score, "seed": found["spec"]["seed"]}
        runs.append(named | rounded(found, kept))
    return runs


def breaks() -> dict[str, dict]:
    """What each line of *Break it* tells the network, from the page's own module."""
    program = f"import {{ BREAKS }} from {(SOURCE / 'learn_choices.mjs').as_uri()!r};"
    program += "console.log(JSON.stringify(BREAKS))"
    command = ["node", "--input-type=module", "--eval", program]
    return json.loads(subprocess.run(command, capture_output=True, check=True).stdout)


def broken() -> list[dict]:
    """The page's experiments: the first exercise and each line of *Break it*, two seeds each."""
    told = [(name, spec, 600) for name, spec in LENGTHS.items()]
    told += [(f"break: {name}", spec, 300) for name, spec in breaks().items()]
    jobs = [
        {"name": name, "spec": spec | {"seed": seed}, "updates": updates, "stop": False}
        for name, spec, updates in told
        for seed in SEEDS[:2]
    ]
    kept = ("name", "locked", "updates", "right", "mass", "top", "entropy", "links", "looks")
    return [{"seed": one["spec"]["seed"]} | rounded(one, kept) for one in trained(jobs)]


def browser() -> list[dict]:
    """Those of the stored trainings that lock on, once more in Chromium, by the clock."""
    from playwright.sync_api import sync_playwright

    stored = json.loads(STORE.read_text(encoding="utf8"))["locked"]
    told = [
        {name: one[name] for name in ("task", "score", "seed")} for one in stored if one["locked"]
    ]
    found = []
    with served(SOURCE) as address, sync_playwright() as driver:
        program = driver.chromium.launch(executable_path=chromium(), args=["--disable-gpu"])
        for slower, one in product((1, 4), told):
            page = program.new_page()
            page.set_default_timeout(600_000)
            page.goto(f"{address}learn.html")
            page.context.new_cdp_session(page).send(
                "Emulation.setCPUThrottlingRate", {"rate": slower}
            )
            spec = {"task": one["task"], "seed": one["seed"]} | SCORES[one["score"]]
            ran = page.evaluate(IN_PAGE, {"spec": spec, "most": MOST_UPDATES})
            ran["seconds"] = round(ran["seconds"], 2)
            found.append(one | {"slower": slower} | ran | {"load": round(os.getloadavg()[0], 1)})
            print(found[-1], flush=True)
            page.close()
        program.close()
    return found


def main(parts: list[str]) -> None:
    store = json.loads(STORE.read_text(encoding="utf8")) if STORE.is_file() else {}
    for part in parts or ("locked", "broken", "browser"):
        store[part] = {"locked": locked, "broken": broken, "browser": browser}[part]()
        store["bytes"] = {name: (SOURCE / name).stat().st_size for name in MODULES}
        save_store(STORE, store)


if __name__ == "__main__":
    main(sys.argv[1:])
