"""Run stages of the check one after the other, whatever comes of each, and say how they went.

    python -m press.run.check lint unit strict

A stage is a target of the Makefile. The exit code is 1 if one of them failed.
"""

import os
import subprocess
import sys
import time
from collections.abc import Sequence


def main(stages: Sequence[str]) -> int:
    make = os.environ.get("MAKE", "make")
    rows = []
    for stage in stages:
        began = time.monotonic()
        code = subprocess.run([make, "--no-print-directory", stage]).returncode
        rows.append((stage, time.monotonic() - began, "passed" if code == 0 else "FAILED"))
    print(f"\n{'stage':12}{'seconds':>8}")
    for stage, seconds, result in rows:
        print(f"{stage:12}{seconds:8.0f}  {result}")
    print(f"{'in all':12}{sum(seconds for _, seconds, _ in rows):8.0f}")
    return int(any(result == "FAILED" for _, _, result in rows))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
