"""notebook.py: live source, real text or none."""

import pytest

from attnmt import Attention, DataUnavailable
from attnmt.book import notebook
from attnmt.book.notebook import real_text, show_source


def test_show_source_shows_what_the_package_holds():
    shown = show_source(Attention.forward).data
    assert shown.startswith("```python\ndef forward(self, query")  # not indented
    assert "align @ memory.annotations" in shown
    assert shown.endswith("\n```")


def test_several_things_are_shown_one_after_the_other():
    shown = show_source(Attention.prepare, Attention.forward).data
    assert shown.count("```") == 2
    assert shown.index("def prepare") < shown.index("\n\n\ndef forward(self, query")


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
