"""The recorded runs side by side: mean over the seeds, and half their spread.

Usage: python -m press.table
"""

from collections.abc import Sequence
from statistics import mean

from attnmt.evidence.folders import results_folder
from attnmt.evidence.plan import read_plan
from attnmt.evidence.store import Run, load_run

SHORT = (4, 10)  # source words
LONG = (31, 40)


def within(run: Run, bounds: tuple[int, int]) -> float:
    """BLEU on the sentences of some lengths: the mean over buckets of as many sentences each."""
    inside = [b for b in run.by_length if b.longest >= bounds[0] and b.longest <= bounds[1]]
    return mean(bucket.bleu.score for bucket in inside)


def cell(values: Sequence[float | None], digits: int = 1) -> str:
    """Mean ± half of the range, or a dash."""
    if None in values:
        return "–"
    spread = (max(values) - min(values)) / 2
    return f"{mean(values):.{digits}f} ± {spread:.{digits}f}"


def main() -> None:
    """Print one table a corpus."""
    plan = read_plan()
    folder = results_folder()
    for corpus in plan["corpora"]:
        print(f"\n{corpus}\n")
        head = "system | seeds | BLEU | 4–10 words | 31–40 words | perplexity | AER | CPU-seconds"
        print(f"| {head} |\n|{'---|' * 8}")
        signature = "none yet"
        for system in plan["systems"]:
            found = sorted(folder.glob(f"{system}-{corpus}-?.json"))
            runs = [load_run(path.stem) for path in found]
            if not runs:
                continue
            signature = runs[0].bleu.signature
            by_length = corpus == "grammar"
            row = [
                system,
                str(len(runs)),
                cell([run.bleu.score for run in runs]),
                cell([within(run, SHORT) if by_length else None for run in runs]),
                cell([within(run, LONG) if by_length else None for run in runs]),
                cell([run.test_perplexity for run in runs], 2),
                cell([run.aer for run in runs], 3),
                cell([run.history.cpu_seconds for run in runs], 0),
            ]
            print(f"| {' | '.join(row)} |")
        print(f"\nBLEU: {signature}")


if __name__ == "__main__":
    main()
