"""What the studies of this folder share: how they are started, their store, the recorded models.

A study is a module with a function ``main()``. ``make study NAME=searches`` calls that of
``studies/searches.py``, on one thread, and it fills ``results/studies/searches.json``. The file is
written anew after every step, so that a study can be stopped and started again: what is stored is
not done a second time.
"""

import json
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import torch

from attnmt import Translator
from attnmt.evidence.models import load
from attnmt.evidence.plan import planned, results_folder
from attnmt.evidence.record import make_run, versions
from attnmt.files import write_aside

ROOT = Path(__file__).resolve().parents[1]
STUDIES = ROOT / "results" / "studies"
MODELS = ROOT / "_build" / "models"


def studies() -> list[str]:
    """The names of all studies."""
    files = Path(__file__).parent.glob("*.py")
    shared = ("__init__", "__main__", Path(__file__).stem)
    return sorted(file.stem for file in files if file.stem not in shared)


def start(names: Sequence[str]) -> None:
    """Make the study of that name, on one thread.

    Raises:
        SystemExit: there is none, or none or several were named.
    """
    if len(names) != 1 or names[0] not in studies():
        raise SystemExit(f"Which study? There are: {', '.join(studies())}")
    torch.set_num_threads(1)
    import_module(f"studies.{names[0]}").main()


def store_of(file: str) -> Path:
    """Where a study's results go: the JSON file that has its name. ``file`` is its ``__file__``."""
    return STUDIES / f"{Path(file).stem}.json"


def open_store(path: Path, **settings: Any) -> dict:
    """The store as it stands: what makes it, and whatever else an earlier start left.

    That is the command that makes it again, the versions and the settings.

    Raises:
        SystemExit: the file is of another corpus. It is left as it is.
    """
    head = {"command": f"make study NAME={path.stem}", "versions": versions()} | settings
    if not path.exists():
        return head
    old = json.loads(path.read_text(encoding="utf-8"))
    if old.get("corpus") != head.get("corpus"):
        raise SystemExit(f"{path} is of another corpus. Move it away to begin again.")
    return head | {key: value for key, value in old.items() if key not in head}


def save_store(path: Path, store: dict) -> None:
    """Write it aside, in one line as the recorded runs, then rename it."""
    write_aside(path, json.dumps(store, separators=(",", ":"), ensure_ascii=False).encode() + b"\n")


def recorded_on(corpus: str) -> list[str]:
    """The runs of the plan on a corpus that are recorded."""
    names = [name for name, (_, of, _) in planned().items() if of == corpus]
    return [name for name in names if (results_folder() / f"{name}.json").exists()]


def trained_model(name: str) -> Translator:
    """The model of a recorded run, trained again where it was not kept."""
    path = MODELS / f"{name}.safetensors"
    if not path.exists():
        make_run(name, MODELS, progress=False)
    return load(path)
