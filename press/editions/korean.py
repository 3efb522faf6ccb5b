"""The Korean edition: the book's pages with the texts of a catalogue, `locale/ko/*.po`.

    python -m press.editions.korean list                   how much is translated, and what lags
    python -m press.editions.korean update                 bring the catalogue up to the English
    python -m press.editions.korean update book/primer     the same, and begin another page
    python -m press.editions.korean generate --into DIR    write the edition

The catalogue has a file for each page, and a message for each of its blocks
(`press.editions.blocks`).
Where the English of a block has changed, the Korean lags behind it: the page shows the English of
that block and says so below its title, and `update` marks the message *fuzzy* until a translator
has looked at it and removed the mark. All that lags is a warning of each command, and listed in
`locale/ko/lagging.txt`, which `update` writes. Code and outputs are the English
pages' own, and each heading keeps its English address. What a cell says in words, in a table, a
forest plot, the labels of an alignment or a sentence that repeats it (`3 seeds`), is in `_said.po`,
with `{}` for each number; what is not there stays English. Diagrams have the words of
`_figures.po`. Other pictures are stored outputs and stay English: a figure's caption ends with the
words of its axes, in Korean by `_labels.po`. The words round the pages, of the theme and of
buttons, slides and the printed book, are in `_words.po`.

`make korean` generates the edition into `_build/korean`, and builds it with its slides. There, with
`PYTHONPATH=.`, `python -m press.editions.pdf` prints it, and `python -m press.editions.student`
makes its student edition. The button *Colab* opens the English page, which the repository has; a
Korean one can be downloaded at its top and uploaded there, and executed again, its tables are
English. `python -m press.colab.as_in_colab book/01_parallel_text.ipynb` runs one as Colab would.
"""

import argparse
import ast
import difflib
import io
import json
import os
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from html import escape, unescape
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import nbformat
import yaml
from babel.messages.catalog import Catalog
from babel.messages.pofile import PoFileError, read_po, write_po

from press import reading
from press.colab.cell import site_address
from press.contents import ROOT, file_of, listed, renew, settings
from press.editions.blocks import (
    Piece,
    cut,
    has_words,
    kept,
    parser,
    with_numbers,
    without_numbers,
    words,
)
from press.editions.said import Dictionary, in_words, markdown_in_words
from press.reading import Cell
from press.run.numbers import PAIR
from press.run.outputs import write

SITE = "_site"  # the catalogue of the book's title, parts, footer, and the titles of English pages
STUDENT = "_student"  # the catalogue of the pages that only the student edition has
SAID = "_said"  # the catalogue of what cells and lists say in words, kept by hand
WORDS = "_words"  # the catalogue of the words round the pages, kept by hand
FIGURES = "_figures"  # the catalogue of the words in diagrams, kept by hand
LABELS = "_labels"  # the catalogue of what stands at the axes of figures, kept by hand
AXES = {"xlabel", "ylabel", "title", "label", "set_xlabel", "set_ylabel", "set_title"}
PICTURE = "image/svg+xml"
SVG = "{http://www.w3.org/2000/svg}"
ElementTree.register_namespace("", SVG.strip("{}"))
TITLE = re.compile(r"(?m)^# (.*)$")  # of a page
FOREST = '<div class="forest"'  # how a forest plot begins
FACTS = "_edition.json"  # in the edition: what `press.extensions.languages` has to know
ALIKE = 0.6  # of 1: an old text this much like a new one is offered as its translation
BORN = datetime(2026, 11, 24, tzinfo=UTC)  # in the files' heads

CONFIG = {
    "language": "ko",
    "language_beside": {"code": "en", "name": "English", "path": "../"},
    "nb_code_prompt_show": "코드 보기",
    "nb_code_prompt_hide": "코드 숨기기",
    "togglebutton_hint": "펼쳐 보기",
    "togglebutton_hint_hide": "접기",
    "numfig_format": {"figure": "그림 %s", "table": "표 %s", "code-block": "코드 %s"},
}
WHOLLY = "이 페이지는 아직 한국어로 옮기지 않아 영어 원문을 그대로 싣습니다."
WITHIN = "(그림 속 영어: {words}.)"
PARTLY = "영어판이 바뀌어 아직 다시 옮기지 않은 문단 {count}개는 영어 원문을 그대로 싣습니다."
LAGGING = "lagging.txt"  # what lags behind the English, a message a line


@dataclass(frozen=True)
class Message:
    """An English text of the book, and the place that it comes from."""

    context: str  # the page, and the cell of a notebook
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


@dataclass
class Lookup:
    """Finds the Korean of a piece, and counts what there is none for."""

    texts: Texts
    said: Dictionary = field(default_factory=dict)
    all: int = 0
    missing: list[Message] = field(default_factory=list)

    def __call__(self, context: str, english: str) -> str:
        message = Message(context, without_numbers(english))
        self.all += 1
        found = self.texts.get(message)
        if found is None or not found.usable:
            self.missing.append(message)
            return english
        if kept(found.text) != kept(message.text):
            more = kept(message.text) - kept(found.text)
            less = kept(found.text) - kept(message.text)
            raise Broken(
                f"{context}: the Korean of {message.text[:50]!r} must keep all code, formulas, "
                f"roles, links and numbers; missing {list(more)}, too many {list(less)}"
            )
        return PAIR.sub(
            lambda mark: f"<!--{mark[1]}-->{in_words(mark[2], self.said)}<!--/-->",
            with_numbers(found.text, english),
        )

    def joined(self, context: str, pieces: list[Piece]) -> str:
        """A text of these pieces."""
        return "".join(self(context, p.text) if p.message else p.text for p in pieces)


# --- the book's pages


def pages(root: Path = ROOT) -> list[str]:
    return [name for _, names in listed(root) for name in names]


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
        return
    if page == STUDENT:
        for path in student_pages(root):
            yield path.stem, cut(path.read_text(encoding="utf8"))
        return
    path = file_of(page, root)
    for context, _, _, pieces in texts_in(reading.cells_of(path), path):
        yield context, pieces


def texts_in(cells: list[Cell], path: Path) -> Iterator[tuple[str, dict, str, list[Piece]]]:
    """The texts of a page's cells: of each its context, its place by holder and key, its pieces."""
    for cell in cells:
        context = path.stem if path.suffix == ".md" else f"{path.stem} {cell.id}"
        if cell.cell_type == "markdown":
            yield context, cell, "source", cut(cell.source)
        shown = cell.metadata.get("mystnb", {})
        for part, key in (("figure", "caption"), ("image", "alt")):
            if key in shown.get(part, {}):
                yield context, shown[part], key, words(shown[part][key])


def student_pages(root: Path) -> list[Path]:
    return sorted((root / "press" / "editions" / "student_pages").glob("*.md"))


def labels_in(code: str) -> list[str]:
    """What this code writes at the axes of figures, in words."""
    given = []
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Call):
            given += [keyword.value for keyword in node.keywords if keyword.arg in AXES]
            given += node.args[:1] if getattr(node.func, "attr", "") in AXES else []
        if isinstance(node, ast.Dict):
            entries = zip(node.keys, node.values, strict=True)
            given += [value for key, value in entries if getattr(key, "value", "") in AXES]
    texts = [node.value for node in given if isinstance(node, ast.Constant)]
    return [one for one in texts if isinstance(one, str) and has_words(one)]


@cache
def labels_of_package() -> dict[str, list[str]]:
    """What the package's own figures have at their axes, by the names of the functions."""
    return {
        part.name: labels
        for path in sorted((ROOT / "src" / "attnmt" / "book" / "figures").glob("*.py"))
        for part in ast.parse(path.read_text(encoding="utf8")).body
        if isinstance(part, ast.FunctionDef) and (labels := labels_in(ast.unparse(part)))
    }


def labels_of(cell: Cell) -> list[str]:
    """What the picture of a figure has at its axes, in words. (The words of an SVG are text.)"""
    shown = [output.get("data", {}) for output in cell.get("outputs", [])]
    if "figure" not in cell.metadata.get("mystnb", {}) or any(PICTURE in data for data in shown):
        return []
    found = labels_in(cell.source)
    for name in re.findall(r"\b(?:plots|frames|search_tree)\.(\w+)\(", cell.source):
        found += labels_of_package().get(name, [])
    return list(dict.fromkeys(found))


def labels_in_korean(cell: Cell, texts: Texts) -> str:
    """What follows a figure's caption: its English words, each with its Korean."""
    found = [(one, texts.get(Message("figure", one))) for one in labels_of(cell)]
    words = [f"{' '.join(one.split())} – {korean.text}" for one, korean in found if korean]
    return WITHIN.format(words="; ".join(words)) if words else ""


def picture_in_korean(svg: str, words: Dictionary) -> str:
    """An alignment with its labels in Korean: what has a blank, as no word of a sentence has."""
    return re.sub(r"(?<=>)[^<>]+ [^<>]+(?=</text>)", lambda found: in_words(found[0], words), svg)


def plot_in_korean(html: str, words: Dictionary) -> str:
    """A forest plot with what it says in words in Korean; a claim that is not there stays English.

    What a run lacks stands behind the run's name, which stays. Other HTML stays, too.
    """
    if FOREST not in html:
        return html

    def korean(found: re.Match) -> str:
        return found[1] + escape(in_words(unescape(found[2]), words))

    html = html.replace('role="rowheader"', 'role="rowheader" lang="en"')
    html = re.sub(r"(: [\w-]+ )(has \d+ of \d+ seeds)", korean, html)
    html = re.sub(r'(>\s*|aria-label=")([^<>"]*[^<>"\s])(?=\s*<|")', korean, html)
    return re.sub(r'(role="rowheader") lang="en"([^>]*>[^<]*[가-힣])', r"\1\2", html)


IN_KOREAN = {  # kinds of outputs
    "text/markdown": markdown_in_words,
    "text/html": plot_in_korean,
    PICTURE: picture_in_korean,
}


def messages(page: str, root: Path = ROOT) -> list[Message]:
    """The messages of a page in their order; what stands twice in one place is one message."""
    found = [
        Message(context, without_numbers(piece.text))
        for context, pieces in texts_of(page, root)
        for piece in pieces
        if piece.message
    ]
    return list(dict.fromkeys(found))


# --- the catalogue


def catalogue(page: str, root: Path = ROOT) -> Path:
    return root / "locale" / "ko" / f"{Path(page).name}.po"


def read(page: str, root: Path = ROOT) -> Texts:
    """The catalogue of a page, empty if there is none yet; Broken if it cannot be read."""
    path = catalogue(page, root)
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


def begun(root: Path = ROOT) -> list[str]:
    """The pages that have a catalogue."""
    return [page for page in pages(root) if catalogue(page, root).is_file()]


def words_of(name: str, root: Path = ROOT) -> Dictionary:
    """A catalogue that is kept by hand, without its contexts."""
    return {message.text: korean.text for message, korean in read(name, root).items()}


def store(page: str, texts: Texts, root: Path = ROOT) -> None:
    """Write the catalogue of a page, aside first."""
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
    path = catalogue(page, root)
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(path.name + ".partial")
    written = io.BytesIO()
    write_po(written, catalog, width=0, no_location=True)
    # Without Babel's version: a new release of it would change every file.
    aside.write_bytes(re.sub(rb'"Generated-By: .*\n', b"", written.getvalue()))
    aside.replace(path)


def updated(new: list[Message], old: Texts, others: Texts) -> Texts:
    """The catalogue for these messages, from the old one and those of other pages.

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
    lines = "".join(f"{line}\n" for line in lagging(root))
    (root / "locale" / "ko" / LAGGING).write_text(lines, encoding="utf8", newline="\n")
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


# --- the edition


def heading_names(texts: Iterable[list[Piece]]) -> list[str]:
    """The plain text of every heading on a page, in order."""
    names = []
    for pieces in texts:
        tokens = parser().parse("".join(piece.text for piece in pieces))
        for token, after in pairwise(tokens):
            if token.type == "heading_open" and token.level == 0:
                parts = [part for part in after.children if part.type in ("text", "code_inline")]
                names.append("".join(part.content for part in parts))
    return names


def with_notice(text: str, notice: str, titles: Texts) -> str:
    """A page with a note after its title; the title of an English page is in Korean, if one is."""

    def head(found: re.Match) -> str:
        korean = titles.get(Message("page", found[1]))
        title = korean.text if korean and korean.usable else found[1]
        return f"# {title}\n\n:::{{note}}\n{notice}\n:::"

    return TITLE.sub(head, text, count=1)


def translated(page: str, root: Path = ROOT) -> tuple[nbformat.NotebookNode, Lookup]:
    """A page in Korean, and what is missing; a page without catalogue stays English.

    A page of Markdown is one cell.
    """
    look = Lookup(read(page, root), words_of(SAID, root))
    path = file_of(page, root)
    notebook = reading.notebook(path)
    for context, holder, key, pieces in texts_in(notebook.cells, path):
        holder[key] = look.joined(context, pieces)
    labels = read(LABELS, root)
    for cell in notebook.cells if look.texts else ():
        if within := labels_in_korean(cell, labels):
            figure = cell.metadata.mystnb.figure
            figure.caption = f"{figure.caption.rstrip()} {within}"
        for data in (output.get("data", {}) for output in cell.get("outputs", [])):
            for kind in IN_KOREAN.keys() & data.keys():
                data[kind] = IN_KOREAN[kind](data[kind], look.said)
    if look.missing:
        notice = PARTLY.format(count=len(look.missing)) if look.texts else WHOLLY
        first = next(c for c in notebook.cells if c.cell_type == "markdown")
        first.source = with_notice(first.source, notice, read(SITE, root))
    return notebook, look


def generate(target: Path, root: Path = ROOT) -> dict[str, Lookup]:
    """Write the edition in place of an older one; Broken if a catalogue does not fit its page."""
    found = {page: translated(page, root) for page in pages(root)}  # all before anything is written
    renew(target, root, ours=(target / FACTS).is_file())
    headings = {}
    for page, (notebook, _) in found.items():
        path = file_of(page, target)
        if path.suffix == ".md":
            path.write_text(notebook.cells[0].source, encoding="utf8", newline="\n")
        else:
            write(notebook, path)
        headings[page] = heading_names(pieces for _, pieces in texts_of(page, root))
    english = [page for page, (_, look) in found.items() if not look.texts]
    facts = {
        "headings": headings,
        "english": english,
        "said": words_of(SAID, root),
    }
    (target / FACTS).write_text(json.dumps(facts, indent=1), encoding="utf8")
    for path in (target / "book" / "figures").glob("*.svg"):
        drawn = diagram_in_words(path.read_text(encoding="utf8"), words_of(FIGURES, root))
        path.write_text(drawn, encoding="utf8", newline="\n")
    site(target, root)
    student = Lookup(read(STUDENT, root))
    for path, (context, pieces) in zip(student_pages(target), texts_of(STUDENT, root), strict=True):
        path.write_text(student.joined(context, pieces), encoding="utf8", newline="\n")
    return {page: look for page, (_, look) in found.items()}


def diagram_in_words(source: str, words: Dictionary) -> str:
    """An SVG with Korean in place of its texts, as far as there is any."""
    root = ElementTree.fromstring(source)
    for text in [*root.iter(f"{SVG}text"), *root.iter(f"{SVG}title")]:
        if korean := words.get(" ".join("".join(text.itertext()).split())):
            text[:], text.text = [], korean
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def site(target: Path, root: Path) -> None:
    """The edition's `_config.yml` and `_toc.yml`."""
    look = Lookup(read(SITE, root))
    config, toc = settings(root), settings(root, "_toc.yml")
    config["title"] = look("title", config["title"])
    html = config["html"]
    html["extra_footer"] = look.joined("footer", words(html["extra_footer"]))
    sphinx = config["sphinx"]["config"]
    if address := site_address(sphinx.get("html_baseurl", ""), root):
        sphinx["html_baseurl"] = f"{address}ko/"
    sphinx |= CONFIG | {"site_words": words_of(WORDS, root)}
    for part in toc["parts"]:
        part["caption"] = look("part", part["caption"])
    for name, content in (("_config.yml", config), ("_toc.yml", toc)):
        text = yaml.safe_dump(content, allow_unicode=True, sort_keys=False, width=1000)
        (target / name).write_text(text, encoding="utf8", newline="\n")


def report(found: dict[str, Lookup]) -> str:
    """How much of each page is translated."""
    lines = [f"{'page':32}{'Korean':>8}{'of':>6}"]
    for page, look in found.items():
        lines.append(f"{page:32}{look.all - len(look.missing):8}{look.all:6}")
    done = sum(look.all - len(look.missing) for look in found.values())
    return "\n".join([*lines, f"{'all':32}{done:8}{sum(look.all for look in found.values()):6}"])


def main() -> int:
    parsed = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parsed.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="how much is translated, and what lags")
    command = commands.add_parser("update", help="bring the catalogue up to the English")
    command.add_argument("pages", nargs="*", help="pages to begin, as _toc.yml names them")
    command = commands.add_parser("generate", help="write the edition")
    command.add_argument("--into", type=Path, default=ROOT / "_build" / "korean", metavar="DIR")
    options = parsed.parse_args()
    try:
        if options.command == "update":
            for page in update(options.pages):
                print(f"changed: {os.path.relpath(catalogue(page))}")
        elif options.command == "generate":
            print(report(generate(options.into.resolve())))
        else:
            print(report({page: translated(page)[1] for page in pages()}))
        for line in lagging():
            print(f"warning: the Korean lags behind the English: {line}", file=sys.stderr)
    except (Broken, OSError) as error:
        parsed.error(str(error))
    return 0


if __name__ == "__main__":
    sys.exit(main())
