"""Python as the pages have it: cells with magics, and code that is shown without docstrings."""

import ast
import re
import textwrap


def without_magics(source: str) -> str:
    """A cell's code, with `pass` in place of IPython's magics."""
    return re.sub(r"^(\s*)[%!]+\w.*", r"\1pass", source, flags=re.MULTILINE)


def parse(source: str) -> ast.Module:
    """The tree of a cell's code, with `pass` in place of IPython's magics."""
    return ast.parse(without_magics(source))


def without_docstrings(source: str) -> list[str]:
    """The lines of a piece of code, without its docstrings."""
    source = textwrap.dedent(source).strip()
    lines = source.splitlines()
    for node in ast.walk(parse(source)):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node):
            first = node.body[0]
            size = first.end_lineno - first.lineno + 1
            lines[first.lineno - 1 : first.end_lineno] = [None] * size
    return [line for line in lines if line is not None]
