"""The `{learn}` block: what it may be told, and its line of HTML for other pages."""

import json
import re
from pathlib import Path
from urllib.parse import parse_qs

import pytest

from press.contents import ROOT
from press.extensions import learn

LEARN = (ROOT / "book" / "_live" / "learn.mjs").read_text(encoding="utf8")


def test_a_block_tells_the_component_what_was_chosen():
    html = learn.box("reverse", {"score": "dot(q, W(k)) - 1", "length": "10", "feeding": "no"})
    told = json.loads(re.search(r'learn-options">(.*?)</script>', html)[1])
    assert told == {
        "task": "reverse",
        "score": "dot(q, W(k)) - 1",
        "length": 10,
        "feeding": False,
    }
    assert "<noscript>" in html


def test_a_line_cannot_end_its_script():
    html = learn.box("copy", {"score": "</script><b>"})
    assert html.count("</script>") == 2
    assert "<b>" in json.loads(re.search(r'learn-options">(.*?)</script>', html)[1])["score"]


@pytest.mark.parametrize(
    ("task", "options", "message"),
    [
        ("sort", {}, "the task is one of german, copy, reverse, own, not 'sort'"),
        ("copy", {"length": "99"}, "length is one of 4, 5"),
        ("copy", {"window": "local"}, "window is one of global, local-m, local-p"),
        ("copy", {"colour": "red"}, "there is no option colour"),
    ],
)
def test_what_there_is_not_is_refused(task, options, message):
    with pytest.raises(ValueError, match=message):
        learn.box(task, options)


def test_one_line_shows_it_on_any_page():
    line = learn.frame("https://book.example/", "copy", {"score": "dot(q, k) + 1"}, 500)
    assert "\n" not in line
    address = re.search(r'src="([^"]*)"', line)[1].replace("&amp;", "&")
    before, _, told = address.partition("#learn?")
    assert before == "https://book.example/_static/live/learn.html"
    assert parse_qs(told) == {"task": ["copy"], "score": ["dot(q, k) + 1"]}
    assert "height: 500px" in line


def test_choices_are_the_components_own():
    """By name; what each may be, the component checks again when it reads an address."""
    defaults = LEARN.partition("export const DEFAULTS = {")[2].partition("};")[0]
    names = set(re.findall(r"(?m)^  (\w+):", defaults))
    assert set(learn.CHOICES) < names
    for name in learn.MODULES:
        assert (ROOT / "book" / "_live" / name).is_file()
    imported = {
        name
        for module in learn.MODULES
        if module.endswith(".mjs")
        for name in re.findall(
            r'(?:from|URL\(|import\() ?"(?:\./)?([\w.]+\.mjs)"',
            Path(ROOT, "book", "_live", module).read_text(encoding="utf8"),
        )
    }
    assert imported <= set(learn.MODULES)
    assert len(imported) == 4
