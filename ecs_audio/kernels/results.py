"""What the rays found becomes what the mixer shall reach."""

from __future__ import annotations

import math

import numpy as np

from ecs_audio.kernels.distance import air_gain_hf
from ecs_audio.kernels.jit import F8, F8_1, F8_2, I4_1, I8_1, U1, U1_1, Array, kernel, law
from ecs_audio.kernels.occlusion import BLOCKED_END
from ecs_audio.kernels.sections import SECTIONS, Sections, material_at
from ecs_audio.kernels.tiers import BESIDE, DIRECT, FREE

GOLDEN = 0.6180339887498949
QUIETEST_HF = 0.001
SUBMERGED_HF = 0.1
"""What water around the listener leaves of high frequencies (figure of Sound Physics Remastered)."""
REMAINDER = 0.2
"""What shared air leaves of a source that is wholly occluded (figure of Sound Physics Remastered)."""
BROAD = 0.1
"""The broad gain of occlusion is T to this power (figure of Sound Physics Remastered)."""


@law
def interval(distance: float, approach: float, dt: float) -> float:
    """Time until a source's next turn [s]: more for far ones, less for those that come near."""
    return max(min(min(max(distance / 200.0, 0.1), 1.0), approach / 4.0), dt)


@law
def row_of(wanted: int, serial: Array, row: int) -> int:
    """The row of a source now that was in another when its rays left; -1 if it is gone."""
    if row < serial.shape[0] and serial[row] == wanted:
        return row
    for i in range(serial.shape[0]):
        if serial[i] == wanted:
            return np.int64(i)
    return np.int64(-1)


@kernel(F8, F8, F8, I4_1, I4_1, I8_1, F8_1, F8_1, F8_1, I8_1, U1_1, F8_1, F8_2, U1_1, U1_1, F8_1, F8_1)
def take_paths(
    time: float,
    now: float,
    dt: float,
    ray_source: Array,
    ray_path: Array,
    ray_serial: Array,
    ray_transmission: Array,
    distance: Array,
    approach: Array,
    serial: Array,
    tier: Array,
    outdated: Array,
    path: Array,
    owed: Array,
    turn: Array,
    age: Array,
    due: Array,
) -> None:
    """Write traced paths into their sources and set the time of the next turn.

    A source that died meanwhile is left out, one that moved to another row is found again.
    time: of the tick that asked [s]. now, dt: of this tick [s]. ray_source, ray_path, ray_serial,
    ray_transmission: (rays,) in traced order. distance, approach: (n,). serial: (n,) tells who is who, and
    spreads first turns evenly. outdated: (n,) who changed since then is asked again at once.
    tier, path (n, 13), owed, turn, age, due: columns of `Sources`, updated.
    """
    for ray in range(ray_source.shape[0]):
        i = row_of(ray_serial[ray], serial, np.int64(ray_source[ray]))
        if i < 0:
            continue
        k, found = ray_path[ray], ray_transmission[ray]
        if k == 0:
            new = np.isinf(age[i])
            flipped = (found == 1.0) != (path[i, 0] == 1.0)
            if new or tier[i] == FREE:
                for other in range(path.shape[1]):
                    path[i, other] = found
            path[i, 0] = found
            wait = interval(distance[i], approach[i], dt)
            due[i] = time + (wait * ((serial[i] * GOLDEN) % 1.0) if new else wait)
            if outdated[i] > time:
                due[i] = now
            age[i] = now - time
            if flipped and not new and tier[i] == DIRECT:
                owed[i] = BESIDE
        else:
            path[i, k] = path[i, 0] if found == BLOCKED_END else found
            turn[i] = k % BESIDE
            if owed[i] > 0 and outdated[i] <= time:
                owed[i] -= 1


@kernel(F8_1, U1, F8_2, U1_1, F8_1)
def combine(weights: Array, clearest: int, path: Array, acoustics: Array, out: Array) -> None:
    """T of every source from the paths of its bundle.

    weights: (13,) summing to 1. clearest: 1 takes the clearest path instead of the weighted mean.
    path: (n, 13). acoustics: (n,) 0 gives 1. out: (n,).
    """
    for i in range(path.shape[0]):
        mean, best = 0.0, 0.0
        for k in range(weights.shape[0]):
            mean += weights[k] * path[i, k]
            if weights[k] > 0.0:
                best = max(best, path[i, k])
        out[i] = (best if clearest else min(mean, 1.0)) if acoustics[i] else 1.0


@kernel(SECTIONS, F8_1)
def kind_at(sections: Sections, position: Array) -> int:
    """Whether the cell at a position (3,) [m] is OPEN, SOLID or FLUID."""
    x = np.int64(math.floor(position[0] / sections.cell_size))
    y = np.int64(math.floor(position[1] / sections.cell_size))
    z = np.int64(math.floor(position[2] / sections.cell_size))
    return int(sections.kind[material_at(sections.state, sections.slots, sections.cells, x, y, z)])


@kernel(F8, U1, F8_1, F8_2, F8_1, U1_1, U1_1, F8_1, F8_1)
def set_targets(
    submerged: float,
    air: int,
    transmission: Array,
    openness: Array,
    distance: Array,
    positioned: Array,
    acoustics: Array,
    out_gain: Array,
    out_gain_hf: Array,
) -> None:
    """Broad gain T^0.1, and gain_hf from T, air and water.

    Through shared air a muffled remainder always comes: T is at least 0.2 sqrt(w).
    submerged: factor of gain_hf. air: 1 if air absorbs. transmission, openness w (n, 2), distance,
    positioned, acoustics: (n,) columns of `Sources`. out_gain, out_gain_hf: (n,).
    """
    for i in range(transmission.shape[0]):
        if not (positioned[i] and acoustics[i]):
            out_gain[i], out_gain_hf[i] = 1.0, 1.0
            continue
        t = max(transmission[i], REMAINDER * math.sqrt(0.5 * (openness[i, 0] + openness[i, 1])))
        gain_hf = t * submerged * (air_gain_hf(distance[i]) if air else 1.0)
        out_gain[i] = math.pow(t, BROAD)
        out_gain_hf[i] = max(gain_hf, QUIETEST_HF)
