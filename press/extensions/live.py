"""Sphinx extension: `{live}`, `{learn}` and `{stepper}` put onto a page what readers touch.

`{live}` is a translation by one model or by two, side by side. It has a sentence of its own for
those who read without scripts, in print or in Colab::

    :::{live} rnnencdec rnnsearch
    :sentence: Die alte Frau hat dem Lehrer ein Buch gegeben.
    :english: The old woman has given the teacher a book.
    What this shows, as a caption that is true of the picture, too.
    :::

With `:frames:` one step is shown frame by frame, and with two models the reader chooses. `{learn}`
is a small network that the reader trains. Its argument is a task, and each option one of the
choices of `book/_live/learn_choices.mjs`::

    :::{learn} reverse
    :score: dot(q, W(k))
    :length: 10
    A caption.
    :::

`{stepper}` shows frames of a figure one by one. Each paragraph, with the figures that follow it, is
a step, and `\\step{2}{...}` in the equation is the term that is marked in step 2. The frames may
also be the matrices of a figure elsewhere, which `:figure:` names. On paper, without scripts and
in a notebook all of them stand one below the other::

    ::::{stepper}
    :equation: c_i = \\step{2}{\\sum_j \\step{1}{\\alpha_{ij}} h_j}
    **Weigh.** What this shows.
    ...
    ::::

Every other block has a still (`press.extensions.stills`), drawn as the page is read: a translation
and its weights, the weights of a sentence before and after a training. A page without a block
loads nothing of all this.
"""

import gzip
import json
import re
import shutil
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from attnmt.book.live import weights
from attnmt.book.live.view import STYLES, modules
from press.contents import ROOT
from press.extensions import stills
from press.extensions.formulas import mathml
from press.phrases import Dictionary, in_words

logger = logging.getLogger(__name__)
SOURCE = ROOT / "book" / "_live"
MODULES = tuple(sorted(path.name for path in SOURCE.iterdir() if path.is_file()))
FOLDER = "live"  # of the site's _static
SHOWN = "live_models"  # in a page's metadata, if it has a component: the models that it may fetch
TASKS = ("german", "korean", "copy", "reverse", "own")

START = "Try it"  # the button
SCRIPTLESS = {
    "live": "Here a model translates as you type, where scripts are allowed. "
    "This is how it begins.",
    "learn": "Here a network learns to look at the right word, where scripts are allowed.",
}
SERVE = (
    "<code>python3 -m http.server --directory _build/html</code> "
    "and open <code>http://localhost:8000</code>."
)
FROM_FILE = {
    "live": f"Browsers run no model from a page that was opened as a file. Type {SERVE}",
    "learn": f"Browsers train nothing on a page that was opened as a file. Type {SERVE}",
}

Spec = dict[str, object]  # what a block shows


def translation(models: str, options: dict) -> Spec:
    """What a `{live}` block shows; ValueError for a model that there is not, or no sentence."""
    names = models.split()
    if not 1 <= len(names) <= 2 or not set(names) <= set(weights.SHOWN):
        known = ", ".join(weights.SHOWN)
        raise ValueError(f"live: name one model or two of {known}, not {models!r}")
    if "sentence" not in options:
        raise ValueError("live: the option sentence is missing, with a German sentence")
    mode = "step" if "frames" in options else "pair" if len(names) == 2 else "single"
    return {"mode": mode, "models": names} | {k: v for k, v in options.items() if k != "frames"}


def training(task: str, options: dict) -> Spec:
    """What a `{learn}` block shows; ValueError for a task that there is not."""
    return {"task": directives.choice(task, TASKS)} | options


def kind_of(spec: Spec) -> str:
    return "learn" if "task" in spec else "live"


def options_of(spec: Spec) -> Spec:
    """The component's options: of a translation also the bytes that its first touch fetches."""
    if "task" in spec:
        return spec
    fetched = spec["models"][:1] if spec["mode"] == "step" else spec["models"]
    size = sum(len(text.encode()) for text in modules("see.mjs").values())
    size += (SOURCE / "sentences.json").stat().st_size
    size += sum(len(packed(name)) for name in fetched)
    return spec | {"size": f"{size / 1e6:.1f} MB"}


# ---------------------------------------------------------------------------------------- its HTML

BOX = """<div {attributes}>\
<script type="application/json" class="{name}-options">{options}</script>\
<div class="{name}-still">{still}</div>\
<noscript><p class="live-hint">{hint}</p></noscript>\
<p class="live-hint live-file" hidden>{from_file}</p>\
<script>if (location.protocol === "file:") document.currentScript.previousElementSibling.hidden = \
false;</script></div>"""


def box(spec: Spec, words: Dictionary | None = None) -> str:
    """A block as HTML: its component's options, its still, and a text for those without it.

    Raises:
        ValueError: its training was not recorded.
    """
    name = kind_of(spec)
    words = words or {}
    start, hint, from_file = (
        in_words(text, words) for text in (START, SCRIPTLESS[name], FROM_FILE[name])
    )
    if name == "learn":
        draw, attributes = stills.training, 'class="live learn"'
    else:
        draw, attributes = stills.translation, f'class="live" data-mode="{spec["mode"]}"'
        attributes += f' data-start="{start}"'
    options = json.dumps(options_of(spec), ensure_ascii=False)
    return BOX.format(
        name=name,
        attributes=attributes,
        options=options.replace("</", "<\\/"),  # it cannot end its script
        still=draw(spec, words),
        hint=hint,
        from_file=from_file,
    )


# --------------------------------------------------------------------------------------- its files


@cache
def packed(name: str) -> bytes:
    """A model's file, packed by gzip: a tenth less to fetch. The same bytes every time."""
    return gzip.compress((weights.FOLDER / f"{name}.safetensors").read_bytes(), mtime=0)


def copy_files(target: Path, models: Iterable[str]) -> None:
    """Put the components and these models' weights into a folder of the site."""
    target.mkdir(parents=True, exist_ok=True)
    for name in MODULES:
        shutil.copyfile(SOURCE / name, target / name)
    for name in models:
        (target / f"{name}.safetensors.gz").write_bytes(packed(name))


# ---------------------------------------------------------------------------------------- in Sphinx


def one_of(*values: object) -> Callable[[str], str]:
    """An option that has one of some values."""
    return lambda given: directives.choice(given, list(map(str, values)))


class Component(SphinxDirective):
    """A block with its still and a caption."""

    required_arguments = 1
    final_argument_whitespace = True
    has_content = True
    specify: Callable[[str, dict], Spec]

    def run(self) -> list[nodes.Node]:
        try:
            spec = type(self).specify(self.arguments[0], self.options)
            html = box(spec, self.config.site_words)
        except ValueError as problem:
            raise self.error(str(problem)) from problem
        models = self.env.metadata[self.env.docname].setdefault(SHOWN, set())
        models.update(spec.get("models", ()))
        figure = nodes.container(classes=["live-figure"])
        figure += nodes.raw("", html, format="html")
        caption = nodes.container(classes=["live-caption"])
        self.state.nested_parse(self.content, self.content_offset, caption)
        figure += caption
        return [figure]


class Live(Component):
    """``{live}``"""

    specify = staticmethod(translation)
    option_spec = {  # noqa: RUF012
        "sentence": directives.unchanged_required,
        "english": directives.unchanged_required,
        "frames": directives.flag,
    }


class Learn(Component):
    """``{learn}``"""

    specify = staticmethod(training)
    option_spec = {  # noqa: RUF012
        "score": directives.unchanged_required,
        "asks": one_of("before", "after"),
        "window": one_of("global", "local-m", "local-p"),
        "length": lambda given: int(one_of(*range(4, 17))(given)),
    }


# From the beginning the first frame alone is seen: nothing moves when the steps come to life.
STEPPED = """<div class="live-controls"></div><script>{{
const box = document.currentScript.parentElement;
box.dataset.figure = "{figure}";
if (location.protocol !== "file:") box.classList.add("stepped");
}}</script><div class="live-scroll formula">{equation}</div>"""


class Steps(SphinxDirective):
    """``{stepper}``"""

    has_content = True
    option_spec = {  # noqa: RUF012
        "equation": directives.unchanged_required,
        "figure": directives.unchanged_required,
    }

    def run(self) -> list[nodes.Node]:
        if "equation" not in self.options:
            raise self.error("stepper: the option equation is missing")
        self.env.metadata[self.env.docname].setdefault(SHOWN, set())
        tex = re.sub(r"\\step\{(\d+)\}", r"\\class{step-\1}", self.options["equation"])
        equation = mathml(tex, display=True)
        html = STEPPED.format(equation=equation, figure=self.options.get("figure", ""))
        content = nodes.container()
        self.state.nested_parse(self.content, self.content_offset, content)
        steps = nodes.container(classes=["live", "live-steps"])
        steps += nodes.raw("", html, format="html")
        if not isinstance(content.next_node(), nodes.paragraph):
            raise self.error("stepper: a step begins with a paragraph")
        for part in content.children:
            if isinstance(part, nodes.paragraph):
                step = nodes.container(classes=["frame"])
                steps += step
            step += part
        return [steps]


def add_files(app, pagename, templatename, context, doctree) -> None:
    """A page with a component, and no other, loads it."""
    if SHOWN in app.env.metadata.get(pagename, ()):
        for name in STYLES:
            app.add_css_file(f"{FOLDER}/{name}")
        app.add_js_file(f"{FOLDER}/page.mjs", type="module")


def copy(app, error) -> None:
    """The components and the weights that pages show, into the site."""
    if error is None and app.builder.format == "html":
        shown = [page.get(SHOWN, ()) for page in app.env.metadata.values()]
        copy_files(Path(app.outdir, "_static", FOLDER), set().union(*shown))


def setup(app) -> dict[str, object]:
    app.add_directive("live", Live)
    app.add_directive("learn", Learn)
    app.add_directive("stepper", Steps)
    app.connect("html-page-context", add_files)
    app.connect("build-finished", copy)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
