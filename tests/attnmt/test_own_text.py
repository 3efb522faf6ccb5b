"""One's own text, end to end: what is told of it, and that a model knows what it was trained on."""

import os
import random
import warnings

import numpy as np
import pytest

from attnmt import (
    Corpus,
    Pair,
    Recipe,
    Translator,
    bleu,
    corpus_from_files,
    fit,
    grammar_corpus,
    rnnsearch,
)
from attnmt.provenance import corpus_of, same_sentences
from attnmt.text import TextWarning
from attnmt.text.processed import traces
from attnmt.text.subwords import LONGEST, Pieces, learn_pieces

SOURCES = [f"Das ist Satz {n}, geht's gut?" for n in range(40)]
TARGETS = [f"This is sentence {n}, isn’t it (50 €/day)?" for n in range(40)]
BOTH = SOURCES, TARGETS
SMALL = {"train": 50, "valid": 3, "test": 3, "long": 0, "names": 0}


def write(folder, name, lines):
    (folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return folder / name


@pytest.fixture
def files(tmp_path):
    return write(tmp_path, "own.de", SOURCES), write(tmp_path, "own.en", TARGETS)


@pytest.fixture
def own(files):
    return corpus_from_files(*files, valid=4, test=4)


def said_in(warned):
    return " ".join(str(one.message) for one in warned)


def trained(corpus):
    model = rnnsearch(corpus, hidden=8)
    fit(model, corpus, Recipe(epochs=1), progress=False)
    return model


# ---------------------------------------------------------------------------- what is told of it


def test_a_ceiling_below_99_is_told(files, monkeypatch):
    monkeypatch.setattr("attnmt.text.moses.mark", lambda words, *_, **__: list(words))
    with pytest.warns(TextWarning, match="No translation can have more"):
        found = corpus_from_files(*files, valid=4, test=4)
    assert 0 < found.ceiling < 99


@pytest.mark.parametrize(
    ("language", "line", "tokeniser"),
    [
        ("zh", "我喜欢猫，他也喜欢狗。", "zh"),
        ("ja", "私は猫が好きです。", "ja-mecab"),
        ("th", "ฉันชอบแมวและเขาชอบสุนัข", "char"),
    ],
)
def test_a_language_without_spaces_needs_a_tokeniser_of_its_own(language, line, tokeniser):
    pair = Pair(("cats",), (line,), "cats", line)
    corpus = Corpus("own", "en", language, [pair], [pair], [pair], vocabulary_size=3)
    assert corpus.bleu_tokeniser == tokeniser
    if tokeniser != "ja-mecab":  # it needs a library of its own
        assert bleu([line], [line], tokeniser=tokeniser).score == pytest.approx(100)


def test_the_tokeniser_that_a_language_needs_is_told(tmp_path):
    table = write(tmp_path, "t.tsv", [f"I like cats {n}.\tฉันชอบแมว{n}" for n in range(9)])
    with pytest.warns(TextWarning) as warned:
        corpus_from_files(table, languages=("en", "th"), valid=2, test=2)
    assert 'tokeniser="char"' in " ".join(str(one.message) for one in warned)


@pytest.mark.parametrize(
    "line",
    [
        "I &apos;m here &quot; now &quot;",
        "a well @-@ known thing",
        "the hund@@ e bark",
        "a ##AT##-##AT## b",
        "▁the ▁dog s",
        "the dog ##s bark",
        "( -LRB- yes -RRB-",
        "I 'm here .",
        "Tom &amp; x &#x27; &#124; y",
        "so `` yes '' so",
        "lower</w> er</w>",
        "Ġthe Ġdog",
        "the <unk> sleeps",
        "no -lrb- yes -rrb-",
        "我 喜欢 猫 。",
    ],
)
def test_text_that_was_processed_before_is_told_and_can_be_taken_as_it_is(tmp_path, line):
    table = write(tmp_path, "t.tsv", [f"Satz {n}\tNo {n} {line}" for n in range(9)])
    with pytest.warns(TextWarning, match='was cut or escaped before.*tokeniser="spaces"'):
        corpus_from_files(table, valid=2, test=2)
    corpus = corpus_from_files(table, valid=2, test=2, tokeniser="spaces", lower=False)
    assert corpus.train[0].target[2:] == tuple(line.split())
    assert corpus.target_vocabulary.tokenise(corpus.train[0].target_text) == [
        *corpus.train[0].target
    ]
    assert corpus.ceiling == 100


def test_writing_as_usual_has_no_traces():
    assert traces(["Tom & Jerry, 5 € ... a < b.", "e-mail: a@b.de #1", "So what?"] * 20) == []


def test_nothing_is_told_of_usual_text(files):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        corpus_from_files(*files, valid=4, test=4)


# ---------------------------------------------------------------------------------------- limits


def test_pairs_with_too_many_pieces_are_dropped_and_counted(tmp_path):
    rng = random.Random(0)
    table = [f"Satz {n}\t{''.join(rng.choices('abcdefghijkl', k=n))}" for n in range(1, 41)]
    table = write(tmp_path, "t.tsv", table)
    corpus = corpus_from_files(table, valid=2, test=2, subwords=16, max_length=12)
    pairs = [pair for part in corpus.parts.values() for pair in part]
    assert max(len(pair.target) for pair in pairs) <= 12
    assert corpus.report["too many pieces"] + len(pairs) == 40


def test_a_word_of_many_letters_is_cut_in_parts_and_comes_back():
    pieces = Pieces(learn_pieces([["abab", "ab"]] * 9, 6))
    word = "ab" * 8_000
    assert pieces.join(pieces.split([word])) == [word]
    assert pieces.split(["ab" * 99]) == pieces.split(["ab" * 99])
    assert len("ab" * 99) < LONGEST


def test_signs_that_sentencepiece_keeps_for_itself_are_text():
    words = ["▅x▅", "a▅b", "abab", "x<s>", "y<s>", "<unk>z"]
    learned = learn_pieces([words] * 9, 16)
    assert "▅" in learned and not {"<s>", "</s>", "<unk>", "<pad>"} & set(learned)
    pieces = Pieces(learned)
    assert pieces.join(pieces.split(words)) == words


# ------------------------------------------------------------------------------- files of one's own


def test_own_files_for_valid_and_test_are_kept_whole(files, tmp_path):
    long = "lang " * 60 + "!"
    test = write(tmp_path, "test.tsv", [f"{SOURCES[0]}\tx", f"{long}\tlong"])
    valid = write(tmp_path, "v.de", ["Neu."]), write(tmp_path, "v.en", ["New."])
    own = {"test_source": test, "valid_source": valid[0], "valid_target": valid[1]}
    corpus = corpus_from_files(*files, **own)
    assert [pair.source_text for pair in corpus.test] == [SOURCES[0], long]
    assert [pair.target_text for pair in corpus.valid] == ["New."]
    assert len(corpus.train) == 39 and corpus.report["also held out"] == 1


def test_a_test_file_can_be_measured_whole(files):
    with pytest.warns(TextWarning, match="none is left to learn from"):
        corpus = corpus_from_files(*files, valid=0, test=40)
    assert len(corpus.test) == 40 and corpus.train == []


# ------------------------------------------------------------------------ a model knows its corpus


def test_a_saved_model_finds_its_corpus_again(own, tmp_path):
    path = tmp_path / "own.model"
    trained(own).save(path)
    model = Translator.load(path)
    assert model.trained_on["sizes"]["train"] == len(own.train)
    assert corpus_of(model).fingerprint == own.fingerprint


def test_of_pieces_it_finds_the_words(files):
    own = corpus_from_files(*files, valid=4, test=4, subwords=40)
    words = corpus_from_files(*files, valid=4, test=4)
    found = corpus_of(trained(own))
    assert [p.target for p in found.test] == [p.target for p in words.test]


def test_a_file_that_has_changed_or_gone_is_told(own, files):
    model = trained(own)
    write(files[0].parent, files[0].name, SOURCES[::-1])
    with pytest.warns(TextWarning, match="is not what own.model was trained with"):
        corpus_of(model, path="own.model")
    os.remove(files[0])
    with pytest.raises(ValueError, match=r"own\.model was trained on a file that is gone"):
        corpus_of(model, path="own.model")


def test_of_another_draw_the_sentences_that_were_trained_on_are_counted(own, files):
    settings = {"name": "files", "source": files[0], "target": files[1], "valid": 4, "test": 9}
    settings["seed"] = 1
    with pytest.warns(TextWarning) as warned:
        other = corpus_of(trained(own), settings=settings)
    said = said_in(warned)
    assert "of 9 sentences of test were training sentences" in said
    assert "test of another own (a file of that name, or a draw)" in said
    assert same_sentences(own.train, other.test) > 0


def test_another_file_of_the_same_name_is_told(own, files, tmp_path):
    (tmp_path / "more").mkdir()
    twins = [write(tmp_path / "more", path.name, side[::-1]) for path, side in zip(files, BOTH)]
    settings = {"name": "files", "source": twins[0], "target": twins[1], "valid": 4, "test": 4}
    with pytest.warns(TextWarning) as warned:
        corpus_of(trained(own), settings=settings)
    assert "measured on test of another own" in said_in(warned)


def test_what_a_model_fixes_is_taken_from_it(files):
    own = corpus_from_files(*files, valid=4, test=4, lower=False)
    settings = {"name": "files", "source": files[0], "target": files[1], "valid": 4, "test": 4}
    found = corpus_of(trained(own), settings=settings)
    assert found.fingerprint == own.fingerprint and not found.lower


def test_a_corpus_of_other_languages_is_refused(own):
    model = trained(own)
    with pytest.raises(ValueError, match="translates de to en, and the corpus is of en and de"):
        corpus_of(model, settings={"name": "grammar", "direction": "en-de"} | SMALL)
    with pytest.warns(TextWarning):
        found = corpus_of(model, settings={"name": "grammar"} | SMALL)
    assert found.lower and found.test[0].source[0].islower()


def test_of_another_corpus_its_name_and_its_strange_words_are_told(own, files):
    model = trained(own)
    swapped = {"name": "files", "source": files[1], "target": files[0], "valid": 4, "test": 4}
    with pytest.warns(TextWarning) as warned:
        corpus_of(model, settings=swapped)
    assert "source words of test are unknown to the model" in said_in(warned)
    write(files[0].parent, "new.tsv", [f"{s.upper()} \t{t}" for s, t in zip(SOURCES, TARGETS)])
    other = {"name": "files", "source": files[0].parent / "new.tsv", "valid": 0, "test": 40}
    with pytest.warns(TextWarning) as warned:
        corpus_of(model, settings=other)
    assert "was trained on own, and is measured on new" in said_in(warned)
    assert f"{len(own.train)} of 40 sentences of test were training sentences" in said_in(warned)


def test_numbers_of_numpy_are_numbers(files, tmp_path):
    valid, test, seed, hidden = np.array([4, 4, 1, 8])
    own = corpus_from_files(*files, valid=valid, test=test, seed=seed)
    model = rnnsearch(own, hidden=hidden, seed=seed, dropout=np.float32(0.5))
    fit(model, own, Recipe(epochs=1), seed=seed, progress=False, checkpoint=tmp_path / "kept")
    model.save(tmp_path / "own.model")
    assert corpus_of(Translator.load(tmp_path / "own.model")).fingerprint == own.fingerprint
    lengths = tuple(np.array([4, 9]))
    assert grammar_corpus(**SMALL, lengths=lengths) == grammar_corpus(**SMALL, lengths=(4, 9))


def test_an_old_file_says_what_it_lacks(own):
    model = rnnsearch(own, hidden=8)
    with pytest.raises(ValueError, match="does not say what it was trained on"):
        corpus_of(model)
    with pytest.warns(TextWarning) as warned:
        corpus_of(model, settings={"name": "grammar"} | SMALL)
    assert "nobody can tell" in str(warned[0].message)


def test_a_corpus_that_nobody_can_make_again_is_named(corpus):
    with pytest.raises(ValueError, match="the corpus made-up, which cannot be made again"):
        corpus_of(trained(corpus))


# ------------------------------------------------------------------------------- raw sentences


def test_a_text_is_translated_with_its_alignment_and_unknown_words_are_named():
    model = rnnsearch(grammar_corpus(**SMALL), hidden=8)
    with pytest.warns(TextWarning, match="does not know: Qwert"):
        found = model.translate("Qwert schläft.")
    assert found.source == ["Qwert", "schläft", "."] and found.unknown[0] == "Qwert"
    assert found.alignment.shape == (len(found.words), 3)
    assert str(found) == found.text
    empty, _ = model.translate(["", "."])
    assert (empty.text, empty.words) == ("", [])


def test_a_model_that_is_too_young_says_so(own):
    model = rnnsearch(own, hidden=8)
    model.decoder.readout = lambda features: features.new_zeros(len(features), 99).index_fill(
        1, features.new_tensor([3]).long(), 9.0
    )[:, : len(model.target_vocabulary)]
    with pytest.warns(TextWarning, match="learned too little"):
        assert model.translate("Das ist gut?").text == ""


# ------------------------------------------------------------ three corpora, from file to score

WORDS = {  # of each language: who, does, what; and how a sentence is written
    "uk": ("Сім'я|Мар’яна", "п'є|бачить", "каву|об'єкт", "{0} {1} {2} ({3} ₴)."),
    "tr": ("İstanbul'da Ali|Ayşe’nin kızı", "5'te|6’da", "gelir|gider", "{0} {1} {2}, %{3}!"),
    "ko": ("철수(학생)가|영희가", "책을|물(찬)을", "본다|산다", "{0} {1} {2} {3}원."),
}
ENGLISH = ("the family|Anna’s child", "drinks|sees", "it|that", "{0} {1} {2} for €{3}.")


def sentence_in(words, number):
    """A sentence of one of these languages; the same number is its translation in the others."""
    *parts, pattern = words
    chosen = [part.split("|")[number >> place & 1] for place, part in enumerate(parts)]
    return pattern.format(*chosen, number % 7)


@pytest.mark.parametrize(("language", "into"), [("uk", True), ("tr", False), ("ko", True)])
def test_a_corpus_of_another_language_goes_from_file_to_score(tmp_path, language, into):
    sides = (ENGLISH, WORDS[language]) if into else (WORDS[language], ENGLISH)
    table = [
        f"{sentence_in(sides[0], number)}\t{sentence_in(sides[1], number)}" for number in range(90)
    ]
    file = write(tmp_path, "own.tsv", table)
    languages = ("en", language) if into else (language, "en")
    corpus = corpus_from_files(file, languages=languages, valid=9, test=9)
    assert corpus.ceiling == 100
    model = rnnsearch(corpus, hidden=24)
    recipe = Recipe(epochs=6, batch_size=8, learning_rate=1e-2, halve_after=None)
    history = fit(model, corpus, recipe, progress=False)
    model.save(tmp_path / "own.model")
    model = Translator.load(tmp_path / "own.model")
    test = corpus_of(model).test
    with warnings.catch_warnings(category=TextWarning, action="ignore"):
        found = [one.text for one in model.translate([pair.source_text for pair in test])]
    score = bleu(found, [pair.target_text for pair in test], lowercase=True).score
    print(languages, f"perplexity {history.epochs[-1].valid_perplexity:.2f}, BLEU {score:.1f}")
    print(f"  {found[0]}")
    assert score > 60 and not any(sign in text for text in found for sign in "‿␣")
