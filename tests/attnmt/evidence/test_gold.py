"""gold.py: links of real text are indices, and they meet only the words that they were drawn on."""

import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnmt.corpus import Corpus, Pair, multi30k
from attnmt.evidence.folders import results_folder
from attnmt.evidence.gold import (
    BY,
    Drawn,
    agreement,
    checksum,
    gold_links,
    gold_pairs,
    read_links,
)
from attnmt.metrics import alignment_error_rate

LINKS = st.sets(st.tuples(st.integers(0, 4), st.integers(0, 6)), max_size=12)


@given(LINKS, LINKS)
def test_links_are_read_as_they_are_written(sure, more):
    more -= sure
    written = [f"{s}-{t}" for s, t in sure] + [f"{s}?{t}" for s, t in more]
    drawn = read_links(" ".join(sorted(written)), (5, 7))
    assert drawn == Drawn(frozenset(sure), frozenset(sure | more))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("0-0 1:1", "not '1:1'"),
        ("0-0 -1-1", "not '-1-1'"),
        ("3-0", "link 3-0 in sentences of 3 and 4 words"),
        ("0?4", "link 0.4 in sentences of 3 and 4"),
        ("0-0 0?0", "0-0 is there twice"),
    ],
)
def test_what_is_no_link_is_refused(text, said):
    with pytest.raises(ValueError, match=said):
        read_links(text, (3, 4))


def test_a_wrong_link_is_found_by_its_pair(tmp_path):
    pair = {"index": 7, "sha256": ["", ""], "words": [1, 1], "first": "", "second": "0-1"}
    path = tmp_path / "links.json"
    path.write_text(json.dumps({"pairs": [pair | {"settled": ""}]}))
    with pytest.raises(ValueError, match=r"links\.json, pair 7: link 0-1 in"):
        gold_links(path)


def test_the_file_has_150_pairs_and_three_drawings_of_each():
    links = gold_links()
    assert len({gold.index for gold in links}) == len(links) == 150
    assert all(0 <= gold.index < 1_000 for gold in links)
    for who in BY:
        assert sum(len(gold.by[who].sure) for gold in links) > 1_000
        assert all(gold.by[who].sure for gold in links)


def test_the_settled_links_are_in_doubt_only_where_the_annotators_were():
    for gold in gold_links():
        first, second, settled = (gold.by[who] for who in BY)
        assert (
            first.possible & second.possible <= settled.possible <= first.possible | second.possible
        )
        assert first.sure & second.sure <= settled.sure <= first.sure | second.sure


def test_the_file_holds_no_word_of_a_caption():
    text = (results_folder() / "gold" / "multi30k_de-en.json").read_text("utf-8")
    for pair in json.loads(text)["pairs"]:
        assert set(pair) == {"index", "sha256", "words", *BY}
        assert set("".join(pair[who] for who in BY)) <= set("0123456789-? ")


def test_agreement_of_a_small_example():
    one = [Drawn(frozenset({(0, 0), (1, 1)}), frozenset({(0, 0), (1, 1), (2, 1)}))]
    other = [Drawn(frozenset({(0, 0)}), frozenset({(0, 0), (1, 1)}))]
    found = agreement(one, other)
    assert found["sure"] == pytest.approx(2 * 1 / 3)
    assert found["all"] == pytest.approx(2 * 2 / 5)
    assert found["kind"] == 0.5  # (1, 1) is sure to one, possible to the other
    assert found["pairs"] == 0
    assert agreement(one, one) == {"sure": 1, "all": 1, "kind": 1, "pairs": 1}


def made_up(test: list[Pair], name: str = "multi30k-de-en") -> Corpus:
    return Corpus(name, "de", "en", test, test, test, vocabulary_size=9, lower=True)


def test_other_words_get_no_links():
    pair = Pair(("ein", "haus"), ("a", "house"), "Ein Haus", "A house")
    with pytest.raises(ValueError, match="not the words that were linked"):
        gold_pairs(made_up([pair] * 1_000))
    with pytest.raises(ValueError, match="not of grammar"):
        gold_pairs(made_up([pair], "grammar-de-en"))
    with pytest.raises(ValueError, match="by must be one of first, second, settled"):
        gold_pairs(made_up([pair]), by="third")


def test_the_checksum_knows_no_case_but_knows_the_words_borders():
    assert checksum(["Ein", "Haus"]) == checksum(("ein", "haus")) != checksum(["einhaus"])


@pytest.mark.skipif("ATTNMT_DATA" not in os.environ, reason="needs ATTNMT_DATA, the captions")
def test_the_links_fit_the_captions():
    """The same pairs with case and without; and each annotator aligns as the other does."""
    corpus = multi30k("de-en", train=100)
    pairs = gold_pairs(corpus)
    assert len(pairs) == 150
    assert [p.sure for p in gold_pairs(multi30k("de-en", train=100, lower=False))] == [
        p.sure for p in pairs
    ]
    for pair, gold in zip(pairs, gold_links(), strict=True):
        assert (len(pair.source), len(pair.target)) == gold.words
        last = (len(pair.source) - 1, len(pair.target) - 1)
        if pair.source[-1] == pair.target[-1] == ".":
            assert last in pair.sure
    sure = [pair.sure for pair in gold_pairs(corpus, "first")]
    assert alignment_error_rate(sure, gold_pairs(corpus, "second")) < 0.1
