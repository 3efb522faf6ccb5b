"""demonstrations.py: what a chapter measures of a model that it trains."""

from dataclasses import replace

import pytest

from attnmt import DataUnavailable, Recipe, bleu, greedy, rnnsearch, texts
from attnmt.book import demonstrations
from attnmt.book.demonstrations import (
    corpus_has,
    print_run,
    real_text,
    train_or_load,
    translate_test,
    translate_yours,
)

RECIPE = Recipe(epochs=1, batch_size=64)


def test_real_text_or_a_line_that_says_there_is_none(monkeypatch, capsys):
    def unavailable(*args, **kwargs):
        raise DataUnavailable("no network")

    monkeypatch.setattr(demonstrations, "multi30k", unavailable)
    monkeypatch.delenv("ATTNMT_REAL_TEXT", raising=False)
    assert real_text("de-en") is None
    assert "recorded run stands in. (no network)" in capsys.readouterr().out
    assert real_text("de-en", stand_in="controlled text") is None
    assert "here; controlled text stands in." in capsys.readouterr().out
    monkeypatch.setenv("ATTNMT_REAL_TEXT", "required")
    with pytest.raises(DataUnavailable):
        real_text("de-en")


def test_only_some_test_pairs_are_translated_and_as_many_long_ones(sharp, corpus, monkeypatch):
    monkeypatch.setattr(demonstrations, "TEST_PAIRS", 10)
    found = translate_test(sharp, replace(corpus, long=corpus.valid))
    assert found.pairs == [*corpus.test[:10], *corpus.valid[:10]]
    expected = texts(sharp, greedy(sharp, [pair.source for pair in corpus.test[:10]]))
    references = [pair.target_text for pair in corpus.test[:10]]
    assert found.sentences[:10] == expected
    assert found.test == bleu(expected, references, lowercase=True)
    assert found.long.sentences == 10
    assert len(found.translations) == len(found.sentences) == len(found.pairs)
    assert sum(bucket.bleu.sentences for bucket in found.by_length) == len(found.pairs)


def test_a_corpus_without_test_pairs_is_told_of(sharp, corpus):
    with pytest.raises(ValueError, match="has no test pairs: set some aside"):
        translate_test(sharp, replace(corpus, test=[]))


def test_bleu_of_captions_is_that_of_their_words(sharp, corpus, monkeypatch):
    """As recorded runs measure it, and not of what the tokeniser of sacreBLEU parts again."""
    monkeypatch.setattr(demonstrations, "TEST_PAIRS", 10)
    found = translate_test(sharp, replace(corpus, bleu_of_words=True))
    words = [" ".join(one.words) for one in found.translations]
    expected = [" ".join(pair.target) for pair in corpus.test[:10]]
    assert found.test == bleu(words, expected, lowercase=True, tokenised=True)
    assert all("tok:none" in bucket.bleu.signature for bucket in found.by_length)


def test_a_model_is_trained_on_captions_and_without_them_a_recorded_run_is_loaded(
    corpus, monkeypatch, capsys
):
    model, run = train_or_load("rnnsearch-live-0", None, rnnsearch, recipe=RECIPE)
    assert (model, run.name) == (None, "rnnsearch-live-0")
    plan = {"corpora": {"live": {"samples": ["w1 w2"]}}}
    monkeypatch.setattr(demonstrations, "read_plan", lambda: plan)
    make = lambda text: rnnsearch(text, hidden=8)  # noqa: E731
    model, run = train_or_load("tiny-multi30k-0", corpus, make, recipe=RECIPE)
    assert run.model == model.config
    assert [sample.source for sample in run.samples] == [["w1", "w2"]]
    capsys.readouterr()
    print_run(run)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("300 training pairs, ")
    assert lines[1].startswith(f"test BLEU {run.bleu.score:.1f}, 95% interval ")
    assert lines[2] == run.bleu.signature


# ------------------------------------------------------------- one's own corpus, one's own sentence


def test_a_cell_that_a_corpus_has_nothing_for_is_left_out_with_a_sentence(corpus, capsys):
    assert corpus_has(corpus, "links") and corpus_has(corpus, "glosses")
    assert capsys.readouterr().out == ""
    assert not corpus_has(corpus, "sentences")
    own = replace(corpus, test=[replace(pair, sure=None) for pair in corpus.test])
    assert not corpus_has(own, "links")
    assert not corpus_has(replace(corpus, source_language="en"), "glosses")
    assert capsys.readouterr().out.count("Left out: this cell needs") == 3


def test_a_corpus_without_long_pairs_has_no_score_of_them(corpus, sharp):
    found = translate_test(sharp, corpus)
    assert found.long is None and found.scores == f"test {found.test.score:.1f} BLEU"


def test_a_sentence_of_ones_own_names_what_is_not_known(sharp, capsys):
    translate_yours(sharp, "w1 Zillin w2", "v2 v1")
    _, unknown, reference = capsys.readouterr().out.splitlines()
    assert (unknown, reference) == ("not known, so read as <unk>: Zillin", "reference: v2 v1")
    assert translate_yours(sharp, "  ").words == []
    assert "write a sentence" in capsys.readouterr().out
