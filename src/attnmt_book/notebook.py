"""What only the chapters need: show a piece of source code, keep the table of claims."""

import inspect
import os
import textwrap
from dataclasses import dataclass, field
from typing import Any

from IPython.display import Markdown

from attnmt.corpus import Corpus, DataUnavailable, multi30k


def show_source(thing: Any) -> Markdown:
    """The source of a class, method or function as it stands in the package, highlighted."""
    source = textwrap.dedent(inspect.getsource(thing)).rstrip()
    return Markdown(f"```python\n{source}\n```")


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


@dataclass
class Claims:
    """A chapter's claims: what a paper says, what was measured here, and whether it holds."""

    rows: list[tuple[str, str, str, str]] = field(default_factory=list)

    def add(self, claim: str, source: str, measured: str, holds: bool | None) -> None:
        """Note a claim.

        Args:
            claim: in one sentence.
            source: paper and section or table, or "this book".
            measured: what this run measured, with its numbers computed, not typed.
            holds: whether the measurement agrees; None if it cannot tell.
        """
        verdict = {True: "holds", False: "**does not hold here**", None: "cannot tell"}[holds]
        self.rows.append((claim, source, measured, verdict))

    def table(self) -> Markdown:
        """The claims as a table."""
        lines = ["| claim | source | measured here | verdict |", "|---|---|---|---|"]
        for row in self.rows:
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |")
        return Markdown("\n".join(lines))
