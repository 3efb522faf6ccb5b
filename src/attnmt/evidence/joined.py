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
HELD_OUT = 4_000  # of these, for ``test``
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


def joined_captions(train: int | None = None, most: int = LONGEST) -> Corpus:
    """German-English captions (:func:`.multi30k`), joined to sentences of up to 60 words.

    ``valid`` and ``test`` do not depend on ``most``: two models that learned from sentences of
    different lengths are measured on the same ones. To have enough of each length, ``test`` is made
    of ``test_2016_flickr`` and of ``HELD_OUT`` captions that are not learned from. Each caption
    stands in one sentence. (Of the captions to learn from, those whose source also stands in
    ``valid`` or ``test`` are left out.)

    Args:
        train: joined pairs to learn from; None for all that the captions make.
        most: words of a sentence to learn from, on either side, at most. Longer captions are
            left out.

    Raises:
        ValueError: more pairs than the captions make.
        DataUnavailable: the files are neither on this machine nor to be had.
    """
    whole(1, most=most)
    alone = multi30k("de-en", CAPTIONS, seed=0)
    tested = [*alone.test, *alone.train[CAPTIONS - HELD_OUT :]]
    known = {pair.source for pair in (*alone.valid, *tested)}
    learned = [
        pair
        for pair in alone.train[: CAPTIONS - HELD_OUT]
        if pair.source not in known and words([pair]) <= most
    ]
    origin = {"name": "joined", "train": train, "most": most}
    found = join_all(learned, most, seed=0)
    train = len(found) if train is None else train
    whole(1, train=train)
    if train > len(found):
        raise ValueError(
            f"train={train:,} pairs were asked for, but {len(learned):,} captions make "
            f"{len(found):,} of up to {most} words. Ask for fewer."
        )
    return Corpus(
        f"multi30k-joined-{most}",
        "de",
        "en",
        found[:train],
        valid=join_all(alone.valid, LONGEST, seed=0),
        test=join_all(tested, LONGEST, seed=0),
        vocabulary_size=4_092,
        lower=True,
        report={"captions": len(learned), "kept": train},
        bleu_of_words=True,
        origin=origin,
    )
