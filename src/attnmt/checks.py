"""Arguments that make no sense, refused by their names."""

import math
import sys
from collections.abc import Collection
from numbers import Integral, Real
from os import PathLike
from typing import Any


class ArgumentError(ValueError):
    """An argument that makes no sense."""


class ArgumentTypeError(ArgumentError, TypeError):
    """An argument of another kind."""


def as_python(number: Any) -> Any:
    """A number of numpy's as one of Python's, which JSON can hold; anything else as text."""
    return number.item() if hasattr(number, "item") else str(number)


def whole(least: int, **arguments: Any) -> None:
    """Refuse an argument that is no whole number, ``least`` or more. True and False are none."""
    for name, value in arguments.items():
        if not isinstance(value, Integral) or isinstance(value, bool) or int(value) < least:
            raise ArgumentError(f"{name} must be a whole number of at least {least}, not {value!r}")
        if int(value) > sys.maxsize:
            raise ArgumentError(f"{name} must be below 2**63, not {value!r}")


def positive(**arguments: Any) -> None:
    """Refuse an argument that is no number above 0; nan is none, and a text is not one either."""
    for name, value in arguments.items():
        if not isinstance(value, Real) or isinstance(value, bool) or not float(value) > 0:
            raise ArgumentError(f"{name} must be a positive number, not {value!r}")


def one_of(choices: Collection[str], **arguments: Any) -> None:
    """Refuse an argument that is none of the choices."""
    for name, value in arguments.items():
        if not isinstance(value, str) or value not in choices:
            raise ArgumentError(f"{name} must be one of {', '.join(choices)}, not {value!r}")


def flag(**arguments: Any) -> None:
    """Refuse an argument that is neither True nor False."""
    for name, value in arguments.items():
        if not isinstance(value, bool):
            raise ArgumentError(f"{name} must be True or False, not {value!r}")


def text_of(**arguments: Any) -> None:
    """Refuse an argument that is no string.

    Raises:
        TypeError: one of them is something else.
    """
    for name, value in arguments.items():
        if not isinstance(value, str):
            raise ArgumentTypeError(f"{name} must be a string, not {value!r}")


def at_least(least: float, **arguments: Any) -> None:
    """Refuse an argument that is no number, ``least`` or more; nan and infinity are none."""
    for name, value in arguments.items():
        real = isinstance(value, Real) and not isinstance(value, bool)
        if not real or not least <= float(value) < math.inf:
            raise ArgumentError(f"{name} must be {least:g} or more, not {value!r}")


def file_name(**arguments: Any) -> None:
    """Refuse an argument that is no name of a file: a string or a path, and not an empty one.

    Raises:
        TypeError: a number, a truth value, a list: a file of such a name is written as a string.
        ValueError: an empty string.
    """
    for name, value in arguments.items():
        if not isinstance(value, str | PathLike):
            raise ArgumentTypeError(f"{name} must be the name of a file, a string, not {value!r}")
        if not str(value):
            raise ArgumentError(f"{name} must be the name of a file, and not empty")
