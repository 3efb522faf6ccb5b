"""The blocks `{live}` and `{learn}` of the pages, their stills, and what the site gets for them."""

import json
import re
from html import unescape

import parity
import pytest
from docutils.utils import assemble_option_dict

from attnmt import greedy
from attnmt.book.live import weights
from attnmt.book.live.view import STYLES, modules
from press.contents import file_of, listed
from press.editions import catalogue
from press.extensions import live, stills
from press.phrases import in_words
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
        found.append(DIRECTIVES[name].specify(argument, options))
    return found


PAGES = {
    page: specs("\n".join(cell.source for cell in cells_of(file_of(page))))
    for _, pages in listed()
    for page in pages
}
SPECS = [spec for of_page in PAGES.values() for spec in of_page]


def each(kind: str):
    some = {json.dumps(spec): spec for spec in SPECS if live.kind_of(spec) == kind}
    return pytest.mark.parametrize("spec", some.values(), ids=some)


def given(html: str) -> dict:
    """What a block's component reads from its page."""
    return json.loads(re.search(r'-options">(.*?)</script>', html)[1])


def test_a_block_tells_its_component_what_is_written():
    pair, step, learn = specs(
        ":::{live} rnnencdec rnnsearch\n:sentence: Ein Hund.\n:english: A dog.\nText.\n:::\n"
        ":::{live} rnnsearch\n:frames:\n:sentence: Ein Hund.\n:::\n"
        ":::{learn} reverse\n:score: dot(q, W(k)) - 1\n:length: 10\n:window: local-m\n:::\n"
    )
    shown = {"mode": "pair", "models": ["rnnencdec", "rnnsearch"], "sentence": "Ein Hund."}
    assert pair == shown | {"english": "A dog."}
    options = given(live.box(pair))
    assert options == pair | {"size": options["size"]}
    assert step["mode"] == "step"
    rules = {"score": "dot(q, W(k)) - 1", "length": 10, "window": "local-m"}
    assert live.options_of(learn) == {"task": "reverse"} | rules


def test_options_cannot_end_their_script():
    (spec,) = specs(":::{live} rnnsearch\n:sentence: </script><b>Ja.</b>\n:::\n")
    html = live.box(spec)
    assert html.count("</script>") == 2
    assert "</script><b>Ja.</b>" in given(html).values()


def test_pages_fetch_little():
    files = ("page.mjs", *modules("see.mjs"), *STYLES, "sentences.json")
    component = sum((live.SOURCE / name).stat().st_size for name in files)
    for page, of_page in PAGES.items():
        models = {name for spec in of_page for name in spec.get("models", ())}
        assert component + sum(len(live.packed(name)) for name in models) < LIMIT, page


# --- stills


@each("live")
def test_a_translation_has_a_still_with_the_packages_own_words_and_weights(spec):
    html = stills.translation(spec, {})
    shown = spec["models"][:1] if spec["mode"] == "step" else spec["models"]
    drawn = re.findall(r"<svg.*?</svg>", html, re.DOTALL)
    written = re.findall(r'class="live-written"[^>]*>(.*?)</p>', html)
    for name, text in zip(shown, written, strict=True):
        model = weights.pretrained(name)
        (found,) = greedy(model, [model.source_vocabulary.tokenise(spec["sentence"])])
        words = unescape(re.sub(r"<[^>]+>", "", text))
        assert words.replace(" ", "") == "".join(found.words)
        if not model.attends:
            continue
        titles = re.findall(r"<title>(.*?)</title>", drawn.pop(0))
        assert titles == [
            f"{s} → {t}: {weight:.2f}"
            for t, row in zip(found.words, found.alignment, strict=True)
            for s, weight in zip(
                model.source_vocabulary.tokenise(spec["sentence"]), row, strict=True
            )
        ]
    assert not drawn and not re.search("<button|<script", html)


def test_words_that_the_reference_does_not_have_there_are_marked():
    assert stills.shared(["a", "b", "c", "d"], ["b", "x", "d", "a"]) == {1, 3}
    german = {"sentence": "Der Hund schläft."}
    html = stills.translation(live.translation("rnnencdec", german), {})
    assert 'class="wrong"' not in html  # there is no reference
    other = german | {"english": "A cat sleeps."}
    html = stills.translation(live.translation("rnnsearch", other), {})
    assert re.findall(r'class="wrong">(\w+)', html) == ["the", "dog"]


@each("learn")
def test_a_training_has_a_still_that_begins_as_a_fog_and_ends_locked_on(spec):
    html = stills.training(spec, {})
    assert html.count("<svg") == html.count('role="img" aria-label="') == 2
    assert html.count("<figcaption>") == 2
    drawn = [
        max(map(float, re.findall(r'fill-opacity="([\d.]+)"', part)))
        for part in html.split("</figure>")[:2]
    ]
    assert drawn[0] < 0.7 < 0.9 < drawn[1] or spec["task"] != "copy"


def test_recorded_trainings_are_what_node_trains():
    parity.need_node()
    recorded = stills.trainings()
    assert [one["spec"] for one in recorded if one["spec"] not in SPECS] == []
    (copied,) = (one for one in recorded if one["spec"]["task"] == "copy")
    assert stills.record([copied["spec"]]) == [copied], "python -m press.extensions.stills"


@pytest.mark.parametrize("kind", DIRECTIVES)
def test_a_korean_page_has_korean_blocks(kind):
    """Its own words; sentences and numbers stay as they are."""
    spec = next(spec for spec in SPECS if live.kind_of(spec) == kind)
    words = catalogue.table()
    korean = live.box(spec, words)
    for text in (live.SCRIPTLESS[kind], live.FROM_FILE[kind]):
        assert in_words(text, words) in korean and text not in korean
    assert (words[live.START] in korean) == (kind == "live") and live.START not in korean
    still = re.sub(r"<[^>]+>", " ", korean.partition("-still")[2].partition("<noscript>")[0])
    assert re.search(r"[가-힣]", still)
    assert not re.search("attention|feeding|Reference|training|updates", still)
