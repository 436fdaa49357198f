"""What lies on a straight way through a world, cell by cell.

It is slow and plain on purpose: a second opinion on what the kernels found, made by other means. It shares
with them the rules alone: a crossing at the same moment happens in the order x, y, z, and an end exactly on a
face is in the cell outside.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ecs_audio.world import World
from ecs_audio.world.materials import FLUID, OPEN, SOLID

Cell = tuple[int, int, int]
Point = tuple[float, float, float]
"""[cells]"""

ENOUGH = 64.0
"""Occlusion at which nothing farther on counts."""
LONGEST_SOLID = 16
"""So many metres of solid count on a way, and at least so many cells."""


@dataclass
class Crossing:
    """What a way crosses, from its first end on."""

    pieces: list[dict[str, Any]] = field(default_factory=list)
    """Runs of one block: `block`, `cells`, `metres`, the `occlusion` that they add, and `left_out`, why they
    add none, or None."""
    occlusion: float = 0.0
    """Sum of occlusion per metre times metres, of all that counts."""
    unknown_metres: float = 0.0
    """Way through cells that are not loaded, which are passed as air."""
    is_cut_short: bool = False
    """Whether so much lies on the way that what is farther on does not count."""

    @property
    def transmission(self) -> float:
        """Amplitude at 5 kHz relative to low frequencies that it lets through."""
        return math.exp(-3.0 * self.occlusion)


def kind_of(world: World, cell: Cell) -> int:
    """OPEN, SOLID or FLUID."""
    return int(world.palette.kind[world.palette.id(world.material(cell))])


def cell_of(p: Point, toward: Point) -> Cell:
    """The cell of an end, as seen along the way to the other end."""
    x, y, z = (math.ceil(a) - 1 if b > a else math.floor(a) for a, b in zip(p, toward, strict=True))
    return x, y, z


def cells_between(a: Point, b: Point) -> Iterator[tuple[Cell, float, float]]:
    """Every cell on the way from a to b, with the shares of the way at which it begins and ends."""
    crossings = []
    for axis, (p, q) in enumerate(zip(a, b, strict=True)):
        step = 1 if q > p else -1
        edge = math.ceil(p) if q > p else math.floor(p)
        while (q - edge) * step > 0:
            crossings.append(((edge - p) / (q - p), axis, step))
            edge += step
    cell, begin = list(cell_of(a, b)), 0.0
    for end, axis, step in sorted(crossings):
        yield (cell[0], cell[1], cell[2]), begin, end
        cell[axis] += step
        begin = end
    yield (cell[0], cell[1], cell[2]), begin, 1.0


def cross(world: World, ear: Point, mouth: Point, own_ear: Cell, own_mouth: Cell) -> Crossing:
    """Look at every cell on the way from the listener's end to the source's [cells].

    own_ear, own_mouth: the cells of both ends without a shift, which never count.
    """
    found, size, length = Crossing(), world.cell_size, math.dist(ear, mouth) * world.cell_size
    fluids = {world.material(own) for own in (own_ear, own_mouth) if kind_of(world, own) == FLUID}
    is_buried, counted = kind_of(world, own_ear) == SOLID, 0
    limit = max(LONGEST_SOLID, math.ceil(LONGEST_SOLID / size))
    for cell, begin, end in cells_between(ear, mouth):
        metres, block, kind = (end - begin) * length, world.material(cell), kind_of(world, cell)
        is_buried = is_buried and kind == SOLID
        if not world.is_known(cell):
            found.unknown_metres += metres
        if kind == OPEN:
            continue
        reason = None
        if cell == own_ear:
            reason = "the listener is in this cell"
        elif cell == own_mouth:
            reason = "the source is in this cell"
        elif is_buried:
            reason = "the listener is inside this run of solid"
        elif block in fluids:
            reason = "an end is in this fluid"
        per_metre = float(world.palette.occlusion[world.palette.id(block)])
        adds = per_metre * metres if reason is None else 0.0
        _note(found.pieces, block, metres, adds, reason)
        found.occlusion += adds
        counted += reason is None
        if counted >= limit or found.occlusion > ENOUGH:
            found.is_cut_short = True
            break
    return found


def _note(pieces: list[dict[str, Any]], block: str, metres: float, adds: float, reason: str | None) -> None:
    last = pieces[-1] if pieces else None
    if last is None or (last["block"], last["left_out"]) != (block, reason):
        last = {"block": block, "cells": 0, "metres": 0.0, "occlusion": 0.0, "left_out": reason}
        pieces.append(last)
    last["cells"] += 1
    last["metres"] += metres
    last["occlusion"] += adds
