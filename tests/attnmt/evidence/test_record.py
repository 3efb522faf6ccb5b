"""record.py: what is measured of a training, each against a plain count; and runs of the plan."""

import math
import os
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch
from sacrebleu.metrics import BLEU

from attnmt import (
    Recipe,
    Translation,
    Translator,
    beam_search,
    bleu,
    force_align,
    greedy,
    luong,
    perplexity,
    rnnsearch,
)
from attnmt.alignment import alignment_error_rate
from attnmt.evidence import record as recording
from attnmt.evidence.plan import planned
from attnmt.evidence.record import (
    entropies,
    make_run,
    measure,
    monotone_steps,
    record,
)
from attnmt.evidence.store import save_run
from attnmt.metrics import chrf, chrf_of, texts
from attnmt.text.subwords import in_pieces


def plan_of(corpus_name, *seeds, systems, **settings):
    """A plan of one tier: all systems on one corpus."""
    tier = {"name": "A", "corpus": corpus_name, "seeds": seeds, "systems": list(systems)}
    of_corpus = {"train": 300, "curve": 3, "samples": [], "recipe": {"epochs": 2}} | settings
    return {"tiers": [tier], "systems": systems, "corpora": {corpus_name: of_corpus}}


def test_a_run_says_what_was_measured(run, model, corpus):
    found = greedy(model, [pair.source for pair in corpus.test])
    references = [pair.target_text for pair in corpus.test]
    assert run.bleu.score == bleu(texts(model, found), references, lowercase=True).score
    assert run.test_perplexity == pytest.approx(perplexity(model, corpus.test))
    assert sum(bucket.bleu.sentences for bucket in run.by_length) == len(corpus.test)
    assert 0 <= run.aer <= 1
    assert run.corpus["fingerprint"] == corpus.fingerprint
    assert run.model == model.config
    assert len(run.history.epochs) == 2
    assert [point.updates for point in run.history.curve][:3] == [2, 4, 6]
    assert run.parameters == sum(weights.numel() for weights in model.parameters())
    assert set(run.versions) == {"python", "torch"}


def test_the_scores_follow_from_what_is_kept_of_each_sentence(run, statistics, model, corpus):
    kept = statistics
    assert {"test_monotone", "test_entropy"} < set(kept)
    assert all(len(rows) == len(corpus.test) for rows in kept.values())
    ours, theirs, *counts = kept["test_bleu"].sum(axis=0).tolist()
    assert BLEU.compute_bleu(counts[:4], counts[4:], ours, theirs, "exp").score == pytest.approx(
        run.bleu.score
    )
    total, tokens = kept["test_losses"].sum(axis=0)
    assert np.exp(total / tokens) == pytest.approx(run.test_perplexity)
    sure, possible, predicted, known = kept["test_aer"].sum(axis=0)
    assert 1 - (sure + possible) / (predicted + known) == pytest.approx(run.aer)
    found = greedy(model, [pair.source for pair in corpus.test])
    references = [pair.target_text for pair in corpus.test]
    expected = chrf(texts(model, found), references, lowercase=True).score
    assert chrf_of(kept["test_chrf"].sum(axis=0)) == pytest.approx(expected)
    assert kept["test_length"].tolist() == [len(pair.source) for pair in corpus.test]


def test_a_run_is_made_as_the_plan_says(corpus, tmp_path, monkeypatch, use):
    """From its name alone, hyphens and all: the model, its arguments, seed, recipe, samples."""
    systems = {"odd-one": {"model": "luong", "score": "general", "hidden": 6}}
    recipe = {"epochs": 1, "batch_size": 9}
    here = plan_of("made-up", 0, 4, systems=systems, recipe=recipe, samples=["w1"])
    use(here, {"made-up": corpus})
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)  # the saved one is on the CPU
    run, _ = make_run("odd-one-made-up-4", work=tmp_path, progress=False)
    assert os.listdir(tmp_path) == ["odd-one-made-up-4.safetensors"]  # no checkpoint is left
    assert list(planned()) == ["odd-one-made-up-0", "odd-one-made-up-4"]
    assert (run.model["model"], run.model["score"], run.model["hidden"]) == ("luong", "general", 6)
    assert run.seed == run.model["seed"] == 4
    assert run.recipe == Recipe(epochs=1, batch_size=9)
    assert [sample.source for sample in run.samples] == [["w1"]]
    saved = Translator.load(tmp_path / "odd-one-made-up-4.safetensors")
    assert perplexity(saved, corpus.test) == pytest.approx(run.test_perplexity)
    with pytest.raises(
        ValueError, match=r"name must be one of odd-one-made-up-0, odd.*not 'other-made-up-0'"
    ):
        make_run("other-made-up-0")


@pytest.fixture(scope="module")
def captions(corpus):
    """A made-up corpus that is taken for captions: not ours, and with gold links."""
    facts = {"name": "multi30k-de-en", "lower": True, "bleu_of_words": True}
    return replace(corpus, **facts, test=corpus.test[:9])


def test_bleu_of_captions_is_of_words_as_sacrebleu_counts_them(captions, sharp, monkeypatch):
    monkeypatch.setattr(recording, "gold_pairs", lambda corpus: corpus.test[:4])
    statistics, translations, _ = measure(sharp, captions, ["beam5"])
    assert statistics["gold_aer"].shape == (4, 4)
    sources = [pair.source for pair in captions.test]
    theirs = [" ".join(pair.target) for pair in captions.test]
    for key, search in (("test_bleu", greedy), ("test_beam5_bleu", beam_search)):
        ours = [" ".join(found.words).replace("<unk>", "?") for found in search(sharp, sources)]
        expected = BLEU(lowercase=True, tokenize="none").corpus_score(ours, [theirs])
        length, of_reference, *counts = statistics[key].sum(axis=0).tolist()
        assert (length, of_reference) == (expected.sys_len, expected.ref_len)
        assert counts == [*expected.counts, *expected.totals]
    scored = recording.bleu_of_parts(translations, captions)["test"]
    assert "tok:none" in scored.signature and "case:lc" in scored.signature
    buckets = recording.bleu_of_lengths(translations, captions)
    assert all("tok:none" in bucket.bleu.signature for bucket in buckets)


def test_captions_in_pieces_are_counted_in_words(captions, monkeypatch):
    """So runs with and without subwords share references, lengths and links."""
    cut = in_pieces(captions, 13)  # w12 is three pieces, as no digits are joined
    assert sum(len(pair.source) for pair in cut.test) > sum(len(p.source) for p in captions.test)
    monkeypatch.setattr(recording, "gold_pairs", lambda corpus: corpus.test)
    model = luong(cut, hidden=8)
    statistics, translations, _ = measure(model, cut, ["beam5"])
    assert statistics["test_length"].tolist() == [len(pair.source) for pair in captions.test]
    lengths = [len(pair.target) for pair in captions.test]
    for key in ("test_bleu", "test_beam5_bleu"):
        assert statistics[key][:, 1].tolist() == lengths
    units = model.target_vocabulary.units
    wrote = greedy(model, [pair.source for pair in cut.test])
    assert translations["test"] == [" ".join(units.join(one.words)) for one in wrote]
    links = force_align(model, cut.test)  # between words
    assert recording.aer_of(statistics) == alignment_error_rate(links, captions.test)
    assert statistics["test_losses"][:, 1].tolist() == [len(p.target) + 1 for p in cut.test]
    buckets = recording.bleu_of_lengths(translations, cut)
    assert buckets == recording.bleu_of_lengths(translations, captions)
    sample = recording.translate_sample(model, captions.test[0].source_text)
    assert sample.source == list(captions.test[0].source)
    assert [len(row) for row in sample.alignment] == [len(sample.source)] * len(sample.words)


def test_of_captions_no_sentence_is_kept(captions, tmp_path, monkeypatch):
    monkeypatch.setattr(recording, "gold_pairs", lambda corpus: corpus.test)
    model = rnnsearch(captions, hidden=6)
    run, statistics = record("x-multi30k-0", model, captions, Recipe(epochs=1), progress=False)
    assert run.aer == pytest.approx(
        alignment_error_rate(force_align(model, captions.test), captions.test)
    )
    save_run(run, statistics, tmp_path)
    files = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.*"))
    name = "x-multi30k-0"
    assert files == [f"counts/{name}.npz", f"sentences/{name}.npz", f"{name}.json"]
    assert all(rows.dtype.kind in "uifb" for rows in statistics.values())
    text = (tmp_path / "x-multi30k-0.json").read_text()
    assert not any(pair.source_text in text for pair in captions.test if len(pair.source) > 1)


# ---------------------------------------------------------------- searches, and how attention moves


def translation(*rows: list[float]) -> Translation:
    weights = np.array(rows, dtype=np.float32).reshape(len(rows), len(rows[0]) if rows else 2)
    return Translation(["w"] * len(rows), 0.0, weights)


def test_weights_that_do_not_add_up_to_one_are_normalised_first():
    """Those of local-p: less weight everywhere is not a sharper look."""
    found = translation([0.1, 0.1, 0, 0], [0.02, 0, 0, 0])
    assert entropies([found]) == pytest.approx(np.array([[1 + 0, 2]]))


def test_of_a_model_they_are_what_loops_count(sharp, corpus):
    translations = greedy(sharp, [pair.source for pair in corpus.test])
    for found, (forward, steps), (bits, words) in zip(
        translations, monotone_steps(translations), entropies(translations), strict=True
    ):
        looked = [max(range(len(row)), key=lambda s, row=row: row[s]) for row in found.alignment]
        assert steps == max(len(looked) - 1, 0)
        assert forward == sum(b >= a for a, b in pairwise(looked))
        assert words == len(found.words)
        assert bits == pytest.approx(
            -sum(a * math.log2(a) for row in found.alignment.tolist() for a in row if a > 0),
            abs=1e-4,
        )
