"""Exercises that ask the learner to write a mechanism.

A chapter marks by tags what the editions need to know. Cells of a solution are tagged `solution`. A
cell tagged `mechanism` stands between an exercise and its solution, and ends with `check(...)`. In
it a line ``# write it here`` marks the function whose body the learner writes; its docstring stays.
A cell of the solution ends with the same call, and shows that it can be passed.
"""

import ast
import builtins
import re
import symtable
from dataclasses import dataclass

from nbconvert.preprocessors import TagRemovePreprocessor
from nbformat import NotebookNode

from press.run.stamps import TO_WRITE
from press.source import without_magics

SOLUTION = "solution"
MECHANISM = "mechanism"
HERE = "write it here"
BLANK = 'raise NotImplementedError("write me")'
GIVEN = {*dir(builtins), "display", "get_ipython", "__annotations__"}  # in every cell
LABEL = re.compile(r"(?m)^:label: *(\S+)")


class Misplaced(ValueError):
    """The exercises of a chapter cannot be read."""


def tagged(cell: NotebookNode, tag: str) -> bool:
    return tag in cell.metadata.get("tags", [])


def without_solutions(notebook: NotebookNode, chapter: str) -> NotebookNode:
    """A chapter without the cells of its solutions, and without the outputs of its mechanisms.

    Raises:
        Misplaced: a cell between the beginning and the end of a solution has no tag, or one outside
            has it.
    """
    inside = False
    for number, cell in enumerate(notebook.cells, 1):
        markdown = cell.source if cell.cell_type == "markdown" else ""
        inside = inside or bool(re.search(r"(?m)^:::\{solution", markdown))
        if inside != tagged(cell, SOLUTION):
            wrong = "is tagged" if not inside else "belongs to a solution: give it the tag"
            raise Misplaced(f"{chapter}, cell {number} {wrong} `{SOLUTION}`")
        if inside and "{exercise}" in markdown:
            raise Misplaced(f"{chapter}, cell {number}: an exercise and a solution in one cell")
        inside = inside and not re.search(r"(?m)^:::\{solution(-end)?\}", markdown)
    remove = TagRemovePreprocessor(
        remove_cell_tags={SOLUTION}, remove_all_outputs_tags={MECHANISM}, enabled=True
    )
    return remove.preprocess(notebook, {})[0]


def blank(source: str, label: str = "") -> str:
    """A mechanism's cell with the marked bodies left blank; signature and docstring stay."""
    lines = source.splitlines()
    tree = ast.parse(source)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    marked = [number for number, line in enumerate(lines, 1) if HERE in line]
    if not marked:
        raise Misplaced(f"{label}: its cell is tagged `{MECHANISM}`, and no line says '{HERE}'")
    for number in reversed(marked):
        around = [node for node in functions if node.lineno <= number <= node.end_lineno]
        if not around:
            raise Misplaced(f"{label}: '{HERE}' stands outside of every function")
        inner = max(around, key=lambda node: node.lineno)
        if ast.get_docstring(inner) is None:
            raise Misplaced(f"{label}: {inner.name} has no docstring to tell what it returns")
        text = inner.body[0]
        lines[text.end_lineno : inner.end_lineno] = [" " * text.col_offset + BLANK]
    return "\n".join(lines)


def bound_and_read(source: str) -> tuple[set[str], set[str]]:
    """The global names that a piece of code binds, and those that it reads."""
    waiting = [symtable.symtable(source, "cell", "exec")]
    bound: set[str] = set()
    read: set[str] = set()
    while waiting:
        scope = waiting.pop()
        waiting += scope.get_children()
        for symbol in scope.get_symbols():
            if scope.get_type() == "module" or symbol.is_global():
                binds = symbol.is_assigned() or symbol.is_imported()
                bound |= {symbol.get_name()} if binds else set()
                read |= {symbol.get_name()} if symbol.is_referenced() else set()
    return bound, read


def names(source: str) -> tuple[set[str], set[str]]:
    """The names that a cell defines, and those that it needs from cells before it.

    None of a cell that is not Python, as a student may leave one in the edition.
    """
    try:
        bound, read = bound_and_read(without_magics(source))
    except SyntaxError:
        return set(), set()
    return bound, read - bound - GIVEN


@dataclass
class Mechanism:
    """An exercise that asks for a mechanism, and what is needed to check an answer."""

    chapter: str
    label: str
    name: str  # what the learner defines
    cell: str  # its blank and its check, as in the chapter; in the edition perhaps an answer
    solution: str  # the cell that passes the check; none in the student edition
    context: list[str]  # the cells before it that it needs, in order

    def program(self, answer: str) -> str:
        """Code that checks an answer; it prints "correct" at the end if it passes.

        The answer has global names of its own: whatever it defines, the check does not see it.
        """
        whole = HERE in self.cell  # the student edition has the blank, or an answer in its place
        cell, call = parted(blank(self.cell, self.label) if whole else self.cell)
        book = "\n\n".join([*self.context, cell])
        given = call.removeprefix("check(").removesuffix(")")
        return f"""\
book = {{"__name__": "__main__"}}
exec({book!r}, book)
theirs = book.copy()
exec({answer!r}, theirs)
book["check"](eval({given!r}, theirs))
"""


def parted(source: str) -> tuple[str, str]:
    """A cell's lines, and its last one."""
    before, _, last = source.rstrip().rpartition("\n")
    return before, last


def checked(source: str) -> str:
    """The name in a cell's last ``check(name)``, or ``check(name())``; empty if it has none."""
    found = re.fullmatch(r"check\((\w+)(?:\(\))?\)", parted(source)[1])
    return found[1] if found else ""


def needed(source: str, before: list[NotebookNode]) -> list[str]:
    """The cells before a cell without which it cannot run."""
    lacking = names(source)[1]
    chosen = []
    for cell in reversed(before):
        defined, used = names(cell.source)
        if defined & lacking:
            chosen.insert(0, cell.source)
            lacking = (lacking - defined) | used
    return chosen


def mechanisms(notebook: NotebookNode, chapter: str) -> list[Mechanism]:
    """The mechanisms of a chapter, in its order.

    Raises:
        Misplaced: a cell ends with ``check(...)`` and has no tag; or a mechanism has no solution
            that passes its check.
    """
    found = []
    label = ""
    before: list[NotebookNode] = []
    for number, cell in enumerate(notebook.cells):
        labels = LABEL.findall(cell.source) if cell.cell_type == "markdown" else []
        label = labels[-1] if labels else label
        if cell.cell_type != "code" or tagged(cell, SOLUTION):
            continue
        if tagged(cell, MECHANISM):
            after = [one.source for one in notebook.cells[number:] if tagged(one, SOLUTION)]
            solution = next((one for one in after if checked(one)), "")
            if not (checked(cell.source) and (solution or tagged(cell, TO_WRITE))):
                message = f"the mechanism of {label} and a cell of its solution end with check(...)"
                raise Misplaced(f"{chapter}: {message}")
            where = (chapter, label, checked(cell.source), cell.source, solution)
            found.append(Mechanism(*where, needed(cell.source, before)))
        elif checked(cell.source):
            tags = f"`{MECHANISM}`, or within a solution `{SOLUTION}`"
            raise Misplaced(f"{chapter}, cell {number + 1} ends with check(...): tag it {tags}")
        before.append(cell)
    return found
