"""The verdicts in words: how many of each, and a table of claims, both in Markdown."""

from collections import Counter
from collections.abc import Sequence

from attnmt.evidence.claims import CRITERIA, KINDS, Claim, Kind
from attnmt.evidence.comparison import VERDICTS
from attnmt.evidence.verdicts import NOT_RUN, WAITING, Row, digits


def tally(rows: Sequence[Row], kind: Kind) -> Counter[str]:
    """How the rows of a kind came out, without those that are outside the tally."""
    return Counter(row.verdict for row in rows if row.claim.kind == kind and not row.claim.outside)


def paper_inside(rows: Sequence[Row]) -> tuple[int, int]:
    """Of all rows with the paper's sign and a number of the paper, how many intervals contain it.

    Those outside the tally are counted, too.
    """
    same = [row for row in rows if row.verdict == VERDICTS[0] and row.theirs_lies]
    return sum(row.theirs_lies == "inside" for row in same), len(same)


def summary(rows: Sequence[Row]) -> str:
    """How the rows came out, as a list in Markdown: kind A, then kind B, never both in one number.

    Then how many rows are outside the tally, and by which criterion.
    """
    lines = []
    for kind in ("A", "B"):
        counts = tally(rows, kind)
        shown = ", ".join(f"{verdict}: {counts[verdict]}" for verdict in (*VERDICTS, WAITING))
        lines.append(
            f"- **{kind}. {KINDS[kind]}**: {counts.total() - counts[NOT_RUN]} in the tally. "
            f"{shown}. Besides, {NOT_RUN}: {counts[NOT_RUN]}."
        )
    left = Counter(row.claim.criterion for row in rows if row.claim.outside)
    shown = ", ".join(f"{criterion}: {left[criterion]}" for criterion in CRITERIA)
    lines.append(f"- **Outside the tally**: {left.total()}. {shown}.")
    inside, same = paper_inside(rows)
    lines.append(
        f"- Of the {same} intervals on the paper's side of zero whose paper gives a number, "
        f"{inside} contain that number (rows outside the tally are counted here)."
    )
    questions = sum(row.claim.kind == "Q" for row in rows)
    lines.append(f"- **Q. {KINDS['Q']}**: {questions}. They have numbers and no verdict.")
    return "\n".join(lines)


def verdict_table(rows: Sequence[Row]) -> str:
    """The rows as a Markdown table: the verdict, the claim, the paper's difference beside ours.

    Below the claim stand its kind, the seeds and the cost of its systems, and its place, in small
    print. Beside the paper's difference stands where it lies: inside, above or below our interval.
    """
    lines = ["| verdict | claim | theirs | ours |", "|---|---|---|---|"]
    for row in rows:
        claim = row.claim
        there = claim.their_difference
        theirs = "–" if there is None else _signed(there, claim)
        kind = f"Kind {claim.kind}" + (f": {claim.altered}" if claim.altered else "")
        seeds = " and ".join(str(number) for number in claim.seeds if number)
        below = [kind, f"Seeds: {seeds}" if seeds else "", *(one.text for one in row.trained)]
        place = f"{claim.paper}, {claim.place}" + (f"; {claim.also}" if claim.also else "")
        cells = [
            row.verdict_in_full,
            f"{claim.claim}<br><small>{'. '.join(filter(None, [*below, place]))}</small>",
            ", ".join(filter(None, (theirs, row.theirs_lies))),
            (row.ours or "–") + twice_as_long(row),
        ]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines)


def twice_as_long(row: Row) -> str:
    """The difference after twice the updates, for a table; "" where it was not measured."""
    if row.doubled is None:
        return ""
    return f"; after twice the updates {_signed(row.doubled, row.claim)}"


def _signed(difference: float, claim: Claim) -> str:
    return f"{difference:+z.{digits(claim)}f}".replace("-", "−")
