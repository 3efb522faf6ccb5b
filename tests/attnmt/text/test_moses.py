"""text/moses.py, text/characters.py: a text comes back as it was; what looks equal is equal."""

import gzip
import hashlib
import re
import unicodedata
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnmt import grammar_corpus
from attnmt.text import data_folder
from attnmt.text.characters import clean
from attnmt.vocab import Vocabulary, detokenise, tokenise

HERE = Path(__file__).parent
LINES = HERE.joinpath("sentences.tsv").read_text(encoding="utf-8").splitlines()
SENTENCES = [tuple(line.split("\t")) for line in LINES]
LANGUAGES = sorted({language for language, _ in SENTENCES})
GROUPS = [("de", "en", "nl", "sv"), ("fr", "it", "es", "pt", "ca"), ("tr", "uk", "ga")]


def test_every_group_of_languages_has_forty_sentences():
    counts = Counter(language for language, _ in SENTENCES)
    assert set(counts) == {language for group in GROUPS for language in group}
    assert min(sum(counts[language] for language in group) for group in GROUPS) >= 40


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("language", LANGUAGES)
def test_joining_undoes_splitting(language, lower):
    for _, text in (some for some in SENTENCES if some[0] == language):
        words = tokenise(text, language, lower)
        assert detokenise(words, language) == (text.lower() if lower else text)


signs = st.sampled_from([*"aéİπж가我ก3½€$%°.,;:!?'’‘“”„\"«»()[]{}/\\-–_&#@<>|~^*+=…‿␣"])
texts = st.lists(st.lists(signs, min_size=1, max_size=9).map("".join), max_size=9).map(" ".join)


@given(texts, st.sampled_from(["de", "en", "fr", "ko", "cs"]), st.booleans())
def test_whatever_a_text_holds_comes_back(text, language, lower):
    text = clean(text).replace("‿‿", "‿").replace("‿␣", "‿").replace("␣‿", "‿").replace("␣␣", "␣")
    words = tokenise(text, language, lower)
    assert detokenise(words, language) == (text.lower() if lower else text)


@given(st.text(st.sampled_from("aéم\u0301\u200c\u200d\u200b\u200f\ufeff👩💻ك .\u2028"), max_size=9))
def test_a_text_that_is_in_one_form_stays_as_it_is(text):
    assert clean(clean(text)) == clean(text)


def test_marks_stand_where_a_guess_would_be_wrong_and_nowhere_else():
    assert tokenise("Der Hund, der schläft, träumt.", "de") == (
        ["Der", "Hund", ",", "der", "schläft", ",", "träumt", "."]
    )
    assert tokenise("Wie geht's?", "de") == ["Wie", "geht", "‿'", "s", "?"]
    assert tokenise("5 € pro Tag", "de") == ["5", "€␣", "pro", "Tag"]
    assert tokenise("덴트(아론)를", "ko") == ["덴트", "‿(", "아론", ")‿", "를"]
    assert tokenise("Wie geht's?", "de", marks=False) == ["Wie", "geht", "'", "s", "?"]


def test_a_word_that_is_known_without_marks_is_read_without():
    vocabulary = Vocabulary(["geht", "'", "s"], "de")
    assert vocabulary.tokenise("geht's") == ["geht", "'", "s"]
    assert vocabulary.encode(["geht", "‿'", "s"]) == [4, 5, 6]
    for typed in ("geht’s", "gehtʼs", "geht`s"):  # the sign that it knows is meant
        assert vocabulary.tokenise(typed) == ["geht", "'", "s"]
    assert Vocabulary(["l", "’", "ami"], "fr").tokenise("l'ami") == ["l", "’", "ami"]
    assert Vocabulary(["l'", "’", "ami"], "fr").tokenise("l’ami") == ["l", "’", "ami"]
    marked = Vocabulary(["geht", "‿'", "s"], "de")
    assert marked.tokenise("geht's") == ["geht", "‿'", "s"]


# --------------------------------------------------------------------- what looks equal is equal


@pytest.mark.parametrize(
    ("text", "same"),
    [
        (unicodedata.normalize("NFD", "Müller grüßt Łódź"), "Müller grüßt Łódź"),
        (unicodedata.normalize("NFD", "한글을 읽는다"), "한글을 읽는다"),
        ("\ufeffDas \ufeffHaus", "Das Haus"),
        ("Donau\u00addampf\u200bschiff\u2060fahrt", "Donaudampfschifffahrt"),
        ("\u202aAnna\u202c \u200esieht\u200f\u2066 dich\u2069", "Anna sieht dich"),
        ("Auf\u200clage und Auf\u200dlage", "Auflage und Auflage"),
        ("a\x00b\x07c\x7f \x85 d", "abc d"),
        ("Mu\u034fller \u3164und", "Muller und"),
        ("خانه\u200c\u200c می\u200c\u200f خانه\u200c.", "خانه می خانه."),
        ("5\u00a0€\u2009und\u3000mehr\t\n", "5 € und mehr"),
    ],
)
def test_what_nobody_sees_goes(text, same):
    assert clean(text) == same
    assert tokenise(text, "de") == tokenise(same, "de")


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("fa", "می\u200cروم به خانه"),
        ("th", "น้ำ ที่ ก็ ไม่"),
        ("hi", "क्\u200dष विद्या हिन्दी"),
        ("si", "ක්\u200dෂ"),
        ("ar", "مُحَمَّد كِتَاب"),
        ("he", "שָׁלוֹם עוֹלָם"),
        ("vi", "Tiếng Việt"),
        ("tr", "i̇stanbul"),
    ],
)
def test_what_a_script_needs_stays_inside_the_word(language, text):
    assert tokenise(text, language) == text.split()


def test_an_emoji_of_several_characters_comes_back():
    assert (
        detokenise(tokenise("Hallo 👩\u200d💻❤\ufe0f!", "de"), "de") == "Hallo 👩\u200d💻❤\ufe0f!"
    )


# ------------------------------------------------------------- recorded corpora keep their words

# Of the words, and of what they are joined to, as they were before words had marks. Of train only
# 3,000 lines: those with more than words, commas and a full stop, which are cut in the same way.
FINGERPRINTS = HERE.joinpath("multi30k_words.txt").read_text(encoding="utf-8").splitlines()
ODD = re.compile(r"[^\w ,.]|[\d_]|\.(?!$)|,(?! )")


@pytest.mark.parametrize("row", FINGERPRINTS, ids=lambda row: row[:-34])
def test_captions_are_cut_and_joined_as_ever(row):
    name, case, *expected = row.split()
    path = data_folder() / "multi30k" / f"{name}.gz"
    if not path.exists():
        pytest.skip("no captions here")
    text = gzip.decompress(path.read_bytes()).decode().removesuffix("\n")
    lines = [" ".join(line.split()) for line in text.split("\n")]
    if name.startswith("train"):
        lines = [line for line in lines if ODD.search(line)][:3_000]
    words, joined = hashlib.sha256(), hashlib.sha256()
    for line in lines:
        found = tokenise(line, name[-2:], case == "lower", marks=False)
        words.update(f"{' '.join(found)}\n".encode())
        joined.update(f"{detokenise(found, name[-2:])}\n".encode())
    assert [words.hexdigest()[:16], joined.hexdigest()[:16]] == expected


def test_the_controlled_corpus_is_cut_and_joined_as_ever():
    corpus = grammar_corpus(train=16_000)
    joined = hashlib.sha256()
    for pairs in corpus.parts.values():
        for pair in pairs:
            both = detokenise(pair.source, "de"), detokenise(pair.target, "en")
            joined.update("\t".join(both).encode() + b"\n")
    assert (corpus.fingerprint, joined.hexdigest()[:16]) == ("f5577c5ae962b7ae", "67ba37b04259499e")
