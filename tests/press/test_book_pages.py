"""press/extensions/book_pages.py in a small site: pictures that keep their place, and what a page
says of itself to search engines and where its link is shared."""

import html
import re
from types import SimpleNamespace

import pytest
from PIL import Image
from sphinx.application import Sphinx

from press.extensions import book_pages

ADDRESS = "https://someone.example/align/"
PAGE = """# A title of $x$

Short.

Here is a paragraph that only leads to what stands below it:

The first paragraph that tells *something*, of `<unk>` and more.

![one](a.png) ![two](b.svg) ![three](c.svg)
"""
SVG = '<svg xmlns="http://www.w3.org/2000/svg" {} viewBox="0 0 40.4 9.6"></svg>'


@pytest.fixture
def built(tmp_path):
    """A function that builds the page and returns its HTML."""

    def build(address: str = "") -> str:
        source = tmp_path / "source"
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
            "myst_enable_extensions": ["dollarmath"],
            "ogp_description_length": 0,
            "ogp_social_cards": {"image_mini": "a.png"},
        }
        places = [source, None, tmp_path / "html", tmp_path / "doctrees"]
        Sphinx(*places, "html", confoverrides=settings, status=None, warning=None).build()
        return (tmp_path / "html" / "index.html").read_text(encoding="utf8")

    return build


def tags(page: str) -> dict[str, str]:
    """What the head of a page says; each once."""
    found = re.findall(r'<meta (?:property|name)="([\w:]+)" content="([^"]*)"', page)
    assert len(dict(found)) == len(found)
    return {name: html.unescape(text) for name, text in found}


def test_pictures_say_their_size_and_all_but_the_first_wait(built):
    pictures = [dict(re.findall(r'(\w+)="(.*?)"', t)) for t in re.findall("<img [^>]*>", built())]
    shown = [(p["alt"], p["width"], p["height"], p.get("loading")) for p in pictures]
    lazy = "lazy"
    assert shown == [
        ("one", "30", "20", None),
        ("two", "40", "10", lazy),
        ("three", "54", "13", lazy),
    ]


def test_without_an_address_a_page_says_what_it_is_and_has_no_card(built, tmp_path):
    said = tags(built())
    told = "The first paragraph that tells something, of <unk> and more."
    assert (said["description"], said["og:description"]) == (told, told)
    assert said["og:site_name"] == "A book" and "og:image" not in said
    assert not list((tmp_path / "html").rglob("summary*"))


def test_with_an_address_a_page_has_a_card(built, tmp_path):
    said = tags(built(ADDRESS))
    assert said["og:url"] == f"{ADDRESS}index.html" and said["twitter:card"]
    card = said["og:image"].removeprefix(ADDRESS)
    with Image.open(tmp_path / "html" / card) as picture:
        assert picture.size[0] > 1_000 and len(picture.getcolors(1 << 24)) > 10  # letters, a mark


@pytest.mark.parametrize("address", ["", "https://github.com/someone/somewhere"])
def test_buttons_lead_to_the_books_address_or_to_how_to_give_it_one(address):
    options = {"repository_url": address}
    config = SimpleNamespace(html_theme_options=options, site_words={})
    book_pages.choose_buttons(None, config)  # those that the theme makes
    assert options["use_edit_page_button"] == bool(options["launch_buttons"]) == bool(address)
    env = SimpleNamespace(found_docs={book_pages.HELP}, doc2path=lambda name: f"{name}.ipynb")
    context = {"header_buttons": [], "pathto": lambda name: f"../{name}.html"}
    app = SimpleNamespace(config=config, env=env)
    book_pages.add_buttons(app, "book/primer", "page.html", context, object())
    ours = [button["url"] for button in context["header_buttons"]]
    assert ours == ([] if address else ["../book/publish.html"] * 2)
