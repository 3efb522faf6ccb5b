"""Exercises in a chapter: their solutions, and those that ask the learner to write a mechanism.

What a chapter looks like there, by its text alone:

- A solution stands between ``:::{solution-start} LABEL`` and ``:::{solution-end}``.
- A *mechanism* is a code cell between an exercise and its solution whose last line is a call
  ``check(...)``. A line ``# write it here`` marks the function whose body the learner writes; its
  docstring stays. A cell of the solution ends with the same call, and shows that it can be passed.
"""

import ast
import builtins
import re
import symtable
from dataclasses import dataclass, field
from typing import NoReturn

from nbformat import NotebookNode

HERE = "write it here"
BLANK = 'raise NotImplementedError("write me")'
FENCE = re.compile(r"(:{3,})\{(exercise|solution|solution-start|solution-end)\}\s*(\S*)")
LABEL = re.compile(r":label:\s*(\S+)")


class Misplaced(ValueError):
    """The exercises of a chapter cannot be read."""


@dataclass
class Exercise:
    """What stands between an exercise and the next."""

    label: str
    own: list[NotebookNode] = field(default_factory=list)  # code cells before the solution
    solution: list[NotebookNode] = field(default_factory=list)  # cells of the solution


class Splitter:
    """Reads a chapter's cells in order, and keeps solutions apart from the rest."""

    def __init__(self, chapter: str):
        self.chapter = chapter
        self.kept: list[NotebookNode] = []
        self.exercises: dict[str, Exercise] = {}
        self.current: Exercise | None = None  # the last exercise that began
        self.inside = ""  # the label of the solution that is open
        self.fence = ""  # the colons that end the directive that is open
        self.closes = False  # whether the solution ends with it

    def fail(self, what: str) -> NoReturn:
        raise Misplaced(f"{self.chapter}: {what}")

    def add(self, cell: NotebookNode) -> None:
        if cell.cell_type != "code":
            kept = []
            hidden = {}
            for line in cell.source.splitlines():
                of = self.inside
                if self.line(line):
                    hidden.setdefault(of or self.inside, []).append(line)
                else:
                    kept.append(line)
            for label, lines in hidden.items():
                part = NotebookNode(cell | {"source": "\n".join(lines)})
                self.exercises[label].solution.append(part)
            if hidden:
                cell = NotebookNode(cell | {"source": "\n".join(kept).strip()})
            if cell.source:
                self.kept.append(cell)
        elif self.inside:
            self.exercises[self.inside].solution.append(cell)
        else:
            self.kept.append(cell)
            if self.current:
                self.current.own.append(cell)

    def line(self, line: str) -> bool:
        """Whether a line belongs to a solution."""
        hidden = bool(self.inside)
        begins = FENCE.match(line)
        if begins and not (hidden and self.fence):
            return self.begin(*begins.groups())
        if self.fence and line.rstrip() == self.fence:
            self.fence = ""
            if self.closes:
                self.inside = ""
        elif not hidden and self.current and not self.current.label and LABEL.match(line):
            self.current.label = LABEL.match(line)[1]
            self.exercises[self.current.label] = self.current
        return hidden

    def begin(self, fence: str, kind: str, label: str) -> bool:
        """A directive begins."""
        if kind == "exercise":
            if self.inside:
                self.fail(f"an exercise begins in the solution of {self.inside}, which has no end")
            self.current = Exercise("")
        elif kind == "solution-end":
            if not self.inside:
                self.fail("a solution ends that never began")
        elif self.inside:
            self.fail(f"the solution of {label} begins in that of {self.inside}")
        elif label not in self.exercises:
            self.fail(f"a solution of {label or '(no label)'}, and no such exercise before it")
        else:
            self.inside = label
            self.current = None
        self.fence = fence
        self.closes = kind in ("solution", "solution-end")
        return kind != "exercise"


def split(notebook: NotebookNode, chapter: str) -> Splitter:
    """A chapter without its solutions (`kept`), and its `exercises` with theirs."""
    reader = Splitter(chapter)
    for cell in notebook.cells:
        reader.add(cell)
    if reader.inside:
        reader.fail(f"the solution of {reader.inside} has no end")
    return reader


# ---------------------------------------------------------------------------- mechanisms


def blank(source: str, label: str = "") -> str:
    """A mechanism's cell with the marked bodies left blank; signature and docstring stay."""
    lines = source.splitlines()
    tree = ast.parse(source)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    marked = [number for number, line in enumerate(lines, 1) if HERE in line]
    if not marked:
        raise Misplaced(f"{label}: its cell calls check(...), and no line says '{HERE}'")
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


def parse(source: str) -> ast.Module:
    """A cell's code, with `pass` in place of IPython's magics."""
    return ast.parse(re.sub(r"^(\s*)[%!]+\w.*", r"\1pass", source, flags=re.MULTILINE))


class Generators(ast.NodeTransformer):
    """Comprehensions as generators: since Python 3.12 only these have names of their own."""

    def visit_ListComp(self, node: ast.ListComp | ast.SetComp) -> ast.GeneratorExp:
        self.generic_visit(node)
        return ast.GeneratorExp(node.elt, node.generators)

    visit_SetComp = visit_ListComp

    def visit_DictComp(self, node: ast.DictComp) -> ast.GeneratorExp:
        pair = ast.Tuple([node.key, node.value], ast.Load())
        return self.visit_ListComp(ast.ListComp(pair, node.generators))


def names(source: str) -> tuple[set[str], set[str]]:
    """The names that a cell defines, and those that it needs from cells before it."""
    tree = Generators().visit(parse(source))
    top = symtable.symtable(ast.unparse(tree), "cell", "exec")
    symbols = top.get_symbols()
    defined = {s.get_name() for s in symbols if s.is_assigned() or s.is_imported()}
    used = {s.get_name() for s in symbols if s.is_referenced()}
    tables = list(top.get_children())
    while tables:
        table = tables.pop()
        tables += table.get_children()
        outer = [s for s in table.get_symbols() if s.is_global()]
        defined |= {s.get_name() for s in outer if s.is_assigned()}  # := in a comprehension
        used |= {s.get_name() for s in outer if s.is_referenced()}
    return defined, used - defined - set(dir(builtins))


@dataclass
class Mechanism:
    """An exercise that asks for a mechanism, and what is needed to check an answer."""

    chapter: str
    label: str
    name: str  # what the learner defines
    cell: str  # its blank and its check, as in the chapter
    solution: str  # the cell that passes the check
    context: list[str]  # the cells before it that it needs, in order
    lacking: set[str]  # names that no cell before it defines

    def program(self, answer: str) -> str:
        """Code that checks an answer; it prints "correct" at the end if it passes.

        The answer has global names of its own: whatever it defines, the check does not see it.
        """
        book = "\n\n".join([*self.context, without_call(blank(self.cell, self.label))])
        given = last_call(self.cell).removeprefix("check(").removesuffix(")")
        return f"""\
book = {{"__name__": "__main__"}}
exec({book!r}, book)
theirs = book.copy()
exec({answer!r}, theirs)
book["check"](eval({given!r}, theirs))
"""

    def filled_in(self) -> str:
        """The answer that the solution is: its cell, and the learner's name for it."""
        return f"{without_call(self.solution)}\n\n{self.name} = {checked(self.solution)}"


def without_call(source: str) -> str:
    return source.rstrip().rpartition("\n")[0]


def last_call(source: str) -> str:
    return source.rstrip().rpartition("\n")[2]


def checked(source: str) -> str:
    """The name in a cell's last ``check(name)``, or ``check(name())``; empty if it has none."""
    found = re.fullmatch(r"check\((\w+)(?:\(\))?\)", last_call(source))
    return found[1] if found else ""


def needed(source: str, before: list[NotebookNode]) -> tuple[list[str], set[str]]:
    """The cells before a cell without which it cannot run, and the names that none defines."""
    lacking = names(source)[1]
    chosen = []
    for cell in reversed(before):
        defined, used = names(cell.source)
        if defined & lacking:
            chosen.insert(0, cell.source)
            lacking = (lacking - defined) | used
    return chosen, lacking


def mechanisms(notebook: NotebookNode, chapter: str) -> list[Mechanism]:
    """The mechanisms of a chapter, in its order."""
    found = []
    reader = split(notebook, chapter)
    for exercise in reader.exercises.values():
        for cell in exercise.own:
            if not checked(cell.source):
                continue
            solution = next((c.source for c in exercise.solution if checked(c.source)), "")
            if not solution:
                reader.fail(f"no cell in the solution of {exercise.label} ends with check(...)")
            code = [c for c in reader.kept if c.cell_type == "code"]
            before = code[: next(i for i, c in enumerate(code) if c is cell)]
            where = (chapter, exercise.label, checked(cell.source), cell.source, solution)
            found.append(Mechanism(*where, *needed(cell.source, before)))
    return found
