"""Sphinx extension: `{live}` puts a translation on a page that runs under the reader's hands.

A block names one model or two, and has a sentence of its own for those who read without scripts,
in print or in Colab::

    :::{live} rnnencdec rnnsearch
    :sentence: Die alte Frau hat dem Lehrer ein Buch gegeben.
    :english: The old woman has given the teacher a book.
    What this shows, as a caption that is true of the picture, too.
    :::

Two models stand side by side. With `:frames:` one step is shown frame by frame, and with two models
the reader chooses. Every block has a still: the component itself as it stands before anyone touches
it, drawn from the built pages by `python -m press.extensions.stills`, and stored in
`book/_live/stills`, one for each language.
"""

from __future__ import annotations

import gzip
import hashlib
import inspect
import json
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path

import pygments
from docutils import nodes
from docutils.parsers.rst import directives
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from attnmt.attention import Attention, weigh
from attnmt.book.live import weights
from attnmt.decoder import LuongDecoder
from press.contents import ROOT
from press.source import without_docstrings

logger = logging.getLogger(__name__)
SOURCE = ROOT / "book" / "_live"
MODULES = tuple(sorted(path.name for path in SOURCE.iterdir() if path.is_file()))
FOLDER = "live"  # of the site's _static
SHOWN = "live_models"  # in a page's metadata, if it has a component: the models that it may fetch
LIMIT = 5_000_000  # bytes that one page may fetch
SERVE = "<code>python3 -m http.server --directory _build/html</code>"
ADDRESS = "<code>http://localhost:8000</code>"
START = {"en": "Try it", "ko": "해 보기"}  # the button
SCRIPTLESS = {
    "en": "Here a model translates as you type, where scripts are allowed. This is how it begins.",
    "ko": "스크립트를 켜면 입력하는 대로 모델이 번역합니다. 처음 모습은 이렇습니다.",
}
FROM_FILE = {
    "en": "Browsers run no model from a page that was opened as a file. "
    f"Type {SERVE} and open {ADDRESS}.",
    "ko": "파일로 연 페이지에서는 브라우저가 모델을 실행하지 않습니다. "
    f"{SERVE} 명령을 실행하고 {ADDRESS} 주소를 여세요.",
}
LANGUAGES = tuple(START)


@dataclass(frozen=True)
class Block:
    """What one `{live}` block shows."""

    models: tuple[str, ...]
    sentence: str
    english: str = ""
    frames: bool = False

    @property
    def mode(self) -> str:
        """ "step", "pair" or "single"."""
        if self.frames:
            return "step"
        return "pair" if len(self.models) == 2 else "single"

    @property
    def name(self) -> str:
        """Of its still: it changes with whatever the still shows, but the models' weights."""
        digest = hashlib.sha256(f"{self.sentence}\n{self.english}".encode()).hexdigest()
        return "-".join((self.mode, *self.models, digest[:8]))

    @property
    def options(self) -> dict[str, object]:
        """What the component is told."""
        told: dict[str, object] = {
            "mode": self.mode,
            "models": self.models,
            "sentence": self.sentence,
            "size": f"{self.bytes / 1e6:.1f} MB",
        }
        if self.english:
            told["english"] = self.english
        if self.frames:
            told["code"] = {name: source_of(name) for name in self.models}
        return told

    @property
    def bytes(self) -> int:
        """What the first touch fetches."""
        models = self.models[:1] if self.frames else self.models
        files = [SOURCE / "translator.mjs", SOURCE / "sentences.json"]
        return sum(map(packed_size, models)) + sum(file.stat().st_size for file in files)


def block(models: str, options: dict[str, str]) -> Block:
    """The block with this argument and these options.

    Raises:
        ValueError: a model that there is not, or no sentence.
    """
    names = tuple(models.split())
    known = weights.SHOWN
    if not 1 <= len(names) <= 2 or not set(names) <= set(known):
        raise ValueError(f"live: name one model or two of {', '.join(known)}, not {models!r}")
    if not options.get("sentence"):
        raise ValueError("live: the option sentence is missing, with a German sentence")
    return Block(
        names,
        options["sentence"],
        english=options.get("english", ""),
        frames="frames" in options,
    )


# ---------------------------------------------------------------------------------------- its HTML


BOX = """<div class="live{more}" {what}>\
<script type="application/json" class="{name}-options">{told}</script>\
<div class="{name}-still">{still}</div>\
<noscript><p class="live-hint">{hint}</p></noscript>\
<p class="live-hint live-file" hidden>{from_file}</p>\
<script>if (location.protocol === "file:") document.currentScript.previousElementSibling.hidden = \
false;</script></div>"""


def told(options: dict[str, object]) -> str:
    """What a component is told, as JSON that cannot end its script."""
    return json.dumps(options, ensure_ascii=False).replace("</", "<\\/")


def language_of(config) -> str:
    """Of the site that Sphinx builds, where a block speaks it; else English."""
    return config.language if config.language in LANGUAGES else "en"


def box(shown: Block, language: str = "en") -> str:
    """The block as HTML: its still, and what the component is told at the first touch."""
    return BOX.format(
        name="live",
        more="",
        what=f'data-mode="{shown.mode}" data-start="{START[language]}"',
        told=told(shown.options),
        still=still(shown, language),
        hint=SCRIPTLESS[language],
        from_file=FROM_FILE[language],
    )


def still_path(shown: Block, language: str) -> Path:
    return SOURCE / "stills" / f"{shown.name}.{language}.html"


def still(shown: Block, language: str) -> str:
    """The stored picture of a block; a sentence where it was not drawn yet."""
    path = still_path(shown, language)
    if path.is_file():
        return path.read_text(encoding="utf8")
    return f'<p lang="de">{escape(shown.sentence)}</p><p>{escape(shown.english)}</p>'


def marks(shown: Iterable[str]) -> str:
    """By which a still tells what drew it: the weights' checksums."""
    sums = weights.checksums()
    return " ".join(sums[f"{name}.safetensors"][:12] for name in shown)


# ------------------------------------------------------------------------------ the package's lines


def body(function: object) -> str:
    """The source of a function without its docstring, as it stands in the package."""
    lines = without_docstrings(inspect.getsource(function))
    return "\n".join(line for line in lines if line.strip())


@cache
def source_of(name: str) -> dict[str, str]:
    """Frame -> the lines of the package that compute it, as highlighted HTML."""
    decoder = weights.pretrained(name).decoder
    attends = [decoder.attend] if isinstance(decoder, LuongDecoder) else []
    functions = {
        "score": [type(decoder.attention.score).forward],
        "softmax": [weigh],
        "blend": [Attention.forward],
        "word": [*attends, decoder.readout],
    }
    write = HtmlFormatter(nowrap=True)
    return {
        frame: pygments.highlight("\n\n".join(map(body, of_frame)), PythonLexer(), write)
        for frame, of_frame in functions.items()
    }


# --------------------------------------------------------------------------------------- its files


@cache
def packed(name: str) -> bytes:
    """A model's file, packed by gzip: a tenth less to fetch. The same bytes every time."""
    return gzip.compress((weights.FOLDER / f"{name}.safetensors").read_bytes(), mtime=0)


def packed_size(name: str) -> int:
    return len(packed(name))


def copy_files(target: Path, models: Iterable[str]) -> None:
    """Put the component and these models' weights into a folder of the site."""
    target.mkdir(parents=True, exist_ok=True)
    for name in MODULES:
        shutil.copyfile(SOURCE / name, target / name)
    for name in models:
        (target / f"{name}.safetensors.gz").write_bytes(packed(name))


# ---------------------------------------------------------------------------------------- in Sphinx


class Figure(SphinxDirective):
    """A component with a still and a caption: ``{live}``, and ``{learn}``."""

    required_arguments = 1
    final_argument_whitespace = True
    has_content = True

    def figure(self, html: str, drawn: Path, models: Iterable[str] = ()) -> list[nodes.Node]:
        """The nodes; ``drawn`` is the still's file, ``models`` are those that it may fetch."""
        if self.env.app.builder.format == "html" and not drawn.is_file():
            message = "%s: %s was not drawn yet: now run python -m press.extensions.stills"
            logger.warning(message, self.name, drawn.name, location=self.get_location())
        self.env.note_dependency(str(drawn))
        self.env.metadata[self.env.docname].setdefault(SHOWN, set()).update(models)
        figure = nodes.container(classes=["live-figure"])
        figure += nodes.raw("", html, format="html")
        caption = nodes.container(classes=["live-caption"])
        self.state.nested_parse(self.content, self.content_offset, caption)
        figure += caption
        return [figure]


class Live(Figure):
    """``{live}``"""

    option_spec = {  # noqa: RUF012
        "sentence": directives.unchanged_required,
        "english": directives.unchanged,
        "frames": directives.flag,
    }

    def run(self) -> list[nodes.Node]:
        try:
            shown = block(self.arguments[0], self.options)
        except ValueError as problem:
            raise self.error(str(problem)) from problem
        language = language_of(self.config)
        return self.figure(box(shown, language), still_path(shown, language), shown.models)


def add_files(app, pagename, templatename, context, doctree) -> None:
    """A page with a component, and no other, loads it."""
    if SHOWN in app.env.metadata.get(pagename, ()):
        app.add_css_file(f"{FOLDER}/see.css")
        app.add_js_file(f"{FOLDER}/page.mjs", type="module")


def copy(app, error) -> None:
    """The components and the weights that pages show, into the site."""
    if error is None and app.builder.format == "html":
        shown = [page.get(SHOWN, ()) for page in app.env.metadata.values()]
        copy_files(Path(app.outdir, "_static", FOLDER), set().union(*shown))


def setup(app) -> dict[str, object]:
    app.add_directive("live", Live)
    app.connect("html-page-context", add_files)
    app.connect("build-finished", copy)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
