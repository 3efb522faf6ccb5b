"""The live view of a saved model as a file for any site, or served on one's own machine.

Both are the page of :class:`.LiveView`: one file, with the component and the model in it.
"""

import os
import threading
import time
import webbrowser
from contextlib import suppress
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from attnmt.book.live.view import GENERATOR, HEIGHT, LiveView
from attnmt.checks import ArgumentError, whole
from attnmt.files import write_aside

INDEX = "index.html"
HOST = "127.0.0.1"  # this machine alone


def write_folder(view: LiveView, folder: str | os.PathLike) -> Path:
    """Write a view as ``index.html`` into a folder, which is made if it is not there.

    Returns:
        The path of the file.

    Raises:
        FileExistsError: the folder has other files, or it is a file.
        OSError: it cannot be written.
    """
    folder = Path(folder)
    check_folder(folder)
    write_aside(folder / INDEX, view.page().encode())
    return folder / INDEX


def check_folder(folder: Path) -> None:
    """Refuse a folder with files that are not of ours; a view written before may be replaced.

    Raises:
        FileExistsError: it has such files, or it is a file.
    """
    if not folder.exists():
        return
    if not folder.is_dir():
        raise FileExistsError(f"{folder} is a file. Give the name of a folder.")
    others = sorted(path.name for path in folder.iterdir() if not is_ours(path))
    if others:
        some = ", ".join(others[:3]) + (" ..." if len(others) > 3 else "")
        raise FileExistsError(
            f"{folder} has other files: {some}. Give the name of a new or an empty folder."
        )


def is_ours(path: Path) -> bool:
    """Whether this is a page that :func:`write_folder` wrote."""
    if path.name != INDEX or not path.is_file():
        return False
    with open(path, "rb") as file:
        return GENERATOR.encode() in file.read(1_000)


def embedding(folder: str | os.PathLike, title: str) -> str:
    """The line of HTML that shows a written folder in another page.

    Args:
        folder: as it was written; the line names its last part, so that the folder can be put
            beside the page that embeds it.
        title: what a screen reader says of it.
    """
    source = f"{Path(folder).resolve().name}/{INDEX}"
    style = f"width: 100%; height: {HEIGHT}px; border: 0"
    return (
        f'<iframe src="{escape(source)}" title="{escape(title)}" loading="lazy" style="{style}">'
        "</iframe>"
    )


def server(page: str, port: int = 0) -> ThreadingHTTPServer:
    """A server of one page on this machine; ``serve_forever`` runs it.

    Args:
        page: HTML.
        port: 0 for any that is free.

    Raises:
        ValueError: no such port.
        OSError: it is taken.
    """
    whole(0, port=port)
    if port > 65_535:
        raise ArgumentError(f"port must be at most 65535, not {port}")
    content = page.encode()

    class Answer(BaseHTTPRequestHandler):
        """The page, and nothing else."""

        def handle(self) -> None:
            with suppress(ConnectionError):  # a browser may leave before it has everything
                super().handle()

        def do_GET(self) -> None:
            if self.path.partition("?")[0] not in ("/", f"/{INDEX}"):
                self.send_error(404)
                return
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    try:
        return ThreadingHTTPServer((HOST, port), Answer)
    except OSError as error:
        why = error.strerror or error
        raise OSError(
            f"port {port} of {HOST} cannot be used ({why}). Give another --port, or none"
        ) from error


def serve(view: LiveView, port: int = 0, browser: bool = True) -> None:
    """Show a view on this machine until Ctrl-C; prints its address.

    Args:
        view: what to show.
        port: 0 for any that is free.
        browser: whether to open it in a browser.

    Raises:
        ValueError: no such port.
        OSError: it is taken.
    """
    with server(view.page(), port) as running:
        address = f"http://{HOST}:{running.server_port}/"
        # Not in the main thread: a Ctrl-C in the midst of the server's own work can get lost.
        serving = threading.Thread(target=running.serve_forever, daemon=True)
        try:
            serving.start()
            print(f"{address} shows the model. Ctrl-C ends it.", flush=True)
            if browser and not webbrowser.open(address):
                print("No browser was found: open the address in one.", flush=True)
            while True:
                time.sleep(1)
        except KeyboardInterrupt:
            print("\nended", flush=True)
        finally:
            if serving.is_alive():
                running.shutdown()
