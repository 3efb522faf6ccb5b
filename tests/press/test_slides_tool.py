"""What goes on a slide and what into its notes, without a browser (that is `test_slides.py`)."""

import re

import nbformat
import pytest
from bs4 import BeautifulSoup
from docutils import nodes
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from sphinx.application import Sphinx

from attnmt.book.figures.forest import forest, label
from attnmt.book.live.glosses import gloss
from attnmt.evidence.claims import load_claims
from attnmt.evidence.verdicts import Row
from press.editions import korean, slides
from press.extensions.formulas import mathml

PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="
)


def md(source):
    return new_markdown_cell(source)


def code(source, *outputs, kind=None, **metadata):
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
    ],
    "myst_enable_extensions": ["amsmath", "colon_fence", "dollarmath"],
    "html_math_renderer": "mathml",
    "html_theme": "basic",
    "nb_execution_mode": "off",
    "nb_merge_streams": True,
    "nb_render_markdown_format": "myst",
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
        made = slides.Deck(app.builder)
        made.read(doctree)
        return made

    return make


def shown(slide) -> str:
    return "".join(item.html for item in slide.items)


def notes(slide) -> str:
    return "".join(item.notes for item in slide.items)


def text_of(html: str) -> str:
    return re.sub("<[^>]+>", "", html)


# --- the rule

GLOSS = gloss("Der Hund schläft .", "the dog sleeps", "The dog sleeps.")._repr_html_()
LONG = "- a\n- " + "One two three four five. " * 9
TABLE = "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 20
SOURCE = '```python\ndef f(x):\n    """Doc\n    string."""\n    return x  # (B, n)\n```'
CODE = "def f(x):\n    return x  # (B, n)"
LONG_SOURCE = "```python\n" + "\n\n".join(f"x{i} = {i}" for i in range(60)) + "\n```"
BY_HAND = "def f_by_hand(\n    a,\n):\n    return a"
TEX = "\\begin{aligned} a &= b, \\qquad c \\end{aligned}"


@pytest.mark.parametrize(
    ("cells", "seen", "said", "unseen"),
    [
        (["**It keeps <!--n-->19%<!--/--> of it.**"], "It keeps 19% of it.", "19%", "not there"),
        (["**Lead.** More. And the rest."], "Lead. More.", "And the rest.", "rest"),
        (["Only said."], "", "Only said.", "Only"),
        (["- one\n- two"], "onetwo", "", "not there"),
        ([LONG], "One two three four five.", "One two three four five. " * 8, "five. " * 8),
        ([code("x", displayed(text_html=GLOSS))], GLOSS, "", "not there"),
        ([code("x", displayed(text_html="<p>no</p>"))], "", "", "no"),
        ([f"$$\n{TEX}\n$$"], mathml(TEX, display=True), "", "not there"),
        (["First. It prints:", code("f()", printed("1\n2"))], "It prints:1\n2", "First.", "First"),
        (
            ["It prints:", code("f()", printed("x\n" * 40)), code("g()", printed("1\n2"))],
            "1\n2",
            "It prints:",
            "It prints",
        ),
        (
            [code("f()", printed("1\n2")), "A is a small number. And so on."],
            "1\n2A is a small number.",
            "",
            "And",
        ),
        ([code("f()", printed("alone"))], "", "", "alone"),
        ([code("f()", printed("x\n" * 13))], "", "", "x"),
        ([code("f()", printed("wide " * 20 + "\nwide"))], "", "", "wide"),
        ([code("f()", printed("alone"), kind="subslide")], "alone", "", "not there"),
        ([code("f()", printed("x\n" * 13), kind="subslide")], "x\nx\nx", "", "not there"),
        ([code("f()", printed("1\n2"), kind="skip")], "", "", "2"),
        ([code("import sys", printed("1\n2"), tags=["remove-cell"])], "", "", "2"),
        ([code("f()", displayed(text_markdown=SOURCE))], CODE, "", "Doc"),
        ([code("f()", displayed(text_markdown=LONG_SOURCE))], "", "", "x1"),
        ([code(f"x = 1\n\n\n{BY_HAND}\n\n\ny = 1")], BY_HAND, "", "= 1"),
        ([code("f()", displayed(text_markdown=TABLE))], "", "", "2"),
    ],
)
def test_what_is_shown_and_what_is_said(deck, cells, seen, said, unseen):
    """Below a heading: on its slides, and in their notes."""
    made = deck(md("## S\n\n- first"), *[md(c) if isinstance(c, str) else c for c in cells])
    on, in_notes = ("".join(map(part, made.slides[1:])) for part in (shown, notes))
    assert seen in (on if seen.startswith("<") else text_of(on))
    assert said in text_of(in_notes)
    assert unseen not in text_of(on)
    assert "<!--" not in on + in_notes


def test_what_stands_under_a_smaller_heading_names_the_larger(deck):
    made = deck(md("## One\n\n- a\n\n### Part\n\n- b"))
    assert [(slide.title, slide.above) for slide in made.slides[1:]] == [
        ("One", ""),
        ("Part", "One"),
    ]


def test_a_heading_with_nothing_to_show_is_no_slide(deck):
    made = deck(
        md("## One\n\nSaid before.\n\n### Part\n\n- b\n\n## Last\n\nSaid after.\n\n## End\n\n- c")
    )
    titles = [slide.title for slide in made.slides[1:]]
    assert titles == ["Part", "End"]
    assert "Said before" in notes(made.slides[1]) and "Said after" in notes(made.slides[1])


def test_what_is_said_keeps_its_order(deck):
    made = deck(md("## O\n\n- a\n\n## One\n\nFirst.\n\n### A\n\nSecond.\n\n### B\n\n- b\n\nThird."))
    assert [slide.title for slide in made.slides[1:]] == ["O", "B"]
    assert re.findall("First|Second|Third", notes(made.slides[-1])) == ["First", "Second", "Third"]


def test_nothing_at_the_end_is_lost(deck):
    made = deck(md("## One\n\n- a\n\n## End\n\nLast words."))
    assert "Last words" in notes(made.slides[-1]) and made.slides[-1].title == "One"
    almost_empty = deck(code("1"), md("## S\n\nWords.")).slides
    assert [slide.title for slide in almost_empty] == ["A title"]
    assert "Words." in notes(almost_empty[0])


def test_the_title_slide_has_the_first_sentence_and_no_list(deck):
    made = deck(md("You will be able to\n\n- do it"))
    title, goals = made.slides
    assert "It begins." in shown(title) and "<li>" not in shown(title)
    assert "You will be able to" in shown(goals) and "<li>do it</li>" in shown(goals)


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
    signatures = {slide.title: slide.signature for slide in made.slides[1:]}
    assert signatures == {"Toy": "", "S": SIGNED, "T": SIGNED, "U": ""}
    assert SIGNED not in shown(made.slides[2])  # it is no output to look at, but stands below


def test_a_list_that_is_whole_on_the_slide_is_not_repeated_in_the_notes(deck):
    assert "<li>" not in notes(deck(md("## S\n\n- a\n- b")).slides[-1])


def test_a_picture_has_its_alt_text_and_a_short_caption(deck):
    about = {"figure": {"caption": "Short. " + "Long " * 40}, "image": {"alt": 'A "dot"'}}
    made = deck(md("## S"), code("plot()", displayed(image_png=PIXEL), mystnb=about))
    assert 'alt="A &quot;dot&quot;"' in shown(made.slides[-1])
    assert "Short." in shown(made.slides[-1]) and "Long" not in shown(made.slides[-1])
    assert "Long" in notes(made.slides[-1])


def test_a_forest_plot_is_cut_between_its_claims(deck):
    """Each part has the axis and the key again, and its caption is said once."""
    some = load_claims().claims
    rows = [Row(claim, None, missing="no run") for claim in some if claim.metric in ("bleu", "aer")]
    about = {"figure": {"caption": "Circles: ours."}}
    plot = displayed(text_html=forest(rows)._repr_html_())
    made = deck(md("## S"), code("forest(rows)", plot, mystnb=about), md("Only said."))
    parts = [item for slide in made.slides[1:] for item in slide.items if "forest" in item.html]
    soups = [BeautifulSoup(part.html, "html.parser") for part in parts]
    shown = [claim.text for soup in soups for claim in soup.find_all(role="rowheader")]
    order = [label(row) for unit in ("bleu", "aer") for row in rows if row.claim.metric == unit]
    assert shown == order
    assert len(parts) > 5
    for part, soup in zip(parts, soups, strict=True):
        assert part.height <= slides.ROOM
        assert len(soup.select("[role=table] [role=columnheader].axis")) == 1
        assert soup.style and soup.p.get_text().split()[:2] == ["the", "paper"]
    assert "".join(map(notes, made.slides)).count("Circles: ours.") == 1


def test_two_inline_pictures_do_not_share_names(deck):
    svg = '<svg viewBox="0 0 9 9"><clipPath id="c"/><g clip-path="url(#c)"/></svg>'
    made = deck(md("## S"), *[code("f()", displayed(text_html=svg)) for _ in range(2)])
    names = re.findall(r'id="([^"]+)"', "".join(map(shown, made.slides)))
    assert len(set(names)) == 2
    assert all(f"url(#{name})" in "".join(map(shown, made.slides)) for name in names)


def test_a_table_of_long_rows_is_split(deck):
    rows = "".join(f"| claim {i} {'long ' * 20}| {i} | holds |\n" for i in range(12))
    table = f"| claim | measured here | verdict |\n|---|---|---|\n{rows}"
    made = deck(md("## Claims"), code("table()", displayed(text_markdown=table)))
    text = "".join(map(shown, made.slides[1:]))
    assert len(made.slides) > 2 and text.count("<thead>") == len(made.slides) - 1
    assert [int(number) for number in re.findall(r"claim (\d+)", text)] == list(range(12))


def test_exercises_are_titles_and_solutions_nothing(deck):
    text = (
        ":::{exercise} Do $x$\n:label: a\n\nWork.\n:::\n\n:::{solution-start} a\n:::\n\nThe answer"
        "\n\n:::{solution-end}\n:::"
    )
    made = deck(
        md("## Exercises\n\n" + text), code("print(42)", printed("42\n42")), md("## Next\n\n- b")
    )
    whole = "".join(shown(slide) + notes(slide) for slide in made.slides)
    assert re.search(rf'<li>Do <span class="math[^>]*>{mathml("x")}</span></li>', whole)
    assert made.slides[-1].title == "Next"
    assert not re.search("Work|answer|42", whole)


def test_a_cell_may_begin_a_slide_and_show_its_code(deck):
    made = deck(md("## S\n\n- a"), code("y = 1", kind="subslide"))
    assert [slide.title for slide in made.slides[1:]] == ["S", "S"]
    assert "<code>" in shown(made.slides[2])
    assert len(deck(md("## S\n\n- a"), code("y = 1")).slides) == 2


# --- sentences and parts


def test_parts_are_few_whole_and_level():
    heights = [100.0] * 7
    found = slides.parts(heights, 300)
    assert [number for part in found for number in range(7)[part]] == list(range(7))
    assert [len(heights[part]) for part in found] == [3, 3, 1]
    assert [len(heights[part]) for part in slides.parts(heights, 400)] == [4, 3]
    assert slides.parts([500.0], 300) == [slice(0, 1)]


# --- time


def test_minutes_count_what_is_said_and_what_is_looked_at(deck):
    words = "word " * 280 + "end."
    made = deck(md(f"## S\n\n- a\n\n{words}"))
    assert made.slides[-1].minutes == 2
    with_picture = deck(md(f"## S\n\n- a\n\n{words}"), code("f()", displayed(image_png=PIXEL)))
    seconds = sum(item.seconds for slide in with_picture.slides for item in slide.items)
    before = sum(item.seconds for slide in made.slides for item in slide.items)
    assert seconds == pytest.approx(before + slides.LOOK["picture"])


def test_no_word_is_counted_twice_or_lost(deck):
    made = deck(md("## S\n\n**One two.** Three four:\n\n- five six\n\nSeven eight."))
    said = sum(item.seconds for slide in made.slides for item in slide.items) * slides.SPOKEN
    assert said == pytest.approx(2 + 2 + 2 + 2 + 2)


def test_the_first_notes_sum_the_deck_and_say_where_to_break(deck):
    talk = "word " * 140 * 12 + "end."
    made = deck(*[md(f"## Part {n}\n\n- a\n\n{talk}") for n in range(8)])
    assert f"{len(made.slides)} slides, {made.minutes:g} min" in slides.summary(made)
    assert "2 lessons; begin the next one with “Part 4”" in slides.summary(made)
    assert "lessons" not in slides.summary(deck(md("## S\n\n- a")))


def paragraph(text: str) -> list[nodes.Node]:
    """Text in which *** stands around bold words, and $ around a formula."""
    kinds = {"*": nodes.strong, "$": nodes.math}
    found = []
    for piece in re.findall(r"\*[^*]+\*|\$[^$]+\$|[^*$]+", text):
        kind = kinds.get(piece[0])
        found.append(kind("", piece[1:-1]) if kind else nodes.Text(piece))
    return found


def test_sentences_keep_formulas_and_bold_words_whole():
    text = "See $a. B$. *Bold. Words.* It is 3.1\nlong. (An aside.) $x$ ends."
    found = [slides.plain(sentence) for sentence in slides.sentences(paragraph(text))]
    assert found == ["See a. B.", "Bold. Words.", "It is 3.1 long.", "(An aside.)", "x ends."]


def test_a_text_is_cut_between_sentences():
    def cut(text, most):
        return slides.plain(slides.shorten(paragraph(text), most))

    assert cut("*One two three four.* Five. Six.", 4) == "One two three four. Five."
    assert cut("A b c d e f g. Two.", 8) == "A b c d e f g. Two."
    assert cut("A b c d e f g. Two.", 7) == "A b c d e f g."
    short_first = "One. " + "Two " * 11 + "three."
    assert cut(short_first, 10) == short_first  # one word alone says too little
    assert cut(short_first, 9) == "One."


def test_a_training_is_a_slide_with_its_question_and_runs_there(deck):
    made = deck(
        md(
            "## Watch it\n\nIt learns. **Which square turns dark?**\n\n"
            ":::{learn} copy\n:score: dot(q, k)\nPress *Train*.\n:::"
        )
    )
    (slide,) = [slide for slide in made.slides if "learn-options" in slide.shown]
    assert slide.title == "Watch it"
    assert slide.shown.index("Which square") < slide.shown.index("learn-options")
    assert slide.shown.count("<svg") == 2  # the still
    assert "Press" in "".join(item.notes for item in slide.items)
    html = slides.page(made, "x", None)
    assert "_static/live/page.mjs" in html and "_static/live/see.css" in html


def test_slides_speak_the_language_of_their_page(deck):
    made = deck(md("## 어텐션\n\n어디를 볼까요?"))
    assert '<html lang="en">' in slides.page(made, "x", 3)
    made.words = korean.words_of(korean.WORDS)
    html = slides.page(made, "x", 3, "ko")
    assert '<html lang="ko">' in html and ": 슬라이드</title>" in html
    assert "3장" in html and "이 장으로" in html and "분</b>" in html
    left = ("Chapter", "The chapter", "slides</title>", " min", "The whole deck")
    assert [words for words in left if words in html] == []


def test_a_particle_stays_in_the_line_of_its_formula(deck):
    made = deck(md("## 어텐션\n\n**점수 $x$는 하나입니다.** 그뿐입니다."))
    assert re.search(
        r'"unbroken"><span class="math.*</span>\u2060는', slides.page(made, "x", 3, "ko")
    )
    assert "unbroken" not in slides.page(made, "x", 3)
