"""Say which notebooks are too large to be read on a web site: `python -m press.sizes FILE ...`."""

import sys
from collections.abc import Sequence
from pathlib import Path

MOST = 1_000_000  # bytes


def too_large(path: Path) -> bool:
    """Whether a notebook is larger than a web site shows."""
    return path.stat().st_size >= MOST


def main(arguments: Sequence[str]) -> int:
    """Name those that are too large; returns the exit code."""
    found = [path for path in map(Path, arguments) if too_large(path)]
    for path in found:
        print(f"{path} has {path.stat().st_size:,} bytes, and less than {MOST:,} are allowed:")
        print("make its pictures smaller, or store fewer of them")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
