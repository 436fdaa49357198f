"""The direct paths of a source: what each crosses, what it lets through, and what the engine has for it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ecs_audio.engine import Engine
from ecs_audio.explain.crossing import Cell, Crossing, Point, cell_of, cross, kind_of
from ecs_audio.kernels.bundle import SHIFTS, WEIGHTS
from ecs_audio.kernels.distance import AIR_PER_METRE
from ecs_audio.kernels.results import BROAD, QUIETEST_HF, REMAINDER, SUBMERGED_HF
from ecs_audio.world import World
from ecs_audio.world.materials import FLUID, SOLID

Vector = NDArray[np.float64]


def paths_of(engine: Engine, i: int) -> list[dict[str, Any]]:
    """The bundle from the listener to source i as it is now, the straight path first.

    `walked` is the transmission found here, cell by cell; `engine` what the engine has, as last traced.
    """
    s, world = engine.sources, engine.world
    here, there = engine.listener.position, s.heard_position[i]
    weights = WEIGHTS if engine.settings.direct_paths > 1 else np.ones(1)
    found, straight = [], 1.0
    own = _ends(world, here, there)
    for k, weight in enumerate(weights.tolist()):
        shift = shift_of(here, there, k)
        crossing, is_walled = _crossed(world, here + shift, there + shift, own, k)
        walked = straight if is_walled else crossing.transmission
        straight = walked if k == 0 else straight
        note = "an end is in a wall: as the straight path" if is_walled else None
        found.append(
            {
                "path": k,
                "weight": weight,
                "shift": shift.tolist(),
                "walked": walked,
                "engine": float(s.path[i, k]),
                "crossed": [] if is_walled else crossing.pieces,
                "unknown_metres": 0.0 if is_walled else crossing.unknown_metres,
                "is_cut_short": crossing.is_cut_short and not is_walled,
                "note": note,
            }
        )
    return found


def transmission_of(paths: list[dict[str, Any]], which: str, rule: str) -> float:
    """T of a bundle by `walked` or `engine`. rule: "bundle" or "min"."""
    if rule == "min":
        return float(max(path[which] for path in paths))
    return min(math.fsum(path["weight"] * path[which] for path in paths), 1.0)


def muffling_of(engine: Engine, i: int) -> dict[str, Any]:
    """How T, shared air, air and water make the broad gain and gain_hf of source i."""
    s, settings, here = engine.sources, engine.settings, engine.listener.position
    x, y, z = (math.floor(p / engine.world.cell_size) for p in here.tolist())
    is_heard = bool(s.positioned[i] and s.acoustics[i] and settings.acoustics != "off")
    is_under_water = settings.occlusion and kind_of(engine.world, (x, y, z)) == FLUID
    t = float(s.transmission[i])
    remainder = REMAINDER * math.sqrt(float(s.openness[i].mean()))
    heard = max(t, remainder) if is_heard else 1.0
    air = AIR_PER_METRE ** float(s.distance[i]) if settings.air and is_heard else 1.0
    water = SUBMERGED_HF if is_under_water and is_heard else 1.0
    hf, ears = float(s.gain_hf[i]), float(s.mix_hf[i])
    return {
        "transmission": t,
        "shared_air": remainder,
        "decided_by": "shared air" if remainder > t else "what is between",
        "heard": heard,
        "expected_gain": heard**BROAD,
        "gain_target": float(s.gain_target[i]),
        "gain": float(s.gain[i]),
        "air": air,
        "water": water,
        "expected_gain_hf": max(heard * air * water, QUIETEST_HF) if is_heard else 1.0,
        "gain_hf_target": float(s.gain_hf_target[i]),
        "gain_hf": hf,
        "head": ears / hf if hf > 0.0 else 1.0,
        "gain_hf_at_the_ears": ears,
    }


def shift_of(here: Vector, there: Vector, path: int) -> Vector:
    """How far both ends are moved for one path of the bundle [m]."""
    way = here - there
    length = float(np.linalg.norm(way))
    if path == 0 or length == 0.0:
        return np.zeros(3)
    d = way / length
    up = np.array([0.0, 0.0, 1.0]) if abs(d[1]) > 0.99 else np.array([0.0, 1.0, 0.0])
    u = np.cross(d, up)
    u /= np.linalg.norm(u)
    a, b = SHIFTS[path - 1]
    return np.asarray(a * u + b * np.cross(u, d))


def _ends(world: World, here: Vector, there: Vector) -> tuple[Cell, Cell]:
    ear, mouth = _cells(world, here), _cells(world, there)
    return cell_of(ear, mouth), cell_of(mouth, ear)


def _crossed(
    world: World, here: Vector, there: Vector, own: tuple[Cell, Cell], path: int
) -> tuple[Crossing, bool]:
    """What a path crosses, and whether it has an end in a wall that the straight one has not."""
    shifted = _ends(world, here, there)
    is_walled = path > 0 and any(
        cell != mine and kind_of(world, cell) == SOLID for cell, mine in zip(shifted, own, strict=True)
    )
    crossing = Crossing() if is_walled else cross(world, _cells(world, here), _cells(world, there), *own)
    return crossing, is_walled


def _cells(world: World, where: Vector) -> Point:
    x, y, z = (where / world.cell_size).tolist()
    return x, y, z
