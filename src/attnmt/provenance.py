"""What a model was trained on: its corpus, found again, or another one that fits it."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from inspect import signature
from typing import Any

from attnmt.checks import ArgumentError, one_of
from attnmt.corpus import GRAMMAR_DIRECTIONS, MAKERS, MULTI30K_PAIRS
from attnmt.pairs import PARTS, SAMPLE, Corpus, Pair, in_lower_case
from attnmt.text import TextWarning
from attnmt.text.subwords import in_words
from attnmt.vocab import UNK


def corpus_of(
    model: Any,
    makers: Mapping[str, Callable[..., Corpus]] = MAKERS,
    settings: Mapping[str, Any] | None = None,
    path: str = "the model",
    part: str = "test",
) -> Corpus:
    """The corpus to measure a model on: that of its training, made again, or another one.

    Args:
        model: a trained model; ``trained_on`` says what it knows of its corpus.
        makers: of corpora, by their names.
        settings: the name and the arguments of another corpus. What the model fixes (languages,
            case, tokeniser) is taken from it where they leave it out.
        path: of the model, for messages.
        part: that will be measured.

    Returns:
        The corpus, in words.

    Raises:
        ValueError: the model does not say what it was trained on, or that cannot be made again; or
            the settings do not fit it.

    Warns:
        TextWarning: the corpus has changed since, or is another one; sentences of the part were
            trained on; most of its words are unknown to the model.
    """
    one_of(PARTS, part=part)
    facts = getattr(model, "trained_on", None)  # a model of one's own may lack it
    silent = f"{path} does not say what it was trained on"
    told: list[str] = []
    own = None
    if settings is None:
        if not facts:
            older = "it was saved by an older version, or never trained"
            raise ArgumentError(f"{silent}: {older}. Name a corpus")
        found = own = _made_again(facts, makers, path)
    else:
        found = _fitting(model, makers, dict(settings), path)
        if not facts:
            unknown = f"so nobody can tell whether sentences of {part} were training sentences"
            told.append(f"{silent}, {unknown}")
        else:
            try:
                own = _made_again(facts, makers, path)
            except (ValueError, OSError) as error:
                told.append(str(error))
            if found.name != facts["name"]:
                other = f"is measured on {found.name}"
                told.append(f"{path} was trained on {facts['name']}, and {other}")
            elif own and part != "train" and getattr(own, part) != getattr(found, part):
                other = f"{part} of another {found.name} (a file of that name, or a draw)"
                told.append(f"{path} was trained on {facts['name']}, and is measured on {other}")
        told += _strangers(model, getattr(found, part), path, part)
    pairs = getattr(found, part)
    count = 0 if own is None else same_sentences(own.train, pairs)
    if count and part != "train":
        of = f"of {len(pairs):,} sentences of {part}"
        told.append(f"{count:,} {of} were training sentences of {path}")
    for message in told:
        warnings.warn(message, TextWarning, stacklevel=2)
    return found


def same_sentences(train: Iterable[Pair], test: Sequence[Pair]) -> int:
    """How many test pairs have a source sentence that some training pairs have, too."""
    asked = {_bare(pair) for pair in test}
    known = asked.intersection(map(_bare, train))
    return sum(_bare(pair) in known for pair in test)


def _bare(pair: Pair) -> str:
    """A source sentence without its case and its spaces, which another file may have otherwise."""
    return "".join(pair.source_text.lower().split())


def _strangers(model: Any, pairs: Sequence[Pair], path: str, part: str) -> Iterator[str]:
    """A line where most words of a side are unknown to a model: is it the right corpus?"""
    for side in ("source", "target"):
        vocabulary = getattr(model, f"{side}_vocabulary")
        words = [word for pair in pairs[:SAMPLE] for word in getattr(pair, side)]
        unknown = sum(UNK in vocabulary.encode(vocabulary.units.split([word])) for word in words)
        if 2 * unknown > len(words):
            yield (
                f"{unknown:,} of {len(words):,} {side} words of {part} are unknown to {path}: "
                "has the corpus its languages, its direction and its case?"
            )


def _made_again(
    facts: Mapping[str, Any], makers: Mapping[str, Callable[..., Corpus]], path: str
) -> Corpus:
    """The corpus of some :attr:`.Corpus.facts`, in words."""
    arguments = dict(facts["origin"])
    name = arguments.pop("name", None)
    if name not in makers:
        raise ValueError(
            f"{path} was trained on the corpus {facts['name']}, which cannot be made again. Name a "
            "corpus"
        )
    try:
        with warnings.catch_warnings(category=TextWarning, action="ignore"):  # they were told
            found = makers[name](**arguments)
    except FileNotFoundError as error:
        raise ValueError(f"{path} was trained on a file that is gone: {error}") from error
    now = found.facts["fingerprints"]
    if changed := [part for part, was in facts["fingerprints"].items() if now[part] != was]:
        message = f"{' and '.join(changed)} of {found.name} is not what {path} was trained with: "
        warnings.warn(message + "the text has changed since", TextWarning, stacklevel=3)
    return in_words(found)


def _fitting(
    model: Any, makers: Mapping[str, Callable[..., Corpus]], settings: dict[str, Any], path: str
) -> Corpus:
    """The corpus that some settings name, with what the model fixes."""
    name = settings.pop("name", None)
    one_of(tuple(makers), **{"corpus.name": name})
    source, target = model.source_vocabulary, model.target_vocabulary
    languages = source.language, target.language
    fixed = {"languages": languages, "lower": source.lower, "tokeniser": source.tokeniser}
    fixed |= {"pair": "-".join(languages), "direction": "-".join(languages)}
    known = signature(makers[name]).parameters
    for option in ("subwords", "joint"):
        settings.pop(option, None)  # the model has its own
    fixed = {option: value for option, value in fixed.items() if option in known}
    if name == "multi30k" and fixed["pair"] not in MULTI30K_PAIRS:
        del fixed["pair"]
    if name == "grammar" and fixed["direction"] not in GRAMMAR_DIRECTIONS:
        del fixed["direction"]
    found = in_words(makers[name](**fixed | settings))
    given = found.source_language, found.target_language
    if given != languages:
        raise ArgumentError(
            f"{path} translates {languages[0]} to {languages[1]}, and the corpus is of {given[0]} "
            f"and {given[1]}"
        )
    if found.lower and not source.lower:
        raise ArgumentError(f"{path} keeps capitals, and the corpus has none: leave out lower")
    return found if found.lower == source.lower else in_lower_case(found)
