"""joined.py: every caption stands in one sentence, whole, and none is both learned and tested."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnmt.evidence import joined
from attnmt.evidence.joined import LONGEST, SEVERAL, join_all, joined_captions, words
from attnmt.pairs import Corpus, Pair


def caption(number: int, length: int, longer: int = 0) -> Pair:
    """A pair of words that no other has: as many as asked for, and more on the other side."""
    source = tuple(f"s{number}.{place}" for place in range(length))
    target = tuple(f"t{number}.{place}" for place in range(length + longer))
    return Pair(source, target, " ".join(source).upper(), " ".join(target).upper())


CAPTIONS = st.lists(
    st.tuples(st.integers(1, 25), st.integers(0, 4)),
    max_size=60,
).map(lambda sizes: [caption(number, *size) for number, size in enumerate(sizes)])


@given(CAPTIONS, st.integers(1, 60), st.integers(0, 9))
def test_every_caption_stands_in_one_sentence_and_in_its_place(pairs, most, seed):
    found = join_all(pairs, most, seed)
    for side in ("source", "target"):
        before = [word for pair in pairs for word in getattr(pair, side)]
        assert [word for pair in found for word in getattr(pair, side)] == before
    for pair in found:
        assert pair.source_text == " ".join(pair.source).upper()
        assert pair.target_text == " ".join(pair.target).upper()
        numbers = [{word[1:].split(".")[0] for word in side} for side in (pair.source, pair.target)]
        assert numbers[0] == numbers[1]  # both sides end with the same caption
        assert len(numbers[0]) <= SEVERAL
        assert words([pair]) <= most or len(numbers[0]) == 1
    assert found == join_all(pairs, most, seed)


@pytest.fixture
def made(monkeypatch):
    """Captions that are made up: some too long for short sentences, and one that is also tested."""
    train = [caption(number, 8 + number % 30) for number in range(200)]
    valid = [caption(number, 10) for number in range(200, 230)]
    test = [caption(number, 12) for number in range(230, 260)]
    train[5] = replace(train[5], source=test[3].source)

    def multi30k(pair, captions, seed, **more):
        assert pair == "de-en"
        return Corpus(
            "multi30k-de-en", "de", "en", train[:captions], valid, test, vocabulary_size=9
        )

    monkeypatch.setattr(joined, "multi30k", multi30k)
    monkeypatch.setattr(joined, "CAPTIONS", 200)
    monkeypatch.setattr(joined, "HELD_OUT", 50)


def captions_of(pairs: list[Pair]) -> set[str]:
    return {word.split(".")[0] for pair in pairs for word in pair.target}


def test_what_is_tested_is_not_learned(made):
    corpus = joined_captions()
    parts = [captions_of(part) for part in (corpus.train, corpus.valid, corpus.test)]
    assert not parts[0] & parts[1] and not parts[0] & parts[2] and not parts[1] & parts[2]
    assert len(parts[0]) == corpus.report["captions"] == 149  # 150 less the one that is also tested
    assert (len(parts[1]), len(parts[2])) == (30, 80)
    assert corpus.lower and corpus.name == "multi30k-joined-60"


def test_short_and_long_are_measured_on_the_same_sentences(made):
    long = joined_captions()
    short = joined_captions(most=20)
    assert short.test == long.test and short.valid == long.valid
    assert max(words([pair]) for pair in short.train) <= 20
    assert 50 < max(words([pair]) for pair in long.train) <= LONGEST
    assert captions_of(short.train) < captions_of(long.train)  # without those of over 20 words
    assert short.name == "multi30k-joined-20"
