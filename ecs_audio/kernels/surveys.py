"""Whose environment is looked into at this tick, and with how many rays."""

from __future__ import annotations

import numpy as np

from ecs_audio.kernels.cache import BEGUN, READY, VACANT, find_entry, row_to_give_up, write_key
from ecs_audio.kernels.columns import ASKERS, ENTRIES, Askers, Entries
from ecs_audio.kernels.heap import FIRST, heapify, pop
from ecs_audio.kernels.jit import F8, F8_1, I4_1, I8, I8_1, I8_2, Array, kernel, law
from ecs_audio.kernels.results import interval
from ecs_audio.kernels.schedule import OVERDUE, RANK
from ecs_audio.kernels.sphere import direction_of
from ecs_audio.kernels.tiers import FULL

RAYS, HITS, LEGS = np.int64(16), np.int64(3), np.int64(48)
TURN = 2.399963229728653  # golden angle
YOUNG, OLD = 2.0, 6.0
"""How long an entry holds [s]: the first survey of a pair misses echoes that the next may find."""
UNSEEN = 2
"""Stands for "sees the listener" until a ray has looked."""
STARVED = 4.0
"""An environment so late [s] goes before all others."""


@law
def segments_left(done: Array, row: int, hits: int) -> int:
    """Hits of a row's rays that are not known yet, of so many a ray."""
    left = np.int64(0)
    for ray in range(done.shape[1]):
        left += hits - done[row, ray]
    return left


@law
def unseen(couples: Array, row: int) -> int:
    """Points of an entry that have not looked for the listener."""
    count = np.int64(0)
    for b in range(RAYS * HITS):
        count += couples[row, b] == UNSEEN
    return count


@law
def grant(
    done: Array, couples: Array, legs_done: Array, row: int, left: int, echoes: int
) -> tuple[int, int, int]:
    """Hits, looks at the listener, and legs that an entry may trace with so many rays left.

    Every hit may look, so that the worst case is never more than what is left.
    """
    waiting = min(unseen(couples, row), left)
    wanted = segments_left(done, row, HITS)
    rays = min(wanted, (left - waiting) // 2)
    left -= waiting + 2 * rays
    legs = min(LEGS - legs_done[row], left) if echoes and rays == wanted else np.int64(0)
    return rays, waiting + rays, legs


@law
def holds(e: Entries, row: int, time: float) -> bool:
    """Whether an entry still answers at a time [s]."""
    age = time - e.evaluated[row]
    return e.state[row] == READY and age <= (YOUNG if e.surveys[row] <= 1 else OLD)


@law
def begin(
    e: Entries, row: int, s: Askers, i: int, leader: int, listener: Array, time: float, number: int
) -> None:
    """Take the ends of a new survey in a row, and aim its rays.

    i: the source that asks, whose loudness decides which echoes are heard. leader: the one that the rays go
    around; the row is of its cell.
    """
    e.surveys[row] = 1 if e.state[row] == VACANT else e.surveys[row] + 1  # after an edit all is new
    e.state[row], e.stale[row], e.number[row] = BEGUN, 0, number
    e.evaluated[row], e.used[row] = time, time
    e.candidates[row], e.legs_done[row] = -1, 0
    for axis in range(3):
        a, b = s.heard_position[leader, axis], listener[axis]
        e.source[row, axis], e.listener[row, axis] = a, b
        e.low[row, axis], e.high[row, axis] = min(a, b), max(a, b)
    for b in range(RAYS * HITS):
        e.couples[row, b] = 0
    for ray in range(RAYS):
        e.done[row, ray] = 0
        x, y, z = direction_of(ray, RAYS, number * TURN)
        e.direction[row, ray, 0], e.direction[row, ray, 1], e.direction[row, ray, 2] = x, y, z
        for axis in range(3):
            e.origin[row, ray, axis] = e.source[row, axis]
    e.loudness[row, 0], e.loudness[row, 1], e.loudness[row, 2] = s.volume[i], s.law[i], s.reference[i]
    e.loudness[row, 3], e.loudness[row, 4] = s.end[i], s.fade_start[i]
    for tap in range(e.sounding_plane.shape[1]):
        for k in range(2):
            e.sounding_plane[row, tap, k] = s.wanted_plane[i, tap, k]
        for axis in range(3):
            e.sounding_point[row, tap, axis] = s.wanted_point[i, tap, axis]


@law
def leader_of(serial: Array, event: Array, count: int, i: int) -> int:
    """The row of the source whose environment a source shares: its own, unless the event's lives."""
    if event[i] >= 0:
        for j in range(count):
            if serial[j] == event[i]:
                return np.int64(j)
    return np.int64(i)


@kernel(
    F8, F8, I8, I8, I8, I8, ENTRIES, ASKERS, F8_1, F8_1, I4_1, I8_1, I4_1, I8_2, I8_1,
)  # fmt: skip
def plan_surveys(
    time: float,
    dt: float,
    count: int,
    budget: int,
    cached: int,
    echoes: int,
    e: Entries,
    s: Askers,
    listener: Array,
    keys: Array,
    items: Array,
    wanted: Array,
    out_active: Array,
    out_grant: Array,
    out: Array,
) -> int:
    """Choose the surveys that go on or begin at this tick; returns how many.

    Those begun go on first. Then FULL sources whose turn has come, in the order of `queue_up`: a
    pair of ends that an entry answers costs nothing; others begin while rays are left. DIRECT and FREE
    sources whose straight path is due take what an entry says, if there is one.
    time, dt: [s]. count: living sources. budget: rays left. cached, echoes: 1 if wanted.
    listener: (3,) [m]. keys, items: scratch. wanted: (6,) scratch.
    out_active: (most,) rows. out_grant: (most, 3) hits, looks at the listener, and legs that each may trace.
    out: (8,) hits, misses, evictions, surveys begun ever, environments due, those put off,
    sources starved of theirs; the last stays.
    """
    for k in range(8):
        if k != 3:
            out[k] = 0
    left, active, most = budget, 0, out_active.shape[0]
    going = FIRST
    for row in range(e.state.shape[0]):
        if e.state[row] == BEGUN and going < keys.shape[0]:
            keys[going], items[going] = e.number[row], row
            going += 1
    heapify(keys, items, going)
    while going > 0 and active < most and left >= 2:
        row = pop(keys, items, going)
        going -= 1
        if time - e.evaluated[row] > OVERDUE:
            out[6] += 1
        rays, sights, legs = grant(e.done, e.couples, e.legs_done, row, left, echoes)
        out_active[active] = row
        out_grant[active, 0], out_grant[active, 1], out_grant[active, 2] = rays, sights, legs
        left -= rays + sights + legs
        active += 1

    queued = FIRST
    for i in range(count):
        if s.due[i] == np.inf or not s.acoustics[i]:
            continue
        if s.tier[i] != FULL:
            if s.due[i] <= time:
                row = np.int64(-1)
                if cached:
                    leader = leader_of(s.serial, s.event, count, i)
                    h = write_key(s.heard_position, leader, listener, wanted)
                    row = find_entry(e.key, e.hash, wanted, h)
                s.survey[i] = row if row >= 0 and holds(e, row, time) else -1
                if s.survey[i] >= 0:
                    e.used[row] = time
                else:
                    s.environment[i], s.coupling[i] = -1, -1.0
                    s.environment_age[i], s.environment_due[i] = np.inf, -np.inf
            continue
        if s.environment_due[i] > time or s.survey[i] >= 0:
            continue
        if s.environment_due[i] == -np.inf:
            s.environment_due[i] = time
        late = time - s.environment_due[i]
        if late > OVERDUE:
            out[6] += 1
        if late > STARVED:
            key = -late
        elif np.isinf(s.environment_age[i]) or (s.full_within[i] > 0.0 and not s.looping[i]):
            key = 0.0
        elif late > OVERDUE:
            key = RANK - min(s.environment_age[i], RANK)
        else:
            key = 2.0 * RANK - min(s.loudness[i] * (1.0 + s.environment_age[i]), RANK)
        keys[queued], items[queued] = key, i
        queued += 1
    heapify(keys, items, queued)
    out[4] = queued
    while queued > 0:
        i = pop(keys, items, queued)
        queued -= 1
        leader = leader_of(s.serial, s.event, count, i)
        h = write_key(s.heard_position, leader, listener, wanted)
        row = find_entry(e.key, e.hash, wanted, h)
        if row >= 0 and e.state[row] == BEGUN:
            s.survey[i] = row  # another source asked for the same
            continue
        if row >= 0 and cached and holds(e, row, time):
            s.survey[i], e.used[row] = row, time
            s.environment_due[i] = time + interval(s.distance[i], s.approach[i], dt)
            out[0] += 1
            continue
        if left < 2 or active == most:
            out[5] += 1
            continue
        if row < 0:
            row = row_to_give_up(e.state, e.used)
            if row < 0:
                out[5] += 1
                continue
            out[2] += 1 if e.state[row] == READY else 0
            e.state[row], e.hash[row] = VACANT, h
            for k in range(6):
                e.key[row, k] = wanted[k]
            for j in range(count):
                if s.environment[j] == row:
                    s.environment[j] = -1
                if s.survey[j] == row:
                    s.survey[j] = -1
        out[1] += 1
        begin(e, row, s, i, leader, listener, time, out[3])
        out[3] += 1
        s.survey[i] = row
        s.environment_due[i] = time + interval(s.distance[i], s.approach[i], dt)
        rays, sights, legs = grant(e.done, e.couples, e.legs_done, row, left, echoes)
        out_active[active] = row
        out_grant[active, 0], out_grant[active, 1], out_grant[active, 2] = rays, sights, legs
        left -= rays + sights + legs
        active += 1
    return active
