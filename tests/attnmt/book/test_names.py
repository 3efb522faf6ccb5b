"""attnmt.book gives pages every name from one room, and reads its modules only when asked."""

import subprocess
import sys

import pytest

from attnmt import book


@pytest.mark.parametrize("name", book.__all__)
def test_each_name_is_there(name):
    assert getattr(book, name) is not None


def test_a_model_is_loaded_without_figures_and_statistics():
    code = "import sys, attnmt.book; attnmt.book.pretrained; print('seaborn' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "False\n"
