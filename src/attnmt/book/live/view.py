"""A model under the reader's hands: in a notebook, on one's own machine, or on any site.

``show_live(model)`` as the last line of a cell, and ``attnmt show my.model``, show the component
that the book's pages have, for any model that was saved. Words and weights are computed in the
browser, by ``translator.mjs``, from a copy of the model with two bytes a number. Nothing is asked
of a server: all is in one page. It computes the recurrent models; the Transformer runs in Python
alone.

That copy is one to two megabytes for a model of the book, so a notebook that is executed to be
stored and published must not hold it: with ``ATTNMT_STORED`` in the environment, which
`press.run.execute` sets, the cell says one line instead.
"""

import base64
import json
import os
import re
import tempfile
from html import escape
from pathlib import Path

from attnmt.book.live.weights import save_compact
from attnmt.files import write_aside
from attnmt.model import Translator
from attnmt.vocab import abbreviations

STORED = "ATTNMT_STORED"
HERE = Path(__file__).parent
FILES = (HERE / "page", HERE.parents[3] / "book" / "_live")  # an installed package, a checkout
STYLES = ("see.css", "words.css", "stepper.css")
HEIGHT = 760  # pixels, until the page inside says how high it is
STYLE = f"width: 100%; height: {HEIGHT}px; border: 0"  # of the frame around it
COMPUTED = ("rnnencdec", "rnnsearch", "sutskever", "luong", "concat_fixed")  # by translator.mjs
MOST_PARAMETERS = 25_000_000  # parameters that a page can compute with, 50 MB
IMPORT = re.compile(r'from "\./(\w+\.mjs)"')
GENERATOR = '<meta name="generator" content="attnmt show">'  # by which a page of ours is known
PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8">{generator}
<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">
<title>{title}</title><style>{style}</style></head>
<body><main class="live" id="box">The model is being read ...</main>
<script>
const data = {data};
const address = (text) => URL.createObjectURL(new Blob([text], {{ type: "text/javascript" }}));
const imports = Object.entries(data.modules).map(([name, text]) => [name, address(text)]);
const map = Object.assign(document.createElement("script"), {{ type: "importmap" }});
map.textContent = JSON.stringify({{ imports: Object.fromEntries(imports) }});
document.head.append(map);
</script>
<script type="module">
const {{ render }} = await import("see.mjs");
await render(box, data.options);
const fit = () => (frameElement.style.height = `${{document.body.scrollHeight + 16}}px`);
if (window.frameElement) new ResizeObserver(fit).observe(document.body);
</script></body></html>"""


class LiveView:
    """What :func:`show_live` gives a notebook to show."""

    def __init__(self, model: Translator, sentence: str, english: str):
        self.model = model
        self.sentence = sentence
        self.english = english

    def __repr__(self) -> str:
        name = self.model.config["model"]
        begun = f": {self.sentence}" if self.sentence else ""
        return f"Run this cell in a notebook to translate with {name} as you type{begun}"

    def options(self) -> dict[str, object]:
        """What the component is told, its model as base64."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.safetensors"
            save_compact(self.model, path)
            weights = base64.b64encode(path.read_bytes()).decode()
        return {
            "mode": "single",
            "weights": {"model": weights},
            "sentence": self.sentence,
            "english": self.english,
            "sentences": sentences_for(self.model),
            "prefixes": abbreviations(self.model.source_vocabulary.language),
        }

    def page(self) -> str:
        """A page of its own, with the component and the model in it."""
        data = {"options": self.options(), "modules": modules("see.mjs")}
        text = json.dumps(data, ensure_ascii=False).replace("<", "\\u003c")
        title = f"{self.model.config['model']} translates as you type"
        style = "".join(asset(name) for name in (*STYLES, "embedded.css"))
        return PAGE.format(generator=GENERATOR, title=title, style=style, data=text)

    def _repr_html_(self) -> str | None:
        if STORED in os.environ:
            return None  # and so the notebook stores the line of __repr__ alone
        title = "A model that translates as you type"
        return f'<iframe title="{title}" style="{STYLE}" srcdoc="{escape(self.page())}"></iframe>'


def show_live(model: Translator, sentence: str = "", *, english: str = "") -> LiveView:
    """Show a model in a notebook, translating what the reader types.

    Args:
        model: made by a constructor; of words or of subwords, and of any two languages.
        sentence: to begin with, in the source language. Left out: one of the book's, if the model
            knows its words, or an empty field.
        english: its translation, if it is known: then wrong words are marked.

    Raises:
        ValueError: a model that was put together by hand, is not recurrent, or has more than
            ``MOST_PARAMETERS`` parameters.
    """
    if not model.config:
        raise ValueError("a model put together by hand cannot be shown: use a constructor")
    if model.config["model"] not in COMPUTED:
        raise ValueError(
            f"a page computes {', '.join(COMPUTED)}, and not {model.config['model']}: translate "
            "with it in Python, or by attnmt translate"
        )
    size = sum(weights.numel() for weights in model.parameters())
    if size > MOST_PARAMETERS:
        raise ValueError(
            f"the model has {size:,} parameters, and a page can show {MOST_PARAMETERS:,} at most: "
            f"a reader would fetch {size * 2 / 1e6:,.0f} MB, and the page computes on one thread. "
            "Train a smaller one: fewer units, or a smaller vocabulary"
        )
    return LiveView(model, sentence.strip(), english)


def write_page(view: LiveView, path: str | os.PathLike) -> Path:
    """Write a view as one file, for a browser on this machine, and for any site.

    Raises:
        FileExistsError: there is another file of that name, and it is no such page.
        OSError: it cannot be written.
    """
    path = Path(path)
    if path.exists() and GENERATOR.encode() not in path.read_bytes()[:1_000]:
        raise FileExistsError(f"{path} exists, and is no page of attnmt show. Give another name.")
    write_aside(path, view.page().encode())
    return path


def embedding(path: Path, title: str) -> str:
    """The line of HTML that shows such a file in a page beside it."""
    shown = f'src="{escape(path.name)}" title="{escape(title)}" loading="lazy" style="{STYLE}"'
    return f"<iframe {shown}></iframe>"


def sentences_for(model: Translator) -> dict[str, object]:
    """The book's sentences all of whose words a model knows, and their glosses.

    They were drawn by the grammar, in the words of the recorded models: see results/README.md.

    Returns:
        As ``sentences.json`` has them; {} where nothing is left, as with a model of other
        languages: then the page offers the words of the model alone.
    """
    source, target = model.source_vocabulary, model.target_vocabulary
    if (source.language, target.language) != ("de", "en"):
        return {}
    whole = json.loads(asset("sentences.json"))

    def known(sentence: dict) -> bool:
        return all(unit in source for unit in source.units.split(sentence["german"]))

    chains = [chain for chain in whole["chains"] if all(map(known, chain))]
    random = [sentence for sentence in whole["random"] if known(sentence)]
    return whole | {"chains": chains, "random": random} if chains and random else {}


def modules(name: str) -> dict[str, str]:
    """A module of the component and all that it imports: name -> text.

    In a page of one file there is nothing beside a module: they import each other by name alone.
    """
    found: dict[str, str] = {}
    wanted = [name]
    while wanted:
        name = wanted.pop()
        if name not in found:
            text = asset(name)
            found[name] = IMPORT.sub(r'from "\1"', text)
            wanted += IMPORT.findall(text)
    return found


def asset(name: str) -> str:
    """The text of one of the component's files.

    Raises:
        FileNotFoundError: the package was installed without them.
    """
    for folder in FILES:
        if (folder / name).is_file():
            return (folder / name).read_text(encoding="utf-8")
    raise FileNotFoundError(f"{name} is neither in {FILES[0]} nor in {FILES[1]}: install again")
