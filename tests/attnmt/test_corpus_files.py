"""corpus_from_files: a reader's own text, and what may be wrong with it."""

import gzip

import pytest

from attnmt import corpus_from_files, fit, rnnsearch
from attnmt.recipes import Recipe

GERMAN = [f"Der Hund Nummer {n} schläft." for n in range(30)]
ENGLISH = [f"Dog number {n} is asleep." for n in range(30)]


def write(path, lines, end="\n"):
    path.write_bytes("".join(line + end for line in lines).encode())
    return path


@pytest.fixture
def files(tmp_path):
    return write(tmp_path / "text.de", GERMAN), write(tmp_path / "text.en", ENGLISH)


def all_texts(corpus):
    pairs = corpus.train + corpus.valid + corpus.test
    return sorted((pair.source_text, pair.target_text) for pair in pairs)


def test_two_files(files):
    corpus = corpus_from_files(*files, valid=3, test=4)
    assert (len(corpus.train), len(corpus.valid), len(corpus.test)) == (23, 3, 4)
    assert all_texts(corpus) == sorted(zip(GERMAN, ENGLISH))
    assert corpus.name == "text"
    assert corpus.test[0].target[0] == "dog"


def test_gzipped_tab_separated_and_other_line_ends_give_the_same(files, tmp_path):
    expected = corpus_from_files(*files, valid=3, test=4)
    for path in files:
        path.with_suffix(path.suffix + ".gz").write_bytes(gzip.compress(path.read_bytes()))
    gzipped = [path.with_suffix(path.suffix + ".gz") for path in files]
    rows = [f"{g}\t{e}\tCC-BY\t7" for g, e in zip(GERMAN, ENGLISH)]
    table = write(tmp_path / "table.tsv", rows)
    windows = write(tmp_path / "windows.tsv", ["\ufeff" + rows[0], *rows[1:]], end="\r\n")
    for sources in (gzipped, [table], [windows]):
        assert corpus_from_files(*sources, valid=3, test=4).fingerprint == expected.fingerprint


def test_the_draw_follows_the_seed(files):
    def test_part(seed):
        return corpus_from_files(*files, valid=3, test=4, seed=seed).test

    assert test_part(0) == test_part(0)
    assert test_part(0) != test_part(1)


def test_sentences_that_are_held_out_are_not_trained_on(tmp_path):
    table = write(tmp_path / "t.tsv", [f"Satz {n % 10}.\tSentence {n}." for n in range(40)])
    corpus = corpus_from_files(table, valid=2, test=2)
    held_out = {pair.source for pair in corpus.valid + corpus.test}
    assert not held_out & {pair.source for pair in corpus.train}
    assert corpus.report["also held out"] + corpus.report["kept"] == 36


def test_empty_sides_and_long_sentences_are_dropped_and_counted(files):
    source, target = files
    write(source, [*GERMAN, "", "lang " * 60])
    write(target, [*ENGLISH, "Nothing.", "long"])
    report = corpus_from_files(source, target, valid=3, test=4).report
    assert (report["read"], report["empty"], report["too long"]) == (32, 1, 1)


def test_an_empty_line_in_a_table_is_an_empty_pair(tmp_path):
    rows = [f"{g}\t{e}" for g, e in zip(GERMAN, ENGLISH)]
    table = write(tmp_path / "t.tsv", [*rows, ""])
    assert corpus_from_files(table, valid=3, test=4).report["empty"] == 1


def test_a_model_learns_from_it(files):
    corpus = corpus_from_files(*files, valid=3, test=4)
    fit(rnnsearch(corpus, hidden=4), corpus, Recipe(epochs=1), device="cpu", progress=False)


# ------------------------------------------------------------------------------------ bad input


def test_line_counts_that_differ(files):
    source, target = files
    write(target, ENGLISH[:20])
    message = rf"{source} has 30 lines and {target} 20: from line 21 on"
    with pytest.raises(ValueError, match=message):
        corpus_from_files(source, target)


@pytest.mark.parametrize("compress", [bytes, gzip.compress])
def test_invalid_utf_8_is_named_with_its_line(files, compress):
    source, target = files
    data = source.read_bytes().replace("Nummer 5 schläft".encode(), "schläft".encode("latin-1"))
    source.write_bytes(compress(data))
    with pytest.raises(ValueError, match=rf"{source}, line 6: not UTF-8"):
        corpus_from_files(source, target)


@pytest.mark.parametrize("content", [b"", b"\n\n  \n"])
def test_an_empty_file(files, content):
    source, target = files
    target.write_bytes(content)
    with pytest.raises(ValueError, match=rf"{target} is empty"):
        corpus_from_files(source, target)


def test_a_file_that_is_not_text(files):
    source, target = files
    source.write_bytes(b"PNG\n\0\0\0")
    with pytest.raises(ValueError, match=rf"{source}, line 2: a zero byte; this is not a file of"):
        corpus_from_files(source, target)


def test_a_damaged_gzip_file(files):
    source, target = files
    source.write_bytes(gzip.compress(source.read_bytes())[:-20])
    with pytest.raises(ValueError, match=rf"{source} is a damaged gzip file"):
        corpus_from_files(source, target)


def test_only_over_long_sentences(files):
    source, target = files
    write(source, ["lang " * 60] * 30)
    with pytest.raises(ValueError, match=rf"{source} has 0 usable pairs .*over 50 words 30"):
        corpus_from_files(source, target)


def test_too_few_pairs_to_set_some_aside(files):
    with pytest.raises(ValueError, match=r"30 usable pairs .*too few to set aside valid=20"):
        corpus_from_files(*files, valid=20, test=10)


def test_a_missing_column_is_named_with_its_line(tmp_path):
    table = write(tmp_path / "t.tsv", ["Hund\tdog", "Katze cat", "Pferd\thorse"])
    with pytest.raises(ValueError, match=rf"{table}, line 2: no tab"):
        corpus_from_files(table, valid=1, test=1)


def test_every_training_sentence_is_held_out(tmp_path):
    table = write(tmp_path / "t.tsv", ["Hund\tdog"] * 9)
    with pytest.raises(ValueError, match="every training sentence also stands in valid or test"):
        corpus_from_files(table, valid=1, test=1)


def test_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nowhere\.de"):
        corpus_from_files(tmp_path / "nowhere.de", tmp_path / "nowhere.en")
