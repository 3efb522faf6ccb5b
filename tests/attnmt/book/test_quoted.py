"""quoted.py: what sentences quote of recorded runs."""

import json
import re

from attnmt.book.quoted import global_attention, local_attention, lookup
from attnmt.evidence import claims
from attnmt.evidence.store import recorded
from press.contents import ROOT


def marks_of(page):
    """What the Markdown of a page has between its marks."""
    cells = json.loads((ROOT / f"book/{page}.ipynb").read_text(encoding="utf-8"))["cells"]
    prose = "".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
    return dict(re.findall(r"<!--([a-z_]+)-->(.*?)<!--/-->", prose, flags=re.DOTALL))


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
    assert all(facts[name] == marks[name] for name in facts.keys() & marks.keys())
    live = {"early", "live_updates", "live_perplexity", "aer_end", "aer_live", "aer_diagonal"}
    of_the_study = {"lock_small", "lock_usual", "lock_large", "lock_last"}
    (recipe,) = claims.judge(["q-recipe-general"])
    judged = {"general_gain": f"{recipe.decision.difference:.1f}"}
    assert judged.items() <= marks.items()
    assert marks.keys() - live - of_the_study - judged.keys() <= facts.keys()


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
