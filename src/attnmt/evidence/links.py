"""Links between the words of a pair: yardsticks for alignment error, where a model looks, gold.

A link is (source index, target index), counted from 0. A walk along the *diagonal* passes the
middle of target word t, (t + 1/2) / T of the way, when it is as far along the source.

*Gold links* say which words of 150 caption pairs correspond. We know of no published alignment of
Multi30k, so ``results/gold/multi30k_de-en.json`` has one. It holds indices and checksums, not a
word of the captions: with the text at hand, :func:`gold_pairs` puts the links on the pairs of
``multi30k("de-en").test``. A language model drew them twice, without seeing the other's links;
where the two differed, a third decided. No person has checked them.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

import torch
from torch import Tensor

from attnmt.alignment import alignment_error_rate
from attnmt.attention import Local
from attnmt.batches import Batch, make_batch
from attnmt.checks import one_of
from attnmt.evidence.plan import results_folder
from attnmt.model import Translator, evaluating
from attnmt.pairs import Corpus, Link, Pair

SIDE_BY_SIDE = 64  # pairs of a batch
GOLD_CORPUS = "multi30k-de-en"  # the name of the corpus that was linked
BY = ("first", "second", "settled")


def off_diagonal(pair: Pair, s: int, t: int) -> float:
    """How far a link lies from the diagonal, in source words; positive: the source word is late."""
    return (s + 0.5) - (t + 0.5) * len(pair.source) / len(pair.target)


def jump(pair: Pair) -> float:
    """Largest distance of a sure link from the diagonal, in source words."""
    return max(abs(off_diagonal(pair, s, t)) for s, t in pair.sure)


def diagonal(pair: Pair) -> set[Link]:
    """One link for each target word: to the source word in which the diagonal passes it."""
    S = len(pair.source)
    T = len(pair.target)
    return {((2 * t + 1) * S // (2 * T), t) for t in range(T)}


def best_possible(pair: Pair) -> set[Link]:
    """One link for each target word: a sure one, or else a possible one."""
    chosen = {}
    for links in (pair.possible, pair.sure):
        chosen.update({t: s for s, t in sorted(links)})
    return {(s, t) for t, s in chosen.items()}


def error_of(way: Callable[[Pair], set[Link]], pairs: Sequence[Pair]) -> float:
    """Alignment error rate of a way to link words that needs no model, such as the diagonal."""
    return alignment_error_rate([way(pair) for pair in pairs], pairs)


def forced_batches(
    model: Translator, pairs: Sequence[Pair]
) -> Iterator[tuple[Sequence[Pair], Batch]]:
    """Some pairs at a time, and their words as the model reads them, on its device."""
    for start in range(0, len(pairs), SIDE_BY_SIDE):
        chosen = pairs[start : start + SIDE_BY_SIDE]
        batch = make_batch(chosen, model.source_vocabulary, model.target_vocabulary)
        yield chosen, batch.to(model.device)


def weights_on(model: Translator, pair: Pair) -> Tensor:
    """Where a model looks while it reads the reference: (T, S), a row for each target word."""
    ((_, weights),) = _looks(model, [pair])
    return weights


def gold_mass(model: Translator, pairs: Sequence[Pair]) -> float:
    """How much of its attention a model has on the words' own links, while it reads the references.

    The mean, over all target words with a sure link, of the weights of the source words that they
    are linked to: 1 if it looks nowhere else.
    """
    mass = 0.0
    words = 0
    for pair, align in _looks(model, pairs):
        mass += sum(float(align[t, s]) for s, t in pair.sure)
        words += len({t for _, t in pair.sure})
    return mass / words


def spread_of_scores(model: Translator, pairs: Sequence[Pair]) -> float:
    """How much the scores of one target word differ: their standard deviation, a mean over words.

    Softmax takes no more away than a constant, so the logarithms of the weights differ as the
    scores do. Sources of one word are left out.
    """
    found = [align.log().std(dim=-1) for _, align in _looks(model, pairs) if align.size(1) > 1]
    return float(torch.cat(found).mean())


def _looks(model: Translator, pairs: Sequence[Pair]) -> Iterator[tuple[Pair, Tensor]]:
    """Each pair, and where the model looks while it reads the reference, (T, S)."""
    for chosen, batch in forced_batches(model, pairs):
        with evaluating(model):
            _, align = model(batch)  # (B, T, S)
        for pair, weights in zip(chosen, align.cpu(), strict=True):
            yield pair, weights[: len(pair.target), : len(pair.source)]  # </s> has a row, too


def windows_on(model: Translator, pairs: Sequence[Pair]) -> list[tuple[Tensor, Tensor]]:
    """Where a local model puts its windows while it reads the references.

    Returns:
        Of each pair the centres ``p_t``, (T,), and the weights, (T, S).

    Raises:
        ValueError: the model's window is global, so it has no centre.
    """
    attention = getattr(model.decoder, "attention", None)
    window = getattr(attention, "window", None)
    if not isinstance(window, Local):
        raise ValueError("only local windows have a centre: make a model with local-m or local-p")
    asked: list[tuple] = []
    hook = attention.register_forward_pre_hook(lambda _, given: asked.append(given))
    found = []
    try:
        for chosen, batch in forced_batches(model, pairs):
            asked.clear()
            with evaluating(model):
                _, align = model(batch)  # (B, T, S)
                p = torch.cat([window.centre(*given) for given in asked], dim=1)  # (B, T)
            for row, pair in enumerate(chosen):
                T = len(pair.target)
                S = len(pair.source)
                found.append((p[row, :T].cpu(), align[row, :T, :S].cpu()))
    finally:
        hook.remove()
    return found


def words_and_links(model: Translator, pairs: Sequence[Pair]) -> Tensor:
    """Target words, counted by whether the best guess and the strongest link are right.

    The model reads the reference. A guess is the word that it would write next; a link goes to the
    source word with the largest weight, and is right if it is a possible one.

    Returns:
        Counts (2, 2), rows by the guess, columns by the link, wrong before right.
    """
    table = torch.zeros(2, 2, dtype=torch.long)
    for chosen, batch in forced_batches(model, pairs):
        with evaluating(model):
            features, align = model(batch)  # (B, T, ...), (B, T, S)
            guess = model.decoder.readout(features).argmax(-1)
        right = (guess == batch.target_out).tolist()
        looked = align.argmax(-1).tolist()
        for row, pair in enumerate(chosen):
            for t in range(len(pair.target)):
                linked = (looked[row][t], t) in pair.possible
                table[int(right[row][t]), int(linked)] += 1
    return table


# --------------------------------------------------------------------------------- gold links


@dataclass(frozen=True)
class Drawn:
    """The links of one pair, of German word ``s`` and English word ``t``, counted from 0."""

    sure: frozenset[Link]  #: any careful reader would draw them.
    possible: frozenset[Link]  #: all links, the sure ones among them (as of :class:`.Pair`).


@dataclass(frozen=True)
class Gold:
    """One pair of ``test_2016_flickr`` and its links."""

    index: int  #: of its line, from 0.
    #: of the German and the English sentence, its words in lower case, with one space between two.
    sha256: tuple[str, str]
    words: tuple[int, int]  #: how many the German and the English sentence have.
    by: dict[str, Drawn]  #: the links, by each of ``BY``.


def read_links(text: str) -> Drawn:
    """Links as they are written: ``0-0 1-2 3?4``, with ``?`` for one that is only possible."""
    links = [((int(s), int(t)), kind) for s, kind, t in re.findall(r"(\d+)([-?])(\d+)", text)]
    sure = frozenset(link for link, kind in links if kind == "-")
    return Drawn(sure, frozenset(link for link, _ in links))


@cache
def gold_links() -> list[Gold]:
    """All that the file says."""
    path = results_folder() / "gold" / "multi30k_de-en.json"
    found = []
    for pair in json.loads(path.read_text(encoding="utf-8"))["pairs"]:
        by = {who: read_links(pair[who]) for who in BY}
        found.append(Gold(pair["index"], tuple(pair["sha256"]), tuple(pair["words"]), by=by))
    return found


def gold_pairs(corpus: Corpus, by: str = "settled") -> list[Pair]:
    """The annotated pairs of a corpus of captions, with their links.

    Args:
        corpus: ``multi30k("de-en")``, of any size.
        by: one of ``BY``: "settled", or the "first" or the "second" reading alone.

    Raises:
        ValueError: another corpus, or its words are not those that were linked (for instance since
            another version of the tokeniser parted them in another way).
    """
    one_of(BY, by=by)
    if corpus.name != GOLD_CORPUS:
        raise ValueError(f"the gold links are of {GOLD_CORPUS}, not of {corpus.name}")
    pairs = []
    for gold in gold_links():
        pair = corpus.test[gold.index]
        lines = (" ".join(words).lower().encode() for words in (pair.source, pair.target))
        if tuple(hashlib.sha256(line).hexdigest() for line in lines) != gold.sha256:
            raise ValueError(
                f"pair {gold.index} of {corpus.name}.test has not the words that were linked. The "
                "links are of Moses tokens; requirements.txt has the tokeniser's version"
            )
        drawn = gold.by[by]
        pairs.append(replace(pair, sure=drawn.sure, possible=drawn.possible))
    return pairs


def agreement(one: Sequence[Drawn], other: Sequence[Drawn]) -> dict[str, float]:
    """How far two readings drew the same links.

    Returns:
        Four shares by name. "sure" and "all" are twice the links that both drew, over the links
        that each drew, summed (the F1 of one against the other), of sure links and of all. "kind"
        is, of the links that both drew, the share that both call sure or both only possible, and
        "pairs" the share of pairs with the same links of the same kinds.
    """
    zipped = list(zip(one, other, strict=True))
    both = sum(len(a.possible & b.possible) for a, b in zipped)
    other_kind = sum(len(a.possible & b.possible & (a.sure ^ b.sure)) for a, b in zipped)
    sure = sum(len(a.sure & b.sure) for a, b in zipped)
    return {
        "sure": 2 * sure / sum(len(a.sure) + len(b.sure) for a, b in zipped),
        "all": 2 * both / sum(len(a.possible) + len(b.possible) for a, b in zipped),
        "kind": (both - other_kind) / both,
        "pairs": sum(a == b for a, b in zipped) / len(zipped),
    }
