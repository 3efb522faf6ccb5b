"""demonstrations.py: what a chapter measures of a model that it trains."""

from dataclasses import replace

import pytest

from attnmt import DataUnavailable, Recipe, bleu, greedy, rnnsearch, texts
from attnmt.book import demonstrations
from attnmt.book.demonstrations import (
    MEANINGS,
    corpus_has,
    print_run,
    real_text,
    sample_table,
    train_or_load,
    translate_test,
    translate_yours,
)
from attnmt.evidence.plan import read_plan
from attnmt.evidence.store import load_run

RECIPE = Recipe(epochs=1, batch_size=64)


def test_real_text_or_a_line_that_says_there_is_none(monkeypatch, capsys):
    def unavailable(*args, **kwargs):
        raise DataUnavailable("no network")

    monkeypatch.setattr(demonstrations, "multi30k", unavailable)
    monkeypatch.delenv("ATTNMT_REAL_TEXT", raising=False)
    assert real_text("de-en") is None
    assert "recorded run stands in. (no network)" in capsys.readouterr().out
    monkeypatch.setenv("ATTNMT_REAL_TEXT", "required")
    with pytest.raises(DataUnavailable):
        real_text("de-en")


def test_only_some_test_pairs_are_translated_and_all_long_ones(sharp, corpus, monkeypatch):
    monkeypatch.setattr(demonstrations, "TEST_PAIRS", 10)
    found = translate_test(sharp, replace(corpus, long=corpus.valid))
    assert found.pairs == [*corpus.test[:10], *corpus.valid]
    expected = texts(sharp, greedy(sharp, [pair.source for pair in corpus.test[:10]]))
    references = [pair.target_text for pair in corpus.test[:10]]
    assert found.sentences[:10] == expected
    assert found.test == bleu(expected, references, lowercase=True)
    assert found.long.sentences == len(corpus.valid)
    assert len(found.translations) == len(found.sentences) == len(found.pairs)
    assert sum(bucket.bleu.sentences for bucket in found.by_length) == len(found.pairs)


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


def test_samples_of_a_short_run_stand_beside_those_of_a_full_run():
    run, end = load_run("luong-dot-live-0"), load_run("luong-dot-multi30k-0")
    head, _, dog, maps, score = sample_table(run, [end], places=[3, 7]).data.splitlines()
    what = "| German, *and what it means* | 10,000 pairs, 4 times | 29,000 pairs, 9 times |"
    assert head == what
    assert dog.startswith(f"| {' '.join(end.samples[3].source)}<br>*{MEANINGS[3]}* |")
    wrote = " ".join(end.samples[7].words)
    assert maps.endswith(f"| {wrote.replace('<', chr(92) + '<')} |")
    assert score == f"| **BLEU** | {run.bleu.score:.1f} | {end.bleu.score:.1f} (1 seed) |"
    other = replace(run, parts={"test": replace(run.bleu, signature="tokenised otherwise")})
    assert "| **BLEU** | – |" in sample_table(other, [end]).data


def test_each_sample_caption_has_its_meaning():
    corpora = read_plan()["corpora"]
    samples = corpora["multi30k"]["samples"]
    assert samples == corpora["live"]["samples"]
    assert len(samples) == len(MEANINGS)


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
