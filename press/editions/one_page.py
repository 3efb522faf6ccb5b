"""Join the built pages of the book to one document, for `press.editions.pdf` to print.

The pages' articles stand one after the other, what they fold is open. Each name on a page gets that
of the page before it, so that links, also those between pages, lead to their own chapter. The
solutions move behind the list of all exercises.
"""

import html
import posixpath
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from bs4 import BeautifulSoup, Tag

from press.contents import ROOT, listed, settings
from press.phrases import in_words

SOLUTIONS_AFTER = "book/exercises"
SHEET = Path(__file__).with_name("pdf.html").read_text(encoding="utf8")


class Unprintable(RuntimeError):
    """Something that the edition needs is not there."""


@dataclass
class Entry:
    """A line of the contents."""

    level: int  # 0 a part, 1 a chapter, 2 a section
    title: str  # as HTML
    anchor: str = ""

    @property
    def plain(self) -> str:
        """The title without tags."""
        return BeautifulSoup(self.title, "html.parser").get_text()

    @property
    def row(self) -> str:
        """The line as HTML, with room for the number of its page."""
        if not self.anchor:
            return f'<p class="level0">{self.title}</p>'
        link = f'<a href="#{self.anchor}">{self.title}</a>'
        return f'<p class="level{self.level}">{link}<span></span></p>'


def anchor(page: str, name: str = "") -> str:
    """The name that a page, or a place on it, has in the joined document."""
    return f"{page}--{name}" if name else page


def read(site: Path, page: str) -> BeautifulSoup:
    """A built page; Unprintable where it is not there."""
    file = site / f"{page}.html"
    if not file.is_file():
        raise Unprintable(f"{file} is not there: build the pages first (make html)")
    return BeautifulSoup(file.read_text(encoding="utf8"), "html.parser")


def target(page: str, address: str) -> str:
    """The file of the site that an address on a page names."""
    path = unquote(urlsplit(address).path) or f"{posixpath.basename(page)}.html"
    return posixpath.normpath(posixpath.join(posixpath.dirname(page), path))


def article(soup: BeautifulSoup, page: str, site: Path, pages: list[str]) -> Tag:
    """The article of a page, its names and links as `anchor` says.

    A link to a page that is not among `pages` leads nowhere.
    """
    found = soup.find("article", class_="bd-article")
    for part in found.select("script, .run-chapter"):
        part.decompose()
    for tag in found.find_all(True):
        tag.attrs.pop("loading", None)  # paper does not wait
        if tag.name == "details":
            tag["open"] = ""
        for key, value in list(tag.attrs.items()):
            inside = key in ("src", "href", "xlink:href") and not urlsplit(value).scheme
            if key == "id":
                tag[key] = anchor(page, value)
            elif inside and key == "src":
                tag[key] = (site.resolve() / target(page, value)).as_uri()
            elif inside:
                to = target(page, value).removesuffix(".html")
                tag[key] = "#" + anchor(to, unquote(urlsplit(value).fragment))
                if to not in pages:
                    del tag[key]
            elif isinstance(value, str) and "url(#" in value:
                tag[key] = value.replace("url(#", f"url(#{anchor(page)}--")
    return found


def headings(text: Tag) -> list[Entry]:
    """The chapter and the sections of an article, as lines of the contents."""
    found = []
    for section in text.find_all("section", id=True):
        if heading := section.find(["h1", "h2"], recursive=False):
            for link in heading.find_all("a", class_="headerlink"):
                link.decompose()  # on paper it says nothing
            title = heading.decode_contents(formatter="minimal").strip()
            found.append(Entry(int(heading.name[1]), title, section["id"]))
    return found


def solutions(solved: list[tuple[str, str, str]], heading: str) -> tuple[str, list[Entry]]:
    """The article of the solutions of some pages, their titles and HTML, and its contents."""
    entries = [Entry(1, heading, "solutions")]
    entries += [Entry(2, title, f"solutions--{page}") for page, title, _ in solved]
    sections = "".join(
        f'<section id="solutions--{page}"><h2>{title}</h2>{text}</section>'
        for page, title, text in solved
    )
    body = f'<article class="bd-article" id="solutions"><h1>{heading}</h1>{sections}</article>'
    return body, entries


def join(
    soups: dict[str, BeautifulSoup],
    parts: list[tuple[str, list[str]]],
    site: Path,
    solved_heading: str = "Solutions",
) -> tuple[str, list[Entry]]:
    """The joined articles, and the contents."""
    entries: list[Entry] = []
    body: list[str] = []
    solved: list[tuple[str, str, str]] = []
    last = list(soups)[-1]
    for caption, pages in parts:
        entries += [Entry(0, html.escape(caption))] if caption else []
        for page in pages:
            text = article(soups[page], page, site, list(soups))
            found = headings(text)
            moved = [one.extract().decode(formatter="minimal") for one in text.select(".solution")]
            solved += [(page, found[0].title, "".join(moved))] if moved else []
            inner = text.decode_contents(formatter="minimal")
            body.append(f'<article class="bd-article" id="{anchor(page)}">{inner}</article>')
            entries += found if caption else []  # the first page stands before the contents
            here = page == SOLUTIONS_AFTER or (page == last and SOLUTIONS_AFTER not in soups)
            if here and solved:
                answers, lines = solutions(solved, solved_heading)
                body.append(answers)
                entries += lines
    return "\n".join(body), entries


def sheet(site: Path, root: Path = ROOT, only: Collection[str] = ()) -> tuple[str, list[Entry]]:
    """The document to print, whole or `only` some pages, and its contents.

    Raises:
        Unprintable: a page was not built, or the book does not have it.
    """
    parts = [
        (part, [page for page in pages if page in only or not only]) for part, pages in listed(root)
    ]
    parts = [(part, pages) for part, pages in parts if pages]
    soups = {page: read(site, page) for _, pages in parts for page in pages}
    if others := set(only) - set(soups):
        raise Unprintable(f"_toc.yml lists no page {', '.join(sorted(others))}")
    config = settings(root)
    words = config["sphinx"]["config"].get("site_words", {})  # of an edition in another language
    links = [
        target(page, link["href"])
        for page, soup in soups.items()
        for link in soup.find_all("link", rel="stylesheet")
        if not urlsplit(link["href"]).scheme
    ]
    styles = [(site / path).resolve().as_uri() for path in dict.fromkeys(links)]
    body, entries = join(soups, parts, site, in_words("Solutions", words))
    text = SHEET.format(
        language=next(iter(soups.values())).html.get("lang", "en"),
        title=html.escape(config["title"]),
        author=html.escape(config["author"]),
        footer=config["html"]["extra_footer"],
        contents=in_words("Contents", words),
        style=(root / "book/_style/pdf.css").read_text(encoding="utf8"),
        head="\n".join(f'<link rel="stylesheet" href="{style}">' for style in styles),
        rows="\n".join(entry.row for entry in entries),
        body=body,
    )
    return text, entries
