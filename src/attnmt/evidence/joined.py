"""Longer real sentences: captions that are joined, up to 60 words.

A caption has a dozen words, and the papers speak of sentences of fifty. Joined to one sentence of
one to five captions, they give real words at these lengths. Caption by caption they are independent
of each other, as the sentences of a text are not.
"""

import random
from collections.abc import Sequence

from attnmt.checks import whole
from attnmt.corpus import multi30k
from attnmt.pairs import Corpus, Pair

CAPTIONS = 29_000  # pairs of Multi30k to learn from
LONGEST = 60  # words of a joined sentence of ``valid`` and ``test``, at most
SEVERAL = 5  # captions in a sentence, at most


def join(pairs: Sequence[Pair]) -> Pair:
    """One pair, whose two sides are those of some pairs, one after the other."""
    return Pair(
        tuple(word for pair in pairs for word in pair.source),
        tuple(word for pair in pairs for word in pair.target),
        source_text=" ".join(pair.source_text for pair in pairs),
        target_text=" ".join(pair.target_text for pair in pairs),
    )


def words(pairs: Sequence[Pair]) -> int:
    """Of all pairs together, on the side that has more."""
    return max(sum(len(pair.source) for pair in pairs), sum(len(pair.target) for pair in pairs))


def join_all(pairs: Sequence[Pair], most: int, seed: int) -> list[Pair]:
    """All pairs, each once and in their order, joined to sentences of all lengths.

    For each sentence a length is drawn, from 1 to ``most`` words, and pairs are joined until it has
    as many; but no more than ``SEVERAL`` pairs, and no more than ``most`` words on either side
    (unless a single pair has).

    Args:
        pairs: to be joined.
        most: words.
        seed: of the lengths.
    """
    rng = random.Random(seed)
    joined = []
    group: list[Pair] = []
    length = rng.randint(1, most)
    for pair in pairs:
        enough = len(group) == SEVERAL or words(group) >= length
        if group and (enough or words([*group, pair]) > most):
            joined.append(join(group))
            group = []
            length = rng.randint(1, most)
        group.append(pair)
    return [*joined, join(group)] if group else joined


def joined_captions(
    train: int | None = None,
    most: int = LONGEST,
    seed: int = 0,
    *,
    captions: int = CAPTIONS,
    held_out: int = 4_000,
    vocabulary_size: int = 4_092,
) -> Corpus:
    """German-English captions (:func:`.multi30k`), joined to sentences of up to 60 words.

    ``valid`` and ``test`` do not depend on ``most``: two models that learned from sentences of
    different lengths are measured on the same ones. To have enough of each length, ``test`` is made
    of ``test_2016_flickr`` and of ``held_out`` captions that are not learned from. Each caption
    stands in one sentence. (Of the captions to learn from, those whose source also stands in
    ``valid`` or ``test`` are left out.)

    Args:
        train: joined pairs to learn from; None for all that the captions make.
        most: words of a sentence to learn from, on either side, at most. Longer captions are
            left out.
        seed: of the draws of captions and lengths.
        captions: to be drawn of the 29,000.
        held_out: of these, for ``test``.
        vocabulary_size: words a side.

    Raises:
        ValueError: more pairs than the captions make.
        DataUnavailable: the files are neither on this machine nor to be had.
    """
    whole(1, most=most)
    whole(0, held_out=held_out)
    whole(held_out + 1, captions=captions)
    alone = multi30k("de-en", captions, seed)
    tested = [*alone.test, *alone.train[captions - held_out :]]
    known = {pair.source for pair in (*alone.valid, *tested)}
    learned = [
        pair
        for pair in alone.train[: captions - held_out]
        if pair.source not in known and words([pair]) <= most
    ]
    parts = {
        "train": _first(train, learned, most, seed=seed),
        "valid": join_all(alone.valid, LONGEST, seed),
        "test": join_all(tested, LONGEST, seed),
    }
    report = {"captions": len(learned), "kept": len(parts["train"])}
    more = {"vocabulary_size": vocabulary_size, "lower": True, "report": report}
    return Corpus(f"multi30k-joined-{most}", "de", "en", **parts, **more, bleu_of_words=True)


def _first(train: int | None, learned: Sequence[Pair], most: int, *, seed: int) -> list[Pair]:
    """The captions joined, as many of them as are asked for."""
    found = join_all(learned, most, seed)
    if train is None:
        return found
    whole(1, train=train)
    if train > len(found):
        raise ValueError(
            f"train={train:,} pairs were asked for, but {len(learned):,} captions make "
            f"{len(found):,} of up to {most} words. Ask for fewer."
        )
    return found[:train]
