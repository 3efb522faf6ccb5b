"""press/editions/epub.py: pages as XHTML that any reader can read, and EPUBCheck's answer."""

import re
import zipfile
from xml.etree import ElementTree

import pytest
from conftest import SITE

from press.contents import lectures
from press.editions import epub
from press.editions.epub import PAGE, Writer, complaints, contents, core, item, write_epub

HTML = "{http://www.w3.org/1999/xhtml}"
BODY = """<article class="bd-article"><section id="a title"><h1>A &amp; b<a class="headerlink"
href="#a">#</a></h1><p id="1">One<br>two <a href="b.html#x y">b</a> <a href="c.html">c</a>
<a href="https://example.org/?a=1&amp;b=2">out</a></p><img src="../_images/p.png" loading="lazy"
alt="p"><svg viewBox="0 0 1 1"><clipPath id="1"></clipPath></svg><span class="math"><math><mi>x</mi>
</math></span><script>1</script><noscript><p>still</p></noscript><div class="dropdown admonition">
<p class="admonition-title">Solution</p><p>42</p></div><details><summary><p>Show</p>
<p class="expanded">Hide</p></summary>code</details>
<div><style>.a>b{margin:0}</style>one</div><div><style>.a>b{margin:0}</style>two</div></section></article>"""


@pytest.fixture
def written(tmp_path):
    """A page of the site, and the writer that has turned it into XHTML."""
    for name in ("book", "_images"):
        (tmp_path / name).mkdir()
    (tmp_path / "book" / "a.html").write_text(f"<html><body>{BODY}</body></html>")
    (tmp_path / "_images" / "p.png").write_bytes(b"png")
    book = Writer(tmp_path, ["book/a", "book/b"])
    lines = book.add("book/a")
    return book, lines, ElementTree.fromstring(book.files["a.xhtml"])


def test_a_page_is_xml_with_everything_in_its_place(written):
    book, _, page = written
    assert page.find(".//{http://www.w3.org/2000/svg}svg").get("viewBox") == "0 0 1 1"
    assert page.find(".//{http://www.w3.org/2000/svg}clipPath") is not None
    assert page.find(".//{http://www.w3.org/1998/Math/MathML}mi").text == "x"
    picture = page.find(f".//{HTML}img")
    assert (picture.get("src"), picture.get("loading")) == ("pictures/p.png", None)
    assert book.files["pictures/p.png"] == b"png"
    assert page.find(f".//{HTML}script") is None
    text = "".join(page.itertext())
    assert "still" in text and "Hide" not in text
    # a style stands in the head and once
    assert [style.text for style in page.iter(f"{HTML}style")] == [".a>b{margin:0}"]
    assert page.find(f"{HTML}head/{HTML}style") is not None
    # links lead inside the book, outside or nowhere
    links = [link.get("href") for link in page.iter(f"{HTML}a")]
    assert links == ["b.xhtml#x-y", None, "https://example.org/?a=1&b=2"]
    # names are those of XML; the second of two equal names is gone
    names = [tag.get("id") for tag in page.iter() if tag.get("id")]
    assert names == ["a-title", "n-1"]
    # what is folded opens without a script
    solution, code = page.iter(f"{HTML}details")
    assert [solution[0].tag, solution[0].text] == [f"{HTML}summary", "Solution"]
    assert "".join(code[0].itertext()).strip() == "Show"


def test_the_contents_have_parts_chapters_and_sections(written):
    _, lines, _ = written
    nav = contents([("", [("book/a", lines)]), ("Part & more", [("book/a", lines)])])
    root = ElementTree.fromstring(PAGE.substitute(language="en", title="t", styles="", body=nav))
    assert [link.text for link in root.iter(f"{HTML}a")] == ["A & b", "A & b"]
    assert [part.text for part in root.iter(f"{HTML}span")] == ["Part & more"]


def test_a_file_tells_what_is_in_it(written):
    book, _, _ = written
    told = item("a.xhtml", book.files["a.xhtml"])
    assert 'properties="mathml svg"' in told and 'media-type="application/xhtml+xml"' in told
    assert 'media-type="font/woff"' in item("math.woff", b"")


SOME = ["book/index", "book/03_learning_to_align", "book/glossary"]


@pytest.mark.browser
@pytest.mark.parametrize(
    "pages", [SOME, pytest.param(core(), marks=pytest.mark.nightly)], ids=["some pages", "whole"]
)
def test_epubcheck_has_no_complaint(pages, address, tmp_path, monkeypatch):
    """It looks at the strict build, as the tests of the site do."""
    assert {*SOME, *(f"book/{path.stem}" for path in lectures())} <= set(core())
    monkeypatch.setattr(epub, "core", lambda: pages)
    path = tmp_path / "book.epub"
    assert write_epub(SITE, path) == len(pages)
    found = complaints(path)
    if found is None:
        pytest.skip("EPUBCheck needs Java, and the package epubcheck")
    assert found == []
    with zipfile.ZipFile(path) as book:
        assert book.namelist()[0] == "mimetype"
        texts = {name: book.read(name).decode() for name in book.namelist() if "xhtml" in name}
    assert {f"{page}.xhtml" for page in pages} < set(texts)
    assert sum(text.count("<math") for text in texts.values()) > 500 * len(pages) / len(core())
    assert 'class="live-still"' in texts["book/03_learning_to_align.xhtml"]
    broken = tmp_path / "broken.epub"
    with zipfile.ZipFile(path) as book, zipfile.ZipFile(broken, "w") as other:
        for name in book.namelist():
            text = book.read(name)
            other.writestr(name, re.sub(b"</p>", b"", text, count=1) if "03_" in name else text)
    assert any("03_learning_to_align" in line for line in complaints(broken))
