"""studies/strongest.py: it measures what the recorded runs measured, and chooses on validation."""

import json
import math

import pytest
import torch
from torch.testing import assert_close

from attnmt import Ensemble, Recipe, beam_search, bleu, fit, greedy, luong
from attnmt.attention_only import attention_only
from attnmt.batches import make_batch
from attnmt.evidence.comparison import BLEU_SCORE
from attnmt.evidence.modern import Modern
from attnmt.evidence.plan import planned, read_plan
from attnmt.evidence.store import load_run, load_statistics
from attnmt.metrics import texts
from studies import strongest
from studies.strongest import (
    PENALTIES,
    STORE,
    STRONGEST,
    SYSTEMS,
    TRANSFORMER,
    TRIALS,
    Dropping,
    Mean,
    Warming,
)

STUDY = json.loads(STORE.read_text(encoding="utf-8"))
RUNS = STUDY["runs"]
CLOSE = 0.15  # BLEU by which a search may differ on another processor


def test_scores_are_those_of_the_protocols(sharp, corpus):
    found = strongest.scores(sharp, corpus, "test", beam=3)
    sources = [pair.source for pair in corpus.test]
    ours = texts(sharp, beam_search(sharp, sources, beam=3))
    plain = bleu(ours, [pair.target_text for pair in corpus.test], lowercase=True)
    assert found[plain.signature] == pytest.approx(plain.score, abs=1e-3)
    assert strongest.in_moses_words(found) >= 0  # one of them, and only one, is of Moses's words


def test_without_arguments_search_is_greedy(sharp, corpus):
    found = strongest.scores(sharp, corpus, "test")
    ours = texts(sharp, greedy(sharp, [pair.source for pair in corpus.test]))
    plain = bleu(ours, [pair.target_text for pair in corpus.test], lowercase=True)
    assert found[plain.signature] == pytest.approx(plain.score, abs=1e-3)


def test_the_penalty_is_the_best_of_the_means_on_validation(monkeypatch):
    """Not the best of one seed, and the test captions have no say."""
    monkeypatch.setattr(strongest, "runs_of", lambda _: ["one", "two"])

    def run(*scores):
        of = {f"{p}": {"tok:none": s} for p, s in zip(PENALTIES[:4], scores, strict=True)}
        of |= {f"{p}": {"tok:none": 0} for p in PENALTIES[4:]}
        return {"valid": of, "test": {f"{p}": {"tok:none": 99} for p in PENALTIES[:1]}}

    assert strongest.chosen({"one": run(1, 2, 9, 3), "two": run(1, 8, 2, 3)}, "any") == PENALTIES[2]
    assert strongest.chosen({"one": run(1, 2, 4, 3), "two": run(1, 8, 2, 3)}, "any") == PENALTIES[1]


def test_each_trial_changes_a_system_of_the_plan_in_one_thing():
    for of, trials in TRIALS.items():
        assert of in read_plan()["systems"]
        for name, changes in trials.items():
            sizes = [len(of) if isinstance(of, dict) else 1 for of in changes.values()]
            assert sum(sizes) == 1, name


def test_both_models_had_as_many_trials():
    assert len(TRIALS["strongest"]) == len(TRIALS["transformer"])
    for of, trials in TRIALS.items():
        stored = STUDY["trials"][of]
        assert {name: stored[name]["changes"] for name in stored} == trials


@pytest.mark.parametrize("epochs", [1, 3, 4])
def test_the_mean_of_the_last_epochs_is_kept_beside_the_last_weights(corpus, epochs):
    recipe = Recipe(epochs=4, batch_size=32, learning_rate=1e-2, halve_after=None, keep="last")
    steps = math.ceil(len(corpus.train) / 32)
    mean, after = Mean(first=(4 - epochs + 1) * steps), []

    def watch(model, updates):
        mean(model, updates)
        after.append({name: weights.clone() for name, weights in model.state_dict().items()})

    model = luong(corpus, hidden=12, dropout=0.1)
    fit(model, corpus, recipe, device="cpu", progress=False, curve_every=steps, watch=watch)
    assert len(after) == 4
    for name, weights in model.state_dict().items():
        expected = torch.stack([one[name] for one in after[-epochs:]]).mean(0)
        assert_close(mean.weights[name], expected)
        assert torch.equal(weights, after[-1][name])


def test_a_warm_up_raises_the_rate_from_near_zero():
    recipe = Warming(epochs=2, learning_rate=0.5, warm_up=4, updates_per_epoch=3)
    moments = [(1, 0), (1, 1 / 3), (1, 2 / 3), (2, 0), (2, 1 / 3), (2, 2 / 3)]
    rates = [recipe.learning_rate_of(*moment) / 0.5 for moment in moments]
    assert rates == pytest.approx([0.25, 0.5, 0.75, 1, 1, 1])


def test_recurrent_weights_are_dropped_in_an_update_and_kept_between_updates(corpus):
    """A weight that was dropped has no gradient; the others have that of the weights with zeros."""
    model = luong(corpus, hidden=12).train()
    batch = make_batch(corpus.train[:20], model.source_vocabulary, model.target_vocabulary)
    before = {name: weights.clone() for name, weights in model.state_dict().items()}
    losses = Dropping(Modern(), share=0.5)(model, batch)
    losses.mean().backward()
    found = {name: weights.grad.clone() for name, weights in model.named_parameters()}
    model.zero_grad()
    for name, weights in model.named_parameters():
        assert torch.equal(weights, before[name])
        share = float((found[name] == 0).float().mean())
        assert ("weight_hh" not in name) or 0.3 < share < 0.7
        if "weight_hh" in name:
            weights.data.mul_(2 * (found[name] != 0))  # as dropout does: the rest is larger
    again = Modern()(model, batch)
    assert_close(again, losses)
    again.mean().backward()
    for name, weights in model.named_parameters():
        kept = 2 * (found[name] != 0) if "weight_hh" in name else torch.ones_like(weights)
        assert_close(weights.grad * kept, found[name])


@pytest.mark.parametrize(
    ("make", "other"), [(luong, {}), (luong, {"embedding": 10}), (attention_only, {})]
)
def test_tied_a_model_reads_and_writes_with_the_same_weights(corpus, make, other):
    model = make(corpus, hidden=12, **other)
    torch.manual_seed(0)
    strongest.tie(model)
    readout = model.decoder.W_out if make is luong else model.decoder.W_o
    last = readout[-1] if other else readout
    assert last.weight is model.decoder.embedding.weight
    features = torch.randn(2, 3, 12)
    assert model.decoder.readout(features).shape == (2, 3, len(corpus.target_vocabulary))
    embedded = model.decoder.embedding(torch.arange(len(corpus.target_vocabulary))).detach()
    assert float(embedded.square().mean()) == pytest.approx(1, abs=0.25)


def test_every_strongest_run_is_there_and_in_the_ensemble():
    """Start the study again when runs were added."""
    plan = planned()
    assert set(RUNS) == {name for system in SYSTEMS for name in strongest.runs_of(system)}
    assert STUDY["ensemble"]["members"] == strongest.runs_of(STRONGEST)
    assert {plan[name][0] for name in STUDY["ensemble"]["members"]} == {"strongest"}


@pytest.mark.parametrize("name", RUNS)
def test_greedy_search_is_that_of_the_recorded_run(name):
    found = strongest.in_moses_words(RUNS[name]["test"]["greedy"])
    assert found == pytest.approx(load_run(name).bleu.score, abs=CLOSE)


@pytest.mark.parametrize("name", [name for name in RUNS if name.endswith("pieces-0")])
def test_the_beam_is_that_of_the_recorded_search(name):
    counts = load_statistics(name)[f"test_beam5-{RUNS[name]['penalty']}_bleu"]
    found = strongest.in_moses_words(RUNS[name]["test"]["normalised"])
    assert found == pytest.approx(float(BLEU_SCORE.score(counts.sum(axis=0))), abs=CLOSE)


def test_the_penalties_are_those_that_validation_chose():
    """Neither at an end of what was tried: a larger or a smaller one might be better still."""
    for system in (STRONGEST, TRANSFORMER):
        assert STUDY["penalties"][system] == strongest.chosen(RUNS, system)
        assert STUDY["penalties"][system] in PENALTIES[1:-1]
    for name, run in RUNS.items():
        system = TRANSFORMER if name.startswith(TRANSFORMER) else STRONGEST
        assert run["penalty"] == STUDY["penalties"][system]


def test_samples_are_our_own_captions_cut_into_pieces():
    assert [one["text"] for one in STUDY["samples"]] == read_plan()["corpora"]["pieces"]["samples"]
    for one in STUDY["samples"]:
        written = "".join(one["pieces"]).replace("▁", " ")
        assert written.replace(" ", "").casefold() == one["text"].replace(" ", "").casefold()
        assert "<unk>" not in one["strongest"] + one["together"]


def test_an_ensemble_of_one_is_the_model(sharp, corpus):
    alone = strongest.scores(sharp, corpus, "test", beam=2)
    assert strongest.scores(Ensemble([sharp]), corpus, "test", beam=2) == alone
