"""Processes that have the grammar without PyTorch, which `import attnmt` would bring."""

import os
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[3] / "src"
ALONE = """\
import sys, types
sys.modules["attnmt"] = types.ModuleType("attnmt")
sys.modules["attnmt"].__path__ = [{package!r}]
"""


def start(code: str, source: Path = SOURCE, **environment: str) -> subprocess.Popen:
    """A Python process with the grammar of a folder of sources; what it prints can be read."""
    program = ALONE.format(package=str(source / "attnmt")) + code
    there = os.environ | environment
    return subprocess.Popen([sys.executable, "-c", program], env=there, stdout=subprocess.PIPE)
