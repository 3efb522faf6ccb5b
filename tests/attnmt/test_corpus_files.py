"""corpus_from_files: a reader's own text, and what may be wrong with it."""

import gzip

import pytest

from attnmt import corpus_from_files

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
    table = write(source.with_name("t.tsv"), [*(f"{g}\t{e}" for g, e in zip(GERMAN, ENGLISH)), ""])
    assert corpus_from_files(table, valid=3, test=4).report["empty"] == 1


# ------------------------------------------------------------------------------------ bad input


TEXT = "".join(f"{line}\n" for line in GERMAN).encode()
LATIN = TEXT.replace("5 schläft".encode(), "5 schläft".encode("latin-1"))


@pytest.mark.parametrize(
    ("german", "message"),
    [
        (LATIN, "{de}, line 6: not UTF-8"),
        (gzip.compress(LATIN), "{de}, line 6: not UTF-8"),
        (b"", "{de} is empty"),
        (b"\n\n  \n", "{de} is empty"),
        (b"PNG\n\0\0\0", "{de}, line 2: a zero byte; this is not a file of"),
        (gzip.compress(LATIN)[:-20], "{de} is a damaged gzip file"),
        (b"kurz\n" * 20, "{de} has 20 lines and {en} 30: from line 21 on"),
        (b"lang " * 60 + b"\n" + b"lang\n" * 29, "29 usable pairs .*too few to set aside valid=20"),
        ((b"lang " * 60 + b"\n") * 30, "{de} has 0 usable pairs .*over 50 words 30"),
        (None, "{de}"),
    ],
)
def test_a_file_that_cannot_be_read_is_named_with_its_line(files, german, message):
    source, target = files
    source.unlink() if german is None else source.write_bytes(german)
    with pytest.raises((ValueError, FileNotFoundError), match=message.format(de=source, en=target)):
        corpus_from_files(source, target, valid=20, test=10)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (["Hund\tdog", "Katze cat", "Pferd\thorse"], "{table}, line 2: no tab"),
        (["Hund\tdog"] * 9, "every training sentence also stands in valid or test"),
    ],
)
def test_a_table_that_cannot_be_read_is_named_with_its_line(tmp_path, rows, message):
    table = write(tmp_path / "t.tsv", rows)
    with pytest.raises(ValueError, match=message.format(table=table)):
        corpus_from_files(table, valid=1, test=1)
