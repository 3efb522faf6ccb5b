"""What the studies of this folder share: a store that is filled step by step; the recorded models.

A study's results are one JSON file in ``results/studies/``. It is written anew after every step, so
that a study can be stopped and started again: what is stored is not done a second time.
"""

import json
import platform
from pathlib import Path

import torch

from attnmt import Translator
from attnmt.files import write_aside
from attnmt_book.runs import make

ROOT = Path(__file__).resolve().parents[1]
STUDIES = ROOT / "results" / "studies"
MODELS = ROOT / "_build" / "models"


def versions() -> dict[str, str]:
    """What the numbers depend on, beside the code."""
    return {"python": platform.python_version(), "torch": torch.__version__.split("+")[0]}


def open_store(path: Path, head: dict, *kept: str) -> dict:
    """The store as it stands: ``head``, and what an earlier start left under the names ``kept``.

    Without names, all that it left.

    Raises:
        SystemExit: the file is of another corpus. It is left as it is.
    """
    if not path.exists():
        return head
    old = json.loads(path.read_text(encoding="utf-8"))
    for key in ("corpus", "corpora"):
        if old.get(key) != head.get(key):
            raise SystemExit(f"{path} is of another corpus. Move it away to begin again.")
    kept = kept or tuple(key for key in old if key not in head)
    return head | {key: old[key] for key in kept if key in old}


def save_store(path: Path, store: dict) -> None:
    """Write it aside, then rename it."""
    write_aside(path, json.dumps(store, indent=1, ensure_ascii=False).encode() + b"\n")


def recorded(name: str) -> Translator:
    """The model of a recorded run, trained again where it was not kept."""
    path = MODELS / f"{name}.safetensors"
    if not path.exists():
        make(name, MODELS, progress=False)
    return Translator.load(path)
