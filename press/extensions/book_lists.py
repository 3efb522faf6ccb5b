"""Sphinx extension: lists that are collected from the chapters, so that they cannot be wrong.

``{exercise-index}`` lists every exercise by page, with links to it.
``{time-to-learn}`` adds up, for each page, its minutes of reading and those of its exercises.
``{running-times}`` shows the CPU-seconds that each notebook used when it was last executed.
``{claims-list}`` shows the list of the papers' claims, judged by the recorded runs.
``{trained-models} CORPUS`` lists the recorded runs of models of full runs.
"""

from collections.abc import Callable, Iterable
from pathlib import Path

import nbformat
from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from attnmt.book.figures.forest import forest
from attnmt.book.tables import with_range
from attnmt.evidence.claims import KINDS
from attnmt.evidence.plan import TITLES, planned, results_folder
from attnmt.evidence.store import Run, load_run, load_statistics, of_length
from attnmt.evidence.tables import summary, verdict_table
from attnmt.evidence.verdicts import judge
from attnmt.metrics import chrf_of
from press import reading
from press.contents import chapter_numbers, chapters, file_of, listed
from press.extensions.languages import words_on
from press.phrases import line_in_words, plot_in_words

BESIDES = ("another_tutorial", "locking_on", "block_by_numbers")  # and pages with exercises
SHORT = 6  # the first length of a bucket
LONG = {"grammar": 36, "multi30k": 16, "joined": 51, "joined30": 51}


def titled(path: Path, root: Path) -> str:
    """A page's title behind its number, if it has one."""
    number = chapter_numbers(root).get(path.stem)
    return f"{number}. {reading.title(path)}" if number else reading.title(path)


def exercise_index(root: Path) -> list[str]:
    """The exercises of each page that has any, by their numbers and titles."""
    lines = []
    for path in [file_of(page, root) for _, pages in listed(root) for page in pages]:
        if found := reading.exercises(path):
            lines += ["", f"**{titled(path, root)}**", ""]
            lines += [f"- {{ref}}`{one.label}`: {one.title}" for one in found]
    return lines


def time_to_learn(root: Path) -> list[str]:
    """A table of the minutes of each page, and of their sums over the core."""

    def minutes(path: Path) -> tuple[float, int, int]:
        found = reading.exercises(path)
        return reading.reading_minutes(path), len(found), sum(one.minutes for one in found)

    def row(name: str, read: float, number: int, exercises: int) -> str:
        shown = f"{number} | {exercises}" if number else "– | –"
        return f"| {name} | {read:.0f} | {shown} |"

    def pages(paths: Iterable[Path]) -> list[str]:
        return [row(f"[{titled(path, root)}]({path.name})", *minutes(path)) for path in paths]

    head = "| page | to read | exercises | to solve |"
    core = reading.core(root)
    read, number, work = map(sum, zip(*map(minutes, core), strict=True))
    hours = f"**{read / 60:.1f} hours** | {number} | **{work / 60:.0f} hours**"
    total = f"| **the pages above** | {hours} |"
    others = [path for path in chapters(root) if path not in core]
    besides = [path for path in others if path.stem in BESIDES or reading.exercises(path)]
    return [head, "|---|---|---|---|", *pages(core), total, *pages(besides)]


def running_times(root: Path) -> list[str]:
    """A table of the notebooks' CPU-seconds, and their sum."""
    rows, total = [("notebook", "CPU-seconds"), ("---", "---")], 0
    for path in chapters(root):
        stamp = nbformat.read(path, as_version=4).metadata.get("attnmt", {})
        seconds = stamp.get("cpu_seconds")
        rows.append((titled(path, root), "not executed" if seconds is None else f"{seconds:,}"))
        total += seconds or 0
    return [f"| {name} | {shown} |" for name, shown in [*rows, ("all", f"{total:,}")]]


def claims_list(root: Path) -> list[str]:
    """How the list came out; of each kind a forest plot of the tally, and the table, folded."""
    rows = judge()
    lines = summary(rows).splitlines()
    for kind, title in KINDS.items():
        some = [row for row in rows if row.claim.kind == kind]
        tally = forest([row for row in some if row.decision and not row.claim.outside])
        picture = ["````{raw} html", *tally._repr_html_().splitlines(), "````"]
        folded = [f":::{{dropdown}} {kind}. {title} ({len(some)} rows)"]
        above = kind == "A"  # the papers' own comparisons are seen at once
        lines += ["", *(picture + folded if above else folded + picture)]
        lines += ["", *verdict_table(some).splitlines(), ":::"]
    return lines


def trained_models(root: Path, corpus: str) -> list[str]:
    """A table of the recorded runs on a corpus, and how its BLEU was measured."""
    groups: dict[str, list[Run]] = {}
    for path in sorted((root / "results").glob(f"*-{corpus}-*.json")):
        run = load_run(path.stem, path.parent)
        groups.setdefault(run.name.rsplit("-", 2)[0], []).append(run)
    systems = dict.fromkeys([*TITLES, *(system for system, *_ in planned().values())])
    (one, *_) = next(iter(groups.values()))
    last = {bucket.shortest: bucket.longest for bucket in one.by_length}
    lengths = [f"{first} to {last[first]} words" for first in (SHORT, LONG[corpus])]
    chrf = {system: chrf_scores(runs) for system, runs in groups.items()}
    scores = ["BLEU", "chrF"] if any(chrf.values()) else ["BLEU"]
    header = ["model", "seeds", "updates", *scores, *lengths, "AER", "CPU-seconds"]
    lines = [f"| {' | '.join(header)} |", "|---" * len(header) + "|"]
    for system in filter(groups.get, systems):
        found = groups[system]
        cells = [
            TITLES.get(system, f"`{system}`"),
            str(len(found)),
            f"{found[0].history.curve[-1].updates:,}",
            with_range(run.bleu.score for run in found),
            *([with_range(chrf[system])] if any(chrf.values()) else []),
            with_range(of_length(run, SHORT) for run in found),
            with_range(of_length(run, LONG[corpus]) for run in found),
            with_range((run.aer for run in found), digits=3),
            with_range((run.history.cpu_seconds for run in found), digits=0),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return [*lines, "", f"BLEU: `{one.bleu.signature}`"]


def chrf_scores(runs: Iterable[Run]) -> list[float]:
    """chrF on the test set, of the runs whose characters were counted."""
    counted = [
        run.name for run in runs if (results_folder() / "counts" / f"{run.name}.npz").exists()
    ]
    sums = [load_statistics(name)["test_chrf"].sum(axis=0) for name in counted]
    return [float(chrf_of(one)) for one in sums]


LISTS: dict[str, tuple[str, str, Callable]] = {  # its files, its class, and its lines of Markdown
    "exercise-index": ("book/*", "exercise-index", exercise_index),
    "time-to-learn": ("book/*", "time-to-learn", time_to_learn),
    "running-times": ("book/*", "running-times", running_times),
    "claims-list": ("results/**/*", "claims-list", claims_list),
    "trained-models": ("results/*.json", "wide-table", trained_models),
}


class MarkdownList(SphinxDirective):
    """A list of `LISTS`, which the page depends on."""

    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        root = Path(self.env.srcdir)
        files, classes, lines = LISTS[self.name]
        for path in root.glob(files):
            self.env.note_dependency(str(path))
        words = words_on(self.env.docname, self.config, root)
        text = "\n".join(line_in_words(line, words) for line in lines(root, *self.arguments))
        text = plot_in_words(text, words)
        parent = nodes.container("", classes=classes.split())
        self.state.nested_parse(StringList(text.split("\n")), self.content_offset, parent)
        return [parent]


def setup(app: Sphinx) -> dict:
    for name in LISTS:
        app.add_directive(name, MarkdownList)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
