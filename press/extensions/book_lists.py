"""Sphinx extension: lists that are collected from the chapters, so that they cannot be wrong.

``{exercise-index}`` lists every exercise by page, with links to it and to its solution.
``{time-to-learn}`` adds up, for each page, its minutes of reading and those of its exercises.
``{running-times}`` shows the CPU-seconds that each notebook used when it was last executed.
``{frozen-claims}`` shows the list of the papers' claims, judged by the recorded runs.
``{truth-rule}`` shows how often the rule of the verdicts is right on made-up systems.
``{trained-models} CORPUS`` lists the recorded runs of models that were trained to the end.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import nbformat
from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective

from attnmt.book.tables import with_range
from attnmt.evidence.claims import KINDS, judge, summary, verdict_table
from attnmt.evidence.plan import TITLES
from attnmt.evidence.store import Run, load_run, of_length
from press import reading
from press.contents import chapter_numbers, chapters
from press.editions.said import in_words, line_in_words
from press.extensions.languages import said

# ------------------------------------------------------------------------------ exercises


class ExerciseIndexNode(nodes.General, nodes.Element):
    """Stands for the list until all pages are read."""


class ExerciseIndex(SphinxDirective):
    """``{exercise-index}``"""

    def run(self) -> list[nodes.Node]:
        self.env.note_reread()  # the list belongs to all pages
        return [ExerciseIndexNode()]


def numbered(env: BuildEnvironment, name: str, title: str) -> str:
    """A page's title behind its number, if it has one."""
    number = chapter_numbers(Path(env.srcdir)).get(name)
    return f"{number}. {title}" if number else title


def entry(
    app: Sphinx, page: str, label: str, exercise: dict, solution: dict | None
) -> nodes.list_item:
    """One exercise: its number and title, and its solution."""
    where = exercise["docname"]
    words = app.config.site_words

    def link(place: str, *children: nodes.Node) -> nodes.reference:
        address = f"{app.builder.get_relative_uri(page, where)}#{place}"
        return nodes.reference("", "", *children, internal=True, refuri=address)

    numbers = app.env.toc_fignumbers.get(where, {}).get("exercise", {}).get(label, ())
    name = in_words(" ".join(["Exercise", ".".join(map(str, numbers))]).strip(), words)
    children: list[nodes.Node] = [nodes.Text(name)]
    title = exercise["node"].next_node(nodes.title)
    if title is not None and len(title) > 1:  # "Exercise", and the words of its own
        children += [nodes.Text(": "), *(child.deepcopy() for child in title[1].children)]
    paragraph = nodes.paragraph("", "", link(label, *children))
    if solution:
        to_it = link(solution["node"]["label"], nodes.Text(in_words("solution", words)))
        paragraph += [nodes.Text(" \u2013 "), to_it]
    return nodes.list_item("", paragraph)


def fill_exercise_index(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Put the list where its directive stood."""
    registry = getattr(app.env, "sphinx_exercise_registry", {})
    solutions = {
        found["node"]["target_label"]: found
        for found in registry.values()
        if found["type"].startswith("solution")
    }
    for place in list(doctree.findall(ExerciseIndexNode)):
        filled: list[nodes.Node] = []
        for where in app.env.toctree_includes.get(app.config.root_doc, []):
            items = [
                entry(app, page, label, exercise=exercise, solution=solutions.get(label))
                for label, exercise in registry.items()
                if exercise["docname"] == where and exercise["type"].startswith("exercise")
            ]
            if items:
                title = numbered(app.env, Path(where).name, app.env.titles[where].astext())
                filled.append(nodes.rubric("", title))
                filled.append(nodes.bullet_list("", *items))
        place.replace_self(filled)


# ------------------------------------------------------------------ lists in Markdown


class Markdown(SphinxDirective, ABC):
    """A directive that shows lines of Markdown: a subclass says which, and their class."""

    shown_as = "wide-table"

    @abstractmethod
    def lines(self) -> list[str]:
        """The lines of Markdown."""

    @property
    def root(self) -> Path:
        return Path(self.env.srcdir)

    def study(self, name: str) -> dict:
        """The results of a study."""
        path = self.root / "results" / "studies" / f"{name}.json"
        self.env.note_dependency(str(path))
        return json.loads(path.read_text(encoding="utf-8"))

    def notebooks(self) -> Iterator[tuple[Path, str, nbformat.NotebookNode]]:
        """Of each notebook of the book: its file, its number and title, and the notebook itself."""
        for path in chapters(self.root):
            self.env.note_dependency(str(path))
            notebook = nbformat.read(path, as_version=4)
            yield path, numbered(self.env, path.stem, reading.title(path)), notebook

    def run(self) -> list[nodes.Node]:
        parent = nodes.container("", classes=self.shown_as.split())
        words = said(self.env.srcdir, self.env.docname)
        lines = [line_in_words(line, words) for line in self.lines()]
        self.state.nested_parse(StringList(lines), self.content_offset, parent)
        return [parent]


# ----------------------------------------------------------------------------- its minutes

BESIDES = ("primer", "evidence_2", "block_by_numbers", "locking_on", "another_tutorial")


def time_to_learn(title: Callable[[Path], str], root: Path) -> list[str]:
    """Lines of Markdown: the minutes of each page, and their sums over the core.

    Args:
        title: gives the words of a link to a page.
        root: the folder that holds `book`.
    """

    def minutes(path: Path) -> tuple[float, int, int]:
        found = reading.exercises(path)
        return reading.reading_minutes(path), len(found), sum(one.minutes for one in found)

    def row(name: str, read: float, number: int, exercises: int) -> str:
        shown = f"{number} | {exercises}" if number else "– | –"
        return f"| {name} | {read:.0f} | {shown} |"

    def pages(paths: Iterable[Path]) -> list[str]:
        return [row(f"[{title(path)}]({path.name})", *minutes(path)) for path in paths]

    head = "| page | to read | exercises | to solve |"
    read, number, work = map(sum, zip(*map(minutes, reading.core(root)), strict=True))
    hours = f"**{read / 60:.1f} hours** | {number} | **{work / 60:.0f} hours**"
    total = f"| **the pages above** | {hours} |"
    besides = [reading.page(name, root) for name in BESIDES]
    return [head, "|---|---|---|---|", *pages(reading.core(root)), total, *pages(besides)]


class TimeToLearn(Markdown):
    """``{time-to-learn}``"""

    shown_as = "time-to-learn"

    def lines(self) -> list[str]:
        def title(path: Path) -> str:
            self.env.note_dependency(str(path))
            return numbered(self.env, path.stem, reading.title(path))

        return time_to_learn(title, self.root)


# -------------------------------------------------------------------------- running times


def running_times(spent: list[tuple[str, int | None]]) -> list[str]:
    """Lines of Markdown: titles with their CPU-seconds, and the sum."""
    rows = [(name, "not executed" if s is None else f"{s:,}") for name, s in spent]
    total = sum(seconds or 0 for _, seconds in spent)
    rows = [("notebook", "CPU-seconds"), ("---", "---"), *rows, ("all", f"{total:,}")]
    return [f"| {name} | {seconds} |" for name, seconds in rows]


class RunningTimes(Markdown):
    """``{running-times}``"""

    shown_as = "running-times"

    def lines(self) -> list[str]:
        stamps = [(title, book.metadata.get("attnmt", {})) for _, title, book in self.notebooks()]
        return running_times([(title, stamp.get("cpu_seconds")) for title, stamp in stamps])


# --------------------------------------------------------------------------------- claims


def whole_list(study: dict) -> str:
    """How often the list has a false claim, in sentences of Markdown."""
    none, measured = study["wrong"]["none"], study["wrong"]["as measured"]
    return (
        f"Each of the {len(study['tables'])} tables with rows of kinds A or B errs in at most "
        f"{study['alpha']:.0%} of all cases, so somewhere in the list an error is likelier. We "
        f"made up its scores {study['repetitions']:,} times and judged them like ours. If no two "
        f"systems differed at all, {none['any']:.0%} of such lists would have at least one false "
        f"claim (*agrees* or *opposite* where there is no difference), {none['kind A']:.0%} in a "
        f"row of kind A; on average {none['rows']:.2f} of {study['rows']} rows. If the differences "
        f"that are decided here are as large as measured, and all others zero, "
        f"{measured['any']:.0%} would have one, {measured['kind A']:.0%} in a row of kind A."
    )


class FrozenClaims(Markdown):
    """``{frozen-claims}``"""

    shown_as = "wide-table frozen-claims"

    def lines(self) -> list[str]:
        results = self.root / "results"
        for path in [results / "claims.toml", *sorted(results.glob("*.json"))]:
            self.env.note_dependency(str(path))
        rows = judge()
        lines = [*summary(rows).splitlines(), "", whole_list(self.study("whole_list"))]
        for kind, title in KINDS.items():
            some = [row for row in rows if row.claim.kind == kind]
            lines += ["", f"**{kind}. {title}**", "", *verdict_table(some).splitlines()]
        return lines


# ------------------------------------------------------------------------- recorded runs

TRAINED = TITLES | {
    "sutskever-longer": "no attention, reversed, a vector of 512",
    "luong-concat-fixed": "concat, footnote 15",
    "luong-location-feeding": "location + feed",
    "luong-general-feeding": "general + feed",
    "luong-local-m-dot-feeding": "local-m dot + feed",
    "luong-local-m-feeding": "local-m general + feed",
    "luong-local-p-dot-feeding": "local-p dot + feed",
    "ladder-base": "ladder: no attention",
    "ladder-reverse": "ladder: reversed",
    "ladder-dropout": "ladder: dropout",
    "ladder-location": "ladder: location",
    "ladder-feeding": "ladder: feeding",
    "ladder-local-p": "ladder: local-p",
    "attention-only": "attention only",
    "luong-general-tuned": "general, a recipe of its own",
    "luong-dot-tuned": "dot, a recipe of its own",
}
TRAINED |= {f"{system}-doubled": f"{title}, twice the updates" for system, title in TRAINED.items()}
SHORT = 6  # the first length of a bucket
LONG = {"grammar": 36, "multi30k": 16, "joined": 51, "joined30": 51}


def trained_models(runs: Iterable[Run], long: int) -> list[str]:
    """The recorded runs as lines of Markdown: a table, and how its BLEU was measured.

    ``long`` is the first length of the second bucket whose BLEU the table has.
    """
    runs = list(runs)
    last = {bucket.shortest: bucket.longest for bucket in runs[0].by_length}
    lengths = " | ".join(f"{first} to {last[first]} words" for first in (SHORT, long))
    header = f"model | seeds | updates | BLEU | {lengths} | AER | CPU-seconds"
    lines = [f"| {header} |", "|---" * 8 + "|"]
    groups: dict[str, list[Run]] = {}
    for run in runs:
        groups.setdefault(run.name.rsplit("-", 2)[0], []).append(run)
    for system in sorted(groups, key=list(TRAINED).index):
        found = groups[system]
        cells = [
            TRAINED[system],
            str(len(found)),
            f"{found[0].history.curve[-1].updates:,}",
            with_range(run.bleu.score for run in found),
            with_range(of_length(run, SHORT) for run in found),
            with_range(of_length(run, long) for run in found),
            with_range((run.aer for run in found), digits=3),
            with_range((run.history.cpu_seconds for run in found), digits=0),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return [*lines, "", f"BLEU: `{found[0].bleu.signature}`"]


class TrainedModels(Markdown):
    """``{trained-models} CORPUS``"""

    required_arguments = 1

    def lines(self) -> list[str]:
        (corpus,) = self.arguments
        paths = sorted((self.root / "results").glob(f"*-{corpus}-*.json"))
        for path in paths:
            self.env.note_dependency(str(path))
        return trained_models([load_run(path.stem, path.parent) for path in paths], LONG[corpus])


# ------------------------------------------------------------------------- the truth rule

SHOWN = {  # kind of luck in the study -> how the page says it
    "seeds only": "seeds",
    "sentences only": "sentences",
    "both together only": "single seeds on single sentences",
    "seeds and sentences": "seeds and sentences",
    "all three": "all three",
}
INSTEAD = {"seeds alone": "seeds", "sentences alone": "sentences"}


def truth_rule(study: dict) -> list[str]:
    """The simulated coverage as lines of Markdown, and the power in a sentence."""
    numbers = list(dict.fromkeys(row["seeds"] for row in study["coverage"]["two systems"]))
    header = ["scores differ by the luck of", *(f"{number} seeds" for number in numbers)]
    lines = [f"| {' | '.join(header)} |", "|---" * len(header) + "|"]

    def line(name: str, luck: str, rule: str, where: str = "two systems") -> str:
        rows = [row for row in study["coverage"][where] if row["luck"] == luck]
        cells = [f"{row[rule]:.1%}" for row in rows]
        return f"| {' | '.join([name, *cells])} |"

    lines += [line(name, luck, "rule") for luck, name in SHOWN.items()]
    lines.append(line("BLEU, counted from words", "BLEU", "rule", where="BLEU"))
    for rule, name in INSTEAD.items():
        lines.append(line(f"all three, the interval from {name} alone", "all three", rule))
    power = {row["seeds"]: row for row in study["power"] if row["seeds"] in numbers}
    found = ", ".join(f"{row['rule']:.0%} with {number}" for number, row in power.items())
    tables = study["wrong tables"]
    after = (
        "How often is a true difference of four times the standard deviation between seeds found? "
        f"By number of seeds: {found}. Of the tables of ten comparisons without any difference, "
        f"{tables['Holm']:.0%} claim one, which would be {tables['each on its own']:.0%} if each "
        "comparison were judged on its own."
    )
    return [*lines, "", after]


class TruthRule(Markdown):
    """``{truth-rule}``"""

    shown_as = "truth-rule"

    def lines(self) -> list[str]:
        return truth_rule(self.study("truth_rule"))


def setup(app: Sphinx) -> dict:
    app.add_node(ExerciseIndexNode)
    app.add_directive("exercise-index", ExerciseIndex)
    app.add_directive("time-to-learn", TimeToLearn)
    app.add_directive("running-times", RunningTimes)
    app.add_directive("frozen-claims", FrozenClaims)
    app.add_directive("truth-rule", TruthRule)
    app.add_directive("trained-models", TrainedModels)
    app.connect("doctree-resolved", fill_exercise_index)
    return {"version": "1", "parallel_read_safe": False, "parallel_write_safe": True}
