"""runs.py: a recorded run is one file that says everything, and nothing half-written is read."""

import json
import os
from collections import defaultdict
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from sacrebleu.metrics import BLEU

from attnmt import (
    DataUnavailable,
    Recipe,
    Translator,
    beam_search,
    bleu,
    fit,
    force_align,
    greedy,
    luong,
    multi30k,
    perplexity,
    rnnsearch,
    training,
)
from attnmt.evidence import joined, plan, store
from attnmt.evidence import record as recording
from attnmt.evidence.folders import results_folder
from attnmt.evidence.models import MODELS
from attnmt.evidence.modern import Modern, precision_on
from attnmt.evidence.plan import TITLES, model_arguments, planned, read_plan, recipe_of
from attnmt.evidence.record import make_run, measure, measure_again, record
from attnmt.evidence.store import (
    load_run,
    load_statistics,
    load_translations,
    of_length,
    read_study,
    recorded,
    save_run,
)
from attnmt.metrics import alignment_error_rate, texts
from attnmt.model import sutskever
from attnmt.recipes import BAHDANAU
from attnmt.text.subwords import in_pieces


def use(monkeypatch, some: dict, corpora: dict | None = None) -> None:
    """Another plan than that of the book, and its corpora."""
    for module in (plan, recording):
        monkeypatch.setattr(module, "read_plan", lambda: some)
    if corpora:
        monkeypatch.setattr(recording, "load_corpus", corpora.get)


@pytest.fixture(scope="module")
def model(corpus):
    return rnnsearch(corpus, hidden=8)


@pytest.fixture(scope="module")
def made(model, corpus):
    samples = ["w1 w2 w3", "w4"]
    recipe = Recipe(epochs=2, batch_size=16)
    return record(
        "tiny-made-0", model, corpus, recipe, 0, samples=samples, curve_every=2, progress=False
    )


@pytest.fixture(scope="module")
def run(made):
    return made[0]


@pytest.fixture(scope="module")
def sentences(made):
    return made[1]


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
    assert run.parameters == sum(weights.numel() for weights in model.parameters())
    assert set(run.versions) == {"python", "torch"}


def test_samples_have_a_weight_for_each_word_on_each_source_word(run):
    assert [sample.source for sample in run.samples] == [["w1", "w2", "w3"], ["w4"]]
    for sample in run.samples:
        assert len(sample.alignment) == len(sample.words)
        for row in sample.alignment:
            assert len(row) == len(sample.source)
            assert sum(row) == pytest.approx(1, abs=1e-3)


def test_the_scores_follow_from_what_is_kept_of_each_sentence(run, sentences, corpus):
    kept = sentences.statistics
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
    assert kept["test_length"].tolist() == [len(pair.source) for pair in corpus.test]


def test_the_curve_counts_updates_over_all_epochs(run, corpus):
    an_epoch = -(-len(corpus.train) // 16)
    assert [point.updates for point in run.history.curve] == list(range(2, 2 * an_epoch + 1, 2))
    if an_epoch % 2 == 0:
        assert run.history.curve[-1].valid_perplexity == run.history.epochs[-1].valid_perplexity


def test_translations_are_kept_of_a_text_of_our_own_only(model, corpus, sentences):
    assert sentences.translations == {}  # this corpus is not said to be ours
    own = replace(corpus, own_text=True)
    found = record("own-made-0", model, own, Recipe(epochs=1), progress=False)[1]
    assert len(found.translations["test"]) == len(corpus.test)


def test_what_is_kept_of_sentences_is_what_is_loaded(run, sentences, tmp_path):
    ours = replace(sentences, translations={"test": ["a b", ""], "long": ["ä <unk>"]})
    save_run(run, ours, tmp_path)
    assert load_translations(run.name, tmp_path) == ours.translations
    loaded = load_statistics(run.name, tmp_path)
    assert loaded.keys() == sentences.statistics.keys()
    for name, rows in loaded.items():
        assert np.array_equal(rows, sentences.statistics[name])
    first = {file: file.read_bytes() for file in tmp_path.rglob("*.*")}
    save_run(run, ours, tmp_path)
    assert {file: file.read_bytes() for file in tmp_path.rglob("*.*")} == first


@pytest.mark.parametrize("load", [load_statistics, load_translations])
def test_sentences_that_are_damaged_or_not_there_are_named(run, sentences, tmp_path, load):
    ours = replace(sentences, translations={"test": ["a b"] * 99})
    with pytest.raises(FileNotFoundError, match="'tiny-made-0' kept no"):
        load(run.name, tmp_path)
    save_run(run, ours, tmp_path)
    for file in tmp_path.glob("*/*"):
        file.write_bytes(file.read_bytes()[:30])
    with pytest.raises(ValueError, match=r"is damaged .*attnmt record tiny-made-0"):
        load(run.name, tmp_path)


def test_what_was_stored_is_what_is_loaded(run, tmp_path):
    path = save_run(run, folder=tmp_path)
    assert os.listdir(tmp_path) == ["tiny-made-0.json"]
    assert load_run("tiny-made-0", tmp_path) == run
    data = json.loads(path.read_text())
    assert data["command"] == "attnmt record tiny-made-0"
    assert data["format"] == "attnmt-run-2"


def test_a_run_that_is_not_there_is_named_and_those_there_are_listed(run, tmp_path):
    save_run(run, folder=tmp_path)
    with pytest.raises(FileNotFoundError, match=r"'other' .*There are: tiny-made-0"):
        load_run("other", tmp_path)


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[: len(text) // 2],
        lambda text: "",
        lambda text: "[]",
        lambda text: text.replace("attnmt-run-2", "something-else"),
        lambda text: text.replace('"seed":0', '"seed":"zero"'),
        lambda text: text.replace('"history"', '"story"'),
        lambda text: "\x80",
    ],
)
def test_a_damaged_or_foreign_file_is_refused_by_name(run, tmp_path, damage):
    path = save_run(run, folder=tmp_path)
    path.write_bytes(damage(path.read_text()).encode("latin-1", errors="replace"))
    with pytest.raises(ValueError, match=rf"{path} is damaged .*attnmt record tiny-made-0"):
        load_run("tiny-made-0", tmp_path)


RECORDED = sorted(path.stem for path in results_folder().glob("*-*.json"))


@pytest.mark.parametrize("name", RECORDED)
def test_a_recorded_run_belongs_to_this_version_of_the_book(name):
    """Its recipe, corpus and model are those that its command would use today."""
    run = load_run(name)
    system, corpus_name, seed = planned()[name]
    assert run.name == name
    assert run.command == f"attnmt record {name}"
    assert run.format == "attnmt-run-2"
    settings = model_arguments(system, corpus_name)
    assert run.recipe == recipe_of(system, corpus_name)
    assert run.seed == run.model["seed"] == seed
    assert settings.items() <= run.model.items()
    assert len(run.history.epochs) == run.recipe.epochs
    assert len(run.samples) == len(read_plan()["corpora"][corpus_name]["samples"])
    assert "case:lc" in run.bleu.signature
    assert run.corpus["train"] == read_plan()["corpora"][corpus_name]["train"]
    kept = load_statistics(name)
    assert len(kept["test_bleu"]) == run.corpus["test"]
    assert recording.perplexity_of(kept["test_losses"]) == pytest.approx(
        run.test_perplexity, rel=1e-4
    )
    if corpus_name in ("grammar", "grammar750"):
        assert {part: len(some) for part, some in load_translations(name).items()} == {
            part: len(kept[f"{part}_bleu"]) for part in recording.PARTS
        }


def test_the_runs_of_a_corpus_learned_from_the_same_pairs():
    fingerprints = defaultdict(set)
    for name in RECORDED:
        fingerprints[planned()[name][1]].add(load_run(name).corpus["fingerprint"])
    assert {corpus_name for corpus_name, found in fingerprints.items() if len(found) > 1} == set()


def test_a_run_is_made_as_the_plan_says(corpus, tmp_path, monkeypatch):
    """From its name alone, hyphens and all: the model, its arguments, seed, recipe, samples."""
    of_corpus = {"recipe": {"epochs": 1, "batch_size": 9}, "samples": ["w1"]}
    here = {
        "tiers": [{"name": "A", "corpus": "made-up", "seeds": [0, 4], "systems": ["odd-one"]}],
        "systems": {"odd-one": {"model": "luong", "score": "general", "hidden": 6}},
        "corpora": {"made-up": {"train": len(corpus.train), "curve": 3, **of_corpus}},
    }
    use(monkeypatch, here, {"made-up": corpus})
    monkeypatch.setattr(training, "best_device", lambda: "cpu")  # where the saved one is measured
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


def test_a_run_with_modern_additions_is_made_and_says_so(corpus, monkeypatch):
    modern = {"smoothing": 0.2, "precision": "bf16"}
    recipe = {"epochs": 3, "batch_size": 40}
    here = {
        "tiers": [{"name": "F", "corpus": "made", "seeds": [1], "systems": ["plain", "new"]}],
        "systems": {
            "plain": {"model": "luong", "hidden": 6},
            "new": {"model": "luong", "hidden": 6, "modern": modern, "measure_bleu": True},
        },
        "corpora": {"made": {"train": 300, "curve": 3, "recipe": recipe, "samples": []}},
    }
    use(monkeypatch, here, {"made": corpus})
    monkeypatch.setattr(training, "best_device", lambda: "cpu")
    plain, new = (make_run(f"{name}-made-1", progress=False)[0] for name in ("plain", "new"))
    had = {"smoothing": 0.2, "precision": precision_on("cpu", "bf16")}
    assert (plain.modern, new.modern) == ({}, had)
    assert [epoch.bleu for epoch in plain.history.epochs] == [None] * 3
    assert all(epoch.bleu >= 0 for epoch in new.history.epochs)  # asked for by the system
    assert plain.model == new.model
    by_hand = luong(corpus, hidden=6, seed=1)
    objective = Modern(**had)
    fit(
        by_hand, corpus, Recipe(**recipe), seed=1, device="cpu", progress=False, objective=objective
    )
    assert new.test_perplexity == pytest.approx(perplexity(by_hand, corpus.test))
    assert new.test_perplexity != plain.test_perplexity


def test_a_system_has_its_own_arguments_before_those_of_the_corpus(monkeypatch):
    of_luong = {"hidden": 8, "dropout": 0.3}
    here = {
        "systems": {
            "plain": {"model": "luong", "score": "dot"},
            "bare": {"model": "luong", "dropout": 0.0, "recipe": {"learning_rate": 1e-3}},
            "other": {"model": "rnnsearch", "recipe": "bahdanau"},
        },
        "corpora": {"text": {"recipe": {"epochs": 7}, "models": {"luong": of_luong}}},
    }
    use(monkeypatch, here)
    plain = {"model": "luong", "score": "dot", "hidden": 8, "dropout": 0.3}
    assert model_arguments("plain", "text") == plain
    assert model_arguments("bare", "text") == {"model": "luong", "hidden": 8, "dropout": 0.0}
    assert model_arguments("other", "text") == {"model": "rnnsearch"}
    assert recipe_of("plain", "text") == Recipe(epochs=7)
    assert recipe_of("bare", "text") == Recipe(epochs=7, learning_rate=1e-3)
    assert recipe_of("other", "text") == BAHDANAU


@pytest.mark.parametrize(
    ("system", "corpus_name"), sorted({(system, on) for system, on, _ in planned().values()})
)
def test_every_system_of_the_plan_can_be_made(system, corpus_name, corpus):
    """With its own arguments, but small."""
    arguments = model_arguments(system, corpus_name) | {"hidden": 8}
    arguments |= {"embedding": 4} if "embedding" in arguments else {}
    model = MODELS[arguments.pop("model")](corpus, **arguments, seed=2)
    assert model.config["model"] == read_plan()["systems"][system]["model"]
    assert arguments.items() <= model.config.items()
    recipe_of(system, corpus_name)  # a recipe refuses what makes no sense


@pytest.mark.parametrize("corpus_name", ["grammar", "multi30k", "joined", "joined30"])
def test_a_doubled_system_is_the_same_one_with_twice_the_updates(corpus_name):
    doubled = {system for system, on, _ in planned("V").values() if on == corpus_name}
    assert doubled
    for system in doubled:
        plain = system.removesuffix("-doubled")
        assert model_arguments(system, corpus_name) == model_arguments(plain, corpus_name)
        short, long = (recipe_of(name, corpus_name) for name in (plain, system))
        assert long.epochs == 2 * short.epochs
        rates = [short.learning_rate_of(epoch + 1) for epoch in range(short.epochs)]
        twice = [long.learning_rate_of(epoch + 1) for epoch in range(long.epochs)]
        assert twice == [rate for rate in rates for _ in range(2)]
        same = {"epochs": short.epochs, "halve_after": short.halve_after}
        assert replace(long, halve_every=short.halve_every, **same) == short


def test_captions_are_trained_with_dropout_and_the_best_epoch_is_kept():
    for system, corpus_name, _ in planned("B", "D").values():
        arguments = model_arguments(system, corpus_name)
        assert (arguments["dropout"], arguments["hidden"]) == (0.3, 256)
        assert recipe_of(system, corpus_name).keep == "best"


def test_the_ladder_is_climbed_one_step_at_a_time():
    """From rung to rung of Luong et al. 2015, Table 1, one thing is added."""
    rungs = [model_arguments(f"ladder-{rung}", "multi30k") for rung in LADDER]
    added = [
        {key: value for key, value in above.items() if below.get(key) != value}
        for below, above in pairwise(rungs)
    ]
    attention = {"model": "luong", "score": "location", "bidirectional": False}
    assert added == [
        {"reverse": True},
        {"dropout": 0.2},
        attention,
        {"feeding": True},
        {"score": "general", "window": "local-p"},
    ]
    assert {rung["layers"] for rung in rungs} == {2}


LADDER = ("base", "reverse", "dropout", "location", "feeding", "local-p")


def test_a_tier_may_have_several_parts_and_keeps_their_order(monkeypatch):
    part = {"name": "D", "corpus": "long", "seeds": [0, 1], "systems": ["a"]}
    tiers = [part, {**part, "name": "A"}, {**part, "corpus": "short", "seeds": [1]}]
    use(monkeypatch, {"tiers": tiers})
    assert list(planned("D")) == ["a-long-0", "a-long-1", "a-short-1"]
    assert list(planned("A")) == ["a-long-0", "a-long-1"]


# ------------------------------------------------------------------------------------ captions


@pytest.fixture(scope="module")
def captions(corpus):
    """A made-up corpus that is taken for captions: not ours, and with gold links."""
    facts = {"name": "multi30k-de-en", "lower": True, "bleu_of_words": True}
    return replace(corpus, **facts, test=corpus.test[:9])


@pytest.fixture
def of_captions(captions, sharp, monkeypatch):
    sure = [replace(pair, sure=frozenset({(0, 0)})) for pair in captions.test[:4]]
    monkeypatch.setattr(recording, "gold_pairs", lambda corpus: sure)
    return measure(sharp, captions, ["beam5"])[0], sure


def test_bleu_of_captions_is_of_words_as_sacrebleu_counts_them(of_captions, captions, sharp):
    sentences, _ = of_captions
    sources = [pair.source for pair in captions.test]
    theirs = [" ".join(pair.target) for pair in captions.test]
    for key, search in (("test_bleu", greedy), ("test_beam5_bleu", beam_search)):
        ours = [" ".join(found.words).replace("<unk>", "?") for found in search(sharp, sources)]
        expected = BLEU(lowercase=True, tokenize="none").corpus_score(ours, [theirs])
        length, of_reference, *counts = sentences.statistics[key].sum(axis=0).tolist()
        assert (length, of_reference) == (expected.sys_len, expected.ref_len)
        assert counts == [*expected.counts, *expected.totals]
    scored = recording.bleu_of_parts(sentences.translations, captions)["test"]
    assert "tok:none" in scored.signature and "case:lc" in scored.signature
    buckets = recording.bleu_of_lengths(sentences.translations, captions)
    assert all("tok:none" in bucket.bleu.signature for bucket in buckets)


def test_alignment_error_of_captions_is_that_of_the_gold_links(of_captions, sharp):
    sentences, pairs = of_captions
    links = force_align(sharp, pairs)
    found = sentences.statistics["gold_aer"]
    assert found.shape == (4, 4)
    assert recording.aer_of(found) == pytest.approx(alignment_error_rate(links, pairs))


def test_captions_in_pieces_are_counted_in_words(captions, monkeypatch):
    """So runs with and without subwords share references, lengths and links."""
    cut = in_pieces(captions, 13)  # w12 is three pieces, as no digits are joined
    assert sum(len(pair.source) for pair in cut.test) > sum(len(p.source) for p in captions.test)
    monkeypatch.setattr(recording, "gold_pairs", lambda corpus: corpus.test)
    model = luong(cut, hidden=8)
    found = measure(model, cut, ["beam5"])[0]
    statistics = found.statistics
    assert statistics["test_length"].tolist() == [len(pair.source) for pair in captions.test]
    lengths = [len(pair.target) for pair in captions.test]
    for key in ("test_bleu", "test_beam5_bleu"):
        assert statistics[key][:, 1].tolist() == lengths
    units = model.target_vocabulary.units
    wrote = greedy(model, [pair.source for pair in cut.test])
    assert found.translations["test"] == [" ".join(units.join(one.words)) for one in wrote]
    links = force_align(model, cut.test)  # between words
    assert recording.aer_of(statistics["gold_aer"]) == pytest.approx(
        alignment_error_rate(links, captions.test)
    )
    assert statistics["test_losses"][:, 1].tolist() == [len(p.target) + 1 for p in cut.test]
    buckets = recording.bleu_of_lengths(found.translations, cut)
    assert buckets == recording.bleu_of_lengths(found.translations, captions)
    sample = recording.translate_sample(model, captions.test[0].source_text)
    assert sample.source == list(captions.test[0].source)
    assert [len(row) for row in sample.alignment] == [len(sample.source)] * len(sample.words)


def test_of_captions_no_sentence_is_kept(captions, tmp_path, monkeypatch):
    monkeypatch.setattr(recording, "gold_pairs", lambda corpus: corpus.test)
    model = rnnsearch(captions, hidden=6)
    run, sentences = record("x-multi30k-0", model, captions, Recipe(epochs=1), progress=False)
    assert run.aer == pytest.approx(
        alignment_error_rate(force_align(model, captions.test), captions.test)
    )
    save_run(run, sentences, tmp_path)
    assert sorted(path.name for path in tmp_path.rglob("*.*")) == [
        "x-multi30k-0.json",
        "x-multi30k-0.npz",
    ]
    assert all(rows.dtype.kind in "uifb" for rows in sentences.statistics.values())
    text = (tmp_path / "x-multi30k-0.json").read_text()
    assert not any(pair.source_text in text for pair in captions.test if len(pair.source) > 1)


@pytest.mark.parametrize("name", ["rnnsearch-multi30k-0", "rnnsearch-joined30-0"])
def test_without_the_captions_recording_says_what_is_missing(name, tmp_path, monkeypatch):
    monkeypatch.setenv("ATTNMT_DATA", str(tmp_path))
    nowhere = lambda *args, **kwargs: multi30k(*args, **kwargs | {"url": "http://127.0.0.1:9"})  # noqa: E731
    monkeypatch.setitem(plan.CORPORA, "multi30k", nowhere)
    monkeypatch.setattr(joined, "multi30k", nowhere)
    monkeypatch.setattr(recording, "load_corpus", plan.load_corpus.__wrapped__)
    with pytest.raises(
        DataUnavailable, match=r"train\.de\.gz is not in .* could not be downloaded"
    ):
        make_run(name, progress=False)


def test_a_run_that_was_killed_goes_on(corpus, tmp_path, monkeypatch):
    of_corpus = {"train": len(corpus.train), "recipe": {"epochs": 2}, "samples": [], "curve": 2}
    here = {
        "tiers": [{"name": "A", "corpus": "made", "seeds": [0], "systems": ["tiny"]}],
        "systems": {"tiny": {"model": "rnnsearch", "hidden": 6}},
        "corpora": {"made": of_corpus},
    }
    use(monkeypatch, here, {"made": corpus})
    at_once, _ = make_run("tiny-made-0", progress=False)
    validated = training.Training.validated

    def killed(self, *args):
        if self.epoch == 2:
            raise MemoryError
        return validated(self, *args)

    monkeypatch.setattr(training.Training, "validated", killed)
    with pytest.raises(MemoryError):
        make_run("tiny-made-0", tmp_path, progress=False)
    monkeypatch.setattr(training.Training, "validated", validated)
    resumed, _ = make_run("tiny-made-0", tmp_path, progress=False)
    assert resumed.bleu == at_once.bleu
    assert resumed.test_perplexity == at_once.test_perplexity


def test_a_recorded_run_is_measured_again_by_its_model(corpus, tmp_path, monkeypatch):
    here = {
        "tiers": [{"name": "A", "corpus": "made", "seeds": [0], "systems": ["tiny"]}],
        "systems": {"tiny": {"model": "rnnsearch", "hidden": 6}},
        "corpora": {"made": {"train": 1, "recipe": {"epochs": 2}, "samples": [], "curve": 9}},
    }
    use(monkeypatch, here, {"made": replace(corpus, own_text=True)})
    run, before = make_run("tiny-made-0", tmp_path, progress=False)
    save_run(run, before, tmp_path)
    here["searches"] = {"tiny-made": ["beam5"]}
    again, after = measure_again("tiny-made-0", tmp_path, tmp_path)
    assert again == run
    assert after.translations == before.translations
    assert after.statistics.keys() - before.statistics.keys() == {"test_beam5_bleu"}
    for name, rows in before.statistics.items():
        assert np.allclose(rows, after.statistics[name], atol=1e-4)
    rnnsearch(corpus, hidden=6, seed=8).save(tmp_path / "tiny-made-0.safetensors")
    with pytest.raises(ValueError, match=r"another model\. .* attnmt record tiny-made-0"):
        measure_again("tiny-made-0", tmp_path, tmp_path)


def test_runs_come_seed_by_seed_and_a_system_may_have_a_recipe_of_its_own(corpus, monkeypatch):
    of_corpus = {"train": 1, "recipe": {"epochs": 1}, "samples": [], "curve": 9}
    special = {"model": "rnnsearch", "hidden": 6, "recipe": "bahdanau"}
    here = {
        "tiers": [
            {"name": "A", "corpus": "made", "seeds": [0, 1], "systems": ["special", "plain"]},
            {"name": "B", "corpus": "other", "seeds": [0], "systems": ["plain"]},
        ],
        "systems": {"plain": {"model": "rnnsearch", "hidden": 6}, "special": special},
        "corpora": {"made": of_corpus, "other": of_corpus},
    }
    use(monkeypatch, here, {"made": corpus})
    first = ["special-made-0", "plain-made-0", "special-made-1", "plain-made-1"]
    assert list(planned("A")) == first
    assert list(planned()) == [*first, "plain-other-0"]
    with pytest.raises(ValueError, match="tier must be one of A, B, not 'Z'"):
        list(planned("Z"))
    run, _ = make_run("special-made-0", progress=False)
    assert run.recipe == BAHDANAU
    assert "recipe" not in run.model
    assert "recipe" in special  # the plan itself is not changed


def test_a_model_that_does_not_attend_has_no_alignment_error(corpus):
    model = sutskever(corpus, hidden=6)
    recipe = Recipe(epochs=1)
    run, sentences = record("x", model, corpus, recipe, samples=["w1 w2"], progress=False)
    assert run.aer is None
    assert not {"test_aer", "test_monotone", "test_entropy"} & set(sentences.statistics)
    assert run.samples[0].alignment is None


def test_the_runs_of_a_system_come_in_order_up_to_the_first_missing_one(monkeypatch, tmp_path, run):
    monkeypatch.setattr(store, "results_folder", lambda: tmp_path)
    for seed in (0, 1, 3):
        save_run(replace(run, name=f"tiny-made-{seed}", seed=seed), folder=tmp_path)
    assert [found.seed for found in recorded("tiny-made", 8)] == [0, 1]
    assert [found.seed for found in recorded("tiny-made", 1)] == [0]
    assert recorded("no-such-system", 3) == []


def test_every_recorded_system_has_a_title():
    systems = {system for system, _, _ in planned("A", "B").values()}
    assert systems <= set(TITLES)
    assert len(set(TITLES.values())) == len(TITLES)


def test_bleu_of_one_range_of_lengths(run):
    for bucket in run.by_length:
        assert of_length(run, bucket.shortest) == bucket.bleu.score
    with pytest.raises(ValueError, match=r"shortest must be one of .*1.*, not 2"):
        of_length(run, 2)


def test_a_study_is_read_by_its_name():
    assert read_study("live_recipes")["chosen"]
    with pytest.raises(FileNotFoundError, match=r"no study 'nothing' in .* live_recipes"):
        read_study("nothing")
