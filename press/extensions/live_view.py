"""Sphinx extension: `{live}` puts a translation on the page that runs under the reader's hands.

What a block says stands in `press.live`. A page that has none loads nothing of it. The site gets
the weights of those models that its pages show.
"""

from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from press import live

logger = logging.getLogger(__name__)


class Live(SphinxDirective):
    """``{live}``"""

    required_arguments = 1
    final_argument_whitespace = True
    has_content = True
    option_spec = {  # noqa: RUF012
        "sentence": directives.unchanged_required,
        "english": directives.unchanged,
        "frames": directives.flag,
    }

    def run(self) -> list[nodes.Node]:
        try:
            shown = live.block(self.arguments[0], self.options)
        except ValueError as problem:
            raise self.error(str(problem)) from problem
        if self.env.app.builder.format == "html" and not live.still_path(shown).is_file():
            message = "live: %s was not drawn yet: run python -m press.stills"
            logger.warning(message, live.still_path(shown).name, location=self.get_location())
        self.env.note_dependency(str(live.still_path(shown)))
        models_of(self.env).setdefault(self.env.docname, set()).update(shown.models)
        figure = nodes.container(classes=["live-figure"])
        figure += nodes.raw("", live.box(shown), format="html")
        caption = nodes.container(classes=["live-caption"])
        self.state.nested_parse(self.content, self.content_offset, caption)
        figure += caption
        return [figure]


def models_of(env) -> dict[str, set[str]]:
    """Page -> the models that it shows."""
    if not hasattr(env, "live_models"):
        env.live_models = {}
    return env.live_models


def forget(app, env, docname) -> None:
    """Before a page is read again."""
    models_of(env).pop(docname, None)


def merge(app, env, docnames, other) -> None:
    """From a process that read some of the pages."""
    theirs = models_of(other)
    models_of(env).update({name: theirs[name] for name in docnames if name in theirs})


def add_files(app, pagename, templatename, context, doctree) -> None:
    """A page with a live block, and no other, loads the component."""
    if models_of(app.env).get(pagename):
        app.add_css_file(f"{live.FOLDER}/see.css")
        app.add_js_file(f"{live.FOLDER}/page.mjs", type="module")


def copy(app, error) -> None:
    """The component and the weights that pages show, into the site."""
    if error is None and app.builder.format == "html":
        models = set().union(*models_of(app.env).values())
        live.copy_files(Path(app.outdir, "_static", live.FOLDER), models)


def setup(app) -> dict[str, object]:
    app.add_directive("live", Live)
    app.connect("env-purge-doc", forget)
    app.connect("env-merge-info", merge)
    app.connect("html-page-context", add_files)
    app.connect("build-finished", copy)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
