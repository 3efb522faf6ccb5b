"""Join the built pages of the book to one document, for `press.editions.pdf` to print.

The pages' articles stand one after the other. Links between pages become links inside the document,
and the solutions get a place of their own behind the list of all exercises. What the EPUB shares
with it is here, too: a page as it was built, where its links lead, and its headings.
"""

import argparse
import html
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

from bs4 import BeautifulSoup, Tag

from press.contents import ROOT, listed, settings
from press.editions.said import Dictionary, in_words

SOLUTIONS_AFTER = "book/exercises"
SHEET = Path(__file__).with_name("pdf.html").read_text(encoding="utf8")


class Unprintable(RuntimeError):
    """Something that an edition needs is not there."""


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


def anchor(page: str, fragment: str = "") -> str:
    """The name that a page, or a place on it, has in the joined document."""
    return "--".join(filter(None, (page, fragment)))


def read(site: Path, page: str) -> BeautifulSoup:
    """A built page; Unprintable where it is not there."""
    file = site / f"{page}.html"
    if not file.is_file():
        raise Unprintable(f"{file} is not there: build the pages first (make html)")
    return BeautifulSoup(file.read_text(encoding="utf8"), "html.parser")


class Links:
    """Where the addresses on a page lead."""

    def __init__(self, site: Path, page: str, pages: list[str]):
        self.site = site.resolve()
        self.file = (site / f"{page}.html").resolve()
        self.pages = pages

    def path(self, address: str) -> Path:
        """The file of the site that an address names."""
        place = unquote(urlsplit(address).path)
        return (self.file.parent / place).resolve() if place else self.file

    def source(self, address: str) -> str:
        """The address of a picture in the joined document."""
        return address if urlsplit(address).scheme else self.path(address).as_uri()

    def lead(self, tag: Tag, key: str, name: Callable[[str, str], str]) -> None:
        """Let a link lead to the address that `name` gives to a page and a place on it.

        It leads nowhere, if the edition lacks the page.
        """
        if urlsplit(tag[key]).scheme:
            return
        page = self.path(tag[key]).with_suffix("").relative_to(self.site).as_posix()
        if page in self.pages:
            tag[key] = name(page, unquote(urldefrag(tag[key]).fragment))
        else:
            del tag[key]


def article(soup: BeautifulSoup, page: str, links: Links) -> Tag:
    """The article of a page; what it names and links to is renamed as `anchor` does."""
    found = soup.find("article", class_="bd-article")
    for script in found.find_all("script"):
        script.decompose()
    for tag in found.find_all(True):
        for name, value in list(tag.attrs.items()):
            if name == "id":
                tag[name] = anchor(page, value)
            elif name == "src":
                tag[name] = links.source(value)
            elif name in ("href", "xlink:href"):
                links.lead(tag, name, lambda *place: f"#{anchor(*place)}")
            elif isinstance(value, str) and "url(#" in value:
                tag[name] = value.replace("url(#", f"url(#{anchor(page)}--")
    return found


def headings(text: Tag) -> list[Entry]:
    """The chapter and the sections of an article, as lines of the contents."""
    found = []
    for section in text.find_all("section", id=True):
        heading = section.find(["h1", "h2"], recursive=False)
        if heading:
            for link in heading.find_all("a", class_="headerlink"):
                link.decompose()  # on paper it says nothing
            title = heading.decode_contents(formatter="minimal").strip()
            found.append(Entry(int(heading.name[1]), title, section["id"]))
    return found


def site_words(root: Path = ROOT) -> Dictionary:
    """What stands on no page, in the language of the book in `root`; English says itself."""
    return settings(root)["sphinx"]["config"].get("site_words", {})


def solutions(solved: list[tuple[str, str]], heading: str) -> tuple[str, list[Entry]]:
    """The places that the solutions of some pages move to, and their lines of the contents."""
    entries = [Entry(1, heading, "solutions")]
    body = [f'<article class="bd-article" id="solutions"><h1>{heading}</h1>']
    for page, title in solved:
        entries.append(Entry(2, title, f"solutions--{page}"))
        body.append(f'<section id="solutions--{page}" data-solutions-of="{page}">')
        body.append(f"<h2>{title}</h2></section>")
    body.append("</article>")
    return "\n".join(body), entries


def join(
    soups: dict[str, BeautifulSoup],
    parts: list[tuple[str, list[str]]],
    site: Path,
    solved_heading: str = "Solutions",
) -> tuple[str, list[Entry]]:
    """The joined articles, and the contents."""
    entries: list[Entry] = []
    body: list[str] = []
    solved: list[tuple[str, str]] = []
    for caption, pages in parts:
        entries += [Entry(0, html.escape(caption))] if caption else []
        for page in pages:
            text = article(soups[page], page, Links(site, page, list(soups)))
            found = headings(text)
            inner = text.decode_contents(formatter="minimal")
            body.append(f'<article class="bd-article" id="{anchor(page)}">{inner}</article>')
            entries += found if caption else []  # the first page stands before the contents
            if text.select_one(".solution"):
                solved.append((page, found[0].title))
            if page == SOLUTIONS_AFTER and solved:
                places, lines = solutions(solved, solved_heading)
                body.append(places)
                entries += lines
    return "\n".join(body), entries


def head_of(soups: dict[str, BeautifulSoup], site: Path) -> list[str]:
    """The styles of the pages: those of all, and those of some, as of formulas."""
    links = [link for soup in soups.values() for link in soup.find_all("link", rel="stylesheet")]
    paths = dict.fromkeys(urlsplit(link["href"]).path for link in links)
    files = [
        (site / path.removeprefix("../")).resolve()
        for path in paths
        if path.startswith("../_static/")
    ]
    return [f'<link rel="stylesheet" href="{file.as_uri()}">' for file in files]


def sheet(site: Path, root: Path = ROOT) -> tuple[str, list[Entry]]:
    """The document to print, and its contents."""
    soups = {page: read(site, page) for _, pages in listed(root) for page in pages}
    config = settings(root)
    words = site_words(root)
    head = head_of(soups, site)
    body, entries = join(soups, listed(root), site, in_words("Solutions", words))
    text = SHEET.format(
        language=next(iter(soups.values())).html.get("lang", "en"),
        title=html.escape(config["title"]),
        author=html.escape(config["author"]),
        footer=config["html"]["extra_footer"],
        contents=in_words("Contents", words),
        style=(root / "book/_style/pdf.css").read_text(encoding="utf8"),
        head="\n".join(head),
        rows="\n".join(entry.row for entry in entries),
        body=body,
    )
    return text, entries


def edition(write: Callable[[Path, Path], int], kind: str, about: str) -> Path:
    """What a command does that makes an edition of the built pages; returns the edition's file.

    Args:
        write: takes the site's folder and the file to write, and returns the number of pages.
        kind: the ending of the file.
        about: the module's docstring.
    """
    parser = argparse.ArgumentParser(description=about.splitlines()[0])
    target = ROOT / "_build" / kind / f"learning-to-align.{kind}"
    parser.add_argument("--site", type=Path, default=ROOT / "_build" / "html")
    parser.add_argument("--into", type=Path, default=target)
    options = parser.parse_args()
    try:
        count = write(options.site, options.into)
    except (Unprintable, FileNotFoundError) as error:
        parser.error(str(error))
    print(f"{count} pages, {options.into.stat().st_size / 1e6:.1f} MB: {options.into}")
    return options.into
