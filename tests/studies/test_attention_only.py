"""Chapter 9: the model in its cells keeps the package's promises; the stored runs are theirs."""

import json
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest
import torch
from torch.testing import assert_close

from attnmt import beam_search, force_align, grammar_corpus, greedy
from attnmt.batches import make_batch
from attnmt.decoder import Decoder
from attnmt_book.runs import RUN, undertrained, undertrained_folder, undertrained_plan
from studies import attention_only

STORE = undertrained_folder() / "studies" / "attention_only.json"
SOURCES = attention_only.cells()
EXACT = {"rtol": 0, "atol": 1e-9}


@pytest.fixture(scope="module")
def names() -> dict:
    return attention_only.execute(SOURCES)


@pytest.fixture(scope="module")
def study() -> dict:
    return json.loads(STORE.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def small():
    return grammar_corpus(train=100, seed=0)


@pytest.fixture(scope="module")
def tiny(names, small):
    return names["attention_only"](small, hidden=16, heads=2).double().eval()


# --- what is stored


def test_runs_are_of_the_cells_as_they_are(study):
    assert len(SOURCES) > 5
    assert study["code"] == attention_only.code_hash(SOURCES), (
        "the model's cells changed: move the study away and run `make study NAME=attention_only`"
    )


def test_another_cell_is_noticed(study):
    changed = [*SOURCES[:-1], SOURCES[-1] + "\n"]
    assert attention_only.code_hash(changed) != study["code"]


def test_runs_are_of_the_corpora_of_their_edition(study):
    for name in attention_only.NAMES:
        assert study["corpora"][name] == undertrained(f"rnnsearch-{name}-0").corpus["fingerprint"]


@pytest.mark.parametrize("corpus", attention_only.NAMES)
def test_all_seeds_are_there(study, names, corpus):
    stored = study["runs"][corpus]
    assert sorted(stored) == [str(seed) for seed in undertrained_plan()["seeds"]]
    for seed, run in stored.items():
        run = RUN.validate_python(run)
        assert run.seed == int(seed)
        assert run.recipe == names["RECIPES"][corpus]
        assert run.corpus["fingerprint"] == study["corpora"][corpus]
        assert (run.aer is None) == (corpus != "grammar")
        assert len(run.history.epochs) == run.recipe.epochs


def test_the_recipe_differs_from_the_books_in_the_learning_rate_alone(names):
    for name in attention_only.NAMES:
        theirs = undertrained(f"rnnsearch-{name}-0").recipe
        assert names["RECIPES"][name] == replace(theirs, learning_rate=names["LEARNING_RATE"])


def test_the_learning_rate_was_the_best_of_those_tried(study, names):
    assert {float(rate) for rate in study["rates"]} == set(attention_only.RATES)
    best = min(study["rates"], key=lambda rate: study["rates"][rate][-1])
    assert float(best) == names["LEARNING_RATE"]


def test_parameters_are_those_of_the_stored_runs(study, names):
    model = names["attention_only"](grammar_corpus())
    count = sum(weights.numel() for weights in model.parameters())
    assert count == study["runs"]["grammar"]["0"]["parameters"]


# --- the model


def test_step_by_step_is_the_whole_sentence(tiny, small):
    batch = make_batch(small.test[:5], tiny.source_vocabulary, tiny.target_vocabulary)
    with torch.no_grad():
        memory, final = tiny.encoder(batch.source)
        at_once, align = tiny.decoder(batch.target_in, memory, final)
        looped, looped_align = Decoder.forward(tiny.decoder, batch.target_in, memory, final)
    assert_close(looped, at_once, **EXACT)
    assert_close(looped_align, align, **EXACT)
    assert float(align.masked_select(~batch.source.mask[:, None]).abs().sum()) == 0


def test_padding_and_company_change_nothing(tiny, small):
    vocabularies = tiny.source_vocabulary, tiny.target_vocabulary
    pairs = small.test[:5]
    batch = make_batch(pairs, *vocabularies)
    with torch.no_grad():
        losses = tiny.token_losses(batch)
        assert_close(tiny.token_losses(make_batch(pairs, *vocabularies, extra=4)), losses, **EXACT)
        alone = [tiny.token_losses(make_batch([pair], *vocabularies)) for pair in pairs]
    assert_close(torch.cat(alone), losses, **EXACT)
    sentences = [pair.source for pair in pairs]
    for search in (greedy, beam_search):
        for sentence, found in zip(sentences, search(tiny, sentences)):
            (single,) = search(tiny, [sentence])
            assert single.words == found.words
            assert single.score == pytest.approx(found.score, abs=1e-6)
            assert_close(single.alignment, found.alignment)
    assert force_align(tiny, pairs)[2] == force_align(tiny, pairs[2:3])[0]


def test_the_future_changes_nothing(tiny, small):
    batch = make_batch(small.test[:1], tiny.source_vocabulary, tiny.target_vocabulary)
    other = batch.target_in.clone()
    other[:, 3:] = 5
    with torch.no_grad():
        memory, _ = tiny.encoder(batch.source)
        before, _ = tiny.decoder(batch.target_in, memory, None)
        after, _ = tiny.decoder(other, memory, None)
    assert_close(after[:, :3], before[:, :3], **EXACT)
    assert not torch.allclose(after[:, 3:], before[:, 3:])


def test_a_seed_decides_the_weights_and_leaves_the_generator_alone(names, small):
    torch.manual_seed(7)
    before = torch.get_rng_state()
    first, again, other = (
        names["attention_only"](small, hidden=8, heads=2, seed=seed) for seed in (1, 1, 2)
    )
    assert torch.equal(torch.get_rng_state(), before)
    one, two, three = (model.decoder.W_o.weight for model in (first, again, other))
    assert torch.equal(one, two)
    assert not torch.equal(one, three)


def test_the_tool_reads_only_tagged_cells(tmp_path: Path):
    new = nbformat.v4
    cells = [
        new.new_code_cell("x = 1", metadata={"tags": ["model"]}),
        new.new_code_cell("1 / 0"),
        new.new_code_cell("y = x + 1", metadata={"tags": ["model", "hide-input"]}),
    ]
    nbformat.write(new.new_notebook(cells=cells), tmp_path / "chapter.ipynb")
    sources = attention_only.cells(tmp_path / "chapter.ipynb")
    assert sources == ["x = 1", "y = x + 1"]
    assert attention_only.execute(sources)["y"] == 2
