"""Cut a sphere of air out of a world."""

from math import ceil, floor, inf

import numpy as np
from numpy.typing import NDArray

from ecs_audio.world.arguments import Cell
from ecs_audio.world.boxes import clip
from ecs_audio.world.grid import AIR, UNKNOWN, Grid, claim, make_uniform


def carve(grid: Grid, center: tuple[float, float, float], radius: float) -> tuple[Cell, Cell] | None:
    """Turn to air every cell whose centre lies within `radius` cells of `center`; return a box."""
    x, y, z = center
    box = clip(
        grid,
        (floor(x - radius), floor(y - radius), floor(z - radius)),
        (ceil(x + radius), ceil(y + radius), ceil(z + radius)),
    )
    if box is None:
        return None
    # A distance is a sum over the axes, so those of a section's nearest and farthest cells are sums too.
    limit = radius * radius
    squares = [_squares(lo, hi, middle) for lo, hi, middle in zip(*box, center, strict=True)]
    touched = np.argwhere(_sums([square.min(axis=1) for square in squares]) <= limit)
    if not len(touched):
        return None
    far = _sums([square.max(axis=1) for square in squares])
    whole = far[tuple(touched.T)] <= limit
    first = [(lo >> 4) - base for lo, base in zip(box[0], grid.base, strict=True)]
    where = np.ravel_multi_index((touched + first).T, grid.slots.shape)
    slots = grid.flat[where]
    make_uniform(grid, where[whole | (slots == UNKNOWN)], AIR)
    is_cut = ~whole & (slots != AIR) & (slots != UNKNOWN)
    _cut(grid, where[is_cut], touched[is_cut], squares, limit)
    return box


def _squares(lo: int, hi: int, middle: float) -> NDArray[np.float64]:
    """Squared distances along one axis of all cells of a box's sections, infinite outside, shape [n, 16]."""
    start, end = lo >> 4 << 4, ((hi - 1) >> 4) + 1 << 4
    squares = (np.arange(start, end, dtype=np.float64) + (0.5 - middle)) ** 2
    squares[: lo - start] = inf
    squares[hi - start :] = inf
    return squares.reshape(-1, 16)


def _sums(squares: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    x, y, z = squares
    return (x[:, None, None] + y[:, None]) + z


def _cut(
    grid: Grid,
    where: NDArray[np.int64],
    sections: NDArray[np.int64],
    squares: list[NDArray[np.float64]],
    limit: float,
) -> None:
    """Cut sections that the sphere's surface runs through."""
    # A section at a time takes 32 KiB at most, so that explosions do not stretch the heap of a long game.
    for row, section in zip(claim(grid, where).tolist(), sections.tolist(), strict=True):
        x, y, z = (square[index] for square, index in zip(squares, section, strict=True))
        # The same order as in `_sums`, so that a nearest cell rounds alike in both.
        inside = (x + y[:, None, None]) + z[:, None] <= limit
        grid.cells[row].reshape(16, 16, 16)[inside] = 0
