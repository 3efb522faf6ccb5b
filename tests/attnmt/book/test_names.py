"""attnmt.book gives pages every name from one room, and reads its modules only when asked."""

import pytest

from attnmt import book


@pytest.mark.parametrize("name", book.__all__)
def test_each_name_is_there(name):
    assert getattr(book, name) is not None
