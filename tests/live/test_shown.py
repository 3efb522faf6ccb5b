"""What `attnmt show` writes, in a real browser: it translates, also inside another page."""

import pytest
import torch
from playwright.sync_api import expect

from attnmt import grammar_corpus, greedy, luong, rnnencdec
from attnmt.book.live.view import embedding, show_live, write_page
from attnmt.book.live.weights import load_compact, save_compact
from attnmt.decoding import on_words
from attnmt.text.subwords import in_pieces
from press.browser import served

pytestmark = pytest.mark.browser
PHONE = {"width": 390, "height": 844}
SENTENCE = "Der alte Mann hat der Frau ein Buch gegeben."


@pytest.fixture(scope="module")
def corpus():
    return grammar_corpus(train=2_000, valid=20, test=20, long=0, names=0)


@pytest.fixture
def folder(tmp_path):
    """A folder that http.server serves, and its address."""
    with served(tmp_path) as address:
        yield tmp_path, address


@pytest.fixture
def page(browser):
    """A page of a phone's width; whatever goes wrong in it fails the test."""
    complaints = []
    page = browser.new_page(viewport=PHONE)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    yield page
    page.close()
    assert not complaints


def of_two_bytes(model, path):
    """An untrained model, decided about its words, as a page has it."""
    with torch.no_grad():
        for weights in model.parameters():
            weights.mul_(2)
    save_compact(model, path)
    return load_compact(path)


def expected_words(model, text):
    """PyTorch's translation, and how many words it was asked to read."""
    units = model.source_vocabulary.tokenise(text)
    (found,) = greedy(model, [units])
    joined, words = on_words(model, found, units)
    return [{"<unk>": "?"}.get(word, word) for word in joined.words], len(words)


def written(place):
    """The translation that is drawn, once it is whole."""
    place.locator(".live-view[data-done]").wait_for()
    return place.locator(".live-card .live-text").all_inner_texts()


@pytest.mark.parametrize("size", [None, 150], ids=["words", "pieces"])
def test_a_file_shows_its_model_in_a_page_of_ones_own(size, corpus, folder, page):
    place, address = folder
    model = luong(in_pieces(corpus, size), "general", "local-p", D=4, hidden=16, seed=1)
    model = of_two_bytes(model, place / "m.safetensors")
    mine = write_page(show_live(model, SENTENCE), place / "mine.html")
    (place / "course.html").write_text(f"<!doctype html><p>{embedding(mine, 'mine')}")
    page.goto(f"{address}course.html")
    inside = page.frame_locator("iframe")
    words, read = expected_words(model, SENTENCE)
    assert written(inside) == words
    assert inside.locator(".live-grid tbody tr").count() == len(words)
    assert inside.locator(".live-grid thead th").count() == read
    inside.get_by_role("button", name="Step by step").click()
    inside.locator(".live-view.step[data-done]").wait_for()
    rows = inside.locator(".live-step tbody tr").count()
    assert rows - 1 == len(model.source_vocabulary.tokenise(SENTENCE))  # one is the blend
    assert "W" in inside.locator(".live-now").inner_text()  # the general score's own equation
    sizes = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert sizes[0] <= sizes[1]


def test_a_model_that_does_not_attend_is_shown_as_a_file_too(corpus, tmp_path, page):
    """Opened from the disk, without any server."""
    model = of_two_bytes(rnnencdec(corpus, hidden=16, seed=1), tmp_path / "m.safetensors")
    page.goto(write_page(show_live(model, SENTENCE), tmp_path / "mine.html").as_uri())
    words, _ = expected_words(model, SENTENCE)
    assert written(page) == words
    assert page.get_by_role("button", name="Step by step").count() == 0
    assert page.locator(".live-grid").count() == 0
    assert "It has nothing to look at." in page.locator(".live-say").inner_text()


def test_a_model_of_other_words_offers_them_and_marks_those_it_lacks(folder, page):
    place, address = folder
    corpus = grammar_corpus(train=400, valid=20, test=20, long=0, names=0, direction="en-de")
    model = of_two_bytes(luong(corpus, hidden=16), place / "m.safetensors")
    write_page(show_live(model), place / "mine.html")
    page.goto(f"{address}mine.html")
    notes = page.locator(".live-notes")
    assert "Type an English sentence." in notes.inner_text()
    assert page.get_by_role("button", name="Random").count() == 0
    offered = notes.get_by_role("button").first
    word = offered.inner_text()
    offered.click()
    assert written(page) == expected_words(model, word)[0]
    assert page.locator(".live-field").input_value() == word
    page.locator(".live-field").fill("the man sees the xylophone .")
    page.keyboard.press("Escape")
    drawn = page.locator(".live-card .live-text")
    expect(drawn).to_have_text(expected_words(model, "the man sees the xylophone .")[0])
    assert page.locator(".live-word.unknown .live-text").all_inner_texts() == ["xylophone"]
    assert "does not know xylophone" in notes.inner_text()
