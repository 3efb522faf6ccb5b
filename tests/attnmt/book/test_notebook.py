"""notebook.py: live source, real text or none, the table of claims."""

import pytest

from attnmt import Attention, DataUnavailable
from attnmt.book import notebook
from attnmt.book.notebook import Claims, real_text, show_source
from attnmt.evidence.comparison import by_scores, compare, decide


def test_several_things_are_shown_one_after_the_other():
    shown = show_source(Attention.prepare, Attention.forward).data
    assert shown.startswith("```python\ndef prepare(self, memory")  # not indented
    assert "align @ memory.annotations" in shown
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


def decided(first, second, **how):
    return decide([compare(by_scores(first), by_scores(second), **how)])[0]


def test_a_claim_has_a_verdict_if_systems_were_compared_and_the_question_is_not_ours():
    claims, decision = Claims(), decided([20.0, 20.1, 20.2], [10.0, 10.2, 9.9], margin=1.0)
    claims.add("a | b", "paper", "20.1", decision=decision)
    claims.add("c", "this book", "0.97")
    claims.add("e", "this book", "2, 3", decision=decided([1.0, 1.1], [2.0, 2.1]), question=True)
    claims.not_run("d", "paper", "no model of four layers")
    lines = claims.table().data.splitlines()
    assert lines[2] == rf"| a \| b | paper | 20.1; difference {decision.text()} | agrees |"
    assert lines[3] == "| c | this book | 0.97 | question of ours |"
    assert lines[4].startswith("| e | this book | 2, 3; difference −1.0 (")
    assert lines[4].endswith(" | question of ours |")
    assert lines[5] == "| d | paper | no model of four layers | not run |"
