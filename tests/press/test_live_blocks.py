"""The live blocks of the pages, as `press.extensions.live` reads them."""

import ast
import gzip
import re
import textwrap

import pytest

from attnmt.attention import Additive, Attention, weigh
from attnmt.book.live import weights
from attnmt.decoder import BahdanauDecoder
from press.contents import ROOT, file_of, listed
from press.extensions import live, stills
from press.reading import cells_of

PAGE = """Text.

:::{live} rnnencdec rnnsearch
:sentence: Der Hund schläft.
:english: The dog sleeps.
A caption.
:::

:::{live} rnnsearch
:frames:
:sentence: Der Hund schläft.
:::
"""
BLOCK = re.compile(r"(?ms)^:::\{live\} *(.*?)\n(.*?)^:::")
OPTION = re.compile(r"(?m)^:([\w-]+): *(.*)\n")


def blocks(text: str) -> list[live.Block]:
    return [live.block(found[1], dict(OPTION.findall(found[2]))) for found in BLOCK.finditer(text)]


PAGES = {
    page: blocks("\n".join(cell.source for cell in cells_of(file_of(page))))
    for _, pages in listed()
    for page in pages
}
BLOCKS = list(dict.fromkeys(shown for of_page in PAGES.values() for shown in of_page))


def test_blocks_are_read():
    pair, step = blocks(PAGE)
    assert (pair.models, pair.mode) == (("rnnencdec", "rnnsearch"), "pair")
    assert (pair.sentence, pair.english) == ("Der Hund schläft.", "The dog sleeps.")
    assert (step.models, step.mode, step.english) == (("rnnsearch",), "step", "")
    assert pair.options["models"] == pair.models
    assert "code" not in pair.options
    assert pair.name != live.block("rnnencdec rnnsearch", {"sentence": "Der Hund isst."}).name


@pytest.mark.parametrize(
    ("models", "options", "words"),
    [
        ("", {"sentence": "Ja."}, "one model or two"),
        ("bert", {"sentence": "Ja."}, "one model or two of rnnencdec"),
        ("rnnsearch", {}, "sentence is missing"),
    ],
)
def test_a_block_that_cannot_be_shown_says_why(models, options, words):
    with pytest.raises(ValueError, match=words):
        live.block(models, options)


def test_pages_have_blocks_and_fetch_little():
    assert {"pair", "step", "single"} <= {shown.mode for shown in BLOCKS}
    files = ("page.mjs", "see.mjs", "see.css", "translator.mjs", "sentences.json")
    component = sum((live.SOURCE / name).stat().st_size for name in files)
    for page, of_page in PAGES.items():
        models = {name for shown in of_page for name in shown.models}
        assert component + sum(map(live.packed_size, models)) < live.LIMIT, page


def test_stills_are_drawn_of_the_blocks_that_pages_have(tmp_path):
    (tmp_path / "book").mkdir()
    page = "".join(map(live.box, blocks(PAGE)))
    (tmp_path / "book" / "page.html").write_text(page * 2, encoding="utf8")
    assert stills.blocks(tmp_path) == blocks(PAGE)


def test_chapters_two_to_seven_have_a_block():
    for number in range(2, 8):
        (path,) = (ROOT / "book").glob(f"0{number}_*.ipynb")
        assert ":::{live}" in path.read_text(encoding="utf8"), path.name


@pytest.mark.parametrize("shown", BLOCKS, ids=lambda shown: shown.name)
@pytest.mark.parametrize("language", live.LANGUAGES)
def test_every_block_has_a_still_of_the_models_that_the_package_holds(shown, language):
    still = live.still(shown, language)
    assert live.marks(shown.models) in still, "draw it again: python -m press.extensions.stills"
    assert re.search(r"<table\b.*<caption\b", still) or shown.models == ("rnnencdec",)
    assert "<button" not in still
    assert "<script" not in still


def test_stills_are_not_left_over():
    files = set((live.SOURCE / "stills").glob("*.html"))
    assert files == {live.still_path(shown, one) for shown in BLOCKS for one in live.LANGUAGES}


def test_a_korean_page_has_korean_blocks():
    """Its own words; sentences, glosses and numbers stay as they are."""
    korean = live.box(BLOCKS[0], "ko")
    assert live.still(BLOCKS[0], "ko") in korean
    for words in (live.START, live.SCRIPTLESS, live.FROM_FILE):
        assert words["ko"] in korean
        assert words["en"] not in korean
    text = re.sub(r"<[^>]+>", " ", live.still(BLOCKS[0], "ko"))
    assert re.search(r"[가-힣]", text)
    assert "attention" not in text


def test_the_lines_beside_a_step_are_the_packages():
    shown = live.source_of("rnnsearch")
    assert list(shown) == ["score", "softmax", "blend", "word"]
    functions = (Additive.forward, weigh, Attention.forward, BahdanauDecoder.readout)
    for html, function in zip(shown.values(), functions, strict=True):
        text = re.sub(r"<[^>]+>", "", html).replace("&gt;", ">").replace("&lt;", "<")
        text = text.replace("&#39;", "'").replace("&quot;", '"')
        assert text.strip() == live.body(function).strip()
        (found,) = ast.parse(textwrap.dedent(text)).body
        assert found.name == function.__name__
    assert sum(html.count("\n") for html in shown.values()) <= 20


def test_the_site_gets_what_it_shows(tmp_path):
    live.copy_files(tmp_path, ["rnnsearch"])
    copied = {path.name for path in tmp_path.iterdir()}
    assert copied == {*live.MODULES, "rnnsearch.safetensors.gz"}
    original = weights.FOLDER / "rnnsearch.safetensors"
    packed = (tmp_path / "rnnsearch.safetensors.gz").read_bytes()
    assert gzip.decompress(packed) == original.read_bytes()


def test_what_the_component_is_told_cannot_end_its_script():
    shown = live.block("rnnsearch", {"sentence": "</script><b>Ja.</b>"})
    told = live.box(shown).partition('class="live-options">')[2]
    assert "</script><b>" not in told.partition('<div class="live-still">')[0]


def test_modules_ask_no_other_server():
    for name in live.MODULES:
        text = (live.SOURCE / name).read_text(encoding="utf8")
        assert not re.search(r"https?://(?!www\.w3\.org/)|//cdn", text), name
