"""Numbers for sentences: a cell says them, and the Markdown around it shows them.

A chapter's code says what it found, ``say(kept=f"{kept:.0%}")``, in a cell tagged ``remove-cell``.
Its Markdown writes ``keeps <!--kept-->19%<!--/--> of its BLEU``, and whenever the notebook is
executed to be stored, `press.run.numbers` puts what was said between the marks. These are comments:
readers see a sentence with its number: on the page, on slides and in Colab.
"""

import re

from IPython.display import display

MIME = "application/vnd.attnmt.said+json"
NAME = re.compile(r"[a-z][a-z0-9_]*")


def say(**facts: str) -> None:
    """Say what sentences of this notebook quote.

    Args:
        facts: the texts by their names, formatted as the sentence shows them:
            ``kept=f"{kept:.0%}"``.

    Raises:
        TypeError: a text is no string: how many digits a number has is for the cell to say.
        ValueError: nothing is said, a name has other characters than a to z, 0 to 9 and _, or a
            text is empty, has several lines or holds ``<!--`` or ``-->``.
    """
    if not facts:
        raise ValueError('say(...) needs what to say: say(kept=f"{kept:.0%}")')
    for name, text in facts.items():
        if not NAME.fullmatch(name):
            raise ValueError(f"{name!r} cannot be a mark: use a to z, 0 to 9 and _, a letter first")
        if not isinstance(text, str):
            kind = type(text).__name__
            raise TypeError(f'{name} is of type {kind}: format it, as in {name}=f"{{value:.1f}}"')
        if not text.strip() or "\n" in text or "<!--" in text or "-->" in text:
            raise ValueError(f"{name} must be one line of text without <!-- and -->, not {text!r}")
    plain = "\n".join(f"{name} = {text}" for name, text in facts.items())
    display({MIME: dict(facts), "text/plain": plain}, raw=True)
