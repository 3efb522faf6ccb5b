"""files.py: a file is whole or not there, and a failure leaves the old one alone."""

import os

import pytest

from attnmt.files import write_aside


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
    with pytest.raises(OSError, match="disk full"):
        write_aside(path, b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]
