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


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({}, "what to say"),
        *(({"kept": v}, r"kept is of type \w+: format it") for v in (0.19, 19, None, ["19%"])),
        *(
            ({"kept": text}, "kept must be one line")  # and fit between marks
            for text in ("", " ", "1\n2", "1<!--/-->", "<!--a-->1")
        ),
        *(
            ({name: "19%"}, "cannot be a mark")
            for name in ("Kept", "_kept", "kept-19", "größe", "1st", "")
        ),
    ],
)
def test_what_cannot_be_said_is_refused(shown, facts, message):
    with pytest.raises((TypeError, ValueError), match=message):
        say(**facts)
    assert shown == []
