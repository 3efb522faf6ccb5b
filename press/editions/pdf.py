"""Print the book, from its built pages, to one PDF: `_build/pdf/learning-to-align.pdf`.

    python -m press.editions.pdf                                    the whole book
    python -m press.editions.pdf book/03_learning_to_align.ipynb    a handout: some of its pages

Chromium prints the joined document (`one_page`), then once more: the contents need the page
numbers of the first print. Nothing is executed; the pages must have been built (`make html`).
"""

import argparse
import logging
import shutil
import subprocess
import sys
from collections.abc import Collection
from pathlib import Path

from playwright.sync_api import sync_playwright
from pypdf import PdfReader, PdfWriter

from press.browser import chromium
from press.contents import ROOT
from press.editions.one_page import Entry, Unprintable, sheet

logging.getLogger("pypdf").setLevel(logging.ERROR)  # it mends what Chromium counts wrong

FOOTER = (
    '<div style="width: 100%; text-align: center; font: 8pt sans-serif; color: #555">'
    '<span class="pageNumber"></span></div>'
)
PREPARE = Path(__file__).with_name("pdf.js").read_text(encoding="utf8")
NUMBER = """(numbers) => {
  for (const link of document.querySelectorAll(".contents a"))
    link.nextElementSibling.textContent = numbers[decodeURIComponent(link.hash.slice(1))] ?? "";
}"""


def page_numbers(pdf: Path) -> dict[str, int]:
    """The page, from 1, of each place in a PDF that a link leads to."""
    reader = PdfReader(pdf)
    places = reader.named_destinations.items()
    return {name.lstrip("/"): reader.get_destination_page_number(to) + 1 for name, to in places}


def add_outline(pdf: Path, entries: list[Entry], numbers: dict[str, int]) -> None:
    """Give the PDF its bookmarks: parts, chapters, sections."""
    writer = PdfWriter(clone_from=pdf)
    above = {}
    for number, entry in enumerate(entries):
        following = [numbers[e.anchor] for e in entries[number:] if e.anchor]
        parent = next((above[k] for k in range(entry.level - 1, -1, -1) if k in above), None)
        item = writer.add_outline_item(
            title=entry.plain, page_number=following[0] - 1, parent=parent, is_open=entry.level == 0
        )
        above = {k: v for k, v in above.items() if k < entry.level} | {entry.level: item}
    writer.write(pdf)


def print_book(site: Path, target: Path, only: Collection[str] = ()) -> int:
    """Print the built site, or `only` some of its pages; returns the number of sheets."""
    path = chromium()
    fonts = shutil.which("fc-list") and subprocess.run(["fc-list", ":lang=ko"], capture_output=True)
    needed = not only or "book/glossary" in only
    if needed and fonts and not fonts.stdout.strip():
        raise Unprintable(
            "no font on this machine has Korean letters, which the glossary needs: install one"
            " (on Debian and Ubuntu: apt install fonts-noto-cjk)"
        )
    text, entries = sheet(site, only=only)
    target.parent.mkdir(parents=True, exist_ok=True)
    source = target.with_suffix(".html")
    source.write_text(text, encoding="utf8")
    numbers: dict[str, int] = {}
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=["--disable-gpu"])
        page = browser.new_page(color_scheme="light")
        page.set_default_timeout(300_000)
        page.goto(source.resolve().as_uri())
        if broken := page.evaluate(PREPARE):
            raise Unprintable(f"pictures or math cannot be shown: {', '.join(broken)}")
        for _ in range(3):  # twice is enough, unless the numbers themselves move a page
            page.evaluate(NUMBER, numbers)
            page.pdf(
                path=target,
                prefer_css_page_size=True,
                print_background=True,
                display_header_footer=True,
                header_template="<span></span>",
                footer_template=FOOTER,
            )
            printed = numbers
            numbers = page_numbers(target)
            if numbers == printed:
                break
        browser.close()
    add_outline(target, entries, numbers)
    return len(PdfReader(target).pages)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="*", help="files of the book; default: all of it")
    parser.add_argument("--site", type=Path, default=ROOT / "_build" / "html")
    parser.add_argument("--into", type=Path, help="default: in _build/pdf")
    options = parser.parse_args()
    only = [Path(page).with_suffix("").as_posix() for page in options.pages]
    name = "-".join(Path(page).name for page in only) or "learning-to-align"
    options.into = options.into or ROOT / "_build" / "pdf" / f"{name}.pdf"
    try:
        count = print_book(options.site, options.into, only)
    except (Unprintable, FileNotFoundError) as error:
        parser.error(str(error))
    print(f"{count} pages, {options.into.stat().st_size / 1e6:.1f} MB: {options.into}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
