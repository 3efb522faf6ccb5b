"""grammar_corpus: parts, quotas, directions, no leakage, and errors that say what to do."""

from collections import Counter

import pytest

from attnmt import grammar_corpus
from attnmt.corpus import _pair
from attnmt.grammar.generate import Grammar, fill, quotas

SMALL = {"train": 1_500, "valid": 100, "test": 200, "long": 60, "names": 60}


@pytest.fixture(scope="module")
def corpus():
    return grammar_corpus(**SMALL, seed=1)


def test_parts_have_the_sizes_and_lengths_asked_for(corpus):
    for part, size in SMALL.items():
        assert len(getattr(corpus, part)) == size
    assert corpus.name == "grammar-de-en"
    assert (corpus.source_language, corpus.target_language) == ("de", "en")
    assert not corpus.bleu_of_words
    lengths = Counter(len(pair.source) for pair in corpus.train)
    assert lengths == {k: n for k, n in quotas(1_500, range(4, 41), 10).items() if n}
    assert min(lengths.values()) >= 15
    assert {len(pair.source) for pair in corpus.test} == set(range(4, 41))
    assert {len(pair.source) for pair in corpus.long} == set(range(41, 61))


def test_no_sentence_occurs_twice(corpus):
    pairs = [pair for part in SMALL for pair in getattr(corpus, part)]
    assert len({pair.source for pair in pairs}) == len(pairs)
    assert len({pair.target for pair in pairs}) == len(pairs)


@pytest.mark.parametrize("direction", ["de-en", "en-de"])
def test_pairs_are_whole_in_both_directions(direction):
    corpus = grammar_corpus(train=200, direction=direction, valid=10, test=40, long=20, names=10)
    assert corpus.source_language == direction[:2]
    for pair in corpus.train + corpus.long:
        assert len(pair.classes) == len(pair.target)
        assert pair.sure <= pair.possible
        assert {i for i, _ in pair.possible} == set(range(len(pair.source)))
        assert {j for _, j in pair.possible} == set(range(len(pair.target)))
        for text in (pair.source_text, pair.target_text):
            assert text[0].isupper()
            assert " ," not in text
            assert text[-1] in ".?!"
    assert {len(pair.source) for pair in corpus.train} <= set(range(4, 41))
    assert {len(pair.source) for pair in corpus.long} <= set(range(41, 61))
    german = [(p.source, p.target)[direction == "en-de"] for p in corpus.train]
    assert any("nicht" in words for words in german)


def test_read_the_other_way_a_pair_has_its_links_turned():
    for sample in fill(Grammar(0), quotas(100, range(4, 23)), 0, set()):
        there, back = (_pair(sample, direction) for direction in ("de-en", "en-de"))
        assert (back.source, back.target_text) == (there.target, there.source_text)
        for kind in ("sure", "possible"):
            assert {(g, e) for e, g in getattr(back, kind)} == getattr(there, kind)


def test_the_seed_decides_and_the_test_set_does_not_depend_on_train(corpus):
    """Every word, link and part of the book's own corpus is pinned in test_moses.py."""
    smaller, other = (grammar_corpus(**SMALL | {"train": 200}, seed=seed) for seed in (1, 2))
    assert smaller.test == corpus.test and smaller.names == corpus.names
    assert other.test != corpus.test and other.train != smaller.train


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"lengths": (20, 10)}, "lengths must be two numbers of words, the smaller first"),
        ({"lengths": (1, 10)}, "from 4 to 60"),
        ({"lengths": (10, 90)}, "from 4 to 60"),
        ({"train": 20_000, "lengths": (4, 5)}, "without repeats of 4 to 5 words"),
    ],
)
def test_errors_name_the_argument(wrong, message):
    with pytest.raises(ValueError, match=message):
        grammar_corpus(**wrong)
