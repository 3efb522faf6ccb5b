"""Which modules of `src/` a piece of code needs: those that it imports, and those that they import.

A package's `__init__.py` that gathers names stands for the modules that it has them from:
`from attnmt import bleu` needs `attnmt.metrics`, and not the whole package. One may also gather
them by a table `MODULES`, of modules and the names that each has. What a module needs is read from
its text; nothing is imported.
"""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from press.contents import ROOT

SRC = ROOT / "src"


def module_files(src: Path = SRC) -> dict[str, Path]:
    """The modules below a folder by their dotted names, and their files."""
    found = {}
    for path in sorted(src.rglob("*.py")):
        parts = path.relative_to(src).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def asked(source: str) -> list[tuple[str, str]]:
    """What a source imports, also inside functions: (module, name); no name: the module itself."""
    pairs = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            pairs += [(alias.name, "") for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            pairs += [(node.module, alias.name) for alias in node.names]
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "MODULES":
            table = ast.literal_eval(node.value)
            pairs += [(module, name) for module, names in table.items() for name in names.split()]
    return pairs


def needed(source: str, src: Path = SRC) -> dict[str, Path]:
    """The modules below `src` that a source needs, by their names, and their files."""
    files = module_files(src)
    waiting = asked(source)[:]
    found: dict[str, Path] = {}
    while waiting:
        module, name = waiting.pop()
        if f"{module}.{name}" in files:  # from package import module
            module = f"{module}.{name}"
            name = ""
        if module not in files or module in found:
            continue
        there = asked(files[module].read_text(encoding="utf8"))
        gathered = [(a, b) for a, b in there if name and b == name]
        if gathered and files[module].name == "__init__.py":
            waiting += gathered
        else:
            found[module] = files[module]
            waiting += there
    return dict(sorted(found.items()))


def data_files(modules: dict[str, Path]) -> Iterator[Path]:
    """The word lists and checksums beside these modules, or in folders beside them without code."""
    for folder in sorted({path.parent for path in modules.values()}):
        below = [path for path in folder.iterdir() if path.is_dir() and not [*path.glob("*.py")]]
        found = [path for place in (folder, *below) for path in place.iterdir()]
        yield from sorted(path for path in found if path.suffix in (".tsv", ".sha256"))
