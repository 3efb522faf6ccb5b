"""Give a copy of the book its address: in `_config.yml`, and in the Colab cell of every chapter.

    python tools/publish.py https://github.com/someone/somewhere --branch main
    python tools/publish.py --check https://github.com/someone/somewhere

Nothing is executed: the stored outputs stay valid.
"""

import argparse
import re
import sys
from pathlib import Path

import nbformat
from colab import ROOT, put_cell, repository, stamp_config
from notebooks import chapters, write


def publish(address: str, branch: str = "main", root: Path = ROOT) -> list[Path]:
    """Stamp the address; returns the files that changed."""
    config = root / "_config.yml"
    old = config.read_text(encoding="utf8")
    new = stamp_config(old, address, branch)
    config.write_text(new, encoding="utf8", newline="\n")
    changed = [config] if new != old else []
    for path in chapters(root):
        notebook = nbformat.read(path, as_version=4)
        before = nbformat.writes(notebook)
        put_cell(notebook, address)
        if nbformat.writes(notebook) != before:
            write(notebook, path)
            changed.append(path)
    return changed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("address", help="https://github.com/someone/somewhere")
    parser.add_argument("--branch", default="main", help="the branch that is read (default main)")
    parser.add_argument("--check", action="store_true", help="change nothing, compare only")
    options = parser.parse_args()

    address = options.address.removesuffix("/").removesuffix(".git")
    if not re.fullmatch(r"https://github\.com/[\w.-]+/[\w.-]+|file:///\S+", address):
        parser.error(f"{address} is not of the form https://github.com/someone/somewhere")
    if options.check:
        if (stamped := repository()) == address:
            return 0
        print(f"::warning::The book's address is {stamped or 'not set'}, not {address}.", end=" ")
        print(f"Run `make publish REPOSITORY={address}` and commit what it changes.")
        return 0
    for path in publish(address, options.branch):
        print("stamped", path.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
