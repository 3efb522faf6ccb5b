"""Gold links of real text: which words of 150 caption pairs correspond, as annotators drew them.

We know of no published alignment of Multi30k, so ``results/gold/multi30k_de-en.json`` has one. It
holds indices and checksums, not a word of the captions: with the text at hand, :func:`gold_pairs`
puts the links on the pairs of ``multi30k("de-en").test``. Two annotators worked without seeing each
other's links; where they differed, a third decided. All were language models, not people.
"""

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from attnmt.checks import one_of
from attnmt.corpus import Corpus, Link, Pair
from attnmt.evidence.folders import results_folder

LINK = re.compile(r"(\d+)([-?])(\d+)")
GOLD_CORPUS = "multi30k-de-en"  # the name of the corpus that was linked
BY = ("first", "second", "settled")


@dataclass(frozen=True)
class Drawn:
    """The links of one pair, of German word ``s`` and English word ``t``, counted from 0.

    Attributes:
        sure: any careful reader would draw them.
        possible: all links, the sure ones among them (as of :class:`.Pair`).
    """

    sure: frozenset[Link]
    possible: frozenset[Link]


@dataclass(frozen=True)
class Gold:
    """One pair of ``test_2016_flickr`` and its links.

    Attributes:
        index: of its line, from 0.
        sha256: of the German and the English sentence: its words, in lower case, with one space
            between two.
        words: how many the German and the English sentence have.
        by: the links, by each of ``BY``.
    """

    index: int
    sha256: tuple[str, str]
    words: tuple[int, int]
    by: dict[str, Drawn]


def read_links(text: str, words: tuple[int, int]) -> Drawn:
    """Links as they are written: ``0-0 1-2 3?4``, with ``?`` for one that is only possible.

    Raises:
        ValueError: something else, a link twice, or a word that the sentence does not have.
    """
    sure: set[Link] = set()
    drawn: set[Link] = set()
    for one in text.split():
        if not (found := LINK.fullmatch(one)):
            raise ValueError(f"a link is written 0-0 or, if only possible, 0?0, not {one!r}")
        s, t = (int(found[group]) for group in (1, 3))
        if s >= words[0] or t >= words[1]:
            raise ValueError(f"link {one} in sentences of {words[0]} and {words[1]} words")
        if (s, t) in drawn:
            raise ValueError(f"link {s}-{t} is there twice")
        drawn.add((s, t))
        if found[2] == "-":
            sure.add((s, t))
    return Drawn(frozenset(sure), frozenset(drawn))


@cache
def gold_links(path: Path | None = None) -> list[Gold]:
    """All that the file says, checked.

    Raises:
        ValueError: a link that makes no sense; the message names the pair.
    """
    path = path or results_folder() / "gold" / "multi30k_de-en.json"
    found = []
    for pair in json.loads(path.read_text(encoding="utf-8"))["pairs"]:
        words = tuple(pair["words"])
        try:
            by = {who: read_links(pair[who], words) for who in BY}
        except ValueError as error:
            raise ValueError(f"{path.name}, pair {pair['index']}: {error}") from error
        found.append(Gold(pair["index"], tuple(pair["sha256"]), words=words, by=by))
    return found


def checksum(words: Sequence[str]) -> str:
    """Of a tokenised sentence, in lower case."""
    return hashlib.sha256(" ".join(words).lower().encode()).hexdigest()


def has_gold_links(corpus: Corpus) -> bool:
    """Whether some of the corpus's test pairs were linked."""
    return corpus.name == GOLD_CORPUS


def gold_pairs(corpus: Corpus, by: str = "settled") -> list[Pair]:
    """The annotated pairs of a corpus of captions, with their links.

    Args:
        corpus: ``multi30k("de-en")``, of any size.
        by: "settled", or the "first" or the "second" annotator alone.

    Raises:
        ValueError: another corpus, or its words are not those that were linked (for instance since
            another version of the tokeniser parted them in another way).
    """
    one_of(BY, by=by)
    if not has_gold_links(corpus):
        raise ValueError(f"the gold links are of {GOLD_CORPUS}, not of {corpus.name}")
    pairs = []
    for gold in gold_links():
        pair = corpus.test[gold.index]
        if (checksum(pair.source), checksum(pair.target)) != gold.sha256:
            raise ValueError(
                f"pair {gold.index} of {corpus.name}.test has not the words that were linked. The "
                "links are of Moses tokens; requirements.txt has the tokeniser's version"
            )
        drawn = gold.by[by]
        pairs.append(replace(pair, sure=drawn.sure, possible=drawn.possible))
    return pairs


def agreement(one: Sequence[Drawn], other: Sequence[Drawn]) -> dict[str, float]:
    """How far two annotators drew the same.

    Returns:
        Four shares by name. "sure" and "all" are twice the links that both drew, over the links
        that each drew, summed (the F1 of one against the other), of sure links and of all. "kind"
        is, of the links that both drew, the share that both call sure or both only possible, and
        "pairs" the share of pairs with the same links of the same kinds.
    """
    zipped = list(zip(one, other, strict=True))
    both = sum(len(a.possible & b.possible) for a, b in zipped)
    same = sum(
        ((link in a.sure) == (link in b.sure))
        for a, b in zipped
        for link in a.possible & b.possible
    )
    sure = sum(len(a.sure & b.sure) for a, b in zipped)
    return {
        "sure": 2 * sure / sum(len(a.sure) + len(b.sure) for a, b in zipped),
        "all": 2 * both / sum(len(a.possible) + len(b.possible) for a, b in zipped),
        "kind": same / both,
        "pairs": sum(a == b for a, b in zipped) / len(zipped),
    }
