"""Parameters of a scenario, and their values from the command line by their annotations."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin

import click

from ecs_audio.cli.errors import nearest

REQUIRED = inspect.Parameter.empty
"""The default of a parameter that has none."""

_TRUE, _FALSE = ("true", "yes", "on", "1"), ("false", "no", "off", "0")


class Parameter(NamedTuple):
    """A keyword parameter of a function, or a field of the settings."""

    name: str
    kind: Any
    """Its annotation."""
    default: Any

    @property
    def type_name(self) -> str:
        """The annotation as people write it: `int`, `Path | None`."""
        return type_name(self.kind)


def parameters_of(function: Callable[..., Any]) -> dict[str, Parameter]:
    """The named parameters of a function; one without an annotation has the type of its default.

    Raises UsageError for an annotation that means nothing in the function's module.
    """
    found = {}
    for name, p in inspect.signature(function).parameters.items():
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD, p.POSITIONAL_ONLY):
            continue
        kind = p.annotation
        if isinstance(kind, str):  # `from __future__ import annotations`
            kind = _evaluated(name, kind, function)
        if kind is REQUIRED:
            kind = str if p.default is REQUIRED or p.default is None else type(p.default)
        found[name] = Parameter(name, kind, p.default)
    return found


def _evaluated(name: str, annotation: str, function: Callable[..., Any]) -> Any:
    try:
        return eval(annotation, dict(getattr(inspect.unwrap(function), "__globals__", {})))
    except Exception as error:
        raise click.UsageError(
            f"the parameter {name} has the annotation {annotation!r}, which cannot be read: {error}"
        ) from error


def type_name(kind: Any) -> str:
    """An annotation as people write it."""
    if kind is None or kind is NoneType:
        return "None"
    if get_origin(kind) in (Union, UnionType):
        return " | ".join(type_name(k) for k in get_args(kind))
    if get_origin(kind) is Literal:
        return " | ".join(repr(value) for value in get_args(kind))
    if get_origin(kind) is tuple:
        return f"tuple[{', '.join('...' if k is ... else type_name(k) for k in get_args(kind))}]"
    return kind.__name__ if isinstance(kind, type) and get_origin(kind) is None else str(kind)


def split(pairs: Sequence[str], option: str) -> dict[str, str]:
    """`key=value` texts as a dict. Raises UsageError for other texts and a key given twice."""
    texts: dict[str, str] = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not equals or not key.strip():
            raise click.UsageError(f"{option} takes key=value, not {pair!r}")
        if key.strip() in texts:
            raise click.UsageError(f"{key.strip()} is given twice")
        texts[key.strip()] = text.strip()
    return texts


def values(texts: Mapping[str, str], known: Mapping[str, Parameter], owner: str, what: str) -> dict[str, Any]:
    """The texts as values. Raises UsageError naming an unknown key and the known ones, or the bad value.

    owner: whose they are. what: a word for one of them.
    """
    for name in texts:
        if name not in known:
            there = f"; there are {', '.join(known)}" if known else "; it has none"
            hint = nearest(name, known)
            raise click.UsageError(f"{owner} has no {what} {name!r}{there}{hint}")
    return {name: _value(known[name], text, owner) for name, text in texts.items()}


def _value(parameter: Parameter, text: str, owner: str) -> Any:
    try:
        return parse(text, parameter.kind)
    except ValueError:
        hint = nearest(text, _words(parameter.kind))
        raise click.UsageError(
            f"{parameter.name} of {owner} must be {_wanted(parameter.kind)}, not {text!r}{hint}"
        ) from None
    except TypeError:
        raise click.UsageError(
            f"{parameter.name} of {owner} is {parameter.type_name}, which cannot be given as text"
        ) from None


def parse(text: str, kind: Any) -> Any:
    """A value of an annotated type. Raises ValueError for a text that is none, TypeError for other types.

    Values of a tuple stand between commas: `1,2`, with or without brackets around them.
    """
    if get_origin(kind) is Literal:
        return _parse_choice(text, get_args(kind))
    if get_origin(kind) is tuple:
        return _parse_tuple(text, get_args(kind))
    if get_origin(kind) not in (Union, UnionType):
        return _parse_one(text, kind)
    # Any text is a str or a Path: these come last.
    for one in sorted(get_args(kind), key=lambda k: (k is not NoneType, k in (str, Path, Any))):
        try:
            return parse(text, one)
        except ValueError:
            continue
    raise ValueError(text)


def _parse_choice(text: str, choices: tuple[Any, ...]) -> Any:
    for value in choices:
        try:
            if parse(text, type(value)) == value:
                return value
        except ValueError:
            continue
    raise ValueError(text)


def _parse_tuple(text: str, kinds: tuple[Any, ...]) -> tuple[Any, ...]:
    if text[:1] + text[-1:] in ("()", "[]"):
        text = text[1:-1]
    parts = [part.strip() for part in text.split(",")]
    if parts[-1] == "":  # `1,` and nothing at all
        parts.pop()
    if kinds[1:] == (...,):
        kinds = kinds[:1] * len(parts)
    if len(parts) != len(kinds):
        raise ValueError(text)
    return tuple(parse(part, kind) for part, kind in zip(parts, kinds, strict=True))


def _parse_one(text: str, kind: Any) -> Any:
    if kind is None or kind is NoneType:
        if text.lower() != "none":
            raise ValueError(text)
        return None
    if kind is bool:
        if text.lower() not in _TRUE + _FALSE:
            raise ValueError(text)
        return text.lower() in _TRUE
    if kind is float:
        number = float(text)
        if not math.isfinite(number):
            raise ValueError(text)
        return number
    if kind in (int, str, Path):
        return kind(text)
    if kind is Any or kind is object:
        return text
    raise TypeError(kind)


def _wanted(kind: Any) -> str:
    if get_origin(kind) is tuple and ... not in get_args(kind):
        return f"{len(get_args(kind))} values between commas ({type_name(kind)})"
    if get_origin(kind) is tuple:
        return f"values between commas ({type_name(kind)})"
    words = {
        int: "a whole number (int)",
        float: "a finite number (float)",
        bool: "true or false (bool)",
    }
    return words.get(kind) or type_name(kind)


def _words(kind: Any) -> list[str]:
    """The words that a type takes, to suggest one that was misspelt."""
    if get_origin(kind) in (Union, UnionType):
        return [word for one in get_args(kind) for word in _words(one)]
    if get_origin(kind) is Literal:
        return [str(value) for value in get_args(kind)]
    return list(_TRUE[:-1] + _FALSE[:-1]) if kind is bool else []
