"""vocab.py: text -> words -> indices, and back."""

from hypothesis import given
from hypothesis import strategies as st

from attnmt.vocab import SPECIALS, UNK, Vocabulary, tokenise

words = st.text(alphabet="abcdeäöß", min_size=1, max_size=5)
sentences = st.lists(st.lists(words, max_size=8), max_size=20)


def test_tokenise_separates_punctuation_and_keeps_abbreviations():
    assert tokenise("Mr. Smith's dog, a pug, sleeps.", "en") == (
        ["Mr.", "Smith", "'s", "dog", ",", "a", "pug", ",", "sleeps", "."]
    )
    assert tokenise("Der Hund schläft im Haus.", "de", lower=True) == (
        ["der", "hund", "schläft", "im", "haus", "."]
    )


def test_the_most_frequent_words_are_kept_and_ties_are_alphabetical():
    vocabulary = Vocabulary.build([["b", "a", "c"], ["c", "d"]], size=3, language="de")
    assert vocabulary.words == (*SPECIALS, "c", "a", "b")
    assert vocabulary.encode(["c", "a", "b", "d"]) == [4, 5, 6, UNK]


def test_a_text_cannot_forge_special_symbols():
    vocabulary = Vocabulary.build([["<s>", "</s>", "<pad>", "x"]], size=9, language="en")
    assert vocabulary.words == (*SPECIALS, "x")
    assert vocabulary.encode(["<s>", "</s>", "<pad>", "x"]) == [UNK, UNK, UNK, 4]
    assert "<s>" not in vocabulary and "x" in vocabulary


@given(sentences, st.integers(1, 30))
def test_known_words_make_the_round_trip_exactly(some, size):
    vocabulary = Vocabulary.build(some, size, language="de")
    assert len(vocabulary) <= size + len(SPECIALS)
    for sentence in some:
        back = vocabulary.decode(vocabulary.encode(sentence))
        assert back == [word if word in vocabulary else "<unk>" for word in sentence]


@given(sentences, st.randoms())
def test_the_order_of_sentences_does_not_matter(some, rng):
    shuffled = rng.sample(some, len(some))
    assert Vocabulary.build(some, 5, "de") == Vocabulary.build(shuffled, 5, "de")


def test_vocabularies_differ_by_words_language_or_case():
    one = Vocabulary(["a"], "de")
    assert one == Vocabulary(["a"], "de")
    assert one != Vocabulary(["b"], "de")
    assert one != Vocabulary(["a"], "en")
    assert one != Vocabulary(["a"], "de", lower=True)


def test_the_first_word_loses_a_capital_that_only_its_place_gave_it():
    vocabulary = Vocabulary(["das", "Kind", "sieht", "Anna"], "de")
    assert vocabulary.tokenise("Das Kind sieht Anna") == ["das", "Kind", "sieht", "Anna"]
    assert vocabulary.tokenise("Anna sieht Das") == ["Anna", "sieht", "Das"]
    assert vocabulary.tokenise("Unbekannt sieht") == ["Unbekannt", "sieht"]
    assert vocabulary.tokenise("") == []
