"""Text that another program has cut or escaped already, recognised by what it left behind."""

import re
from collections.abc import Sequence

TRACES = {
    "escapes such as &apos;": re.compile(
        r"&(?:apos|quot|lt|gt|bar|bra|ket|#9[13]|#124);|-[LR][RSC]B-"
    ),
    "parted hyphens, @-@": re.compile(r"(?:^| )@[-/–,.]@(?: |$)|##AT##"),
    "byte-pair pieces, @@": re.compile(r"\S@@(?: |$)"),
    "pieces of sentencepiece, ▁": re.compile(r"(?:^| )▁"),
    "pieces with ￭": re.compile(r"￭"),
    "WordPiece's pieces, ##": re.compile(r"(?:^| )\S+ ##\w"),
    "spaces before full stops": re.compile(r" \.$"),
}
SHARE = {"spaces before full stops": 0.5}  # of the lines; writing does that, too, now and then
USUAL = 0.01


def traces(lines: Sequence[str]) -> list[str]:
    """What shows that lines were processed before: in words, and in how many lines.

    Args:
        lines: sentences as they are read.
    """
    written = [line for line in lines if line.strip()]
    found = []
    for trace, pattern in TRACES.items():
        count = sum(pattern.search(line.strip()) is not None for line in written)
        if count and count >= SHARE.get(trace, USUAL) * len(written):
            found.append(f"{trace} ({count:,} of {len(written):,} lines)")
    return found
