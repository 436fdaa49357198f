"""The entries of a sound script: TOML in, checked values out, or one sentence that says what is wrong."""

from __future__ import annotations

import difflib
import reprlib
import tomllib
from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path
from typing import Any

from ecs_audio.clips.errors import ClipError
from ecs_audio.clips.synthesis import SOUNDS

MAX_SCRIPT_BYTES = 1_000_000
MAX_DOTS = 200
"""In one line: `tomllib` takes time by the square of the parts of a dotted key, for a megabyte an hour."""

# What `spawn` takes. The clips layer lies below it, so this stands here too; a test holds them together.
LAWS = ("inverse", "linear", "exponential", "soft_inverse")
CATEGORIES = ("effects", "voice", "music", "ambient", "interface", "voice_chat")
LIMITS = {
    "volume": (0.0, 1e9),
    "pitch": (0.0, 8.0),
    "reference": (1e-6, 1e9),
    "fade_start": (1e-6, 1e9),
    "end": (1e-6, 1e9),
}
"""Least and greatest value of spawn options."""
PRIORITIES = (-(2**31), 2**31 - 1)
REFERENCE, END = 1.0, 512.0
"""Distances where none are given [m]."""

_SHORT = reprlib.Repr()
_SHORT.maxlevel, _SHORT.maxstring = 2, 60


def read_script(path: Path) -> dict[str, dict[str, Any]]:
    """The tables of a script by name, each with the values it gives, checked.

    Numbers are floats, but for priority and seed; volume and pitch are pairs (least, greatest); files and
    far are lists of texts. Raises ClipError naming the script, the line or the sound and its key, the
    value and what is allowed.
    """
    tree, entries = _parse(path), {}
    for name, table in tree.items():
        try:
            entries[name] = _entry(name, table)
        except ClipError as error:
            raise ClipError(f"{path}: sound {shown(name)}: {error}") from None
    if not entries:
        raise ClipError(f"{path}: holds no sound")
    return entries


def shown(value: object) -> str:
    """A value as text, however long, deep or large it is."""
    try:
        return _SHORT.repr(value)
    except ValueError:  # Python writes no integers of more than some thousand digits
        return f"{type(value).__name__} of very many digits"


def _parse(path: Path) -> dict[str, Any]:
    try:
        if not path.is_file():  # a pipe or a device could be waited for without end
            raise ClipError(f"{path}: {'is not a file' if path.exists() else 'no such file'}")
        with path.open("rb") as file:
            raw = file.read(MAX_SCRIPT_BYTES + 1)
    except OSError as error:
        raise ClipError(f"{path}: cannot be read: {error}") from error
    if len(raw) > MAX_SCRIPT_BYTES:
        raise ClipError(f"{path}: is larger than the {MAX_SCRIPT_BYTES} bytes a script may have")
    for number, line in enumerate(raw.splitlines(), start=1):
        if line.count(b".") > MAX_DOTS:
            raise ClipError(f"{path}: line {number} has more than {MAX_DOTS} dots: break it up")
    try:
        return tomllib.loads(raw.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        number = raw.count(b"\n", 0, error.start) + 1
        raise ClipError(f"{path}: is not UTF-8 text in line {number}") from None
    except tomllib.TOMLDecodeError as error:  # says line and column
        raise ClipError(f"{path}: is not valid TOML: {error}") from None
    except (ValueError, RecursionError):
        raise ClipError(f"{path}: holds an absurdly long number or absurdly deep lists") from None


def _entry(name: str, table: object) -> dict[str, Any]:
    if not name:
        raise ClipError("a sound cannot be called like this: a text is needed")
    if not isinstance(table, dict):
        raise ClipError(f"must be a table, such as [{name:.60}] with keys below it, not {shown(table)}")
    entry: dict[str, Any] = {}
    for key, value in table.items():
        if key not in _CHECKS:
            raise ClipError(
                f"there is no key {shown(key)}{_nearest(key, _CHECKS)}, only {', '.join(_CHECKS)}"
            )
        entry[key] = _CHECKS[key](key, value)
    if not entry.keys() & {"files", "synth"}:
        raise ClipError("files or synth is needed: it names nothing to play")
    for key, other in (("seed", "synth"), ("far_from", "far")):
        if key in entry and other not in entry:
            raise ClipError(f"{key} means nothing without {other}")
    reference, end = entry.get("reference", REFERENCE), entry.get("end", END)
    fade_start = entry.get("fade_start", reference)
    if not reference <= fade_start < end:
        raise ClipError(
            "distances must rise from reference to fade_start to end, not "
            f"{reference:g}, {fade_start:g}, {end:g}"
        )
    return entry


def _nearest(name: str, known: Collection[str]) -> str:
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    return f" (did you mean {close[0]!r}?)" if close else ""


def _within(value: object, low: float, high: float) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and low <= value <= high


def _number(low: float, high: float, key: str, value: Any) -> float:
    if not _within(value, low, high):
        raise ClipError(f"{key} must be a number from {low:g} to {high:g}, not {shown(value)}")
    return float(value)


def _whole(low: int, high: int, key: str, value: Any) -> int:
    if not isinstance(value, int) or not _within(value, low, high):
        raise ClipError(f"{key} must be a whole number from {low} to {high}, not {shown(value)}")
    return value


def _range(low: float, high: float, key: str, value: Any) -> tuple[float, float]:
    ends = value if isinstance(value, list) else [value, value]
    if len(ends) != 2 or not all(_within(end, low, high) for end in ends) or ends[0] > ends[1]:
        raise ClipError(
            f"{key} must be a number from {low:g} to {high:g}, or two that rise, [least, greatest], "
            f"not {shown(value)}"
        )
    return float(ends[0]), float(ends[1])


def _one_of(names: Collection[str], key: str, value: Any) -> str:
    if not isinstance(value, str) or value not in names:
        hint = _nearest(value, names) if isinstance(value, str) else ""
        raise ClipError(f"{key} must be one of {', '.join(names)}, not {shown(value)}{hint}")
    return value


def _switch(key: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise ClipError(f"{key} must be true or false, not {shown(value)}")
    return value


def _files(key: str, value: Any) -> list[str]:
    if not isinstance(value, list) or not value:
        raise ClipError(f'{key} must be a list of at least one file name, ["one.wav"], not {shown(value)}')
    for file in value:
        if not isinstance(file, str) or not file or "\0" in file:
            raise ClipError(f"{key} must hold names of files, not {shown(file)}")
    return value


_CHECKS: dict[str, Callable[[str, Any], Any]] = {
    "files": _files,
    "synth": partial(_one_of, SOUNDS),
    "seed": partial(_whole, 0, 2**63 - 1),
    "far": _files,
    "far_from": partial(_number, 0.0, 1e9),
    "volume": partial(_range, *LIMITS["volume"]),
    "pitch": partial(_range, *LIMITS["pitch"]),
    "reference": partial(_number, *LIMITS["reference"]),
    "fade_start": partial(_number, *LIMITS["fade_start"]),
    "end": partial(_number, *LIMITS["end"]),
    "law": partial(_one_of, LAWS),
    "priority": partial(_whole, *PRIORITIES),
    "category": partial(_one_of, CATEGORIES),
    "looping": _switch,
}
"""What a table may hold: each function takes key and value and returns the value, or raises ClipError."""
