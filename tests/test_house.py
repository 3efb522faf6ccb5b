"""The house rules: who may import whom, how long the package may be, what the README promises."""

import ast
import io
import re
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "attnmt"
MODULES = sorted(PACKAGE.rglob("*.py"))

# Each module imports only from those before it.
ORDER = [
    "checks",
    "files",
    "vocab",
    "corpus",
    "batches",
    "encoder",
    "attention",
    "decoder",
    "model",
    "decoding",
    "metrics",
    "training",
]
LIMIT = 2_000  # lines of code: no docstrings, comments or blanks
GRAMMAR = ROOT / "src" / "attnmt_grammar"
# The controlled corpus's grammar stands apart: it knows nothing of attention.
GRAMMAR_LIMITS = {"__init__.py": 600, "store.py": 120}


def imports(source: str) -> set[str]:
    """The modules of attnmt that a module imports, also inside functions; "" is attnmt itself."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = "attnmt" if node.level else node.module or ""
            base = f"{base}.{node.module}" if node.level and node.module else base
            below = [f"{base}.{alias.name}" for alias in node.names]
            names = below if base == "attnmt" else [base]
        else:
            continue
        for name in names:
            package, _, rest = name.partition(".")
            if package == "attnmt":
                module = rest.partition(".")[0]
                found.add(module if module in ORDER else "")
    return found


def lines_of_code(source: str) -> int:
    """Lines that hold code: blank lines, comments and docstrings do not count."""
    skipped = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in (*skipped, tokenize.ENDMARKER):
            lines.update(range(token.start[0], token.end[0] + 1))
    scopes = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, scopes) and ast.get_docstring(node, clean=False) is not None:
            lines.difference_update(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    return len(lines)


def test_imports_are_seen():
    source = (
        "import attnmt\nimport attnmt.vocab as v\nfrom attnmt.model import A\n"
        "from .metrics import B\nfrom . import files\nimport torch\nfrom numpy import array\n"
        "def f():\n    from attnmt import batches, Pair\n"
    )
    assert imports(source) == {"", "vocab", "model", "metrics", "files", "batches"}


def test_lines_of_code_are_counted():
    source = (
        '"""Doc."""\n\n# note\nx = 1  # one\n\n\n'
        'def f():\n    """Doc\n    more."""\n    return (\n        1\n    )\n'
    )
    assert lines_of_code(source) == 5


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_modules_import_only_from_those_above(path):
    if path.name == "__init__.py":
        return
    assert path.stem in ORDER, f"{path.name} has no place in ORDER: give it one"
    above = ORDER[: ORDER.index(path.stem)]
    for module in imports(path.read_text(encoding="utf8")):
        assert module in above, f"{path.name} imports attnmt.{module}, which is not above it"


def test_the_package_stays_small():
    lengths = {path.name: lines_of_code(path.read_text(encoding="utf8")) for path in MODULES}
    assert sum(lengths.values()) < LIMIT, lengths


def test_the_grammar_stands_on_its_own_and_stays_small():
    assert {path.name for path in GRAMMAR.glob("*.py")} == set(GRAMMAR_LIMITS)
    for name, limit in GRAMMAR_LIMITS.items():
        source = (GRAMMAR / name).read_text(encoding="utf8")
        assert imports(source) == set()
        assert "torch" not in source
        assert lines_of_code(source) < limit


def test_readme_commands_are_targets():
    makefile = (ROOT / "Makefile").read_text(encoding="utf8")
    targets = set(re.findall(r"^(\w+):", makefile, flags=re.MULTILINE))
    readme = (ROOT / "README.md").read_text(encoding="utf8")
    commands = set(re.findall(r"\bmake (\w+)", readme))
    assert {"book", "test"} <= commands
    assert commands <= targets
