"""The registry of corpora, and the plan of recorded runs that names them."""

from inspect import isfunction, signature

import pytest

from attnmt import corpus
from attnmt_book import cli
from attnmt_book.corpora import CORPORA
from attnmt_book.runs import book, names, planned


@pytest.mark.parametrize("name", CORPORA)
def test_a_corpus_can_be_asked_for_a_number_of_training_pairs(name):
    parameters = signature(CORPORA[name]).parameters
    assert "train" in parameters or name == "files"  # whose number is that of its lines


def test_every_function_that_makes_a_corpus_is_listed():
    found = {
        function
        for function in vars(corpus).values()
        if isfunction(function) and signature(function).return_annotation is corpus.Corpus
    }
    assert found == set(CORPORA.values())


def test_the_command_line_has_every_corpus(capsys):
    assert cli.CORPORA is CORPORA
    assert cli.main(["corpus", "--corpus.name", "no-such-corpus"]) == 1
    said = capsys.readouterr().err
    assert all(name in said for name in CORPORA)


def test_the_plan_names_corpora_that_there_are():
    assert set(book()["corpora"]) <= set(CORPORA)
    assert {tier["corpus"] for tier in book()["tiers"]} <= set(book()["corpora"])


def test_every_run_of_the_plan_has_a_name_of_its_own():
    runs = [
        (system, tier["corpus"], seed)
        for tier in book()["tiers"]
        for system in tier["systems"]
        for seed in tier["seeds"]
    ]
    assert len(names()) == len(set(runs))
    for name, parts in planned().items():
        assert name == "-".join(map(str, parts))
