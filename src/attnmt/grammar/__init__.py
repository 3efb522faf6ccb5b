"""The German-English grammar behind the controlled corpus; `generate` says how it works."""

from attnmt.grammar.generate import Grammar, fill, linked, quotas, written
from attnmt.grammar.phrases import Sample
from attnmt.grammar.words import LEXICON, fresh_names, lexicon, names, select

__all__ = [
    "LEXICON",
    "Grammar",
    "Sample",
    "fill",
    "fresh_names",
    "lexicon",
    "linked",
    "names",
    "quotas",
    "select",
    "written",
]
