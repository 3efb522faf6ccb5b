"""results/studies/caption_links.json: links are counted as the recorded alignment errors are."""

import json
from dataclasses import replace

import pytest

from attnmt.corpus import Pair
from attnmt.evidence.store import load_run, load_statistics
from studies.caption_links import CLASSES, FUNCTION, STORE, class_of, count
from studies.study import recorded_on

STUDY = json.loads(STORE.read_text(encoding="utf-8"))
RUNS = STUDY["runs"]
PAIR = Pair(
    ("ein", "hund", "rennt"),
    ("a", "dog", "is", "running"),
    "",
    "",
    sure=frozenset({(0, 0), (1, 1), (2, 3)}),
    possible=frozenset({(0, 0), (1, 1), (2, 3), (2, 2)}),
)


def test_every_recorded_run_that_attends_is_counted():
    """Start the study again when runs were added."""
    captions = recorded_on("multi30k")
    assert set(RUNS) == {name for name in captions if load_run(name).aer is not None}


@pytest.mark.parametrize("name", RUNS)
def test_the_counts_are_those_of_the_recorded_alignment_errors(name):
    _, possible, predicted, _ = load_statistics(name)["gold_aer"].astype(int).sum(axis=0)
    assert sum(right for right, _ in RUNS[name].values()) == possible
    assert sum(drawn for _, drawn in RUNS[name].values()) == predicted
    assert RUNS[name]["unlinked"][0] == 0


def test_all_runs_are_asked_for_the_same_words():
    drawn = {tuple(of_run[kind][1] for kind in CLASSES) for of_run in RUNS.values()}
    assert len(drawn) == 1  # one link a word, whatever the model
    ((content, function, unlinked),) = drawn
    assert min(content, function) > 10 * unlinked


def test_a_word_without_a_gold_link_is_of_its_own_class():
    assert [class_of(PAIR, t) for t in range(4)] == ["function", "content", "function", "content"]
    bare = replace(PAIR, possible=PAIR.sure)
    assert class_of(bare, 2) == "unlinked"


def test_links_are_right_if_the_gold_has_them_sure_or_possible():
    links = {(0, 0), (0, 1), (2, 2), (2, 3)}
    found = {"content": [1, 2], "function": [2, 2], "unlinked": [0, 0]}
    assert count([links], [PAIR]) == found
    both = {kind: [2 * n for n in counts] for kind, counts in found.items()}
    assert count([links, links], [PAIR, PAIR]) == both


def test_function_words_are_written_as_the_tokeniser_writes_them():
    assert all(word == word.lower() and word.strip() for word in FUNCTION)
