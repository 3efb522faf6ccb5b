"""What only the chapters need: show a piece of source code, judge claims and keep their table."""

import inspect
import os
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from IPython.display import Markdown

from attnmt import DataUnavailable
from attnmt.book.live.glosses import gloss as gloss
from attnmt.book.live.glosses import gloss_pair as gloss_pair
from attnmt.book.said import say as say
from attnmt.book.tables import table, with_range
from attnmt.corpus import Corpus, multi30k
from attnmt.evidence.comparison import (
    MARGIN_AER,
    MARGIN_BLEU,
    Comparison,
    Decision,
    Expected,
    System,
    compare,
    decide,
)
from attnmt.evidence.measured import measured
from attnmt.evidence.runs import TITLES, recorded


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


MARGINS = {
    ("bleu", "grammar"): MARGIN_BLEU,
    ("bleu", "multi30k"): MARGIN_BLEU,
    ("aer", "grammar"): MARGIN_AER,
}
DIGITS = {"bleu": 1, "aer": 2, "perplexity": 2, "cpu_seconds": 0}


@dataclass(frozen=True)
class Versus:
    """Two recorded systems that a claim compares; the difference is first - second.

    Attributes:
        claim: in one sentence.
        source: paper and section or table, or "this book".
        first, second: named as in ``runs.toml``, such as "luong-dot".
        what: "bleu", "aer", "perplexity" or "cpu_seconds".
        corpus_name: "grammar" or "multi30k".
        part: of the corpus, as for :func:`.measured`.
        expected: the side of 0 on which the claim puts the difference.
    """

    claim: str
    source: str
    first: str
    second: str
    what: str = "bleu"
    corpus_name: str = "grammar"
    part: str = "test"
    expected: Expected = "above"

    def scores(self) -> tuple[System, System]:
        """What the recorded runs of both measured."""
        both = (recorded(system, self.corpus_name) for system in (self.first, self.second))
        first, second = (measured(runs, self.what, self.part) for runs in both)
        return first, second

    def comparison(self) -> Comparison:
        """Not decided yet: that depends on what else is in the table."""
        margin = MARGINS.get((self.what, self.corpus_name))
        return compare(*self.scores(), expected=self.expected, margin=margin, claim=self.claim)

    def text(self) -> str:
        """Both systems' scores: mean, lowest and highest seed."""
        digits = DIGITS[self.what]
        names = (TITLES[system] for system in (self.first, self.second))
        both = zip(names, self.scores(), strict=True)
        return ", ".join(f"{name} {with_range(one.scores, digits)}" for name, one in both)


QUESTION = "question of ours"
NOT_RUN = "not run"


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

    def judge(self, rows: Sequence[Versus], question: bool = False) -> list[Decision]:
        """Note comparisons that stand in one table of a paper; they are decided together.

        Args:
            rows: the comparisons.
            question: they are ours: intervals, but no verdicts.
        """
        decisions = decide([row.comparison() for row in rows])
        for row, decision in zip(rows, decisions, strict=True):
            self.add(
                row.claim,
                row.source,
                row.text(),
                decision=decision,
                question=question,
                digits=DIGITS[row.what],
            )
        return decisions

    def not_run(self, claim: str, source: str, why: str) -> None:
        """Note a claim that no run here can answer, and why."""
        self.rows.append((claim, source, why, NOT_RUN))

    def table(self) -> Markdown:
        """The claims as a table."""
        return table(["claim", "source", "measured here", "verdict"], self.rows)
