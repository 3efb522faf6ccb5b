"""The `{learn}` block: what it may be told, and its stills."""

import json
import re

import pytest

from press.contents import ROOT, file_of, listed
from press.extensions import learn, live, stills
from press.reading import cells_of

LEARN = (ROOT / "book" / "_live" / "learn_spec.mjs").read_text(encoding="utf8")


def test_a_block_tells_the_component_what_was_chosen():
    html = learn.box("reverse", {"score": "dot(q, W(k)) - 1", "length": "10", "feeding": "no"})
    told = json.loads(re.search(r'learn-options">(.*?)</script>', html)[1])
    assert told == {
        "task": "reverse",
        "score": "dot(q, W(k)) - 1",
        "length": 10,
        "feeding": False,
    }
    assert "<noscript>" in html


def test_a_line_cannot_end_its_script():
    html = learn.box("copy", {"score": "</script><b>"})
    assert html.count("</script>") == 2
    assert "<b>" in json.loads(re.search(r'learn-options">(.*?)</script>', html)[1])["score"]


@pytest.mark.parametrize(
    ("task", "options", "message"),
    [
        ("sort", {}, "the task is one of german, copy, reverse, own, not 'sort'"),
        ("copy", {"length": "99"}, "length is one of 4, 5"),
        ("copy", {"window": "local"}, "window is one of global, local-m, local-p"),
    ],
)
def test_what_there_is_not_is_refused(task, options, message):
    with pytest.raises(ValueError, match=message):
        learn.box(task, options)


def test_choices_are_the_components_own():
    """By name; what each may be, the component checks again when it reads an address."""
    defaults = LEARN.partition("export const DEFAULTS = {")[2].partition("};")[0]
    names = set(re.findall(r"(?m)^  (\w+):", defaults))
    assert set(learn.CHOICES) < names


# --- stills


def told(page: str) -> list[dict]:
    """What the blocks of a page are told; those in fences of code are examples."""
    cells = cells_of(file_of(page))
    texts = [cell.source for cell in cells if cell.cell_type == "markdown"]
    text = re.sub(r"(?ms)^```\w*$.*?^```$", "", "\n".join(texts))
    found = re.findall(r"(?ms)^:::\{learn\} (\w+)\n(.*?)^:::", text)
    options = [dict(re.findall(r"(?m)^:(\w+): (.*)$", body)) for _, body in found]
    for some in options:
        some.pop("height", None)
    return [learn.chosen(task, some) for (task, _), some in zip(found, options, strict=True)]


PAGES = {page: told(page) for _, pages in listed() for page in pages}
SPECS = [spec for of_page in PAGES.values() for spec in of_page]


def test_chapters_three_to_five_have_a_block():
    for name in ("03_learning_to_align", "04_global_attention", "05_local_attention"):
        assert len(PAGES[f"book/{name}"]) == 1


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: learn.still_path(spec, "en").stem)
@pytest.mark.parametrize("language", live.LANGUAGES)
def test_every_block_has_a_still_in_both_languages(spec, language):
    html = learn.still(spec, language)
    assert html, "draw it: python -m press.extensions.stills"
    assert html.count("<svg") == html.count('role="img"') == html.count("<figcaption>") == 2
    before, after = re.findall(r'aria-label="([^"]*)"', html)
    assert len(before) > 30 and len(after) > 60
    plain = {"True": "yes", "False": "no"}
    written = {name: plain.get(str(one), str(one)) for name, one in spec.items()}
    assert html in learn.box(written.pop("task"), written, language=language)


def test_stills_are_not_left_over():
    files = set((learn.SOURCE / "stills" / "learn").glob("*"))
    assert files == {learn.still_path(spec, one) for spec in SPECS for one in live.LANGUAGES}


def test_a_still_begins_as_a_fog_and_ends_locked_on():
    spec = next(spec for spec in SPECS if spec["task"] == "copy")
    before, after = learn.still(spec, "en").split("</figure>")[:2]
    darkest = [
        max(map(float, re.findall(r'live-share" fill-opacity="([\d.]+)"', part)))
        for part in (before, after)
    ]
    assert darkest[0] < 0.7 < 0.9 < darkest[1]


def test_a_stored_still_is_what_the_code_draws():
    spec = next(spec for spec in SPECS if spec["task"] == "copy")
    (drawn,) = stills.trained([spec])
    for language in live.LANGUAGES:
        assert drawn[language] == learn.still(spec, language), (
            "draw them again: press.extensions.stills"
        )


def test_trainings_of_built_pages_are_found_once(tmp_path):
    (tmp_path / "book").mkdir()
    page = learn.box("copy", {"length": "5"}) + learn.box("reverse", {})
    (tmp_path / "book" / "page.html").write_text(page * 2, encoding="utf8")
    wanted = [{"task": "copy", "length": 5}, {"task": "reverse"}]
    assert stills.told(tmp_path, "learn") == wanted
