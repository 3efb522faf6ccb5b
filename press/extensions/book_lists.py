"""Sphinx extension: lists that are collected from the chapters, so that they cannot be wrong.

``{exercise-index}`` lists every exercise by page, with links to it and to its solution.
``{time-to-learn}`` adds up, for each page, its minutes of reading and those of its exercises.
``{running-times}`` shows the CPU-seconds that each notebook used when it was last executed.
``{frozen-claims}`` shows the list of the papers' claims, judged by the recorded runs.
``{trained-models} CORPUS`` lists the recorded runs of models that were trained to the end.
"""

import json
from collections.abc import Callable, Iterable
from pathlib import Path

import nbformat
from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from attnmt.book.tables import with_range
from attnmt.evidence.claims import KINDS
from attnmt.evidence.plan import TITLES
from attnmt.evidence.store import Run, load_run, of_length
from attnmt.evidence.verdicts import judge, summary, verdict_table
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


def titled(path: Path, root: Path) -> str:
    """A page's title behind its number, if it has one."""
    number = chapter_numbers(root).get(path.stem)
    return f"{number}. {reading.title(path)}" if number else reading.title(path)


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
                title = titled(Path(app.env.doc2path(where)), Path(app.srcdir))
                filled.append(nodes.rubric("", title))
                filled.append(nodes.bullet_list("", *items))
        place.replace_self(filled)


# ----------------------------------------------------------------------------- its minutes

BESIDES = ("primer", "evidence_2", "block_by_numbers", "locking_on", "another_tutorial")


def time_to_learn(root: Path) -> list[str]:
    """Lines of Markdown: the minutes of each page, and their sums over the core."""

    def minutes(path: Path) -> tuple[float, int, int]:
        found = reading.exercises(path)
        return reading.reading_minutes(path), len(found), sum(one.minutes for one in found)

    def row(name: str, read: float, number: int, exercises: int) -> str:
        shown = f"{number} | {exercises}" if number else "– | –"
        return f"| {name} | {read:.0f} | {shown} |"

    def pages(paths: Iterable[Path]) -> list[str]:
        return [row(f"[{titled(path, root)}]({path.name})", *minutes(path)) for path in paths]

    head = "| page | to read | exercises | to solve |"
    read, number, work = map(sum, zip(*map(minutes, reading.core(root)), strict=True))
    hours = f"**{read / 60:.1f} hours** | {number} | **{work / 60:.0f} hours**"
    total = f"| **the pages above** | {hours} |"
    besides = [reading.page(name, root) for name in BESIDES]
    return [head, "|---|---|---|---|", *pages(reading.core(root)), total, *pages(besides)]


# -------------------------------------------------------------------------- running times


def running_times(spent: list[tuple[str, int | None]]) -> list[str]:
    """Lines of Markdown: titles with their CPU-seconds, and the sum."""
    rows = [(name, "not executed" if s is None else f"{s:,}") for name, s in spent]
    total = sum(seconds or 0 for _, seconds in spent)
    rows = [("notebook", "CPU-seconds"), ("---", "---"), *rows, ("all", f"{total:,}")]
    return [f"| {name} | {seconds} |" for name, seconds in rows]


# --------------------------------------------------------------------------------- claims


def whole_list(study: dict) -> str:
    """How often the list has a false claim, in sentences of Markdown."""
    none, measured = study["wrong"]["none"], study["wrong"]["as measured"]
    return (
        f"Each of the {len(study['tables'])} tables with rows of kinds A or B errs in at most "
        f"{study['alpha']:.0%} of all cases, so somewhere in the list an error is likelier. At "
        f"commit {study['commit'][:7]}, we made up its scores {study['repetitions']:,} times, "
        f"with normal luck, and judged them like ours. If no two systems differed at all, "
        f"{none['any']:.0%} of such lists would have at least one false claim (*agrees* or "
        f"*opposite* where there is no difference), "
        f"{none['kind A']:.0%} in a row of kind A; on average {none['rows']:.2f} of "
        f"{study['rows']} rows. If the differences that are decided here are as large as "
        f"measured, and all others zero, {measured['any']:.0%} would have one, "
        f"{measured['kind A']:.0%} in a row of kind A."
    )


def frozen_claims(study: dict) -> list[str]:
    """Lines of Markdown: how the list came out, and a table for each kind of row."""
    rows = judge()
    lines = [*summary(rows).splitlines(), "", whole_list(study)]
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
    "luong-local-p-tuned": "local-p, a recipe of its own",
    "luong-concat-tuned": "concat, a recipe of its own",
    "luong-location-tuned": "location, a recipe of its own",
    "luong-general-own": "general, a recipe of its own",
    "luong-dot-own": "dot, a recipe of its own",
    "luong-local-p-own": "local-p, a recipe of its own",
    "luong-concat-own": "concat, a recipe of its own",
    "luong-location-own": "location, a recipe of its own",
    "luong-scaled-dot-own": "scaled dot, a recipe of its own",
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


# ------------------------------------------------------------------------ their directives


def study(name: str, root: Path) -> dict:
    """The results of a study."""
    return json.loads((root / "results/studies" / f"{name}.json").read_text(encoding="utf-8"))


def executed(root: Path) -> list[tuple[str, int | None]]:
    """The book's notebooks: number and title, and CPU-seconds."""
    books = [(path, nbformat.read(path, as_version=4).metadata) for path in chapters(root)]
    return [(titled(path, root), told.get("attnmt", {}).get("cpu_seconds")) for path, told in books]


def recorded(root: Path, corpus: str) -> list[Run]:
    """All recorded runs on a corpus."""
    paths = sorted((root / "results").glob(f"*-{corpus}-*.json"))
    return [load_run(path.stem, path.parent) for path in paths]


LISTS: dict[str, tuple[str, str, Callable]] = {  # its files, its class, and its lines
    "time-to-learn": ("book/*", "time-to-learn", time_to_learn),
    "running-times": ("book/*", "running-times", lambda root: running_times(executed(root))),
    "frozen-claims": (
        "results/**/*",
        "wide-table frozen-claims",
        lambda root: frozen_claims(study("whole_list", root)),
    ),
    "trained-models": (
        "results/*.json",
        "wide-table",
        lambda root, corpus: trained_models(recorded(root, corpus), LONG[corpus]),
    ),
}


class MarkdownList(SphinxDirective):
    """A list of `LISTS`, which the page depends on."""

    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        root = Path(self.env.srcdir)
        files, shown_as, lines = LISTS[self.name]
        for path in root.glob(files):
            self.env.note_dependency(str(path))
        words = said(root, self.env.docname)
        text = [line_in_words(line, words) for line in lines(root, *self.arguments)]
        parent = nodes.container("", classes=shown_as.split())
        self.state.nested_parse(StringList(text), self.content_offset, parent)
        return [parent]


def setup(app: Sphinx) -> dict:
    app.add_node(ExerciseIndexNode)
    app.add_directive("exercise-index", ExerciseIndex)
    for name in LISTS:
        app.add_directive(name, MarkdownList)
    app.connect("doctree-resolved", fill_exercise_index)
    return {"version": "1", "parallel_read_safe": False, "parallel_write_safe": True}
