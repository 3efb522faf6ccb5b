"""corpus.py: pairs of sentences, and Multi30k downloaded, checked, drawn and filtered.

No test touches the network: a server on this machine stands in for the address.
"""

import gzip
import hashlib
import os

import pytest

import attnmt.text
from attnmt import DataUnavailable, multi30k
from attnmt.text import data_folder
from press.browser import served

pytestmark = pytest.mark.usefixtures("no_proxy")

PARTS = {"train": 40, "val": 5, "test_2016_flickr": 6, "test_2017_mscoco": 4}
NOWHERE = "http://127.0.0.1:9"


def sentence(language: str, part: str, number: int) -> str:
    if part == "train" and number == 7:
        return ""  # an empty side
    if part == "train" and number == 9 and language == "de":
        return "sehr " * 60 + "lang"  # more than 50 words
    # U+2028 and U+0085 end a line for Python's splitlines(), and not for a corpus
    return (
        f"Satz\u2028{number}\u0085 von {part}." if language == "de" else f"Line {number} of {part}."
    )


@pytest.fixture
def shelf(tmp_path_factory, tmp_path, monkeypatch):
    """The folder of a small Multi30k that this machine serves, for an empty folder of data."""
    folder = tmp_path_factory.mktemp("shelf")
    for part, size in PARTS.items():
        for language in ("de", "en", "fr"):
            lines = "".join(sentence(language, part, n) + "\n" for n in range(size))
            (folder / f"{part}.{language}.gz").write_bytes(gzip.compress(lines.encode()))
    sums = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}
    monkeypatch.setattr(attnmt.text, "MULTI30K_SHA256", sums)
    monkeypatch.setenv("ATTNMT_DATA", str(tmp_path))
    with served(folder) as url:
        monkeypatch.setattr(attnmt.text, "MULTI30K_URL", url.rstrip("/"))
        yield folder


def left_in(folder):
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


def test_each_file_is_downloaded_once(shelf, tmp_path, monkeypatch):
    first = multi30k("de-en", train=30)
    parts = "test_2016_flickr", "train", "val"
    kept = [f"multi30k/{part}.{language}.gz" for part in parts for language in ("de", "en")]
    assert left_in(tmp_path) == kept
    monkeypatch.setattr(attnmt.text, "MULTI30K_URL", NOWHERE)
    again = multi30k("de-en", train=30)
    assert again.fingerprint == first.fingerprint


def test_a_pair_keeps_both_raw_sentences_and_their_words(shelf):
    corpus = multi30k("de-en", train=30)
    assert (len(corpus.valid), len(corpus.test)) == (5, 6)
    pair = corpus.test[2]
    assert pair.target_text == "Line 2 of test_2016_flickr."
    assert pair.target == ("line", "2", "of", "test", "_", "2016", "_", "flickr", ".")
    assert pair.source_text == "Satz 2 von test_2016_flickr."
    assert pair.sure is pair.possible is pair.classes is None
    assert corpus.bleu_of_words
    pieces = multi30k("de-en", train=30, subwords=30)
    assert len(pieces.source_vocabulary) == len(pieces.target_vocabulary) == 34
    assert pieces.target_vocabulary.units.join(pieces.test[2].target) == list(pair.target)


@pytest.mark.parametrize("pair", ["en-de", "en-fr", "fr-en"])
def test_other_pairs(shelf, pair):
    corpus = multi30k(pair, train=5)
    assert f"{corpus.source_language}-{corpus.target_language}" == pair
    assert corpus.source_vocabulary.language == corpus.source_language


def test_another_test_set_changes_the_test_alone(shelf):
    usual = multi30k("de-en", train=5)
    other = multi30k("de-en", train=5, test="coco2017")
    assert [pair.target_text for pair in other.test][-1] == "Line 3 of test_2017_mscoco."
    assert (other.train, other.valid, other.name) == (
        usual.train,
        usual.valid,
        f"{usual.name}-coco2017",
    )


def test_empty_and_over_long_pairs_are_dropped_and_counted(shelf):
    corpus = multi30k("de-en", train=38)
    assert corpus.report == {"read": 40, "empty": 1, "too long": 1, "kept": 38}
    assert max(len(pair.source) for pair in corpus.train) <= 50


def test_the_draw_follows_the_seed_and_a_smaller_one_is_part_of_a_larger(shelf):
    def draw(train, seed):
        return multi30k("de-en", train=train, seed=seed).train

    assert draw(20, 0) == draw(20, 0)
    assert draw(20, 0) != draw(20, 1)
    assert draw(20, 0)[:10] == draw(10, 0)


def test_case_can_be_kept(shelf):
    corpus = multi30k("de-en", train=3, lower=False)
    assert all(pair.target[0] == "Line" for pair in corpus.train)
    assert not corpus.source_vocabulary.lower


def test_vocabularies_are_of_the_training_pairs_alone(shelf):
    corpus = multi30k("de-en", train=10, vocabulary_size=12)
    assert len(corpus.target_vocabulary) == 12 + 4
    assert "line" in corpus.target_vocabulary
    assert "flickr" not in corpus.target_vocabulary


# ------------------------------------------------------------------------------------ bad input


def test_more_pairs_than_there_are_is_refused(shelf):
    with pytest.raises(ValueError, match=r"train=39 .* has 38 .* dropped 2.*Ask for fewer"):
        multi30k("de-en", train=39)


@pytest.mark.parametrize(
    ("failure", "message"),
    [
        ("no network", r"train\.de\.gz is not in .*Is there a network"),
        ("not at the address", r"train\.de\.gz is not in"),
        ("another file", r"train\.de\.gz did not arrive whole.*SHA-256"),
    ],
)
def test_a_download_that_fails_is_named_and_leaves_no_file(
    shelf, tmp_path, monkeypatch, failure, message
):
    monkeypatch.setenv("ATTNMT_DATA", str(tmp_path / "there" / "new"))
    if failure == "not at the address":
        (shelf / "train.de.gz").unlink()
    if failure == "another file":
        (shelf / "train.de.gz").write_bytes(b"not the file that was promised")
    if failure == "no network":
        monkeypatch.setattr(attnmt.text, "MULTI30K_URL", NOWHERE)
    with pytest.raises(DataUnavailable, match=message):
        multi30k("de-en", train=5)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_a_damaged_file_on_disk_is_replaced_or_named(shelf, tmp_path, monkeypatch):
    multi30k("de-en", train=5)
    damaged = tmp_path / "multi30k" / "val.en.gz"
    damaged.write_bytes(b"damaged")
    with monkeypatch.context() as patch:
        patch.setattr(attnmt.text, "MULTI30K_URL", NOWHERE)
        with pytest.raises(DataUnavailable, match=r"val\.en\.gz"):
            multi30k("de-en", train=5)
    assert damaged.read_bytes() == b"damaged"  # what was there is not lost
    multi30k("de-en", train=5)
    assert damaged.read_bytes() == (shelf / "val.en.gz").read_bytes()


def test_a_cache_that_cannot_be_a_folder_to_write_in(shelf, tmp_path, monkeypatch):
    file = tmp_path / "file"
    file.write_text("in the way")
    monkeypatch.setenv("ATTNMT_DATA", str(file))
    with pytest.raises(DataUnavailable, match=r"cannot be a folder.*ATTNMT_DATA"):
        multi30k("de-en", train=5)
    assert file.read_text() == "in the way"
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    if os.name == "posix" and os.geteuid():  # root may write anywhere; Windows asks no mode
        monkeypatch.setenv("ATTNMT_DATA", str(closed))
        with pytest.raises(DataUnavailable, match="cannot be a folder to write in"):
            multi30k("de-en", train=5)


def test_the_data_folder_must_be_absolute(monkeypatch, tmp_path):
    monkeypatch.setenv("ATTNMT_DATA", str(tmp_path))
    assert data_folder() == tmp_path
    monkeypatch.setenv("ATTNMT_DATA", "data")
    with pytest.raises(ValueError, match="Set it to an absolute path"):
        data_folder()
    monkeypatch.delenv("ATTNMT_DATA")
    assert data_folder().parts[-2:] == (".cache", "attnmt")
