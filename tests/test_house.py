"""The house rules: who may import whom, how long things may be, how code is written."""

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from press.tree import copy_tree

ROOT = Path(__file__).resolve().parents[1]
GRAMMAR = ROOT / "src" / "attnmt" / "grammar"
ROOMS = ("src", "studies", "press", "benchmarks")
MODULES = sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py"))
each_module = pytest.mark.parametrize(
    "path", MODULES, ids=lambda path: path.relative_to(ROOT).as_posix()
)
# of the grammar, and of the file that keeps what it made
GRAMMAR_LIMITS = {"__init__.py": 700, "store.py": 130}
FUNCTION_LIMIT = 40
POSITIONAL = 3  # arguments; from the fourth on they have names


# --- what is counted


def lines_of_code(source: str) -> set[int]:
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
    return lines


def test_lines_of_code_are_counted():
    source = (
        '"""Doc."""\n\n# note\nx = 1  # one\n\n\n'
        'def f():\n    """Doc\n    more."""\n    return (\n        1\n    )\n'
    )
    assert len(lines_of_code(source)) == 5


def functions(source: str) -> Iterator[tuple[str, int]]:
    """Every function and method, with its lines of code."""
    lines = lines_of_code(source)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, sum(node.lineno <= line <= node.end_lineno for line in lines)


def pairings(source: str) -> Iterator[str]:
    """Assignments of several things at once, where each could have a line; a swap could not."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Tuple):
            for target in node.targets:
                if isinstance(target, ast.Tuple):
                    names = {ast.unparse(one) for one in target.elts}
                    if names != {ast.unparse(one) for one in node.value.elts}:
                        yield ast.unparse(node)


def taking_many(sources: list[str]) -> set[str]:
    """Our functions and classes that take more arguments than may stand without a name."""
    found = set()
    for source in sources:
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.FunctionDef) and not node.args.vararg:
                if len(node.args.posonlyargs + node.args.args) > POSITIONAL:
                    found.add(node.name)
            elif isinstance(node, ast.ClassDef):
                fields = [one for one in node.body if isinstance(one, ast.AnnAssign)]
                inits = [one for one in node.body if getattr(one, "name", "") == "__init__"]
                if len(fields) > POSITIONAL or any(len(i.args.args) > POSITIONAL for i in inits):
                    found.add(node.name)
    return found


def long_calls(source: str, ours: set[str]) -> Iterator[str]:
    """Calls of these names with more arguments than may stand without a name."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            given = [one for one in node.args if not isinstance(one, ast.Starred)]
            if name in ours and len(given) > POSITIONAL:
                yield ast.unparse(node)


def test_functions_are_measured():
    source = (
        'class A:\n    def f(self):\n        """Doc."""\n        # note\n        return """\na"""\n'
    )
    assert list(functions(source)) == [("f", 3)]


def test_pairings_are_seen():
    source = "a, b = b, a\na, b = 1, 2\na, b = f()\n(a, b), c = (1, 2), 3\na = 1, 2\n"
    assert list(pairings(source)) == ["a, b = (1, 2)", "(a, b), c = ((1, 2), 3)"]


def test_long_calls_are_seen():
    ours = taking_many(
        ["def f(a, b, c, d): ...", "def g(*a): ...", "class C:\n a: int\n b: int\n c: int\n d: int"]
    )
    assert ours == {"f", "C"}
    source = (
        "f(1, 2, 3, 4)\nf(1, 2, 3, d=4)\nx.f(1, 2, 3, 4)\nf(*a, 1)\ng(1, 2, 3, 4)\nC(1, 2, 3, 4)"
    )
    assert sorted(long_calls(source, ours)) == ["C(1, 2, 3, 4)", "f(1, 2, 3, 4)", "x.f(1, 2, 3, 4)"]


# --- the rules


def lint_imports(folder: Path) -> subprocess.CompletedProcess:
    command = "import sys; sys.path[:0] = ['.', 'src']; import importlinter.cli as c; "
    command += "sys.exit(c.lint_imports(no_cache=True))"
    return subprocess.run(
        [sys.executable, "-c", command], cwd=folder, capture_output=True, text=True
    )


def test_imports_run_one_way():
    done = lint_imports(ROOT)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("src/attnmt/vocab.py", "from attnmt.model import Translator"),
        ("src/attnmt/metrics.py", "import attnmt.evidence.runs"),
        ("src/attnmt/grammar/__init__.py", "import attnmt.vocab"),
        ("src/attnmt/evidence/runs.py", "import studies.study"),
        ("press/slides.py", "import studies.study"),
        ("src/attnmt/new.py", '"""A module without a place in the order."""'),
    ],
)
def test_an_import_the_other_way_is_refused(tmp_path, file, line):
    others = [path for path in ROOT.iterdir() if path.name not in ("src", "press", "studies")]
    copy_tree(tmp_path, besides=[path for path in others if path.name != "pyproject.toml"])
    with (tmp_path / file).open("a", encoding="utf8") as changed:
        changed.write(f"\n{line}\n")
    done = lint_imports(tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    assert Path(file).stem.replace("__init__", "attnmt.grammar") in done.stdout


def test_the_grammar_knows_nothing_of_attention_and_stays_small():
    assert {path.name for path in GRAMMAR.glob("*.py")} == set(GRAMMAR_LIMITS)
    for name, limit in GRAMMAR_LIMITS.items():
        source = (GRAMMAR / name).read_text("utf8")
        assert "torch" not in source
        assert len(lines_of_code(source)) < limit


@pytest.fixture(scope="module")
def ours() -> set[str]:
    """What of ours takes many arguments."""
    return taking_many([path.read_text("utf8") for path in MODULES])


@each_module
def test_functions_are_short(path):
    found = dict(functions(path.read_text("utf8")))
    assert {name: lines for name, lines in found.items() if lines > FUNCTION_LIMIT} == {}


@each_module
def test_one_assignment_assigns_one_thing(path):
    assert list(islice(pairings(path.read_text("utf8")), 3)) == []


@each_module
def test_from_the_fourth_on_arguments_have_names(path, ours):
    assert list(islice(long_calls(path.read_text("utf8"), ours), 3)) == []


def test_readme_commands_are_targets():
    makefile = (ROOT / "Makefile").read_text(encoding="utf8")
    targets = set(re.findall(r"^(\w+):", makefile, flags=re.MULTILINE))
    readme = (ROOT / "README.md").read_text(encoding="utf8")
    commands = set(re.findall(r"\bmake (\w+)", readme))
    assert {"book", "test"} <= commands
    assert commands <= targets
