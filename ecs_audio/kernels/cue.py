"""Cues: what a tick says of all sources, copied for the render loop, and what the loop keeps between them.

A source's row moves when another one is removed. What sounds is therefore kept by slot, which a source has
for life, and by take, a number that is given once: another take in a slot is another sound.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types

from ecs_audio.kernels.atomic import load_acquire, store_release
from ecs_audio.kernels.columns import SOUND_COLUMNS, SoundColumns, VoiceColumns
from ecs_audio.kernels.jit import F8_1, I4_1, I4_2, I8, I8_1, I8_2, U1_1, U1_2, Array, kernel, law
from ecs_audio.kernels.pointers import copy_bytes
from ecs_audio.kernels.pool import INAUDIBLE, SOUNDING, WAITING, silence_source


class Playing(NamedTuple):
    """What the render loop knows of each slot, at full capacity."""

    take: Array
    """Take that the slot plays, 0 for none."""
    listed: Array
    """Whether the newest cue still has it."""
    state: Array
    voice: Array
    hush: Array
    tap_voice: Array
    tap_taken: Array


PLAYING = types.NamedTuple((I8_1, U1_1, U1_1, I4_1, F8_1, I4_2, I8_2), Playing)


@law
def copy_rows(count: int, address: Array, width: Array, rows: int, start: Array, back: bool) -> None:
    """Copy the first rows of all columns one after another to `rows`, an address, or back."""
    for k in range(address.shape[0]):
        if back:
            copy_bytes(address[k], rows + start[k], count * width[k])
        else:
            copy_bytes(rows + start[k], address[k], count * width[k])


@law
def give_slots(count: int, slot: Array, take: Array, used: Array, takes: int) -> int:
    """Give every source without a slot the lowest free one, and a take; returns takes given so far."""
    for k in range(used.shape[0]):
        used[k] = 0
    for i in range(count):
        if slot[i] >= 0:
            used[slot[i]] = 1
    free = 0
    for i in range(count):
        if slot[i] < 0:
            while used[free]:
                free += 1
            takes += 1
            slot[i], take[i], used[free] = free, takes, 1
    return takes


@law
def is_starting(s: SoundColumns, i: int) -> bool:
    """Whether a source that waited gets a voice from this cue on, if there is one."""
    return (
        s.state[i] == WAITING
        and not s.paused[i]
        and not (np.isinf(s.age[i]) and s.due[i] != np.inf)
        and s.audibility[i] > 2.0 * INAUDIBLE
        and s.heard_clock[i] < s.stop_clock[i]
    )


@kernel(SOUND_COLUMNS, I8, I4_1, I8_1, U1_1, U1_1, I8, I8_1, I8_1, I8_1, U1_2, I8_1, I8, I8)
def publish(
    s: SoundColumns,
    count: int,
    slot: Array,
    take: Array,
    used: Array,
    jumps: Array,
    takes: int,
    address: Array,
    width: Array,
    start: Array,
    rows: Array,
    clock: Array,
    place: int,
    cue: int,
) -> int:
    """Copy what a tick says of the sources into a cue; returns takes given so far.

    s: columns of `Sources`; count: living ones. slot, take, used (capacity,): who plays where.
    jumps: (capacity,) by slot, 1 for a jump that no cue has told of yet. address, width, start (columns,): of
    each column the first byte, bytes a row, place in the cue. rows: (cues, bytes). clock[place]: counts the
    cues, and is set last. cue: number of this one, or -1 if there is no room, when only its jumps are kept.

    What starts is taken to sound from here on: the next tick cannot wait for the loop to say so.
    """
    takes = give_slots(count, slot, take, used, takes)
    for i in range(count):
        jumps[slot[i]] |= s.jumped[i]
        s.jumped[i] = jumps[slot[i]]
        if cue >= 0:
            jumps[slot[i]] = 0
    if cue >= 0:
        copy_rows(count, address, width, rows[cue % rows.shape[0]].ctypes.data, start, False)
        store_release(clock, place, cue + 1)
    for i in range(count):
        if is_starting(s, i):
            s.state[i] = SOUNDING
    return takes


@kernel(I8, I4_1, I8_1, PLAYING, U1_1)
def hear(count: int, slot: Array, take: Array, p: Playing, state: Array) -> None:
    """Learn what became of the sources' sound. count: living ones. p: of the render loop."""
    for i in range(count):
        k = slot[i]
        if k >= 0 and load_acquire(p.take, k) == take[i] and p.state[k] != WAITING:
            state[i] = p.state[k]


@law
def recall(count: int, s: SoundColumns, slot: Array, take: Array, p: Playing, v: VoiceColumns) -> None:
    """Bring to a cue's rows what sounds of them, and let go what no row speaks of any more."""
    for k in range(p.listed.shape[0]):
        p.listed[k] = 0
    for i in range(count):
        k = slot[i]
        if p.take[k] != take[i]:
            silence_source(k, p.voice, p.tap_voice, v.lane, v.jump, v.signal)
            p.state[k], p.hush[k] = s.state[i], 0.0
            store_release(p.take, k, take[i])
        p.listed[k] = 1
        s.state[i], s.voice[i], s.hush[i] = p.state[k], p.voice[k], p.hush[k]
        for a in range(p.tap_voice.shape[1]):
            s.tap_voice[i, a], s.tap_taken[i, a] = p.tap_voice[k, a], p.tap_taken[k, a]
    for k in range(p.listed.shape[0]):
        if p.take[k] != 0 and not p.listed[k]:
            silence_source(k, p.voice, p.tap_voice, v.lane, v.jump, v.signal)
            p.take[k] = 0


@law
def retain(count: int, s: SoundColumns, slot: Array, p: Playing) -> None:
    """Keep by slot what a cue's rows have come to."""
    for i in range(count):
        k = slot[i]
        p.voice[k], p.hush[k] = s.voice[i], s.hush[i]
        for a in range(p.tap_voice.shape[1]):
            p.tap_voice[k, a], p.tap_taken[k, a] = s.tap_voice[i, a], s.tap_taken[i, a]
        p.state[k] = s.state[i]
