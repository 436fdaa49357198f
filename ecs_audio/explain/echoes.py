"""The echoes of a source: their mirrors, and the way that each takes, by image sources."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ecs_audio.components.entries import NO_PLANE, TAPS
from ecs_audio.engine import Engine

Vector = NDArray[np.float64]

THROUGH_A_POINT = NO_PLANE + 1
"""Stands as the first mirror of an echo of rough ground, which goes through a point of the second."""


def echoes_of(engine: Engine, i: int, bearings: Any) -> list[dict[str, Any]]:
    """Every echo of source i that sounds. bearings: gives a direction in words."""
    s = engine.sources
    found = []
    for k in range(TAPS):
        planes = [int(plane) for plane in s.tap_plane[i, k] if plane not in (NO_PLANE, THROUGH_A_POINT)]
        if s.tap_plane[i, k, 0] == NO_PLANE:
            continue
        is_rough = int(s.tap_plane[i, k, 0]) == THROUGH_A_POINT
        there = _emitted_from(engine, i, float(s.tap_delay[i, k]))
        points = [s.tap_point[i, k]] if is_rough else bounces(engine, there, planes)
        way = [there, *points, engine.listener.position]
        metres = math.fsum(math.dist(a, b) for a, b in pairwise(way))
        found.append(
            {
                "tap": k,
                "mirrors": [_mirror(engine, plane, p) for plane, p in zip(planes, points, strict=True)],
                "is_rough_ground": is_rough,
                "metres": metres,
                "expected_delay": metres / engine.settings.speed_of_sound,
                "delay": float(s.tap_delay[i, k]),
                "gain": float(s.tap_gain[i, k]),
                "strength": float(s.tap_strength[i, k]),
                "fade": float(s.tap_level[i, k]),
                "gain_hf": float(s.tap_hf[i, k]),
                "direction": bearings(s.tap_direction[i, k]),
                "lane": int(s.tap_voice[i, k]) if s.tap_voice[i, k] >= 0 and engine.live is None else None,
            }
        )
    return found


def bounces(engine: Engine, source: Vector, planes: list[int]) -> list[Vector]:
    """Where a path from a source by these mirrors, in their order, to the listener meets each [m]."""
    images = [source]
    for plane in planes:
        image = images[-1].copy()
        axis, at = _axis(plane), _coordinate(engine, plane)
        image[axis] = 2.0 * at - image[axis]
        images.append(image)
    # Backwards from the listener: each leg aims at the image of what is before it.
    points: list[Vector] = []
    here = engine.listener.position
    for plane, image in zip(reversed(planes), reversed(images), strict=False):
        axis, at = _axis(plane), _coordinate(engine, plane)
        way = float(image[axis] - here[axis])
        here = here + (image - here) * ((at - here[axis]) / way if way else 0.0)
        points.insert(0, here)
    return points


def _axis(plane: int) -> int:
    return (plane & 7) >> 1


def _coordinate(engine: Engine, plane: int) -> float:
    return (plane >> 3) * engine.world.cell_size


def _mirror(engine: Engine, plane: int, point: Vector) -> dict[str, Any]:
    """A mirror, and the block that the echo meets of it."""
    axis, size = _axis(plane), engine.world.cell_size
    cell = [math.floor(p / size) for p in point.tolist()]
    cell[axis] = (plane >> 3) - (plane & 1)  # that of a face seen from above ends at the plane
    block = engine.world.material(cell)
    reflectivity = float(engine.world.palette.reflectivity[engine.world.palette.id(block)])
    return {
        "axis": "xyz"[axis],
        "coordinate": _coordinate(engine, plane),
        "faces": ("+" if plane & 1 else "-") + "xyz"[axis],
        "point": point.tolist(),
        "block": block,
        "reflectivity": reflectivity,
        "strength": 0.25 * (0.75 * reflectivity + 0.25),
    }


def _emitted_from(engine: Engine, i: int, delay: float) -> Vector:
    """Where source i was when it emitted what an echo brings now [m]."""
    s = engine.sources
    if not s.delayed[i] or s.born[i] < 0:
        return np.array(s.heard_position[i])
    tick, size = engine.telemetry.tick, s.history.shape[1]
    ticks = range(max(int(s.born[i]), tick - size + 1), tick + 1)
    notes = s.history[i, [k % size for k in ticks]]
    frame = engine.telemetry.frame - delay * engine.rate
    return np.array([np.interp(frame, notes[:, 0], notes[:, axis]) for axis in (1, 2, 3)])
