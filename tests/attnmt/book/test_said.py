"""said.py: what a cell says for the sentences around it."""

import pytest

from attnmt.book import said
from attnmt.book.notebook import say
from attnmt.book.said import MIME


@pytest.fixture
def shown(monkeypatch) -> list[dict]:
    """What is displayed."""
    bundles: list[dict] = []
    monkeypatch.setattr(said, "display", lambda bundle, raw: bundles.append(bundle))
    return bundles


def test_facts_are_kept_and_can_be_read(shown):
    assert say(kept="19%", bleu_long="8.4") is None
    facts = {"kept": "19%", "bleu_long": "8.4"}
    assert shown == [{MIME: facts, "text/plain": "kept = 19%\nbleu_long = 8.4"}]


@pytest.mark.parametrize("value", [0.19, 19, None, ["19%"]])
def test_a_number_must_be_formatted(shown, value):
    with pytest.raises(TypeError, match=r"kept is of type \w+: format it"):
        say(kept=value)
    assert shown == []


@pytest.mark.parametrize("text", ["", " ", "1\n2", "1<!--/-->", "<!--a-->1"])
def test_a_text_must_fit_between_marks(shown, text):
    with pytest.raises(ValueError, match="kept must be one line"):
        say(kept=text)
    assert shown == []


@pytest.mark.parametrize("name", ["Kept", "_kept", "kept-19", "größe", "1st", ""])
def test_a_name_must_be_one(shown, name):
    with pytest.raises(ValueError, match="cannot be a mark"):
        say(**{name: "19%"})
    assert shown == []


def test_nothing_cannot_be_said(shown):
    with pytest.raises(ValueError, match="what to say"):
        say()
