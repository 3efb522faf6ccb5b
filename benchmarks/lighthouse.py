"""What Lighthouse says of five kinds of page, as a phone on a slow line would load them.

Lighthouse is not part of this project: ``ATTNMT_LIGHTHOUSE`` in the environment names its program
(npm install lighthouse: ``node_modules/.bin/lighthouse``). It looks at the strict build, sent
compressed as a static host sends it, with its own phone profile and simulated throttling. Every
page is measured several times in turn; the store has the medians, the least and the most, and how
busy the machine was: other work can only lower a performance score.
Usage: python -m benchmarks.lighthouse [runs]
"""

import functools
import gzip
import json
import os
import shutil
import statistics
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from press.editions.pdf import chromium
from studies.study import ROOT, STUDIES, save_store

STORE = STUDIES / f"{Path(__file__).stem}.json"
SITE = ROOT / "_build" / "strict" / "_build" / "html"
PROGRAM = "ATTNMT_LIGHTHOUSE"
RUNS = 5
PAGES = {  # kind -> page
    "first page": "book/index.html",
    "live page": "book/see_it.html",
    "chapter, with math": "book/03_learning_to_align.html",
    "tables, with math": "book/notation.html",
    "reference page": "book/glossary.html",
}
CATEGORIES = ("performance", "accessibility", "best-practices", "seo")
TIMES = {  # what a reader waits for -> Lighthouse's name of it
    "first paint, ms": "first-contentful-paint",
    "largest paint, ms": "largest-contentful-paint",
    "blocked, ms": "total-blocking-time",
    "shift": "cumulative-layout-shift",
    "bytes": "total-byte-weight",
}
COMPRESSED = {".html", ".css", ".js", ".mjs", ".svg", ".json"}


class StaticHost(SimpleHTTPRequestHandler):
    """Sends files as a static host does: text compressed, to be kept for a while."""

    def do_GET(self) -> None:
        path = Path(self.translate_path(self.path))
        if path.suffix not in COMPRESSED or not path.is_file():
            super().do_GET()
            return
        content = compressed(path)
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(path))
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def end_headers(self) -> None:
        self.send_header("Cache-Control", "max-age=86400")
        super().end_headers()

    def log_message(self, *args: object) -> None:
        """Nothing is printed."""


@functools.cache
def compressed(path: Path) -> bytes:
    """A file as it travels."""
    return gzip.compress(path.read_bytes(), compresslevel=6)


@contextmanager
def served(site: Path) -> Iterator[str]:
    """The address at which a site is served for a while."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(StaticHost, directory=site))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()


def look(program: str, address: str) -> dict[str, Any]:
    """Lighthouse's report on a page.

    Raises:
        RuntimeError: it fails.
    """
    command = [program, address, "--output=json", "--output-path=stdout", "--quiet"]
    command.append(f"--only-categories={','.join(CATEGORIES)}")
    command.append("--chrome-flags=--headless=new --no-sandbox --disable-gpu")
    environment = os.environ | {"CHROME_PATH": chromium()}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode:
        raise RuntimeError(f"Lighthouse failed on {address}: {done.stderr[-500:]}")
    return json.loads(done.stdout)


def shortened(report: dict[str, Any]) -> dict[str, Any]:
    """Of a report the scores, from 0 to 100, the times, the machine, and what lost points."""
    categories = report["categories"]
    scores = {name: round(100 * categories[name]["score"]) for name in CATEGORIES}
    times = {name: report["audits"][audit]["numericValue"] for name, audit in TIMES.items()}
    requests = report["audits"]["network-requests"]["details"]["items"]
    lost = {
        audit["id"]
        for name in CATEGORIES[1:]
        for audit in categories[name]["auditRefs"]
        if audit["weight"] and report["audits"][audit["id"]]["score"] not in (1, None)
    }
    return {
        **scores,
        **{name: round(value, 3) for name, value in times.items()},
        "requests": len(requests),
        "machine's speed": report["environment"]["benchmarkIndex"],
        "machine's load": round(os.getloadavg()[0], 1),
        "lost points": sorted(lost),
    }


def summary(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Of each number of some runs the median, the least and the most."""
    numbers = [name for name, value in runs[0].items() if not isinstance(value, list)]
    found = {}
    for name in numbers:
        values = [run[name] for run in runs]
        found[name] = [round(statistics.median(values), 3), min(values), max(values)]
    return {**found, "lost points": sorted({name for run in runs for name in run["lost points"]})}


def main(number: int = RUNS) -> None:
    """Measure the pages, and store what was found."""
    program = shutil.which(os.environ.get(PROGRAM, ""))
    if program is None:
        raise SystemExit(f"skipped: {PROGRAM} names no program (see benchmarks/lighthouse.py)")
    if not (SITE / "index.html").is_file():
        raise SystemExit("skipped: there is no built site, run `make strict` first")
    runs: dict[str, list[dict[str, Any]]] = {kind: [] for kind in PAGES}
    with served(SITE) as address:
        for turn in range(number):
            for kind, page in PAGES.items():
                report = look(program, address + page)
                runs[kind].append(shortened(report))
                print(turn + 1, kind, runs[kind][-1])
    settings = report["configSettings"]
    save_store(
        STORE,
        {
            "command": "python -m benchmarks.lighthouse",
            "lighthouse": report["lighthouseVersion"],
            "profile": settings["formFactor"],
            "throttling": settings["throttlingMethod"],
            "runs": number,
            "each number": "median, least, most",
            "pages": {
                kind: {"page": PAGES[kind], **summary(found)} for kind, found in runs.items()
            },
        },
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
