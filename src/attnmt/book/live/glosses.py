"""German sentences for readers who know no German: a gloss below every word, then a translation."""

import json
from functools import cache
from html import escape

from attnmt.book.live.view import asset
from attnmt.pairs import Pair

LINES = "margin: 0 0 .2rem; line-height: 2.7"  # room for what stands below each word
BELOW = "ruby-position: under; -webkit-ruby-position: after"
SMALL = "font-size: .8em; padding: 0 .25em"


class Gloss:
    """What :func:`gloss` gives a notebook to show: each word above its gloss, in as many lines as
    the page needs; as plain text where only that can be shown.

    Attributes:
        german: the words of the sentence, marks among them.
        words: what each means, "" of a mark.
        english: the translation, "" if there is none.
    """

    def __init__(self, german: list[str], words: list[str], english: str):
        self.german = german
        self.words = words
        self.english = english

    def __repr__(self) -> str:
        return "\n".join([" ".join(self.german), " ".join(self.words), self.english]).rstrip()

    def _repr_html_(self) -> str:
        pairs = zip(self.german, self.words, strict=True)
        rubies = " ".join(ruby(word, below) for word, below in pairs)
        english = f'<p style="margin: 0">{escape(self.english)}</p>' if self.english else ""
        return f'<div class="gloss"><p lang="de" style="{LINES}">{rubies}</p>{english}</div>'


def ruby(word: str, below: str) -> str:
    """A word above its gloss, as HTML."""
    if not below:
        return escape(word)
    whole = f'<span style="display: inline-block">{escape(below)}</span>'  # else words drift apart
    small = f'<rt lang="en" style="{SMALL}">{whole}</rt>'
    return f'<ruby style="{BELOW}">{escape(word)}{small}</ruby>'


def is_word(token: str) -> bool:
    return any(letter.isalnum() for letter in token)


@cache
def meanings() -> dict[str, str]:
    """What words of the controlled corpus mean, as the page *See it* has them."""
    return json.loads(asset("sentences.json"))["glosses"]


def gloss(german: str, words: str = "", english: str = "") -> Gloss:
    """A German sentence with a gloss below each word.

    Args:
        german: the sentence, its words between spaces.
        words: what each of them means, in their order and between spaces; a hyphen joins a gloss of
            two words, and marks have none. Left out: the meanings that the page *See it* tells,
            which is enough for words of the controlled corpus.
        english: a translation of the whole.

    Raises:
        ValueError: there is no sentence, words and glosses differ in number, or ``words`` is left
            out and a word is not known.
    """
    tokens = german.split()
    if not tokens:
        raise ValueError("give gloss a German sentence")
    asked = [token for token in tokens if is_word(token)]
    given = [word for word in words.split() if is_word(word)]
    if not words:
        known = [meanings().get(token.strip('.,?!"“„”')) for token in asked]
        if lacking := [token for token, word in zip(asked, known, strict=True) if word is None]:
            raise ValueError(f"say what {', '.join(lacking)} means: gloss(german, words)")
        given = [word for word in known if word]
    if len(asked) != len(given):
        raise ValueError(f"{len(asked)} words and {len(given)} glosses: {asked}, {given}")
    below = iter(given)
    return Gloss(tokens, [next(below) if is_word(token) else "" for token in tokens], english)


GENITIVE = {"des": "of the", "eines": "of a", "einer": "of a", "von": "of"}


def gloss_pair(pair: Pair) -> Gloss:
    """A pair of the controlled corpus: below each German word, the English words linked to it.

    Possible links count where a word has no sure one. A word that English only marks by 's has its
    own meaning instead.

    Raises:
        ValueError: the pair has no links.
    """
    if not pair.possible:
        raise ValueError("this pair has no links: use gloss(german, words, english)")
    words = []
    for place, token in enumerate(pair.source):
        links = [target for source, target in sorted(pair.sure) if source == place]
        links = links or [target for source, target in sorted(pair.possible) if source == place]
        below = [pair.target[target] for target in links]
        if "'s" in below:
            below = [GENITIVE.get(token) or meanings().get(token, "'s")]
        words.append(" ".join(below) if is_word(token) else "")
    return Gloss(list(pair.source), words, pair.target_text or " ".join(pair.target))
