"""attnmt.grammar.store: what is kept is what was drawn, or it is drawn again."""

import shutil
from pathlib import Path

import pytest

from attnmt import grammar_corpus
from attnmt.grammar import store

SMALL = {"train": 40, "valid": 4, "test": 20, "long": 4, "names": 4}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty data folder, and everything is worth keeping."""
    monkeypatch.setenv("ATTNMT_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr(store, "WORTHWHILE", 1)
    return tmp_path / "data"


@pytest.fixture
def drawn(monkeypatch):
    """A list that grows by one whenever something is drawn."""
    calls, draw = [], store.draw

    def counted(*arguments):
        calls.append(arguments)
        return draw(*arguments)

    monkeypatch.setattr(store, "draw", counted)
    return calls


def everything(corpus):
    """All of a corpus; links in the order in which a loop would see them."""
    return [
        (pair.source, pair.target, pair.source_text, pair.target_text, pair.classes, *links)
        for part in SMALL
        for pair in getattr(corpus, part)
        for links in [(list(pair.sure), list(pair.possible))]
    ]


# ------------------------------------------------------------------ the same pairs


def test_the_second_time_the_same_pairs_are_read(folder, drawn):
    first, second = (grammar_corpus(**SMALL) for _ in range(2))
    assert len(drawn) == 1
    assert everything(second) == everything(first)
    assert len(list((folder / "grammar").iterdir())) == 1


def test_other_arguments_are_drawn_but_for_the_size_of_the_vocabulary(folder, drawn):
    grammar_corpus(**SMALL)
    others = [{part: size + 1} for part, size in SMALL.items()]
    others += [{"seed": 1}, {"direction": "en-de"}, {"lengths": (4, 30)}]
    for number, other in enumerate(others, start=2):
        grammar_corpus(**SMALL | other)
        assert len(drawn) == number
    grammar_corpus(**SMALL, vocabulary_size=50)
    assert len(drawn) == number


# ------------------------------------------------------------------ files that are not right


@pytest.mark.parametrize(
    "spoil",
    [
        lambda content, middle: b"",
        lambda content, middle: content[:middle],
        lambda content, middle: (
            content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]
        ),
    ],
    ids=["empty", "half", "a bit"],
)
def test_a_damaged_file_is_drawn_again(folder, drawn, spoil):
    first = grammar_corpus(**SMALL)
    (path,) = (folder / "grammar").iterdir()
    content = path.read_bytes()
    path.write_bytes(spoil(content, len(content) // 2))
    assert everything(grammar_corpus(**SMALL)) == everything(first)
    assert len(drawn) == 2
    assert everything(grammar_corpus(**SMALL)) == everything(first)
    assert len(drawn) == 2  # what was drawn again was kept again


# ------------------------------------------------------------------ folders that are not there


def test_a_read_only_folder_is_read_but_not_written(folder, tmp_path, drawn):
    """Not even by root, whom its mode would not stop."""
    folder.mkdir()
    folder.chmod(0o555)
    first = grammar_corpus(**SMALL)
    assert list(folder.iterdir()) == []
    assert len(list((tmp_path / "home" / ".cache" / "attnmt" / "grammar").iterdir())) == 1
    assert everything(grammar_corpus(**SMALL)) == everything(first)
    assert len(drawn) == 1
    folder.chmod(0o755)


@pytest.mark.parametrize("where", ["data", "/dev/null/data"])
def test_a_folder_that_cannot_be_is_no_error(folder, monkeypatch, drawn, where):
    """A relative path, and a folder inside a file."""
    monkeypatch.setenv("ATTNMT_DATA", where)
    monkeypatch.setenv("HOME", "/dev/null")
    first = grammar_corpus(**SMALL)
    assert everything(grammar_corpus(**SMALL)) == everything(first)
    assert len(drawn) == 2
    assert not Path("data").exists()


@pytest.mark.parametrize("edited", ["lexicon/nouns.tsv", "noun_phrases.py"])
def test_an_edited_grammar_never_reads_old_pairs(folder, drawn, edited, tmp_path, monkeypatch):
    """Whether words are edited, or code."""
    source = shutil.copytree(Path(store.__file__).parent, tmp_path / "grammar")
    monkeypatch.setattr(store, "__file__", str(source / "store.py"))
    monkeypatch.setattr(store, "LEXICON", source / "lexicon")
    monkeypatch.setattr(store, "digest", store.digest.__wrapped__)  # asked each time
    for change in (b"", b"\n", b""):
        (source / edited).write_bytes((source / edited).read_bytes() + change)
        grammar_corpus(**SMALL)
    assert len(drawn) == 2
