"""What only the chapters need: a piece of source code, and real text where there is some."""

import inspect
import os
import textwrap
from typing import Any

from IPython.display import Markdown

from attnmt import DataUnavailable
from attnmt.book.live.glosses import gloss as gloss
from attnmt.book.live.glosses import gloss_pair as gloss_pair
from attnmt.book.said import say as say
from attnmt.corpus import Corpus, multi30k


def show_source(*things: Any) -> Markdown:
    """The source of classes, methods or functions as it stands in the package, highlighted."""
    sources = (textwrap.dedent(inspect.getsource(thing)).rstrip() for thing in things)
    return Markdown("```python\n{}\n```".format("\n\n\n".join(sources)))


def real_text(*args, **kwargs) -> Corpus | None:
    """:func:`.multi30k`, or None where it cannot be reached, with one line that says so.

    With ``ATTNMT_REAL_TEXT=required`` in the environment a chapter stops instead: for machines that
    have the data and should notice when it is not found.
    """
    try:
        return multi30k(*args, **kwargs)
    except DataUnavailable as error:
        if os.environ.get("ATTNMT_REAL_TEXT") == "required":
            raise
        print(f"Real text cannot be reached here; a recorded run stands in. ({error})")
        return None
