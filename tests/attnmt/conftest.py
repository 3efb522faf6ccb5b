"""What some tests of the package share."""

import signal

import pytest


@pytest.fixture
def ctrl_c_is_heard():
    """Python's own handler, also where the tests run in the background and Ctrl-C is ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
