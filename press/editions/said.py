"""What cells and lists say in words, in the edition's language.

The words are a catalogue's, with `{}` for each number: `{} seeds` is `시드 {}개`. What is not in it
stays as it is.
"""

import re

NUMBER = re.compile(r"[+−-]?\d+(?:[.,]\d+)*%?")
EDGE = re.compile(r"((?<!\\)\|)")  # of a table's cell
LABEL = re.compile(r"[^|`\n]+?:\*?(?= )")  # what stands before a line's first colon

Dictionary = dict[str, str]  # English -> the edition's language


def in_words(said: str, words: Dictionary) -> str:
    """`5 seeds` by `{} seeds`; a list of such, between semicolons, by its items."""
    items = [said] if NUMBER.sub("{}", said) in words else said.split("; ")
    found = [words.get(NUMBER.sub("{}", item)) for item in items]
    if not all(found):
        return said
    return ", ".join(
        one.format(*NUMBER.findall(item)) for item, one in zip(items, found, strict=True)
    )


def cell_in_words(cell: str, words: Dictionary) -> str:
    """A cell with the space around it."""
    core = cell.strip()
    return cell.replace(core, in_words(core, words), 1) if core else cell


def line_in_words(line: str, words: Dictionary) -> str:
    """A line of Markdown: a table's row by its cells, another whole, or else by its label."""
    if line.startswith("|"):
        return "".join(cell_in_words(part, words) for part in EDGE.split(line))
    if (whole := in_words(line, words)) != line:
        return whole
    return LABEL.sub(lambda label: in_words(label[0], words), line, count=1)


def markdown_in_words(text: str, words: Dictionary) -> str:
    """What a cell shows as Markdown; source code stays."""
    if text.startswith("```"):
        return text
    return "\n".join(line_in_words(line, words) for line in text.split("\n"))
