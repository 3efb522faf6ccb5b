"""Stamps: outputs depend on a notebook's code and on the modules that it imports, on no other."""

import nbformat.v4 as nb
import pytest

from press.run.imports import needed
from press.run.stamps import package_hash, pins

FILES = {
    "core/__init__.py": "from core.words import split\nfrom core.measure import score\n",
    "core/words.py": "import re\n\ndef split(text):\n    return re.split(' ', text)\n",
    "core/measure.py": "from core import words\n\ndef score(text):\n    return words.SPLIT\n",
    "lazy/__init__.py": "MODULES = {'shared': 'plots', 'core.words': 'split ' 'join'}\n",
    "shared/__init__.py": '"""Nothing is gathered here."""\n',
    "shared/plots.py": "from core.measure import score\n",
    "shared/command.py": "def main():\n    from shared import plots\n",
    "corpus/__init__.py": "LIST = 'lists/words.tsv'\n",
    "corpus/lists/words.tsv": "Haus\n",
}


@pytest.fixture
def src(tmp_path):
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def notebook(*sources: str):
    return nb.new_notebook(cells=[nb.new_code_cell(source) for source in sources])


@pytest.mark.parametrize(
    ("source", "modules"),
    [
        ("import torch", set()),
        ("from core import split", {"core.words"}),
        ("from core import score", {"core.measure", "core.words"}),
        ("from core.words import split", {"core.words"}),
        ("from core import *", {"core", "core.measure", "core.words"}),
        ("import torch as t, core", {"core", "core.measure", "core.words"}),
        ("from shared import plots", {"shared.plots", "core.measure", "core.words"}),
        ("from lazy import join", {"core.words"}),
        ("from lazy import plots", {"shared.plots", "core.measure", "core.words"}),
        ("from shared.command import main", {"shared.command", "shared.plots", "core.measure"}),
    ],
)
def test_what_is_needed(src, source, modules):
    found = set(needed(source, src))
    assert modules <= found
    assert found - modules <= {"core.words"}


def test_the_hash_sees_names_bytes_and_word_lists_of_what_is_imported(src):
    book = notebook("import corpus", "%matplotlib inline\nfrom core import score")
    first = package_hash(book, src)
    for name in ("corpus/notes.txt", "shared/plots.py", "core/__init__.py"):  # not code, not read
        with (src / name).open("a") as file:
            file.write("# more\n")
    assert package_hash(book, src) == first
    seen = {first}
    for name in (
        "core/words.py",
        "core/measure.py",
        "corpus/__init__.py",
        "corpus/lists/words.tsv",
    ):
        with (src / name).open("a") as file:
            file.write("# more\n")
        seen.add(package_hash(book, src))
    (src / "corpus" / "lists" / "words.tsv").rename(src / "corpus" / "lists" / "more.tsv")
    seen.add(package_hash(book, src))
    assert len(seen) == 6


def test_pins_are_those_of_what_the_notebook_and_its_modules_import(src):
    requirements = src / "requirements.txt"
    requirements.write_text("# a note\ntorch==2.0\nnumpy==1.0\nruff==0.1\n")
    (src / "core" / "words.py").write_text("import numpy as np\n")
    book = notebook("from core.words import np\nimport nobody")
    assert pins(book, src, requirements) == {"numpy": "1.0"}
    book = notebook("import torch.nn", "%matplotlib inline")
    assert pins(book, src, requirements) == {"torch": "2.0"}
