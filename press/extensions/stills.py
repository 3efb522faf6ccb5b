"""Draw the still of every live block: `python -m press.stills`.

A still is the component itself, as Chromium shows it after its first translation, without its
buttons: HTML, so that it follows the page's width and its light or dark theme, and can be read
aloud and printed. Drawn again wherever the models' weights or the component changed.
"""

from __future__ import annotations

import functools
import sys
import tempfile
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from attnmt.files import write_aside
from press.editions.pdf import chromium
from press.extensions import live

PAGE = '<!doctype html><html lang="en"><link rel="stylesheet" href="see.css"><body></body></html>'
# What the reader can do nothing with before the component is there goes; pixels become pictures.
DRAW = """async ({ options, unused }) => {
  const { render } = await import("./see.mjs");
  const el = document.createElement("div");
  document.body.replaceChildren(el);
  await render({ model: { get: (name) => options[name] }, el });
  const view = el.firstElementChild;
  const replace = (old, tag, keep = []) => {
    const fresh = document.createElement(tag);
    for (const name of ["class", "lang", "style", ...keep])
      if (old.hasAttribute(name)) fresh.setAttribute(name, old.getAttribute(name));
    fresh.append(...old.childNodes);
    old.replaceWith(fresh);
    return fresh;
  };
  for (const canvas of view.querySelectorAll("canvas")) {
    const picture = document.createElement("img");
    picture.src = canvas.toDataURL();
    picture.alt = canvas.getAttribute("aria-label");
    picture.className = canvas.className;
    picture.style.cssText = canvas.style.cssText;
    canvas.replaceWith(picture);
  }
  const field = view.querySelector("textarea");
  const written = { lang: "de", className: "live-field", textContent: field.value };
  field.replaceWith(Object.assign(document.createElement("p"), written));
  for (const part of view.querySelectorAll(unused)) part.remove();
  view.querySelectorAll("button").forEach((button) => replace(button, "span"));
  for (const part of [view, ...view.querySelectorAll("[tabindex], [aria-live]")])
    for (const name of ["tabindex", "aria-live", "data-done"]) part.removeAttribute(name);
  view.querySelectorAll(".live-words").forEach((words) => words.removeAttribute("role"));
  return view.outerHTML;
}"""


UNUSED = (
    "label, .live-list, .live-notes, .live-buttons, .live-controls, .live-which, .live-lines,"
    " .live-growth, [aria-live]:not(.live-say)"
)


class Quiet(SimpleHTTPRequestHandler):
    """A server that says nothing."""

    def log_message(self, *args) -> None:
        pass


def draw(page: Page, shown: live.Block) -> str:
    """The still of one block."""
    html = page.evaluate(DRAW, {"options": shown.options | {"frame": 0}, "unused": UNUSED})
    return f"<!-- drawn with {live.marks(shown.models)} -->\n{html}\n"


def main() -> int:
    wanted = live.book_blocks()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        site = Path(folder)
        live.copy_files(site, {name for shown in wanted for name in shown.models})
        (site / "index.html").write_text(PAGE, encoding="utf8")
        handler = functools.partial(Quiet, directory=site)
        server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        browser = driver.chromium.launch(executable_path=chromium())
        page = browser.new_page(viewport={"width": 720, "height": 900}, reduced_motion="reduce")
        page.goto(f"http://127.0.0.1:{server.server_port}/")
        for shown in wanted:
            path = live.still_path(shown)
            path.parent.mkdir(exist_ok=True)
            write_aside(path, draw(page, shown).encode())
            print(path.name)
        server.shutdown()
        browser.close()
    kept = {live.still_path(shown) for shown in wanted}
    for path in (live.SOURCE / "stills").glob("*.html"):
        if path not in kept:
            path.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
