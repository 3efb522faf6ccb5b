"""What only the chapters need: show a piece of source code, and keep a table of claims."""

import inspect
import os
import textwrap
from dataclasses import dataclass, field
from typing import Any

from IPython.display import Markdown

from attnmt import DataUnavailable
from attnmt.book.live.glosses import gloss as gloss
from attnmt.book.live.glosses import gloss_pair as gloss_pair
from attnmt.book.said import say as say
from attnmt.book.tables import table
from attnmt.corpus import Corpus, multi30k
from attnmt.evidence.claims import NOT_RUN
from attnmt.evidence.comparison import Decision


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


QUESTION = "question of ours"


@dataclass
class Claims:
    """A chapter's claims: what a paper says, what was measured here, and the verdict.

    A verdict is that of the truth rule (:mod:`.comparison`): *agrees*, *opposite*, *no difference*
    or *undecided*. What is no comparison of two systems has none: a number beside a threshold of
    our own is a *question of ours*, and what nobody has trained is *not run*.
    """

    rows: list[tuple[str, str, str, str]] = field(default_factory=list)

    def add(
        self,
        claim: str,
        source: str,
        found: str,
        *,
        decision: Decision | None = None,
        question: bool = False,
        digits: int = 1,
    ) -> None:
        """Note a claim.

        Args:
            claim: in one sentence.
            source: paper and section or table, or "this book".
            found: what was measured, with its numbers computed, not typed.
            decision: from :func:`.decide`; its difference and interval are added to ``found``.
                None: a question of ours, which has numbers and no verdict.
            question: it is ours although two systems are compared: an interval, but no verdict.
            digits: of the difference.
        """
        verdict = QUESTION if question or decision is None else decision.verdict
        if decision is not None:
            found = f"{found}; difference {decision.text(digits)}"
        self.rows.append((claim, source, found, verdict))

    def not_run(self, claim: str, source: str, why: str) -> None:
        """Note a claim that no run here can answer, and why."""
        self.rows.append((claim, source, why, NOT_RUN))

    def table(self) -> Markdown:
        """The claims as a table."""
        return table(["claim", "source", "measured here", "verdict"], self.rows)
