"""The truth rule: its numbers beside other ways to them, and what it refuses.

``test_rule_by_simulation.py`` simulates how often its intervals cover the truth.
"""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU
from scipy import stats

from attnmt.evidence.comparison import (
    AER,
    BLEU_SCORE,
    LENGTH,
    NATS,
    PERPLEXITY,
    Comparison,
    Metric,
    Term,
    by_scores,
    by_sentences,
    compare,
    constant,
    decide,
    seed_by_seed,
    share,
)
from attnmt.metrics import bleu_statistics

MEAN = Metric("mean", 2, 1, lambda sums: sums[..., 0] / sums[..., 1])
few = settings(max_examples=25)
scores = st.lists(st.floats(0, 100), min_size=2, max_size=8).filter(lambda v: np.std(v) > 1e-3)


def rows(values: np.ndarray) -> np.ndarray:
    """Sentences with these scores, for the metric MEAN."""
    return np.column_stack([values, np.ones(len(values))])


# -------------------------------------------------------------------------------------- metrics


def test_without_any_right_four_gram_bleu_is_smoothed_as_sacrebleu_does_it():
    hypotheses, reference = ["the child sees a tree"], ["the child finds a tree"]
    ours = BLEU_SCORE.score(bleu_statistics(hypotheses, reference).sum(0))
    assert 0 < ours == pytest.approx(BLEU().corpus_score(hypotheses, [reference]).score)


def test_the_other_metrics_by_hand():
    assert AER.score(np.array([3, 4, 5, 4])) == pytest.approx(1 - 7 / 9)
    assert PERPLEXITY.score(np.array([6.0, 3])) == pytest.approx(math.exp(2))
    assert NATS.score(np.array([6.0, 3])) == pytest.approx(2)
    assert LENGTH.score(np.array([9, 10, 1, 1, 1, 1, 9, 8, 7, 6])) == pytest.approx(0.9)


def test_a_share_is_the_second_part_by_the_first():
    short, long = rows(np.full(4, 80.0)), rows(np.full(9, 20.0))
    assert by_sentences([(short, long)] * 2, share(MEAN)).scores == pytest.approx([0.25, 0.25])


# ------------------------------------------------------------------------------------ intervals


@few
@given(scores, scores)
def test_without_sentences_it_is_welchs_t_test(first, second):
    ours = compare(by_scores(first), by_scores(second))
    theirs = stats.ttest_ind(first, second, equal_var=False)
    assert ours.interval() == pytest.approx(tuple(theirs.confidence_interval(0.95)))
    assert ours.p_value == pytest.approx(theirs.pvalue, abs=1e-6)


@few
@given(scores)
def test_two_treatments_without_sentences_are_the_paired_t_test(first):
    rng = np.random.default_rng(0)
    second = np.array(first) + rng.normal(size=len(first))
    ours = compare(seed_by_seed(by_scores(first), by_scores(second)), constant(0))
    theirs = stats.ttest_rel(first, second)
    assert ours.interval() == pytest.approx(tuple(theirs.confidence_interval(0.95)), rel=1e-5)


def test_the_terms_beside_a_plain_loop():
    """Every draw, seed and system in a loop, and the formula of the module's docstring."""
    rng = np.random.default_rng(3)
    data = [rng.normal(size=(3, 40)) + rng.normal(size=40), 1 + rng.normal(size=(4, 40))]
    resamples = 150
    systems = [by_sentences([rows(s) for s in some], MEAN, resamples) for some in data]
    chosen = np.random.default_rng([12345, 0]).integers(40, size=(resamples, 40))
    of_seeds = sum(some.mean(1).var(ddof=1) / len(some) for some in data)
    differences, together = [], []
    for draw in chosen:
        off = [[row[draw].mean() - row.mean() for row in some] for some in data]
        differences.append(np.mean(off[0]) - np.mean(off[1]))
        together.append(sum(np.var(one, ddof=1) / len(one) for one in off))
    of_sentences = np.var(differences, ddof=1) - np.mean(together)
    assert of_sentences > 0
    ours = compare(*systems)
    assert ours.seeds.variance == pytest.approx(of_seeds)
    assert ours.sentences == Term(pytest.approx(of_sentences), 39)
    squared = [stats.t.ppf(0.975, f) ** 2 for f in (ours.seeds.degrees, 39)]
    half = math.sqrt(squared[0] * of_seeds + squared[1] * of_sentences)
    assert ours.interval() == pytest.approx((ours.difference - half, ours.difference + half))


@few
@given(st.floats(0.01, 5), st.floats(0.01, 5), st.floats(0.1, 3), st.integers(1, 20))
def test_at_the_level_of_its_p_value_the_interval_just_reaches_zero(seeds, sentences, errors, m):
    apart = errors * math.sqrt(seeds + sentences)
    one = Comparison(apart, Term(seeds, m), Term(sentences, 99), "")
    assert one.interval(1 - one.p_value)[0] == pytest.approx(0, abs=1e-6 * apart)


# ------------------------------------------------------------------------------------- verdicts


def narrow(difference: float, half: float, **more) -> Comparison:
    """A comparison with an interval of half this width at 95%."""
    return Comparison(difference, Term((half / stats.norm.ppf(0.975)) ** 2), Term(0.0), "", **more)


@pytest.mark.parametrize(
    ("difference", "half", "expected", "margin", "verdict"),
    [
        (2.0, 1.0, "above", 1.0, "same sign"),
        (2.0, 1.0, "below", 1.0, "opposite sign"),
        (-2.0, 1.0, "above", 1.0, "opposite sign"),
        (-2.0, 1.0, "below", 1.0, "same sign"),
        (0.5, 1.0, "above", 1.0, "undecided"),  # from -0.5 to 1.5
        (0.2, 0.5, "above", 1.0, "no difference"),
        (0.2, 0.5, "above", None, "undecided"),  # nobody agreed on a margin
        (0.5, 0.2, "above", 1.0, "same sign"),  # small, but above 0
        (0.5, 0.2, "below", 1.0, "opposite sign"),
        (-0.5, 0.2, "not below", 1.0, "same sign"),
        (3.0, 0.2, "not below", 1.0, "same sign"),
        (-0.9, 0.2, "not below", 1.0, "undecided"),
        (-2.0, 0.2, "not below", 1.0, "opposite sign"),
    ],
)
def test_verdicts(difference, half, expected, margin, verdict):
    (found,) = decide([narrow(difference, half, expected=expected, margin=margin)])
    assert found.verdict == verdict
    assert found.level == 0.95
    assert (found.low, found.high) == pytest.approx((difference - half, difference + half))


def holm_by_hand(p_values: list[float]) -> list[bool]:
    """Holm 1979: from the smallest, stop at the first that is not below 0.05 / (those left)."""
    rejected = [False] * len(p_values)
    left = dict(enumerate(p_values))
    while left:
        smallest = min(left, key=left.get)
        if left[smallest] >= 0.05 / len(left):
            break
        rejected[smallest] = True
        del left[smallest]
    return rejected


@few
@given(st.lists(st.floats(-4.5, 4.5), max_size=12))
def test_within_a_table_the_intervals_decide_as_holm_does(apart):
    table = [Comparison(z, Term(1.0, 30), Term(0.0), "") for z in apart]
    p_values = [float(2 * stats.t.sf(abs(z), 30)) for z in apart]
    found = decide(table)
    assert [one.verdict != "undecided" for one in found] == holm_by_hand(p_values)
    for one in found:
        assert (one.low > 0 or one.high < 0) == (one.verdict != "undecided")
        assert 0.95 <= one.level <= 1 - 0.05 / len(table)


def test_what_waits_counts_and_what_was_found_stays_when_it_comes():
    """A table looked at as its rows come in: Holm's steps over all that it will have."""
    weak, level = narrow(1.1, 1.0), narrow(0.0, 1.0)
    assert decide([weak], waiting=1)[0].verdict == "undecided"
    assert decide([weak], waiting=1)[0].level == 0.975
    rng = np.random.default_rng(0)
    for _ in range(50):
        table = [narrow(z, 1.0) for z in rng.normal(scale=2.0, size=6)]
        early = decide(table[:3], waiting=3)
        for before, after in zip(early, decide(table), strict=False):
            assert before.verdict == "undecided" or before.verdict == after.verdict
    assert decide([level], waiting=4)[0].verdict == "undecided"


def test_a_difference_reads_as_a_table_wants_it():
    assert decide([narrow(-0.25, 1.0)])[0].text(2) == "−0.25 (−1.25 to +0.75)"
    assert decide([narrow(-0.04, 1.0)])[0].text().startswith("+0.0 (")


# -------------------------------------------------------------------------------------- refusals


def of_scores(*seeds: np.ndarray):
    """A system of some seeds, each with these scores of its sentences."""
    return by_sentences([rows(np.array(values)) for values in seeds], MEAN)


TWO, OF_20, OF_21 = by_scores([1.0, 2.0]), np.arange(20.0), np.arange(21.0)
LONGER = np.column_stack([OF_20, np.full(20, 2.0)])  # as many sentences, with other references
NOTHING_RIGHT = rows(np.zeros(5)), rows(np.ones(5))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: by_scores([]), "one training cannot tell"),
        (lambda: of_scores(OF_20), "one training cannot tell"),
        (lambda: compare(of_scores(*[OF_20] * 2), of_scores(*[OF_21] * 2)), "different sentences"),
        (lambda: by_sentences([rows(OF_20), LONGER], MEAN), "different sentences"),
        (lambda: by_scores([20.0, math.nan]), "not a finite number"),
        (lambda: constant(math.inf), "not a finite number"),
        (lambda: by_sentences([NOTHING_RIGHT] * 2, share(MEAN)), "not a finite number"),
        (lambda: compare(TWO, TWO, expected="not below"), "needs one"),
        (lambda: seed_by_seed(TWO, by_scores([1.0, 2.0, 3.0])), "2 and 3 seeds"),
    ],
)
def test_what_makes_no_sense_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_what_a_system_writes_itself_need_not_agree():
    """Steps or words of a model's own translations: another number with every seed."""
    own = Metric("own words", 2, None, lambda sums: sums[..., 0] / sums[..., 1])
    rng = np.random.default_rng(5)
    seeds = [np.stack([rng.normal(size=40), rng.integers(3, 9, 40)], axis=1) for _ in range(4)]
    first, second = by_sentences(seeds[:2], own), by_sentences(seeds[2:], own)
    assert first.scores == pytest.approx([s[:, 0].sum() / s[:, 1].sum() for s in seeds[:2]])
    assert compare(first, second).covers == "seeds and sentences"
    fewer = by_sentences([seed[:30] for seed in seeds[:2]], own)
    with pytest.raises(ValueError, match="different sentences"):
        compare(first, fewer)
