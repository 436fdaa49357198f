"""Taps: echoes that sound. Each remembers its planes, and its delay follows from where the ends are now."""

from __future__ import annotations

import numpy as np

from ecs_audio.kernels.distance import air_gain_hf, distance_gain
from ecs_audio.kernels.emission import recall
from ecs_audio.kernels.images import BEHIND, IMAGE, LENGTH, LISTENER, NO_PLANE, SOURCE, VIA, gap, lay_out
from ecs_audio.kernels.jit import F8, F8_1, F8_2, F8_3, I8, I8_1, I8_2, I8_3, U1, U1_1, Array, kernel, law
from ecs_audio.kernels.results import QUIETEST_HF

ROUNDS = 3
"""Looks at where a source was: what is off shrinks by v/c each time, from a tick's motion times v/c."""
SILENT = 1e-9
"""A level this low is none: sums of steps do not meet 0 exactly."""


@law
def same_path(i: int, a: int, b: int, plane: Array, point: Array, other: Array, other_point: Array) -> bool:
    """Whether two paths of row i are the same one. A point that was proved again is the same to the bit."""
    same = True
    for k in range(2):
        same = same and plane[i, a, k] == other[i, b, k]
    for axis in range(3):  # all 0 where there is none
        same = same and point[i, a, axis] == other_point[i, b, axis]
    return same


@kernel(F8, F8, U1_1, I8_3, F8_3, F8_2, I8_3, F8_3, F8_2, F8_2, I8_2, U1_1)
def fade_taps(
    dt: float,
    fade_time: float,
    state: Array,
    wanted_plane: Array,
    wanted_point: Array,
    wanted_strength: Array,
    plane: Array,
    point: Array,
    strength: Array,
    level: Array,
    serial: Array,
    count: Array,
) -> None:
    """Bring the taps that sound to those that are wanted, so that nothing changes while it is heard.

    A path that sounds already keeps its slot. One that is no longer wanted fades out in a straight line and
    leaves its slot empty for a tick; then a wanted one enters at level 0 and fades in. With a source that was
    not heard before it enters at level 1: its echo begins with its clip.

    dt, fade_time: [s]. state: (n,) 0 for a source not heard yet.
    wanted_plane: (n, 4, 2), all different; wanted_point: (n, 4, 3) [m]; wanted_strength: (n, 4), as `judge`
    chose them last, the used ones first.
    plane, point, strength, level (n, 4) 0 to 1: the taps, updated. serial: (n, 4) counts new paths of a slot.
    count: (n,) slots that `glide` has to look at: those that sound or have just fallen silent.
    """
    step = min(dt / fade_time, 1.0)
    taps = plane.shape[1]
    for i in range(plane.shape[0]):
        if count[i] == 0 and wanted_plane[i, 0, 0] == NO_PLANE:
            continue
        placed, emptied, used = 0, 0, 0
        for a in range(taps):
            if plane[i, a, 0] == NO_PLANE:
                continue
            used += 1
            found = -1
            for b in range(taps):
                if same_path(i, a, b, plane, point, wanted_plane, wanted_point):
                    found = b
            if found >= 0:
                placed |= 1 << found
                level[i, a] = min(level[i, a] + step, 1.0)
                strength[i, a] += (wanted_strength[i, found] - strength[i, a]) * step
            elif level[i, a] - step > SILENT:
                level[i, a] -= step
            else:
                level[i, a], strength[i, a], plane[i, a, 0], plane[i, a, 1] = 0.0, 0.0, NO_PLANE, NO_PLANE
                emptied |= 1 << a
        for b in range(taps):
            if wanted_plane[i, b, 0] == NO_PLANE or placed & (1 << b):
                continue
            for a in range(taps):
                if plane[i, a, 0] == NO_PLANE and not emptied & (1 << a):
                    plane[i, a, 0], plane[i, a, 1] = wanted_plane[i, b, 0], wanted_plane[i, b, 1]
                    for axis in range(3):
                        point[i, a, axis] = wanted_point[i, b, axis]
                    strength[i, a], level[i, a] = wanted_strength[i, b], 0.0 if state[i] else 1.0
                    serial[i, a] += 1
                    used += 1
                    break
        count[i] = np.uint8(used)


@kernel(
    F8, I8, F8, F8, F8, U1, F8_1, F8_2, F8_1, U1_1, U1_1, F8_1, F8_1, F8_1, F8_1, I8_1, F8_3,
    U1_1, I8_3, F8_3, F8_2, F8_2, F8_1, F8_2, F8_2, F8_2, F8_2, F8_2, F8_3,
)  # fmt: skip
def glide(
    now: float,
    tick: int,
    rate: float,
    cell_size: float,
    speed_of_sound: float,
    air: int,
    listener: Array,
    position: Array,
    distance: Array,
    delayed: Array,
    law: Array,
    reference: Array,
    end: Array,
    fade_start: Array,
    pitch: Array,
    born: Array,
    history: Array,
    count: Array,
    plane: Array,
    point: Array,
    strength: Array,
    level: Array,
    way: Array,
    there: Array,
    out_delay: Array,
    out_gain: Array,
    out_hf: Array,
    out_clock: Array,
    out_direction: Array,
) -> None:
    """Delay, gain, muffling, direction and place in the clip of every tap from where its ends are.

    An echo was emitted when the source was elsewhere than when it emitted the direct sound: its place is
    looked up
    at the time that the last known delay says. An end that went behind a plane hears nothing of it; the
    next survey
    drops the tap.

    now: frame of this tick. rate: [Hz]. cell_size: [m]. air: 1 if air absorbs. listener: (3,) [m].
    position: (n, 3) where each source is heard directly [m]. distance: (n,) to there [m].
    delayed to fade_start, pitch, born, history: columns of `Sources`. An undelayed source's echoes come
    later than
    its direct sound by what their way is longer.
    count to level: as `fade_taps` left them at this tick. way: (19,), there: (1, 3) scratch.
    out_delay: (n, 4) time that the whole path takes [s], updated. out_gain: (n, 4) amplitude without the
    source's volume. out_hf: (n, 4) amplitude at 5 kHz relative to low frequencies. out_clock: (n, 4)
    [frames].
    out_direction: (n, 4, 3) unit vector from the listener. All 0 where a slot is unused.
    """
    for axis in range(3):
        way[LISTENER + axis] = listener[axis]
    for i in range(plane.shape[0]):
        if count[i] == 0:
            continue
        direct = 0.0 if delayed[i] else distance[i] / speed_of_sound
        for a in range(plane.shape[1]):
            before = out_delay[i, a]
            out_delay[i, a], out_gain[i, a], out_hf[i, a], out_clock[i, a] = 0.0, 0.0, 0.0, 0.0
            for axis in range(3):
                way[VIA + axis], out_direction[i, a, axis] = point[i, a, axis], 0.0
                way[SOURCE + axis] = position[i, axis]
            if plane[i, a, 0] == NO_PLANE:
                continue
            side, rounds = 0, 1
            if delayed[i]:
                rounds = ROUNDS if before > 0.0 else ROUNDS + 1
            for _ in range(rounds):
                if delayed[i] and before > 0.0:
                    recall(history, i, born[i], tick, now - before * rate, pitch[i], there)
                    for axis in range(3):
                        way[SOURCE + axis] = there[0, axis]
                side = lay_out(plane[i, a, 0], plane[i, a, 1], cell_size, way)
                before = way[LENGTH] / speed_of_sound
            path, away = way[LENGTH], gap(way, LISTENER, IMAGE)
            out_delay[i, a] = path / speed_of_sound
            emitted = now - max(out_delay[i, a] - direct, 0.0) * rate
            out_clock[i, a] = recall(history, i, born[i], tick, emitted, pitch[i], there)
            out_hf[i, a] = max(air_gain_hf(path), QUIETEST_HF) if air else 1.0
            if side != BEHIND:
                gain = distance_gain(law[i], path, reference[i], end[i], fade_start[i])
                out_gain[i, a] = level[i, a] * strength[i, a] * gain
            if away > 0.0:
                for axis in range(3):
                    out_direction[i, a, axis] = (way[IMAGE + axis] - way[LISTENER + axis]) / away
