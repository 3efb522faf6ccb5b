"""Leave out of a style sheet what no page uses."""

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

import tinycss2
from tinycss2.ast import AtRule, Node, QualifiedRule

GROUPS = {"media", "supports", "layer", "container"}  # rules that hold rules
NAMED = re.compile(r'\b(?:class|id)="([^"]*)"')
WORD = re.compile(r"[A-Za-z_][\w-]*")


def names_in(page: str) -> set[str]:
    """The classes and identifiers of a page."""
    return {name for names in NAMED.findall(page) for name in names.split()}


def words_in(script: str) -> set[str]:
    """All words of a script: any may be a class that it sets."""
    return set(WORD.findall(script))


def selectors(prelude: list[Node]) -> Iterator[list[Node]]:
    """The selectors of a rule, one after the other."""
    one: list[Node] = []
    for token in [*prelude, None]:
        if token is None or token == ",":
            yield one
            one = []
        else:
            one.append(token)


def asked(selector: list[Node]) -> set[str]:
    """The classes and identifiers without which a selector finds nothing."""
    pairs = pairwise(selector)
    classes = {after.value for dot, after in pairs if dot == "." and after.type == "ident"}
    return classes | {token.value for token in selector if token.type == "hash"}


def kept(rules: Iterable[Node], used: set[str]) -> Iterator[str]:
    """Of each rule, what may apply."""
    for rule in rules:
        if isinstance(rule, QualifiedRule):
            some = [one for one in selectors(rule.prelude) if asked(one) <= used]
            if some and rule.content:
                heads = ",".join(tinycss2.serialize(one).strip() for one in some)
                yield f"{heads}{{{body(rule.content)}}}"
        elif isinstance(rule, AtRule) and rule.lower_at_keyword in GROUPS and rule.content:
            inner = tinycss2.parse_rule_list(rule.content, skip_comments=True, skip_whitespace=True)
            if text := "".join(kept(inner, used)):
                head = tinycss2.serialize(rule.prelude).strip()
                yield f"@{rule.at_keyword} {head}{{{text}}}"
        elif isinstance(rule, AtRule) and rule.lower_at_keyword != "charset":
            yield rule.serialize()


def body(content: list[Node]) -> str:
    """A rule's declarations, without comments and spare blanks."""
    text = tinycss2.serialize(token for token in content if token.type != "comment")
    lines = text.split("\n")
    return "".join(line.strip() if ":" in line else f" {line.strip()}" for line in lines).strip()


def prune(style: str, used: set[str]) -> str:
    """A style sheet without the rules that ask for a class or identifier that is not `used`.

    What stands in `:is(...)`, `:not(...)` and the like is not looked at: such a rule stays.
    """
    rules = tinycss2.parse_stylesheet(style, skip_comments=True, skip_whitespace=True)
    return "\n".join(kept(rules, used)) + "\n"
