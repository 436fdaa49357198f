"""Giving voices to sources, and telling each voice where in its clip to be when."""

from __future__ import annotations

import math

import numpy as np

from ecs_audio.kernels.columns import SOUND_COLUMNS, VOICE_COLUMNS, SoundColumns, VoiceColumns
from ecs_audio.kernels.jit import F8, I8, I8_1, Array, kernel, law, part
from ecs_audio.kernels.read import ONE
from ecs_audio.kernels.shelf import corner_of, shelf_coefficients

FREE, PLAYING, ORPHAN, ENDED_LANE = 0, 1, 2, 3
WAITING, SOUNDING, VIRTUAL, REFUSED, STOLEN, ENDED = 0, 1, 2, 3, 4, 5
FASTEST = 8.0
GAP = 0.05
"""A place in the clip that even the fastest reading misses by more [s] is jumped to."""
SAME = 0.001
"""Places so near [s] are the same one, whatever jumped."""
FAR = 1 << 62  # 2^30 frames: beyond it a loop's position is counted from a later turn


@law
def fixed(frames: float) -> int:
    """Frames in 32.32 fixed point."""
    return np.int64(math.floor(frames * ONE))


@part
def weakest(v: VoiceColumns) -> int:
    """The playing lane of lowest priority, among equals the oldest; -1 if none plays."""
    found = -1
    for lane in range(v.lane.shape[0]):
        if v.lane[lane] != PLAYING:
            continue
        if (
            found < 0
            or v.priority[lane] < v.priority[found]
            or (v.priority[lane] == v.priority[found] and v.started[lane] < v.started[found])
        ):
            found = lane
    return found


@part
def free_lane(v: VoiceColumns) -> int:
    """The first free lane, -1 if there is none."""
    for lane in range(v.lane.shape[0]):
        if v.lane[lane] == FREE:
            return lane
    return -1


@part
def begin(v: VoiceColumns, lane: int, s: SoundColumns, i: int, place: float, tick: int, rate: float) -> None:
    """Let a lane play a source from a place in its clip [frames], at its targets from the first frame."""
    v.lane[lane], v.clip[lane], v.looping[lane] = PLAYING, s.clip[i], s.looping[i]
    v.priority[lane], v.started[lane] = s.priority[i], tick
    v.position[lane], v.turns[lane], v.jump[lane] = fixed(place), 0.0, 0
    v.gain[lane, 0], v.gain[lane, 1] = s.mix_gain[i, 0], s.mix_gain[i, 1]
    v.hf[lane] = math.sqrt(s.mix_hf[i])
    shelf_coefficients(v.hf[lane], corner_of(rate), v.shelf, lane)
    v.memory[lane, 0] = v.memory[lane, 1] = 0.0
    v.fade[lane] = 0.0 if s.state[i] == VIRTUAL or place > 1.0 else 1.0
    v.fade_target[lane] = 1.0


@part
def move(
    v: VoiceColumns,
    lane: int,
    length: int,
    wanted: float,
    frames: float,
    pitch: float,
    jumped: bool,
    rate: float,
) -> None:
    """Set a lane's speed so that it is at the wanted place [clip frames] in so many frames.

    A place that cannot be reached at up to 8 times the speed is jumped to: the lane falls silent,
    jumps and rises again. One that is silent already is put right at once.
    """
    if v.looping[lane] and v.position[lane] > FAR:
        turns = (v.position[lane] >> 32) // length - 2
        v.position[lane] -= (turns * length) << 32
        v.turns[lane] += turns * length
    place = v.turns[lane] + (v.position[lane] + v.jump[lane]) / ONE
    natural = wanted - pitch * frames
    jumped = jumped and abs(natural - place) > SAME * rate  # what is heard at once stays where it is
    speed = (wanted - place) / frames
    held = min(max(speed, 0.0), FASTEST)
    missed = abs(wanted - place - held * frames) > GAP * rate
    v.speed_after[lane] = fixed(pitch)
    v.speed[lane] = fixed(held)
    if v.fade[lane] == 0.0 or (place < 0.0 and (missed or jumped)):
        v.position[lane], v.turns[lane], v.jump[lane] = fixed(natural), 0.0, 0
        v.speed[lane] = v.speed_after[lane]
        if natural > 1.0:
            v.fade[lane] = 0.0
        v.fade_target[lane] = 1.0
    elif missed or jumped:
        v.jump[lane] += fixed(natural - place)
        v.speed[lane] = v.speed_after[lane]
        v.fade_target[lane] = 0.0
    elif v.jump[lane] == 0:
        v.fade_target[lane] = 1.0


@kernel(SOUND_COLUMNS, VOICE_COLUMNS, I8, I8, I8, F8, F8, F8, F8, I8_1)
def steer(
    s: SoundColumns,
    v: VoiceColumns,
    count: int,
    tick: int,
    max_voices: int,
    now: float,
    first_frame: float,
    last_frame: float,
    rate: float,
    clip_length: Array,
) -> None:
    """Give every source its voice and set what the voice shall have reached at `last_frame`.

    s, v: columns. count: living sources. max_voices: lanes that may play at once.
    now: frame of this tick. first_frame: the first one that can still be mixed. rate: [Hz].
    last_frame: end of the ramps. clip_length: frames by clip id.
    """
    playing = 0
    for lane in range(v.lane.shape[0]):
        if v.lane[lane] == PLAYING:
            playing += 1
    low = weakest(v)
    frames = max(last_frame - first_frame, 1.0)
    for i in range(count):
        lane = s.voice[i]
        pitch = s.pitch[i]
        if lane >= 0 and v.lane[lane] == ENDED_LANE:
            v.lane[lane], s.voice[i], s.state[i] = FREE, -1, ENDED
        if s.state[i] >= REFUSED:
            continue
        if lane < 0:
            if s.paused[i] or (np.isinf(s.age[i]) and s.due[i] != np.inf):
                continue  # its straight path comes first
            if s.clip[i] < 0 or s.clip[i] >= clip_length.shape[0]:
                s.state[i] = ENDED
                continue
            if not s.looping[i] and s.heard_clock[i] >= clip_length[s.clip[i]]:
                s.state[i] = ENDED
                continue
            lane = free_lane(v)
            if playing >= max_voices:
                if low < 0 or s.priority[i] <= v.priority[low] or lane < 0:
                    s.state[i] = VIRTUAL if s.looping[i] else REFUSED
                    continue
                v.lane[low], v.fade_target[low], v.jump[low] = ORPHAN, 0.0, 0
                for j in range(count):
                    if s.voice[j] == low:
                        s.voice[j], s.state[j] = -1, VIRTUAL if s.looping[j] else STOLEN
                playing -= 1
            if lane < 0:
                continue  # a fading lane is free again by the next tick
            begin(v, lane, s, i, s.heard_clock[i] + pitch * (first_frame - now), tick, rate)
            playing += 1
            s.voice[i], s.state[i] = lane, SOUNDING
            low = weakest(v)
        v.gain_target[lane, 0], v.gain_target[lane, 1] = s.mix_gain[i, 0], s.mix_gain[i, 1]
        v.hf_target[lane] = math.sqrt(s.mix_hf[i])
        if s.paused[i]:
            v.fade_target[lane] = 0.0
            continue
        wanted = s.heard_clock[i] + pitch * (last_frame - now)
        move(v, lane, clip_length[v.clip[lane]], wanted, frames, pitch, s.jumped[i] != 0, rate)
