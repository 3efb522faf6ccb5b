"""Text that another program has cut or escaped already, recognised by what it left behind."""

import re
from collections.abc import Sequence

TRACES = {
    "escapes such as &apos;": re.compile(
        r"&(?:[a-z]{2,6}|#\d+|#x[0-9a-f]+);|-[lr][rsc]b-", re.IGNORECASE
    ),
    "parted hyphens, @-@": re.compile(r"(?:^| )@[^\w\s@]{1,2}@(?: |$)|##AT##"),
    "the Penn Treebank's quotation marks, ``": re.compile(r"(?:^| )``(?: |$)"),
    "byte-pair pieces, @@": re.compile(r"\S@@(?: |$)|\S</w>(?: |$)"),
    "pieces of sentencepiece, ▁, or of GPT-2, Ġ": re.compile(r"(?:^| )[▁Ġ]|<0x[0-9A-F]{2}>"),
    "words taken out, <unk>": re.compile(r"(?:^| )(?:<unk>|\[UNK\])(?: |$)"),
    "pieces with ￭": re.compile(r"￭"),
    "WordPiece's pieces, ##": re.compile(r"(?:^| )\S+ ##\w"),
    "spaces before full stops": re.compile(r" [.。।]$"),
}
SHARE = {"spaces before full stops": 0.5}  # of the lines; writing does that, too, now and then
USUAL = 0.01


def traces(lines: Sequence[str]) -> list[str]:
    """What shows that lines were processed before: in words, and in how many lines."""
    written = [line for line in lines if line.strip()]
    found = []
    for trace, pattern in TRACES.items():
        count = sum(pattern.search(line.strip()) is not None for line in written)
        if count and count >= SHARE.get(trace, USUAL) * len(written):
            found.append(f"{trace} ({count:,} of {len(written):,} lines)")
    return found
