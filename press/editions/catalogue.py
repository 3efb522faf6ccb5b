"""The catalogue of a translation, `locale/ko/*.po`: a file for each page, a message for each block.

A message's context is its page, and the cell of a notebook. Three files are of no page: `_site`
(title, parts, footer, the titles of English pages), `_student` (the pages of the student edition)
and `_words`, kept by hand: the one table of phrases in figures, tables, lists, slides and buttons.
"""

import difflib
import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.pofile import PoFileError, read_po, write_po

from attnmt.files import write_aside
from press import reading
from press.contents import ROOT, file_of, listed, settings
from press.editions.blocks import Piece, cut, without_numbers, words
from press.phrases import Dictionary
from press.reading import Cell

SITE = "_site"
STUDENT = "_student"
WORDS = "_words"
ALIKE = 0.6  # of 1: an old text this much like a new one is offered as its translation
COMMENT = re.compile(r"(?s)(<!--\n|)(.*?)((?:\n-->\s*)?)")  # round what only slides have
BORN = datetime(2026, 11, 24, tzinfo=UTC)  # in the files' heads


@dataclass(frozen=True)
class Message:
    """An English text of the book, and the place that it comes from."""

    context: str
    text: str


@dataclass
class Translation:
    text: str
    fuzzy: bool = False

    @property
    def usable(self) -> bool:
        return bool(self.text) and not self.fuzzy


Texts = dict[Message, Translation]


class Broken(Exception):
    """A catalogue that cannot be used."""


# --- the English


def pages(root: Path = ROOT) -> list[str]:
    return [name for _, names in listed(root) for name in names]


def texts_in(cells: list[Cell], path: Path) -> Iterator[tuple[str, dict, str, list[Piece]]]:
    """The texts of a page's cells: of each its context, its place by holder and key, its pieces."""
    for cell in cells:
        context = path.stem if path.suffix == ".md" else f"{path.stem} {cell.id}"
        if cell.cell_type == "markdown":
            head, text, end = COMMENT.fullmatch(cell.source).groups()
            yield context, cell, "source", [Piece(head), *cut(text), Piece(end)]
        shown = {"slide": reading.slideshow(cell), **cell.metadata.get("mystnb", {})}
        for place in ("slide title", "slide text", "figure caption", "image alt"):
            part, key = place.split()
            if key in shown.get(part, {}):
                yield context, shown[part], key, words(shown[part][key])


def texts_of(page: str, root: Path = ROOT) -> Iterator[tuple[str, list[Piece]]]:
    """The texts of a page in pieces, each with its context."""
    if page == SITE:
        yield "title", [Piece(settings(root)["title"], message=True)]
        yield "footer", words(settings(root)["html"]["extra_footer"])
        for caption, _ in listed(root):
            if caption:
                yield "part", [Piece(caption, message=True)]
        for name in pages(root):
            if name not in begun(root):
                yield "page", [Piece(reading.title(file_of(name, root)), message=True)]
    elif page == STUDENT:
        for path in student_pages(root):
            yield path.stem, [*cut(path.read_text(encoding="utf8"))]
    else:
        path = file_of(page, root)
        for context, _, _, pieces in texts_in(reading.cells_of(path), path):
            yield context, pieces


def student_pages(root: Path) -> list[Path]:
    return sorted((root / "press" / "editions" / "student_pages").glob("*.md"))


def messages(page: str, root: Path = ROOT) -> list[Message]:
    """The messages of a page in their order; what stands twice in one place is one message."""
    found = [
        Message(context, without_numbers(piece.text))
        for context, pieces in texts_of(page, root)
        for piece in pieces
        if piece.message
    ]
    return list(dict.fromkeys(found))


# --- the files


def path_of(page: str, root: Path = ROOT) -> Path:
    return root / "locale" / "ko" / f"{Path(page).name}.po"


def begun(root: Path = ROOT) -> list[str]:
    """The pages that have a file."""
    return [page for page in pages(root) if path_of(page, root).is_file()]


def read(page: str, root: Path = ROOT) -> Texts:
    """The file of a page, empty if there is none yet; Broken if it cannot be read."""
    path = path_of(page, root)
    if not path.is_file():
        return {}
    try:
        with path.open("rb") as file:
            found = read_po(file, locale="ko", abort_invalid=True)
    except (PoFileError, ValueError) as error:
        raise Broken(f"{path}: {error}") from error
    return {
        Message(message.context, message.id): Translation(message.string, message.fuzzy)
        for message in found
        if message.id
    }


def table(root: Path = ROOT) -> Dictionary:
    """The table of phrases."""
    return {message.text: korean.text for message, korean in read(WORDS, root).items()}


def store(page: str, texts: Texts, root: Path = ROOT) -> None:
    """Write the file of a page."""
    catalog = Catalog(
        locale="ko",
        header_comment="# The Korean texts of Learning to Align.",
        project="Learning to Align",
        version="0.1.0",
        msgid_bugs_address="",
        last_translator="The Learning to Align authors",
        language_team="Korean",
        creation_date=BORN,
        revision_date=BORN,
        fuzzy=False,
    )
    for message, korean in texts.items():
        added = catalog.add(message.text, korean.text, context=message.context)
        added.flags = {"fuzzy"} if korean.fuzzy and korean.text else set()
    written = io.BytesIO()
    write_po(written, catalog, width=0, no_location=True)
    # Without Babel's version: a new release of it would change every file.
    write_aside(path_of(page, root), re.sub(rb'"Generated-By: .*\n', b"", written.getvalue()))


# --- what lags


def updated(new: list[Message], old: Texts, others: Texts) -> Texts:
    """The translations of these messages, from the old ones and those of other pages.

    A text that moved keeps its translation. One that changed gets that of the old text most like
    it, marked fuzzy.
    """
    elsewhere = {message.text: korean for message, korean in [*others.items(), *old.items()]}
    left = {message.text: korean for message, korean in old.items() if message not in set(new)}
    texts = {}
    for message in new:
        same = old.get(message) or elsewhere.get(message.text)
        if same is not None and same.text:
            texts[message] = same
            continue
        alike = difflib.get_close_matches(message.text, left, n=1, cutoff=ALIKE)
        offered = left[alike[0]].text if alike else ""
        texts[message] = Translation(offered, fuzzy=bool(offered))
    return texts


def update(names: Iterable[str] = (), root: Path = ROOT) -> list[str]:
    """Bring the catalogue up to the English, and begin these pages; returns those that changed."""
    before = {page: read(page, root) for page in (SITE, STUDENT, *begun(root))}
    others = {message: korean for texts in before.values() for message, korean in texts.items()}
    changed = []
    for page in dict.fromkeys([*before, *names]):
        after = updated(messages(page, root), before.get(page, {}), others)
        if after != before.get(page) or list(after) != list(before[page]):
            store(page, after, root)
            changed.append(page)
    return changed


def lagging(root: Path = ROOT) -> list[str]:
    """What lags behind the English: of each message its place, and how it begins."""
    found = []
    for page in (SITE, STUDENT, *begun(root)):
        stored = read(page, root)
        for message in messages(page, root):
            if message not in stored or not stored[message].usable:
                found.append(f"{message.context}: {' '.join(message.text.split())[:70]}")
    return found
