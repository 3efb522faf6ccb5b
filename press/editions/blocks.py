"""Cut Markdown into messages for translators, and what stays as it is.

A message is a block that a reader reads: a heading, a paragraph, an item of a list, a row of a
table, the title of an exercise, a caption, an alternative text. Fences of code, formulas on lines
of their own, labels, and the names and options of directives stay. The blocks are those that the
book's own Markdown parser finds, so all pieces joined give the very text again.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.tree import SyntaxTreeNode
from myst_parser.config.main import MdParserConfig
from myst_parser.parsers.mdit import create_md_parser

from press.contents import settings
from press.run.numbers import PAIR

BODY = {
    "admonition",
    "button-ref",
    "div",
    "dropdown",
    "exercise",
    "figure",
    "grid",
    "grid-item",
    "grid-item-card",
    "learn",
    "live",
    "solution",
    "stepper",
}
TITLED = {"admonition", "dropdown", "exercise", "grid-item-card"}
TEXT = {"paragraph", "heading", "blockquote", "list_item", "tr"}
HOLDERS = {"bullet_list", "ordered_list", "table", "thead", "tbody"}
FENCES = {"fence", "colon_fence"}
OPENER = re.compile(r"(?P<head>(?:`{3,}|:{3,}|~{3,})\{(?P<name>[\w:-]+)\}[ \t]*)(?P<title>.*)\n?")
CLOSER = re.compile(r"(?:`{3,}|:{3,}|~{3,})[ \t]*\n?")
OPTION = re.compile(r"(?P<head>:(?P<name>[\w-]+):[ \t]*)(?P<value>.*)\n?")
DESCRIPTION = re.compile(r"(?s)(?<=description: )(.*?)(?=\n---)")
PLACE = re.compile(r"<!--(\w+)-->")

ROLE = re.compile(r"\{([\w:+-]+)\}`([^`]*)`")
CODE = re.compile(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)", flags=re.DOTALL)
FORMULA = re.compile(r"(?<![\\$])\$(?!\$)([^$]+)\$")
LINK = re.compile(r"\]\(([^)\s]*)[^)]*\)")
TAG = re.compile(r"</?[a-z][^>]*>")


@dataclass(frozen=True)
class Piece:
    """A part of a text: a message, or what stays as it is."""

    text: str
    message: bool = False


@cache
def parser() -> MarkdownIt:
    """The book's parser, with the extensions of `_config.yml`."""
    extensions = set(settings()["parse"]["myst_enable_extensions"])
    return create_md_parser(MdParserConfig(enable_extensions=extensions), RendererHTML)


def lines_of(text: str) -> list[str]:
    """The lines as the parser counts them, each with its end."""
    lines = text.split("\n")
    return [line + "\n" for line in lines[:-1]] + [lines[-1]]


def blocks(node: SyntaxTreeNode) -> Iterator[SyntaxTreeNode]:
    """The blocks of a tree, in order: texts as deep as needed to leave every fence out."""
    for child in node.children:
        if child.type in FENCES or child.type == "front_matter":
            yield child
        elif child.type in TEXT:
            if any(inner.type in FENCES for inner in child.walk()):
                yield from blocks(child)
            else:
                yield child
        elif child.type in HOLDERS:
            yield from blocks(child)


@cache
def cut(text: str) -> tuple[Piece, ...]:
    """All pieces of a text, in order; joined they are the text."""
    lines = lines_of(text)
    pieces = []
    done = 0
    for block in blocks(SyntaxTreeNode(parser().parse(text))):
        start, end = block.map
        pieces.append(Piece("".join(lines[done:start])))
        inside = lines[start:end]
        if block.type == "front_matter":
            pieces += front_matter("".join(inside))
        elif block.type in FENCES:
            pieces += fence(inside)
        else:
            pieces += words("".join(inside))
        done = end
    pieces.append(Piece("".join(lines[done:])))
    return tuple(piece for piece in pieces if piece.text)


def words(text: str) -> list[Piece]:
    """A block as a message, without the space around it; or nothing to translate in it."""
    core = text.strip()
    if not has_words(core):
        return [Piece(text)]
    before, after = text.split(core, 1)
    return [Piece(before), Piece(core, message=True), Piece(after)]


def front_matter(text: str) -> list[Piece]:
    """The head of a page; its description, which stands last, is a message."""
    found = DESCRIPTION.search(text)
    if found is None:
        return [Piece(text)]
    return [Piece(text[: found.start()]), Piece(found[0], message=True), Piece(text[found.end() :])]


def fence(lines: list[str]) -> list[Piece]:
    """A directive's title, alternative text and body hold messages; code does not."""
    opener = OPENER.fullmatch(lines[0])
    if opener is None or not (opener["name"] in BODY or opener["name"] == "glossary"):
        return [Piece("".join(lines))]
    pieces = [Piece(lines[0])]
    if opener["name"] in TITLED and opener["title"]:
        title, end = opener["title"], lines[0][opener.end("title") :]
        pieces = [Piece(opener["head"]), *words(title), Piece(end)]
    last = len(lines) - bool(CLOSER.fullmatch(lines[-1]))
    at = 1
    while at < last and (option := OPTION.fullmatch(lines[at])):
        if option["name"] == "alt":
            value, end = option["value"], lines[at][option.end("value") :]
            pieces += [Piece(option["head"]), *words(value), Piece(end)]
        else:
            pieces.append(Piece(lines[at]))
        at += 1
    body = "".join(lines[at:last])
    pieces += entries(body) if opener["name"] == "glossary" else cut(body)
    return [*pieces, Piece("".join(lines[last:]))]


def entries(text: str) -> list[Piece]:
    """A glossary: each definition is a message; the terms stay, for `{term}` finds them."""
    parts = re.split(r"(?m)((?:^[ ]+\S.*\n?)+)", text)  # every second one is indented lines
    pieces = []
    for number, part in enumerate(parts):
        pieces += words(part) if number % 2 else [Piece(part)]
    return pieces


def has_words(text: str) -> bool:
    """Whether something is left to translate without code, formulas, roles and addresses."""
    for pattern in (PAIR, ROLE, CODE, FORMULA, LINK, TAG):
        text = pattern.sub(" ", text)
    return re.search(r"[^\W\d_]{2,}", text) is not None


# --- numbers, and what a translation must keep


def without_numbers(text: str) -> str:
    """A message: of `<!--kept-->19%<!--/-->` the name alone, so a new number changes nothing."""
    return PAIR.sub(r"<!--\1-->", text)


def with_numbers(message: str, english: str) -> str:
    """A message with the numbers of the English text between its marks."""
    numbers = dict(PAIR.findall(english))
    return PLACE.sub(lambda mark: f"<!--{mark[1]}-->{numbers[mark[1]]}<!--/-->", message)


def kept(message: str) -> Counter:
    """What a translation has as often as its English: code, formulas, roles, links, numbers."""
    found: Counter = Counter()
    for name, inside in ROLE.findall(message):
        target = re.search(r"<([^<>]+)>$", inside)
        found["role", name, " ".join((target[1] if target else inside).split())] += 1
    rest = ROLE.sub(" ", message)
    found.update(("code", " ".join(code.split())) for _, code in CODE.findall(rest))
    rest = CODE.sub(" ", rest)
    found.update(("formula", " ".join(formula.split())) for formula in FORMULA.findall(rest))
    found.update(("link", address) for address in LINK.findall(rest))
    found.update(("number", name) for name in PLACE.findall(rest))
    found.update(("tag", tag) for tag in TAG.findall(rest))
    return found
