"""Sphinx extension: `{learn}` puts a small network on the page that the reader trains.

The argument is a task, and each option one of the choices of `book/_live/learn.mjs`::

    :::{learn} reverse
    :score: dot(q, W(k))
    :length: 10
    A caption.
    :::

``:height:`` keeps as many pixels free until it runs. A page that has no such block loads nothing
of it. Where no script runs, on paper too, a block shows its still: the weights of a sentence before
and after a training, drawn by `python -m press.extensions.stills`. `frame` is the same as one line
of HTML, for pages of others.
"""

import hashlib
import json
import shutil
from html import escape
from pathlib import Path
from urllib.parse import urlencode

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from press.extensions.live import ADDRESS, FOLDER, SERVE, SOURCE, hints, language_of

logger = logging.getLogger(__name__)
MODULES = (
    "learn.html",
    "learn.css",
    "page.mjs",
    "learn_view.mjs",
    "learn_words.mjs",
    "words_ko.mjs",
    "learn_worker.mjs",
    "learn.mjs",
    "score.mjs",
    "tape.mjs",
)
TASKS = ("german", "copy", "reverse", "own")
CHOICES = {  # option -> what it may be; None: a line of its own
    "score": None,
    "asks": ("before", "after"),
    "window": ("global", "local-m", "local-p"),
    "attention": ("yes", "no"),
    "feeding": ("yes", "no"),
    "length": tuple(str(words) for words in range(4, 17)),
    "seed": tuple(str(seed) for seed in range(100)),
}
HEIGHT = 720
SCRIPTLESS = {
    "en": "Here a network learns to look at the right word, where scripts are allowed.",
    "ko": "스크립트를 켜면 신경망이 맞는 단어를 보는 법을 여기에서 배웁니다.",
}
AS_FILE = {
    "en": "Browsers train nothing on a page that was opened as a file. "
    f"Type {SERVE} and open {ADDRESS}.",
    "ko": "파일로 연 페이지에서는 브라우저가 학습을 실행하지 않습니다. "
    f"{SERVE} 명령을 실행하고 {ADDRESS} 주소를 여세요.",
}


def chosen(task: str, options: dict[str, str]) -> dict[str, object]:
    """What the network and its training are told.

    Raises:
        ValueError: a task or a choice that there is not.
    """
    if task not in TASKS:
        raise ValueError(f"learn: the task is one of {', '.join(TASKS)}, not {task!r}")
    spec: dict[str, object] = {"task": task}
    for name, value in options.items():
        if name not in CHOICES:
            raise ValueError(f"learn: there is no option {name}: take {', '.join(CHOICES)}")
        allowed = CHOICES[name]
        if allowed and value not in allowed:
            raise ValueError(f"learn: {name} is one of {', '.join(allowed)}, not {value!r}")
        told = {"yes": True, "no": False}.get(value, value)
        spec[name] = int(value) if name in ("length", "seed") else told
    return spec


def still_path(told: dict[str, object], language: str) -> Path:
    """Of a block's still; its name changes with whatever the block is told."""
    digest = hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:8]
    return SOURCE / "stills" / "learn" / f"{told['task']}-{digest}.{language}.html"


def still(told: dict[str, object], language: str) -> str:
    """The stored picture of a block; nothing where it was not drawn yet."""
    path = still_path(told, language)
    return path.read_text(encoding="utf8").strip() if path.is_file() else ""


def box(task: str, options: dict[str, str], height: int = HEIGHT, language: str = "en") -> str:
    """The block as HTML: what it is told, its still, and a sentence for those without scripts."""
    spec = chosen(task, options)
    told = json.dumps(spec, ensure_ascii=False).replace("</", "<\\/")
    return (
        f'<div class="live learn" style="min-height: {height}px">'
        f'<script type="application/json" class="learn-options">{told}</script>'
        f'<div class="learn-still">{still(spec, language)}</div>'
        f"{hints(SCRIPTLESS[language], AS_FILE[language])}</div>"
    )


def frame(site: str, task: str, options: dict[str, str], height: int = HEIGHT) -> str:
    """One line of HTML that shows the block on any page: ``site`` is the book's address."""
    address = f"{site}_static/{FOLDER}/learn.html#learn?" + urlencode({"task": task} | options)
    chosen(task, options)
    style = f"width: 100%; height: {height}px; border: 0"
    return f'<iframe src="{escape(address)}" title="Watch it learn" style="{style}"></iframe>'


class Learn(SphinxDirective):
    """``{learn}``"""

    required_arguments = 1
    has_content = True
    option_spec = {  # noqa: RUF012
        **dict.fromkeys(CHOICES, directives.unchanged_required),
        "height": directives.positive_int,
    }

    def run(self) -> list[nodes.Node]:
        options = dict(self.options)
        height = options.pop("height", HEIGHT)
        language = language_of(self.config)
        try:
            html = box(self.arguments[0], options, height, language)
            drawn = still_path(chosen(self.arguments[0], options), language)
        except ValueError as problem:
            raise self.error(str(problem)) from problem
        if self.env.app.builder.format == "html" and not drawn.is_file():
            message = "learn: %s was not drawn yet: now run python -m press.extensions.stills"
            logger.warning(message, drawn.name, location=self.get_location())
        self.env.note_dependency(str(drawn))
        pages_of(self.env).add(self.env.docname)
        figure = nodes.container(classes=["live-figure"])
        figure += nodes.raw("", html, format="html")
        caption = nodes.container(classes=["live-caption"])
        self.state.nested_parse(self.content, self.content_offset, caption)
        figure += caption
        return [figure]


def pages_of(env) -> set[str]:
    """The pages that have such a block."""
    if not hasattr(env, "learn_pages"):
        env.learn_pages = set()
    return env.learn_pages


def forget(app, env, docname) -> None:
    """Before a page is read again."""
    pages_of(env).discard(docname)


def merge(app, env, docnames, other) -> None:
    """From a process that read some of the pages."""
    pages_of(env).update(pages_of(other) & set(docnames))


def add_files(app, pagename, templatename, context, doctree) -> None:
    """A page with such a block, and no other, loads the component."""
    if pagename in pages_of(app.env):
        app.add_css_file(f"{FOLDER}/see.css")  # the script fetches learn.css
        app.add_js_file(f"{FOLDER}/page.mjs", type="module")


def copy(app, error) -> None:
    """The component, into the site."""
    if error is None and app.builder.format == "html":
        folder = Path(app.outdir, "_static", FOLDER)
        folder.mkdir(parents=True, exist_ok=True)
        for name in (*MODULES, "see.css", "embedded.css"):
            shutil.copyfile(SOURCE / name, folder / name)


def setup(app) -> dict[str, object]:
    app.add_directive("learn", Learn)
    app.connect("env-purge-doc", forget)
    app.connect("env-merge-info", merge)
    app.connect("html-page-context", add_files)
    app.connect("build-finished", copy)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
