"""Characters: text that looks equal is equal.

*Müller* can be written with one character for ü or with two, and a word can hold characters that
nobody sees. To a model these are other words. So text is brought into one form where it enters.
"""

import re
import unicodedata

JOINERS = "\u200c\u200d"  # zero-width: Persian and Indian scripts and emoji need them in a word
NEEDED = (  # after these a joiner changes what one sees
    "\u0600-\u08ff\u0900-\u0dff\u0f00-\u109f\u1780-\u18af"  # Arabic, Indian and Mongolian scripts
    "\u2190-\u2bff\ufe0f\U0001f000-\U0001faff"  # emoji
)
UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f"  # control characters that are no white space
    "\u00ad\u034f\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0"
    "\ufff9-\ufffb]"
)
ENDS = r"\s.,:;!?…\"'’”»)\]}،؛؟۔।"  # before these, and at the end, a joiner joins nothing
IDLE = re.compile(f"(?<![{NEEDED}])[{JOINERS}]+|[{JOINERS}]+(?=[{ENDS}]|$)")


def clean(text: str) -> str:
    """A text in one form: NFC, single spaces, without the characters that nobody sees.

    What goes are soft hyphens, zero-width spaces, byte-order marks, marks of direction and control
    characters; zero-width joiners stay where a script needs them.
    """
    if not (text.isascii() and text.isprintable()):
        text = unicodedata.normalize("NFC", IDLE.sub("", UNSEEN.sub("", text)))
    return " ".join(text.split())


def depends(character: str) -> bool:
    """Whether a character is of the one before it: an accent, a Thai tone, a joiner."""
    kind = unicodedata.category(character)
    return kind[0] == "M" or character in JOINERS or "\U000e0020" <= character <= "\U000e007f"
