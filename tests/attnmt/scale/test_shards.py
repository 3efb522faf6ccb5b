"""shards.py: every kind of file gives the same pairs; what is wrong is told by file and line."""

import gzip
import json

import pytest

pytest.importorskip("datasets")
import pyarrow
import pyarrow.parquet

from attnmt.scale.shards import read

PAIRS = [("ein Haus", "a house"), ("zwei Häuser", "two houses"), ("", "nothing"), ("drei", "three")]
LANGUAGES = ("de", "en")


def written(folder, kind):
    """The pairs in files of one kind; returns their place."""
    lines = {"de": [s for s, _ in PAIRS], "en": [t for _, t in PAIRS]}
    if kind in ("text", "gzip"):
        paths = []
        for language, side in lines.items():
            path = folder / f"x.{language}"
            content = "".join(f"{line}\n" for line in side).encode()
            path.write_bytes(gzip.compress(content) if kind == "gzip" else content)
            paths.append(str(path))
        return paths
    path = folder / ("x.tsv" if kind == "tab" else f"x.{kind}")
    if kind == "tab":
        path.write_text("".join(f"{s}\t{t}\tmore\n" for s, t in PAIRS), encoding="utf-8")
    elif kind == "jsonl":
        named = [{"translation": {"de": s, "en": t}} for s, t in PAIRS]
        path.write_text("".join(f"{json.dumps(line)}\n" for line in named))
    else:
        pyarrow.parquet.write_table(
            pyarrow.table({"source": lines["de"], "target": lines["en"]}), path
        )
    return str(path)


@pytest.mark.parametrize("kind", ["text", "gzip", "tab", "jsonl", "parquet"])
def test_every_kind_of_file_gives_the_same_pairs(tmp_path, kind):
    place = written(tmp_path, kind)
    assert list(read(place, LANGUAGES)) == PAIRS
    dealt = [list(read(place, LANGUAGES, lane, lanes=3)) for lane in range(3)]
    assert dealt == [PAIRS[0::3], PAIRS[1::3], PAIRS[2::3]]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("x.tsv", b"a\tb\nno tab here\n", r"x\.tsv, line 2: no tab"),
        ("x.tsv", b"a\tb\nc\td\n\xff\te\n", r"x\.tsv, line 3: not UTF-8"),
        ("x.tsv", b"a\tb\n\0\n", r"x\.tsv, line 2: a zero byte"),
        (
            "x.jsonl",
            b'{"de": "a", "en": "b"}\n{"de": "a", \n',
            r"x\.jsonl could not be read .*JSON.*row 1",
        ),
        (
            "x.jsonl",
            b'{"de": "a", "fr": "b"}\n',
            r"x\.jsonl, example 1 of lane 0: no text under 'de' and 'en'",
        ),
        ("x.jsonl", b"[1, 2]\n", r"x\.jsonl, example 1 .*: no text"),
        (
            "x.gz",
            gzip.compress(b"a\tb\n" * 9_000, mtime=0)[:-30],
            r"x\.gz, line \d+: a damaged gzip file",
        ),
        ("x.parquet", b"PAR1 not at all", r"x\.parquet could not be read .*corrupted"),
    ],
)
def test_what_is_wrong_is_told_by_file_and_line(tmp_path, name, content, said):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=said):
        list(read(str(tmp_path / name), LANGUAGES))


def test_a_list_of_patterns_is_of_two_sides(tmp_path):
    place = written(tmp_path, "jsonl")
    assert list(read([place], LANGUAGES)) == PAIRS
    with pytest.raises(ValueError, match="must be one pattern, or two for source and target"):
        list(read([place] * 3, LANGUAGES))


def test_unequal_files_are_told_by_the_first_line_without_a_partner(tmp_path):
    source, target = written(tmp_path, "text")
    with open(target, "a") as more:
        more.write("too much\n")
    with pytest.raises(ValueError, match=r"x\.en, line 5: .*x\.de has no such line"):
        list(read([source, target], LANGUAGES))


def test_a_missing_shard_is_missed(tmp_path):
    with pytest.raises(FileNotFoundError, match="no file"):
        list(read(str(tmp_path / "*.jsonl"), LANGUAGES))
    for number in (0, 1, 3):
        (tmp_path / f"t-{number:05}-of-00004.de").write_text("x\n")
    with pytest.raises(FileNotFoundError, match=r"has 3 files, but their names say .* 4"):
        list(read(str(tmp_path / "t-*.de"), LANGUAGES))
    for number in range(4):
        (tmp_path / f"u-{number}.de").write_text(f"{number}\n")
        (tmp_path / f"u-{number}.en").write_text(f"{number}\n")
    patterns = [str(tmp_path / "u-*.de"), str(tmp_path / "u-*.en")]
    assert list(read(patterns, LANGUAGES)) == [(f"{i}", f"{i}") for i in range(4)]
    (tmp_path / "u-2.en").unlink()
    with pytest.raises(FileNotFoundError, match=r"4 files and .* 3"):
        list(read(patterns, LANGUAGES))
