"""Where the book's files lie: in a checkout of the repository, or inside the installed package."""

from pathlib import Path

CHECKOUT = Path(__file__).parents[3]


def results_folder() -> Path:
    """Where recorded runs lie: in the repository, or inside the installed package."""
    checkout = CHECKOUT / "results"
    return checkout if checkout.is_dir() else Path(__file__).parent / "results"
