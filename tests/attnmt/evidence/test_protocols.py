"""protocols.py: three scores of the same translations, each what sacreBLEU says of it."""

from sacrebleu.metrics import BLEU

from attnmt import Ensemble, beam_search, luong
from attnmt.corpus import Corpus, take_pairs
from attnmt.evidence.protocols import protocols
from attnmt.metrics import texts
from attnmt.text.subwords import in_pieces

RAW = [
    ("Anna's Hund schläft, oder?", "Anna's dog sleeps, doesn't it?"),
    ("Der alte Mann sieht Anna.", "The old man sees Anna."),
    ("Peter mag keine Hunde.", "Peter doesn't like dogs."),
]


def made(lower, subwords=None):
    """A tiny corpus, tokenised by Moses, in words and as the model reads it."""
    pairs = take_pairs(RAW, ("de", "en"), lower, max_length=50, report={})
    words = Corpus("tiny", "de", "en", pairs, pairs, pairs, vocabulary_size=50, lower=lower)
    return words, in_pieces(words, subwords)


def scores(lower, subwords=None, words=True):
    plain, cut = made(lower, subwords)
    model = luong(cut, hidden=8)
    found = beam_search(model, [pair.source for pair in cut.test])
    # what an untrained model writes has no n-gram of the reference, so give it some
    found = [
        one.__class__(list(pair.target)[:-2], one.score, one.alignment)
        for one, pair in zip(found, cut.test, strict=True)
    ]
    printed = texts(model, found)
    return list(protocols(model, found, plain.test, words=words)), printed, plain


def test_each_score_is_sacrebleus():
    both, printed, plain = scores(lower=True)
    aims = [english for _, english in RAW]
    assert [one.score for one in both] == [
        BLEU(lowercase=True).corpus_score(printed, [aims]).score,
        BLEU(lowercase=True, tokenize="none")
        .corpus_score(
            [" ".join(pair.target[:-2]) for pair in plain.test],
            [[" ".join(pair.target) for pair in plain.test]],
        )
        .score,
    ]
    assert "case:lc" in both[0].signature and "tok:13a" in both[0].signature
    assert "case:lc" in both[1].signature and "tok:none" in both[1].signature


def test_a_model_that_writes_capitals_is_also_measured_with_them():
    lower, cased, words = scores(lower=False)[0]
    assert cased.score <= lower.score
    assert "case:mixed" in cased.signature
    assert "tok:none" in words.signature


def test_pieces_are_joined_before_they_are_counted():
    found, printed, plain = scores(lower=True, subwords=45)
    _, cut = made(lower=True, subwords=45)
    assert "▁" not in "".join(printed)
    joined = ["".join(pair.target[:-2]).replace("▁", " ").strip() for pair in cut.test]
    aims = [" ".join(pair.target) for pair in plain.test]
    expected = BLEU(lowercase=True, tokenize="none").corpus_score(joined, [aims])
    assert found[-1].score == expected.score > 0


def test_an_ensemble_is_measured_alike():
    plain, cut = made(lower=True)
    model = Ensemble([luong(cut, hidden=8, seed=seed) for seed in (0, 1)])
    found = beam_search(model, [pair.source for pair in cut.test])
    assert len(list(protocols(model, found, plain.test, words=True))) == 2
