"""Sphinx extension: the search of a Korean site finds words with their particles.

Sphinx has no Korean of its own: it would look for `점수` and not find `점수는`. A word loses the
particle at its end here, in the index and in what a reader asks for, by the same rule. The rule
knows no grammar: what it takes from a word that has no particle, it takes on both sides.
"""

import json
import re

from sphinx.application import Sphinx
from sphinx.search import SearchLanguage

LEAST = 2  # syllables that stay
PARTICLES = (
    "입니다|이라고|라고|으로는|에서는|에서도|에서의|까지의|으로|에서|에게|까지|부터|마다|보다|처럼|이나|이란"
    "|은|는|이|가|을|를|에|의|와|과|도|로|만|란"
)
WORD = re.compile(f"([가-힣]{{{LEAST},}}?)(?:{PARTICLES})")


def stem(word: str) -> str:
    """A word without the particle at its end."""
    found = WORD.fullmatch(word)
    return found[1] if found else word


class Korean(SearchLanguage):
    """The index's side of the rule, and the page's."""

    lang = "ko"
    language_name = "Korean"
    js_stemmer_code = f"""
var Stemmer = function() {{
  const word = new RegExp("^(?:" + {json.dumps(WORD.pattern, ensure_ascii=False)} + ")$");
  this.stemWord = (text) => (word.exec(text) ?? [, text])[1];
}}
"""

    def stem(self, word: str) -> str:
        return stem(word.lower())


def setup(app: Sphinx) -> dict:
    app.add_search_language(Korean)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
