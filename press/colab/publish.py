"""Give a copy of the book its address: in `_config.yml`, and in the Colab cell of every chapter.

    python -m press.colab.publish https://github.com/someone/somewhere
    python -m press.colab.publish https://github.com/someone/somewhere --branch course
    python -m press.colab.publish --check https://github.com/someone/somewhere

Nothing is executed: the stored outputs stay valid.
"""

import argparse
import os
import re
import sys
from pathlib import Path

import nbformat

from press.colab.cell import put_cell, source, stamp_config, stamped
from press.contents import ROOT, chapters
from press.run.outputs import write


def publish(address: str, branch: str = "", root: Path = ROOT) -> list[Path]:
    """Stamp the address, and the branch if one is given; returns the files that changed."""
    config = root / "_config.yml"
    old = config.read_text(encoding="utf8")
    new = stamp_config(old, address, branch or stamped(root)["branch"])
    config.write_text(new, encoding="utf8", newline="\n")
    changed = [config] if new != old else []
    for path in chapters(root):
        notebook = nbformat.read(path, as_version=4)
        before = nbformat.writes(notebook)
        put_cell(notebook, source(root))
        if nbformat.writes(notebook) != before:
            write(notebook, path)
            changed.append(path)
    return changed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("address", help="https://github.com/someone/somewhere")
    parser.add_argument("--branch", default="", help="the branch that is read (default: as it is)")
    parser.add_argument("--check", action="store_true", help="change nothing, compare only")
    options = parser.parse_args()

    address = options.address.removesuffix("/").removesuffix(".git")
    if not re.fullmatch(r"https://github\.com/[\w.-]+/[\w.-]+|file:///\S+", address):
        parser.error(f"{address} is not of the form https://github.com/someone/somewhere")
    if not re.fullmatch(r"[\w./-]*", options.branch):
        parser.error(f"{options.branch} is no name of a branch")
    if options.check:
        branch = options.branch or stamped()["branch"]
        if source() != f"{address}@{branch}":
            mark = "::warning::" if "GITHUB_ACTIONS" in os.environ else ""
            print(f"{mark}The book's address is {source() or 'not set'}:", end=" ")
            print(f"run `make publish REPOSITORY={address} BRANCH={branch}`, and commit.")
        return 0
    for path in publish(address, options.branch):
        print("stamped", path.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
