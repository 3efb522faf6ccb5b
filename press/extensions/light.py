"""Sphinx extension: built pages get one style sheet and one script, each with what pages use.

The theme brings 0.6 MB of styles, 0.4 MB of fonts with 2,000 icons, and a dozen scripts that the
page waits for. `lighten` goes through the built site:

- the styles of all pages become one sheet, without the rules that no page can use;
- of the icons' fonts, that sheet holds those few icons that pages show;
- the scripts become one that the page does not wait for;
- pictures get their width and height, and load when they come into view;
- the search page's list of words loses those that are none: parts of numbers, labels run together;
- what the theme and its companions get wrong for screen readers is mended;
- what they say in English alone is said in the language of the site (`site_words`).

At last each page gets its policy. A page that was made light before is left as it is, but for the
address of sheet and script.
"""

import base64
import hashlib
import json
import re
import tempfile
from collections.abc import Callable, Iterable
from html import escape, unescape
from pathlib import Path
from urllib.parse import unquote, urlsplit

from PIL import Image
from sphinx.application import Sphinx

from press.editions.said import Dictionary
from press.extensions import formulas
from press.extensions.policy import guard
from press.extensions.stylesheet import names_in, prune, words_in

STYLE = "site.css"
SCRIPT = "site.js"
OWN = ("live/", f"{formulas.FOLDER}/", STYLE)  # styles that only some pages load
LATER = ("searchtools.js", "language_data.js")  # scripts of the search page alone
TABS = "design-tabs.js"  # asks for its own tag; the book has no tabs
SEARCH = "searchindex.js"
INDEX = re.compile(r"(?s)(Search\.setIndex\()(.*)(\))")
NO_WORD = re.compile(  # the 1.00 of a colour bar, and a word after it; a piece of 0.0125
    r"\d+[^\W\d_]{3}|(\d{0,2}|0\d+|\d{5,})$"
)
SHEET = re.compile(r'[ \t]*<link\b[^>]*?href="([^"?]*_static/([^"?]*\.css))[^>]*>\n?')
LOADED = re.compile(r'[ \t]*<script\b([^>]*?)src="([^"?]*?)(?:\?[^"]*)?"([^>]*)></script>\n?')
SETTING = re.compile(r"[ \t]*<script>((?:let toggle|var toggle)[^<]*)</script>\n?")
PAGE_NAME = re.compile(r"[ \t]*<script>DOCUMENTATION_OPTIONS\.pagename = '([^']*)';</script>\n?")
WRITTEN = re.compile(r"<script>\s*document\.write\(`(.*?)`\);\s*</script>", re.DOTALL)
PRELOAD = re.compile(r'[ \t]*<link\b[^>]*rel="preload"[^>]*>\n?')
VIEWPORT = re.compile(r'\s*<meta name="viewport"[^>]*>')
ONE_VIEWPORT = '\n    <meta name="viewport" content="width=device-width, initial-scale=1">'
PICTURE = re.compile(r'<img\b[^>]*?src="([^":]+)"[^>]*>')
PLURAL = re.compile(r"new Function\(\s*\"n\",\s*`return \(\$\{catalog\.plural_expr\}\)`\s*\)")
FONT = re.compile(r"@font-face\s*\{[^}]*\}")
ICON = re.compile(r"\\([ef][0-9a-f]{3})|([\ue000-\uf8ff])")
# files of the icons' fonts, their family and weight, and the classes that ask for them
ICONS = (
    ("fa-solid-900.ttf", "Font Awesome 6 Free", 900, {"fas", "fa-solid"}),
    ("fa-regular-400.ttf", "Font Awesome 6 Free", 400, {"far", "fa-regular"}),
    ("fa-brands-400.ttf", "Font Awesome 6 Brands", 400, {"fab", "fa-brands"}),
)
# What is read out or shown beside the mouse, on pages and in what scripts write.
TOLD = re.compile(r'(\b(?:title|aria-label|placeholder)=")([^"$]+)(?=")')
COPIES = re.compile(
    r"('copy\w*': ')([^']+)(?=')"
)  # sphinx_copybutton, where it has no such language
# How pages are mended for those who hear them, or go by landmarks.
MENDED = (
    ('<div class="bd-sidebar-primary bd-sidebar', 'role="region" aria-label="The book"'),
    ('<div class="citation" ', 'role="listitem" '),
    ('<i class="fa', 'aria-hidden="true"'),
)


# --------------------------------------------------------------------------------- one of each


def icon_fonts(style: str, static: Path, used: set[str]) -> str:
    """The icons' fonts as rules that hold them; of each, the icons that a style sheet names."""
    codes = {int(code, 16) if code else ord(sign) for code, sign in ICON.findall(style)}
    rules = []
    for name, family, weight, classes in ICONS:
        source = next(static.glob(f"vendor/fontawesome/*/webfonts/{name}"), None)
        if source is None or not classes & used:
            continue
        with tempfile.TemporaryDirectory() as folder:
            target = Path(folder, "icons.woff")
            formulas.write_font(source, codes, target, features=[])
            font = base64.b64encode(target.read_bytes()).decode()
        rules.append(
            f'@font-face{{font-family:"{family}";font-weight:{weight};font-display:block;'
            f"src:url(data:font/woff;base64,{font})}}\n"
        )
    return "".join(rules)


def one_style(static: Path, names: Iterable[str], used: set[str]) -> str:
    """The style sheets of these names as one, with what is `used`."""
    parts = []
    for name in names:
        # the theme's first sheet only imports Sphinx's own
        file = "basic.css" if name == "styles/theme.css" else name
        text = prune((static / file).read_text(encoding="utf8"), used)
        parts.append(FONT.sub("", text) if "fontawesome" in name else text)
    style = "".join(parts)
    return icon_fonts(style, static, used) + style


def one_script(static: Path, names: Iterable[str], settings: Iterable[str]) -> str:
    """The scripts of these names as one, after the settings that the pages made between them."""
    parts = [f"{setting.strip()}\n" for setting in settings]
    for name in names:
        text = with_plural((static / name).read_text(encoding="utf8"), static)
        parts.append(re.sub(r"(?m)^//# sourceMappingURL=.*$", "", text).strip() + "\n;\n")
        if name == "documentation_options.js":
            parts.append(
                "DOCUMENTATION_OPTIONS.pagename = document.documentElement.dataset.pagename;\n"
            )
    return "".join(parts)


def with_plural(script: str, static: Path) -> str:
    """Sphinx's script makes a function of a translation's text, which pages forbid: written out."""
    translated = static / "translations.js"
    text = translated.read_text(encoding="utf8") if translated.is_file() else ""
    found = re.search(r'"plural_expr": "([^"]*)"', text)
    return PLURAL.sub(f"(n) => ({found[1] if found else 'n != 1'})", script)


def scripts_of(page: str) -> list[str]:
    """The scripts in _static that a page waits for, in their order."""
    found = []
    for before, address, after in LOADED.findall(page):
        name = address.rpartition("_static/")[2]
        own = name in (*LATER, SCRIPT, TABS) or "fontawesome" in name or "_static/" not in address
        if not own and "module" not in before + after:
            found.append(name)
    return found


# ------------------------------------------------------------------------------------- a page


def light(page: str, size: Callable[[str], tuple[int, int] | None]) -> str:
    """A page that loads one style sheet and one script; `size` is that of a picture."""
    static = SHEET.search(page)[1].partition("_static/")[0] + "_static"
    more = [tag[0] for tag in SHEET.finditer(page) if tag[2].startswith(OWN)]
    if "<math" in page:
        more.append(f'<link rel="stylesheet" href="{static}/{formulas.FOLDER}/math.css">\n')
    head = [
        f'<link rel="stylesheet" href="{static}/{STYLE}?v=new">\n',
        *more,
        f'<script defer src="{static}/{SCRIPT}?v=new"></script>\n',
    ]
    name = PAGE_NAME.search(page)
    place = SHEET.search(page).start()
    page = f"{page[:place]}\0{page[place:]}"
    for spare in (SHEET, PRELOAD, SETTING, PAGE_NAME, VIEWPORT):
        page = spare.sub("", page)
    page = LOADED.sub(later, page)
    page = page.replace("\0", "".join(head), 1)
    page = page.replace("<head>", f"<head>{ONE_VIEWPORT}", 1)
    if name:
        page = page.replace("<html ", f'<html data-pagename="{name[1]}" ', 1)
    page = WRITTEN.sub(r"\1", page)
    return with_sizes(mended(page), size)


def later(script: re.Match) -> str:
    """The tag of a script: those of one page wait for the document, those of all are gone."""
    before, address, after = script.groups()
    name = address.rpartition("/")[2]
    if "module" in before + after:
        return script[0]
    if name in (*LATER, SEARCH):
        return f'<script defer src="{address}"></script>\n'
    return ""


def without_labels(index: str) -> str:
    """The search page's words without those that nobody looks for.

    These are two labels of a picture run together, and parts of decimal numbers. (The search counts
    no word of up to two letters as missing.)
    """
    before, words, after = INDEX.fullmatch(index.strip()).groups()
    found = json.loads(words)
    terms = found["terms"].items()
    found["terms"] = {word: where for word, where in terms if not NO_WORD.match(word)}
    return before + json.dumps(found, ensure_ascii=False, separators=(",", ":")) + after


def mended(page: str) -> str:
    """A page with the roles that are missing, and without those that are wrong."""
    page = page.replace(' role="doc-biblioentry"', "")
    page = re.sub(r'<summary aria-label="[^"]*">', "<summary>", page)  # it is named by its words
    wide = '<div class="pst-scrollable-table-container"'  # the keyboard must be able to scroll it
    page = page.replace(wide, f'{wide} tabindex="0"')
    for start, attributes in MENDED:
        tag = start.split(" ", 1)
        page = page.replace(start, f"{tag[0]} {attributes.strip()} {tag[1]}")
    return re.sub(r'(?s)<th class="head">(.*?)</th>', head_cell, page)


def told(text: str, words: Dictionary | None) -> str:
    """A page or a script that says in the language of the site what it said in English alone."""

    def said(found: re.Match) -> str:
        english = unescape(found[2])
        return found[1] + (escape(words[english]) if english in words else found[2])

    return COPIES.sub(said, TOLD.sub(said, text)) if words else text


def head_cell(cell: re.Match) -> str:
    """The head of a column; an empty one is no head."""
    return cell[0] if re.sub(r"<[^>]+>|\s", "", cell[1]) else "<td></td>"


def with_sizes(page: str, size: Callable[[str], tuple[int, int] | None]) -> str:
    """A page whose pictures say how large they are; all but the first wait to come into view."""
    seen = []

    def sized(picture: re.Match) -> str:
        tag = picture[0]
        if " width=" not in tag and "style=" not in tag and (found := size(picture[1])):
            tag = tag.replace("<img", f'<img width="{found[0]}" height="{found[1]}"', 1)
        if seen and " loading=" not in tag:
            tag = tag.replace("<img", '<img loading="lazy"', 1)
        seen.append(tag)
        return tag

    return PICTURE.sub(sized, page)


def picture_size(path: Path) -> tuple[int, int] | None:
    """The width and height of a picture, in pixels; None if the file does not say."""
    if path.suffix != ".svg":
        with Image.open(path) as picture:
            return picture.size
    root = re.search(r"<svg\b[^>]*>", path.read_text(encoding="utf8"))
    found = re.search(r'\bwidth="([\d.]+)(pt|)" height="([\d.]+)', root[0]) or re.search(
        r'viewBox="\S+ \S+ ([\d.]+)()[ ]([\d.]+)"', root[0]
    )
    if found is None:
        return None
    scale = 4 / 3 if found[2] else 1  # a point is a third more than a pixel
    return round(scale * float(found[1])), round(scale * float(found[3]))


# ------------------------------------------------------------------------------------ the site


def lighten(site: Path, words: Dictionary | None = None) -> None:
    """Make the pages of a built site light, with these words where the theme has English."""
    static = site / "_static"
    if (index := site / SEARCH).exists():
        index.write_text(without_labels(index.read_text(encoding="utf8")), encoding="utf8")
    paths = [path for path in sorted(site.rglob("*.html")) if static not in path.parents]
    pages = {path: path.read_text(encoding="utf8") for path in paths}
    formulas.write_style(static / formulas.FOLDER, pages.values())
    themed = {path: page for path, page in pages.items() if "bd-article" in page}
    heavy = {path: page for path, page in themed.items() if "styles/bootstrap.css" in page}
    if not heavy:
        return
    names = dict.fromkeys(name for page in heavy.values() for name in scripts_of(page))
    settings = dict.fromkeys(text for page in heavy.values() for text in SETTING.findall(page))
    script = told(one_script(static, names, settings), words)
    modules = [path.read_text(encoding="utf8") for path in static.rglob("*.mjs")]
    used = words_in("".join([script, *modules])) | names_in("".join(themed.values()))
    sheets = dict.fromkeys(name for page in heavy.values() for _, name in SHEET.findall(page))
    style = one_style(static, [name for name in sheets if not name.startswith(OWN)], used)
    marks = {}  # that change with a file: browsers then ask for it again
    for name, text in ((STYLE, style), (SCRIPT, script)):
        (static / name).write_text(text, encoding="utf8", newline="\n")
        marks[name] = hashlib.sha256(text.encode()).hexdigest()[:8]
    for path, page in themed.items():

        def size(address: str, folder: Path = path.parent) -> tuple[int, int] | None:
            picture = folder / unquote(urlsplit(address).path)
            return picture_size(picture) if picture.is_file() else None

        if path in heavy:
            page = told(light(page, size), words)
        for name, mark in marks.items():
            page = re.sub(rf"{re.escape(name)}\?v=\w+", f"{name}?v={mark}", page)
        path.write_text(page, encoding="utf8", newline="\n")


def finish(app: Sphinx, error: Exception | None) -> None:
    """After everything else is written."""
    if error is None and app.builder.name in ("html", "dirhtml"):
        lighten(Path(app.outdir), app.config.site_words)
        guard(Path(app.outdir))


def setup(app: Sphinx) -> dict:
    app.connect("build-finished", finish, priority=900)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
