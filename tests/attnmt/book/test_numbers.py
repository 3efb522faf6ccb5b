"""numbers.py: what a cell gives to the sentences around it."""

import json

from attnmt.book import numbers
from attnmt.evidence.store import recorded
from attnmt.evidence.verdicts import judge
from press.contents import ROOT


def test_chapters_quote_what_the_files_of_their_runs_have():
    """By another way: from the JSON itself, and from the judged list."""

    def from_files(system, read, seeds=5):
        names = (f"results/{system}-grammar-{seed}.json" for seed in range(seeds))
        return sum(read(json.loads((ROOT / name).read_text())) for name in names) / seeds

    systems = ("location", "dot", "scaled-dot", "general", "concat")
    runs = {f"luong-{name}": recorded(f"luong-{name}-grammar", 5) for name in systems}
    runs["rnnsearch"] = recorded("rnnsearch-grammar", 5)
    samples = {name: some[0].samples[1] for name, some in runs.items()}
    facts = numbers.global_numbers(runs, samples, "the old woman has given the teacher a book .")
    bleu = from_files("luong-dot", lambda run: run["parts"]["test"]["score"])
    assert facts["bleu_dot"] == f"{bleu:.0f}"
    assert facts["aer_search"] == f"{from_files('rnnsearch', lambda run: run['aer']):.2f}"
    assert (facts["shown"], facts["seeds"]) == ("6 of 6", "5 seeds")
    local, whole = (recorded(f"luong-{name}-grammar", 8) for name in ("local-p-feeding", "feeding"))
    (row,) = judge(["l4-local-p-general"])
    assert numbers.local_numbers(local, whole)["same_score"] == row.ours
    (row,) = judge(["v-attention-only"])
    facts = numbers.lookup_numbers(recorded("attention-only-grammar", 5), runs["rnnsearch"])
    assert facts["only_verdict"] == row.verdict
