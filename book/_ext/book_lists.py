"""Sphinx extension: two lists that are collected from the chapters, so that they cannot be wrong.

``{exercise-index}`` lists every exercise by page, with links to it and to its solution.
``{running-times}`` shows the CPU-seconds that each notebook used when it was last executed.
"""

import sys
from pathlib import Path

import nbformat
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tools"))

from notebooks import chapters  # noqa: E402

# ------------------------------------------------------------------------------ exercises


class ExerciseIndexNode(nodes.General, nodes.Element):
    """Stands for the list until all pages are read."""


class ExerciseIndex(SphinxDirective):
    """``{exercise-index}``"""

    def run(self):
        return [ExerciseIndexNode()]


def link(app, from_page: str, page: str, target: str, *children) -> nodes.reference:
    """A link to a place on another page."""
    address = f"{app.builder.get_relative_uri(from_page, page)}#{target}"
    return nodes.reference("", "", *children, internal=True, refuri=address)


def entry(app, page: str, label: str, exercise: dict, solution: dict | None) -> nodes.list_item:
    """One exercise: its number and title, and its solution."""
    where = exercise["docname"]
    numbers = app.env.toc_fignumbers.get(where, {}).get("exercise", {}).get(label, ())
    name = " ".join(["Exercise", ".".join(map(str, numbers))]).strip()
    children: list[nodes.Node] = [nodes.Text(name)]
    title = exercise["node"].next_node(nodes.title)
    if title is not None and len(title) > 1:  # "Exercise", and the words of its own
        children += [nodes.Text(": "), *(child.deepcopy() for child in title[1].children)]
    paragraph = nodes.paragraph("", "", link(app, page, where, label, *children))
    if solution:
        to_it = link(app, page, where, solution["node"]["label"], nodes.Text("solution"))
        paragraph += [nodes.Text(" \u2013 "), to_it]
    return nodes.list_item("", paragraph)


def fill_exercise_index(app, doctree, page):
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
                entry(app, page, label, exercise, solutions.get(label))
                for label, exercise in registry.items()
                if exercise["docname"] == where and exercise["type"].startswith("exercise")
            ]
            if items:
                filled.append(nodes.rubric("", app.env.titles[where].astext()))
                filled.append(nodes.bullet_list("", *items))
        place.replace_self(filled)
        # a title may hold a formula: let the page load MathJax
        app.env.get_domain("math").data["has_equations"][page] = True


def always_again(app, env, added, changed, removed):
    """The list belongs to all pages: write its own one whenever another changed."""
    pages = getattr(env, "pages_with_exercise_index", set())
    return [page for page in pages if added or changed or removed]


def note_page(app, doctree):
    if doctree.next_node(ExerciseIndexNode) is not None:
        if not hasattr(app.env, "pages_with_exercise_index"):
            app.env.pages_with_exercise_index = set()
        app.env.pages_with_exercise_index.add(app.env.docname)


# -------------------------------------------------------------------------- running times


class RunningTimes(SphinxDirective):
    """``{running-times}``"""

    def run(self):
        rows = []
        for path in chapters(Path(self.env.srcdir)):
            self.env.note_dependency(str(path))
            notebook = nbformat.read(path, as_version=4)
            first = next(cell for cell in notebook.cells if cell.cell_type == "markdown")
            seconds = notebook.metadata.get("attnmt", {}).get("cpu_seconds")
            rows.append((first.source.splitlines()[0].lstrip("# "), seconds))
        total = sum(seconds or 0 for _, seconds in rows)
        rows = [(name, "not executed" if s is None else f"{s:,}") for name, s in rows]
        return [table(("notebook", "CPU-seconds"), [*rows, ("all", f"{total:,}")])]


def table(header, rows) -> nodes.table:
    """A table of texts."""
    group = nodes.tgroup(cols=len(header))
    group += [nodes.colspec(colwidth=width) for width in (3, 1)]
    for part, lines in ((nodes.thead(), [header]), (nodes.tbody(), rows)):
        for line in lines:
            cells = [nodes.entry("", nodes.paragraph("", text)) for text in line]
            part += nodes.row("", *cells)
        group += part
    return nodes.table("", group)


def setup(app):
    app.add_node(ExerciseIndexNode)
    app.add_directive("exercise-index", ExerciseIndex)
    app.add_directive("running-times", RunningTimes)
    app.connect("doctree-read", note_page)
    app.connect("env-get-outdated", always_again)
    app.connect("doctree-resolved", fill_exercise_index)
    return {"version": "1", "parallel_read_safe": False, "parallel_write_safe": True}
