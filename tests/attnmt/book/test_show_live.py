"""A model under the reader's hands in a notebook; and what notebooks store of it: nothing."""

import base64
import json
import re
from html import unescape
from pathlib import Path

import pytest

from attnmt.book.live import view as live
from attnmt.book.live.view import STORED, show_live
from attnmt.book.live.weights import load_compact
from attnmt.model import rnnencdec, rnnsearch
from press.run import execute

BOOK = Path(__file__).resolve().parents[3] / "book"


@pytest.fixture
def model(corpus):
    return rnnsearch(corpus, hidden=8)


def told(view) -> dict:
    """What the page inside is told."""
    html = unescape(view._repr_html_())
    text = re.search(r"(?m)^const data = (.*);$", html)[1]
    return json.loads(text)


def test_the_page_holds_the_model_and_the_component(model, tmp_path, monkeypatch):
    monkeypatch.delenv(STORED, raising=False)
    data = told(show_live(model, "w1 w2 w3", english="v3 v2 v1"))
    path = tmp_path / "model.safetensors"
    path.write_bytes(base64.b64decode(data["options"]["weights"]["model"]))
    assert load_compact(path).config == model.config
    assert data["options"]["sentence"] == "w1 w2 w3"
    assert data["options"]["mode"] == "single"
    assert "export async function render" in data["see"]
    assert "export async function load" in data["translator"]
    assert told(show_live(model, "w1", frames=True))["options"]["mode"] == "step"


def test_a_notebook_that_is_stored_holds_a_line_instead(model, monkeypatch):
    monkeypatch.setenv(STORED, "1")
    view = show_live(model, "Der Hund schläft.")
    assert view._repr_html_() is None
    assert "Der Hund schläft." in repr(view)
    assert execute.STORED == STORED  # so the executor sets it


def test_stored_notebooks_hold_no_model():
    notebooks = sorted(BOOK.glob("*.ipynb"))
    assert notebooks
    for path in notebooks:
        text = path.read_text(encoding="utf8")
        assert "srcdoc" not in text, path.name
        assert "attnmt-model-1" not in text, path.name


def test_what_cannot_be_shown_says_why(model, corpus):
    with pytest.raises(ValueError, match="give show_live a German sentence"):
        show_live(model, " ")
    with pytest.raises(ValueError, match="does not attend"):
        show_live(rnnencdec(corpus, hidden=8), "w1", frames=True)
    model.config = {}
    with pytest.raises(ValueError, match="put together by hand"):
        show_live(model, "w1")


def test_an_installation_without_the_component_says_so(monkeypatch, tmp_path):
    monkeypatch.setattr(live, "FILES", (tmp_path, tmp_path / "book"))
    with pytest.raises(FileNotFoundError, match=r"see\.mjs is neither in"):
        live.asset("see.mjs")
