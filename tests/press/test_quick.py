"""The copies that `make nbval` executes: the book's notebooks, with the knob at "quick"."""

import nbformat

from press.contents import ROOT, chapter_numbers
from press.run.quick import copy_quick


def code_of(path):
    return [cell.source for cell in nbformat.read(path, as_version=4).cells]


def test_the_knob_of_every_chapter_is_turned_and_nothing_else(tmp_path):
    turned = {path.name for path in copy_quick(tmp_path)}
    numbered = {f"{name}.ipynb" for name in chapter_numbers()}
    numbered = {name for name in numbered if (ROOT / "book" / name).exists()}
    assert numbered <= turned
    for name in turned:
        ours, theirs = code_of(tmp_path / "book" / name), code_of(ROOT / "book" / name)
        changed = [(a, b) for a, b in zip(ours, theirs, strict=True) if a != b]
        assert len(changed) == 1, f"{name}: the knob is set in {len(changed)} cells"
        assert changed[0][0] == changed[0][1].replace('SIZES["chapter"]', 'SIZES["quick"]')


def test_a_copy_takes_the_place_of_the_last_one(tmp_path):
    (tmp_path / "book").mkdir()
    (tmp_path / "book" / "old.ipynb").write_text("{}")
    copy_quick(tmp_path)
    assert not (tmp_path / "book" / "old.ipynb").exists()
    assert (tmp_path / "book" / "figures").is_dir()
