"""press/editions/epub.py: pages as XHTML that any reader can read, and EPUBCheck's answer."""

import re
import zipfile
from xml.etree import ElementTree

import pytest
from conftest import SITE

from press.contents import lectures
from press.editions.epub import PAGE, Writer, complaints, contents, core, item, write_epub
from press.editions.one_page import Unprintable

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
    assert page.find(f".//{HTML}img").get("src") == "pictures/p.png"
    assert page.find(f".//{HTML}img").get("loading") is None
    assert book.files["pictures/p.png"] == b"png"
    assert page.find(f".//{HTML}script") is None
    text = "".join(page.itertext())
    assert "still" in text and "Hide" not in text


def test_a_style_stands_in_the_head_and_once(written):
    _, _, page = written
    assert [style.text for style in page.iter(f"{HTML}style")] == [".a>b{margin:0}"]
    assert page.find(f"{HTML}head/{HTML}style") is not None


def test_links_lead_inside_the_book_outside_or_nowhere(written):
    _, _, page = written
    links = [link.get("href") for link in page.iter(f"{HTML}a")]
    assert links == ["b.xhtml#x-y", None, "https://example.org/?a=1&b=2"]


def test_names_are_those_of_xml_and_stand_once(written):
    _, _, page = written
    names = [tag.get("id") for tag in page.iter() if tag.get("id")]
    assert names == ["a-title", "n-1"]  # the second of two equal names is gone


def test_what_is_folded_opens_without_a_script(written):
    _, _, page = written
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


def test_the_core_is_what_has_slides_and_four_pages_besides():
    pages = core()
    assert {path.stem for path in lectures()} < {page.rpartition("/")[2] for page in pages}
    assert len(pages) == len(lectures()) + 4
    assert pages[0] == "book/index"


def test_a_page_that_was_not_built_is_named(tmp_path):
    (tmp_path / "_static").mkdir()
    for name in (
        "pygments.css",
        "live/see.css",
        "math/math.css",
        "math/math.woff",
        "share/index.png",
    ):
        path = tmp_path / "_static" / name
        path.parent.mkdir(exist_ok=True)
        path.touch()
    with pytest.raises(Unprintable, match=r"index\.html is not there"):
        write_epub(tmp_path, tmp_path / "book.epub")


@pytest.mark.browser
def test_epubcheck_has_no_complaint(address, tmp_path):
    """It looks at the strict build, as the tests of the site do."""
    path = tmp_path / "book.epub"
    assert write_epub(SITE, path) == len(core())
    found = complaints(path)
    if found is None:
        pytest.skip("EPUBCheck needs Java, and the package epubcheck")
    assert found == []
    with zipfile.ZipFile(path) as book:
        assert book.namelist()[0] == "mimetype"
        pages = {name: book.read(name).decode() for name in book.namelist() if "xhtml" in name}
    assert sum(page.count("<math") for page in pages.values()) > 500
    assert 'class="live-still"' in pages["book/03_learning_to_align.xhtml"]
    broken = tmp_path / "broken.epub"
    with zipfile.ZipFile(path) as book, zipfile.ZipFile(broken, "w") as other:
        for name in book.namelist():
            text = book.read(name)
            other.writestr(name, re.sub(b"</p>", b"", text, count=1) if "03_" in name else text)
    assert complaints(broken)
