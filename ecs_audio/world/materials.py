"""Block names to acoustic groups: the numbers and patterns of `materials.toml`, and of files like it."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from os import PathLike
from pathlib import Path
from typing import Any, Final, NamedTuple

from ecs_audio.world.errors import WorldFormatError
from ecs_audio.world.limits import MAX_MATERIAL_BYTES

OPEN: Final = 0
"""Never hit by a ray."""
SOLID: Final = 1
"""Hit by every ray."""
FLUID: Final = 2
"""Hit from outside, passed by a ray that starts within."""

PARTIAL_FACTOR: Final = 0.25
"""Share of a group's occlusion that a shape contributes which does not fill its cell."""

_KINDS: Final = {"open": OPEN, "solid": SOLID, "fluid": FLUID}
_KEYS: Final = ("occlusion", "reflectivity", "absorption", "kind")


class Group(NamedTuple):
    """The acoustic numbers of one group of blocks."""

    occlusion: float
    """Occlusion of a full cell [1/m]."""
    reflectivity: float
    """Reflectivity of the game-tuned echoes."""
    absorption: tuple[float, float, float, float]
    """Absorbed share of the energy at 125, 500, 2000 and 8000 Hz."""
    kind: int
    """OPEN, SOLID or FLUID."""


class Match(NamedTuple):
    """What a block name means."""

    group: str
    is_partial: bool
    is_known: bool
    """False where no pattern fits and the group is therefore the default."""


@dataclass(frozen=True, eq=False)
class Materials:
    """Groups by name, and the patterns that lead to them; the first pattern that fits decides."""

    groups: Mapping[str, Group]
    patterns: Sequence[tuple[str, re.Pattern[str]]]
    partial: Sequence[re.Pattern[str]]
    full: Sequence[re.Pattern[str]]

    @staticmethod
    @cache
    def shipped() -> "Materials":
        """Return the materials that come with the package."""
        resource = files("ecs_audio.world").joinpath("materials.toml")
        return _parse(resource.read_text(encoding="utf-8"), "materials.toml", Materials({}, (), (), ()))

    @staticmethod
    def load(path: str | PathLike[str]) -> "Materials":
        """Return the shipped materials with those of the TOML file at `path` before them.

        Raises WorldFormatError naming the group, the key, the value and the limit, and OSError.
        """
        with Path(path).open("rb") as file:
            raw = file.read(MAX_MATERIAL_BYTES + 1)
        if len(raw) > MAX_MATERIAL_BYTES:
            raise WorldFormatError(
                f"{path} is larger than the {MAX_MATERIAL_BYTES} bytes a material file may have."
            )
        try:
            text = raw.decode()
        except UnicodeDecodeError as error:
            raise WorldFormatError(f"{path} is not UTF-8 text at byte {error.start}.") from error
        return _parse(text, str(path), Materials.shipped())

    def match(self, name: str) -> Match:
        """Return the group of a block name, whether its shape is partial, and whether a pattern knew it."""
        full_name, double, _ = name.partition("[type=double]")
        bare = full_name.rpartition(":")[2]
        found = next((group for group, pattern in self.patterns if _fits(pattern, bare, full_name)), None)
        is_partial = (
            not double
            and any(_fits(pattern, bare, full_name) for pattern in self.partial)
            and not any(_fits(pattern, bare, full_name) for pattern in self.full)
        )
        return Match(found or "default", is_partial, found is not None)


def _fits(pattern: re.Pattern[str], bare: str, full_name: str) -> bool:
    return pattern.fullmatch(full_name if ":" in pattern.pattern else bare) is not None


def _pattern(names: Sequence[str]) -> list[re.Pattern[str]]:
    """One expression for all patterns without a colon: a palette of thousands of names must match quickly."""
    # Only * and ? are special: brackets belong to block states, as in `oak_slab[type=double]`.
    parts = [re.escape(name).replace(r"\*", ".*").replace(r"\?", ".") for name in names]
    plain = [part for part in parts if ":" not in part]
    spaced = [part for part in parts if ":" in part]
    joined = [part for part in ("|".join(plain), "|".join(spaced)) if part]
    return [re.compile(part, re.DOTALL) for part in joined]


def _parse(text: str, source: str, base: Materials) -> Materials:
    try:
        tree = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise WorldFormatError(f"{source} is not valid TOML: {error}") from error
    if strange := sorted(set(tree) - {"groups", "patterns", "partial", "full"}):
        raise WorldFormatError(f"{source}: {strange[0]!r:.60} is none of groups, patterns, partial and full.")
    groups = dict(base.groups)
    for name, values in _table(tree.get("groups", {}), source, "groups").items():
        groups[name] = _group(name, _table(values, source, f"groups.{name}"), groups.get(name), source)
    patterns: list[tuple[str, re.Pattern[str]]] = []
    rules = tree.get("patterns", [])
    if not isinstance(rules, list):
        raise WorldFormatError(
            f"{source}: patterns must be written as [[patterns]] with a group and its names."
        )
    for number, rule in enumerate(rules, start=1):
        where = f"patterns entry {number}"
        group = _table(rule, source, where).get("group")
        if not isinstance(group, str) or group not in groups:
            raise WorldFormatError(f"{source}: {where} names the group {group!r:.60}, which does not exist.")
        patterns += [(group, pattern) for pattern in _pattern(_names(rule.get("names"), source, where))]
    partial = _pattern(_names(tree.get("partial", []), source, "partial"))
    full = _pattern(_names(tree.get("full", []), source, "full"))
    return Materials(groups, (*patterns, *base.patterns), (*partial, *base.partial), (*full, *base.full))


def _group(name: str, values: dict[str, Any], base: Group | None, source: str) -> Group:
    where = f"{source}: group {name}"
    if strange := sorted(set(values) - set(_KEYS)):
        raise WorldFormatError(
            f"{where} has the key {strange[0]!r:.60}, which is none of {', '.join(_KEYS)}."
        )
    if base is None and (absent := [key for key in _KEYS[:3] if key not in values]):
        raise WorldFormatError(f"{where} has no {absent[0]}, which a new group must give.")
    occlusion, reflectivity, absorption, kind = base or Group(0.0, 0.0, (0.0, 0.0, 0.0, 0.0), SOLID)
    if "occlusion" in values:
        occlusion = _number(where, "occlusion", values["occlusion"], 0.0, 64.0)
    if "reflectivity" in values:
        reflectivity = _number(where, "reflectivity", values["reflectivity"], 0.0, 10.0)
    if "absorption" in values:
        bands = values["absorption"]
        if not isinstance(bands, list) or len(bands) != 4:
            raise WorldFormatError(
                f"{where} has absorption {bands!r:.60}, which must be four numbers, one a band."
            )
        low, mid, high, top = (_number(where, "absorption", band, 0.001, 1.0) for band in bands)
        absorption = (low, mid, high, top)
    if "kind" in values:
        if not isinstance(values["kind"], str) or values["kind"] not in _KINDS:
            raise WorldFormatError(
                f"{where} has kind {values['kind']!r:.60}, which is none of {', '.join(_KINDS)}."
            )
        kind = _KINDS[values["kind"]]
    return Group(occlusion, reflectivity, absorption, kind)


def _number(where: str, key: str, value: object, low: float, high: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise WorldFormatError(
            f"{where} has {key} {value!r:.60}, which must be a number from {low:g} to {high:g}."
        )
    return float(value)


def _table(value: object, source: str, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise WorldFormatError(f"{source}: {where} is {value!r:.60}, which must be a table.")
    return value


def _names(value: object, source: str, where: str) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(name, str) and name for name in value):
        raise WorldFormatError(f"{source}: {where} needs a list of names, not {value!r:.60}.")
    return value
