"""Phrases of cells, lists, figures and buttons, in the edition's language.

The table of an edition has `{}` for each number: `{} seeds` is `시드 {}개`. What is not in it stays
as it is.
"""

import re
from html import escape, unescape
from xml.etree import ElementTree

SVG = "{http://www.w3.org/2000/svg}"
ElementTree.register_namespace("", SVG.strip("{}"))
NUMBER = re.compile(r"[+−-]?\d+(?:[.,]\d+)*%?")
EDGE = re.compile(r"((?<!\\)\||<br>)")  # of a line in a table's cell
CLAUSE = re.compile(r"((?<! al)\. |; |: )")  # ends one, in small print
LABEL = re.compile(r"[^|`\n]+?:\*?(?= )")  # what stands before a line's first colon

Dictionary = dict[str, str]  # English -> the edition's language


def in_words(phrase: str, words: Dictionary) -> str:
    """`5 seeds` by `{} seeds`; a list of such, between semicolons, by its items."""
    items = [phrase] if NUMBER.sub("{}", phrase) in words else phrase.split("; ")
    found = [words.get(NUMBER.sub("{}", item)) for item in items]
    if not all(found):
        return phrase
    return ", ".join(
        one.format(*NUMBER.findall(item)) for item, one in zip(items, found, strict=True)
    )


def cell_in_words(cell: str, words: Dictionary) -> str:
    """A table's cell; small print clause by clause, where names stay."""
    if not (small := re.fullmatch(r"<small>(.*)</small>", cell)):
        return in_words(cell, words)
    clauses = (in_words(one, words) for one in CLAUSE.split(unescape(small[1])))
    return f"<small>{escape(''.join(clauses))}</small>"


def line_in_words(line: str, words: Dictionary) -> str:
    """A line of Markdown: a table's row by its cells, another whole, or else by its label."""
    if line.startswith("|"):
        return "".join(
            re.sub(r"\S(.*\S)?", lambda cell: cell_in_words(cell[0], words), part)
            for part in EDGE.split(line)
        )
    if (whole := in_words(line, words)) != line:
        return whole
    return LABEL.sub(lambda label: in_words(label[0], words), line, count=1)


def markdown_in_words(text: str, words: Dictionary) -> str:
    """What a cell shows as Markdown; source code stays."""
    if text.startswith("```"):
        return text
    return "\n".join(line_in_words(line, words) for line in text.split("\n"))


def printed_in_words(text: str, words: Dictionary) -> str:
    """What a cell prints: of each line the cells, two blanks apart; its columns stay.

    A syllable of Hangul is about as wide as five thirds of a letter of fixed width.
    """

    def cell(found: re.Match) -> str:
        shown = in_words(found[1], words)
        width = sum(5 / 3 if "가" <= letter <= "힣" else 1 for letter in shown)
        return shown + " " * max(1, round(len(found[0]) - width)) * bool(found[2])

    return re.sub(r"(\S+(?: \S+)*)( {2,})?", cell, text)


def plot_in_words(markup: str, words: Dictionary) -> str:
    """A forest plot, or an alignment, of which only labels with a blank: others are words of text.

    Other HTML stays, for it shows sentences.
    """
    if '<div class="forest"' in markup:
        texts = r"(?<=[>\"])(\s*)([^<>\"]*[^<>\"\s])(?=\s*<|\")"
    elif markup.startswith("<svg"):
        texts = r"(?<=>)()([^<>]+ [^<>]+)(?=</text>)"
    else:
        return markup
    return re.sub(texts, lambda it: it[1] + escape(in_words(unescape(it[2]), words)), markup)


def diagram_in_words(source: str, words: Dictionary) -> str:
    """A drawing of the book's own, an SVG: all its texts."""
    root = ElementTree.fromstring(source)
    for text in [*root.iter(f"{SVG}text"), *root.iter(f"{SVG}title")]:
        if phrase := words.get(" ".join("".join(text.itertext()).split())):
            text[:], text.text = [], phrase
    return ElementTree.tostring(root, encoding="unicode") + "\n"
