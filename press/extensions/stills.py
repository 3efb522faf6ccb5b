"""Draw the still of every live block: `python -m press.extensions.stills`.

A still is the component itself, as Chromium shows it after its first translation, without its
buttons: HTML, so that it follows the page's width and its light or dark theme, and can be read
aloud and printed. Drawn again wherever the models' weights or the component changed, for the blocks
of the pages that `make html` built. The stills of `{learn}` are drawn by the code that trains, in
node: two pictures, before and after.
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path

from playwright.sync_api import sync_playwright

from attnmt.files import write_aside
from press.browser import chromium, served
from press.contents import ROOT
from press.extensions import live

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


def trained(specs: list[dict]) -> list[dict[str, str]]:
    """For each, language -> its still; FileNotFoundError where there is no node."""
    if shutil.which("node") is None:
        raise FileNotFoundError("there is no node, which the stills of {learn} need: install it")
    script = Path(__file__).with_name("learn_still.mjs")
    ran = subprocess.run(
        ["node", script], input=json.dumps(specs), capture_output=True, encoding="utf8", check=True
    )
    return json.loads(ran.stdout)


def store(folder: Path, drawn: dict[Path, str]) -> None:
    """Write the stills of a folder; others in it go."""
    folder.mkdir(exist_ok=True)
    for path, html in drawn.items():
        write_aside(path, f"{html}\n".encode())
        print(path.name)
    for path in set(folder.glob("*.html")) - set(drawn):
        path.unlink()


def translated(specs: list[dict]) -> dict[Path, str]:
    """The stills of translations in each language, by their files."""
    drawn = {}
    with (
        tempfile.TemporaryDirectory() as folder,
        served(folder) as address,
        sync_playwright() as driver,
    ):
        site = Path(folder)
        live.copy_files(site, {name for spec in specs for name in spec["models"]})
        (site / "index.html").write_text(PAGE, encoding="utf8")
        browser = driver.chromium.launch(executable_path=chromium())
        page = browser.new_page(viewport={"width": 720, "height": 900}, reduced_motion="reduce")
        page.goto(address)
        for spec, language in product(specs, live.LANGUAGES):
            given = {"options": spec | {"frame": 0}, "unused": UNUSED, "language": language}
            html = page.evaluate(DRAW, given)
            mark = f"<!-- drawn with {live.marks(spec['models'])} -->"
            drawn[live.still_path(spec, language)] = f"{mark}\n{html}"
        browser.close()
    return drawn


def main() -> int:
    site = ROOT / "_build" / "html"
    translations, trainings = told(site, "live"), told(site, "learn")
    if not translations:
        print("No built page has a live block: run `make html` first")
        return 1
    folder = live.SOURCE / "stills"
    store(folder, translated(translations))
    drawn = zip(trainings, trained(trainings), strict=True)
    learnt = {live.still_path(s, one): html for s, made in drawn for one, html in made.items()}
    store(folder / "learn", learnt)
    return 0


if __name__ == "__main__":
    sys.exit(main())
