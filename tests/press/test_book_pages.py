"""press/extensions/book_pages.py in a small site: pictures that keep their place, what a page says
of itself to search engines and where its link is shared, and the ways to other pages."""

import html
import re
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pytest
from bs4 import BeautifulSoup
from docutils.core import publish_doctree
from PIL import Image
from sphinx.application import Sphinx

from press.contents import ROOT
from press.extensions.book_pages import add_run, fold_parts, mark_verdicts, number_by_page

ADDRESS = "https://someone.example/align/"
PAGE = """# A title of $x$

Short.

Here is a paragraph that only leads to what stands below it:

The first paragraph that tells *something*, of `<unk>` and more.

![one](a.png) ![two](b.svg) ![three](c.svg)

| verdict | claim |
|---|---|
| same sign; trials: one side | It helps: +1.3 (−0.2 to +2.8), 92.1 (1 seed) |
"""
SVG = '<svg xmlns="http://www.w3.org/2000/svg" {} viewBox="0 0 40.4 9.6"></svg>'


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A function that builds the page, and returns its HTML and its folder."""

    @cache
    def build(address: str = "") -> tuple[str, Path]:
        folder = tmp_path_factory.mktemp("built")
        source = folder / "source"
        source.mkdir()
        (source / "_config.yml").write_text('repository:\n  url: ""\n  branch: main\n')
        (source / "index.md").write_text(PAGE)
        Image.new("RGB", (30, 20)).save(source / "a.png")
        (source / "b.svg").write_text(SVG.format(""))
        (source / "c.svg").write_text(SVG.format('width="40.4pt" height="9.6pt"'))
        settings = {
            "extensions": [
                "myst_parser",
                "sphinx.ext.autodoc",
                "sphinxext.opengraph",
                "press.extensions.languages",
                "press.extensions.book_pages",
            ],
            "source_suffix": {".md": "markdown"},  # Sphinx keeps its default from app to app
            "html_title": "A book",
            "html_baseurl": address,
            "html_additional_pages": {"404": "404.html"},
            "templates_path": [str(ROOT / "book" / "_templates")],
            "myst_enable_extensions": ["dollarmath"],
            "ogp_description_length": 0,
            "ogp_social_cards": {"image_mini": "a.png"},
        }
        places = [source, None, folder / "html", folder / "doctrees"]
        Sphinx(*places, "html", confoverrides=settings, status=None, warning=None).build()
        return (folder / "html" / "index.html").read_text(encoding="utf8"), folder / "html"

    return build


def tags(page: str) -> dict[str, str]:
    """What the head of a page says; each once."""
    found = re.findall(r'<meta (?:property|name)="([\w:]+)" content="([^"]*)"', page)
    assert len(dict(found)) == len(found)
    return {name: html.unescape(text) for name, text in found}


def test_pictures_say_their_size_and_all_but_the_first_wait(built):
    page, _ = built()
    pictures = [dict(re.findall(r'(\w+)="(.*?)"', t)) for t in re.findall("<img [^>]*>", page)]
    shown = [(p["alt"], p["width"], p["height"], p.get("loading")) for p in pictures]
    lazy = "lazy"
    assert shown == [
        ("one", "30", "20", None),
        ("two", "40", "10", lazy),
        ("three", "54", "13", lazy),
    ]


def test_without_an_address_a_page_says_what_it_is_and_has_no_card(built):
    page, folder = built()
    meta = tags(page)
    text = "The first paragraph that tells something, of <unk> and more."
    assert (meta["description"], meta["og:description"]) == (text, text)
    assert meta["og:site_name"] == "A book" and "og:image" not in meta
    assert not list(folder.rglob("summary*"))


def test_with_an_address_a_page_has_a_card(built):
    page, folder = built(ADDRESS)
    meta = tags(page)
    assert meta["og:url"] == f"{ADDRESS}index.html" and meta["twitter:card"]
    card = meta["og:image"].removeprefix(ADDRESS)
    with Image.open(folder / card) as picture:
        assert picture.size[0] > 1_000 and len(picture.getcolors(1 << 24)) > 10  # letters, a mark


def test_links_of_the_page_for_lost_addresses_begin_at_the_top(built):
    for address, base in (("", "/"), (ADDRESS, ADDRESS)):
        page = (built(address)[1] / "404.html").read_text(encoding="utf8")
        assert BeautifulSoup(page, "html.parser").base["href"] == base
        assert page.index("<base") < page.index("<link") and "Page not found" in page


def test_a_verdict_is_a_badge_of_its_word(built):
    verdict = BeautifulSoup(built()[0], "html.parser").table.td
    assert verdict.text.strip() == "same sign trials: one side"
    assert verdict.span["class"] == ["verdict", "same-sign"] and verdict.span.text == "same sign"


def test_in_a_table_an_interval_stays_on_its_line(built):
    whole = BeautifulSoup(built()[0], "html.parser").table.select(".unbroken")
    assert [one.text for one in whole] == ["(−0.2 to +2.8)", "(1 seed)"]


def test_figures_of_a_page_outside_the_chapters_count_from_one():
    chapter = {"figure": {"a": (3, 1), "b": (3, 2)}}
    page = {"figure": {"d": (5,), "e": (6,)}, "exercise": {"f": (3,)}}
    env = SimpleNamespace(toc_fignumbers={"three": chapter, "how": page})
    assert number_by_page(None, env) == []
    assert chapter == {"figure": {"a": (3, 1), "b": (3, 2)}}
    assert page == {"figure": {"d": (1,), "e": (2,)}, "exercise": {"f": (3,)}}


def test_a_notebooks_table_of_verdicts_is_folded_as_a_whole():
    lines = ["======= =====", "verdict claim", "======= =====", "waiting It", "======= ====="]
    page = publish_doctree("\n".join(lines))
    app = SimpleNamespace(env=SimpleNamespace(doc2path="{}.ipynb".format))
    mark_verdicts(app, page, "evidence")
    opened, table, closed = page.children
    assert table["classes"] == ["verdicts"] and not opened["classes"]
    assert "1 rows" in opened.astext() and closed.astext() == "</details>"


def run_links(address: str) -> list[str]:
    """Where the links of *Run this chapter* lead."""
    theme = {"repository_url": address, "repository_branch": "course"} if address else {}
    app = SimpleNamespace(
        config=SimpleNamespace(html_theme_options=theme, site_words={}),
        srcdir=ROOT,
        env=SimpleNamespace(doc2path=lambda name: f"/site/{name}.ipynb"),
    )
    context = {"body": "<h1>One</h1>\n<h1>Two</h1>", "sourcename": "book/one.ipynb"}
    context["pathto"] = lambda name, resource: f"../{name}"
    add_run(app, "book/one", "page.html", context, doctree=object())
    soup = BeautifulSoup(context["body"], "html.parser")
    assert soup.h1.find_next_sibling() is soup.details and len(soup("details")) == 1
    assert "jupyter lab book/one.ipynb" in soup.details.get_text()
    return [link["href"] for link in soup.details("a")]


@pytest.mark.parametrize("address", ["", "https://gitlab.com/someone/align"])
def test_a_chapter_without_an_address_at_github_leads_only_to_its_notebook(address):
    assert run_links(address) == ["../_sources/book/one.ipynb"]


@pytest.mark.parametrize("end", ["", "/", ".git"])
def test_a_chapter_with_an_address_leads_to_what_runs_it(end):
    branch = "someone/align/blob/course/book/one.ipynb"
    assert run_links(f"https://github.com/someone/align{end}") == [
        "../_sources/book/one.ipynb",
        f"https://colab.research.google.com/github/{branch}",
        f"https://kaggle.com/kernels/welcome?src=https://github.com/{branch}",
        "https://codespaces.new/someone/align/tree/course",
    ]


def test_the_first_parts_of_the_sidebar_are_open_and_what_folds_has_a_name():
    below = "<li class='toctree-l1'><a>1. One</a><details><summary></summary></details></li>"
    part = f"<li class='toctree-l0'><details>{below}</details></li>"
    made = BeautifulSoup(3 * part, "html.parser")
    context = {"generate_toctree_html": lambda kind: made}
    fold_parts(None, "a", "page.html", context, None)
    shown = context["generate_toctree_html"]("sidebar")("details")
    assert ["open" in one.attrs for one in shown] == [True, False, True, False, False, False]
    assert [summary["aria-label"] for summary in made("summary")] == 3 * ["1. One"]
