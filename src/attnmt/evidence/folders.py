"""Where the book's files lie: in a checkout of the repository, or inside the installed package.

The package that a release offers is without them: recorded runs and trained models are forty times
its size. One that was installed from the repository has them, as in Colab.
"""

from pathlib import Path

CHECKOUT = Path(__file__).parents[3]
LACKING = (
    "the installed package has no {}, which come with the book: install it from the book's "
    "repository, by `pip install .` there"
)


def results_folder() -> Path:
    """Where recorded runs lie: in the repository, or inside the installed package.

    Raises:
        FileNotFoundError: the package was installed without them.
    """
    for folder in (CHECKOUT / "results", Path(__file__).parent / "results"):
        if folder.is_dir():
            return folder
    raise FileNotFoundError(LACKING.format("recorded runs"))
