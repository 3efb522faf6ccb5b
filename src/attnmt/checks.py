"""Arguments that make no sense, refused by their names."""

from collections.abc import Collection
from numbers import Integral, Real
from typing import Any


def whole(least: int, **arguments: Any) -> None:
    """Refuse an argument that is no whole number, ``least`` or more. True and False are none."""
    for name, value in arguments.items():
        if not isinstance(value, Integral) or isinstance(value, bool) or int(value) < least:
            raise ValueError(f"{name} must be a whole number of at least {least}, not {value!r}")


def positive(**arguments: Any) -> None:
    """Refuse an argument that is no number above 0; nan is none, and a text is not one either."""
    for name, value in arguments.items():
        if not isinstance(value, Real) or isinstance(value, bool) or not float(value) > 0:
            raise ValueError(f"{name} must be a positive number, not {value!r}")


def one_of(choices: Collection[str], **arguments: Any) -> None:
    """Refuse an argument that is none of the choices."""
    for name, value in arguments.items():
        if value not in choices:
            raise ValueError(f"{name} must be one of {', '.join(choices)}, not {value!r}")
