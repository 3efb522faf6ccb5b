"""What the pages for newcomers name is there: files, folders, commands."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PLACES = [ROOT, ROOT / "press" / "extensions"]  # what CONTRIBUTING names beside an extension
PAGES = ["README.md", "CONTRIBUTING.md", "book/for_lecturers.md", "book/command_line.md"]
PAGES += ["book/how_to.md", "book/publish.md", "book/troubleshooting.md"]
MADE = ("_build/", ".venv/", "my-page/")  # by a command of the page


def page(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf8")


@pytest.mark.parametrize("name", PAGES)
def test_commands_that_a_page_names_are_targets(name):
    targets = set(re.findall(r"^(\w+):", page("Makefile"), flags=re.MULTILINE))
    assert set(re.findall(r"(?:`|^)make ([a-z]+)", page(name), flags=re.MULTILINE)) <= targets


@pytest.mark.parametrize("name", PAGES)
def test_files_that_a_page_names_are_there(name):
    named = re.findall(r"`(?:pytest )?([\w.-]+/[\w./-]*|\w+\.(?:py|md|toml|txt))`", page(name))
    named = [path for path in named if not path.startswith(MADE) and "name" not in path]
    missing = {path for path in named if not any((place / path).exists() for place in PLACES)}
    assert not missing


def test_the_readme_shows_where_things_are():
    """Each folder of the layout, at the depth at which it is drawn."""
    layout = page("README.md").partition("## Where things are")[2].split("```")[1]
    above, found = "", []
    for indent, folder in re.findall(r"(?m)^( *)([\w/]+/)(?= )", layout):
        above = above if indent else folder
        found.append(above + folder if indent else folder)
    assert len(found) > 10
    assert [folder for folder in found if not (ROOT / folder).is_dir()] == []
