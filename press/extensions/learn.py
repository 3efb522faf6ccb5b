"""Sphinx extension: `{learn}` puts a small network on the page that the reader trains.

The argument is a task, and each option one of the choices of `book/_live/learn_choices.mjs`::

    :::{learn} reverse
    :score: dot(q, W(k))
    :length: 10
    A caption.
    :::

``:height:`` keeps as many pixels free until it runs. A page that has no such block loads nothing
of it. Where no script runs, on paper too, a block shows its still: the weights of a sentence before
and after a training, drawn by `python -m press.extensions.stills`.
"""

import hashlib
import json
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import directives

from press.extensions.live import ADDRESS, BOX, SERVE, SOURCE, Figure, language_of, told

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
FROM_FILE = {
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
    return BOX.format(
        name="learn",
        more=" learn",
        what=f'style="min-height: {height}px"',
        told=told(spec),
        still=still(spec, language),
        hint=SCRIPTLESS[language],
        from_file=FROM_FILE[language],
    )


class Learn(Figure):
    """``{learn}``"""

    option_spec = {  # noqa: RUF012
        **dict.fromkeys(CHOICES, directives.unchanged_required),
        "height": directives.positive_int,
    }

    def run(self) -> list[nodes.Node]:
        task, options = self.arguments[0], dict(self.options)
        height = options.pop("height", HEIGHT)
        language = language_of(self.config)
        try:
            drawn = still_path(chosen(task, options), language)
        except ValueError as problem:
            raise self.error(str(problem)) from problem
        return self.figure(box(task, options, height, language), drawn)


def setup(app) -> dict[str, object]:
    app.setup_extension("press.extensions.live")  # the files of both
    app.add_directive("learn", Learn)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
