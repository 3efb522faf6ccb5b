"""The German-English grammar behind the controlled corpus; `generate` says how it works."""

from attnmt.grammar.generate import (
    TIMES,
    Grammar,
    articles,
    commas,
    fill,
    linked,
    quotas,
    richness,
    written,
)
from attnmt.grammar.phrases import Phrase, Sample, Setting
from attnmt.grammar.words import LEXICON, fresh_names, lexicon, names, select

__all__ = [
    "LEXICON",
    "TIMES",
    "Grammar",
    "Phrase",
    "Sample",
    "Setting",
    "articles",
    "commas",
    "fill",
    "fresh_names",
    "lexicon",
    "linked",
    "names",
    "quotas",
    "richness",
    "select",
    "written",
]
