"""The way out of jupyter-book 1: what a difference between two builds is, and what goes."""

import pytest

from press.run import plain_sphinx

PAGE = '<nav>{menu}</nav><article class="bd-article"><h1>One</h1><p>{text}</p></article>'


@pytest.fixture
def site(tmp_path):
    """Writes pages as a theme does; returns their words."""

    def write(name: str, **pages: str) -> dict[str, str]:
        (tmp_path / name / "book").mkdir(parents=True)
        for page, text in pages.items():
            html = PAGE.format(menu=name, text=text)
            (tmp_path / name / "book" / f"{page}.html").write_text(html)
        return plain_sphinx.texts(tmp_path / name)

    return write


def test_a_page_that_differs_or_lacks_is_named_and_the_frame_around_it_is_not(site):
    one = site("one", same="A <b>word</b>.", other="A word.", more="A word.")
    two = site("two", same="A <b>word</b>.", other="A world.")
    found = plain_sphinx.differences(one, two)
    assert found == [
        "book/more.html is on one side only",
        "book/other.html: ...One A word.... is ...One A world....",
    ]
    assert plain_sphinx.differences(one, one) == []


def test_a_page_that_ends_early_differs(site):
    one, two = site("one", page="A word and another"), site("two", page="A word")
    assert len(plain_sphinx.differences(one, two)) == 1


def test_only_jupyter_books_own_extensions_go():
    before = (
        "extensions = ['sphinx_thebe', 'myst_nb', 'jupyter_book', 'sphinx_comments', 'press.x']"
    )
    assert plain_sphinx.plain(before) == "extensions = ['myst_nb', 'press.x']"
