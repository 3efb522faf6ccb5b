"""notebook.py: live source, real text or none, the table of claims."""

import pytest

from attnmt import Attention, DataUnavailable
from attnmt_book import notebook
from attnmt_book.notebook import Claims, real_text, show_source


def test_show_source_shows_what_the_package_holds():
    shown = show_source(Attention.forward).data
    assert shown.startswith("```python\ndef forward(self, query")  # not indented
    assert "align @ memory.annotations" in shown
    assert shown.endswith("\n```")


def unavailable(*args, **kwargs):
    raise DataUnavailable("no network")


def test_without_real_text_a_chapter_goes_on_and_says_so(monkeypatch, capsys):
    monkeypatch.setattr(notebook, "multi30k", unavailable)
    monkeypatch.delenv("ATTNMT_REAL_TEXT", raising=False)
    assert real_text("de-en") is None
    assert "recorded run stands in. (no network)" in capsys.readouterr().out
    monkeypatch.setenv("ATTNMT_REAL_TEXT", "required")
    with pytest.raises(DataUnavailable):
        real_text("de-en")


def test_with_real_text_a_chapter_gets_it(monkeypatch):
    monkeypatch.setattr(notebook, "multi30k", lambda *args, **kwargs: (args, kwargs))
    assert real_text("de-en", train=5) == (("de-en",), {"train": 5})


def test_claims_say_what_holds_and_what_does_not():
    claims = Claims()
    claims.add("a | b", "paper", "1 > 0", True)
    claims.add("c", "paper", "0 > 1", False)
    claims.add("d", "paper", "1 or 0", None)
    lines = claims.table().data.splitlines()
    assert lines[2] == r"| a \| b | paper | 1 > 0 | holds |"
    assert lines[3].endswith("**does not hold here** |")
    assert lines[4].endswith("cannot tell |")
