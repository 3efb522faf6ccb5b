"""The Korean edition: the tool that makes it, and the catalogue of what is translated."""

import json
import re
import shutil
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import nbformat
import pytest
import sphinx_book_theme
from bs4 import BeautifulSoup
from docutils import nodes
from docutils.utils import new_document
from hypothesis import given
from hypothesis import strategies as st
from sphinx import locale

from attnmt.book.figures.forest import STYLE
from press.colab.cell import stamp_config
from press.contents import ROOT, file_of, lectures, settings
from press.editions import korean
from press.editions.blocks import cut, kept, with_numbers, without_numbers
from press.editions.said import NUMBER, in_words, line_in_words
from press.extensions import book_lists, languages
from press.extensions.languages import EnglishAddresses
from press.run.numbers import unfit

PAGES = korean.pages()


def texts(page, root=ROOT):
    """The Markdown of a page: all of it, or its cells."""
    path = file_of(page, root)
    if path.suffix == ".md":
        return [path.read_text(encoding="utf8")]
    cells = nbformat.read(path, as_version=4).cells
    return [cell.source for cell in cells if cell.cell_type == "markdown"]


def found(text):
    return [piece.text for piece in cut(text) if piece.message]


# --- cutting


@pytest.mark.parametrize("page", PAGES)
def test_the_pieces_of_every_page_are_its_very_bytes(page):
    for text in texts(page):
        assert "".join(piece.text for piece in cut(text)) == text


BLOCKS = [
    "# A title",
    "Some words,\nand a *second* line.",
    "- one item\n- another item\n  - below it",
    "1. with code:\n\n   ```python\n   x = 1\n   ```\n\n   and after",
    "| a head | b |\n|---|---|\n| words here | $x$ |",
    ":::{exercise} Its title\n:label: ex-a\n\nWhat is $x$?\n:::",
    "::::{grid} 1 1 2 2\n\n:::{grid-item-card} See it\n:link: see_it\n\nMore words.\n:::\n::::",
    ":::{figure} figures/a.svg\n:alt: What it shows.\n\nThe caption.\n:::",
    ":::{learn} german\n:height: 860\nPress the button.\n:::",
    "```sh\nmake book\n```",
    "$$\na = b\n$$",
    "(label)=",
    "> quoted words",
    "```{glossary}\nterm\n  its meaning\n\nother\n  another meaning\n```",
]


@given(st.lists(st.sampled_from([*BLOCKS, "", " ", "\t", ":::", "```"]), max_size=6))
def test_the_pieces_of_any_text_are_its_very_bytes(blocks):
    text = "\n\n".join(blocks)
    assert "".join(piece.text for piece in cut(text)) == text


def test_what_readers_read_is_cut_out_and_the_rest_stays():
    assert [found(block) for block in BLOCKS] == [
        ["# A title"],
        ["Some words,\nand a *second* line."],
        ["- one item", "- another item\n  - below it"],
        ["1. with code:", "and after"],
        ["| a head | b |", "| words here | $x$ |"],
        ["Its title", "What is $x$?"],
        ["See it", "More words."],
        ["What it shows.", "The caption."],
        ["Press the button."],
        [],
        [],
        [],
        ["> quoted words"],
        ["its meaning", "another meaning"],
    ]


def test_the_head_of_a_page_has_a_description():
    head = "---\nmyst:\n  html_meta:\n    description: What it is,\n      in two lines.\n---\n"
    assert found(head) == ["What it is,\n      in two lines."]


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


def test_code_may_break_its_line_elsewhere():
    assert kept("so `export\nA=1` works") == kept("`export A=1`")
    assert kept("`export A=1`") != kept("`exportA=1`")


# --- the catalogue

CATALOGUES = [korean.SITE, korean.STUDENT, *korean.begun()]


@pytest.mark.parametrize("page", CATALOGUES)
def test_a_translation_has_all_that_its_english_has(page):
    for message, text in korean.read(page).items():
        if text.usable:
            assert kept(text.text) == kept(message.text), message


@pytest.mark.parametrize(
    "page", [korean.SAID, korean.LABELS, korean.WORDS, korean.FIGURES, *CATALOGUES]
)
def test_the_catalogue_is_as_the_tool_writes_it(page, tmp_path):
    korean.store(page, korean.read(page), tmp_path)
    assert korean.catalogue(page, tmp_path).read_bytes() == korean.catalogue(page).read_bytes()


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("3 seeds", "시드 3개"),
        ("2 of 3", "3개 중 2개"),
        ("−0.1 (−6.6 to +6.3)", "−0.1(−6.6~+6.3)"),
        ("log perplexity; BLEU, up to 40 words", "로그 퍼플렉서티, 40단어까지의 BLEU"),
        ("19%", "19%"),
        ("ladder; nothing", "ladder; nothing"),  # not in the catalogue as a whole
    ],
)
def test_what_a_cell_says_in_words_is_said_in_korean(said, shown):
    assert in_words(said, korean.words_of(korean.SAID)) == shown


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("| seeds | BLEU, up to 40 words |", "| 시드 | 40단어까지의 BLEU |"),
        ("|  | dot | 3 seeds |", "|  | dot | 시드 3개 |"),
        ("| a\\|b | all |", "| a\\|b | 모두 |"),
        ("|---|---|", "|---|---|"),
        ("*Hypothesis:* the dog sleeps.", "*가설:* the dog sleeps."),
        ("the dog sleeps: all", "the dog sleeps: all"),
        ("2 of 3", "3개 중 2개"),
    ],
)
def test_a_table_is_said_by_its_cells_and_a_line_whole_or_by_its_label(line, shown):
    assert line_in_words(line, korean.words_of(korean.SAID)) == shown


def shown_as_markdown(cell):
    """The outputs of a cell that are Markdown: tables, mostly."""
    shown = [output.get("data", {}).get("text/markdown") for output in cell.get("outputs", [])]
    return [text for text in shown if text]


@pytest.mark.parametrize("page", korean.begun())
def test_the_tables_of_a_page_are_korean_and_keep_their_numbers(page):
    path = file_of(page)
    if path.suffix == ".md":
        return
    before = nbformat.read(path, as_version=4)
    after, _ = korean.translated(page)
    for old, new in zip(before.cells, after.cells, strict=True):
        for was, text in zip(*map(shown_as_markdown, (old, new)), strict=True):
            numbers = [sorted(NUMBER.findall(one)) for one in (was, text)]
            assert numbers[0] == numbers[1]


def test_the_lists_that_a_build_makes_are_korean():
    words = korean.words_of(korean.SAID)
    times = book_lists.running_times(ROOT)
    lines = [
        *(re.sub(r"\[.*?\]", "[장]", line) for line in book_lists.time_to_learn(ROOT)),
        *(times[0], times[-1], "| 장 | not executed |"),
    ]
    shown = [line_in_words(line, words) for line in lines]
    assert sorted(NUMBER.findall("".join(shown))) == sorted(NUMBER.findall("".join(lines)))


def test_a_page_says_it_in_korean():
    notebook, _ = korean.translated("book/07_decoding")
    shown = "\n".join(cell.source for cell in notebook.cells)
    assert re.search(r"<!--caption_seeds-->시드 \d+개<!--/-->", shown)


def test_a_forest_plot_has_its_axes_signs_and_verdicts_in_korean():
    page, _ = korean.translated("book/08_whole_family")
    outputs = [output for cell in page.cells for output in cell.get("outputs", [])]
    plots = [
        html for o in outputs if korean.FOREST in (html := o.get("data", {}).get("text/html", ""))
    ]
    assert len(plots) > 4
    for html in plots:
        soup = BeautifulSoup(html, "html.parser")
        texts = soup.select("p span, .head, .axis, b")
        texts = ["".join(text.find_all(string=True, recursive=False)) for text in texts]
        texts += [table["aria-label"] for table in soup.find_all(role="table")]
        assert any(re.search("[가-힣]", text) for text in texts)
        claims = soup.find_all(role="rowheader")
        assert claims
        for claim in claims:
            said_in_korean = bool(re.search("[가-힣]", claim.get_text()))
            assert claim.get("lang") == (None if said_in_korean else "en")
        assert soup.style.string in STYLE, "a style has no words"


def test_what_is_said_in_korean_has_all_the_numbers():
    for name in (korean.SAID, korean.WORDS):
        for message, text in korean.read(name).items():
            numbers = [f"<{number}>" for number in range(message.text.count("{}"))]
            assert sorted(re.findall(r"<\d>", text.text.format(*numbers))) == numbers, message


SVG = korean.SVG
DRAWINGS = sorted((ROOT / "book" / "figures").glob("*.svg"))


def test_the_words_of_diagrams_have_their_korean():
    words = korean.words_of(korean.FIGURES)
    for path in DRAWINGS:
        source = path.read_text(encoding="utf8")
        both = map(ElementTree.fromstring, (source, korean.diagram_in_words(source, words)))
        there, shown = (
            {" ".join("".join(one.itertext()).split()) for one in drawn.iter(f"{SVG}text")}
            for drawn in both
        )
        assert shown - there == {words[one] for one in there & set(words)}, path.name


@pytest.mark.parametrize("path", DRAWINGS, ids=lambda path: path.stem)
def test_the_korean_of_a_diagram_stays_in_it(path):
    """A syllable is at most as wide as it is high, and another letter two thirds of that."""
    root = ElementTree.fromstring(
        korean.diagram_in_words(path.read_text(encoding="utf8"), korean.words_of(korean.FIGURES))
    )
    left, _, width, _ = map(float, root.get("viewBox").split())
    above = {child: parent for parent in root.iter() for child in parent}

    def style(part, key, default):
        while key not in part.attrib and part in above:
            part = above[part]
        return part.get(key, default)

    for text in root.iter(f"{SVG}text"):
        if not re.search("[가-힣]", text.text or ""):
            continue
        letters = sum(1 if "가" <= letter <= "힣" else 0.6 for letter in text.text)
        wide = letters * float(style(text, "font-size", 16))
        share = {"middle": 0.5, "end": 1}.get(style(text, "text-anchor", ""), 0)
        begins = float(text.get("x")) - share * wide
        assert left <= begins and begins + wide <= left + width, text.text


def test_a_caption_ends_with_the_words_at_the_axes():
    page, _ = korean.translated("book/07_decoding")
    shown = [cell.metadata.mystnb.figure.caption for cell in page.cells if korean.labels_of(cell)]
    assert shown
    for caption in shown:
        assert re.search(r"[.!?] \(그림 속 영어: .* – .*[가-힣].*\.\)$", caption), caption
    assert any("width of the beam – 빔의 너비" in caption for caption in shown)


def glossary():
    """English term -> the Korean forms that the glossary has."""
    text = file_of("book/glossary").read_text(encoding="utf8")
    entries = re.findall(r"(?m)^(\w[^\n]*)\n  ([^–\n]*[가-힣][^–\n]*) – ", text)
    return {term: re.split(r", *", forms) for term, forms in entries}


# Some of the terms that every reader meets first.
TERMS = ("attention", "decoder", "query", "score", "context vector", "alignment", "softmax")


def test_the_terms_are_those_of_the_glossary():
    words = glossary()
    shown = "\n".join(t.text for page in korean.begun() for t in korean.read(page).values())
    for term in TERMS:
        assert any(form in shown for form in words[term]), term
    for wrong in ("주목", "맥락 벡터", "해독기", "부호기", "질의어", "인코더-해독기"):
        assert wrong not in shown


def test_korean_sentences_are_polite_and_end_as_sentences_do():
    """합니다체: no sentence of the running text ends in the plain style."""
    for page in korean.begun():
        for message, text in korean.read(page).items():
            if not message.text.startswith(("#", "|", ">", "Four", "Heat", "has", "Diagram")):
                for end in re.findall(r"(\w{2})\.(?=\s|$)", text.text):
                    plain = end.endswith("다") and end not in ("니다", "시다")
                    assert not plain, f"{message.context}: ...{end}."


# --- the edition


@pytest.fixture
def theme(monkeypatch):
    """The theme's words in Korean, as Sphinx keeps them."""
    monkeypatch.setattr(locale, "translators", {})
    folder = Path(sphinx_book_theme.get_html_theme_path(), "static", "locales")
    locale.init([str(folder)], "ko", "booktheme")
    return locale.get_translation("booktheme")


def test_the_edition_has_better_words_than_the_theme(theme):
    words = korean.words_of(korean.WORDS)
    named = ("By", "Fullscreen mode", "Contents", "Back to top")
    before = {word: theme(word) for word in (*named, "Print to PDF")}
    for word in named:
        assert before[word] != words[word], "no better than the theme's"
    languages.replace_words(SimpleNamespace(), SimpleNamespace(site_words=words))
    after = {word: theme(word) for word in before}
    assert after == before | {word: words[word] for word in named}


@pytest.fixture
def edition(tmp_path):
    """A function that shows a page's head and buttons, in the English or the Korean edition."""
    (tmp_path / "locale" / "ko").mkdir(parents=True)
    (tmp_path / "locale" / "ko" / "primer.po").touch()
    english = settings(ROOT)["sphinx"]["config"]["language_beside"]
    beside = {"en": english, "ko": korean.CONFIG["language_beside"]}

    (tmp_path / "_config.yml").write_text('repository:\n  url: ""\n')

    def shown(page, language, site=""):
        config = SimpleNamespace(
            language_beside=beside[language],
            language=language,
            root_doc="book/index",
            html_baseurl=site,
        )
        app = SimpleNamespace(config=config, srcdir=tmp_path, outdir=tmp_path / "html")
        languages.drop_unbuilt(app, config)
        context = {"header_buttons": [], "body": ""}
        languages.add_switch(app, page, "page.html", context, doctree=object())
        alternates = re.findall(r'hreflang="(\w+)" href="([^"]+)"', context.get("metatags", ""))
        return [button["url"] for button in context["header_buttons"]], dict(alternates)

    return shown


def test_each_page_leads_to_its_twin_in_the_other_language(edition, tmp_path):
    assert edition("book/primer", "ko") == (["../../book/primer.html"], {})
    assert edition("book/primer", "en") == ([], {})  # no Korean edition was built
    (tmp_path / "html" / "ko").mkdir(parents=True)
    (tmp_path / "html" / "ko" / "index.html").touch()
    assert edition("book/primer", "en") == (["../ko/book/primer.html"], {})


def test_search_engines_are_told_whole_addresses_where_the_site_has_one(edition, tmp_path, book):
    text = (book / "_config.yml").read_text(encoding="utf8")
    address = stamp_config(text, "https://github.com/Someone/align", "main")
    (book / "_config.yml").write_text(address, encoding="utf8")
    korean.generate(tmp_path / "edition", book)
    site = settings(tmp_path / "edition")["sphinx"]["config"]["html_baseurl"]
    assert site == "https://someone.github.io/align/ko/"
    twins = {
        "ko": "https://someone.github.io/align/ko/book/primer.html",
        "en": "https://someone.github.io/align/book/primer.html",
    }
    assert edition("book/primer", "ko", site)[1] == twins
    (tmp_path / "html" / "ko").mkdir(parents=True)
    (tmp_path / "html" / "ko" / "index.html").touch()
    assert edition("book/primer", "en", "https://someone.github.io/align/")[1] == twins


def test_a_page_that_is_not_translated_leads_to_the_korean_first_page(edition, tmp_path):
    (tmp_path / "html" / "ko").mkdir(parents=True)
    (tmp_path / "html" / "ko" / "index.html").touch()
    assert edition("book/evidence_8", "en") == (["../ko/book/index.html"], {})
    assert edition("book/evidence_8", "ko")[0] == ["../../book/evidence_8.html"]


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


def test_exercises_are_no_headings(tmp_path):
    """Sphinx keeps the text of an exercise in a section without a title."""
    names, korean_names = ["A chapter", "Exercises"], ["한 장", "연습 문제"]
    (tmp_path / korean.FACTS).write_text(json.dumps({"headings": {"page": names}}))
    document = new_document("page")
    document.settings.env = SimpleNamespace(
        docname="page", app=SimpleNamespace(srcdir=tmp_path), metadata={"page": {}}
    )
    for name in korean_names:
        document += nodes.section("", nodes.title(text=name), ids=[f"id-{len(document)}"])
        document[-1] += nodes.container("", nodes.section("", nodes.paragraph(text="얼마입니까?")))
    EnglishAddresses(document).apply()
    assert list(document.myst_slugs) == ["a-chapter", "exercises"]
    assert [section["ids"][0] for section in document] == ["a-chapter", "exercises"]


@pytest.fixture
def book(tmp_path):
    """A small copy of the book: two pages of it, with their catalogues."""
    root = tmp_path / "book-of-two"
    (root / "book").mkdir(parents=True)
    for name in ("index.md", "ten_minutes.ipynb"):
        shutil.copy(ROOT / "book" / name, root / "book" / name)
    shutil.copy(ROOT / "_config.yml", root)
    toc = "format: jb-book\nroot: book/index\nparts:\n  - caption: Before you start\n"
    (root / "_toc.yml").write_text(toc + "    chapters:\n      - file: book/ten_minutes\n")
    shutil.copytree(ROOT / "locale", root / "locale")
    for path in (root / "locale" / "ko").glob("*.po"):
        if path.stem not in ("index", "ten_minutes", korean.SITE):
            path.unlink()
    return root


def generated(book, tmp_path):
    target = tmp_path / "edition"
    return target, korean.generate(target, book)


def test_code_and_outputs_are_the_english_pages_own(book, tmp_path):
    target, _ = generated(book, tmp_path)
    before, after = (
        nbformat.read(root / "book" / "ten_minutes.ipynb", as_version=4) for root in (book, target)
    )
    nbformat.validate(after)
    assert [cell.id for cell in before.cells] == [cell.id for cell in after.cells]
    changed = 0
    for old, new in zip(before.cells, after.cells, strict=True):
        if old.cell_type == "code":
            assert old.source == new.source
            assert old.outputs == new.outputs
        else:
            changed += old.source != new.source
    assert changed == sum(cell.cell_type == "markdown" for cell in before.cells)
    assert unfit(after) == unfit(before)


def test_pages_of_evidence_are_no_lectures_in_the_edition(tmp_path):
    (tmp_path / "book").mkdir()
    for page in PAGES:
        (tmp_path / f"{page}.ipynb").touch()
    korean.site(tmp_path, ROOT)
    found = [path.stem for path in lectures(tmp_path)]
    assert "03_learning_to_align" in found
    assert not any(name.startswith("evidence_") for name in found)


def test_a_heading_keeps_its_english_address(book, tmp_path):
    target, _ = generated(book, tmp_path)
    facts = json.loads((target / korean.FACTS).read_text(encoding="utf8"))
    assert facts["english"] == []
    assert facts["headings"]["book/index"] == ["Learning to Align", "Run it yourself"]
    assert "Change one thing" in facts["headings"]["book/ten_minutes"]


def test_a_changed_paragraph_stays_english_and_the_page_says_so(book, tmp_path):
    page = book / "book" / "index.md"
    old = "German keeps the participle for the end:"
    new = "German keeps the participle for the very end:"
    page.write_text(page.read_text(encoding="utf8").replace(old, new), encoding="utf8")
    target, looks = generated(book, tmp_path)
    text = (target / "book" / "index.md").read_text(encoding="utf8")
    assert new in text
    assert korean.PARTLY.format(count=1) in text
    assert [message.text for message in looks["book/index"].missing] == [new]
    assert korean.lagging(book)[-1] == f"index: {new}"

    assert korean.update(root=book) == ["_site", "book/index"]
    stored = korean.read("book/index", book)
    assert stored[korean.Message("index", new)].fuzzy  # the old words, to be looked at
    assert korean.Message("index", old) not in stored
    _, looks = generated(book, tmp_path)
    assert [message.text for message in looks["book/index"].missing] == [new]
    listed = (book / "locale" / "ko" / korean.LAGGING).read_text(encoding="utf8").splitlines()
    assert listed == korean.lagging(book) and listed[-1] == f"index: {new}"


def test_a_moved_paragraph_keeps_its_korean(book, tmp_path):
    page = book / "book" / "index.md"
    moved = "German keeps the participle for the end:"
    page.write_text(page.read_text(encoding="utf8").replace(moved + "\n", ""), encoding="utf8")
    korean_text = korean.read("book/index", book)[korean.Message("index", moved)].text
    notebook = nbformat.read(book / "book" / "ten_minutes.ipynb", as_version=4)
    cell = next(cell for cell in notebook.cells if cell.id == "tm-08")
    cell.source += f"\n\n{moved}"
    nbformat.write(notebook, book / "book" / "ten_minutes.ipynb")
    korean.update(root=book)
    stored = korean.read("book/ten_minutes", book)
    assert stored[korean.Message("ten_minutes tm-08", moved)] == korean.Translation(korean_text)


def test_a_page_without_a_catalogue_is_english_and_says_so_below_a_korean_title(book, tmp_path):
    korean.catalogue("book/index", book).unlink()
    korean.update(root=book)
    site = korean.read(korean.SITE, book)
    site[korean.Message("page", "Learning to Align")] = korean.Translation("정렬을 배우다(영어)")
    korean.store(korean.SITE, site, book)
    target, looks = generated(book, tmp_path)
    shown = (target / "book" / "index.md").read_text(encoding="utf8")
    note = f"\n\n:::{{note}}\n{korean.WHOLLY}\n:::"
    (english,) = texts("book/index")
    assert shown == english.replace("# Learning to Align", f"# 정렬을 배우다(영어){note}", 1)
    assert len(looks["book/index"].missing) == looks["book/index"].all > 10
    facts = json.loads((target / korean.FACTS).read_text(encoding="utf8"))
    assert facts["english"] == ["book/index"]
    assert facts["headings"]["book/index"][0] == "Learning to Align"


def test_a_translation_that_lost_a_formula_is_refused(book, tmp_path):
    stored = korean.read("book/index", book)
    message = next(message for message in stored if "bahdanau2015" in message.text)
    stored[message] = korean.Translation("이 책에서는 신경망을 만듭니다.")
    korean.store("book/index", stored, book)
    with pytest.raises(korean.Broken, match="bahdanau2015"):
        generated(book, tmp_path)


def test_a_folder_that_holds_something_else_is_left_alone(book, tmp_path):
    (tmp_path / "edition").mkdir()
    (tmp_path / "edition" / "thesis.tex").write_text("mine")
    with pytest.raises(FileExistsError, match="something else"):
        generated(book, tmp_path)
    assert (tmp_path / "edition" / "thesis.tex").read_text() == "mine"


def test_a_broken_catalogue_is_named(book):
    korean.catalogue("book/index", book).write_text("<<<<<<< HEAD\nmsgid", encoding="utf8")
    with pytest.raises(korean.Broken, match=r"index\.po"):
        korean.read("book/index", book)
