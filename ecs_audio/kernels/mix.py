"""The mix: lanes are read one by one, then muffled, placed between the ears and added up eight at a time."""

from __future__ import annotations

import numpy as np

from ecs_audio.kernels.columns import VOICE_COLUMNS, VoiceColumns
from ecs_audio.kernels.jit import F4_1, F4_2, F8, I8, I8_1, U1, Array, kernel, law, part
from ecs_audio.kernels.read import TAPS, read_linear, read_sinc
from ecs_audio.kernels.shelf import SILENT, corner_of, shelf_coefficients, shelve8
from ecs_audio.kernels.simd import WIDTH, load8, store8, sum8

QUANTUM = 64
"""Frames mixed together; all that happens inside begins at a multiple of it."""
FADE_SECONDS = 0.005
BEGIN = np.int64(0)
FREE, PLAYING, ORPHAN, ENDED = 0, 1, 2, 3
B0, STEP, MEMORY, LEFT, RIGHT, LEFT_STEP, RIGHT_STEP, ROWS = 0, 5, 10, 12, 13, 14, 15, 16
"""Rows that eight lanes are laid out in: coefficients, their steps, memory, gains, their steps."""


@part
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


@part
def fade(v: VoiceColumns, lane: int, k: int, step: float, mono: Array) -> None:
    """Move a lane's attack or release, linearly in time, over column k of mono (64 x 8,)."""
    now, target = v.fade[lane], v.fade_target[lane]
    for n in range(QUANTUM):
        now = min(now + step, target) if now < target else max(now - step, target)
        mono[WIDTH * n + k] *= now
    v.fade[lane] = now


@part
def set_out(
    v: VoiceColumns, lane: int, k: int, ramp: int, corner: tuple[float, float], target: Array, rows: Array
) -> bool:
    """Lay a lane's filter and gains out in column k of rows (16, 8); returns whether it is muffled."""
    moving = min(max(ramp, 0), QUANTUM)
    h = v.hf[lane]
    if ramp > 0:
        v.hf[lane] += (v.hf_target[lane] - h) * np.float32(moving / ramp)
    if ramp <= QUANTUM:
        v.hf[lane] = v.hf_target[lane]
    glides = v.hf[lane] != h
    if glides:
        shelf_coefficients(v.hf[lane], corner, target)
    for c in range(5):
        rows[B0 + c, k] = v.shelf[lane, c]
        rows[STEP + c, k] = (
            (target[c] - v.shelf[lane, c]) * np.float32(1 / QUANTUM) if glides else np.float32(0.0)
        )
        if glides:
            v.shelf[lane, c] = target[c]
    rows[MEMORY, k], rows[MEMORY + 1, k] = v.memory[lane, 0], v.memory[lane, 1]
    for ear in range(2):
        step = (
            (v.gain_target[lane, ear] - v.gain[lane, ear]) / np.float32(ramp) if ramp > 0 else np.float32(0.0)
        )
        rows[LEFT + ear, k], rows[LEFT_STEP + ear, k] = v.gain[lane, ear], step
    return glides or h != 1.0 or v.memory[lane, 0] != 0.0 or v.memory[lane, 1] != 0.0


@part
def take_back(v: VoiceColumns, lane: int, k: int, ramp: int, rows: Array) -> None:
    """Note where column k of the rows has arrived."""
    for ear in range(2):
        v.gain[lane, ear] = v.gain_target[lane, ear] if ramp <= QUANTUM else rows[LEFT + ear, k]
        memory = rows[MEMORY + ear, k]  # denormals would cost a hundredfold
        v.memory[lane, ear] = memory if abs(memory) > SILENT else np.float32(0.0)


@law
def clear(k: int, mono: Array, rows: Array) -> None:
    """Make column k silent."""
    for n in range(QUANTUM):
        mono[WIDTH * n + k] = 0.0
    for row in range(ROWS):
        rows[row, k] = 0.0


@law
def add8(mono: Array, rows: Array, moving: int, ended: Array, out: Array) -> None:
    """Add eight lanes to out (64 x 2 x 8,): left and right, gains moving for the first `moving` frames.

    ended: (2, 8) gains from then on.
    """
    left, right = load8(rows, 8 * LEFT), load8(rows, 8 * RIGHT)
    dl, dr = load8(rows, 8 * LEFT_STEP), load8(rows, 8 * RIGHT_STEP)
    for n in range(moving):
        left, right = left + dl, right + dr
        x = load8(mono, 8 * n)
        store8(out, 16 * n, load8(out, 16 * n) + x * left)
        store8(out, 16 * n + 8, load8(out, 16 * n + 8) + x * right)
    store8(rows, 8 * LEFT, left)
    store8(rows, 8 * RIGHT, right)
    left, right = load8(ended, 0), load8(ended, 8)
    for n in range(moving, QUANTUM):
        x = load8(mono, 8 * n)
        store8(out, 16 * n, load8(out, 16 * n) + x * left)
        store8(out, 16 * n + 8, load8(out, 16 * n + 8) + x * right)


@kernel(F4_1, I8_1, I8_1, F4_2, U1, VOICE_COLUMNS, I8, I8, F8, F4_2, F4_1, F4_1, F4_2)
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
    rows: Array,
    mono: Array,
    sums: Array,
    out: Array,
) -> None:
    """Mix the next quanta of all lanes.

    bank: all clips. clip_offset, clip_length: [frames] by clip id. rate: [Hz].
    table: (129, 8) weights of the sinc reader. sinc: 1 for it, 0 for straight lines.
    v: columns of `Voices`, a multiple of 8, moved on. ramp: frames until the targets are to be reached.
    rows: (20, 8), mono: (64 x 8,), sums: (64 x 2 x 8,) scratch. out: (64 x quanta or more, 2).
    """
    edge, target, ended = rows[ROWS], rows[ROWS + 1], rows[ROWS + 2 : ROWS + 4]
    step, corner = np.float32(1.0 / (FADE_SECONDS * rate)), corner_of(rate)
    for q in range(quanta):
        moving = min(max(ramp, 0), QUANTUM)
        for n in range(sums.shape[0]):
            sums[n] = 0.0
        for first in range(0, v.lane.shape[0], WIDTH):
            sounding, muffled = 0, False
            for k in range(WIDTH):
                if not waits(v, first + k):
                    sounding |= 1 << k
            if sounding == 0:
                continue
            for k in range(WIDTH):
                lane = first + k
                if not sounding & (1 << k):
                    clear(k, mono, rows)
                    continue
                base, length, loop = (
                    clip_offset[v.clip[lane]],
                    clip_length[v.clip[lane]],
                    v.looping[lane] != 0,
                )
                position, start, speed = v.position[lane], BEGIN, v.speed[lane]
                column = mono[k:]
                for stop in (moving, QUANTUM):
                    if sinc:
                        position = read_sinc(
                            bank, table, edge, base, length, loop, position, speed, column, WIDTH, start, stop
                        )
                    else:
                        position = read_linear(
                            bank, base, length, loop, position, speed, column, WIDTH, start, stop
                        )
                    start, speed = moving, v.speed_after[lane]
                v.position[lane] = position
                if v.fade[lane] != v.fade_target[lane] or v.fade[lane] != 1.0:
                    fade(v, lane, k, step, mono)
                muffled = set_out(v, lane, k, ramp, corner, target, rows) or muffled
                for ear in range(2):
                    ended[ear, k] = v.gain_target[lane, ear]
                if not loop and (position >> 32) > length + TAPS:
                    v.lane[lane] = FREE if v.lane[lane] == ORPHAN else ENDED
            if muffled:
                shelve8(mono.reshape(QUANTUM, WIDTH), rows[B0:STEP], rows[STEP:MEMORY], rows[MEMORY:LEFT])
            add8(mono, rows, moving, ended, sums)
            for k in range(WIDTH):
                if sounding & (1 << k):
                    take_back(v, first + k, k, ramp, rows)
        for n in range(QUANTUM):
            out[QUANTUM * q + n, 0] = sum8(load8(sums, 16 * n))
            out[QUANTUM * q + n, 1] = sum8(load8(sums, 16 * n + 8))
        ramp -= QUANTUM
