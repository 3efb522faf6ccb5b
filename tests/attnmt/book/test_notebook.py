"""notebook.py: live source, real text or none, the table of claims."""

import pytest

from attnmt import Attention, DataUnavailable
from attnmt.book import notebook
from attnmt.book.notebook import Claims, real_text, show_source
from attnmt.evidence.comparison import by_scores, compare, decide


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


def decided(first, second, **how):
    return decide([compare(by_scores(first), by_scores(second), **how)])[0]


@pytest.mark.parametrize(
    ("second", "verdict"),
    [
        ([10.0, 10.2, 9.9], "agrees"),
        ([30.0, 30.2, 29.9], "opposite"),
        ([20.0, 20.2, 19.9], "no difference"),
        ([10.0, 40.0, 11.0], "undecided"),
    ],
)
def test_a_claim_has_the_verdict_of_the_truth_rule_and_its_interval(second, verdict):
    claims = Claims()
    decision = decided([20.0, 20.1, 20.2], second, margin=1.0)
    claims.add("a | b", "paper", "20.1 against others", decision=decision)
    (line,) = claims.table().data.splitlines()[2:]
    expected = f"20.1 against others; difference {decision.text()}"
    assert line == rf"| a \| b | paper | {expected} | {verdict} |"


def test_a_claim_without_a_comparison_has_no_verdict():
    claims = Claims()
    claims.add("c", "this book", "0.97")
    claims.add("e", "this book", "2, 3", decision=decided([1.0, 1.1], [2.0, 2.1]), question=True)
    claims.not_run("d", "paper", "no model of four layers")
    lines = claims.table().data.splitlines()
    assert lines[2] == "| c | this book | 0.97 | question of ours |"
    assert lines[3].startswith("| e | this book | 2, 3; difference −1.0 (")
    assert lines[3].endswith(" | question of ours |")
    assert lines[4] == "| d | paper | no model of four layers | not run |"
