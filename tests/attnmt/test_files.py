"""files.py: a file is whole or not there, and a failure leaves the old one alone.

Tensors are read as they were written, byte for byte the same each time, or are refused.
"""

import os
import re

import pytest
import torch
from safetensors.torch import save_file

from attnmt.files import read_tensors, remove_leftovers, write_aside, write_tensors


def test_writes_and_replaces(tmp_path):
    path = tmp_path / "new" / "file"
    write_aside(path, b"one")
    write_aside(path, b"two")
    assert path.read_bytes() == b"two"
    assert os.listdir(path.parent) == ["file"]


def test_others_may_read_what_the_user_lets_them(tmp_path):
    (tmp_path / "plain").write_bytes(b"")
    write_aside(tmp_path / "aside", b"")
    assert (tmp_path / "aside").stat().st_mode == (tmp_path / "plain").stat().st_mode


@pytest.mark.parametrize("broken", ["fsync", "replace"])
def test_a_failure_at_any_moment_leaves_the_old_file_and_no_rest(tmp_path, monkeypatch, broken):
    path = tmp_path / "file"
    write_aside(path, b"old")

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, broken, fail)
    with pytest.raises(
        OSError, match=rf"{re.escape(str(path))} could not be written \(disk full\). What was"
    ):
        write_aside(path, b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


def test_the_kind_of_an_error_stays(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises((FileExistsError, NotADirectoryError), match="could not be written"):
        write_aside(tmp_path / "file" / "below", b"new")


def test_leftovers_of_one_file_are_removed_and_no_others(tmp_path):
    others = [".a1.77", ".a[1].env", ".b.77", "a[1]", "a[1].77"]
    for name in (".a[1].77", ".a[1].78", *others):
        (tmp_path / name).write_bytes(b"")
    remove_leftovers(tmp_path / "a[1]")
    assert sorted(os.listdir(tmp_path)) == others


def test_tensors_are_read_with_their_metadata(tmp_path):
    path = tmp_path / "file"
    save_file({"a": torch.ones(2)}, path, {"format": "mine", "more": "x"})
    metadata, tensors = read_tensors(path, "mine", "a thing of mine")
    assert metadata["more"] == "x"
    assert tensors["a"].tolist() == [1, 1]
    named = re.escape(str(path))
    with pytest.raises(ValueError, match=f"{named} is a safetensors file, but not a thing of y"):
        read_tensors(path, "yours", "a thing of yours")
    with pytest.raises(ValueError, match=r"[\\/]\S+ is damaged, or not a thing of mine"):
        read_tensors(tmp_path, "mine", "a thing of mine")  # a folder
    whole = path.read_bytes()
    for kept in (0, 1, len(whole) // 3, len(whole) - 1):
        path.write_bytes(whole[:kept])
        with pytest.raises(ValueError, match=f"{named} is damaged, or not a thing of mine"):
            read_tensors(path, "mine", "a thing of mine")


def test_what_was_read_is_no_part_of_the_file_any_more(tmp_path):
    """Windows lets nobody rename a file over one that is mapped: a training could not resume."""
    path = tmp_path / "file"
    write_tensors(path, {"a": torch.ones(50_000)}, format="mine", metadata={})
    _, tensors = read_tensors(path, "mine", "a thing of mine")
    with path.open("r+b") as file:
        file.write(bytes(path.stat().st_size))
    assert tensors["a"].eq(1).all()


def test_the_same_tensors_and_metadata_are_the_same_bytes_in_every_save(tmp_path):
    """safetensors alone writes its metadata in an order that changes from call to call."""
    tensors = {"b": torch.ones(3).half(), "a": torch.arange(4.0).reshape(2, 2).T}
    metadata = {name: f'{name} "ü" \n\x07' for name in "vwxyz"}
    written = set()
    for number in range(10):
        path = tmp_path / f"{number}"
        turned = dict(sorted(metadata.items(), reverse=number % 2 == 0))
        write_tensors(path, tensors, format="mine", metadata=turned)
        written.add(path.read_bytes())
    assert len(written) == 1
    found, back = read_tensors(path, "mine", "a thing of mine")
    assert found == {**metadata, "format": "mine"}
    assert {name: value.tolist() for name, value in back.items()} == {
        name: value.tolist() for name, value in tensors.items()
    }
    assert back["b"].dtype == torch.half
