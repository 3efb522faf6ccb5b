"""What the sentences of a page quote of recorded runs, by the names of their marks.

A page's cell says them, ``say(**global_attention(runs, samples, reference))``; see
:mod:`attnmt.book.said`.
"""

from collections.abc import Mapping, Sequence

from attnmt.book.tables import mean, seeds
from attnmt.evidence.claims import judge
from attnmt.evidence.store import Run, SampleTranslation, of_length, recorded


def kept(runs: Sequence[Run]) -> str:
    """The share of the BLEU on sources of 6 to 10 words that is left on 36 to 40, as a mean."""
    return f"{mean([of_length(run, 36) / of_length(run, 6) for run in runs]):.0%}"


def weight(sample: SampleTranslation, english: str, german: str) -> str:
    """How much a translated word looked at a source word; each at its first place."""
    row = sample.alignment[sample.words.index(english)]
    return f"{row[sample.source.index(german)]:.0%}"


def perplexity_at(run: Run, updates: int, digits: int) -> str:
    """On validation, at the first point of the curve that is not before so many updates."""
    point = next(point for point in run.history.curve if point.updates >= updates)
    return f"{point.valid_perplexity:.{digits}f}"


def global_attention(
    runs: Mapping[str, Sequence[Run]], samples: Mapping[str, SampleTranslation], reference: str
) -> dict[str, str]:
    """Chapter 4: its systems' scores, costs and curves, and how a sample was aligned."""
    general = [run.bleu.score for run in runs["luong-general"]]
    right = [" ".join(sample.words) == reference for sample in samples.values()]
    facts = {
        "shown": f"{len(samples)} of {len(runs)}",
        "right": f"{sum(right)} of {len(right)}",
        "seeds_general": seeds(runs["luong-general"]),
        "range_general": f"{min(general):.0f} and {max(general):.0f}",
        "bleu_concat": f"{mean([run.bleu.score for run in runs['luong-concat']]):.1f}",
        "aer_concat": f"{mean([run.aer for run in runs['luong-concat']]):.2f}",
    }
    quoted = {"location": "luong-location", "dot": "luong-dot", "search": "rnnsearch"}
    for name, system in quoted.items():
        some = runs[system]
        facts[f"bleu_{name}"] = f"{mean([run.bleu.score for run in some]):.0f}"
        facts[f"aer_{name}"] = f"{mean([run.aer for run in some]):.2f}"
        facts[f"kept_{name}"] = kept(some)
        facts[f"seconds_{name}"] = f"{mean([run.history.cpu_seconds for run in some]):.0f}"
        facts[f"{name}_yesterday"] = weight(samples[system], "yesterday", "gestern")
        facts[f"early_{name}"] = perplexity_at(some[0], 250, 0)
        facts[f"end_{name}"] = perplexity_at(some[0], some[0].history.curve[-1].updates, 2)
    facts["seeds"] = seeds(min((runs[system] for system in quoted.values()), key=len))
    return facts


def local_attention(local: Sequence[Run], whole: Sequence[Run]) -> dict[str, str]:
    """Chapter 5: local-p (general) beside dot, both with feeding, and what else tells of windows.

    Differences are the claims' list's, with their intervals.
    """
    captions = {
        "general_captions": "luong-general",
        "local_captions": "luong-local-p",
        "general_tuned": "luong-general-tuned",
        "local_tuned": "luong-local-p-tuned",
        "dot_tuned": "luong-dot-tuned",
    }
    same, against_dot = judge(["l4-local-p-general", "l4-local-p-dot-feeding"])
    facts = {
        name: f"{mean([run.bleu.score for run in recorded(f'{of}-multi30k', 3)]):.1f}"
        for name, of in captions.items()
    }
    last = [run.history.epochs[-1].valid_perplexity for run in local]
    return facts | {
        "end_updates": f"{local[0].history.curve[-1].updates:,}",
        "end_perplexity": f"{mean(last):.2f}",
        "difference": against_dot.ours,
        "same_score": same.ours,
        "seeds_local": str(len(local)),
        "seeds_global": str(len(whole)),
    }


def lookup(only: Sequence[Run], search: Sequence[Run]) -> dict[str, str]:
    """Chapter 9: attention without recurrence beside RNNsearch.

    What is *kept* here is the share of the test's BLEU that the longer sentences have.
    """
    (row,) = judge(["v-attention-only"])
    facts = {"only_verdict": row.verdict}
    for name, runs in {"only": only, "search": search}.items():
        shares = [run.parts["long"].score / run.bleu.score for run in runs]
        facts[f"{name}_seeds"] = seeds(runs)
        facts[f"{name}_bleu"] = f"{mean([run.bleu.score for run in runs]):.1f}"
        facts[f"{name}_kept"] = f"{mean(shares):.0%}"
        facts[f"{name}_aer"] = f"{mean([run.aer for run in runs]):.2f}"
        facts[f"{name}_cpu"] = f"{mean([run.history.cpu_seconds for run in runs]):,.0f}"
    return facts
