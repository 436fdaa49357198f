"""Whose turn it is: due sources in order of need, as many rays as the budget allows."""

from __future__ import annotations

import numpy as np

from ecs_audio.kernels.heap import FIRST, heapify, pop
from ecs_audio.kernels.jit import F8, F8_1, F8_2, I4_1, I8, I8_1, I8_2, U1_1, Array, kernel
from ecs_audio.kernels.tiers import BESIDE, FREE, FULL

ROTATING = 3
"""Paths beside the straight one that a DIRECT source takes at a turn."""
OVERDUE = 1.0
"""A turn so late [s] goes before louder ones."""
RANK = 1e6
"""Weight of a class of need over any loudness or age [s]; small enough to tell a millionth of them apart."""


@kernel(F8, U1_1, F8_1, F8_1, F8_1, F8_1, U1_1, U1_1, F8_1, I4_1)
def queue_up(
    time: float,
    tier: Array,
    loudness: Array,
    age: Array,
    due: Array,
    full_within: Array,
    looping: Array,
    owed: Array,
    keys: Array,
    items: Array,
) -> int:
    """Queue every source whose turn has come, or that owes paths of its bundle; returns how many.

    Order: new ones and blasts, which sound once; then those more than 1 s overdue, oldest first;
    then `loudness x (1 + age)`; FREE ones last, oldest first.
    time: [s]. tier, loudness, age, due, full_within, looping, owed: (n,) columns of `Sources`.
    keys, items: (n or more,) a heap of their needs and indices.
    """
    count = FIRST
    for i in range(tier.shape[0]):
        if due[i] > time and (owed[i] == 0 or tier[i] == FREE or due[i] == np.inf):
            continue
        if np.isinf(age[i]) or (full_within[i] > 0.0 and not looping[i]):
            key = 0.0
        elif tier[i] == FREE:
            key = 3.0 * RANK - min(age[i], RANK)
        elif time - due[i] > OVERDUE:
            key = RANK - min(age[i], RANK)
        else:
            key = 2.0 * RANK - min(loudness[i] * (1.0 + age[i]), RANK)
        keys[count], items[count] = key, i
        count += 1
    heapify(keys, items, count)
    return count


@kernel(F8, I8, I8, I8, I8, F8_1, I4_1, F8_1, F8_1, U1_1, U1_1, U1_1, I8_1, I4_1, I4_1, I8_1, I8_1)
def fill_batch(
    time: float,
    queued: int,
    max_rays: int,
    held: int,
    beside: int,
    keys: Array,
    items: Array,
    age: Array,
    due: Array,
    tier: Array,
    owed: Array,
    turn: Array,
    serial: Array,
    ray_source: Array,
    ray_path: Array,
    ray_serial: Array,
    out: Array,
) -> int:
    """Choose the rays of this tick from the queue; returns how many, never more than `max_rays`.

    Straight paths come first, of those whose turn it is; then the rest of each bundle in the same order,
    then FREE sources. A bundle that does not fit gives what fits; its rotation goes on next time.
    time: [s]. held: rays that bundles leave to starved environments; then straight paths that are neither
    new nor overdue take at most half. beside: paths beside the straight one, 0 or 12. keys, items: the heap,
    emptied.
    age to serial: (n,) columns of `Sources`. ray_source, ray_path, ray_serial: (max_rays,).
    out: (2,) straight paths wanted, straight paths placed.
    """
    limit = min(max_rays, ray_source.shape[0])
    rays, wanted = FIRST, 0
    left = queued
    while left > 0 and rays < limit and (tier[items[0]] != FREE or np.isinf(age[items[0]])):
        if held > 0 and rays >= limit // 2 and keys[0] >= RANK:
            break  # none of them is new or overdue
        i = pop(keys, items, left)
        left -= 1
        if due[i] <= time:
            ray_source[rays], ray_path[rays] = i, 0
            rays += 1
    straight = rays
    limit = max(straight, limit - held)
    for job in range(queued - 1, left - 1, -1):  # `pop` keeps what it gives out behind the heap
        i = items[job]
        if tier[i] == FREE:
            continue
        paths = owed[i] if owed[i] > 0 else (BESIDE if tier[i] == FULL else ROTATING)
        for k in range(min(paths, beside)):
            if rays == limit:
                break
            ray_source[rays], ray_path[rays] = i, 1 + (turn[i] + k) % BESIDE
            rays += 1
    while left > 0 and rays < limit:
        i = pop(keys, items, left)
        left -= 1
        if due[i] <= time:
            ray_source[rays], ray_path[rays] = i, 0
            rays += 1
            straight += 1
    for job in range(queued):
        if due[items[job]] <= time:
            wanted += 1
    for ray in range(rays):
        ray_serial[ray] = serial[ray_source[ray]]
    out[0], out[1] = wanted, straight
    return rays


@kernel(F8, F8, F8, U1_1, U1_1, U1_1, F8_1, F8_1, F8_1, F8_1)
def admit(
    time: float,
    reach: float,
    audible: float,
    positioned: Array,
    acoustics: Array,
    tier: Array,
    distance: Array,
    loudness: Array,
    age: Array,
    due: Array,
) -> None:
    """Take out of the schedule who needs no rays (due = inf), and back in who needs them again.

    time: [s]. reach: longest ray [m]. audible: loudness below which a FREE source is left alone.
    positioned, acoustics, tier, distance, loudness, age, due: (n,) columns of `Sources`.
    """
    for i in range(tier.shape[0]):
        heard = tier[i] != FREE or loudness[i] > audible or np.isinf(age[i])
        if not (positioned[i] and acoustics[i] and distance[i] < reach and heard):
            due[i] = np.inf
        elif due[i] == np.inf:
            due[i] = time


@kernel(F8, F8_1, F8_1)
def make_due(time: float, due: Array, outdated: Array) -> None:
    """Bring every turn forward to now; what was traced before does not count.

    time: [s]. due: (n,); inf stays, who needs no rays needs none now. outdated: (n,).
    """
    for i in range(due.shape[0]):
        outdated[i] = time
        if due[i] != np.inf:
            due[i] = min(due[i], time)


@kernel(F8, F8_1, F8_1, I8_1, I4_1, I4_1, I8_1)
def pick_new(
    time: float, age: Array, due: Array, serial: Array, ray_source: Array, ray_path: Array, ray_serial: Array
) -> int:
    """Choose the straight paths of sources that never had one; returns how many.

    time: [s]. age, due, serial: (n,) columns of `Sources`. ray_source, ray_path, ray_serial: (rays,).
    """
    rays = 0
    for i in range(age.shape[0]):
        if np.isinf(age[i]) and due[i] <= time and rays < ray_source.shape[0]:
            ray_source[rays], ray_path[rays], ray_serial[rays] = i, 0, serial[i]
            rays += 1
    return rays


@kernel(F8, F8_1, F8_2, F8_2, F8_1)
def approaches(dt: float, listener: Array, position: Array, offset: Array, out_approach: Array) -> None:
    """Time [s] until each source is nearest if both ends go on as they moved; inf if it recedes.

    dt: since the last tick [s]. listener: (3,) [m]. position: (n, 3) [m].
    offset: (n, 3) from the listener at the last tick [m], NaN before the first; updated.
    """
    for i in range(position.shape[0]):
        along, square = 0.0, 0.0
        for axis in range(3):
            p = position[i, axis] - listener[axis]
            v = (p - offset[i, axis]) / dt if dt > 0.0 else 0.0
            along += p * v
            square += v * v
            offset[i, axis] = p
        out_approach[i] = -along / square if along < 0.0 else np.inf


@kernel(F8, F8, F8_1, F8_2, I8_2, F8, U1_1, F8_1, F8_1)
def mark_edited(
    time: float,
    margin: float,
    listener: Array,
    position: Array,
    boxes: Array,
    cell_size: float,
    owed: Array,
    due: Array,
    outdated: Array,
) -> None:
    """Make every source due, with its whole bundle, whose paths pass through an edited box.

    time: [s]. margin: how far the bundle spreads [m]. listener: (3,) [m]. position: (n, 3) [m].
    boxes: (edits, 6) half-open boxes of cells. owed, due, outdated: (n,) columns of `Sources`.
    """
    for i in range(position.shape[0]):
        for e in range(boxes.shape[0]):
            touched = True
            for axis in range(3):
                a, b = listener[axis], position[i, axis]
                low, high = min(a, b) - margin, max(a, b) + margin
                if boxes[e, axis] * cell_size > high or boxes[e, axis + 3] * cell_size < low:
                    touched = False
            if touched:
                owed[i], outdated[i] = BESIDE, time
                if due[i] > time and due[i] != np.inf:
                    due[i] = time
                break
