"""Giving voices to sources, and steering the voices and their echoes."""

from __future__ import annotations

import numpy as np

from ecs_audio.kernels.columns import SOUND_COLUMNS, VOICE_COLUMNS, SoundColumns, VoiceColumns
from ecs_audio.kernels.jit import F8, I8, I8_1, U1, Array, kernel
from ecs_audio.kernels.lane import begin, follow, is_over, root_of, take_levels
from ecs_audio.kernels.pool import (
    ENDED,
    FREE,
    INAUDIBLE,
    LOUDER,
    PATIENCE,
    PLAYING,
    REFUSED,
    SOUNDING,
    STOLEN,
    VIRTUAL,
    free_lane,
    let_go,
    owner_of,
    quietest_loop,
    silence_source,
    weakest,
)
from ecs_audio.kernels.shelf import corner_of
from ecs_audio.kernels.strip import FADE, FADE_TARGET, GAIN, GAINS, HF_TARGET, SHELF, SHELF_ROWS, TARGET


@kernel(SOUND_COLUMNS, VOICE_COLUMNS, I8, I8, I8, I8, U1, F8, F8, F8, F8, F8, I8_1, I8_1)
def steer(
    s: SoundColumns,
    v: VoiceColumns,
    count: int,
    tick: int,
    max_voices: int,
    echoes: int,
    off: int,
    passed: float,
    now: float,
    first_frame: float,
    last_frame: float,
    rate: float,
    clip_length: Array,
    clip_side: Array,
) -> None:
    """Give every source its voice and set what the voice and its echoes shall have reached at `last_frame`.

    s, v: columns. count: living sources. max_voices: lanes that may play at once. echoes: the first lane
    for echoes.
    off: 1 if nothing but exact silence is inaudible. passed: since the last tick [s].
    now: frame of this tick. first_frame: the first one that can still be mixed. rate: [Hz].
    last_frame: end of the ramps. clip_length, clip_side: by clip id.
    """
    playing, lanes, order, corner = 0, v.lane.shape[0], tick << 20, corner_of(rate)
    for lane in range(echoes):
        if v.lane[lane] == PLAYING:
            playing += 1
    low = weakest(v.lane, v.priority, v.started, echoes)
    while playing > max_voices:  # fewer are allowed than before
        victim = owner_of(low, s.voice, count)
        if victim < 0:
            break
        silence_source(victim, s.voice, s.tap_voice, v.lane, v.jump, v.signal)
        s.state[victim], s.hush[victim] = VIRTUAL if s.looping[victim] else STOLEN, 0.0
        playing -= 1
        low = weakest(v.lane, v.priority, v.started, echoes)
    quiet = -1
    if playing >= max_voices and low >= 0:
        quiet = quietest_loop(v.priority[low], count, s.state, s.looping, s.priority, s.voice, s.audibility)
    frames = max(last_frame - first_frame, 1.0)
    for i in range(count):
        lane, pitch, state = s.voice[i], s.pitch[i], s.state[i]
        if lane >= 0 and is_over(lane, s.looping[i], v):
            playing -= 1 if v.lane[lane] == PLAYING else 0  # one past the end of its clip was not counted
            v.lane[lane] = FREE
            lane = s.voice[i] = -1
        elif lane < 0 and state == SOUNDING:
            pass  # only echoes are left
        elif state >= REFUSED:
            continue
        # Who is inaudible for a while gives up his voice.
        floor = 0.0 if off else (INAUDIBLE if state == SOUNDING else 2.0 * INAUDIBLE)
        audible = s.audibility[i] > floor
        if lane >= 0:
            s.hush[i] = 0.0 if audible else s.hush[i] + passed
            if s.hush[i] > PATIENCE:
                silence_source(i, s.voice, s.tap_voice, v.lane, v.jump, v.signal)
                s.state[i], lane, s.hush[i] = VIRTUAL, -1, 0.0
                playing -= 1
                low = weakest(v.lane, v.priority, v.started, echoes)
                continue
        elif state != SOUNDING:
            if s.paused[i] or (np.isinf(s.age[i]) and s.due[i] != np.inf):
                continue  # its straight path comes first
            clip = s.clip[i]
            if clip < 0 or clip >= clip_length.shape[0]:
                s.state[i] = ENDED
                continue
            if s.heard_clock[i] >= (
                s.stop_clock[i] if s.looping[i] else min(s.stop_clock[i], clip_length[clip])
            ):
                s.state[i] = ENDED
                continue
            if not audible:
                s.state[i], s.hush[i] = VIRTUAL, 0.0
                continue
            lane = free_lane(v.lane, 0, echoes)
            if playing >= max_voices:
                stealing = low >= 0 and s.priority[i] > v.priority[low]
                victim = owner_of(low, s.voice, count) if stealing else -1
                if quiet >= 0 and s.voice[quiet] < 0:
                    quiet = -1  # a higher priority took its voice at this very tick
                if not stealing and quiet >= 0 and s.looping[i] and s.priority[i] == s.priority[quiet]:
                    louder = s.audibility[i] >= LOUDER * s.audibility[quiet]
                    s.hush[i] = s.hush[i] + passed if louder and state == VIRTUAL else 0.0
                    if s.hush[i] >= PATIENCE:
                        victim, quiet = quiet, -1
                if victim < 0:
                    s.state[i] = VIRTUAL if s.looping[i] or state == VIRTUAL else REFUSED
                    continue
                if lane < 0:
                    continue  # all lanes are fading out; the next tick finds one
                silence_source(victim, s.voice, s.tap_voice, v.lane, v.jump, v.signal)
                s.state[victim], s.hush[victim] = VIRTUAL if s.looping[victim] else STOLEN, 0.0
                playing -= 1
            if lane < 0:
                continue  # a fading lane is free again by the next tick
            place = s.heard_clock[i] + pitch * (first_frame - now)
            begin(
                lane, clip, s.looping[i], clip_length[clip], s.priority[i], order, place, state == VIRTUAL, v
            )  # fmt: skip
            order += 1
            playing += 1
            s.voice[i], s.state[i], s.hush[i] = lane, SOUNDING, 0.0
            low = weakest(v.lane, v.priority, v.started, echoes)
        fresh = state != SOUNDING
        if lane >= 0:
            v.signal[SHELF + HF_TARGET, lane] = root_of(s.mix_hf[i])
            for bus in range(2):
                v.signal[SHELF + SHELF_ROWS * (1 + bus) + HF_TARGET, lane] = root_of(s.send_hf[i, bus])
            for k in range(GAINS):
                v.signal[TARGET + k, lane] = s.mix_gain[i, k]
            if fresh:
                take_levels(lane, corner, v.signal)
            if s.paused[i]:
                v.signal[FADE_TARGET, lane] = 0.0
            else:
                wanted = s.heard_clock[i] + pitch * (last_frame - now)
                s.voice[i] = follow(
                    lane, 0, echoes, clip_length, wanted, frames, pitch, s.pace[i], s.jumped[i] != 0,
                    s.stop_clock[i], order, rate, v,
                )  # fmt: skip
        # Its echoes, or the second channel of what is flat.
        flat, sounding = s.positioned[i] == 0, lane >= 0
        for a in range(s.tap_voice.shape[1]):
            clip, tap, clock = s.clip[i], s.tap_voice[i, a], s.tap_clock[i, a]
            on = s.tap_delay[i, a] > 0.0
            if flat:
                clip, clock = clip_side[clip], s.heard_clock[i]
                on = a == 0 and clip >= 0
            if tap >= 0 and is_over(tap, s.looping[i], v):
                v.lane[tap], s.tap_voice[i, a] = FREE, -1
                continue
            if tap >= 0 and not (on and s.tap_taken[i, a] == s.tap_serial[i, a]):
                let_go(tap, v.lane, v.jump, v.signal)
                tap = s.tap_voice[i, a] = -1
            if not on or (tap < 0 and (lane < 0 or s.paused[i])):
                continue
            born = tap < 0
            if born:
                tap = free_lane(v.lane, echoes, lanes)
                place = clock + pitch * (first_frame - now)
                if tap < 0 or place >= (s.stop_clock[i] if s.looping[i] else clip_length[clip]):
                    continue
                begin(
                    tap, clip, s.looping[i], clip_length[clip], s.priority[i], order, place, state ==
                    VIRTUAL, v
                )  # fmt: skip
                s.tap_voice[i, a], s.tap_taken[i, a] = tap, s.tap_serial[i, a]
            v.signal[SHELF + HF_TARGET, tap] = root_of(s.tap_mix_hf[i, a])
            v.signal[TARGET, tap], v.signal[TARGET + 1, tap] = (
                s.tap_mix_gain[i, a, 0],
                s.tap_mix_gain[i, a, 1],
            )
            for k in range(2, GAINS):
                v.signal[TARGET + k, tap] = 0.0
            if born:
                take_levels(tap, corner, v.signal)
                if not fresh:  # it rises with its level
                    v.signal[GAIN, tap] = v.signal[GAIN + 1, tap] = 0.0
                    v.signal[FADE, tap] = 1.0
            if s.paused[i]:
                v.signal[FADE_TARGET, tap] = 0.0
            else:
                s.tap_voice[i, a] = follow(
                    tap, echoes, lanes, clip_length, clock + pitch * (last_frame - now), frames, pitch, pitch,
                    s.jumped[i] != 0, s.stop_clock[i], order, rate, v,
                )  # fmt: skip
            sounding = True
        if not sounding:
            s.state[i] = ENDED
