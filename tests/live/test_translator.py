"""book/_live/translator.mjs, run by node: it says what PyTorch says, word for word."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from conftest import FAMILY
from hypothesis import given, settings
from hypothesis import strategies as st
from parity import SAME, SENTENCES, ask_node, check

from attnmt import Translator, grammar_corpus, greedy, luong, rnnencdec, rnnsearch
from attnmt.batches import pad
from attnmt.book.live.weights import FOLDER as WEIGHTS
from attnmt.book.live.weights import SHOWN, load_compact, save_compact
from attnmt.decoding import on_words
from attnmt.evidence.models import concat_fixed
from attnmt.grammar.generate import written
from attnmt.text.subwords import Pieces, in_pieces
from attnmt.vocab import UNK, abbreviations, tokenise

NIGHTLY = pytest.mark.nightly
ANSWER = Path(__file__).with_name("answer.mjs")


def ask(*jobs: dict) -> list:
    """The answers of the page's translator to some jobs."""
    return ask_node(ANSWER, jobs)


@pytest.fixture(scope="module")
def controlled():
    return grammar_corpus(train=2_000, test=SENTENCES)


def sharp(make: Callable[..., Translator], corpus) -> Translator:
    """An untrained model, its weights enlarged so that it is decided about words and weights."""
    model = make(corpus)
    with torch.no_grad():
        for weights in model.parameters():
            weights.mul_(3)
    return model


def saved(model: Translator, path: Path) -> Path:
    save_compact(model, path)
    return path


def compare(path: Path, sentences: list) -> None:
    """Both translate; words are equal, weights and scores close."""
    (answers,) = ask({"task": "translate", "model": path, "sentences": sentences})
    check(path, sentences, answers)


# ------------------------------------------------------------------------------------- parity


@pytest.mark.slow
@pytest.mark.parametrize("part", [slice(0, 40), pytest.param(slice(40, None), marks=NIGHTLY)])
@pytest.mark.parametrize("name", SHOWN)
def test_500_test_sentences_of_each_model_of_the_package(name, part, controlled):
    """Forty by each check, and the others at night."""
    compare(WEIGHTS / f"{name}.safetensors", [pair.source for pair in controlled.test[part]])


# Of the package's scores, those of the papers; a score that is added need not be among them.
SCORES = ("additive", "concat", "dot", "scaled-dot", "general", "location")


def is_known(name: str) -> bool:
    """Whether the page computes this model of the family."""
    maker, *options = name.split()
    return maker != "bahdanau" and (maker != "luong" or options[0] in SCORES)


MODELS = {name: make for name, make in FAMILY.items() if is_known(name)} | {
    "footnote 15": lambda corpus: concat_fixed(corpus, window="local-p", D=2, hidden=8, seed=3),
}


def test_every_constructor_with_all_its_options_and_models_beside_them(controlled, tmp_path):
    """One node for all; the last model that is printed is the one before a difference."""
    sentences = [pair.source for pair in controlled.test if len(pair.source) < 12][:4]
    paths = [
        saved(sharp(make, controlled), tmp_path / f"{name}.safetensors")
        for name, make in MODELS.items()
    ]
    jobs = [{"task": "translate", "model": path, "sentences": sentences} for path in paths]
    for path, answers in zip(paths, ask(*jobs), strict=True):
        check(path, sentences, answers)


@pytest.mark.parametrize("window", ["local-m", "local-p"])
def test_sentences_so_long_that_pytorch_looks_only_into_the_window(window, controlled, tmp_path):
    model = sharp(lambda corpus: luong(corpus, "general", window, D=2, hidden=16), controlled)
    words = [word for pair in controlled.test[:12] for word in pair.source]
    compare(saved(model, tmp_path / "model.safetensors"), [words[:81], words[:120]])


# -------------------------------------------------------------------------------- subwords


@pytest.fixture(scope="module")
def cut(controlled):
    """The controlled corpus in few pieces, so that most words are cut."""
    return in_pieces(controlled, 150)


CUT = {
    "rnnsearch": lambda corpus: rnnsearch(corpus, hidden=12, seed=5),
    "rnnencdec": lambda corpus: rnnencdec(corpus, hidden=12, seed=5),
    "local-m": lambda corpus: luong(corpus, "dot", "local-m", D=2, feeding=True, hidden=12),
}


@pytest.mark.parametrize("name", CUT)
def test_pieces_are_joined_to_words_and_their_weights_too(name, cut, tmp_path):
    """As on_words does; on the way, the pieces themselves are PyTorch's."""
    path = saved(sharp(CUT[name], cut), tmp_path / "model.safetensors")
    model = load_compact(path)
    units = model.source_vocabulary.units
    pieces = [pair.source for pair in cut.test if len(pair.source) <= 60][:10]
    sentences = [units.join(some) for some in pieces]
    split, answers, of_pieces = ask(
        {"task": "units", "model": path, "sentences": sentences},
        {"task": "translateWords", "model": path, "sentences": sentences},
        {"task": "translate", "model": path, "sentences": pieces},
    )
    assert split == [list(some) for some in pieces]
    assert sum(map(len, pieces)) > 1.5 * sum(map(len, sentences))  # most words were cut
    check(path, pieces, of_pieces)
    for sentence, found, answer in zip(pieces, greedy(model, pieces), answers, strict=True):
        joined, words = on_words(model, found, sentence)
        assert answer["words"] == joined.words
        assert answer["score"] == pytest.approx(joined.score, abs=1e-3 * (1 + len(found.words)))
        if model.attends:
            expected = joined.alignment
            np.testing.assert_allclose(answer["align"], expected, rtol=0, atol=1e-3)
            assert expected.shape == (len(joined.words), len(words))
        else:
            assert answer["align"] is None


TYPED = st.text(alphabet="aeinrsthdulg äößÄABDHS'-.,?!0123▁_é", max_size=40)


@pytest.fixture(scope="module")
def many_texts():
    """Texts that hypothesis makes up, gathered so that node starts once."""
    texts: list[str] = []

    @settings(max_examples=400)
    @given(TYPED)
    def gather(text):
        texts.append(text)

    gather()
    assert len(set(texts)) > 200
    return texts


def test_any_text_is_cut_into_the_same_pieces(cut, many_texts, tmp_path):
    path = saved(luong(cut, hidden=8), tmp_path / "model.safetensors")
    vocabulary = cut.source_vocabulary
    sentences = [tokenise(text, "de", marks=False) for text in many_texts]
    (units,) = ask({"task": "units", "model": path, "sentences": sentences})
    assert units == [vocabulary.units.split(words) for words in sentences]
    assert isinstance(vocabulary.units, Pieces)
    words = [word for some in sentences for word in some]
    (unknown,) = ask({"task": "unknown", "model": path, "words": words})
    expected = [UNK in vocabulary.encode(vocabulary.units.split([word])) for word in words]
    assert unknown == [k for k, is_unknown in enumerate(expected) if is_unknown]
    assert 0 < len(unknown) < len(words)


SENTENCES_OF = {
    "de": [
        "Dr. Müller wohnt z.B. in St. Pölten. er kommt am 3. Mai, um 3,50 Uhr...",
        "Wie geht's?",
    ],
    "en": [
        "I don't know Mr. Smith's dogs' names.",
        "See No. 5, not no. x.",
        "'tis the 1960's, ''no''",
    ],
    "fr": ["L'homme qu'il a vu, c'est l'ami d'Anne.", "M. Dupont et Mme. Curie", "aujourd'hui ..."],
    "it": ["Dov'è l'amico dell'uomo?"],
    "ko": ["안녕하세요, 김 선생님. 오늘은 3.5 도입니다."],
    "ru": ["Привет, мир! и т.д."],
    "xx": [
        "No. 7 o'clock",
        "a.b. c. D",
        "Ca\u00adf\u00e9\u200b \ufeffein",
        "\u0e17\u0e35\u0e48 d\u2019ici",
        "\u0645\u06cc\u200c\u200c \u062e\u0627\u0646\u0647\u200c. Mu\u034fller",
    ],
}


@pytest.mark.parametrize("language", SENTENCES_OF)
def test_texts_are_split_by_the_rules_of_each_language(language, many_texts):
    texts = [*SENTENCES_OF[language], *(text.replace("▁", "") for text in many_texts)]
    prefixes = abbreviations(language)
    (found,) = ask({"task": "split", "texts": texts, "language": language, "prefixes": prefixes})
    for text, words in zip(texts, found, strict=True):
        assert words == tokenise(text, language, marks=False), text


def test_a_first_word_loses_its_capital_as_in_python(cut, tmp_path):
    path = saved(luong(cut, hidden=8), tmp_path / "model.safetensors")
    vocabulary = cut.source_vocabulary
    texts = [pair.source_text for pair in cut.test]
    texts += ["Die Frau\u2019s \u201eja\u201c, so `n E\u2011Mail."]  # signs that no word of it has
    (words,) = ask({"task": "tokenise", "model": path, "texts": texts})
    (units,) = ask({"task": "units", "model": path, "sentences": words})
    assert units == [vocabulary.tokenise(text) for text in texts]


# ---------------------------------------------------------------------------- step by step


def pytorchs_steps(model, sentence, steps):
    """What PyTorch's attention, state and probabilities are where the page's went."""
    seen = {}
    attention = model.decoder.attention
    attention.score.register_forward_hook(lambda _m, _a, out: seen.update(scores=out[0, 0]))
    attention.register_forward_hook(
        lambda _m, args, out: seen.update(asked=args[0], context=out[0])
    )
    source = pad([model.source_vocabulary.encode(sentence)])
    with torch.no_grad():
        memory, state = model.start(source)
        for step in steps:
            y = model.target_vocabulary.words.index(step["read"])
            log_p, align, state = model.step(torch.tensor([y]), state, memory)
            query, context = seen["asked"][0, 0], seen["context"][0, 0]
            yield seen["scores"], align[0], query, context, state, log_p[0].exp(), memory


@pytest.mark.parametrize(
    ("make", "asks"),
    [
        (lambda corpus: rnnsearch(corpus, hidden=16, seed=5), "before"),
        (lambda corpus: luong(corpus, "general", "local-p", D=3, hidden=16, seed=5), "after"),
        (lambda corpus: luong(corpus, "concat", "local-m", D=3, feeding=True, hidden=16), "after"),
    ],
    ids=["rnnsearch", "local-p", "local-m"],
)
def test_every_number_of_a_step_is_the_models_own(make, asks, controlled, tmp_path):
    path = saved(sharp(make, controlled), tmp_path / "model.safetensors")
    model, sentence = load_compact(path), controlled.test[0].source
    (steps,) = ask({"task": "steps", "model": path, "sentence": sentence})
    close = {"rtol": 0, "atol": SAME}
    for time, (step, theirs) in enumerate(zip(steps, pytorchs_steps(model, sentence, steps))):
        scores, align, query, context, state, p, memory = theirs
        assert (step["time"], step["asks"]) == (time, asks)
        np.testing.assert_allclose(step["scores"], scores, **close)
        np.testing.assert_allclose(step["align"], align, **close)
        np.testing.assert_allclose(step["query"], query, **close)
        np.testing.assert_allclose(step["context"], context, **close)
        new = state.s if asks == "before" else state.h[-1]
        np.testing.assert_allclose(step["state"], new[0], **close)
        best = p.topk(5)
        assert [
            model.target_vocabulary.words.index(b["word"]) for b in step["best"]
        ] == best.indices.tolist()
        np.testing.assert_allclose([b["p"] for b in step["best"]], best.values, **close)
        assert step["word"] == step["best"][0]["word"]
        if step["window"]:
            window = model.decoder.attention.window
            centre = window.centre(torch.tensor(step["query"])[None, None], memory, time).item()
            assert step["window"]["p"] == pytest.approx(centre, abs=SAME)
            kept = np.flatnonzero(step["align"])
            assert (kept[0], kept[-1]) == (step["window"]["first"], step["window"]["last"])
            inside = slice(kept[0], kept[-1] + 1)  # what is shown fits together
            weights = np.exp(step["scores"][inside])
            gain = np.ones(len(weights)) if step["gain"] is None else step["gain"][inside]
            expected = weights / weights.sum() * gain
            np.testing.assert_allclose(step["align"][inside], expected, atol=1e-6)


# ------------------------------------------------------------------------------- words and texts


@pytest.fixture(scope="module")
def small(controlled, tmp_path_factory):
    """A file of a small untrained model with the controlled corpus's words."""
    return saved(luong(controlled, hidden=8), tmp_path_factory.mktemp("small") / "m.safetensors")


READ = {
    "Der hund schläft": {"all": 3, "added": True, "words": ["der", "Hund", "schläft", "."]},
    "Anna sucht Sie und den Xylophon": {"unknown": ["Sie", "Xylophon"]},
    "Der Mann ist mu\u0308de.": {"added": False, "unknown": []},
    "DIE ALTE FRAU HAT EIN BUCH.": {"words": ["die", "alte", "Frau", "hat", "ein", "Buch", "."]},
    "der Hund " * 20 + "schläft.": {"all": 41, "cut": False},
    "der Hund " * 35 + "schläft.": {"all": 71, "cut": True, "words": ["der", "Hund"] * 30 + ["."]},
    "Собака спит.": {"all": 2, "unknown": ["Собака", "спит"]},
}


def test_what_a_reader_types_is_completed_cut_and_explained():
    path = WEIGHTS / "rnnsearch.safetensors"
    answers = ask(*({"task": "read", "model": path, "text": text} for text in READ))
    for (text, expected), answer in zip(READ.items(), answers, strict=True):
        assert {key: answer[key] for key in expected} == expected, text


def test_two_translations_have_their_common_words_in_the_same_columns():
    ours, theirs = ["I", "tried", "to", "write", "."], ["I", "seen", "and", "tried", "."]
    (found,) = ask({"task": "columns", "ours": ours, "theirs": theirs})
    assert found == [[0, 0], [None, 1], [None, 2], [1, 3], [2, None], [3, None], [4, 4]]
    (found,) = ask({"task": "columns", "ours": ["a", "b"], "theirs": ["c"]})
    assert found == [[0, 0], [1, None]]  # where they differ, both stand in one column


def test_words_are_written_as_the_grammar_writes_them(controlled):
    sentences = [pair.target for pair in controlled.test]
    (found,) = ask({"task": "written", "sentences": sentences})
    assert found == [written(sentence) for sentence in sentences]


def test_unknown_words_are_told_and_read_as_unk(small, controlled):
    words = ["der", "Computer", "schläft", "<s>", "."]
    (unknown,) = ask({"task": "unknown", "model": small, "words": words})
    assert unknown == [1, 3]
    assert [
        k for k, id in enumerate(controlled.source_vocabulary.encode(words)) if id == UNK
    ] == unknown
    compare(small, [words])


# ------------------------------------------------------------------------ what a reader is told


def test_a_score_that_the_page_lacks_is_named(controlled, tmp_path):
    strange = luong(controlled, hidden=8)
    strange.config["score"] = "cosine"
    (message,) = ask({"task": "refusal", "file": saved(strange, tmp_path / "strange")})
    assert message == "This page does not know the score “cosine”."
