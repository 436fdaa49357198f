"""Columns that kernels take together, as one argument."""

from __future__ import annotations

from typing import NamedTuple

from numba import types

from ecs_audio.kernels.jit import (
    F4_1,
    F4_2,
    F4_3,
    F8_1,
    F8_2,
    F8_3,
    I4_1,
    I4_2,
    I8_1,
    I8_2,
    I8_3,
    U1_1,
    U1_2,
    Array,
)


class SoundColumns(NamedTuple):
    """Columns of `Sources` that say what a source's voice shall do, at full capacity."""

    voice: Array
    state: Array
    clip: Array
    looping: Array
    positioned: Array
    priority: Array
    paused: Array
    jumped: Array
    pitch: Array
    age: Array
    due: Array
    heard_clock: Array
    pace: Array
    stop_clock: Array
    audibility: Array
    hush: Array
    mix_gain: Array
    mix_hf: Array
    send_hf: Array
    tap_delay: Array
    tap_serial: Array
    tap_clock: Array
    tap_mix_gain: Array
    tap_mix_hf: Array
    tap_voice: Array
    tap_taken: Array


SOUND_COLUMNS = types.NamedTuple(
    (
        I4_1, U1_1, I4_1, U1_1, U1_1, I4_1, U1_1, U1_1, F8_1, F8_1, F8_1, F8_1, F8_1, F8_1, F8_1, F8_1,
        F4_2, F4_1, F8_2, F8_2, I8_2, F8_2, F4_3, F4_2, I4_2, I8_2,
    ),
    SoundColumns,
)  # fmt: skip


class VoiceColumns(NamedTuple):
    """Columns of `Voices`, and its matrix `signal`."""

    lane: Array
    clip: Array
    looping: Array
    priority: Array
    started: Array
    position: Array
    turns: Array
    stop: Array
    speed: Array
    speed_after: Array
    jump: Array
    octave: Array
    signal: Array


VOICE_COLUMNS = types.NamedTuple(
    (U1_1, I4_1, U1_1, I4_1, I8_1, I8_1, F8_1, I8_1, I8_1, I8_1, I8_1, U1_1, F4_2), VoiceColumns
)


class Entries(NamedTuple):
    """Columns of `CacheEntries` that say how far each survey is."""

    state: Array
    stale: Array
    key: Array
    hash: Array
    number: Array
    surveys: Array
    evaluated: Array
    used: Array
    source: Array
    listener: Array
    origin: Array
    direction: Array
    done: Array
    couples: Array
    candidates: Array
    legs_done: Array
    loudness: Array
    sounding_plane: Array
    sounding_point: Array
    low: Array
    high: Array


ENTRIES = types.NamedTuple(
    (
        U1_1, U1_1, I8_2, I8_1, I8_1, I8_1, F8_1, F8_1, F8_2, F8_2,
        F8_3, F8_3, I8_2, U1_2, I8_1, I8_1, F8_2, I8_3, F8_3, F8_2, F8_2,
    ),
    Entries,
)  # fmt: skip


class Askers(NamedTuple):
    """Columns of `Sources` that say who wants to know its environment, at full capacity."""

    serial: Array
    event: Array
    tier: Array
    acoustics: Array
    heard_position: Array
    distance: Array
    approach: Array
    volume: Array
    law: Array
    reference: Array
    end: Array
    fade_start: Array
    loudness: Array
    full_within: Array
    looping: Array
    due: Array
    environment: Array
    survey: Array
    environment_age: Array
    environment_due: Array
    coupling: Array
    wanted_plane: Array
    wanted_point: Array


ASKERS = types.NamedTuple(
    (
        I8_1, I8_1, U1_1, U1_1, F8_2, F8_1, F8_1, F8_1, U1_1, F8_1, F8_1, F8_1, F8_1,
        F8_1, U1_1, F8_1, I4_1, I4_1, F8_1, F8_1, F8_1, I8_3, F8_3,
    ),
    Askers,
)  # fmt: skip


class BusColumns(NamedTuple):
    """Arrays of a `Bus`, as `reverberate` takes them."""

    length: Array
    rings: Array
    memory: Array
    now: Array
    target: Array
    clock: Array
    scratch: Array


BUS_COLUMNS = types.NamedTuple((I8_1, F4_2, F4_1, F4_1, F4_1, I8_1, F4_1), BusColumns)


class MasterColumns(NamedTuple):
    """Arrays of `Master`, as `mix_quanta`, `limit` and `fill_block` take them."""

    steps: Array
    lanes: Array
    mono: Array
    sums: Array
    sent: Array
    mixed: Array
    delayed: Array
    ready: Array
    needed: Array
    held: Array
    look_ahead: Array
    limiter: Array
    clock: Array


MASTER_COLUMNS = types.NamedTuple(
    (F4_1, F4_1, F4_1, F4_1, F4_2, F4_2, F4_2, F4_2, F4_1, F4_1, F4_2, F4_1, I8_1), MasterColumns
)
