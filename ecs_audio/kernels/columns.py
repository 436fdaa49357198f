"""Columns that the steering and mixing kernels take together, as one argument."""

from __future__ import annotations

from typing import NamedTuple

from numba import types

from ecs_audio.kernels.jit import F4_1, F4_2, F8_1, I4_1, I8_1, U1_1, Array


class SoundColumns(NamedTuple):
    """Columns of `Sources` that say what a source's voice shall do, at full capacity."""

    voice: Array
    state: Array
    clip: Array
    looping: Array
    priority: Array
    paused: Array
    jumped: Array
    pitch: Array
    age: Array
    due: Array
    heard_clock: Array
    mix_gain: Array
    mix_hf: Array


SOUND_COLUMNS = types.NamedTuple(
    (I4_1, U1_1, I4_1, U1_1, I4_1, U1_1, U1_1, F8_1, F8_1, F8_1, F8_1, F4_2, F4_1), SoundColumns
)


class VoiceColumns(NamedTuple):
    """Columns of `Voices`."""

    lane: Array
    clip: Array
    looping: Array
    priority: Array
    started: Array
    position: Array
    turns: Array
    speed: Array
    speed_after: Array
    jump: Array
    gain: Array
    gain_target: Array
    hf: Array
    hf_target: Array
    shelf: Array
    memory: Array
    fade: Array
    fade_target: Array


VOICE_COLUMNS = types.NamedTuple(
    (
        U1_1, I4_1, U1_1, I4_1, I8_1,
        I8_1, F8_1, I8_1, I8_1, I8_1,
        F4_2, F4_2, F4_1, F4_1, F4_2, F4_2, F4_1, F4_1,
    ),
    VoiceColumns,
)  # fmt: skip
