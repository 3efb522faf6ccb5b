"""Beyond one machine: training by several processes, and corpora that do not fit into memory.

Both need libraries that the book itself does without: ``pip install 'attnmt[scale]'`` brings
Accelerate and datasets. The modules are

- :mod:`attnmt.scale.processes`: training and measuring by several processes, over Accelerate
- :mod:`attnmt.scale.streams`: a corpus that is read as it is needed, over datasets
- :mod:`attnmt.scale.survey`: what one pass over such a corpus finds: its vocabularies and sizes
- :mod:`attnmt.scale.shards`: the files of a corpus, line by line
"""

import os
from pathlib import Path

RECIPE_FILES = Path(__file__).with_name("recipes")
INSTALL = "python -m pip install 'attnmt[scale]'"


def recipe_file(name: str) -> Path | None:
    """The configuration file of a paper at its own size, or None if there is none of that name."""
    path = RECIPE_FILES / f"{name}.yaml"
    return path if path.is_file() else None


def process_count() -> int:
    """How many processes a launcher (torchrun, accelerate launch) has started for this command."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def is_first() -> bool:
    """Whether this is the process that prints and writes files."""
    return os.environ.get("RANK", "0") == "0"
