"""Stills of live blocks: what a page shows before anyone touches it, in print, without scripts.

A translation is the package's own, at the moment when the book is built; each matrix is drawn by
`attnmt.book.figures.plots.alignment`, as in the chapters. Of a training `trainings.json` has the
weights before and after, so that nobody who builds the book needs node:
``python -m press.extensions.stills`` records them again, and with JSON as its argument a block's
that is new.
"""

import json
import shutil
import subprocess
import sys
from collections.abc import Sequence, Set
from functools import cache
from html import escape
from pathlib import Path
from xml.etree import ElementTree

import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import ArrayLike

from attnmt.book.figures import plots
from attnmt.book.figures.svg import alignment_svg
from attnmt.book.live.weights import pretrained
from attnmt.decoding import greedy
from attnmt.evidence.links import windows_on
from attnmt.files import write_aside
from attnmt.model import Translator
from attnmt.pairs import Pair
from press.phrases import Dictionary

TRAININGS = Path(__file__).with_name("trainings.json")
PAPERS = {"rnnencdec": ("RNNencdec", "Cho", 2014), "rnnsearch": ("RNNsearch", "Bahdanau", 2015)}
WITH, WITHOUT = "With attention", "Without attention"
FED, UNFED = "With input feeding", "Without input feeding"
REFERENCE = "Reference translation:"
BEFORE, AFTER = "Before training", "After {} updates"


# ---------------------------------------------------------------------------------- a matrix


def matrix(
    source: Sequence[str],
    target: Sequence[str],
    weights: ArrayLike,
    *,
    gold: Set[tuple[int, int]] = frozenset(),
    window: tuple[ArrayLike, int] | None = None,
) -> str:
    """Weights (T, S) as the chapters draw them, as SVG with a text for those who do not see it.

    Args:
        source: S words.
        target: T words.
        weights: (T, S).
        gold: links that are framed.
        window: the centres of local attention, and D.
    """
    size = (0.9 + 0.29 * len(source), 0.8 + 0.24 * len(target))  # cells as large as live ones
    with plt.rc_context({"xtick.labelsize": 11}):  # the notebooks' size
        ax = plt.subplots(figsize=size, layout="constrained")[1]
        plots.alignment(source, target, weights, gold=gold, ax=ax, bar=False)
    ax.set(xlabel="", ylabel="")
    if window:
        plots.window(*window, ax)
    svg = alignment_svg(ax.figure)
    plt.close(ax.figure)
    wide = ElementTree.fromstring(svg).get("width").removesuffix("pt")
    most = np.argmax(weights, axis=1)
    looks = (
        f"{word} ← {source[s]} {row[s]:.0%}"
        for word, s, row in zip(target, most, np.asarray(weights), strict=True)
    )
    label = escape("; ".join(looks))
    words = f'<svg role="img" aria-label="{label}" style="--natural: {float(wide):.0f}"'
    drawn = svg.replace("<svg", words, 1)
    return f'<div class="live-scroll">{drawn}</div>'


# ------------------------------------------------------------------------------- a translation


def translation(spec: dict, words: Dictionary) -> str:
    """The still of a `{live}` block, as HTML, in the language of `words`."""
    models = [pretrained(name) for name in spec["models"]]
    models = models[:1] if spec["mode"] == "step" else models
    english = spec.get("english", "")
    reference = models[0].target_vocabulary.tokenise(english)
    titles = [WITH if model.attends else WITHOUT for model in models]
    fed = [model.config.get("feeding", False) for model in models]
    if len(set(fed)) == 2:
        titles = [FED if one else UNFED for one in fed]
    cards, matrices = [], []
    for model, title in zip(models, titles, strict=True):
        found, drawn = translated(model, spec["sentence"])
        right = shared(found, reference or found)
        written = "".join(
            f"{'' if word in ',.;?!' else ' '}{marked(word, k in right)}"
            for k, word in enumerate(found)
        )
        named = (
            f'<p class="live-title">{words.get(title, title)} <small>{name_of(model)}</small></p>'
        )
        cards.append(
            f'<div class="live-card">{named}<p class="live-written" lang="en">{written}</p></div>'
        )
        matrices += [f"<div>{named if len(models) > 1 else ''}{drawn}</div>"] if drawn else []
    label = words.get(REFERENCE, REFERENCE)
    below = f'<b>{label}</b> <span lang="en">{escape(english)}</span>' if english else ""
    return (
        f'<div class="live-view"><div class="live-chooser"><p class="live-field" lang="de">'
        f"{escape(spec['sentence'])}</p></div>"
        f'<div class="live-cards">{"".join(cards)}</div><p class="live-reference">{below}</p>'
        f'<div class="live-cards">{"".join(matrices)}</div></div>'
    )


def marked(word: str, right: bool) -> str:
    """A word as HTML; one that the reference does not have there is marked."""
    is_word = any(letter.isalnum() for letter in word)
    return f'<span class="wrong">{escape(word)}</span>' if is_word and not right else escape(word)


def translated(model: Translator, sentence: str) -> tuple[list[str], str]:
    """The words that a model writes, and its weights drawn, if it looks."""
    source = model.source_vocabulary.tokenise(sentence)
    (found,) = greedy(model, [source])
    if not model.attends:
        return found.words, ""
    window = None
    if model.config.get("window", "global") != "global":
        ((centres, _),) = windows_on(model, [Pair(tuple(source), tuple(found.words), "", "")])
        window = centres, model.config["D"]
    return found.words, matrix(source, found.words, found.alignment, window=window)


def name_of(model: Translator) -> str:
    """A model's name and its paper."""
    config = model.config
    parts = [config.get("score"), config.get("window"), config.get("feeding") and "input feeding"]
    luong = f"Luong: {', '.join(part for part in parts if part and part != 'global')}"
    name, author, year = PAPERS.get(config["model"], (luong, "Luong", 2015))
    return f"{name}, {author} et al. {year}"


def shared(ours: Sequence[str], theirs: Sequence[str]) -> set[int]:
    """The places in ours of the longest common subsequence, as `sentence.mjs` has it."""
    best = np.zeros((len(ours) + 1, len(theirs) + 1), dtype=int)
    for i in reversed(range(len(ours))):
        for j in reversed(range(len(theirs))):
            both = best[i + 1, j + 1] + 1
            best[i, j] = both if ours[i] == theirs[j] else max(best[i + 1, j], best[i, j + 1])
    i = j = 0
    found = set()
    while i < len(ours) and j < len(theirs):
        if ours[i] == theirs[j]:
            found.add(i)
            i, j = i + 1, j + 1
        elif best[i + 1, j] >= best[i, j + 1]:
            i += 1
        else:
            j += 1
    return found


# --------------------------------------------------------------------------------- a training


@cache
def trainings() -> list[dict]:
    """What was recorded of trainings."""
    return json.loads(TRAININGS.read_text(encoding="utf8"))


def training(spec: dict, words: Dictionary) -> str:
    """The still of a `{learn}` block, as HTML; ValueError if its training was not recorded."""
    found = next((one for one in trainings() if one["spec"] == spec), None)
    if found is None:
        raise ValueError(
            "learn: this training was not recorded: now run python -m press.extensions.stills "
            f"'{json.dumps(spec)}'"
        )
    gold = {(s, t) for t, s in enumerate(found["links"]) if s is not None}
    after = words.get(AFTER, AFTER).format(found["updates"])
    return "".join(
        f"<figure>{matrix(found['source'], found['target'], weights, gold=gold)}"
        f"<figcaption>{caption}</figcaption></figure>"
        for weights, caption in (
            (found["before"], words.get(BEFORE, BEFORE)),
            (found["after"], after),
        )
    )


def record(specs: Sequence[dict]) -> list[dict]:
    """Train each in node; FileNotFoundError where there is none."""
    if shutil.which("node") is None:
        raise FileNotFoundError("there is no node, which trains what a page trains: install it")
    script = TRAININGS.with_suffix(".mjs")
    given = json.dumps(specs)
    ran = subprocess.run(
        ["node", script], input=given, capture_output=True, encoding="utf8", check=True
    )
    return json.loads(ran.stdout)


def main(arguments: Sequence[str]) -> None:
    """Record all trainings again, and those of the arguments."""
    specs = [one["spec"] for one in trainings()] if TRAININGS.exists() else []
    specs += [spec for spec in map(json.loads, arguments) if spec not in specs]
    lines = ",\n".join(json.dumps(one, ensure_ascii=False) for one in record(specs))
    write_aside(TRAININGS, f"[\n{lines}\n]\n".encode())


if __name__ == "__main__":
    main(sys.argv[1:])
