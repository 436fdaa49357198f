"""The listener's probe: its rays aimed, and what they met counted."""

from __future__ import annotations

from ecs_audio.kernels.cache import touches
from ecs_audio.kernels.images import NO_PLANE
from ecs_audio.kernels.jit import F8, F8_1, F8_2, F8_3, I8, I8_1, I8_2, U1_2, Array, kernel

ROW = 0


@kernel(F8_1, F8_2, F8_3, F8_3, I8_2, U1_2, F8_2, F8_2)
def aim_probe(
    listener: Array,
    directions: Array,
    out_origin: Array,
    out_direction: Array,
    out_done: Array,
    out_couples: Array,
    out_low: Array,
    out_high: Array,
) -> None:
    """Let the rays of the probe begin at the listener.

    listener: (3,) [m]. directions: (24, 3). The others: columns of `Probes`.
    """
    for axis in range(3):
        out_low[ROW, axis] = out_high[ROW, axis] = listener[axis]
    for ray in range(directions.shape[0]):
        out_done[ROW, ray] = 0
        for axis in range(3):
            out_origin[ROW, ray, axis] = listener[axis]
            out_direction[ROW, ray, axis] = directions[ray, axis]


@kernel(I8, I8_2, I8_2, I8_1, I8_1)
def take_probe(hits: int, face: Array, cell: Array, out_found: Array, out_plane: Array) -> None:
    """Count the hits of each ray of the probe, and note the planes they lie on, first hits first.

    hits: of each ray. face: (1, rays * hits), cell: (rays * hits, 3), of `Probes`.
    out_found: (rays,). out_plane: (planes,), each once, NO_PLANE where there are no more.
    """
    rays = out_found.shape[0]
    for ray in range(rays):
        out_found[ray] = 0
    n = 0
    for s in range(hits):
        for ray in range(rays):
            b = ray * hits + s
            if face[ROW, b] < 0:
                continue
            out_found[ray] += 1
            plane = (cell[b, face[ROW, b] >> 1] + (face[ROW, b] & 1)) * 8 + face[ROW, b]
            new = n < out_plane.shape[0]
            for k in range(n):
                new = new and out_plane[k] != plane
            if new:
                out_plane[n] = plane
                n += 1
    for k in range(n, out_plane.shape[0]):
        out_plane[k] = NO_PLANE


@kernel(I8_2, F8, F8_2, F8_2)
def probe_touched(boxes: Array, cell_size: float, low: Array, high: Array) -> bool:
    """Whether one of the edited boxes (edits, 6) [cells] touches the box of the probe's rays [m]."""
    found = False
    for e in range(boxes.shape[0]):
        found = found or touches(boxes, e, cell_size, low, high, ROW)
    return found
