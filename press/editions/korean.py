"""The Korean edition: the book's pages with the texts of a catalogue, `locale/ko/*.po`.

    python -m press.editions.korean update                 bring the catalogue up to the English
    python -m press.editions.korean update book/primer     the same, and begin another page
    python -m press.editions.korean generate --into DIR    write the edition

Where the English of a block has changed, the Korean lags behind it: the page shows the English of
that block and says so below its title, and `update` marks the message *fuzzy* until a translator
has looked at it and removed the mark. All that lags is a warning of each command, and fails a test
of this book, but none that a course's copy has to pass.

Code and outputs are the English pages' own, and each heading keeps its English address. Phrases of
tables, printed lines, forest plots, diagrams, slides and buttons are in one table, `_words.po`,
with `{}` for each number; what is not there stays English, and so do the words in other pictures.

`make korean` generates the edition into `_build/korean`, and builds it with its slides. There, with
`PYTHONPATH=.`, `python -m press.editions.pdf` prints it, and `python -m press.editions.student`
makes its student edition. The button *Colab* opens the English page, which the repository has; a
Korean one can be downloaded at its top and uploaded there, and executed again, its tables are
English. `python -m press.colab.as_in_colab book/01_parallel_text.ipynb` runs one as Colab would.
"""

import argparse
import json
import os
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import nbformat
import yaml

from press import reading
from press.colab.cell import site_address
from press.contents import ROOT, file_of, renew, settings
from press.editions import catalogue
from press.editions.blocks import Piece, kept, parser, with_numbers, without_numbers, words
from press.editions.catalogue import SITE, STUDENT, Broken, Message, Texts, pages, read, texts_of
from press.phrases import (
    Dictionary,
    diagram_in_words,
    in_words,
    markdown_in_words,
    plot_in_words,
    printed_in_words,
)
from press.run.numbers import PAIR
from press.run.outputs import write

TITLE = re.compile(r"(?m)^# (.*)$")  # of a page
FACTS = "_edition.json"  # in the edition: what `press.extensions.languages` has to know

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
PARTLY = "영어판이 바뀌어 아직 다시 옮기지 않은 문단 {count}개는 영어 원문을 그대로 싣습니다."
OUTPUTS = {  # kinds of outputs with phrases
    "text/markdown": markdown_in_words,
    "text/html": plot_in_words,
    "image/svg+xml": plot_in_words,
}


@dataclass
class Lookup:
    """Finds the Korean of a piece, and notes what there is none for."""

    texts: Texts
    phrases: Dictionary = field(default_factory=dict)
    missing: list[Message] = field(default_factory=list)

    def __call__(self, context: str, english: str) -> str:
        message = Message(context, without_numbers(english))
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
            lambda mark: f"<!--{mark[1]}-->{in_words(mark[2], self.phrases)}<!--/-->",
            with_numbers(found.text, english),
        )

    def joined(self, context: str, pieces: list[Piece]) -> str:
        """A text of these pieces."""
        return "".join(self(context, p.text) if p.message else p.text for p in pieces)


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
    look = Lookup(read(page, root), catalogue.table(root))
    path = file_of(page, root)
    notebook = reading.notebook(path)
    for context, holder, key, pieces in catalogue.texts_in(notebook.cells, path):
        holder[key] = look.joined(context, pieces)
    for cell in notebook.cells if look.texts else ():
        cell.metadata.get("mystnb", {}).pop("code_prompt_show", None)  # CONFIG has one for all
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            for kind in OUTPUTS.keys() & data.keys():
                data[kind] = OUTPUTS[kind](data[kind], look.phrases)
            if output.output_type == "stream":
                output.text = printed_in_words(output.text, look.phrases)
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
    facts = {"headings": headings, "english": english}
    (target / FACTS).write_text(json.dumps(facts, indent=1), encoding="utf8")
    phrases = catalogue.table(root)
    for path in (target / "book" / "figures").glob("*.svg"):
        drawn = diagram_in_words(path.read_text(encoding="utf8"), phrases)
        path.write_text(drawn, encoding="utf8", newline="\n")
    site(target, root)
    student = Lookup(read(STUDENT, root))
    paths = catalogue.student_pages(target)
    for path, (context, pieces) in zip(paths, texts_of(STUDENT, root), strict=True):
        path.write_text(student.joined(context, pieces), encoding="utf8", newline="\n")
    return {page: look for page, (_, look) in found.items()}


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
    sphinx |= CONFIG | {"site_words": catalogue.table(root)}
    for part in toc["parts"]:
        part["caption"] = look("part", part["caption"])
    for name, content in (("_config.yml", config), ("_toc.yml", toc)):
        text = yaml.safe_dump(content, allow_unicode=True, sort_keys=False, width=1000)
        (target / name).write_text(text, encoding="utf8", newline="\n")


def main() -> int:
    parsed = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parsed.add_subparsers(dest="command", required=True)
    command = commands.add_parser("update", help="bring the catalogue up to the English")
    command.add_argument("pages", nargs="*", help="pages to begin, as _toc.yml names them")
    command = commands.add_parser("generate", help="write the edition")
    command.add_argument("--into", type=Path, default=ROOT / "_build" / "korean", metavar="DIR")
    options = parsed.parse_args()
    try:
        if options.command == "update":
            for page in catalogue.update(options.pages):
                print(f"changed: {os.path.relpath(catalogue.path_of(page))}")
        else:
            generate(options.into.resolve())
        for line in catalogue.lagging():
            print(f"warning: the Korean lags behind the English: {line}", file=sys.stderr)
    except (Broken, OSError) as error:
        parsed.error(str(error))
    return 0


if __name__ == "__main__":
    sys.exit(main())
