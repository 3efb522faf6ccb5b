"""Where the book's files lie: in a checkout of the repository, or inside the installed package."""

from pathlib import Path

CHECKOUT = Path(__file__).parents[2]


def results_folder() -> Path:
    """Where recorded runs lie: in the repository, or inside the installed package."""
    checkout = CHECKOUT / "results"
    return checkout if checkout.is_dir() else Path(__file__).parent / "results"


def chapter(name: str) -> Path:
    """A page of the book, ``NAME.ipynb``. The installed package has none.

    Raises:
        FileNotFoundError: it is not there.
    """
    path = CHECKOUT / "book" / f"{name}.ipynb"
    if not path.is_file():
        raise FileNotFoundError(
            f"there is no {path}: this needs the book's pages, which are in its repository and not "
            "in the installed package"
        )
    return path
