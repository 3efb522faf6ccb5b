"""Light pages in small: what of a style sheet stays, and what becomes of a page."""

import json

import pytest
from PIL import Image

from press.extensions.light import lighten, picture_size, without_labels
from press.extensions.stylesheet import names_in, prune, words_in

PAGE = """<html lang="en"><head>
<meta name="viewport" content="a" /><meta name="viewport" content="b">
<link href="_static/styles/theme.css?digest=1" rel="stylesheet" />
<link href="_static/styles/bootstrap.css?digest=1" rel="stylesheet" />
<link rel="preload" as="font" href="_static/x.woff2" />
<link rel="stylesheet" type="text/css" href="_static/live/see.css" />
<script src="_static/documentation_options.js?v=1"></script>
<script>let toggleHintShow = 'Click to show';</script>
<script src="_static/togglebutton.js?v=1"></script>
<script type="module" src="_static/live/page.mjs"></script>
<script>DOCUMENTATION_OPTIONS.pagename = 'book/one';</script>
</head><body class="bd-article wide" id="top">
<i class="fa-solid fa-list"></i><img src="a.png" alt="a"><img src="b.png" alt="b">
<script>document.write(`<button>Search</button>`);</script>
</body></html>
"""


@pytest.mark.parametrize(
    ("style", "expected"),
    [
        (".a{x:1} .b{x:2}", ".a{x:1}"),
        (".a, .b, p{x:1}", ".a,p{x:1}"),
        (".a .b{x:1} .a > p{x:2}", ".a > p{x:2}"),
        ("#top{x:1} #no{x:2}", "#top{x:1}"),
        ("@media print{.b{x:1}} @media print{.a{x:1}}", "@media print{.a{x:1}}"),
        ("p:not(.b){x:1}", "p:not(.b){x:1}"),
        (":is(.b, p){x:1}", ":is(.b, p){x:1}"),
        ("a[class*=b]{x:1} .a:hover::before{x:2}", "a[class*=b]{x:1}\n.a:hover::before{x:2}"),
        ("/* c */ p{/* d */x:1}", "p{x:1}"),
        ("@keyframes turn{to{x:1}}", "@keyframes turn{to{x:1}}"),
        ("p{--v:1px;margin:calc(1px + 2px)}", "p{--v:1px;margin:calc(1px + 2px)}"),
        ('p::after{content:"a, .b"}', 'p::after{content:"a, .b"}'),
        ("p{margin:0\n  auto}", "p{margin:0 auto}"),
    ],
)
def test_rules_that_no_page_can_use_are_left_out(style, expected):
    assert prune(style, {"a", "top"}).strip() == expected


def test_a_class_that_a_script_sets_is_used():
    assert "toggle-hidden" in words_in('one.classList.add("toggle-hidden")')
    assert names_in('<p class="a b" id="c">') == {"a", "b", "c"}


def test_the_size_of_a_picture(tmp_path):
    Image.new("RGB", (30, 20)).save(tmp_path / "a.png")
    (tmp_path / "a.svg").write_text('<svg viewBox="0 0 40.4 9.6">\n</svg>', encoding="utf8")
    assert picture_size(tmp_path / "a.png") == (30, 20)
    assert picture_size(tmp_path / "a.svg") == (40, 10)
    (tmp_path / "a.svg").write_text('<svg width="30pt" height="15pt" viewBox="0 0 1 1"/>', "utf8")
    assert picture_size(tmp_path / "a.svg") == (40, 20)
    (tmp_path / "a.svg").write_text("<svg/>", "utf8")
    assert picture_size(tmp_path / "a.svg") is None


def test_a_site_is_made_light_once(tmp_path):
    static = tmp_path / "_static"
    for name, text in {
        "styles/theme.css": '@import "../basic.css";',
        "basic.css": ".wide{x:1}\n.narrow{x:2}",
        "styles/bootstrap.css": ".toggled{x:3}\n.modal{x:4}",
        "documentation_options.js": "const DOCUMENTATION_OPTIONS = {};",
        "togglebutton.js": 'add("toggled")',
    }.items():
        (static / name).parent.mkdir(parents=True, exist_ok=True)
        (static / name).write_text(text, encoding="utf8")
    page = tmp_path / "one.html"
    page.write_text(PAGE, encoding="utf8")
    lighten(tmp_path)
    style = (static / "site.css").read_text(encoding="utf8")
    assert style.split() == [".wide{x:1}", ".toggled{x:3}"]
    script = (static / "site.js").read_text(encoding="utf8")
    places = [script.index(part) for part in ("let toggle", "const DOC", ".pagename", "add(")]
    assert places == sorted(places)
    once = page.read_text(encoding="utf8")
    lighten(tmp_path)
    assert page.read_text(encoding="utf8") == once


def test_what_two_labels_make_together_is_no_word_to_search_for():
    terms = {"00aber": 0, "98träumt": 1, "aber": [0, 1], "13a": 0, "2nd": 0, "2015": 1, "ba0ke": 2}
    terms |= {"0125": 1, "98": [0, 2], "10004": 1, "": 0, "128": 1}
    index = f"Search.setIndex({json.dumps({'docnames': ['a'], 'terms': terms})})"
    found = without_labels(index + "\n")
    assert found.startswith("Search.setIndex({") and found.endswith("})")
    kept = json.loads(found.removeprefix("Search.setIndex(").removesuffix(")"))
    assert kept["docnames"] == ["a"]
    assert list(kept["terms"]) == ["aber", "13a", "2nd", "2015", "ba0ke", "128"]
    assert kept["terms"]["aber"] == [0, 1]
    assert without_labels(found) == found
