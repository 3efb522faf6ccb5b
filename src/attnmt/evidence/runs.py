"""What pages of the earlier edition still ask for. It goes with them."""

import json
import tomllib
from contextlib import suppress
from pathlib import Path
from typing import Any

from attnmt.evidence import store
from attnmt.evidence.folders import results_folder
from attnmt.evidence.plan import TITLES, planned  # noqa: F401
from attnmt.evidence.record import aer_of, record, translate_sample  # noqa: F401
from attnmt.evidence.store import Run, load_run, load_statistics, of_length  # noqa: F401


def undertrained_folder() -> Path:
    return results_folder() / "undertrained"


def undertrained_plan() -> dict[str, Any]:
    return tomllib.loads((undertrained_folder() / "runs.toml").read_text(encoding="utf-8"))


def undertrained(name: str) -> Run:
    return load_run(name, undertrained_folder())


def recorded(system: str, corpus_name: str = "grammar") -> list[Run]:
    runs = []
    for seed in undertrained_plan()["seeds"]:
        with suppress(FileNotFoundError):
            runs.append(undertrained(f"{system}-{corpus_name}-{seed}"))
    return runs


def read_study(name: str) -> dict[str, Any]:
    kept = undertrained_folder() / "studies" / f"{name}.json"
    if kept.exists():
        return json.loads(kept.read_text(encoding="utf-8"))
    return store.read_study(name)
