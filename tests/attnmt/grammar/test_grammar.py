"""attnmt.grammar: forty pairs checked by hand, what holds of every link, always the same words."""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from attnmt.grammar.generate import Grammar, fill, linked, quotas
from attnmt.grammar.words import fresh_names, lexicon

LENGTHS = quotas(3_000, range(4, 23))
CHECKED = Path(__file__).with_name("sentences.txt").read_text(encoding="utf-8").split("\n\n")[1:]
CHECKSUM = "4dd078c4fc0f0a4c"  # of 300 samples of seed 3; any change of words or rules shows
ATTNMT = str(Path(__file__).resolve().parents[3] / "src" / "attnmt")
DRAW = f"""
import hashlib, sys, types
sys.modules["attnmt"] = types.ModuleType("attnmt")  # without PyTorch, which its own would bring
sys.modules["attnmt"].__path__ = [{ATTNMT!r}]
from attnmt.grammar.generate import Grammar, fill, quotas
samples = fill(Grammar(3), quotas(300, range(4, 41)), 0, set())
text = repr([(x.german, x.english, sorted(x.sure), sorted(x.possible)) for x in samples])
print(hashlib.sha256(text.encode()).hexdigest()[:16])
"""


@pytest.fixture(scope="module")
def samples():
    return fill(Grammar(0), LENGTHS, 0, set())


@pytest.fixture(scope="module")
def by_german(samples):
    return {" ".join(sample.german): sample for sample in samples}


@pytest.mark.parametrize("checked", CHECKED, ids=lambda checked: checked.splitlines()[0][:40])
def test_pairs_that_were_checked_by_hand_are_drawn_with_their_links(by_german, checked):
    german, english, links = checked.splitlines()
    sample = by_german[german]
    found = [f"{i}-{j}" + "?" * ((i, j) not in sample.sure) for i, j in sorted(sample.possible)]
    assert (" ".join(sample.english), found) == (english, links.split())


@pytest.mark.parametrize("seed", ["1", "random"])
def test_every_machine_draws_the_same_words_and_links(seed):
    """In processes whose sets and dictionaries are in another order."""
    there = os.environ | {"PYTHONHASHSEED": seed}
    ran = subprocess.run([sys.executable, "-c", DRAW], env=there, capture_output=True, text=True)
    assert ran.stdout.strip() == CHECKSUM, ran.stderr


# ------------------------------------------------------------------ links and classes


def test_links_are_in_range_and_every_word_has_one(samples):
    for sample in samples:
        assert sample.sure <= sample.possible
        assert {i for i, _ in sample.possible} == set(range(len(sample.german)))
        assert {j for _, j in sample.possible} == set(range(len(sample.english)))


def test_words_without_a_sure_link_are_those_the_module_names(samples):
    """do, to, helpers, in order, the article before a possessor, commas of one language."""
    loose = Counter()
    for sample in samples:
        sure = {i for i, _ in sample.sure}, {j for _, j in sample.sure}
        loose.update(w for i, w in enumerate(sample.german) if i not in sure[0])
        loose.update(w for j, w in enumerate(sample.english) if j not in sure[1])
    german = {",", "um", "der", "die", "das", "den", "dem"}
    assert set(loose) == german | {"do", "does", "did", "to", "was", "were", "in", "order"}


def test_classes_are_of_the_closed_list(samples):
    used = {kind for sample in samples for kind in sample.german_classes + sample.english_classes}
    assert used == {row.name for row in lexicon("classes")}
    for sample in samples:
        assert len(sample.german) == len(sample.german_classes)
        assert len(sample.english) == len(sample.english_classes)


def test_a_sentence_has_one_translation_in_both_directions():
    grammar, seen = Grammar(99), {}
    for number in range(2_000):
        sample = linked(*grammar.sentence(4 + number % 37))
        for side in (0, 1):
            assert seen.setdefault((side, sample[side]), sample[1 - side]) == sample[1 - side]


# ------------------------------------------------------------------ names


def test_fresh_names_are_never_used_otherwise(samples):
    assert not fresh_names() & {word for sample in samples for word in sample.german}
    fresh = fill(Grammar(1, fresh=True), quotas(200, range(4, 41)), 0, set())
    assert all(fresh_names() & set(sample.german) for sample in fresh)


# ------------------------------------------------------------------ quotas and errors


def test_fill_says_when_there_is_no_more():
    with pytest.raises(ValueError, match="no more sentences of 2 words"):
        fill(Grammar(0), {2: 500}, 0, set())
