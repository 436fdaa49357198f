"""When was emitted what is heard now: sound takes its time, and the ends move meanwhile."""

from __future__ import annotations

import math

import numpy as np

from ecs_audio.kernels.jit import F8, F8_1, F8_2, F8_3, I8, I8_1, U1_1, Array, kernel, law

NEVER = -1e300
FASTEST = 8.0
"""Highest speed at which a clip is read."""


@law
def distance_between(ax: float, ay: float, az: float, b: Array) -> float:
    """Distance [m]."""
    return math.sqrt((ax - b[0]) ** 2 + (ay - b[1]) ** 2 + (az - b[2]) ** 2)


@kernel(F8, F8, I8, I8, F8, F8_2, F8_1, F8_1, U1_1, I8_1, I8_1, F8_1, F8_3, F8_1, U1_1)
def remember(
    now: float,
    passed: float,
    tick: int,
    first_frame: int,
    teleport: float,
    position: Array,
    pitch: Array,
    pitch_before: Array,
    paused: Array,
    start_frame: Array,
    born: Array,
    clock: Array,
    history: Array,
    emission: Array,
    jumped: Array,
) -> None:
    """Advance every source's place in its clip by `passed` frames and note where it is at frame `now`.

    first_frame: the first frame that can still be mixed; nothing starts before it.
    teleport: a longer way in one tick [m] is no motion; the history begins anew.
    position: (n, 3) [m]. pitch: (n,) clip frames a frame from now on. pitch_before: (n,) those until now,
    updated.
    paused: (n,).
    start_frame, born, clock, emission, jumped: (n,) columns of `Sources`. history: (n, ticks, 5).
    """
    size = history.shape[1]
    for i in range(position.shape[0]):
        new = born[i] < 0
        if new:
            if start_frame[i] < first_frame:
                start_frame[i] = max(first_frame, np.int64(now)) if start_frame[i] < 0 else first_frame
            born[i] = tick
            jumped[i] = 0
        else:
            last = history[i, (tick - 1) % size]
            away = distance_between(last[1], last[2], last[3], position[i])
            jumped[i] = 1 if away > teleport else 0
            if jumped[i]:
                born[i] = tick
                emission[i] = NEVER
        if now < start_frame[i] or new:
            clock[i] = (now - start_frame[i]) * pitch[i]
        elif not paused[i]:
            clock[i] += passed * pitch_before[i]
        pitch_before[i] = pitch[i]
        if paused[i]:  # what is under way stands still too, and goes on with it
            born[i] = tick
        note = history[i, tick % size]
        note[0] = now
        note[1], note[2], note[3] = position[i, 0], position[i, 1], position[i, 2]
        note[4] = clock[i]


@law
def latest_root(
    history: Array, i: int, start: int, stop: int, listener: Array, now: float, c: float
) -> float:
    """Latest frame e between two notes with e + |source(e) - listener| / c = now, or NEVER.

    The source moves linearly: |p + w t|² = c² (a - t)², t counted from the later note.
    history: (n, ticks, 5). start, stop: where the notes are. c: metres a frame.
    """
    span = history[i, stop, 0] - history[i, start, 0]
    if span <= 0.0:
        return NEVER
    a = now - history[i, stop, 0]
    square, half, rest = -c * c, c * c * a, -c * c * a * a
    for axis in range(3):
        p = history[i, stop, 1 + axis] - listener[axis]
        w = (history[i, stop, 1 + axis] - history[i, start, 1 + axis]) / span
        square += w * w
        half += p * w
        rest += p * p
    inside = half * half - square * rest
    if inside < 0.0:
        return NEVER
    root = -(half + math.copysign(math.sqrt(inside), half))
    one = root / square if square != 0.0 else NEVER
    two = rest / root if root != 0.0 else 0.0
    best = NEVER
    if -span <= one <= 0.0:
        best = one
    if -span <= two <= 0.0 and two > best:
        best = two
    return NEVER if best == NEVER else history[i, stop, 0] + best


@law
def emitted_at(history: Array, i: int, born: int, tick: int, now: float, listener: Array, c: float) -> float:
    """Frame at which source i emitted what arrives at `now`: the latest of all that arrive."""
    size = history.shape[1]
    oldest = max(born, tick - size + 1)
    stop = tick % size
    x, y, z, t = history[i, stop, 1], history[i, stop, 2], history[i, stop, 3], history[i, stop, 0]
    for _ in range(oldest, tick):
        start = (stop if stop > 0 else size) - 1
        x0, y0, z0 = history[i, start, 1], history[i, start, 2], history[i, start, 3]
        # Most legs are too early, which takes no division: the sound of the earlier note has not arrived,
        # and the source is no faster than its sound.
        away = (x0 - listener[0]) ** 2 + (y0 - listener[1]) ** 2 + (z0 - listener[2]) ** 2
        moved = (x - x0) ** 2 + (y - y0) ** 2 + (z - z0) ** 2
        flown, sound = c * (now - history[i, start, 0]), c * (t - history[i, start, 0])
        if not (away > flown * flown and moved <= sound * sound):
            e = latest_root(history, i, start, stop, listener, now, c)
            if e > NEVER:
                return e
        stop, x, y, z, t = start, x0, y0, z0, history[i, start, 0]
    square = 0.0  # before its first note a source stands still
    for axis in range(3):
        square += (history[i, oldest % size, 1 + axis] - listener[axis]) ** 2
    return min(now - math.sqrt(square) / c, history[i, oldest % size, 0])


@law
def recall(history: Array, i: int, born: int, tick: int, e: float, pitch: float, where: Array) -> float:
    """Place in the clip of source i at frame e; writes the position [m] of then to where (1, 3)."""
    size = history.shape[1]
    oldest = max(born, tick - size + 1)
    stop, later, share = tick % size, tick - oldest, 1.0  # a place a step: remainders take long
    start = (stop if stop > 0 else size) - 1
    while later > 0 and history[i, start, 0] >= e:
        stop, later = start, later - 1
        start = (stop if stop > 0 else size) - 1
    before = later > 0 and e < history[i, stop, 0]
    if before:
        share = (e - history[i, start, 0]) / (history[i, stop, 0] - history[i, start, 0])
    for axis in range(3):
        there = history[i, stop, 1 + axis]
        where[0, axis] = there - (1.0 - share) * (there - history[i, start, 1 + axis]) if before else there
    clock = history[i, stop, 4]
    if before:
        return clock - (1.0 - share) * (clock - history[i, start, 4])
    return clock + (e - history[i, stop, 0]) * pitch


@kernel(F8, F8, I8, F8, F8_1, U1_1, F8_2, F8_1, U1_1, I8_1, F8_1, F8_3, F8_1, F8_2, F8_1, F8_1)
def find_emission(
    now: float,
    passed: float,
    tick: int,
    c: float,
    listener: Array,
    delayed: Array,
    position: Array,
    pitch: Array,
    jumped: Array,
    born: Array,
    clock: Array,
    history: Array,
    emission: Array,
    out_position: Array,
    out_clock: Array,
    out_pace: Array,
) -> None:
    """For every source, when and where was emitted what the listener hears at frame `now`.

    passed: frames since the last tick. c: speed of sound [m a frame]. listener: (3,) [m].
    delayed: (n,) 0 hears it at once. position: (n, 3) [m] now. pitch: (n,). born, clock, history: what
    `remember` noted. jumped: (n,) set where `delayed` is not what it was at the last tick.
    emission: (n,) frame; never decreases, so sound is never heard backwards.
    out_position: (n, 3) [m] then. out_clock: (n,) place in the clip then [frames], of the last tick before.
    out_pace: (n,) what it went forward since, a frame.
    """
    for i in range(position.shape[0]):
        before, last = out_clock[i], history[i, (tick - 1) % history.shape[1], 0]
        if born[i] < tick and (emission[i] == last if delayed[i] else emission[i] < last):
            jumped[i], emission[i] = 1, NEVER
        if delayed[i]:
            e = max(emitted_at(history, i, born[i], tick, now, listener, c), emission[i])
            emission[i] = e
            out_clock[i] = recall(history, i, born[i], tick, e, pitch[i], out_position[i : i + 1])
        else:
            emission[i] = now
            out_clock[i] = clock[i]
            for axis in range(3):
                out_position[i, axis] = position[i, axis]
        out_pace[i] = pitch[i]
        if passed > 0.0 and born[i] < tick and not jumped[i]:
            pace = (out_clock[i] - before) / passed
            if 0.0 <= pace <= FASTEST:  # more is a jump to what arrives first from a supersonic source
                out_pace[i] = pace
