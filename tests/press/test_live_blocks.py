"""The blocks `{live}` and `{learn}` of the pages, their stills, and what the site gets for them."""

import ast
import gzip
import json
import re
import textwrap

import pytest
from docutils.utils import assemble_option_dict

from attnmt.attention import Additive, Attention, weigh
from attnmt.book.live import weights
from attnmt.decoder import BahdanauDecoder
from press.contents import file_of, listed
from press.editions.korean import WORDS, words_of
from press.editions.said import in_words
from press.extensions import live, stills
from press.reading import cells_of

BLOCK = re.compile(r"(?ms)^:::\{(live|learn)\} *(.*?)\n(.*?)^:::")
DIRECTIVES = {"live": live.Live, "learn": live.Learn}
LIMIT = 5_000_000  # bytes that one page may fetch


def specs(text: str) -> list[dict]:
    """What the blocks of a page show; those in fences of code are examples."""
    found = []
    for name, argument, body in BLOCK.findall(re.sub(r"(?ms)^```\w*$.*?^```$", "", text)):
        written = re.findall(r"(?m)^:([\w-]+): *(.*)\n", body)
        options = assemble_option_dict(written, DIRECTIVES[name].option_spec)
        options.pop("height", None)
        found.append(DIRECTIVES[name].specify(argument, options))
    return found


PAGES = {
    page: specs("\n".join(cell.source for cell in cells_of(file_of(page))))
    for _, pages in listed()
    for page in pages
}
SPECS = [spec for of_page in PAGES.values() for spec in of_page]
each_language = pytest.mark.parametrize("language", live.LANGUAGES)


def each(kind: str):
    some = {str(live.still_path(s, "en")): s for s in SPECS if live.kind_of(s) == kind}
    return pytest.mark.parametrize("spec", some.values(), ids=lambda s: live.still_path(s, "").stem)


def given(html: str) -> dict:
    """What a block's component reads from its page."""
    return json.loads(re.search(r'-options">(.*?)</script>', html)[1])


def test_a_block_tells_its_component_what_is_written():
    pair, step, learn = specs(
        ":::{live} rnnencdec rnnsearch\n:sentence: Ein Hund.\n:english: A dog.\nText.\n:::\n"
        ":::{live} rnnsearch\n:frames:\n:sentence: Ein Hund.\n:::\n"
        ":::{learn} reverse\n:score: dot(q, W(k)) - 1\n:length: 10\n:feeding: no\n:height: 9\n:::\n"
    )
    shown = {"mode": "pair", "models": ["rnnencdec", "rnnsearch"], "sentence": "Ein Hund."}
    assert pair == shown | {"english": "A dog."}
    told = given(live.box(pair))
    assert told == pair | {"size": told["size"]}
    assert (step["mode"], list(given(live.box(step))["code"])) == ("step", ["rnnsearch"])
    rules = {"score": "dot(q, W(k)) - 1", "length": 10, "feeding": False}
    assert given(live.box(learn)) == {"task": "reverse"} | rules
    other = pair | {"sentence": "Die Katze."}
    assert live.still_path(pair, "en") != live.still_path(other, "en")


@pytest.mark.parametrize("text", ["live} rnnsearch\n:sentence", "learn} copy\n:score"])
def test_what_is_told_cannot_end_its_script(text):
    (spec,) = specs(f":::{{{text}: </script><b>Ja.</b>\n:::\n")
    html = live.box(spec)
    assert html.count("</script>") == 2
    assert "</script><b>Ja.</b>" in given(html).values()


@pytest.mark.parametrize(
    ("block", "words"),
    [
        ("live} \n:sentence: Ja.", "one model or two"),
        ("live} bert\n:sentence: Ja.", "one model or two of rnnencdec"),
        ("live} rnnsearch", "sentence is missing"),
        ("learn} sort", '"german", "copy", "reverse", or "own"'),
        ("learn} copy\n:length: 99", 'choose from "4"'),
        ("learn} copy\n:window: local", 'choose from "global"'),
        ("learn} copy\n:feeding: maybe", 'choose from "yes"'),
    ],
)
def test_a_block_that_cannot_be_shown_says_why(block, words):
    with pytest.raises(ValueError, match=words):
        specs(f":::{{{block}\n:::\n")


def test_options_of_a_training_are_the_components_own():
    """By name; what each may be, the component checks again when it reads an address."""
    text = (live.SOURCE / "learn_choices.mjs").read_text(encoding="utf8")
    defaults = text.partition("export const DEFAULTS = {")[2].partition("};")[0]
    assert {*live.Learn.option_spec} - {"height"} < set(re.findall(r"(?m)^  (\w+):", defaults))


def test_pages_fetch_little():
    files = ("page.mjs", "see.mjs", "see.css", "translator.mjs", "sentences.json")
    component = sum((live.SOURCE / name).stat().st_size for name in files)
    for page, of_page in PAGES.items():
        models = {name for spec in of_page for name in spec.get("models", ())}
        assert component + sum(len(live.packed(name)) for name in models) < LIMIT, page


# --- stills


@each("live")
@each_language
def test_a_translation_has_a_still_of_the_models_that_the_package_holds(spec, language):
    still = live.still(spec, language)
    assert live.marks(spec["models"]) in still, "draw it again: python -m press.extensions.stills"
    assert re.search(r"<table\b.*<caption\b", still) or spec["models"] == ["rnnencdec"]
    assert not re.search("<button|<script", still)


@each("learn")
@each_language
def test_a_training_has_a_still_that_begins_as_a_fog_and_ends_locked_on(spec, language):
    html = live.still(spec, language)
    assert html, "draw it: python -m press.extensions.stills"
    assert html.count("<svg") == html.count('role="img"') == html.count("<figcaption>") == 2
    before, after = re.findall(r'aria-label="([^"]*)"', html)
    assert len(before) > 30 and len(after) > 60
    drawn = [
        max(map(float, re.findall(r'live-share" fill-opacity="([\d.]+)"', part)))
        for part in html.split("</figure>")[:2]
    ]
    assert drawn[0] < 0.7 < 0.9 < drawn[1] or spec["task"] != "copy"


def test_a_stored_still_is_what_the_code_draws():
    spec = next(spec for spec in SPECS if spec.get("task") == "copy")
    (drawn,) = stills.trained([spec])
    stored = {language: live.still(spec, language) for language in live.LANGUAGES}
    assert drawn == stored, "draw them again: python -m press.extensions.stills"


def test_stills_are_not_left_over():
    files = set((live.SOURCE / "stills").rglob("*.html"))
    assert files == {live.still_path(spec, one) for spec in SPECS for one in live.LANGUAGES}


def test_stills_are_drawn_of_the_blocks_of_built_pages_once(tmp_path):
    (tmp_path / "book").mkdir()
    pages = "".join(map(live.box, SPECS[:3])) * 2
    (tmp_path / "book" / "page.html").write_text(pages, encoding="utf8")
    found = [one for kind in DIRECTIVES for one in stills.told(tmp_path, kind)]
    wanted = {live.still_path(spec, "en") for spec in SPECS[:3]}
    assert [live.still_path(spec, "en") in wanted for spec in found] == [True] * len(wanted)


@pytest.mark.parametrize("kind", DIRECTIVES)
def test_a_korean_page_has_korean_blocks(kind):
    """Its own words; sentences, glosses and numbers stay as they are."""
    spec = next(spec for spec in SPECS if live.kind_of(spec) == kind)
    words = words_of(WORDS)
    korean, still = live.box(spec, "ko", words), live.still(spec, "ko")
    assert still in korean
    for said in (live.SCRIPTLESS[kind], live.FROM_FILE[kind]):
        assert in_words(said, words) in korean and said not in korean
    assert (words[live.START] in korean) == (kind == "live") and live.START not in korean
    text = re.sub(r"<[^>]+>", " ", still)
    assert re.search(r"[가-힣]", text) and "attention" not in text


# --- the package's lines, and the site's files


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


def test_modules_ask_no_other_server():
    for name in live.MODULES:
        text = (live.SOURCE / name).read_text(encoding="utf8")
        assert not re.search(r"https?://(?!www\.w3\.org/)|//cdn", text), name
