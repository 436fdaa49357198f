"""Block names to how high they stand in the way of bodies: the patterns of `shapes.toml`."""

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import NamedTuple

HIGHEST = 1.5
"""Bodies look at one cell below their own, not farther."""


class Shape(NamedTuple):
    """A cell as bodies meet it."""

    height: float
    """From its floor to its top [cells], 0 to 1.5; 0 is passed through."""
    rise: float
    """How much higher than its top a walker may step from it [cells]."""


NOTHING, FULL = Shape(0.0, 0.0), Shape(1.0, 0.0)


def shape_of(name: str) -> Shape:
    """Return the shape of a solid block by its name as palettes keep it."""
    bare = name.rpartition(":")[2]
    return next((shape for shape, pattern in _shipped() if pattern.fullmatch(bare)), FULL)


@cache
def _shipped() -> tuple[tuple[Shape, re.Pattern[str]], ...]:
    tree = tomllib.loads(files("ecs_audio.world").joinpath("shapes.toml").read_text(encoding="utf-8"))
    return tuple((_shape(rule), _pattern(rule["names"])) for rule in tree["shapes"])


def _shape(rule: dict[str, float]) -> Shape:
    return Shape(min(rule["height"], HIGHEST), rule.get("rise", 0.0))


def _pattern(names: list[str]) -> re.Pattern[str]:
    # Only * and ? are special: brackets belong to block states, as in `oak_slab[type=double]`.
    parts = (re.escape(name).replace(r"\*", ".*").replace(r"\?", ".") for name in names)
    return re.compile("|".join(parts), re.DOTALL)
