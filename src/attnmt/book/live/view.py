"""A model under the reader's hands in a notebook: the book's live translation, for any model.

``show_live(model, "Der Hund schläft.")`` as the last line of a cell shows the component that the
book's pages have, for a model that was just trained. Words and weights are computed in the browser,
by `book/_live/translator.mjs`, from a copy of the model with two bytes a number. Nothing is asked
of a server.

That copy is one to two megabytes, so a notebook that is executed to be stored and published must
not hold it: with ``ATTNMT_STORED`` in the environment, which `press.run.execute` sets, the cell says
one line instead.
"""

import base64
import json
import os
import tempfile
from html import escape
from pathlib import Path

from attnmt.book.live.weights import save_compact
from attnmt.model import Translator

STORED = "ATTNMT_STORED"
HERE = Path(__file__).parent
FILES = (HERE / "page", HERE.parents[3] / "book" / "_live")  # an installed package, a checkout
HEIGHT = 760  # pixels, until the page inside says how high it is
PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><style>{style}
html {{ color-scheme: light dark; }} .live.follows {{ margin: 0; }}
body {{ margin: 0; padding: 4px 4px 24px; background: Canvas; }}</style></head>
<body><div class="live follows" id="box">The model is being read ...</div>
<script type="module">
const data = {data};
const file = (text) => new Blob([text], {{ type: "text/javascript" }});
const module = (text) => import(URL.createObjectURL(file(text)));
const [see, translator] = await Promise.all([module(data.see), module(data.translator)]);
const options = {{ ...data.options, translator }};
await see.render({{ model: {{ get: (name) => options[name] }}, el: box }});
const fit = () => (frameElement.style.height = `${{document.body.scrollHeight + 16}}px`);
if (window.frameElement) new ResizeObserver(fit).observe(document.body);
</script></body></html>"""


class LiveView:
    """What :func:`show_live` gives a notebook to show."""

    def __init__(self, model: Translator, sentence: str, *, english: str, frames: bool):
        self.model = model
        self.sentence = sentence
        self.english = english
        self.frames = frames

    def __repr__(self) -> str:
        name = self.model.config["model"]
        return f"Run this cell in a notebook to translate with {name} as you type: {self.sentence}"

    def options(self) -> dict[str, object]:
        """What the component is told, its model as base64."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.safetensors"
            save_compact(self.model, path)
            weights = base64.b64encode(path.read_bytes()).decode()
        sentences = json.loads(asset("sentences.json"))
        return {
            "mode": "step" if self.frames else "single",
            "weights": {"model": weights},
            "sentence": self.sentence,
            "english": self.english,
            "sentences": sentences,
        }

    def page(self) -> str:
        """A page of its own, with the component and the model in it."""
        data = {
            "options": self.options(),
            "see": asset("see.mjs"),
            "translator": asset("translator.mjs"),
        }
        text = json.dumps(data, ensure_ascii=False).replace("<", "\\u003c")
        return PAGE.format(style=asset("see.css"), data=text)

    def _repr_html_(self) -> str | None:
        if STORED in os.environ:
            return None  # and so the notebook stores the line of __repr__ alone
        style = f"width: 100%; height: {HEIGHT}px; border: 0"
        title = "A model that translates as you type"
        return f'<iframe title="{title}" style="{style}" srcdoc="{escape(self.page())}"></iframe>'


def show_live(
    model: Translator, sentence: str, *, english: str = "", frames: bool = False
) -> LiveView:
    """Show a model in a notebook, translating what the reader types.

    Args:
        model: made by a constructor, German to English.
        sentence: German, to begin with.
        english: its translation, if it is known: then wrong words are marked.
        frames: show one step frame by frame instead; the model must attend.

    Raises:
        ValueError: a model that was put together by hand, an empty sentence, or frames of a model
            that does not attend.
    """
    if not model.config:
        raise ValueError("a model put together by hand cannot be shown: use a constructor")
    if not sentence.strip():
        raise ValueError("give show_live a German sentence to begin with")
    if frames and not model.attends:
        raise ValueError("this model does not attend, so there are no frames to show")
    return LiveView(model, sentence, english=english, frames=frames)


def asset(name: str) -> str:
    """The text of one of the component's files.

    Raises:
        FileNotFoundError: the package was installed without them.
    """
    for folder in FILES:
        if (folder / name).is_file():
            return (folder / name).read_text(encoding="utf-8")
    raise FileNotFoundError(f"{name} is neither in {FILES[0]} nor in {FILES[1]}: install again")
