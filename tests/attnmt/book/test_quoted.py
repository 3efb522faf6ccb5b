"""quoted.py: what sentences quote of recorded runs."""

import json
import re
from types import SimpleNamespace

import pytest

from attnmt.book.quoted import (
    global_attention,
    kept,
    local_attention,
    lookup,
    perplexity_at,
    weight,
)
from attnmt.evidence import claims
from attnmt.evidence.store import SampleTranslation, recorded
from press.contents import ROOT


def marks_of(page):
    """What the Markdown of a page has between its marks."""
    cells = json.loads((ROOT / f"book/{page}.ipynb").read_text(encoding="utf-8"))["cells"]
    prose = "".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
    return dict(re.findall(r"<!--([a-z_]+)-->(.*?)<!--/-->", prose, flags=re.DOTALL))


def run_of(short, long):
    buckets = [
        SimpleNamespace(shortest=shortest, bleu=SimpleNamespace(score=score))
        for shortest, score in ((6, short), (36, long))
    ]
    points = [SimpleNamespace(updates=k, valid_perplexity=10 / k) for k in (1, 2, 4)]
    return SimpleNamespace(by_length=buckets, history=SimpleNamespace(curve=points))


def test_what_is_kept_is_a_mean_of_the_runs_own_shares():
    assert kept([run_of(80, 40), run_of(50, 50)]) == "75%"


def test_a_weight_is_the_row_of_the_english_and_the_column_of_the_german_word():
    sample = SampleTranslation(
        ["a", "b"], ["x", "y", "x"], 0.0, [[0.1, 0.9], [0.3, 0.7], [0.0, 1.0]]
    )
    assert weight(sample, "y", "a") == "30%"
    assert weight(sample, "x", "b") == "90%"


@pytest.mark.parametrize(("updates", "said"), [(1, "10.0"), (3, "2.5"), (4, "2.5")])
def test_a_perplexity_is_that_of_the_first_point_not_before(updates, said):
    assert perplexity_at(run_of(1, 1), updates, 1) == said


def test_chapter_4_says_what_its_recorded_runs_have():
    """Numbers by themselves, from the files; and every mark of the page that is not live."""
    systems = ("location", "dot", "scaled-dot", "general", "concat")
    runs = {f"luong-{name}": recorded(f"luong-{name}-grammar", 5) for name in systems}
    runs["rnnsearch"] = recorded("rnnsearch-grammar", 5)
    samples = {name: some[0].samples[1] for name, some in runs.items()}
    reference = "the old woman has given the teacher a book yesterday ."
    facts = global_attention(runs, samples, reference)
    files = [
        json.loads((ROOT / f"results/luong-dot-grammar-{k}.json").read_text()) for k in range(5)
    ]
    bleu = sum(file["parts"]["test"]["score"] for file in files) / 5
    assert facts["bleu_dot"] == f"{bleu:.0f}"
    assert facts["aer_dot"] == f"{sum(file['aer'] for file in files) / 5:.2f}"
    assert facts["seeds"] == "5 seeds"
    marks = marks_of("04_global_attention")
    assert {name: marks[name] for name in facts.keys() & marks} == {
        name: facts[name] for name in facts.keys() & marks
    }
    live = {"early", "live_updates", "live_perplexity", "aer_end", "aer_live", "aer_diagonal"}
    of_the_study = {"lock_small", "lock_usual", "lock_large"}
    assert marks.keys() - live - of_the_study <= facts.keys()


def test_chapter_5_says_what_its_runs_and_the_judged_list_have():
    local = recorded("luong-local-p-feeding-grammar", 8)
    facts = local_attention(local, recorded("luong-feeding-grammar", 8))
    marks = marks_of("05_local_attention")
    assert facts.keys() <= marks.keys()
    assert facts == {name: marks[name] for name in facts}
    (row,) = claims.judge(["l4-local-p-general"])
    assert facts["same_score"] == row.ours and "(" in row.ours


def test_chapter_9_says_what_its_runs_and_the_judged_list_have():
    only, search = (recorded(f"{name}-grammar", 5) for name in ("attention-only", "rnnsearch"))
    facts = lookup(only, search)
    marks = marks_of("09_lookup")
    assert facts == {name: marks[name] for name in facts}
    assert facts["search_seeds"] == f"{len(search)} seeds"
    assert facts["only_verdict"] == claims.judge(["v-attention-only"])[0].verdict
