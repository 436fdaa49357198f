"""Lanes: how one begins, and is told where in its clip to be when."""

from __future__ import annotations

import math

import numpy as np

from ecs_audio.kernels.columns import VoiceColumns
from ecs_audio.kernels.emission import FASTEST
from ecs_audio.kernels.jit import Array, law
from ecs_audio.kernels.mix import FOREVER, FRESH
from ecs_audio.kernels.pool import OVER, PLAYING, free_lane, let_go
from ecs_audio.kernels.read import ONE, TAPS
from ecs_audio.kernels.shelf import corner_of, shelf_of
from ecs_audio.kernels.strip import (
    B0,
    FADE,
    FADE_TARGET,
    GAIN,
    GAINS,
    HF,
    HF_TARGET,
    S1,
    S2,
    SHELF,
    SHELF_ROWS,
    SHELVES,
    TARGET,
    TWO,
)

STREAMING = 2
"""`looping` of a source whose clip is a ring that is still being filled."""
GAP = 0.05
"""A place in the clip that even the fastest reading misses by more [s] is jumped to."""
SAME = 0.001
"""Places so near [s] are the same one, whatever jumped."""
FARTHEST = float(1 << 30)
"""Frames that a place in 32.32 can hold."""


@law
def fixed(frames: float) -> int:
    """Frames in 32.32 fixed point."""
    return np.int64(math.floor(min(max(frames, -FARTHEST), FARTHEST) * ONE))


@law
def place_in(lane: int, frames: float, length: int, loops: bool, position: Array, turns: Array) -> None:
    """Set a lane to a place in its clip [frames]; whole turns of a loop are counted apart."""
    later = loops and frames >= length + TAPS  # the reader looks back, and before frame 0 there is silence
    turns[lane] = math.floor((frames - TAPS) / length) * length if later else 0.0
    position[lane] = fixed(frames - turns[lane])


@law
def begin(
    lane: int,
    clip: int,
    loops: int,
    length: int,
    priority: int,
    order: int,
    place: float,
    rises: bool,
    v: VoiceColumns,
) -> None:
    """Let a lane play a clip from a place [frames]; it rises if it begins in the midst of it."""
    v.lane[lane], v.clip[lane], v.looping[lane] = PLAYING, clip, loops
    v.priority[lane], v.started[lane], v.octave[lane] = priority, order, FRESH
    place_in(lane, place, length, loops != 0, v.position, v.turns)
    v.jump[lane], v.stop[lane] = 0, FOREVER
    for shelf in range(SHELF, SHELF + SHELVES * SHELF_ROWS, SHELF_ROWS):
        v.signal[shelf + S1, lane], v.signal[shelf + S2, lane] = 0.0, 0.0
    v.signal[FADE, lane] = 0.0 if rises or place > 1.0 else 1.0
    v.signal[FADE_TARGET, lane] = 1.0


DULLEST = 0.001
CLEAR = 0.9998
"""gain_hf of a shelf that is no more than a wire."""


@law
def root_of(gain_hf: float) -> float:
    """What a shelf of this gain_hf is set to: its square root, exactly 1 where nobody hears it.

    Held at 0.001 or above: below, float32 no longer holds its poles, and it blows up.
    """
    return math.sqrt(max(gain_hf, DULLEST)) if gain_hf < CLEAR else 1.0


@law
def take_levels(lane: int, corner: tuple[float, float], signal: Array) -> None:
    """Let a lane be at its targets from the first frame."""
    for k in range(GAINS):
        signal[GAIN + k, lane] = signal[TARGET + k, lane]
    for shelf in range(SHELF, SHELF + SHELVES * SHELF_ROWS, SHELF_ROWS):
        signal[shelf + HF, lane] = signal[shelf + HF_TARGET, lane]
        c = shelf_of(
            signal[shelf + HF, lane], np.float32(corner[0]), np.float32(corner[1]), np.float32(1.0), TWO
        )
        for k in range(5):
            signal[shelf + B0 + k, lane] = c[k]


@law
def move(
    lane: int,
    length: int,
    wanted: float,
    frames: float,
    pitch: float,
    pace: float,
    jumped: bool,
    rate: float,
    v: VoiceColumns,
) -> bool:
    """Set a lane's speed so that it is at the wanted place [clip frames] in so many frames.

    pace: what it went forward a frame until now, from where a lane that begins there comes.

    Returns True if it cannot be: up to 8 times the speed is not enough, or the source jumped. Then another
    lane
    has to go on there. One that is silent is put right at once.
    """
    place = v.turns[lane] + (v.position[lane] + v.jump[lane]) / ONE
    natural = wanted - pace * frames
    jumped = jumped and abs(natural - place) > SAME * rate  # what is heard at once stays where it is
    speed = (wanted - place) / frames
    held = min(max(speed, 0.0), FASTEST)
    lost = jumped or abs(wanted - place - held * frames) > GAP * rate
    v.speed_after[lane] = fixed(pitch)
    v.speed[lane] = fixed(held)
    silent = v.signal[FADE, lane] == 0.0
    if silent or (lost and place < 0.0):
        place_in(lane, natural, length, v.looping[lane] != 0, v.position, v.turns)
        v.jump[lane], v.speed[lane] = 0, fixed(pace)
        if natural > 1.0:
            v.signal[FADE, lane] = 0.0
        v.signal[FADE_TARGET, lane] = 1.0
        lost = False
    elif lost:
        v.speed[lane] = fixed(pace)
    elif v.jump[lane] == 0:
        v.signal[FADE_TARGET, lane] = 1.0
    return lost


@law
def follow(
    lane: int,
    start: int,
    stop: int,
    clip_length: Array,
    wanted: float,
    frames: float,
    pitch: float,
    pace: float,
    jumped: bool,
    emitted: float,
    order: int,
    rate: float,
    v: VoiceColumns,
) -> int:
    """Steer a lane to a place in its clip; returns the lane that plays it from now on.

    A lane that cannot get there fades out while another of start to stop rises there; without a free one it
    falls silent, jumps and rises itself. emitted: place from which on nothing was emitted [frames].
    """
    clip = v.clip[lane]
    if move(lane, clip_length[clip], wanted, frames, pitch, pace, jumped, rate, v):
        natural = wanted - pace * frames
        other = free_lane(v.lane, start, stop)
        if other < 0:
            v.jump[lane] += fixed(natural - v.turns[lane] - (v.position[lane] + v.jump[lane]) / ONE)
            v.signal[FADE_TARGET, lane] = 0.0
        else:
            begin(
                other, clip, v.looping[lane], clip_length[clip], v.priority[lane], order, natural, False, v
            )  # fmt: skip
            v.started[other] = v.started[lane]
            for shelf in range(SHELF, SHELF + SHELVES * SHELF_ROWS, SHELF_ROWS):
                v.signal[shelf + HF_TARGET, other] = v.signal[shelf + HF_TARGET, lane]
            for k in range(GAINS):
                v.signal[TARGET + k, other] = v.signal[TARGET + k, lane]
            take_levels(other, corner_of(rate), v.signal)
            v.speed[other], v.speed_after[other] = v.speed[lane], v.speed_after[lane]
            for k in range(GAINS):  # the old one fades where it was
                v.signal[TARGET + k, lane] = v.signal[GAIN + k, lane]
            for shelf in range(SHELF, SHELF + SHELVES * SHELF_ROWS, SHELF_ROWS):
                v.signal[shelf + HF_TARGET, lane] = v.signal[shelf + HF, lane]
            let_go(lane, v.lane, v.jump, v.signal)
            lane = other
    v.stop[lane] = FOREVER
    if emitted < np.inf:
        v.stop[lane] = fixed(emitted - v.turns[lane])
        if v.position[lane] >= v.stop[lane]:
            v.signal[FADE_TARGET, lane] = 0.0
    return lane


@law
def is_over(lane: int, loops: int, v: VoiceColumns) -> bool:
    """Whether a lane has sounded all of its clip, or all that was emitted; a stream may only be late."""
    silent = v.signal[FADE, lane] == 0.0 and v.position[lane] >= v.stop[lane]
    return v.lane[lane] == OVER or (silent and loops != STREAMING)
