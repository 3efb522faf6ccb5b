"""subwords.py: words cut into pieces, a vocabulary of them, and alignments joined to words."""

import io
import json
import sys
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import sentencepiece
import torch
from hypothesis import given
from hypothesis import strategies as st

from attnmt import (
    Translator,
    alignment_error_rate,
    force_align,
    grammar_corpus,
    greedy,
    rnnsearch,
)
from attnmt.batches import make_batch
from attnmt.decoding import on_words
from attnmt.files import read_tensors
from attnmt.metrics import texts, without_unknown
from attnmt.model import MODEL_FORMAT
from attnmt.text.subwords import (
    MARK,
    Pieces,
    cut,
    in_pieces,
    in_words,
    join_alignment,
    learn_pieces,
)
from attnmt.vocab import SPECIALS, UNK, Vocabulary, detokenise, tokenise

TEXT = """
Ein Mann mit einer Hundeleine läuft neben einem Hund durch den Park.
Eine Frau mit einem Hund an der Leine steht neben einem Mann im Park.
Zwei Hunde laufen durch den Schnee, und ein Mann sieht den Hunden nach.
Ein kleiner Hund und ein großer Hund spielen im Schnee.
Der Mann, der neben der Frau steht, trägt 2 Hemden und 12 Hosen.
"""
LINES = [tokenise(line, "de") for line in TEXT.strip().splitlines()]
anything = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)


@cache
def learned(size):
    return learn_pieces(LINES, size)


@pytest.fixture(scope="module")
def words():
    """Some hundred pairs with known links, in whole words."""
    return grammar_corpus(train=300, lengths=(4, 9), valid=20, test=40, long=0, names=10)


@pytest.fixture(scope="module")
def pieces(words):
    """The same pairs in subwords."""
    return in_pieces(words, 80)


@pytest.fixture(scope="module")
def model(pieces):
    return rnnsearch(pieces, hidden=8, seed=3)


# ------------------------------------------------------------------------------- learn, cut, join


def test_letters_come_first_and_then_what_stands_together_most_often():
    pieces = learn_pieces([["den", "wen", "zehn"], ["gen", "den"]], 9)
    assert pieces[:8] == ["e", "n", "▁", "d", "g", "h", "w", "z"]  # by frequency, then alphabet
    assert pieces[8] == "en"  # four times: more than any other pair


def test_digits_are_never_joined_however_often_they_stand_together():
    pieces = Pieces(learn_pieces([["2012", "ab"]] * 9, 8))
    assert pieces.split(["2012", "ab"]) == ["▁", "2", "0", "1", "2", "▁ab"]


def test_pieces_are_joined_in_the_order_in_which_they_were_learned():
    rank = {piece: number for number, piece in enumerate(["▁", "a", "b", "c", "bc", "ab", "▁ab"])}
    assert cut("abc", rank) == ["▁", "a", "bc"]  # bc was learned before ab
    assert cut("abab", rank) == ["▁ab", "ab"]
    assert cut("", rank) == ["▁"]


def test_sentencepiece_cuts_the_same_words_in_the_same_places():
    """What it learned is in its own file, by which it cuts without any code of ours."""
    file = io.BytesIO()
    how = {"model_type": "bpe", "normalization_rule_name": "identity", "minloglevel": 2}
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=map(" ".join, LINES), model_writer=file, vocab_size=70, **how
    )
    theirs = sentencepiece.SentencePieceProcessor(model_proto=file.getvalue())
    ours = Pieces(theirs.id_to_piece(number) for number in range(3, len(theirs)))
    for line in LINES:
        assert ours.split(line) == theirs.encode(" ".join(line), out_type=str)
    for word in ("Leinenhund", "Schneemann", "neben", "Hemdchen"):
        assert ours.split([word]) == theirs.encode(word, out_type=str)


@given(st.lists(anything, max_size=8), st.integers(30, 60))
def test_words_to_pieces_to_words_is_the_identity(some, size):
    pieces = Pieces(learned(size + 20))
    some = [word.replace(MARK, "_") for word in some]
    cut = pieces.split(some)
    assert pieces.join(cut) == some
    assert [some[place] for place in pieces.places(cut)] == [
        word for word in some for _ in pieces.split([word])
    ]


@given(st.lists(anything, max_size=8).map(" ".join))
def test_a_text_comes_back_as_from_whole_words(text):
    """Through pieces nothing is lost that the tokeniser kept."""
    pieces = Vocabulary(learned(60), "de", subwords=True)
    words = tokenise(text.replace(MARK, "_"), "de", marks=False)
    assert pieces.detokenise(pieces.units.split(words)) == detokenise(words, "de")


def test_the_mark_itself_in_a_text_is_read_as_a_line():
    pieces = Pieces(learn_pieces([["a▁b", "c"]], 5))
    assert pieces.join(pieces.split(["a▁b"])) == ["a_b"]


def test_what_a_model_may_write_is_joined_though_no_text_has_it():
    pieces = Pieces([])
    assert pieces.join(["hund", "e", "▁", "▁leine"]) == ["hunde", "", "leine"]
    assert pieces.places(["hund", "e", "▁", "▁leine"]) == [0, 0, 1, 2]
    assert pieces.join([]) == pieces.places([]) == []


@pytest.mark.parametrize("size", [0, 5, 2.5, True, "many", None])
def test_too_few_pieces_for_the_characters_are_refused(size):
    message = r"subwords must be a whole number of at least 7, not .*: so many different characters"
    with pytest.raises(ValueError, match=message):
        learn_pieces([["abc", "def"]], size)
    assert learn_pieces([["ab", "a"]], 3) == ["a", "▁", "b"]  # as many pieces as characters


@pytest.mark.parametrize("text", [[["aba", "cab"]], []])
def test_more_pieces_than_the_text_has_are_refused(text):
    with pytest.raises(ValueError, match=r"subwords=900 is more than this text has: it gives \d+"):
        learn_pieces(text, 900)


# ---------------------------------------------------------------------------------- a vocabulary


def test_a_vocabulary_of_subwords_is_a_vocabulary():
    vocabulary = Vocabulary(learned(60), "de", lower=True, subwords=True)
    assert vocabulary.words == (*SPECIALS, *learned(60))
    assert len(vocabulary) == 64
    indices = vocabulary.encode(vocabulary.tokenise("Der Hund trägt 2 Hosen."))
    assert UNK not in indices
    assert vocabulary.detokenise(vocabulary.decode(indices)) == "der hund trägt 2 hosen."
    same = Vocabulary(**json.loads(json.dumps(vocabulary.arguments)))
    assert same == vocabulary
    assert same.tokenise("Schneehunde") == vocabulary.tokenise("Schneehunde")
    assert Vocabulary(learned(60), "de", lower=True) != vocabulary  # the same list, of whole words
    assert "subwords" not in Vocabulary(learned(60), "de").arguments  # files are as they were


def test_what_is_known_only_without_a_capital_loses_it():
    vocabulary = Vocabulary(["▁", "D", "d", "a", "s", "da", "▁da", "▁das"], "de", subwords=True)
    assert vocabulary.tokenise("Das da") == ["▁das", "▁da"]


def test_only_a_character_that_was_never_seen_is_unknown():
    vocabulary = Vocabulary(learned(60), "de", subwords=True)
    pieces = vocabulary.tokenise("Hund Ж2021")
    assert pieces == ["▁Hund", "▁", "Ж", "2", "0", "2", "1"]  # a number, digit by digit
    unknown = [piece for piece in pieces if vocabulary.encode([piece]) == [UNK]]
    assert unknown == ["Ж", "0"]  # TEXT has no 0
    assert vocabulary.detokenise(vocabulary.decode(vocabulary.encode(pieces))) == (
        "Hund <unk>2<unk>21"
    )


# -------------------------------------------------------------------------------------- a corpus


def test_pairs_hold_pieces_and_the_rest_stays(words, pieces):
    for before, after in zip(words.test, pieces.test, strict=True):
        assert pieces.source_vocabulary.units.join(after.source) == list(before.source)
        assert pieces.target_vocabulary.units.join(after.target) == list(before.target)
        assert replace(after, source=before.source, target=before.target) == before
    assert any(len(pair.source) > len(one.source) for pair, one in zip(pieces.test, words.test))
    assert len(pieces.source_vocabulary) == len(pieces.target_vocabulary) == 84
    assert pieces.vocabulary_size == 80
    assert pieces.source_vocabulary != pieces.target_vocabulary
    assert replace(pieces, train=pieces.train[:5]).source_vocabulary == pieces.source_vocabulary


def test_a_corpus_in_pieces_can_be_read_in_words_again(words, pieces):
    assert in_words(words) is words
    again = in_words(pieces)
    assert again.pieces == ()
    for part in ("train", "valid", "test", "long", "names"):
        assert getattr(again, part) == getattr(words, part)
    assert again.fingerprint == words.fingerprint


def test_only_train_is_learned_from(words, pieces):
    assert in_pieces(replace(words, valid=[], test=words.test[:3]), 80).pieces == pieces.pieces
    assert in_pieces(replace(words, train=words.train[:100]), 80).pieces != pieces.pieces


def test_no_word_is_unknown_not_even_a_name_that_train_never_shows(words, pieces):
    assert without_unknown(words.names, words) == []
    assert without_unknown(pieces.train, pieces) == list(range(300))
    assert len(without_unknown(pieces.names, pieces)) > 5  # all but names with new letters


def test_a_corpus_is_cut_once_and_joint_pieces_need_a_size(words, pieces):
    assert in_pieces(words, None) is words
    with pytest.raises(ValueError, match=r"grammar-de-en is in pieces already"):
        in_pieces(pieces, 80)
    with pytest.raises(ValueError, match="joint is for subwords: say how many pieces"):
        in_pieces(words, None, joint=True)


# --------------------------------------------------------------------------------------- a model


def test_a_saved_model_needs_no_library_and_is_data_only(model, pieces, tmp_path, monkeypatch):
    model.save(tmp_path / "model")
    monkeypatch.setitem(sys.modules, "sentencepiece", None)  # importing it fails now
    loaded = Translator.load(tmp_path / "model")
    for side in ("source_vocabulary", "target_vocabulary"):
        assert getattr(loaded, side) == getattr(model, side)
    (sentence,) = [loaded.source_vocabulary.tokenise("Der alte Hund schläft.")]
    assert sentence == model.source_vocabulary.tokenise("Der alte Hund schläft.")
    assert greedy(loaded, [sentence])[0].words == greedy(model, [sentence])[0].words
    metadata, _ = read_tensors(tmp_path / "model", MODEL_FORMAT, "a model")
    kept = json.loads(metadata["source_vocabulary"])
    assert kept["words"] == list(pieces.pieces[0])  # a list of texts that anyone can read
    assert kept["subwords"] is True


# ------------------------------------------------------------------------- alignments, on words


def test_columns_are_summed_and_rows_averaged():
    """The target ``▁dog s ▁sleep`` and the source ``▁Hund e ▁schlaf en``, by hand."""
    alignment = np.array(
        [
            [0.6, 0.2, 0.1, 0.1],  # ▁dog
            [0.0, 0.4, 0.4, 0.2],  # s
            [0.1, 0.1, 0.5, 0.3],  # ▁sleep
        ],
        dtype=np.float32,
    )
    target = Pieces([]).places(["▁dog", "s", "▁sleep"])
    source = Pieces([]).places(["▁Hund", "e", "▁schlaf", "en"])
    joined = join_alignment(alignment, target, source)
    # dogs: (0.6 + 0.2 + 0.0 + 0.4) / 2 on Hunde, (0.1 + 0.1 + 0.4 + 0.2) / 2 on schlafen
    np.testing.assert_allclose(joined, [[0.6, 0.4], [0.2, 0.8]], rtol=1e-6)
    assert joined.dtype == np.float32


@given(st.lists(st.integers(1, 4), min_size=1, max_size=6), st.integers(1, 5), st.randoms())
def test_joined_rows_still_add_up_to_one(lengths, columns, rng):
    target = [word for word, length in enumerate(lengths) for _ in range(length)]
    alignment = np.array([[rng.random() + 0.01 for _ in range(columns)] for _ in target])
    alignment /= alignment.sum(axis=1, keepdims=True)
    source = sorted(rng.randrange(columns) for _ in range(columns - 1))
    source = [0, *source] if 0 not in source else [*source, max(source)]
    source = sorted({n: k for k, n in enumerate(sorted(set(source)))}[n] for n in source)
    joined = join_alignment(alignment, target, source)
    assert joined.shape == (len(lengths), max(source) + 1)
    np.testing.assert_allclose(joined.sum(axis=1), 1)


def test_whole_words_are_joined_to_themselves_and_nothing_to_nothing():
    alignment = np.random.default_rng(0).random((3, 4), dtype=np.float32)
    assert (join_alignment(alignment, range(3), range(4)) == alignment).all()
    assert join_alignment(np.zeros((0, 4), np.float32), [], [0, 0, 1, 1]).shape == (0, 2)


def test_links_of_a_model_of_subwords_are_between_words(words, pieces, model):
    """So the known links, which are between words, measure it."""
    links = force_align(model, pieces.test)
    for pair, whole, found in zip(pieces.test, words.test, links, strict=True):
        batch = make_batch([pair], model.source_vocabulary, model.target_vocabulary)
        with torch.no_grad():
            _, align = model(batch)
        weights = np.zeros((len(whole.target), len(whole.source)))
        t = -1
        for row, piece in zip(align[0], pair.target):  # </s> has the last row
            t += piece.startswith(MARK)
            s = -1
            for weight, unit in zip(row, pair.source):
                s += unit.startswith(MARK)
                weights[t, s] += float(weight)  # a mean over rows has the same largest column
        assert found == {(int(row.argmax()), t) for t, row in enumerate(weights)}
    assert 0 < alignment_error_rate(links, pieces.test) < 1


def test_a_translation_is_shown_on_words(pieces, model):
    sentence = pieces.test[0].source
    (found,) = greedy(model, [sentence])
    shown, words = on_words(model, found, sentence)
    assert shown.words == pieces.target_vocabulary.units.join(found.words)
    assert words == pieces.source_vocabulary.units.join(sentence)
    assert shown.alignment.shape == (len(shown.words), len(words))
    assert texts(model, [found]) == [detokenise(shown.words, "en")]
    blind = replace(found, alignment=None)
    assert on_words(model, blind, sentence)[0].alignment is None
