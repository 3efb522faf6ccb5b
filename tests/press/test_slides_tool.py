"""What goes on a slide and what into its notes, without a browser (that is `test_slides.py`)."""

import re

import nbformat
import pytest
from bs4 import BeautifulSoup
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from sphinx.application import Sphinx

from attnmt.book.figures.forest import forest, label
from attnmt.evidence.claims import load_claims
from attnmt.evidence.verdicts import Row
from press import reading
from press.editions import catalogue, slides

PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="
)


def md(source, kind="slide", **metadata):
    if kind:
        metadata["slideshow"] = {"slide_type": kind}
    return new_markdown_cell(source, metadata=metadata)


def code(source, *outputs, kind="fragment", **metadata):
    if kind:
        metadata["slideshow"] = {"slide_type": kind}
    return new_code_cell(source, outputs=list(outputs), metadata=metadata)


def printed(text):
    return new_output("stream", name="stdout", text=text)


def displayed(**data):
    return new_output("display_data", {f"{k.replace('_', '/')}": v for k, v in data.items()})


SETTINGS = {
    "extensions": [
        "myst_nb",
        "sphinx_exercise",
        "press.extensions.formulas",
        "press.extensions.languages",
        "press.extensions.live",
        "press.extensions.notebooks",
        "press.editions.slides",
    ],
    "myst_enable_extensions": ["amsmath", "colon_fence", "dollarmath"],
    "html_math_renderer": "mathml",
    "html_theme": "basic",
    "nb_execution_mode": "off",
    "nb_merge_streams": True,
    "nb_render_markdown_format": "myst",
    "source_suffix": {".md": "myst-nb", ".ipynb": "myst-nb"},
}


@pytest.fixture(scope="module")
def app(tmp_path_factory) -> Sphinx:
    """A book that has one page, read anew for every deck."""
    folder = tmp_path_factory.mktemp("book")
    (folder / "index.md").write_text("# Index\n")
    app = Sphinx(folder, None, folder / "out", folder / "read", "html", confoverrides=SETTINGS)
    app.build()
    return app


@pytest.fixture
def deck(app):
    """A function that makes a deck of cells; a title comes first."""

    def make(*cells) -> slides.Deck:
        notebook = new_notebook(cells=[md("# A title\n\nIt begins."), *cells])
        nbformat.write(notebook, app.srcdir / "x.ipynb")
        app.env.project.discover()
        app.builder.read_doc("x")
        doctree = app.env.get_and_resolve_doctree("x", app.builder)
        app.builder.post_process_images(doctree)
        made = slides.Deck(app.builder, notebook.cells)
        made.read(doctree)
        made.path = app.srcdir / "x.ipynb"
        made.page = lambda: app.builder.render_partial(doctree)["fragment"]
        return made

    return make


def shown(slide) -> str:
    return "".join(slide.shown)


def notes(slide) -> str:
    return "".join(slide.notes)


def text_of(html: str) -> str:
    return re.sub("<[^>]+>", "", html)


def packed(text: str) -> str:
    return re.sub(r"\s", "", text)


SOURCE = '```python\ndef f(x):\n    """Doc\n    string."""\n    return x  # (B, n)\n```'
CODE = "def f(x):\n    return x  # (B, n)"
SOLVED = (
    ":::{exercise} Do $x$\n:label: a\n\nWork.\n:::\n\n:::{solution-start} a\n:::\n\nWork."
    "\n\n:::{solution-end}\n:::"
)


@pytest.mark.parametrize(
    ("cell", "seen", "spoken", "unseen"),
    [
        (
            md("It is so. **Is it?** Of *course*.", "fragment"),
            "Is it?",
            "It is so. Is it?",
            "It is",
        ),
        (md("It keeps <!--n-->19%<!--/--> of it.", None), "", "It keeps 19% of it.", "19%"),
        (md("- one\n- two", "subslide"), "onetwo", "", "not there"),
        (md("- one\n- two", None), "", "onetwo", "one"),
        (md("Not a word.", "skip"), "", "", "Not"),
        (md("$$\na = b\n$$", "fragment"), "a=b", "", "not there"),
        (md(SOLVED, None), "", "", "Work"),
        (code("f()", printed("1\n2")), "1\n2", "", "f()"),
        (code("f()", printed("1\n2"), tags=["slide-code"]), "f()1\n2", "", "not there"),
        (code("f()", displayed(text_markdown=SOURCE)), CODE, "", "Doc"),
        (code("f()", displayed(text_markdown="*It says:* **A.**")), "It says: A.", "", "f()"),
        (md(":::{div} symbols\n$B$: a batch\n:::", None), "", "", "batch"),
        (code("import sys", printed("1\n2"), tags=["remove-cell"]), "", "", "2"),
    ],
)
def test_a_cells_slide_type_says_what_is_shown_and_what_is_said(deck, cell, seen, spoken, unseen):
    made = deck(md("## S\n\n- first"), cell)
    on, in_notes = (packed(text_of("".join(map(part, made.slides[1:])))) for part in (shown, notes))
    assert packed(seen) in on and packed(spoken) in in_notes and packed(unseen) not in on
    assert spoken or in_notes == ""


def test_what_is_said_keeps_its_order_and_nothing_is_lost(deck):
    made = deck(
        md("## One\n\nA a.\n\n- x\n\nB b.\n\n### Part\n\nC c."),
        md("D d.", None),
        md("- y"),
        md("E e."),
    )
    assert [re.findall(r"[A-E] [a-e]", notes(slide)) for slide in made.slides[1:]] == [
        ["A a", "B b"],
        ["C c", "D d", "E e"],
    ]
    assert [(slide.title, slide.above) for slide in made.slides[1:]] == [
        ("One", ""),
        ("Part", "One"),
    ]


def test_a_slide_has_one_large_thing_and_a_fragment_is_a_step_on_it(deck):
    made = deck(
        md("## S\n\n**Why?**\n\n$$\na\n$$"), code("f()", printed("1")), md("- x", "fragment")
    )
    assert ["fragment" in one for one in made.slides[1].shown] == [False, False, True]
    assert [len(slide.shown) for slide in made.slides[1:]] == [3, 1]
    assert "fragment" not in shown(made.slides[2])


@pytest.mark.parametrize("form", ["{}", "<!--\n{}\n-->"])
def test_a_cell_that_only_the_slides_have_is_not_on_the_page(deck, form):
    text = "## A slide\n\nAll its words, see {doc}`index`."
    only = md(form.format(text), None, tags=["slide-only"])
    made = deck(md("## S\n\n- a"), only, code("f()", displayed(image_png=PIXEL)))
    assert made.slides[-1].title == "A slide"
    assert "All its words, see Index." in text_of(shown(made.slides[-1]))
    assert "<img" in shown(made.slides[-1])  # what comes after it has its title
    assert only.source not in [cell.source for cell in reading.body_cells(made.path)]
    page = made.page()
    assert "All its words" not in page and "A slide" not in page and "<li>" in page


def test_a_title_in_a_cells_metadata_is_that_of_what_comes_after_it(deck):
    picture = displayed(image_png=PIXEL)
    titled, step, said = code("f()", picture), code("g()", picture), md("It *is*.", None)
    titled.metadata["slideshow"] |= {"title": "What $x$ is", "text": "Blue: *x*."}
    said.metadata["slideshow"] = {"title": "Next"}
    made = deck(md("## S\n\n- a"), titled, md("So said.", None), said, step, md("## T\n\n- b"))
    assert [text_of(slide.title) for slide in made.slides[1:]] == ["S", "What x is", "Next", "T"]
    assert "<math" in made.slides[2].title and "Blue: <em>x</em>." in made.slides[2].shown[0]
    assert ["fragment" in one for one in made.slides[2].shown] == [False, True]
    assert text_of(notes(made.slides[2])) == "So said."
    assert text_of(notes(made.slides[3])) == "It is." and len(made.slides[3].shown) == 1
    assert not {"What", "Blue", "Next"} & set(re.findall(r"\w+", text_of(made.page())))


def test_a_picture_that_is_a_step_lies_on_the_one_before(deck):
    picture = displayed(image_png=PIXEL)
    made = deck(md("## S"), code("f()", picture, kind="slide"), code("g()", picture))
    (slide,) = made.slides[1:]
    assert ["over fragment" in one for one in slide.shown] == [False, True]


def test_each_part_of_a_picture_has_its_slide_and_nothing_else(deck):
    both = code("f()", printed("1"), displayed(image_png=PIXEL))
    both.metadata["slideshow"]["parts"] = ["0 0 .5 1", ".5 0 1 1"]
    made = deck(md("## S"), both)
    assert [re.findall('data-part="(.*?)"', shown(slide)) for slide in made.slides[1:]] == [
        ["0 0 .5 1"],
        [".5 0 1 1"],
    ]
    assert "output" not in "".join(map(shown, made.slides))


SIGNED = "nrefs:1|case:lc|eff:no|tok:13a|smooth:exp|version:2.6.0"


def test_a_score_has_the_signature_that_was_printed_last(deck):
    table = "## {}\n\n| system | BLEU |\n|---|---|\n| a | 1.0 |"
    made = deck(
        md(table.format("Toy")),
        md("## S\n\n- a"),
        code("f()", printed(f"BLEU 1\nBLEU 2\n{SIGNED}")),
        md(table.format("T")),
        md(table.format("U").replace("BLEU", "AER")),
    )
    signatures = [slide.signature for slide in made.slides[1:]]
    assert signatures == ["", "", SIGNED, SIGNED, ""]
    assert SIGNED not in "".join(map(shown, made.slides))  # it stands below


def test_a_forest_plot_is_cut_between_its_claims(deck):
    """Each part has the axis and the key again, and its caption is said once."""
    some = load_claims().claims
    rows = [Row(claim, None, missing="no run") for claim in some if claim.metric in ("bleu", "aer")]
    about = {"figure": {"caption": "Circles: ours."}}
    plot = displayed(text_html=forest(rows)._repr_html_())
    made = deck(md("## S"), code("forest(rows)", plot, mystnb=about), md("Only said."))
    soups = [BeautifulSoup(shown(slide), "html.parser") for slide in made.slides[1:]]
    names = [claim.text for soup in soups for claim in soup.find_all(role="rowheader")]
    assert names == [
        label(row) for unit in ("bleu", "aer") for row in rows if row.claim.metric == unit
    ]
    assert len(soups) > 5
    for soup in soups:
        assert len(soup.select("[role=table] [role=columnheader].axis")) == 1
        assert soup.style and soup.p.get_text().split()[:2] == ["the", "paper"]
    assert "".join(map(notes, made.slides)).count("Circles: ours.") == 1


def test_two_inline_pictures_do_not_share_names(deck):
    svg = '<svg viewBox="0 0 9 9"><clipPath id="c"/><g clip-path="url(#c)"/></svg>'
    made = deck(md("## S"), *[code("f()", displayed(text_html=svg)) for _ in range(2)])
    names = re.findall(r'id="([^"]+)"', "".join(map(shown, made.slides)))
    assert len(set(names)) == 2
    assert all(f"url(#{name})" in "".join(map(shown, made.slides)) for name in names)


def test_a_long_table_goes_on_under_its_head(deck):
    rows = "".join(f"| claim {i} {'long ' * 20}| {i} | holds |\n" for i in range(12))
    made = deck(md(f"## Claims\n\n| claim | measured here | verdict |\n|---|---|---|\n{rows}"))
    text = "".join(map(shown, made.slides[1:]))
    assert len(made.slides) > 2 and text.count("<thead>") == len(made.slides) - 1
    assert [int(number) for number in re.findall(r"claim (\d+)", text)] == list(range(12))


def test_a_training_stands_on_a_slide_with_its_question_and_runs_there(deck):
    made = deck(md("## W\n\n**Which?**\n\n:::{learn} copy\n:score: dot(q, k)\nPress *Train*.\n:::"))
    (slide,) = made.slides[1:]
    assert shown(slide).index("Which?") < shown(slide).index("learn-options")
    assert shown(slide).count("<svg") == 2  # the still
    assert "Press" in notes(slide)
    html = slides.page(made, "x", None)
    assert "_static/live/page.mjs" in html and "_static/live/see.css" in html


def test_slides_have_all_steps_of_a_figure(deck):
    steps = ":::{stepper}\n:equation: c = \\step{1}{h}\n\n**One.**\n\n**Two.** And more.\n:::"
    (slide,) = deck(md(f"## S\n\n{steps}")).slides[1:]
    assert "One." in shown(slide) and "currentScript" not in shown(slide)
    assert "Two. And more." in text_of(notes(slide))


def test_korean_slides_say_so_and_keep_particles_in_their_line(deck):
    made = deck(md("## 어텐션\n\n**점수 $x$는 하나입니다.**"))
    english = slides.page(made, "x", 3)
    assert '<html lang="en">' in english and "unbroken" not in english
    made.words = catalogue.table()
    html = slides.page(made, "x", 3, "ko")
    assert '<html lang="ko">' in html and ": 슬라이드</title>" in html
    assert "3장" in html and "이 장으로" in html and "Chapter" not in html
    assert re.search(r'"unbroken"><span class="math.*</span>\u2060는', html)
