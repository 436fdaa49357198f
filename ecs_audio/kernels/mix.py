"""The mix: every lane reads, is muffled, is placed between the ears, and is added up."""

from __future__ import annotations

import numpy as np

from ecs_audio.kernels.columns import VOICE_COLUMNS, VoiceColumns
from ecs_audio.kernels.jit import F4_1, F4_2, F8, I8, I8_1, U1, Array, kernel, law
from ecs_audio.kernels.read import TAPS, read_linear, read_sinc
from ecs_audio.kernels.shelf import shelf_coefficients, shelve

QUANTUM = 64
"""Frames mixed together; all that happens inside begins at a multiple of it."""
FADE_SECONDS = 0.005
BEGIN = np.int64(0)
FREE, PLAYING, ORPHAN, ENDED = 0, 1, 2, 3


@law
def waits(v: VoiceColumns, lane: int) -> bool:
    """Whether a lane has nothing to play in this quantum; a silent one jumps, or is given back."""
    if v.lane[lane] == FREE or v.lane[lane] == ENDED:
        return True
    if v.fade[lane] > 0.0 or v.fade_target[lane] > 0.0:
        return False
    if v.lane[lane] == ORPHAN:
        v.lane[lane] = FREE
        return True
    if v.jump[lane] == 0:
        return True  # paused
    v.position[lane] += v.jump[lane]
    v.jump[lane] = 0
    v.fade_target[lane] = 1.0
    return False


@law
def add_panned(v: VoiceColumns, lane: int, mono: Array, ramp: int, fade_step: float, out: Array) -> None:
    """Add a lane's samples to both ears, with gains that move linearly for the next `ramp` frames."""
    left, right = v.gain[lane, 0], v.gain[lane, 1]
    moving = min(max(ramp, 0), mono.shape[0])
    dl, dr = np.float32(0.0), np.float32(0.0)
    if ramp > 0:
        dl = (v.gain_target[lane, 0] - left) / np.float32(ramp)
        dr = (v.gain_target[lane, 1] - right) / np.float32(ramp)
    fade, target = v.fade[lane], v.fade_target[lane]
    for n in range(mono.shape[0]):
        if n < moving:
            left += dl
            right += dr
        elif n == moving:
            left, right = v.gain_target[lane, 0], v.gain_target[lane, 1]
        x = mono[n]
        if fade != target:
            fade = min(fade + fade_step, target) if fade < target else max(fade - fade_step, target)
        x = x * fade
        out[n, 0] += x * left
        out[n, 1] += x * right
    if ramp <= mono.shape[0]:
        left, right = v.gain_target[lane, 0], v.gain_target[lane, 1]
    v.gain[lane, 0], v.gain[lane, 1], v.fade[lane] = left, right, fade


@law
def mix_lane(
    bank: Array,
    base: int,
    length: int,
    table: Array,
    sinc: int,
    v: VoiceColumns,
    lane: int,
    ramp: int,
    rate: float,
    edge: Array,
    target: Array,
    mono: Array,
    out: Array,
) -> None:
    """Read, muffle and place the next quantum of one lane, and add it to out (64, 2)."""
    moving = min(max(ramp, 0), QUANTUM)
    loop = v.looping[lane] != 0
    position, start, speed = v.position[lane], BEGIN, v.speed[lane]
    for stop in (moving, QUANTUM):
        if sinc:
            position = read_sinc(bank, table, edge, base, length, loop, position, speed, mono, start, stop)
        else:
            position = read_linear(bank, base, length, loop, position, speed, mono, start, stop)
        start, speed = moving, v.speed_after[lane]
    v.position[lane] = position
    h = v.hf[lane]
    if ramp > 0:
        v.hf[lane] += (v.hf_target[lane] - h) * np.float32(moving / ramp)
    if ramp <= QUANTUM:
        v.hf[lane] = v.hf_target[lane]
    if v.hf[lane] != h:
        shelf_coefficients(v.hf[lane], rate, target)
    else:
        for k in range(5):
            target[k] = v.shelf[lane, k]
    if h != 1.0 or v.hf[lane] != 1.0 or v.memory[lane, 0] != 0.0 or v.memory[lane, 1] != 0.0:
        shelve(mono, v.shelf[lane], target, v.memory[lane])
    add_panned(v, lane, mono, ramp, np.float32(1.0 / (FADE_SECONDS * rate)), out)
    if not loop and (position >> 32) > length + TAPS:
        v.lane[lane] = FREE if v.lane[lane] == ORPHAN else ENDED


@kernel(F4_1, I8_1, I8_1, F4_2, U1, VOICE_COLUMNS, I8, I8, F8, F4_1, F4_1, F4_1, F4_2)
def mix_quanta(
    bank: Array,
    clip_offset: Array,
    clip_length: Array,
    table: Array,
    sinc: int,
    v: VoiceColumns,
    ramp: int,
    quanta: int,
    rate: float,
    edge: Array,
    target: Array,
    mono: Array,
    out: Array,
) -> None:
    """Mix the next quanta of all lanes.

    bank: all clips. clip_offset, clip_length: [frames] by clip id. rate: [Hz].
    table: (129, 8) weights of the sinc reader. sinc: 1 for it, 0 for straight lines.
    v: columns of `Voices`, moved on. ramp: frames until the targets are to be reached, may be past.
    edge: (8,), target: (5,), mono: (64,) scratch. out: (64 x quanta or more, 2).
    """
    for q in range(quanta):
        part = out[QUANTUM * q : QUANTUM * (q + 1)]
        for n in range(QUANTUM):
            part[n, 0] = part[n, 1] = 0.0
        for lane in range(v.lane.shape[0]):
            if not waits(v, lane):
                base, length = clip_offset[v.clip[lane]], clip_length[v.clip[lane]]
                mix_lane(bank, base, length, table, sinc, v, lane, ramp, rate, edge, target, mono, part)
        ramp -= QUANTUM
