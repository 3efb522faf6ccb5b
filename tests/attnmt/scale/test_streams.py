"""streams.py: every pair once an epoch, the same batches however many processes read them."""

import itertools
import random
from collections import Counter

import pytest

pytest.importorskip("datasets")
import torch
from datasets import IterableDataset
from several_processes import as_files

from attnmt import DataUnavailable, Pair, Recipe, Vocabulary, rnnsearch
from attnmt.scale import shards
from attnmt.scale.processes import fit
from attnmt.scale.streams import Stream, mixed, stream

RECIPE = Recipe(batch_size=16, pool=4, epochs=1)


@pytest.fixture(autouse=True)
def data(tmp_path, monkeypatch):
    monkeypatch.setenv("ATTNMT_DATA", str(tmp_path / "data"))


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    return as_files(tmp_path_factory.mktemp("files"), train=150, files=4)


@pytest.fixture(params=[4, 8], ids=["own files", "own lines"])
def corpus(request, places):
    return stream(**places, lanes=request.param, vocabulary_size=20, buffer=9)


def batches(corpus, seed=1, **place):
    vocabularies = corpus.source_vocabulary, corpus.target_vocabulary
    return corpus.train.batches(vocabularies, RECIPE, seed, **place)


def rows(batch):
    """The pairs of a batch, whatever their padding and order."""
    if batch is None:
        return []
    both = zip(batch.source.ids.tolist(), batch.target_out.tolist())
    return sorted(tuple(tuple(i for i in side if i) for side in pair) for pair in both)


def encoded(corpus):
    sides = corpus.source_vocabulary, corpus.target_vocabulary
    return Counter(
        (tuple(sides[0].encode(pair.source)), (*sides[1].encode(pair.target), 3))
        for pair in corpus.train
    )


def test_an_epoch_has_every_pair_once(corpus):
    found = [rows(batch) for batch in batches(corpus)]
    assert Counter(itertools.chain(*found)) == encoded(corpus)
    assert sum(encoded(corpus).values()) == 150
    again = [rows(batch) for batch in batches(corpus)]
    other = [rows(batch) for batch in batches(corpus, seed=2)]
    assert again == found != other
    assert corpus.train.tokens == sum(len(pair[1]) for pair in encoded(corpus).elements())


@pytest.mark.parametrize("processes", [2, 3, 4])
def test_processes_read_shares_of_the_same_batches_and_no_pair_twice(corpus, processes):
    alone = [rows(batch) for batch in batches(corpus)]
    each = [list(batches(corpus, process=one, of=processes)) for one in range(processes)]
    for together, *shares in zip(alone, *each, strict=True):
        assert sorted(itertools.chain(*map(rows, shares))) == together


@pytest.mark.parametrize("done", [1, 4, 6, 10])
def test_the_rest_of_an_epoch_is_the_same_from_any_place(corpus, done):
    alone = [rows(batch) for batch in batches(corpus)]
    assert [rows(batch) for batch in batches(corpus, done=done)] == alone[done:]


def test_batches_are_of_like_length(places):
    corpus = stream(**places, lanes=4, buffer=9)
    sorted_by_length = [batch.target_mask.float().mean() for batch in batches(corpus)]
    assert sum(sorted_by_length) / len(sorted_by_length) > 0.75  # in a shuffled one it is 0.6


def test_lanes_must_be_as_many_as_processes_and_divide_a_pool(corpus):
    lanes = len(corpus.train.survey.sizes)
    with pytest.raises(ValueError, match=rf"9 processes cannot share {lanes} lanes"):
        next(batches(corpus, of=9))
    vocabularies = corpus.source_vocabulary, corpus.target_vocabulary
    with pytest.raises(ValueError, match="must divide pool x batch_size, 1 x 3"):
        next(corpus.train.batches(vocabularies, Recipe(batch_size=3, pool=1), 1))


def test_a_buffer_mixes_and_loses_nothing():
    texts = [(str(i), "") for i in range(50)]
    found = list(mixed(iter(texts), 7, random.Random(1)))
    assert sorted(found) == sorted(texts) and found != texts
    assert list(mixed(iter(texts), 1, random.Random(1))) == texts


def test_a_changed_file_is_looked_over_again(tmp_path, monkeypatch):
    places = as_files(tmp_path / "files", train=40, files=2)
    first = stream(**places)
    with monkeypatch.context() as patch:
        patch.setattr(Stream, "look_over", lambda self: pytest.fail("looked over twice"))
        assert stream(**places).train.survey == first.train.survey
    with open(tmp_path / "files" / "train-0.de", "a") as source:
        source.write("w1\n")
    with pytest.raises(ValueError, match=r"train-0\.de, line 21: .*train-0\.en has no such line"):
        stream(**places)
    with open(tmp_path / "files" / "train-0.en", "a") as target:
        target.write("v1\n")
    changed = stream(**places)
    assert changed.report["read"] == 41 and changed.fingerprint != first.fingerprint


def test_a_corpus_that_is_streamed_has_vocabularies_like_any_other(corpus):
    pairs = list(corpus.train)
    expected = Vocabulary.build([pair.target for pair in pairs], 20, "en")
    assert corpus.target_vocabulary == expected
    assert corpus.report == {"read": 150, "kept": 150}
    assert len(corpus.valid) == 40 and corpus.test == []


def test_words_are_cut_by_moses_or_at_spaces():
    how = {"languages": ("de", "en"), "vocabulary_size": 9, "max_length": 9, "buffer": 1}
    raw = ("Das Haus, Straße.", "The house.")
    moses = Stream("", lower=True, tokeniser="moses", lanes=1, **how)
    assert moses.pair(raw) == (
        "kept",
        Pair(("das", "haus", ",", "straße", "."), ("the", "house", "."), *raw),
    )
    spaces = Stream("", lower=False, tokeniser="spaces", lanes=1, **how)
    assert spaces.pair(raw)[1] == Pair(("Das", "Haus,", "Straße."), ("The", "house."), *raw)


def surveyed(folder, *lanes):
    """The survey of some lanes, each of them a file of pairs."""
    for old in folder.glob("*.tsv"):
        old.unlink()
    for number, lane in enumerate(lanes):
        (folder / f"{number}.tsv").write_text("".join(f"{s}\t{t}\n" for s, t in lane))
    how = {"lower": False, "tokeniser": "spaces", "lanes": len(lanes), "buffer": 1}
    place = str(folder / "*.tsv")
    return Stream(place, ("de", "en"), vocabulary_size=5, max_length=3, **how).look_over()


def test_pairs_are_counted_by_their_fate(tmp_path):
    found = surveyed(tmp_path, [("a b", "c"), ("", "c"), ("a a a a", "c")], [("a", "d d")])
    assert (found.sizes, found.tokens) == ((3, 1), 5)  # </s> counts
    assert found.report == {"read": 4, "kept": 2, "empty": 1, "too long": 1}
    assert found.words == (("a", "b"), ("d", "c"))
    other = surveyed(tmp_path, [("a b", "c"), ("", "c"), ("a a a b", "c")], [("a", "d d")])
    assert other.fingerprint != found.fingerprint
    with pytest.raises(ValueError, match="no pair to learn from, of 1 read"):
        surveyed(tmp_path, [("", "c")])


def test_a_data_set_of_the_hub_is_opened_by_name(monkeypatch):
    asked = []

    def of_hub(name, configuration, **how):
        asked.append((name, configuration, how))
        examples = [{"translation": {"de": f"w{i}", "en": f"v{i}"}} for i in range(12)]
        return IterableDataset.from_generator(lambda: iter(examples))

    monkeypatch.setattr(shards, "load_dataset", of_hub)
    corpus = stream("hub:wmt/wmt14:de-en:train", "hub:wmt/wmt14:de-en:validation", lanes=4)
    how = {"data_files": None, "split": "validation", "streaming": True}
    assert ("wmt/wmt14", "de-en", how) in asked
    assert corpus.train.survey.sizes == (3, 3, 3, 3) and len(corpus.valid) == 12

    def unreachable(*_, **__):
        raise ConnectionError("no network")

    monkeypatch.setattr(shards, "load_dataset", unreachable)
    with pytest.raises(DataUnavailable, match=r"hub:x/y could not be read .* network"):
        stream("hub:x/y", "hub:x/y")


def test_one_process_trains_on_a_stream_and_resumes_within_an_epoch(corpus, tmp_path):
    def trained(**how):
        model = rnnsearch(corpus, hidden=4, seed=2)
        history = fit(model, corpus, RECIPE, 3, device="cpu", progress=False, **how)
        return model.state_dict(), history

    whole, history = trained()
    assert history.epochs[0].tokens == corpus.train.tokens
    kept = {"checkpoint": tmp_path / "kept", "every": 3}

    class Stop(Exception):
        pass

    def stopping(self, updates=[0]):  # noqa: B006
        updates[0] += 1
        if updates[0] == 7:
            raise Stop
        return steps(self)

    steps = torch.optim.Adam.step
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch.optim.Adam, "step", stopping)
        with pytest.raises(Stop):
            trained(**kept)
    resumed, _ = trained(**kept, resume=True)
    assert all(torch.equal(whole[name], resumed[name]) for name in whole)
