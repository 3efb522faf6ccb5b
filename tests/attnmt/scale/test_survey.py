"""survey.py: one pass finds the vocabulary that all of the text in memory would give."""

import random
from collections import Counter

import pytest

from attnmt.scale.survey import Counts, Survey, kept_in
from attnmt.vocab import SPECIALS, Vocabulary


def zipf(tokens, types):
    """Sentences of words whose frequencies fall as 1 / rank."""
    draw = random.Random(0)
    weights = [1 / rank for rank in range(1, types + 1)]
    words = draw.choices([f"w{i}" for i in range(types)], weights, k=tokens)
    return [words[i : i + 10] for i in range(0, tokens, 10)]


def counted(sentences, most):
    counts = Counts(most)
    for sentence in sentences:
        counts.add(sentence)
        assert len(counts.counts) <= most
    return counts


def test_the_vocabulary_is_that_of_the_text_in_memory():
    sentences = [*zipf(5_000, 900), list(SPECIALS) * 9]
    expected = Vocabulary.build(sentences, 300, "en").words[len(SPECIALS) :]
    assert counted(sentences, most=2_000).most_frequent(300) == expected


def test_in_bounded_memory_a_count_is_too_small_by_no_more_than_what_is_told():
    sentences = zipf(20_000, 3_000)
    truth = Counter(word for sentence in sentences for word in sentence)
    counts = counted(sentences, most=600)
    assert counts.forgotten > 0
    for word, number in truth.items():
        assert number - counts.forgotten <= counts.counts[word] <= number
    often = [word for word, number in truth.items() if number > 2 * counts.forgotten]
    assert set(often) <= set(counts.counts)


FOUND = Survey((1,), {"read": 1, "kept": 1}, 2, (("ä",), ("c",)), "fingerprint")


def test_a_survey_is_made_once(tmp_path, monkeypatch):
    path = tmp_path / "new" / "survey.json"
    assert kept_in(path, lambda: FOUND) == FOUND
    monkeypatch.setenv("LOCAL_RANK", "1")  # another process of the machine reads it
    again = kept_in(path, lambda: pytest.fail("made twice"))
    assert isinstance(again, Survey) and again == FOUND
    path.write_text("{}")
    with pytest.raises(ValueError, match=r"holds no survey .* Delete it"):
        kept_in(path, lambda: FOUND)


def test_a_survey_that_cannot_be_written_leaves_nothing(tmp_path, monkeypatch):
    def no_space(*_):
        raise OSError("no space left")

    monkeypatch.setattr("os.replace", no_space)
    with pytest.raises(OSError, match=r"survey\.json could not be written"):
        kept_in(tmp_path / "survey.json", lambda: FOUND)
    assert list(tmp_path.iterdir()) == []
