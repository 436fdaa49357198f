"""The mix: lanes are read one by one, then muffled, placed between the ears and added up eight at a time."""

from __future__ import annotations

import numpy as np

from ecs_audio.kernels.columns import VOICE_COLUMNS, VoiceColumns
from ecs_audio.kernels.jit import F4_1, F4_2, F8, I8, I8_1, U1, Array, kernel, law
from ecs_audio.kernels.read import TAPS, read_linear, read_sinc
from ecs_audio.kernels.shelf import SILENT, corner_of, shelf_coefficients, shelve8
from ecs_audio.kernels.simd import WIDTH, load8, store8, sum8, transpose8

QUANTUM = 64
"""Frames mixed together; all that happens inside begins at a multiple of it."""
FADE_SECONDS = 0.005
FREE, ORPHAN, ENDED = 0, 2, 3
# Rows that eight lanes are laid out in, after 8 of scratch: coefficients, their steps, memory, gains,
# their steps, and where the gains end.
EDGE, B0, STEP, MEMORY, LEFT, RIGHT, LEFT_STEP, RIGHT_STEP, LEFT_END, RIGHT_END, ROWS = (
    0, 1, 6, 11, 13, 14, 15, 16, 17, 18, 19,
)  # fmt: skip
SHARE = np.float32(1.0 / QUANTUM)


@law
def fade(now: float, target: float, step: float, mono: Array, k: int) -> float:
    """Move an attack or release linearly in time over lane k of mono (64 x 8,); returns where it is then."""
    for n in range(k, WIDTH * QUANTUM, WIDTH):
        now = min(now + step, target) if now < target else max(now - step, target)
        mono[n] *= now
    return now


@law
def clear(k: int, lanes: Array, rows: Array) -> None:
    """Make lane k of eight silent."""
    for n in range(QUANTUM * k, QUANTUM * (k + 1)):
        lanes[n] = 0.0
    for row in range(ROWS):
        rows[WIDTH * row + k] = 0.0


@law
def add8(mono: Array, rows: Array, moving: int, out: Array) -> None:
    """Add eight lanes to out (64 x 2 x 8,): left and right, gains moving for the first `moving` frames."""
    left, right = load8(rows, WIDTH * LEFT), load8(rows, WIDTH * RIGHT)
    dl, dr = load8(rows, WIDTH * LEFT_STEP), load8(rows, WIDTH * RIGHT_STEP)
    for n in range(moving):
        left, right = left + dl, right + dr
        x = load8(mono, 8 * n)
        store8(out, 16 * n, load8(out, 16 * n) + x * left)
        store8(out, 16 * n + 8, load8(out, 16 * n + 8) + x * right)
    store8(rows, WIDTH * LEFT, left)
    store8(rows, WIDTH * RIGHT, right)
    left, right = load8(rows, WIDTH * LEFT_END), load8(rows, WIDTH * RIGHT_END)
    for n in range(moving, QUANTUM):
        x = load8(mono, 8 * n)
        store8(out, 16 * n, load8(out, 16 * n) + x * left)
        store8(out, 16 * n + 8, load8(out, 16 * n + 8) + x * right)


@kernel(F4_1, I8_1, I8_1, F4_2, U1, VOICE_COLUMNS, I8, I8, F8, F4_1, F4_1, F4_1, F4_1, F4_2)
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
    lanes: Array,
    mono: Array,
    sums: Array,
    out: Array,
) -> None:
    """Mix the next quanta of all lanes.

    bank: all clips. clip_offset, clip_length: [frames] by clip id. rate: [Hz].
    table: (129, 8) weights of the sinc reader. sinc: 1 for it, 0 for straight lines.
    v: columns of `Voices`, a multiple of 8, moved on. ramp: frames until the targets are to be reached.
    rows: (19 x 8,), lanes: (8 x 64,), mono: (64 x 8,), sums: (64 x 2 x 8,) scratch.
    out: (64 x quanta or more, 2).
    """
    # Taken apart once: every look into a record counts the array up and down, at 10 ns.
    (
        state, clip, looping, _, _, position, _, speed, speed_after, jump,
        gain, gain_target, hf, hf_target, shelf, memory, fades, fade_target,
    ) = v  # fmt: skip
    step, corner, count = np.float32(1.0 / (FADE_SECONDS * rate)), corner_of(rate), state.shape[0]
    for q in range(quanta):
        moving = min(max(ramp, 0), QUANTUM)
        part = np.float32(moving / ramp) if ramp > 0 else np.float32(0.0)
        a_frame = np.float32(1.0 / ramp) if ramp > 0 else np.float32(0.0)
        for n in range(sums.shape[0]):
            sums[n] = 0.0
        for first in range(0, count, WIDTH):
            sounding, muffled = 0, False
            for k in range(WIDTH):
                lane = first + k
                if state[lane] == FREE or state[lane] == ENDED:
                    continue
                if fades[lane] == 0.0 and fade_target[lane] == 0.0:  # silent: given back, paused, or jumping
                    if state[lane] == ORPHAN:
                        state[lane] = FREE
                    if state[lane] == FREE or jump[lane] == 0:
                        continue
                    position[lane] += jump[lane]
                    jump[lane] = 0
                    fade_target[lane] = 1.0
                sounding |= 1 << k
            if sounding == 0:
                continue
            for k in range(WIDTH):
                lane, at = first + k, QUANTUM * k
                if not sounding & (1 << k):
                    clear(k, lanes, rows)
                    continue
                base, length, loop = clip_offset[clip[lane]], clip_length[clip[lane]], looping[lane] != 0
                place, start, pace = position[lane], at, speed[lane]
                for stop in (at + moving, at + QUANTUM):
                    if start == stop:
                        pass
                    elif sinc:
                        place = read_sinc(
                            bank, table, rows, base, length, loop, place, pace, lanes, start, stop
                        )
                    else:
                        place = read_linear(bank, base, length, loop, place, pace, lanes, start, stop)
                    start, pace = at + moving, speed_after[lane]
                position[lane] = place
                h = hf[lane]
                reached = hf_target[lane] if ramp <= QUANTUM else h + (hf_target[lane] - h) * part
                for c in range(5):
                    rows[WIDTH * (B0 + c) + k] = shelf[lane, c]
                    rows[WIDTH * (STEP + c) + k] = 0.0
                if reached != h:
                    hf[lane] = reached
                    shelf_coefficients(reached, corner, shelf, lane)
                    for c in range(5):
                        rows[WIDTH * (STEP + c) + k] = (shelf[lane, c] - rows[WIDTH * (B0 + c) + k]) * SHARE
                for ear in range(2):
                    rows[WIDTH * (MEMORY + ear) + k] = memory[lane, ear]
                    rows[WIDTH * (LEFT + ear) + k] = gain[lane, ear]
                    rows[WIDTH * (LEFT_STEP + ear) + k] = (gain_target[lane, ear] - gain[lane, ear]) * a_frame
                    rows[WIDTH * (LEFT_END + ear) + k] = gain_target[lane, ear]
                    muffled = muffled or memory[lane, ear] != 0.0
                muffled = muffled or h != 1.0 or reached != 1.0
                if not loop and (place >> 32) > length + TAPS:
                    state[lane] = FREE if state[lane] == ORPHAN else ENDED
            for n in range(0, QUANTUM, WIDTH):
                transpose8(lanes, n, QUANTUM, mono, WIDTH * n)
            if muffled:
                shelve8(mono, QUANTUM, rows, B0, STEP, MEMORY)
            for k in range(WIDTH):  # after the shelf, which would ring on
                lane = first + k
                if sounding & (1 << k) and (fades[lane] != 1.0 or fade_target[lane] != 1.0):
                    fades[lane] = fade(fades[lane], fade_target[lane], step, mono, k)
            add8(mono, rows, moving, sums)
            for k in range(WIDTH):
                if sounding & (1 << k):
                    for ear in range(2):
                        kept = rows[WIDTH * (LEFT + ear) + k]
                        gain[first + k, ear] = gain_target[first + k, ear] if ramp <= QUANTUM else kept
                        kept = rows[WIDTH * (MEMORY + ear) + k]  # denormals would cost a hundredfold
                        memory[first + k, ear] = kept if abs(kept) > SILENT else np.float32(0.0)
        for n in range(QUANTUM):
            out[QUANTUM * q + n, 0] = sum8(load8(sums, 16 * n))
            out[QUANTUM * q + n, 1] = sum8(load8(sums, 16 * n + 8))
        ramp -= QUANTUM
