"""The book as it is stored."""

import contextlib
import gzip
import json
import os
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

import nbformat
import pytest

from press.contents import ROOT, chapters
from press.run.outputs import output_texts
from press.run.stamps import faults


def test_the_notebooks_of_the_book_are_those_listed():
    """By `chapters` they are executed, checked and graded."""
    stored = {path for path in (ROOT / "book").glob("*.ipynb") if path.name != "_template.ipynb"}
    assert set(chapters()) == stored and len(chapters()) == len(stored)


each_chapter = pytest.mark.parametrize("path", chapters(), ids=lambda path: path.stem)


@each_chapter
def test_outputs_are_those_of_the_code_without_errors_and_small(path):
    assert faults(path) == []


@each_chapter
def test_no_reader_sees_the_mark_of_a_compared_output(path):
    """It is the tag `nbval-check-output`, not a comment."""
    assert not re.search(
        "nbval[_-]check", path.read_text("utf-8").replace('"nbval-check-output"', ""), re.I
    )


@each_chapter
def test_pictures_have_a_text_alternative_and_a_caption_with_a_number(path):
    cells = nbformat.read(path, as_version=4).cells
    for cell in (cell for cell in cells if cell.cell_type == "code"):
        kinds = {kind for output in cell.outputs for kind in output.get("data", {})}
        if kinds & {"image/png", "image/jpeg", "image/svg+xml"}:
            alt = cell.metadata.get("mystnb", {}).get("image", {}).get("alt", "")
            assert len(alt) > 15, f"no mystnb.image.alt in the metadata of:\n{cell.source}"
            figure = cell.metadata["mystnb"].get("figure", {})
            assert {"caption", "name"} <= set(figure), f"no mystnb.figure of:\n{cell.source}"
        for text in output_texts(cell):
            for tag in re.findall(r"<img\b[^>]*>", text):
                assert re.search(r'\balt="[^"]+"', tag), cell.source
            is_figure = text.startswith('<svg class="alignment"')  # the page adds its alternative
            if "<svg" in text and not is_figure:
                assert "<title" in text or "aria-label=" in text, cell.source


# --- Multi30k's sentences stay out


def repository_files() -> list[Path]:
    """The files that git tracks or would; without git, those of the folders that hold text."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    with contextlib.suppress(OSError, subprocess.CalledProcessError):
        names = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True).stdout
        return [ROOT / name for name in names.splitlines() if (ROOT / name).is_file()]
    folders = ("book", "src", "tests", "results", "press", "studies")
    return [path for name in folders for path in (ROOT / name).rglob("*") if path.is_file()]


def strings(node: object) -> list[str]:
    """All strings in a JSON value, so that escapes and line breaks cannot hide a sentence."""
    if isinstance(node, str):
        return [node]
    if isinstance(node, dict):
        node = list(node.values())
    return [text for item in node for text in strings(item)] if isinstance(node, list) else []


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


Sentences = dict[str, dict[tuple[str, ...], list[list[str]]]]  # by the first word, and by FIRST
FIRST = 6  # words


def occurs(text: str, sentences: Sentences) -> list[str]:
    """The sentences whose words stand in the text one after the other, whatever is between them."""
    found, stream = [], words(text)
    for start, word in enumerate(stream):
        if word in sentences:
            for sentence in sentences[word].get(tuple(stream[start : start + FIRST]), ()):
                if stream[start : start + len(sentence)] == sentence:
                    found.append(" ".join(sentence))
    return found


def by_first_words(lines: Iterable[str]) -> Sentences:
    """Of lines with at least FIRST words."""
    sentences: Sentences = {}
    for sentence in map(words, lines):
        if len(sentence) >= FIRST:
            same = sentences.setdefault(sentence[0], {})
            same.setdefault(tuple(sentence[:FIRST]), []).append(sentence)
    return sentences


def test_occurrences_are_found():
    sentences = by_first_words(["A b c d e f g.", "a b"])
    assert occurs("x\na A b, \n['c'] d e\tf-G a b", sentences) == ["a b c d e f g"]
    assert occurs("a b c d e f h a b", sentences) == []


def test_nothing_stored_holds_a_sentence_of_multi30k():
    folder = Path(os.environ.get("ATTNMT_DATA", "~/.cache/attnmt")).expanduser() / "multi30k"
    files = sorted(folder.glob("*.gz"))
    if not files:
        pytest.skip("Multi30k is not on this machine")
    texts = [gzip.decompress(path.read_bytes()).decode("utf8") for path in files]
    sentences = by_first_words("\n".join(texts).splitlines())
    assert sum(map(len, sentences.values())) > 1_000
    for path in repository_files():
        try:
            text = path.read_text(encoding="utf8")
        except UnicodeDecodeError:
            continue
        if path.suffix in {".ipynb", ".json"}:
            text = "\n".join(strings(json.loads(text)))
        assert not occurs(text, sentences), path
