"""Draw the figure of the book's first page from a recorded run: book/figures/cover.svg.

    python -m press.cover

The sentence is our own, one of the samples in results/runs.toml. The file's title and description
say what it shows; a test compares them with the run.
"""

from pathlib import Path

import matplotlib.pyplot as plt

from attnmt.book.figures import plots
from attnmt.evidence.store import SampleTranslation, load_run
from press.contents import ROOT

COVER = ROOT / "book" / "figures" / "cover.svg"
RUN = "luong-bidirectional-grammar-1"
SAMPLE = 1


def sample() -> SampleTranslation:
    """The sentence, its translation and its alignment."""
    return load_run(RUN).samples[SAMPLE]


def description(shown: SampleTranslation) -> str:
    """What the figure shows, in words."""
    return f"{' '.join(shown.source)} -> {' '.join(shown.words)} (recorded run {RUN})"


def draw(path: Path = COVER) -> Path:
    """Draw the heat map; the same bytes each time with the same version of Matplotlib."""
    shown = sample()
    # letters as outlines: the figure looks the same whatever fonts a reader has
    outlines = {"svg.hashsalt": "attnmt", "svg.fonttype": "path", "font.size": 12}
    with plt.rc_context():
        plots.theme()
        plt.rcParams.update(outlines)
        figure, ax = plt.subplots(figsize=(5.8, 4.5), layout="constrained")
        plots.alignment(shown.source, shown.words, shown.alignment, ax=ax)
        ax.set(xlabel="the German sentence", ylabel="its translation, as it is written")
        ax.tick_params(labelsize=12)
        figure.savefig(
            path,
            facecolor="white",  # legible on a dark page, too
            metadata={
                "Title": "Attention weights of one translation",
                "Description": description(shown),
                "Date": None,
                "Creator": None,
            },
        )
        plt.close(figure)
    # no spaces at the ends of lines
    lines = path.read_text(encoding="utf-8").splitlines()
    text = "\n".join(line.rstrip() for line in lines) + "\n"
    path.write_text(text, encoding="utf-8", newline="\n")
    return path


if __name__ == "__main__":
    print(draw().name, "shows", description(sample()))
