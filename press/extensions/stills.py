"""Draw the still of every live block: `python -m press.extensions.stills`.

A still is the component itself, as Chromium shows it after its first translation, without its
buttons: HTML, so that it follows the page's width and its light or dark theme, and can be read
aloud and printed. Drawn again wherever the models' weights or the component changed, for the blocks
of the pages that `make html` built. The stills of `{learn}` are drawn by the code that trains, in
node: two pictures, before and after.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from attnmt.files import write_aside
from press.browser import chromium, served
from press.contents import ROOT
from press.extensions import learn, live

PAGE = '<!doctype html><html><link rel="stylesheet" href="see.css"><body></body></html>'
DRAW = Path(__file__).with_name("still.js").read_text(encoding="utf8")

UNUSED = (
    "label, .live-list, .live-notes, .live-buttons, .live-controls, .live-which, .live-lines,"
    " .live-growth, [aria-live]:not(.live-say)"
)


def told(site: Path, component: str) -> list[dict]:
    """What the blocks of a component on built pages are told, each once."""
    pages = [path.read_text("utf8") for path in sorted((site / "book").glob("*.html"))]
    found = re.findall(rf'class="{component}-options">(.*?)</script>', "".join(pages))
    return [json.loads(one) for one in dict.fromkeys(found)]


def blocks(site: Path) -> list[live.Block]:
    """The live blocks of built pages, each once."""
    return [
        live.Block(
            tuple(one["models"]), one["sentence"], one.get("english", ""), one["mode"] == "step"
        )
        for one in told(site, "live")
    ]


def draw(page: Page, shown: live.Block, language: str) -> str:
    """The still of one block."""
    options = shown.options | {"frame": 0}
    html = page.evaluate(DRAW, {"options": options, "unused": UNUSED, "language": language})
    return f"<!-- drawn with {live.marks(shown.models)} -->\n{html}\n"


def trained(specs: list[dict]) -> list[dict[str, str]]:
    """For each, language -> its still.

    Raises:
        FileNotFoundError: there is no node.
    """
    if shutil.which("node") is None:
        raise FileNotFoundError("there is no node, which the stills of {learn} need: install it")
    script = Path(__file__).with_name("learn_still.mjs")
    ran = subprocess.run(
        ["node", script], input=json.dumps(specs), capture_output=True, encoding="utf8", check=True
    )
    return json.loads(ran.stdout)


def draw_trainings(specs: list[dict]) -> None:
    """Their stills, into the component's folder; others go."""
    folder = live.SOURCE / "stills" / "learn"
    folder.mkdir(exist_ok=True)
    kept = set()
    for told, drawn in zip(specs, trained(specs), strict=True):
        for language, html in drawn.items():
            path = learn.still_path(told, language)
            write_aside(path, f"{html}\n".encode())
            print(path.name)
            kept.add(path)
    for path in folder.glob("*.html"):
        if path not in kept:
            path.unlink()


def draw_blocks(wanted: list[live.Block]) -> None:
    """Their stills in each language, into the component's folder; others go."""
    kept = set()
    with (
        tempfile.TemporaryDirectory() as folder,
        served(folder) as address,
        sync_playwright() as driver,
    ):
        site = Path(folder)
        live.copy_files(site, {name for shown in wanted for name in shown.models})
        (site / "index.html").write_text(PAGE, encoding="utf8")
        browser = driver.chromium.launch(executable_path=chromium())
        page = browser.new_page(viewport={"width": 720, "height": 900}, reduced_motion="reduce")
        page.goto(address)
        for shown, language in product(wanted, live.LANGUAGES):
            path = live.still_path(shown, language)
            path.parent.mkdir(exist_ok=True)
            write_aside(path, draw(page, shown, language).encode())
            print(path.name)
            kept.add(path)
        browser.close()
    for path in (live.SOURCE / "stills").glob("*.html"):
        if path not in kept:
            path.unlink()


def main() -> int:
    site = ROOT / "_build" / "html"
    wanted = blocks(site)
    if not wanted:
        print("No built page has a live block: run `make html` first")
        return 1
    draw_trainings(told(site, "learn"))
    draw_blocks(wanted)
    return 0


if __name__ == "__main__":
    sys.exit(main())
