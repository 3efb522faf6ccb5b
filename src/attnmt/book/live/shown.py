"""The page of a :class:`.LiveView` as a file: for a browser on this machine, and for any site."""

import os
from html import escape
from pathlib import Path

from attnmt.book.live.view import GENERATOR, HEIGHT, LiveView
from attnmt.files import write_aside

INDEX = "index.html"


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
    others = sorted(path.name for path in folder.iterdir() if not is_page(path))
    if others:
        some = ", ".join(others[:3]) + (" ..." if len(others) > 3 else "")
        raise FileExistsError(
            f"{folder} has other files: {some}. Give the name of a new or an empty folder."
        )


def is_page(path: Path) -> bool:
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
