"""The peers' own code, made importable from a folder that ``ATTNMT_PEERS`` names.

The folder holds the packages ``joeynmt`` and ``onmt`` as their wheels hold them, and
``annotated_encoder_decoder.ipynb``. What is not there is skipped, with the reason. Packages that
the peers import but do not need for models, losses and search are stood in for by empty ones.
"""

import importlib.abc
import json
import logging
import os
import sys
import warnings
from importlib import import_module
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

FOLDER = Path(os.environ.get("ATTNMT_PEERS", "peers"))
ANNOTATED = FOLDER / "annotated_encoder_decoder.ipynb"
ANNOTATED_CELLS = (6, 8, 10, 12, 14, 17, 21, 30)  # that define the model, its batch and its loss
PACKAGES = {"JoeyNMT": "joeynmt.model", "OpenNMT-py": "onmt.models.model"}
NOT_NEEDED = (
    "ahocorasick", "apex", "ctranslate2", "fasttext", "flask", "pythainlp", "rapidfuzz", "spacy",
    "tensorboard", "waitress",
)  # fmt: skip


class Empty(ModuleType):
    """A module in which every name is an empty class."""

    def __getattr__(self, name: str) -> type:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds an empty module for each of the packages in ``NOT_NEEDED``: it is asked last."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        needed = name.split(".")[0] not in NOT_NEEDED
        return None if needed else ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return Empty(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Nothing to execute."""


def prepare() -> None:
    """Let Python find the peers."""
    warnings.filterwarnings("ignore")
    logging.disable(logging.INFO)
    sys.meta_path.append(Finder())
    sys.modules.setdefault("torch.utils.tensorboard", Empty("torch.utils.tensorboard"))
    sys.path.insert(0, str(FOLDER))


def absent(name: str) -> str | None:
    """Why a peer cannot take part; None if it can."""
    if name == "Annotated E-D" and not ANNOTATED.exists():
        return f"no {ANNOTATED.name} in the folder that ATTNMT_PEERS names"
    try:
        if name in PACKAGES:
            import_module(PACKAGES[name])
    except ImportError as error:
        return f"{error} (ATTNMT_PEERS names the folder with its package)"
    return None


def annotated() -> SimpleNamespace:
    """What the notebook's cells define."""
    cells = json.loads(ANNOTATED.read_text(encoding="utf-8"))["cells"]
    space: dict = {}
    exec(
        "import numpy as np, torch, math, copy, time, torch.nn as nn, torch.nn.functional as F\n"
        "from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence\n"
        "USE_CUDA = False",
        space,
    )
    for number in ANNOTATED_CELLS:
        exec("".join(cells[number]["source"]), space)
    return SimpleNamespace(**space)
