"""Numbers in sentences: a cell computes them, and the Markdown around it shows them.

A chapter's code writes what it found, ``write_numbers(kept=f"{kept:.0%}")``, in a cell tagged
``remove-cell``. Its Markdown has ``keeps <!--kept-->19%<!--/--> of its BLEU``, and whenever the
notebook is executed to be stored, `press.run.numbers` puts the new text between the marks. These
are comments: readers see a sentence with its number: on the page, on slides and in Colab.

Three chapters quote so many numbers of recorded runs that a function here collects them:
``write_numbers(**global_numbers(runs, samples, reference))``.
"""

import re
from collections.abc import Mapping, Sequence

from IPython.display import display

from attnmt.book.tables import mean, seeds
from attnmt.evidence.store import Run, SampleTranslation, of_length, recorded
from attnmt.evidence.verdicts import judge

MIME = "application/vnd.attnmt.numbers+json"
NAME = re.compile(r"[a-z][a-z0-9_]*")


def write_numbers(**texts: str) -> None:
    """Give the sentences of this notebook their numbers.

    Args:
        texts: by the names of their marks, formatted as the sentence shows them:
            ``kept=f"{kept:.0%}"``.

    Raises:
        TypeError: a text is no string: how many digits a number has is for the cell to say.
        ValueError: there are no texts, a name has other characters than a to z, 0 to 9 and _, or a
            text is empty, has several lines or holds ``<!--`` or ``-->``.
    """
    if not texts:
        raise ValueError('write_numbers(...) needs a text: write_numbers(kept=f"{kept:.0%}")')
    for name, text in texts.items():
        if not NAME.fullmatch(name):
            raise ValueError(f"{name!r} cannot be a mark: use a to z, 0 to 9 and _, a letter first")
        if not isinstance(text, str):
            kind = type(text).__name__
            raise TypeError(f'{name} is of type {kind}: format it, as in {name}=f"{{value:.1f}}"')
        if not text.strip() or "\n" in text or "<!--" in text or "-->" in text:
            raise ValueError(f"{name} must be one line of text without <!-- and -->, not {text!r}")
    plain = "\n".join(f"{name} = {text}" for name, text in texts.items())
    display({MIME: dict(texts), "text/plain": plain}, raw=True)


def kept_share(runs: Sequence[Run]) -> str:
    """The share of the BLEU on sources of 6 to 10 words that is left on 36 to 40, as a mean."""
    return f"{mean([of_length(run, 36) / of_length(run, 6) for run in runs]):.0%}"


def weight_on(sample: SampleTranslation, english: str, german: str) -> str:
    """How much a translated word looked at a source word; each at its first place."""
    row = sample.alignment[sample.words.index(english)]
    return f"{row[sample.source.index(german)]:.0%}"


def perplexity_at(run: Run, updates: int, digits: int) -> str:
    """On validation, at the first point of the curve that is not before so many updates."""
    point = next(point for point in run.history.curve if point.updates >= updates)
    return f"{point.valid_perplexity:.{digits}f}"


def global_numbers(
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
        facts[f"kept_{name}"] = kept_share(some)
        facts[f"seconds_{name}"] = f"{mean([run.history.cpu_seconds for run in some]):.0f}"
        facts[f"{name}_yesterday"] = weight_on(samples[system], "yesterday", "gestern")
        facts[f"early_{name}"] = perplexity_at(some[0], 250, 0)
        facts[f"end_{name}"] = perplexity_at(some[0], some[0].history.curve[-1].updates, 2)
    facts["seeds"] = seeds(min((runs[system] for system in quoted.values()), key=len))
    return facts


def local_numbers(local: Sequence[Run], whole: Sequence[Run]) -> dict[str, str]:
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
        "difference_twice": f"{against_dot.doubled:+.1f}".replace("-", "−"),
        "same_score": same.ours,
        "seeds_local": str(len(local)),
        "seeds_global": str(len(whole)),
    }


def lookup_numbers(only: Sequence[Run], search: Sequence[Run]) -> dict[str, str]:
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
