"""The mix: lanes are read one by one, then muffled, placed and added up sixteen at a time."""

from __future__ import annotations

import numpy as np

from ecs_audio.kernels.adding import FRAME, mix_sixteen
from ecs_audio.kernels.columns import VOICE_COLUMNS, VoiceColumns
from ecs_audio.kernels.draw import SPILL, ask_for_next, draw
from ecs_audio.kernels.jit import F4_1, F4_2, F8, I8, I8_1, U1, Array, kernel, law
from ecs_audio.kernels.read import ONE, TAPS
from ecs_audio.kernels.shelf import corner_of
from ecs_audio.kernels.simd import (
    WIDE,
    WIDTH,
    by_turns,
    lerp16,
    plan8,
    store8,
    store16,
    sums16,
    transpose16,
    weigh8,
)
from ecs_audio.kernels.strip import (
    BENT,
    FADE,
    FADE_TARGET,
    QUANTUM,
    S1,
    S2,
    SHARE,
    SHELF,
    SHELF_ROWS,
    SHELVES,
)

FADE_SECONDS = 0.005
FREE, ORPHAN, ENDED = 0, 2, 3
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
    v: columns of `Voices`, a multiple of 16, moved on. ramp: frames until the targets are to be reached.
    steps: (34 x 16,), lanes: (17 x 64,), mono: (4 x 64 x 16,), sums: (64 x 4 x 16,) scratch.
    out: (64 x quanta or more, 2). sent: (2, 64 x quanta or more) near and far.
    """
    (state, clip, looping, _, _, position, turns, stop, speed, speed_after, jump, octave, signal) = v
    count, sending = state.shape[0], 0
    step, share = np.float32(1.0 / (FADE_SECONDS * rate)), SHARE
    corner = corner_of(rate)
    cos, alpha = np.float32(corner[0]), np.float32(corner[1])
    bent, risen = steps[: SHELVES * BENT], steps[SHELVES * BENT :]
    rest = mono[QUANTUM * WIDE :]
    for q in range(quanta):
        moving = min(max(ramp, 0), QUANTUM)
        whole, there = (moving == 0) | (moving == QUANTUM), ramp <= QUANTUM
        part = np.float32(1.0) if there else np.float32(QUANTUM / ramp)
        a_frame = share if there else np.float32(1.0 / ramp)
        for n in range(sums.shape[0]):
            sums[n] = 0.0
        for first in range(0, count, WIDE):
            sounding, over, fresh, fading = 0, 0, False, False
            for k in range(first, first + WIDE):
                if is_sounding(k, state, jump, position, signal):
                    sounding |= 1 << (k - first)
                    fresh |= octave[k] == FRESH
                    fading |= (signal[FADE, k] != 1.0) | (signal[FADE_TARGET, k] != 1.0)
            if sounding == 0:
                continue
            for k in range(WIDE):
                lane, at = first + k, QUANTUM * k
                if not sounding & (1 << k):
                    for n in range(at, at + QUANTUM):
                        lanes[n] = 0.0
                    for shelf in range(SHELF, SHELF + SHELVES * SHELF_ROWS, SHELF_ROWS):
                        signal[shelf + S1, lane], signal[shelf + S2, lane] = 0.0, 0.0
                    continue
                c = clip[lane]
                base, length, stride = clip_offset[c], clip_length[c], clip_stride[c]
                old = octave[lane]
                new = copy_for(max(speed[lane], speed_after[lane]), old) if stride else 0
                octave[lane] = new
                spill, start = SPILL if new > 0 else 0, base + new * stride
                loop, place, later = looping[lane] != 0, position[lane], speed_after[lane]
                pace = speed[lane] if moving else later
                ahead = place + pace * QUANTUM
                inside = (place >> 32 >= spill + 3) & ((ahead >> 32) + 4 < length - spill)
                changing = (old != new) & (old != FRESH)
                plain = inside & (whole | (pace == later)) & (pace != ONE if sinc else pace <= 2 * ONE)
                plain &= start + (ahead >> 32) + 2 * WIDE <= bank.shape[0]
                if plain:
                    # Nearly always; in place, as a call takes half as long as the reading.
                    if sinc:
                        for n in range(0, QUANTUM, WIDTH):
                            plan8(place + pace * n, pace, steps, lanes, at + n)
                        for n in range(at, at + QUANTUM, WIDTH):
                            store8(lanes, n, weigh8(bank, start - 3, table, steps, lanes, n))
                    else:
                        place += start << 32
                        for n in range(at, at + QUANTUM, WIDE):
                            store16(lanes, n, lerp16(bank, place, pace))
                            place += pace << 4
                for again in range(1 if plain else 0, 2 if changing else 1):
                    ahead = draw(
                        bank, table, steps, base, stride, length, loop, old if again else new, sinc,
                        position[lane], pace, later, lanes, WIDE * QUANTUM if again else at, moving,
                    )  # fmt: skip
                if changing:  # from the one to the other in a quantum
                    for n in range(QUANTUM):
                        was = lanes[WIDE * QUANTUM + n]
                        lanes[at + n] = was + np.float32(n + 1) * share * (lanes[at + n] - was)
                ask_for_next(bank, start + (ahead >> 32))
                place = position[lane] = ahead
                # A turn less, which saves a division a quantum, but not before what the reader looks back
                # on is of this turn, too: before frame 0 there is silence.
                if loop and place >> 32 >= length + TAPS:
                    turn = ((place >> 32) - TAPS) // length * length
                    turns[lane] += turn
                    position[lane] -= turn << 32
                    if stop[lane] != FOREVER:
                        stop[lane] -= turn << 32
                elif not loop and place >> 32 > length + TAPS + spill:
                    over |= 1 << k
            for n in range(0, QUANTUM, WIDE):
                transpose16(lanes, n, QUANTUM, mono, WIDE * n)
            sending |= mix_sixteen(
                mono, rest, signal, first, count, fresh, fading, part, a_frame, cos, alpha, step,
                bent, risen, sums,
            )  # fmt: skip
            for k in range(WIDE):
                lane = first + k
                if over & (1 << k):
                    state[lane] = FREE if state[lane] == ORPHAN else ENDED
                    signal[FADE, lane], signal[FADE_TARGET, lane] = 0.0, 0.0
                elif sounding & (1 << k) and position[lane] >= stop[lane]:
                    signal[FADE_TARGET, lane] = 0.0
        for n in range(0, QUANTUM, WIDTH):
            at, frame = FRAME * n, QUANTUM * q + n
            ears = by_turns(sums16(sums, at, FRAME), sums16(sums, at + 16, FRAME))
            store16(out, 2 * frame, ears)
            store8(sent, frame, sums16(sums, at + 32, FRAME))
            store8(sent, sent.shape[1] + frame, sums16(sums, at + 48, FRAME))
        ramp -= QUANTUM
    return sending
