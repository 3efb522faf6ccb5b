"""The Korean edition: the tool that makes it, and the catalogue of what is translated."""

import json
import re
from types import SimpleNamespace
from xml.etree import ElementTree

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from attnmt.book.figures.forest import forest
from attnmt.evidence.claims import load_claims
from attnmt.evidence.verdicts import Row
from press.contents import ROOT, file_of, settings
from press.editions import catalogue, korean
from press.editions.blocks import cut, kept, with_numbers, without_numbers
from press.extensions import languages
from press.phrases import (
    NUMBER,
    SVG,
    diagram_in_words,
    in_words,
    line_in_words,
    plot_in_words,
    printed_in_words,
)

PAGES = catalogue.pages()
TABLE = catalogue.table()
TABLES = "text/markdown"


def texts(page, root=ROOT):
    """The Markdown of a page: all of it, or its cells."""
    path = file_of(page, root)
    if path.suffix == ".md":
        return [path.read_text(encoding="utf8")]
    cells = nbformat.read(path, as_version=4).cells
    return [cell.source for cell in cells if cell.cell_type == "markdown"]


# --- cutting


@pytest.mark.parametrize("page", PAGES)
def test_the_pieces_of_every_page_are_its_very_bytes(page):
    for text in texts(page):
        assert "".join(piece.text for piece in cut(text)) == text


BLOCKS = {
    "---\nmyst:\n  html_meta:\n    description: What it is.\n---\n": ["What it is."],
    "Some words,\nand a *second* line.": ["Some words,\nand a *second* line."],
    "1. with code:\n\n   ```python\n   x = 1\n   ```\n\n   and after": [
        "1. with code:",
        "and after",
    ],
    "| a head | b |\n|---|---|\n| words | $x$ |": ["| a head | b |", "| words | $x$ |"],
    ":::{exercise} Its title\n:label: ex-a\n\nWhat is $x$?\n:::": ["Its title", "What is $x$?"],
    ":::{figure} figures/a.svg\n:alt: What it shows.\n\nThe caption.\n:::": [
        "What it shows.",
        "The caption.",
    ],
    "$$\na = b\n$$\n\n(label)=": [],
    "```{glossary}\nterm\n  its meaning\n```": ["its meaning"],
}


@pytest.mark.parametrize("block", BLOCKS)
def test_what_readers_read_is_cut_out_and_the_rest_stays(block):
    assert [piece.text for piece in cut(block) if piece.message] == BLOCKS[block]


# --- numbers, and what must be kept


def test_a_new_number_leaves_the_message_as_it_was():
    old, new = (f"It keeps <!--kept-->{n}<!--/--> of it." for n in ("19%", "21%"))
    assert without_numbers(old) == without_numbers(new) == "It keeps <!--kept--> of it."
    assert with_numbers("<!--kept-->를 지킵니다.", new) == "<!--kept-->21%<!--/-->를 지킵니다."


@pytest.mark.parametrize(
    "changed",
    [
        "{doc}`다른 <see>` $x$ `y` [z](a.md) <!--n-->",
        "{doc}`장 <primer>` $w$ `y` [z](a.md) <!--n-->",
        "{doc}`장 <primer>` $x$ [z](a.md) <!--n-->",
        "{doc}`장 <primer>` $x$ `y` [z](b.md) <!--n-->",
        "{doc}`장 <primer>` $x$ `y` [z](a.md) <!--m-->",
        "{doc}`장 <primer>` $x$ $x$ `y` [z](a.md) <!--n-->",
    ],
)
def test_a_translation_keeps_roles_formulas_code_links_and_numbers(changed):
    english = "{doc}`primer` $x$ `y` [z](a.md) <!--n-->"
    assert kept(english) == kept("<!--n--> [다](a.md) $x$ `y` {doc}`장 <primer>`")
    assert kept(english) != kept(changed)


# --- the catalogue

CATALOGUES = [catalogue.SITE, catalogue.STUDENT, *catalogue.begun()]


@pytest.mark.parametrize("page", CATALOGUES)
def test_a_translation_has_all_that_its_english_has(page):
    for message, text in catalogue.read(page).items():
        if text.usable:
            assert kept(text.text) == kept(message.text), message


def test_korean_sentences_are_polite_and_end_as_sentences_do():
    """합니다체: no sentence of the running text ends in the plain style."""
    for page in catalogue.begun():
        for message, text in catalogue.read(page).items():
            if not message.text.startswith(("#", "|", ">", "Four", "Heat", "has", "Diagram")):
                for end in re.findall(r"(\w{2})\.(?=\s|$)", text.text):
                    plain = end.endswith("다") and end not in ("니다", "시다")
                    assert not plain, f"{message.context}: ...{end}."


# --- phrases


@pytest.mark.parametrize(
    ("phrase", "shown"),
    [
        ("3 seeds", "시드 3개"),
        ("2 of 3", "3개 중 2개"),
        ("−0.1 (−6.6 to +6.3)", "−0.1(−6.6~+6.3)"),
        ("ladder; nothing", "ladder; nothing"),  # not in the table as a whole
    ],
)
def test_a_phrase_is_korean_with_its_numbers(phrase, shown):
    assert in_words(phrase, TABLE) == shown


def test_small_print_is_korean_but_names():
    small = "Kind A. Seeds: 3 and 5. rnnsearch: trials of its own; x. A et al. 2015"
    shown = "종류 A. 시드: 3, 5. rnnsearch: 자기 예비 학습 있음; x. A et al. 2015"
    line = "| better<br><small>{}</small> |"
    assert line_in_words(line.format(small), TABLE) == line.format(shown)


def test_the_table_has_all_the_numbers():
    named = {
        message.text for message in catalogue.read(catalogue.WORDS) if message.context == "live"
    }
    for english, text in TABLE.items():
        if english in named:  # of the live boxes, whose places have names: tests/live/test_learn.py
            continue
        numbers = [f"<{number}>" for number in range(english.count("{}"))]
        assert sorted(re.findall(r"<\d>", text.format(*numbers))) == numbers, english


@pytest.mark.parametrize("page", catalogue.begun())
def test_the_tables_of_a_page_keep_their_numbers(page):
    before = korean.reading.cells_of(file_of(page))
    after = korean.translated(page)[0].cells
    for old, new in zip(before, after, strict=True):
        outputs = zip(old.get("outputs", []), new.get("outputs", []), strict=True)
        for was, now in outputs:
            texts = [one.get("text", one.get("data", {}).get(TABLES, "")) for one in (was, now)]
            assert sorted(NUMBER.findall(texts[0])) == sorted(NUMBER.findall(texts[1]))


def test_a_forest_plot_has_its_axes_signs_and_verdicts_in_korean():
    claims = [claim for claim in load_claims().claims if claim.metric == "aer"]
    html = forest([Row(claim, None, missing="no run") for claim in claims])._repr_html_()
    shown = plot_in_words(html, TABLE)
    assert 'aria-label="정렬 오류율의 차이"' in shown and ">논문의 주장<" in shown
    assert ">claim<" in html and ">claim<" not in shown and "alignment error rate" not in shown
    assert re.findall(r"<style>.*?</style>", shown) == re.findall(r"<style>.*?</style>", html)


def test_words_of_sentences_stay_in_an_alignment():
    svg = "<svg><text>source words</text><text>all</text></svg>"
    words = {"source words": "원문 단어", "all": "모두"}
    assert plot_in_words(svg, words) == "<svg><text>원문 단어</text><text>all</text></svg>"
    assert plot_in_words("<p>all right</p>", {"all right": "x"}) == "<p>all right</p>"


def test_printed_lines_are_korean_in_their_columns():
    text = "words       links   all links\nnot in it   1.9           4.0\n  words 2\n"
    table = {"words": "번역문 단어", "all links": "모든 링크", "words {}": "단어 {}"}
    shown = "번역문 단어   links   모든 링크\nnot in it   1.9           4.0\n  단어 2\n"
    assert printed_in_words(text, table) == shown


DRAWINGS = sorted((ROOT / "book" / "figures").glob("*.svg"))


@pytest.mark.parametrize("path", DRAWINGS, ids=lambda path: path.stem)
def test_the_korean_of_a_diagram_stays_in_it(path):
    """A syllable is at most as wide as it is high, and another letter two thirds of that."""
    root = ElementTree.fromstring(diagram_in_words(path.read_text(encoding="utf8"), TABLE))
    left, _, width, _ = map(float, root.get("viewBox").split())

    def check(element, inherited):
        style = inherited | element.attrib
        if element.tag == f"{SVG}text" and re.search("[가-힣]", element.text or ""):
            letters = sum(1 if "가" <= letter <= "힣" else 0.6 for letter in element.text)
            wide = letters * float(style.get("font-size", 16))
            share = {"middle": 0.5, "end": 1}.get(style.get("text-anchor"), 0)
            begins = float(element.get("x")) - share * wide
            assert left <= begins and begins + wide <= left + width, element.text
        for child in element:
            check(child, style)

    check(root, {})


# --- round the pages


@pytest.fixture
def edition(tmp_path):
    """A function that shows a page's buttons, in the English or the Korean edition."""
    (tmp_path / "locale" / "ko").mkdir(parents=True)
    (tmp_path / "locale" / "ko" / "primer.po").touch()
    english = settings(ROOT)["sphinx"]["config"]["language_beside"]
    beside = {"en": english, "ko": korean.CONFIG["language_beside"]}

    (tmp_path / "_config.yml").write_text('repository:\n  url: ""\n')

    def shown(page, language):
        there = {"language": language, "language_beside": beside[language], "html_baseurl": ""}
        config = SimpleNamespace(**there, root_doc="book/index")
        app = SimpleNamespace(config=config, srcdir=tmp_path, outdir=tmp_path / "html")
        languages.drop_unbuilt(app, config)
        context = {"header_buttons": [], "body": ""}
        languages.add_switch(app, page, "page.html", context, doctree=object())
        return [button["url"] for button in context["header_buttons"]]

    return shown


def test_each_page_leads_to_its_twin_in_the_other_language(edition, tmp_path):
    assert edition("book/primer", "ko") == ["../../book/primer.html"]
    assert edition("book/primer", "en") == []  # no Korean edition was built
    (tmp_path / "html" / "ko").mkdir(parents=True)
    (tmp_path / "html" / "ko" / "index.html").touch()
    assert edition("book/primer", "en") == ["../ko/book/primer.html"]
    assert edition("book/evidence_8", "en") == ["../ko/book/index.html"]  # not translated
    assert edition("book/evidence_8", "ko") == ["../../book/evidence_8.html"]


def test_a_particle_stays_with_its_word():
    shown = languages.with_particles(
        "<p>쿼리(query)입니다 <math>x</math>는 <span><code>y</code></span>를 69%가 “점수”라고</p>"
        '<img alt="점수(score)는"><p>점수는 <em>s</em> 값</p>'
    ).replace("\u2060", "|")
    assert shown == (
        "<p>쿼리(query)|입니다 <math>x</math>|는 "
        "<span><code>y</code></span>|를 69%|가 “점수”|라고</p>"
        '<img alt="점수(score)는"><p>점수는 <em>s</em> 값</p>'
    )


# --- the edition

INDEX = """# A book

German {cite:p}`grimm` keeps $x$ for the end.

## Run it

Some words.
"""


@pytest.fixture
def book(tmp_path):
    """A book of two pages, with their catalogues."""
    root = tmp_path / "book-of-two"
    (root / "book" / "figures").mkdir(parents=True)
    (root / "book" / "index.md").write_text(INDEX, encoding="utf8")
    slide = new_markdown_cell("<!--\nShown alone.\n-->", metadata={"tags": ["slide-only"]})
    output = new_output("display_data", {TABLES: "| all |\n|---|\n| 2 of 3 |"})
    folded = {"mystnb": {"code_prompt_show": "Show the check"}}
    cells = [
        new_markdown_cell("# A page\n\nIt has <!--kept-->3 seeds<!--/--> of it."),
        new_code_cell("print()", outputs=[output], metadata=folded),
        slide,
    ]
    nbformat.write(new_notebook(cells=cells), root / "book" / "page.ipynb")
    config = (ROOT / "_config.yml").read_text(encoding="utf8")
    (root / "_config.yml").write_text(config, encoding="utf8")
    toc = "format: jb-book\nroot: book/index\nparts:\n  - caption: A part\n"
    (root / "_toc.yml").write_text(toc + "    chapters:\n      - file: book/page\n")
    catalogue.store(catalogue.WORDS, catalogue.read(catalogue.WORDS), root)
    for page in ("book/index", "book/page", catalogue.SITE):
        texts = {
            message: catalogue.Translation(
                re.sub(r"(?m)^(#* ?)", r"\1한글 ", message.text, count=1)
            )
            for message in catalogue.messages(page, root)
        }
        catalogue.store(page, texts, root)
    return root


def generated(book, tmp_path):
    target = tmp_path / "edition"
    return target, korean.generate(target, book)


def page_of(target):
    return (target / "book" / "index.md").read_text(encoding="utf8")


def test_text_and_tables_are_korean_and_code_is_the_english_pages_own(book, tmp_path):
    target, _ = generated(book, tmp_path)
    notebook = nbformat.read(target / "book" / "page.ipynb", as_version=4)
    nbformat.validate(notebook)
    text, code, slide = notebook.cells
    assert text.source == "# 한글 A page\n\n한글 It has <!--kept-->시드 3개<!--/--> of it."
    assert slide.source == "<!--\n한글 Shown alone.\n-->"
    assert code.source == "print()" and code.metadata == {"mystnb": {}}  # the Korean prompt
    assert code.outputs[0].data[TABLES] == "| 모두 |\n|---|\n| 3개 중 2개 |"
    facts = json.loads((target / korean.FACTS).read_text(encoding="utf8"))
    assert facts["english"] == [] and facts["headings"]["book/index"] == ["A book", "Run it"]
    assert page_of(target).startswith("# 한글 A book\n\n한글 German {cite:p}`grimm` keeps $x$")


def test_nothing_lags_behind_the_english():
    assert catalogue.lagging() == [], "python -m press.editions.korean update, and translate"


def test_a_changed_paragraph_stays_english_and_page_and_list_say_so(book, tmp_path):
    page = book / "book" / "index.md"
    page.write_text(INDEX.replace("Some words.", "Some words more."), encoding="utf8")
    for _ in range(2):  # before and after the update
        target, looks = generated(book, tmp_path)
        assert "\nSome words more." in page_of(target)
        assert korean.PARTLY.format(count=1) in page_of(target)
        assert [message.text for message in looks["book/index"].missing] == ["Some words more."]
        assert catalogue.lagging(book) == ["index: Some words more."]
        catalogue.update(root=book)
    stored = catalogue.read("book/index", book)
    assert stored[catalogue.Message("index", "Some words more.")] == catalogue.Translation(
        "한글 Some words.", fuzzy=True
    )


def test_a_page_without_a_catalogue_is_english_and_says_so_below_a_korean_title(book, tmp_path):
    catalogue.path_of("book/index", book).unlink()
    catalogue.update(root=book)
    site = catalogue.read(catalogue.SITE, book)
    site[catalogue.Message("page", "A book")] = catalogue.Translation("책(영어)")
    catalogue.store(catalogue.SITE, site, book)
    target, looks = generated(book, tmp_path)
    note = f"\n\n:::{{note}}\n{korean.WHOLLY}\n:::"
    assert page_of(target) == INDEX.replace("# A book", f"# 책(영어){note}", 1)
    assert len(looks["book/index"].missing) == 4
    facts = json.loads((target / korean.FACTS).read_text(encoding="utf8"))
    assert facts["english"] == ["book/index"]


def test_a_translation_that_lost_a_formula_is_refused(book, tmp_path):
    stored = catalogue.read("book/index", book)
    message = next(message for message in stored if "grimm" in message.text)
    stored[message] = catalogue.Translation("이 책에서는 신경망을 만듭니다.")
    catalogue.store("book/index", stored, book)
    with pytest.raises(catalogue.Broken, match="grimm"):
        generated(book, tmp_path)


def test_a_folder_that_holds_something_else_is_left_alone(book, tmp_path):
    """Of every edition: `press.contents.renew`."""
    (tmp_path / "edition").mkdir()
    (tmp_path / "edition" / "thesis.tex").write_text("mine")
    with pytest.raises(FileExistsError, match="something else"):
        generated(book, tmp_path)
    assert (tmp_path / "edition" / "thesis.tex").read_text() == "mine"
