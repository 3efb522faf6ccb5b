"""A model under the reader's hands in a notebook; and what notebooks store of it: nothing."""

import base64
import json
import re
from html import unescape

import pytest

from attnmt import grammar_corpus
from attnmt.attention_only import attention_only
from attnmt.book.live import view as live
from attnmt.book.live.view import STORED, show_live
from attnmt.book.live.weights import load_compact, pretrained
from attnmt.model import rnnsearch
from press.run import execute


@pytest.fixture
def model(corpus):
    return rnnsearch(corpus, hidden=8)


@pytest.fixture(scope="module")
def controlled():
    """A corpus small enough to lack some of the words of the book's sentences."""
    return grammar_corpus(train=400, valid=20, test=20, long=0, names=0)


def given(view) -> dict:
    """What the page inside is given."""
    html = unescape(view._repr_html_())
    text = re.search(r"(?m)^const data = (.*);$", html)[1]
    return json.loads(text)


def test_the_page_holds_the_model_and_the_component(model, tmp_path, monkeypatch):
    monkeypatch.delenv(STORED, raising=False)
    data = given(show_live(model, "w1 w2 w3", english="v3 v2 v1"))
    path = tmp_path / "model.safetensors"
    path.write_bytes(base64.b64decode(data["options"]["weights"]["model"]))
    assert load_compact(path).config == model.config
    assert data["options"]["sentence"] == "w1 w2 w3"
    assert data["options"]["mode"] == "single"
    modules = data["modules"]
    assert "export async function render" in modules["see.mjs"]
    for text in modules.values():  # each finds what it imports
        assert set(re.findall(r'^import .* from "(.*)";$', text, re.MULTILINE)) <= set(modules)
        assert 'from "./' not in text


def test_a_notebook_that_is_stored_holds_a_line_instead(model, monkeypatch):
    monkeypatch.setenv(STORED, "1")
    view = show_live(model, "Der Hund schläft.")
    assert view._repr_html_() is None
    assert "Der Hund schläft." in repr(view)
    assert execute.STORED == STORED  # so the executor sets it


def test_sentences_of_the_book_are_offered_where_the_model_knows_them(model, controlled):
    assert given(show_live(model))["options"]["sentences"] == {}
    whole = json.loads(live.asset("sentences.json"))
    knows_all = pretrained("rnnsearch")
    assert live.sentences_for(knows_all) == whole
    some = live.sentences_for(rnnsearch(controlled, hidden=8))
    vocabulary = controlled.source_vocabulary
    assert 0 < len(some["random"]) < len(whole["random"])
    assert [offered for offered in whole["random"] if offered not in some["random"]]
    for offered in (*some["random"], *(sentence for chain in some["chains"] for sentence in chain)):
        assert set(offered["german"]) <= set(vocabulary.words)
    knows_all.target_vocabulary.language = "fr"
    assert live.sentences_for(knows_all) == {}


def test_what_cannot_be_shown_says_why(model, corpus, monkeypatch):
    with pytest.raises(ValueError, match=r"a page computes .*, and not attention_only"):
        show_live(attention_only(corpus, hidden=8))
    monkeypatch.setattr(live, "MOST_PARAMETERS", 1_000)
    with pytest.raises(ValueError, match=r"parameters, and a page can show 1,000 at most"):
        show_live(model)
    monkeypatch.undo()
    model.config = {}
    with pytest.raises(ValueError, match="put together by hand"):
        show_live(model, "w1")


def test_an_installation_without_the_component_says_so(monkeypatch, tmp_path):
    monkeypatch.setattr(live, "FILES", (tmp_path, tmp_path / "book"))
    with pytest.raises(FileNotFoundError, match=r"see\.mjs is neither in"):
        live.asset("see.mjs")
