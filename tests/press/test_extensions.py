"""Extensions of Sphinx: each file is switched on, and what is switched on is there."""

from importlib import import_module

import pytest
import yaml

from press.contents import ROOT

FILES = sorted((ROOT / "press" / "extensions").glob("[!_]*.py"))
CONFIG = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf8"))


def test_every_extension_is_switched_on():
    listed = CONFIG["sphinx"]["local_extensions"]
    assert sorted(listed) == [f"press.extensions.{path.stem}" for path in FILES]
    assert set(listed.values()) == {"."}  # the folder that `press` is imported from


@pytest.mark.parametrize("name", [path.stem for path in FILES])
def test_an_extension_can_be_set_up(name):
    assert callable(import_module(f"press.extensions.{name}").setup)
