"""glosses.py: German for readers who know none."""

import pytest
from bs4 import BeautifulSoup

from attnmt import Pair
from attnmt.book import gloss, gloss_pair

DOG = ("Der Hund schläft .", "the dog sleeps", "The dog sleeps.")


def pairs(shown) -> list[tuple[str, str]]:
    """Words and glosses as a page has them; a screen reader reads them in this order."""
    page = BeautifulSoup(shown._repr_html_(), "html.parser")
    return [(found.contents[0], found.rt.text) for found in page.find_all("ruby")]


def test_each_word_stands_above_its_gloss():
    assert pairs(gloss("der Hund ."))[1] == ("Hund", "dog")  # words of the corpus need no help
    shown = gloss(*DOG)
    assert pairs(shown) == [("Der", "the"), ("Hund", "dog"), ("schläft", "sleeps")]
    page = BeautifulSoup(shown._repr_html_(), "html.parser")
    german, english = page.find_all("p")
    assert german["lang"] == "de" and german.rt["lang"] == "en"
    assert german.text.endswith(" .")
    assert english.text == "The dog sleeps."


def test_a_sign_of_html_is_a_sign():
    assert "a&lt;b" in gloss("a<b", "c&d", "<i>")._repr_html_()
    assert pairs(gloss("a<b", "c&d", "<i>")) == [("a<b", "c&d")]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["der Xylophon schläft ."], "say what Xylophon means"),
        (["Der Hund schläft .", "the dog ."], "3 words and 2 glosses"),
        ([" "], "a German sentence"),
    ],
)
def test_what_cannot_be_glossed_is_refused(given, message):
    with pytest.raises(ValueError, match=message):
        gloss(*given)


def test_a_pair_is_glossed_by_its_links():
    pair = Pair(
        source=("gestern", "musste", "er", "gehen", "."),
        target=("he", "had", "to", "go", "yesterday", "."),
        source_text="",
        target_text="He had to go yesterday.",
        sure=frozenset({(0, 4), (1, 1), (1, 2), (2, 0), (4, 5)}),
        possible=frozenset({(0, 4), (1, 1), (1, 2), (2, 0), (3, 3), (1, 3), (4, 5)}),
    )
    shown = gloss_pair(pair)
    assert [below for _, below in pairs(shown)] == ["yesterday", "had to", "he", "go"]
    assert shown.english == "He had to go yesterday."
    with pytest.raises(ValueError, match="no links"):
        gloss_pair(Pair(("a",), ("b",), source_text="a", target_text="b"))


def test_a_word_that_english_only_marks_by_s_has_its_own_meaning():
    """die Brüder von Korek, Korek's brothers: both small words are linked to 's."""
    source = ("die", "Brüder", "von", "Korek")
    links = frozenset({(0, 1), (1, 2), (2, 1), (3, 0)})
    pair = Pair(source, ("Korek", "'s", "brothers"), "", "Korek's brothers", links, links)
    assert gloss_pair(pair).words == ["the", "brothers", "of", "Korek"]
