"""Beyond one machine: training by several processes, and corpora that do not fit into memory.

Both need libraries that the book itself does without: ``pip install 'attnmt[scale]'`` brings
Accelerate and datasets. The modules are

- :mod:`attnmt_scale.processes`: one training, shared by processes, over Accelerate
- :mod:`attnmt_scale.evaluation`: perplexity and translations, shared by processes
- :mod:`attnmt_scale.streams`: a corpus that is read as it is needed, over datasets
- :mod:`attnmt_scale.survey`: what one pass over such a corpus finds: its vocabularies and sizes
- :mod:`attnmt_scale.shards`: the files of a corpus, line by line
"""

from pathlib import Path

RECIPES = Path(__file__).with_name("recipes")
INSTALL = "python -m pip install 'attnmt[scale]'"


def recipe_file(name: str) -> Path | None:
    """The configuration file of a paper at its own size, or None if there is none of that name."""
    path = RECIPES / f"{name}.yaml"
    return path if path.is_file() else None
