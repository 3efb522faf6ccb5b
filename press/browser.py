"""Chromium, and a server for its pages."""

import functools
import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

CHROMIUM = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "chrome",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    r"C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe",  # every Windows has it
)


def chromium() -> str:
    """The browser that ATTNMT_CHROMIUM names, or the first there is; else FileNotFoundError."""
    names = [named] if (named := os.environ.get("ATTNMT_CHROMIUM")) else CHROMIUM
    path = next((found for name in names if (found := shutil.which(name))), None)
    if path is None:
        raise FileNotFoundError(
            f"none of {', '.join(names)} is on this machine: install Chromium, or set"
            " ATTNMT_CHROMIUM to the path of a Chrome"
        )
    return path


class Quiet(SimpleHTTPRequestHandler):
    """A server that says nothing."""

    def log_message(self, *args: object) -> None:
        pass


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address at which this machine serves a folder, to itself alone."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()
