"""Options of a command, read off the signatures and docstrings of what they are for.

``--model.hidden 64`` is the argument ``hidden`` of the model's constructor, of the type that its
signature has; ``--help`` says what its docstring says. A file of settings is read as if all of it
stood on the command line.
"""

import inspect
import re
import types
from argparse import SUPPRESS, ArgumentParser, BooleanOptionalAction, RawDescriptionHelpFormatter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NoReturn, Union, get_args, get_origin

import yaml
from pydantic import TypeAdapter

from attnmt.checks import ArgumentError

Makers = Mapping[str, Callable[..., Any]]


# --------------------------------------------------------------------------- types and docstrings


def kinds_of(annotation: Any) -> tuple[Any, ...]:
    """The types that an annotation allows."""
    union = get_origin(annotation) in (Union, types.UnionType)
    return get_args(annotation) if union else (annotation,)


def is_list(kind: Any) -> bool:
    """Whether a type is one of several values."""
    return get_origin(kind) in (tuple, list, Sequence)


def type_of(annotation: Any) -> str:
    """How help writes a type: int, true|false, [TEXT,TEXT], or the texts that it allows."""
    found = []
    for kind in kinds_of(annotation):
        if is_list(kind):
            found.append(f"[{','.join(type_of(one) for one in get_args(kind))}]")
        elif get_origin(kind) is Literal:
            found += get_args(kind)
        elif kind is not type(None):
            found.append({bool: "true|false", int: "int", float: "float"}.get(kind, "TEXT"))
    return "|".join(dict.fromkeys(found))


def value_of(text: str, annotation: Any) -> Any:
    """What a text on the command line means as a value of a type.

    Raises:
        ValueError: it is none.
    """
    kinds = kinds_of(annotation)
    empty = ("null", "") if str in kinds else ("null", "none", "")  # none is a text, too
    if type(None) in kinds and text.lower() in empty:
        return None
    listed = any(map(is_list, kinds)) and (text[:1] in "[(" or str not in kinds)
    parts = re.split(r"[\s,]+", re.sub("[\"']", "", text.strip("[]() ")))
    return TypeAdapter(annotation).validate_python(parts if listed else text)


def described(function: Callable[..., Any]) -> dict[str, str]:
    """What a docstring says of each argument, or attribute."""
    doc = inspect.getdoc(function) or ""
    found: dict[str, str] = {}
    for section in re.findall(r"^(?:Args|Attributes):\n((?:    .*\n?|\n)+)", doc, re.M):
        for names, text in re.findall(r"^    ([\w, ]+): (.*(?:\n {8}.*)*)", section, re.M):
            plain = re.sub(r":\w+:`[.~]*(?:[\w.]*\.)?(\w+)`", r"\1", " ".join(text.split()))
            plain = plain.replace("``", "").replace('"', "")
            found |= dict.fromkeys(names.split(", "), plain)
    return found


def arguments_of(function: Callable[..., Any], skip: int = 0) -> dict[str, inspect.Parameter]:
    """The arguments of a function that options can give: those behind the first few."""
    parameters = list(inspect.signature(function).parameters.values())[skip:]
    return {one.name: one for one in parameters if one.kind is not one.VAR_KEYWORD}


# --------------------------------------------------------------------------------------- settings


class Settings:
    """A group of options: a name, such as that of a model, and arguments of what it names."""

    def __init__(self, group: str, makers: Makers, default: str, skip: int = 0):
        self.group, self.makers, self.default, self.skip = group, makers, default, skip

    def add_to(self, parser: ArgumentParser) -> None:
        """Have a parser know all options, and help list them."""
        shown = parser.add_argument_group(f"{self.group} options")
        of_model = ", or that of the model" * (self.group == "corpus")
        name = f"one of {', '.join(self.makers)} (default: {self.default}{of_model})"
        shown.add_argument(
            f"--{self.group}.name", f"--{self.group}", metavar="NAME", default=SUPPRESS, help=name
        )
        found: dict[str, dict[tuple[str, str], list[str]]] = {}
        for maker, function in self.makers.items():
            docs = described(function)
            for one in arguments_of(function, self.skip).values():
                empty = one.default in (one.empty, None, ())
                help_text = docs.get(one.name, "").rstrip(".") + f" (default: {one.default})" * (
                    not empty
                )
                uses = found.setdefault(one.name, {})
                uses.setdefault((type_of(one.annotation), help_text), []).append(maker)
        for option, uses in found.items():
            helps = [
                f"{', '.join(makers)}: {help_text}" if len(makers) < len(self.makers) else help_text
                for (_, help_text), makers in uses.items()
            ]
            shown.add_argument(
                f"--{self.group}.{option}",
                metavar="|".join(dict.fromkeys(kind for kind, _ in uses)),
                default=SUPPRESS,
                help=". ".join(helps).replace("%", "%%"),
            )

    def given(
        self, parsed: Mapping[str, Any], changed: Mapping[str, Any] | None = None
    ) -> dict[str, Any] | None:
        """The name and the arguments that were given, each of its type; None if there are none.

        Raises:
            ArgumentError: the name or an argument is none, or has no such value.
        """
        texts = {
            option.removeprefix(f"{self.group}."): text
            for option, text in parsed.items()
            if option.startswith(f"{self.group}.")
        }
        if not texts:
            return None
        base = {} if changed is None or "name" in texts else dict(changed)
        name = texts.pop("name", base.get("name", self.default))
        if name not in self.makers:
            names = ", ".join(self.makers)
            raise ArgumentError(f"{self.group}.name must be one of {names}, not {name!r}")
        known = arguments_of(self.makers[name], self.skip)
        found: dict[str, Any] = {**base, "name": name}
        for option, text in texts.items():
            if option not in known:
                raise ArgumentError(
                    f"{self.group} {name} has no {option!r}. It has: {', '.join(known)}"
                )
            try:
                found[option] = value_of(text, known[option].annotation)
            except ValueError:
                wanted = type_of(known[option].annotation)
                raise ArgumentError(
                    f"{self.group}.{option} must be {wanted}, not {text!r}"
                ) from None
        return found

    def make(self, settings: Mapping[str, Any], *first: Any, **more: Any) -> Any:
        """What the settings ask for.

        Raises:
            ArgumentError: an argument is missing.
        """
        arguments = {**more, **settings}
        name = arguments.pop("name")
        known = arguments_of(self.makers[name], self.skip)
        lacks = [one.name for one in known.values() if one.default is one.empty]
        if missing := [option for option in lacks if option not in arguments]:
            needed = ", ".join(f"--{self.group}.{option}" for option in missing)
            raise ArgumentError(f"{self.group} {name} needs {needed}")
        return self.makers[name](*first, **arguments)


# ---------------------------------------------------------------------------------------- parsing


class Parser(ArgumentParser):
    """A parser that says what is wrong in one line, and ends with 2."""

    def error(self, message: str) -> NoReturn:
        """Refuse a command."""
        raise ArgumentError(f"{message}. {self.prog} --help lists the options")


def add_command(commands: Any, function: Callable[..., None], groups: Sequence[Settings]) -> None:
    """Add a command with the arguments of its function; settings are groups of their own."""
    about = (inspect.getdoc(function) or "").split("\n\nArgs:")[0]
    parser = commands.add_parser(
        function.__name__,
        help=about.split("\n")[0],
        usage=f"attnmt {function.__name__} [OPTION ...] "
        + " ".join(
            one.name.upper()
            for one in arguments_of(function).values()
            if one.default is one.empty and one.name not in [group.group for group in groups]
        ),
        description=about,
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
        argument_default=SUPPRESS,
    )
    docs = described(function)
    for one in arguments_of(function).values():
        if one.name in [group.group for group in groups]:
            continue
        help_text = docs[one.name].replace("%", "%%")
        if one.default is one.empty:
            many = {"nargs": "+"} if get_origin(one.annotation) is list else {}
            parser.add_argument(one.name, help=help_text, **many)
        elif one.annotation is bool:
            parser.add_argument(f"--{one.name}", action=BooleanOptionalAction, help=help_text)
        else:
            help_text += f" (default: {one.default})" * (one.default not in (None, ""))
            kind = type_of(one.annotation)

            def read(text: str, annotation: Any = one.annotation) -> Any:
                return value_of(text, annotation)

            read.__name__ = kind  # which argparse names in its message
            parser.add_argument(f"--{one.name}", type=read, metavar=kind, help=help_text)
    if groups:
        parser.add_argument(
            "--config", metavar="FILE", help="a file of settings, as train was given"
        )
    for group in groups:
        group.add_to(parser)


def plain(arguments: Sequence[str]) -> list[str]:
    """The arguments with underscores in the names of options."""
    found = []
    for argument in arguments:
        name, equals, value = argument.partition("=")
        if name.startswith("--"):
            name = re.sub(r"(?<=\w)-", "_", name).replace("--no_", "--no-")
        found.append(name + equals + value)
    return found


def from_file(path: str, known: Sequence[str], others: Sequence[str]) -> list[str]:
    """A file of settings as arguments, all text, without those that only ``others`` have.

    Raises:
        ArgumentError: the file has no settings.
    """
    try:
        read = yaml.load(Path(path).read_text(encoding="utf-8-sig"), Loader=yaml.BaseLoader)
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ArgumentError(
            f"{path} is no file of settings: {' '.join(str(error).split())}"
        ) from error
    if not isinstance(read, dict):
        raise ArgumentError(f"{path} is no file of settings: it must have lines like seed: 1")
    found = []
    for name, value in read.items():
        name = name.replace("-", "_")
        if name in others and name not in known:
            continue
        inner = value if isinstance(value, dict) else {"": value}
        for option, one in inner.items():
            if isinstance(one, dict):
                raise ArgumentError(f"{path}: {name}.{option} must be a value")
            text = f"[{','.join(map(str, one))}]" if isinstance(one, list) else one
            full = f"--{name}.{option}" if option else f"--{name}"
            if text in ("true", "false") and not option:  # of a command: --resume, --no-resume
                found.append(full if text == "true" else f"--no-{name}")
            else:
                found.append(f"{full}={text}")
    return found
