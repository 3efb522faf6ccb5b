"""attnmt.book gives pages every name from one room, and reads its modules only when asked."""

from attnmt import book


def test_each_name_is_there():
    assert None not in [getattr(book, name) for name in book.__all__]
