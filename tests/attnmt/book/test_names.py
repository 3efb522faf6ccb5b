"""attnmt.book gives pages every name from one room, and reads its modules only when asked."""

import ast
import json
import subprocess
import sys
from importlib import import_module
from types import ModuleType

import pytest

from attnmt import book
from press.contents import ROOT

PAGES = sorted((ROOT / "book").glob("*.ipynb"))


@pytest.mark.parametrize("name", book.__all__)
def test_each_name_is_there(name):
    assert getattr(book, name) is not None


def test_other_names_are_refused():
    with pytest.raises(ImportError, match="nonsense"):
        exec("from attnmt.book import nonsense")


def test_a_model_is_loaded_without_figures_and_statistics():
    code = "import sys, attnmt.book; attnmt.book.pretrained; print('seaborn' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "False\n"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_imports_in_one_block_what_exists(page):
    """Solutions may import besides, and a whole translator where it needs more."""
    cells = json.loads(page.read_text(encoding="utf-8"))["cells"]
    blocks = []
    modules = {}
    for cell in cells:
        tags = cell["metadata"].get("tags", [])
        if cell["cell_type"] != "code" or "colab" in tags:
            continue
        code = ast.parse("".join(cell["source"]))
        imports = [one for one in code.body if isinstance(one, ast.Import | ast.ImportFrom)]
        if imports and "solution" not in tags:
            assert code.body[: len(imports)] == imports
            blocks.append(imports)
        for one in imports:
            if isinstance(one, ast.ImportFrom) and one.module.startswith("attnmt"):
                for name in one.names:
                    value = getattr(import_module(one.module), name.name)
                    if isinstance(value, ModuleType):
                        modules[name.asname or name.name] = value
        for one in ast.walk(code):  # such as plots.theme
            if isinstance(one, ast.Attribute) and getattr(one.value, "id", "") in modules:
                assert hasattr(modules[one.value.id], one.attr), ast.unparse(one)
    assert len(blocks) == 1 or page.stem == "one_page"
