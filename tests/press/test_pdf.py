"""The PDF of the book: how the pages are joined, and what Chromium made of them."""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from conftest import SITE, missing
from pypdf import PdfReader, PdfWriter

from press.contents import ROOT, listed
from press.editions import one_page, pdf
from press.editions.one_page import Entry, Unprintable, anchor, headings, join, read

SMALL = 10_000  # bytes of what is drawn on a page that may have its number only

PARTS = [("", ["book/index"]), ("First", ["book/one"]), ("Last", ["book/exercises"])]
PAGES = {
    "index": '<section id="a"><h1>Start<a class="headerlink" href="#a">#</a></h1></section>',
    "one": """<section id="one">
<h1>One &amp; <em>only</em><a class="headerlink" href="#one">#</a></h1>
<section id="part"><span id="old"></span><h2>A part<a class="headerlink" href="#part">#</a></h2>
<p><a href="#part">here</a> <a href="exercises.html#list">there</a>
<a href="../genindex.html">no</a>
<a href="https://example.org/a">out</a> <img src="../_images/a.png">
<svg><g id="g1"></g><use xlink:href="#g1"/><g clip-path="url(#g1)"/></svg>
<code>id=&quot;x&quot; href=&quot;#y&quot;</code></p>
<div class="solution dropdown" id="book/one-solution-1"></div></section></section>""",
    "exercises": """<section id="list"><h1>List<a class="headerlink" href="#list">#</a></h1>
<a href="one.html#book/one-solution-1">solution</a><script>bad()</script></section>""",
}


@pytest.fixture
def site(tmp_path) -> Path:
    """Three pages as a theme writes them."""
    (tmp_path / "book").mkdir()
    for name, text in PAGES.items():
        whole = f'<html><nav>menu</nav><article class="bd-article">{text}</article>foot</html>'
        (tmp_path / "book" / f"{name}.html").write_text(whole)
    return tmp_path


def joined(site: Path) -> tuple[str, list[Entry]]:
    soups = {page: read(site, page) for _, pages in PARTS for page in pages}
    return join(soups, PARTS, site)


def test_links_between_pages_become_links_inside_and_an_article_keeps_what_is_its_own(site):
    body, _ = joined(site)
    tags = BeautifulSoup(body, "html.parser").find_all(True)
    links = [tag.get("href", tag.get("xlink:href", "")) for tag in tags]
    inside = {link.removeprefix("#") for link in links if link.startswith("#")}
    ids = [tag["id"] for tag in tags if tag.has_attr("id")]
    assert inside <= set(ids) and len(ids) == len(set(ids))
    assert {"book/one--part", "book/exercises--list", "book/one--book/one-solution-1"} <= inside
    assert not any(word in body for word in ("menu", "foot", "genindex", "bad()"))
    assert 'href="https://example.org/a"' in body
    assert f'src="{(site / "_images/a.png").as_uri()}"' in body
    assert 'xlink:href="#book/one--g1"' in body and "url(#book/one--g1)" in body
    assert '<code>id="x" href="#y"</code>' in body  # words, no attributes


def test_each_link_lands_in_its_own_chapter(site):
    """Also where two chapters have a section of the same name."""
    for name, other in (("one", "exercises"), ("exercises", "one")):
        links = f'<a href="#by-hand">{name}</a> <a href="{other}.html#by-hand">{other}</a>'
        page = site / "book" / f"{name}.html"
        again = f'<section id="by-hand"><h2>By hand</h2>{links}</section></article>'
        page.write_text(page.read_text().replace("</article>", again))
    body = BeautifulSoup(joined(site)[0], "html.parser")
    for link in body.find_all("a", string=["one", "exercises"]):
        place = body.find(id=link["href"].removeprefix("#"))
        assert place.find_parent("article")["id"] == anchor(f"book/{link.get_text()}")
    assert len(body.find_all("a", string="one")) == 2


def test_contents_follow_the_parts_and_solutions_the_exercises(site):
    body, entries = joined(site)
    assert [(e.level, e.title, e.anchor) for e in entries] == [
        (0, "First", ""),
        (1, "One &amp; <em>only</em>", "book/one--one"),
        (2, "A part", "book/one--part"),
        (0, "Last", ""),
        (1, "List", "book/exercises--list"),
        (1, "Solutions", "solutions"),
        (2, "One &amp; <em>only</em>", "solutions--book/one"),
    ]
    place = BeautifulSoup(body, "html.parser").find(class_="solution").parent
    assert place["id"] == "solutions--book/one"
    assert f'<article class="bd-article" id="{anchor("book/one")}">' in body
    page = site / "book" / "one.html"  # and of the student edition
    page.write_text(page.read_text().replace('class="solution', 'class="other'))
    body, entries = joined(site)
    assert "Solutions" not in body + "".join(entry.title for entry in entries)


def test_a_handout_has_its_pages_and_their_solutions_alone(site, monkeypatch):
    monkeypatch.setattr(one_page, "listed", lambda root: PARTS)
    text, entries = one_page.sheet(site, only=["book/one"])
    title = "One &amp; <em>only</em>"
    assert [e.title for e in entries] == ["First", title, "A part", "Solutions", title]
    body = BeautifulSoup(text, "html.parser")
    assert [tag["id"] for tag in body.find_all("article")] == ["book/one", "solutions"]
    assert not body.find("a", string="there").has_attr("href")
    with pytest.raises(Unprintable, match="lists no page book/two"):
        one_page.sheet(site, only=["book/one", "book/two"])


def test_bookmarks(tmp_path):
    writer = PdfWriter()
    for _ in range(5):
        writer.add_blank_page(100, 100)
    writer.write(tmp_path / "a.pdf")
    entries = [
        Entry(0, "First"),
        Entry(1, "One &amp; <em>only</em> <math><mi>x</mi></math>", "one"),
        Entry(2, "A part", "part"),
        Entry(0, "Last"),
        Entry(1, "List", "list"),
    ]
    pdf.add_outline(tmp_path / "a.pdf", entries, {"one": 2, "part": 3, "list": 5})
    reader = PdfReader(tmp_path / "a.pdf")

    def tree(items) -> list:
        return [
            tree(i) if isinstance(i, list) else (i.title, reader.get_destination_page_number(i) + 1)
            for i in items
        ]

    assert tree(reader.outline) == [
        ("First", 2),
        [("One & only x", 2), [("A part", 3)]],
        ("Last", 5),
        [("List", 5)],
    ]


# --- the book itself

LIGATURES = re.compile("[\ufb00-\ufb06]")


@pytest.fixture(scope="module")
def printed() -> PdfReader:
    """The strict build, printed beside it: a browser may be kept from other folders."""
    if not (SITE / "book").is_dir():
        missing("there is no built site: run `make strict` first")
    target = SITE.parent / "pdf" / "book.pdf"
    # a process of its own: one process cannot drive this browser and that of the other tests
    command = [sys.executable, "-m", "press.editions.pdf", "--site", SITE, "--into", target]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if "Korean letters" in done.stderr:
        pytest.skip(done.stderr.strip().splitlines()[-1])
    if "on this machine" in done.stderr:  # no browser
        missing(done.stderr.strip().splitlines()[-1])
    assert done.returncode == 0, done.stderr
    return PdfReader(target)


def letters(page) -> float:
    """The size that most letters of a page have, in points."""
    sizes = Counter()

    def see(text, place, line, font, size):
        sizes[round(size * abs(line[3] * place[3]), 1)] += len(text.strip())

    page.extract_text(visitor_text=see)
    return sizes.most_common(1)[0][0]


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.nightly
def test_the_printed_book(printed):
    """One test, since to print takes a while."""
    pages = printed.pages
    texts = [page.extract_text() for page in pages]  # takes its time
    assert 100 < len(pages) < 700
    parts = [some for some in printed.outline if isinstance(some, list)]
    chapters = [mark for some in parts for mark in some if not isinstance(mark, list)]
    marks = {mark.title: printed.get_destination_page_number(mark) for mark in chapters}  # from 0

    # each page of the book begins where its bookmark says, in the order of the book
    begins = []
    for _, names in listed()[1:]:
        for name in names:
            page = read(SITE, name)
            title = BeautifulSoup(headings(page)[0].title, "html.parser").get_text().strip()
            begins.append(marks[title])
            assert title in " ".join(texts[begins[-1]].split())
    assert begins == sorted(set(begins))

    # nothing is so wide that all was made smaller
    assert 9.5 < letters(pages[begins[0]]) < 11

    # words are found, whatever fonts this machine has
    assert LIGATURES.search("\n".join(texts)) is None

    # the contents name the same pages
    contents = "\n".join(texts[1 : begins[0]])
    for title in ("3. Learning to align", "Glossary", "Solutions"):
        assert re.search(rf"{re.escape(title)}\s+{marks[title] + 1}\b", contents)

    # Korean can be searched
    glossary = texts[marks["Glossary"] : marks["Troubleshooting"]]
    source = (ROOT / "book" / "glossary.md").read_text(encoding="utf8")
    korean = set(re.findall(r"[가-힣]{2,}", source))
    assert len(korean) > 20
    assert {word for word in korean if word not in "".join(glossary)} == set()

    # each link lands in its own chapter
    starts = sorted([*marks.values(), len(pages)])
    names = [name for _, some in listed()[1:] for name in some]
    first = dict(zip(names, begins))
    places = pdf.page_numbers(SITE.parent / "pdf" / "book.pdf")
    for place, number in places.items():
        start = max(one for one in starts if one < number)
        chapter = first.get(place.partition("--")[0], start)
        assert start in (chapter, marks["Solutions"]), place  # to which the solutions have moved
    assert len(places) > 500

    # no page is empty, no link leads to a file of this machine
    for number, page in enumerate(pages, 1):
        small = len(page.get_contents().get_data()) < SMALL
        assert not small or texts[number - 1].strip() != str(number), number
        for note in page.get("/Annots", []):
            address = note.get_object().get("/A", {}).get("/URI", "http")
            assert address.startswith("http")
