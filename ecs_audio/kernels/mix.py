"""The mix: lanes are read one by one, then muffled, placed between the ears and added up eight at a time."""

from __future__ import annotations

import numpy as np

from ecs_audio.kernels.columns import VOICE_COLUMNS, VoiceColumns
from ecs_audio.kernels.jit import F4_1, F4_2, F8, I8, I8_1, U1, Array, kernel, law
from ecs_audio.kernels.read import ONE, TAPS, draw_lines, draw_sinc, read_linear, read_sinc
from ecs_audio.kernels.shelf import corner_of
from ecs_audio.kernels.simd import WIDTH, load8, max8, sum8, transpose8
from ecs_audio.kernels.strip import (
    BENT,
    FADE,
    FADE_TARGET,
    FAR,
    GAIN,
    NEAR,
    OUTS,
    QUANTUM,
    S1,
    S2,
    SHARE,
    SHELF,
    SHELF_ROWS,
    SHELVES,
    TARGET,
    add_ears,
    add_fading,
    add_muffled,
    add_sends,
    arrive,
    bend,
    is_muffled,
    rise,
    settle,
    shelve,
)

FADE_SECONDS = 0.005
FREE, ORPHAN, ENDED = 0, 2, 3
SPILL = 256
"""Frames that a band-limited copy goes on before and after its clip."""
COPIES = 3
FOREVER = (1 << 63) - 1
"""A place that no lane reaches."""
FRESH = 255
"""A lane that has not chosen between its clip and the copies of it."""
UP, DOWN = 1.2, 1.1
"""A copy is for speeds up to 1.2 times a power of two; from 1.1 on downwards the next lower one is again."""


@law
def copy_for(speed: int, now: int) -> int:
    """Which copy of a clip is read at a speed [32.32], so that nothing folds back: 0 is the clip itself.

    now: the one being read, which is kept where both will do.
    """
    wanted = 0
    while wanted < COPIES and speed > UP * ONE * (1 << wanted):
        wanted += 1
    if wanted < now <= COPIES and speed > DOWN * ONE * (1 << (now - 1)):
        return now
    return wanted


@law
def read_lane(
    bank: Array,
    table: Array,
    edge: Array,
    base: int,
    stride: int,
    length: int,
    looping: bool,
    octave: int,
    sinc: int,
    position: int,
    speed: int,
    speed_after: int,
    lanes: Array,
    start: int,
    turn: int,
) -> int:
    """A quantum of one lane to lanes[start:start + 64], at another speed from `turn` on; returns its
    position.

    octave: which copy of the clip is read. A copy of a one-shot sounds a little before and after its clip.
    """
    if speed == speed_after:
        turn = start + QUANTUM
    base += octave * stride
    spill = SPILL if octave > 0 else 0
    early = 0 if looping else spill
    if not looping:
        base, length, spill = base - spill, length + 2 * spill, 0
    place = position + (early << 32)
    for leg in range(2):
        a = start if leg == 0 else turn
        b = turn if leg == 0 else start + QUANTUM
        pace = speed if leg == 0 else speed_after
        if a == b:
            continue
        if sinc:
            place = read_sinc(bank, table, edge, base, length, looping, spill, place, pace, lanes, a, b)
        else:
            place = read_linear(bank, base, length, looping, spill, place, pace, lanes, a, b)
    return place - (early << 32)


@law
def is_sounding(k: int, state: Array, jump: Array, position: Array, signal: Array) -> bool:
    """Whether lane k sounds in this quantum. One that has faded is given back, or jumps and rises again."""
    sounds = state[k] != FREE and state[k] != ENDED
    if sounds and signal[FADE, k] == 0.0 and signal[FADE_TARGET, k] == 0.0:
        sounds = state[k] != ORPHAN and jump[k] != 0
        if state[k] == ORPHAN:
            state[k] = FREE
        elif sounds:
            position[k] += jump[k]
            jump[k] = 0
            signal[FADE_TARGET, k] = 1.0
    return sounds


@law
def sent_by(signal: Array, first: int, lanes: int, bus: int) -> bool:
    """Whether one of eight lanes sends into a reverb, NEAR or FAR, now or soon."""
    now, target = load8(signal, (GAIN + bus) * lanes + first), load8(signal, (TARGET + bus) * lanes + first)
    return sum8(max8(now, target)) != 0.0


@law
def mix_eight(
    mono: Array, rest: Array, signal: Array, first: int, lanes: int, fading: bool, part: float,
    a_frame: float, cos: float, alpha: float, step: float, bent: Array, risen: Array, sums: Array,
) -> int:  # fmt: skip
    """Muffle a quantum of eight lanes, mono (64 x 8,), and add it to the sums.

    rest: (3 x 64 x 8,) scratch. Returns which reverbs it is sent into, bit 0 near, bit 1 far.
    """
    bend(signal, first, lanes, 0, part, cos, alpha, bent)
    rise(signal, first, lanes, a_frame, risen)
    buses = 1 if sent_by(signal, first, lanes, NEAR) else 0
    buses |= 2 if sent_by(signal, first, lanes, FAR) else 0
    muffled = buses > 0 and (is_muffled(signal, first, lanes, 1) or is_muffled(signal, first, lanes, 2))
    if muffled or fading:
        bend(signal, first, lanes, 1, part, cos, alpha, bent)
        bend(signal, first, lanes, 2, part, cos, alpha, bent)
    if fading:
        size = QUANTUM * WIDTH
        direct, near, far = rest[:size], rest[size : 2 * size], rest[2 * size :]
        shelve(mono, signal, first, lanes, 0, bent, direct)
        shelve(mono, signal, first, lanes, 1, bent, near)
        shelve(mono, signal, first, lanes, 2, bent, far)
        add_fading(direct, near, far, signal, first, lanes, step, risen, sums)
    elif muffled:
        add_muffled(mono, signal, first, lanes, bent, risen, sums)
    else:
        add_ears(mono, signal, first, lanes, bent, risen, sums)
        if buses:
            add_sends(mono, signal, first, lanes, risen, sums)
    settle(signal, first, lanes, 0, bent)
    if muffled or fading:
        settle(signal, first, lanes, 1, bent)
        settle(signal, first, lanes, 2, bent)
    if part >= 1.0:
        arrive(signal, first, lanes)
    return buses


@kernel(
    F4_1, I8_1, I8_1, I8_1, F4_2, U1, VOICE_COLUMNS, I8, I8, F8, F4_1, F4_1, F4_1, F4_1, F4_2, F4_2
)  # fmt: skip
def mix_quanta(
    bank: Array,
    clip_offset: Array,
    clip_stride: Array,
    clip_length: Array,
    table: Array,
    sinc: int,
    v: VoiceColumns,
    ramp: int,
    quanta: int,
    rate: float,
    steps: Array,
    lanes: Array,
    mono: Array,
    sums: Array,
    out: Array,
    sent: Array,
) -> int:
    """Mix the next quanta of all lanes; returns which reverbs something was sent into, bit 0 near, bit 1 far.

    bank: all clips. clip_offset, clip_stride, clip_length: [frames] by clip id. rate: [Hz].
    table: (128, 16) weights of the sinc reader. sinc: 1 for it, 0 for straight lines.
    v: columns of `Voices`, a multiple of 8, moved on. ramp: frames until the targets are to be reached.
    steps: (34 x 8,), lanes: (9 x 64,), mono: (4 x 64 x 8,), sums: (64 x 4 x 8,) scratch.
    out: (64 x quanta or more, 2). sent: (2, 64 x quanta or more) near and far.
    """
    (state, clip, looping, _, _, position, turns, stop, speed, speed_after, jump, octave, signal) = v
    count, sending = state.shape[0], 0
    step, share = np.float32(1.0 / (FADE_SECONDS * rate)), SHARE
    corner = corner_of(rate)
    cos, alpha = np.float32(corner[0]), np.float32(corner[1])
    bent, risen = steps[: SHELVES * BENT], steps[SHELVES * BENT :]
    rest = mono[QUANTUM * WIDTH :]
    for q in range(quanta):
        moving = min(max(ramp, 0), QUANTUM)
        there = ramp <= QUANTUM
        part = np.float32(1.0) if there else np.float32(QUANTUM / ramp)
        a_frame = share if there else np.float32(1.0 / ramp)
        for n in range(sums.shape[0]):
            sums[n] = 0.0
        for first in range(0, count, WIDTH):
            sounding, over, fading = 0, 0, False
            for k in range(first, first + WIDTH):
                if is_sounding(k, state, jump, position, signal):
                    sounding |= 1 << (k - first)
                    fading = fading or signal[FADE, k] != 1.0 or signal[FADE_TARGET, k] != 1.0
            if sounding == 0:
                continue
            for k in range(WIDTH):
                lane, at = first + k, QUANTUM * k
                if not sounding & (1 << k):
                    for n in range(at, at + QUANTUM):
                        lanes[n] = 0.0
                    for shelf in range(SHELF, SHELF + SHELVES * SHELF_ROWS, SHELF_ROWS):
                        signal[shelf + S1, lane], signal[shelf + S2, lane] = 0.0, 0.0
                    continue
                c, loop, place = clip[lane], looping[lane] != 0, position[lane]
                base, length, stride = clip_offset[c], clip_length[c], clip_stride[c]
                old = octave[lane]
                new = copy_for(max(speed[lane], speed_after[lane]), old) if stride else 0
                if old == FRESH:
                    old = new
                octave[lane] = new
                pace, spill = speed[lane], SPILL if new > 0 else 0
                i, last = place >> 32, (place + pace * QUANTUM) >> 32
                steady = moving == QUANTUM or pace == speed_after[lane]
                if steady and old == new and i >= spill + 3 and last + 4 < length - spill:
                    start = base + new * stride
                    if sinc:
                        draw_sinc(bank, start - 3, table, place, pace, lanes, at, at + QUANTUM)
                    else:
                        draw_lines(bank, place + (start << 32), pace, lanes, at, at + QUANTUM)
                    position[lane] = place + pace * QUANTUM
                else:
                    position[lane] = read_lane(
                        bank, table, steps, base, stride, length, loop, new, sinc, place, pace,
                        speed_after[lane], lanes, at, at + moving,
                    )  # fmt: skip
                if old != new:  # from the one to the other in a quantum
                    read_lane(
                        bank, table, steps, base, stride, length, loop, old, sinc, place, pace,
                        speed_after[lane], lanes, 8 * QUANTUM, 8 * QUANTUM + moving,
                    )  # fmt: skip
                    for n in range(QUANTUM):
                        was = lanes[8 * QUANTUM + n]
                        lanes[at + n] = was + np.float32(n + 1) * share * (lanes[at + n] - was)
                # A turn less, which saves a division a quantum, but not before what the reader looks back
                # on is of this turn, too: before frame 0 there is silence.
                if loop and position[lane] >> 32 >= length + TAPS:
                    turn = ((position[lane] >> 32) - TAPS) // length * length
                    turns[lane] += turn
                    position[lane] -= turn << 32
                    if stop[lane] != FOREVER:
                        stop[lane] -= turn << 32
                if not loop and (position[lane] >> 32) > length + TAPS + (SPILL if new > 0 else 0):
                    over |= 1 << k
            for n in range(0, QUANTUM, WIDTH):
                transpose8(lanes, n, QUANTUM, mono, WIDTH * n)
            sending |= mix_eight(
                mono, rest, signal, first, count, fading, part, a_frame, cos, alpha, step, bent, risen, sums,
            )  # fmt: skip
            for k in range(WIDTH):
                lane = first + k
                if over & (1 << k):
                    state[lane] = FREE if state[lane] == ORPHAN else ENDED
                    signal[FADE, lane], signal[FADE_TARGET, lane] = 0.0, 0.0
                elif sounding & (1 << k) and position[lane] >= stop[lane]:
                    signal[FADE_TARGET, lane] = 0.0
        for n in range(QUANTUM):
            at = WIDTH * OUTS * n
            out[QUANTUM * q + n, 0] = sum8(load8(sums, at))
            out[QUANTUM * q + n, 1] = sum8(load8(sums, at + 8))
            sent[0, QUANTUM * q + n] = sum8(load8(sums, at + 16))
            sent[1, QUANTUM * q + n] = sum8(load8(sums, at + 24))
        ramp -= QUANTUM
    return sending
