"""Python as the pages have it: cells with magics, and code that is shown without docstrings."""

import ast
import re
import textwrap

MAGICS = re.compile(
    r"^(?P<before>[ \t]*)(?:%+\w|!+\s*\w|\?+\w|[\w.]+\?+\s*$).*"  # %time f(1), !pip list, torch.nn?
    r"|^(?P<kept>[ \t]*[\w, ]+=\s*)[%!]+\s*\w.*",  # names = !ls
    flags=re.MULTILINE,
)


def without_magics(source: str) -> str:
    """A cell's code, with `pass` or `None` in place of IPython's magics."""
    return MAGICS.sub(
        lambda found: f"{found['kept']}None" if found["kept"] else f"{found['before']}pass", source
    )


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
