"""Each page says what it may run and load: its content security policy.

Scripts, styles, pictures and models come from the site itself. The few scripts inside pages are
named by their hashes, so that a browser refuses every other, whoever brought it in. Styles inside
pages are allowed: figures and formulas have many. A page may be embedded anywhere.
"""

import base64
import hashlib
import html
import json
import re
from collections.abc import Iterable
from pathlib import Path

RULES = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self' 'unsafe-inline'",
    "img-src": "'self' data:",
    "font-src": "'self' data:",
    "connect-src": "'self'",
    "worker-src": "'self'",
    "frame-src": "'self'",
    "form-action": "'self'",
    "base-uri": "'none'",
}
INLINE = re.compile(r"<script(?![^>]*\bsrc=)([^>]*)>(.*?)</script>", re.DOTALL)
HANDLER = re.compile(r"""<[a-z][^<>]*?\son\w+=(?:"([^"]*)"|'([^']*)')""")
CHARSET = re.compile(r'<meta charset="utf-8" ?/?>')
NOTES = Path("_static", "reveal", "notes.js")  # writes the speaker's window, which has a script
VIEW = re.compile(r'document\.write\(("(?:[^"\\]|\\.)*")')


def hashed(script: str) -> str:
    """The name of a script in a policy."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


def scripts_in(page: str) -> list[str]:
    """The scripts inside a page; what is marked as another type is data."""
    return [text for kind, text in INLINE.findall(page) if "application/" not in kind]


def handlers_in(page: str) -> set[str]:
    """What the elements of a page do when they are clicked, and the like."""
    return {html.unescape(one or other) for one, other in HANDLER.findall(page)}


def policy(page: str, windows: Iterable[str], handlers: Iterable[str]) -> str:
    """What a page may run and load.

    Args:
        page: HTML.
        windows: scripts of windows that it opens.
        handlers: those of its elements, and of pages that it reads, as the search page does.
    """
    scripts = sorted({hashed(text) for text in (*scripts_in(page), *windows)})
    if handlers:
        scripts += ["'unsafe-hashes'", *sorted(map(hashed, handlers))]
    rules = RULES | {"script-src": " ".join([RULES["script-src"], *scripts])}
    return "; ".join(f"{name} {allowed}" for name, allowed in rules.items())


def speakers_scripts(notes: str) -> list[str]:
    """The scripts of the window that reveal.js's notes open, from its source."""
    literals = [re.sub(r"\\x(..)", r"\\u00\1", text) for text in VIEW.findall(notes)]
    return [script for literal in literals for script in scripts_in(json.loads(literal))]


def guard(site: Path) -> None:
    """Give each page of a built site its policy, behind its charset, but those that have one."""
    notes = site / NOTES
    spoken = speakers_scripts(notes.read_text(encoding="utf8")) if notes.is_file() else []
    pages = {path: path.read_text(encoding="utf8") for path in sorted(site.rglob("*.html"))}
    handlers = set().union(*map(handlers_in, pages.values()))
    for path, page in pages.items():
        if "Content-Security-Policy" not in page:
            allowed = policy(page, spoken if NOTES.as_posix() in page else [], handlers)
            tag = f'<meta http-equiv="Content-Security-Policy" content="{allowed}">'
            page = CHARSET.sub(rf"\g<0>\n{tag}", page, count=1)
            path.write_text(page, encoding="utf8", newline="\n")
