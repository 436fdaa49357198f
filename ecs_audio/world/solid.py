"""Cells of a surface of triangles: its skin, and the inside of its closed parts."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from ecs_audio.world import crossings, points, upright
from ecs_audio.world.errors import WorldFormatError
from ecs_audio.world.grid import Grid, make, section_count
from ecs_audio.world.limits import (
    MAX_CELLS,
    MAX_COORDINATE,
    MAX_CROSSINGS,
    MAX_FILE_SECTIONS,
    MAX_MESH_EDGE,
    MAX_ROWS,
)
from ecs_audio.world.triangles import Surface, merged, parts, volumes

_INWARDS: Final = 1e-4
"""What lies this close to a border of cells belongs to the cell on its inner side [cells]."""


def voxelised(surface: Surface, ids: NDArray[np.uint16]) -> tuple[Grid, list[str]]:
    """Return the cells of a surface whose places are in cells, and a report of what has no inside.

    `ids` are those of the materials in a palette. A cell is filled where its centre lies inside of closed
    parts, or where one of the three lines through its centre along the axes meets a triangle in it. So no
    wall is too thin to be there, and boxes along the borders of cells have exactly their size. Closed parts
    that are inside out hollow what they lie in: a room within a block, or a room of walls alone. Raises
    WorldFormatError.
    """
    faces = merged(surface.corners, surface.faces)
    keep = (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])
    surface = surface._replace(faces=faces[keep], materials=surface.materials[keep])
    if not len(surface.faces):
        raise WorldFormatError("it is a mesh without triangles")
    corners = surface.corners[surface.faces]
    grid = _grid(corners)
    found = parts(surface.faces)
    is_solid = found.is_closed[found.part]
    by_triangle = ids[surface.materials]
    _fill(grid, corners[is_solid], by_triangle[is_solid])
    for axis in range(3):
        _skin(grid, corners, by_triangle, axis)
    points.join(grid)
    return grid, _report(surface, found.is_closed, volumes(surface, found))


def _grid(corners: NDArray[np.float64]) -> Grid:
    if not bool((np.abs(corners) < MAX_COORDINATE).all()):
        raise WorldFormatError(f"its triangles reach beyond ±{MAX_COORDINATE} cells")
    edges = [_reach(corners[:, :, _axes(axis)]) for axis in range(3)]
    corner = edges[0][0], edges[1][0], edges[2][0]
    x, y, z = (end - start for start, end in edges)
    advice = "; give a larger cell_size"
    if max(x, y, z) > MAX_MESH_EDGE or x * y * z > MAX_CELLS:
        raise WorldFormatError(
            f"its {x}x{y}x{z} cells are more than {MAX_MESH_EDGE} along an axis or {MAX_CELLS} in all{advice}"
        )
    if section_count(corner, (x, y, z)) > MAX_FILE_SECTIONS:
        raise WorldFormatError(f"its {x}x{y}x{z} cells touch more than {MAX_FILE_SECTIONS} sections{advice}")
    total = sum(crossings.cost(corners[:, :, _axes(axis)]) for axis in range(3))
    if total > MAX_CROSSINGS:
        raise WorldFormatError(
            f"its triangles cross about {total:.3g} cells, more than {MAX_CROSSINGS}{advice}"
        )
    return make(corner, (x, y, z), max_rows=MAX_ROWS)


def _reach(corners: NDArray[np.float64]) -> tuple[int, int]:
    """Return the lowest cell along the first axis and one beyond the highest."""
    side = np.sign(_facing(corners))
    low, high = corners[:, :, 0].min(axis=1), corners[:, :, 0].max(axis=1)
    # As `_skin` sees borders; triangles along the axis only have to fit in.
    start = np.floor(low - _INWARDS * np.where(side == 0, -1, side)).min()
    end = np.floor(high - _INWARDS * np.where(side == 0, 1, side)).max()
    return int(start), max(int(start), int(end)) + 1


def _axes(axis: int) -> list[int]:
    return [axis, (axis + 1) % 3, (axis + 2) % 3]


def _skin(grid: Grid, corners: NDArray[np.float64], ids: NDArray[np.uint16], axis: int) -> None:
    """Write the cells in which lines along an axis meet triangles."""
    turned = corners[:, :, _axes(axis)]
    side = np.sign(_facing(turned))
    for found in crossings.along_first(turned):
        # What lies on a border belongs to what is behind the triangle.
        inner = np.floor(found.height - _INWARDS * side[found.triangle]).astype(np.int64)
        cells = np.empty((len(inner), 3), np.int64)
        cells[:, _axes(axis)] = np.stack((inner, found.row, found.column), axis=1)
        is_inside = ((cells >= grid.lo) & (cells < grid.hi)).all(axis=1)
        points.put(grid, cells[is_inside], ids[found.triangle[is_inside]])


def _fill(grid: Grid, corners: NDArray[np.float64], ids: NDArray[np.uint16]) -> None:
    """Write the cells inside: where upward lines have met more triangles from below than from above."""
    turned = corners[:, :, [1, 2, 0]]
    step = -np.sign(_facing(turned)).astype(np.int8)
    events = [
        (found.row, found.column, np.ceil(found.height - 0.5).astype(np.int64), found.triangle)
        for found in crossings.along_first(turned)
    ]
    if not events:
        return
    z, x, y, triangle = (np.concatenate(some) for some in zip(*events, strict=True))
    # One number each sorts faster than three.
    width, depth = grid.hi[2] - grid.lo[2] + 1, grid.hi[1] - grid.lo[1] + 2
    order = np.argsort(((x - grid.lo[0]) * width + z - grid.lo[2]) * depth + y - grid.lo[1], kind="stable")
    z, x, y, triangle = z[order], x[order], y[order], triangle[order]
    # Every line leaves what it enters, so that one sum over all of them begins at 0 on each.
    after = np.cumsum(step[triangle], dtype=np.int64)
    before = after - step[triangle]
    begin, end = np.flatnonzero((before <= 0) & (after > 0)), np.flatnonzero((before > 0) & (after <= 0))
    is_some = y[end] > y[begin]
    begin, end = begin[is_some], end[is_some]
    upright.put(grid, x[begin], z[begin], y[begin], y[end], ids[triangle[begin]])


def _facing(corners: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the part of each triangle's normal along the first axis."""
    a, b, c = corners.transpose(1, 0, 2)
    facing: NDArray[np.float64] = np.cross(b - a, c - a)[:, 0]
    return facing


def _report(surface: Surface, is_closed: NDArray[np.bool_], volume: NDArray[np.float64]) -> list[str]:
    report = []
    open_parts = int(np.count_nonzero(~is_closed))
    if open_parts:
        report.append(
            f"{open_parts} of {len(is_closed)} parts of the mesh are not closed: they are hollow shells."
        )
    if not bool((is_closed & (volume > 0)).any()) and bool((is_closed & (volume < 0)).any()):
        report.append(
            "All closed parts of the mesh are inside out: they are taken for rooms and left hollow."
        )
    return report
