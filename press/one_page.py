"""Join the built pages of the book to one document, for `press.pdf` to print.

The pages' articles stand one after the other. Links between pages become links inside the document,
and the solutions get a place of their own behind the list of all exercises.
"""

import html
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urldefrag

import yaml

from press.contents import listed

HEADING = re.compile(
    r'<section[^>]*\bid="([^"]+)"[^>]*>(?:\s*<span [^>]*></span>)*'
    r'\s*<h([12])>(.*?)<a class="headerlink"',
    re.DOTALL,
)
UNUSED = re.compile("togglebutton|copybutton|fontawesome")
SHEET = """<!DOCTYPE html>
<html lang="en" data-theme="light" data-mode="light">
<head><meta charset="utf-8"><title>{title}</title>{head}<style>{style}</style></head>
<body>
<section class="cover"><h1>{title}</h1><p>{author}</p>{footer}</section>
<section class="contents"><h1>Contents</h1><div>{rows}</div></section>
{body}
</body></html>
"""


class Unprintable(RuntimeError):
    """Something that the PDF needs is not there."""


@dataclass
class Entry:
    """A line of the contents."""

    level: int  # 0 a part, 1 a chapter, 2 a section
    title: str  # as HTML
    anchor: str = ""


def anchor(page: str, fragment: str = "") -> str:
    """The name that a page, or a place on it, has in the joined document."""
    return "--".join(filter(None, (page, fragment)))


def article(site: Path, page: str, pages: list[str]) -> str:
    """The article of a page; what it names and links to is renamed as `anchor` does."""
    file = site / f"{page}.html"
    if not file.is_file():
        raise Unprintable(f"{file} is not there: build the pages first (make html)")
    text = file.read_text(encoding="utf8").partition('<article class="bd-article">')[2]
    text = re.sub(r"<script\b.*?</script>", "", text.partition("</article>")[0], flags=re.DOTALL)

    def target(found: re.Match) -> str:
        kind = found[1]
        address = html.unescape(found[2])
        if re.match(r"[a-z]+:", address):
            return found[0]
        place, fragment = urldefrag(address)
        path = (file.parent / unquote(place)).resolve() if place else file.resolve()
        if kind == "src":
            return f' src="{path.as_uri()}"'
        to = path.with_suffix("").relative_to(site.resolve()).as_posix()
        return f' {kind}="#{anchor(to, unquote(fragment))}"' if to in pages else ""

    def tag(found: re.Match) -> str:
        one = re.sub(r' id="([^"]+)"', lambda m: f' id="{anchor(page, m[1])}"', found[0])
        one = re.sub(r"url\(#([^)]+)\)", lambda m: f"url(#{anchor(page, m[1])})", one)
        return re.sub(r' (src|href|xlink:href)="([^"]*)"', target, one)

    return re.sub(r"<[a-z][^>]*>", tag, text)


def join(site: Path, parts: list[tuple[str, list[str]]]) -> tuple[str, list[Entry]]:
    """The joined articles, and the contents."""
    pages = [page for _, some in parts for page in some]
    entries = []
    body = []
    solved = []
    for caption, some in parts:
        entries += [Entry(0, html.escape(caption))] if caption else []
        for page in some:
            text = article(site, page, pages)
            body.append(f'<article class="bd-article" id="{anchor(page)}">{text}</article>')
            found = [Entry(int(m[2]), m[3].strip(), m[1]) for m in HEADING.finditer(text)]
            entries += found if caption else []  # the first page stands before the contents
            if 'class="solution' in text:
                solved.append((page, found[0].title))
            if page == "book/exercises" and solved:
                entries.append(Entry(1, "Solutions", "solutions"))
                entries += [Entry(2, title, f"solutions--{of}") for of, title in solved]
                body.append('<article class="bd-article" id="solutions"><h1>Solutions</h1>')
                for of, title in solved:
                    body.append(f'<section id="solutions--{of}" data-solutions-of="{of}">')
                    body.append(f"<h2>{title}</h2></section>")
                body.append("</article>")
    return "\n".join(body), entries


def sheet(site: Path, root: Path) -> tuple[str, list[Entry]]:
    """The document to print, and its contents."""
    body, entries = join(site, listed(root))
    config = yaml.safe_load((root / "_config.yml").read_text(encoding="utf8"))
    names = [page for _, some in listed(root) for page in some]
    pages = [(site / f"{name}.html").read_text(encoding="utf8") for name in names]
    styles = re.findall(r'<link [^>]*href="\.\./(_static/[^"?]+\.css)', pages[0])
    head = [
        f'<link rel="stylesheet" href="{(site / name).resolve().as_uri()}">'
        for name in styles
        if not UNUSED.search(name)
    ]
    head += re.findall(r"<script>window\.MathJax = .*?</script>", "".join(pages))[:1]
    mathjax = site / "_static" / config["sphinx"]["config"]["mathjax_path"]
    head.append(f'<script defer src="{mathjax.resolve().as_uri()}"></script>')
    rows = [
        f'<p class="level{e.level}"><a href="#{e.anchor}">{e.title}</a><span></span></p>'
        if e.anchor
        else f'<p class="level0">{e.title}</p>'
        for e in entries
    ]
    text = SHEET.format(
        title=html.escape(config["title"]),
        author=html.escape(config["author"]),
        footer=config["html"]["extra_footer"],
        style=(root / "book/_style/pdf.css").read_text(encoding="utf8"),
        head="\n".join(head),
        rows="\n".join(rows),
        body=body,
    )
    return text, entries
