"""Colours of a MagicaVoxel file to block names: the nearest of those in `vox_colours.toml`."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray


def names_of(colours: NDArray[np.uint8], types: dict[int, str]) -> list[str]:
    """Return block names by index of colours, shape [256, 3], and of the types of their materials."""
    tree = _shipped()
    known = np.array([list(bytes.fromhex(text[1:])) for text in tree["colours"].values()], np.uint8)
    away = _seen(colours)[:, None, :] - _seen(known)[None, :, :]
    nearest = (away**2).sum(axis=2).argmin(axis=1)
    blocks = list(tree["colours"])
    by_type: dict[str, str] = tree["types"]
    return [by_type.get(types.get(index, ""), blocks[near]) for index, near in enumerate(nearest.tolist())]


def default_colours() -> NDArray[np.uint8]:
    """Return the colours by index of a file without any: a cube of 6 steps, then ten of each ramp."""
    steps = range(255, -1, -51)
    cube = list(product(steps, steps, steps))[:-1]
    ramp = (238, 221, 187, 170, 136, 119, 85, 68, 34, 17)
    ramps = [tuple(step * share for share in of) for of in _RAMPS for step in ramp]
    return np.array([(0, 0, 0), *cube, *ramps], np.uint8)


_RAMPS = (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1)


def _seen(colours: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Return colours in Oklab, whose distances are as the eye sees them, with less weight on brightness."""
    share = colours / 255.0
    linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    cones = np.cbrt(linear @ _TO_CONES)
    seen: NDArray[np.float64] = cones @ _TO_OKLAB * _WEIGHTS
    return seen


_TO_CONES = np.array(
    [
        [0.4122214708, 0.2119034982, 0.0883024619],
        [0.5363325363, 0.6806995451, 0.2817188376],
        [0.0514459929, 0.1073969566, 0.6299787005],
    ]
)
_TO_OKLAB = np.array(
    [
        [0.2104542553, 1.9779984951, 0.0259040371],
        [0.7936177850, -2.4285922050, 0.7827717662],
        [-0.0040720468, 0.4505937099, -0.8086757660],
    ]
)

_WEIGHTS = np.array([0.5, 1.0, 1.0])
"""A grey is nearer to a grey of other brightness than to a brown of its own."""


@cache
def _shipped() -> dict[str, Any]:
    return tomllib.loads(files("ecs_audio.world").joinpath("vox_colours.toml").read_text(encoding="utf-8"))
