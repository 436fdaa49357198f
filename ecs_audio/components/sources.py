"""Sources: what makes sound."""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from ecs_audio.components.entries import NO_PLANE, TAPS
from ecs_audio.components.table import Column, Row, Table

HISTORY = 256
"""Past ticks that a source remembers: 4 s at 60 Hz, sound from 1400 m."""

BUNDLE = 13
"""Direct paths of a bundle: the straight one and 12 beside it."""


class Tier(IntEnum):
    """How much acoustics a source is worth."""

    FREE = 0  # air by distance; a straight path from what is left of the budget
    DIRECT = 1  # the straight path and three of the others in rotation
    FULL = 2  # the whole bundle at every turn


class State(IntEnum):
    """What became of a source's sound."""

    WAITING = 0  # not heard yet
    PLAYING = 1  # has a voice, or echoes of it are still under way
    VIRTUAL = 2  # inaudible or crowded out; it keeps its place and comes back in phase
    REFUSED = 3  # a one-shot that found no voice
    STOLEN = 4  # a one-shot that lost its voice to a higher priority
    ENDED = 5  # sounded to its end


class Law(IntEnum):
    """How amplitude falls with distance."""

    INVERSE = 0
    LINEAR = 1
    EXPONENTIAL = 2
    SOFT_INVERSE = 3


class Source(Row):
    """The row of a sound source."""


class Sources(Table[Source]):
    """Where each source is, what it plays, and how the listener should hear it."""

    row_type = Source

    entity = Column(np.int64)
    """The esper entity this row belongs to. Set by the engine."""

    serial = Column(np.int64)
    """How many sources the engine had spawned before; spreads turns evenly. Set by the engine."""

    event = Column(np.int64, default=-1)
    """Serial of a source whose environment this one shares, -1 for none. Set by the engine."""

    # What the host wants. All of it may be written at any time between ticks.
    position = Column(np.float64, 3, low=-1e9)
    """World position [m]. Set by the host."""
    volume = Column(np.float64, default=1, low=0)
    """Amplitude of the clip as played at the reference distance, linear. Set by the host."""
    pitch = Column(np.float64, default=1, low=0, high=8)
    """Clip frames per frame at rest, 1 = as recorded. Set by the host."""
    reference = Column(np.float64, default=1, low=1e-6)
    """Distance of full amplitude [m]. Set by the host."""
    end = Column(np.float64, default=512, low=1e-6)
    """Distance of silence [m]. Set by the host."""
    fade_start = Column(np.float64, default=1, low=1e-6)
    """Distance from which the law fades to silence at `end` [m]. Set by the host."""
    full_within = Column(np.float64, low=0)
    """Distance within which the source is FULL whatever its loudness [m]. Set by the host."""
    priority = Column(np.int32)
    """Only a higher one takes a voice from another. Set by the host."""
    category = Column(np.uint8)
    """Index of the user gain that applies. Set by the host."""
    law = Column(np.uint8)
    """Law. Set by the host."""
    looping = Column(np.uint8)
    """1 if the clip repeats. Set by `spawn`."""
    positioned = Column(np.uint8)
    """1 if the source is somewhere; 0 plays flat, dry and undelayed. Set by `spawn`."""
    acoustics = Column(np.uint8, default=1)
    """1 if walls and air are heard. Set by the host."""
    delayed = Column(np.uint8, default=1)
    """1 if sound takes its time to arrive. Set by the host."""
    paused = Column(np.uint8)
    """1 while the clip stands still. Set by `pause` and `resume`."""
    clip = Column(np.int32)
    """Clip id. Set by `spawn`."""
    stop_clock = Column(np.float64, default=np.inf)
    """Place in the clip from which on nothing is emitted, or decoded yet [frames]. Set by `despawn`,
    `feed`."""
    start_frame = Column(np.int64, default=-1)
    """Frame at which the clip starts, -1 for at once. Set by `spawn`, resolved by `propagate`."""

    # When and where what is heard now was emitted.
    born = Column(np.int64, default=-1)
    """Tick from which the history counts: the first one, or the last teleport or pause. Set by `propagate`,
    `resume`."""
    pitch_before = Column(np.float64)
    """Clip frames a frame since the last tick: `pitch` as it was then. Set by `propagate`."""
    clock = Column(np.float64)
    """Place in the clip that is emitted at this tick [frames], not wrapped. Set by `propagate`."""
    history = Column(np.float64, HISTORY, 5)
    """Ring of past ticks: frame, x, y, z [m], clock. Set by `propagate`."""
    emission = Column(np.float64, default=-1e300)
    """Frame at which what is heard now was emitted; never decreases. Set by `propagate`."""
    heard_position = Column(np.float64, 3)
    """Where the source was then [m]. Set by `propagate`."""
    heard_clock = Column(np.float64)
    """Place in the clip then [frames]. Set by `propagate`."""
    pace = Column(np.float64, default=1)
    """By what `heard_clock` went forward since the last tick, a frame: pitch times Doppler. Set by
    `propagate`."""
    jumped = Column(np.uint8)
    """1 if the source or the listener jumped, or `delayed` changed, so that the voice may not glide. Set by
    `propagate`."""

    # How much acoustics it is worth.
    distance = Column(np.float64)
    """From the listener to `heard_position` [m]. Set by `classify`."""
    loudness = Column(np.float64)
    """Amplitude at the listener before occlusion, linear. Set by `classify`."""
    offset = Column(np.float64, 3, default=np.nan)
    """From the listener to `heard_position` at the last tick [m]. Set by `classify`."""
    approach = Column(np.float64, default=np.inf)
    """Time to the closest approach, inf when it recedes [s]. Set by `classify`."""
    tier = Column(np.uint8)
    """Tier. Set by `classify`."""
    tier_wanted = Column(np.uint8)
    """Tier by rank alone. Set by `classify`."""
    tier_waited = Column(np.float64)
    """How long `tier_wanted` has differed from `tier` [s]. Set by `classify`."""

    # What the rays found.
    age = Column(np.float64, default=np.inf)
    """Time since the straight path was traced [s], inf before. Set by `classify`, `apply_results`."""
    due = Column(np.float64, default=-np.inf)
    """Time of the next turn [s]. Set by `ingest` and `apply_results`."""
    outdated = Column(np.float64, default=-np.inf)
    """Time of an edit or a jump, before which nothing traced holds [s]. Set by `ingest`, `classify`."""
    path = Column(np.float64, BUNDLE, default=1)
    """Transmitted amplitude at 5 kHz along each path of the bundle. Set by `apply_results`."""
    owed = Column(np.uint8)
    """Paths of the bundle to be traced before the rotation goes on. Set by `ingest`, `apply_results`."""
    turn = Column(np.uint8)
    """The bundle's next path in rotation, 0 to 11. Set by `apply_results`."""
    transmission = Column(np.float64, default=1)
    """T: amplitude at 5 kHz let through by what is between, 1 clear to 0. Set by `apply_results`."""
    gain_target = Column(np.float64, default=1)
    """Broad gain of occlusion, linear, without distance. Set by `apply_results`."""
    gain_hf_target = Column(np.float64, default=1)
    """Amplitude at 5 kHz relative to low frequencies: occlusion and air. Set by `apply_results`."""

    # What reflections found.
    environment = Column(np.int32, default=-1)
    """Row of `CacheEntries` that the values below came from, -1 for none. Set by `apply_results`."""
    survey = Column(np.int32, default=-1)
    """Row of `CacheEntries` that is waited for, -1 for none. Set by `batch_rays`."""
    environment_age = Column(np.float64, default=np.inf)
    """Time since its ends were taken [s], inf before. Set by `classify`, `apply_results`."""
    environment_due = Column(np.float64, default=-np.inf)
    """Time of the next survey [s]. Set by `ingest` and `batch_rays`."""
    coupling = Column(np.float64, default=-1)
    """Share of reflections that reach the listener, -1 if none were traced. Set by `apply_results`."""
    bearing_target = Column(np.float64, 3)
    """Unit vector from the listener to where they come from, or zero. Set by `apply_results`."""
    wanted_plane = Column(np.int64, TAPS, 2, default=NO_PLANE)
    """Mirrors of the echoes that shall sound. Set by `apply_results`."""
    wanted_point = Column(np.float64, TAPS, 3)
    """Point of an echo without a mirror [m]. Set by `apply_results`."""
    wanted_strength = Column(np.float64, TAPS)
    """Amplitude that the mirrors leave, linear. Set by `apply_results`."""
    openness = Column(np.float64, 2)
    """w: weight of the air shared with the listener, near and far, 0 to 1. Set by `apply_results`."""
    send_target = Column(np.float64, 2)
    """Amplitude into the near and the far reverb, linear. Set by `apply_results`."""
    send_hf_target = Column(np.float64, 2, default=1)
    """gain_hf of the same. Set by `apply_results`."""

    # What the mixer plays.
    gain = Column(np.float64, default=1)
    """`gain_target`, eased. Set by `smooth`."""
    gain_hf = Column(np.float64, default=1)
    """`gain_hf_target`, eased. Set by `smooth`."""
    send = Column(np.float64, 2)
    """`send_target`, eased. Set by `smooth`."""
    send_hf = Column(np.float64, 2, default=1)
    """`send_hf_target`, eased. Set by `smooth`."""
    pull = Column(np.float64)
    """How much reflections decide where the source seems to be, 0 to 1. Set by `smooth`."""
    bearing = Column(np.float64, 3)
    """`bearing_target`, eased. Set by `smooth`."""
    apparent_position = Column(np.float64, 3)
    """Where the source seems to be, at its true distance [m]. Set by `smooth`."""
    tap_count = Column(np.uint8)
    """Slots of echoes in use. Set by `smooth`."""
    tap_plane = Column(np.int64, TAPS, 2, default=NO_PLANE)
    """Mirrors of each echo that sounds. Set by `smooth`."""
    tap_point = Column(np.float64, TAPS, 3)
    """Point of an echo without a mirror [m]. Set by `smooth`."""
    tap_strength = Column(np.float64, TAPS)
    """Amplitude that its mirrors leave, linear. Set by `smooth`."""
    tap_level = Column(np.float64, TAPS)
    """Fade of each echo, 0 to 1. Set by `smooth`."""
    tap_serial = Column(np.int64, TAPS)
    """Counts up when an echo gets other mirrors. Set by `smooth`."""
    tap_delay = Column(np.float64, TAPS)
    """Time that each echo's way takes [s], 0 for none. Set by `smooth`."""
    tap_gain = Column(np.float64, TAPS)
    """Amplitude of each echo without the source's volume, linear. Set by `smooth`."""
    tap_hf = Column(np.float64, TAPS, default=1)
    """gain_hf of each echo. Set by `smooth`."""
    tap_clock = Column(np.float64, TAPS)
    """Place in the clip that each echo sounds now [frames]. Set by `smooth`."""
    tap_direction = Column(np.float64, TAPS, 3)
    """Unit vector from the listener to where each echo comes from. Set by `smooth`."""
    mix_gain = Column(np.float32, 4)
    """Amplitude of all that is known, linear: left, right, into the near and into the far reverb. Set by
    `play`."""
    mix_hf = Column(np.float32, default=1)
    """gain_hf with the head's shadow from behind. Set by `play`."""
    tap_mix_gain = Column(np.float32, TAPS, 2)
    """Amplitude of each echo left and right, linear; of a flat stereo clip, its side in the first. Set by
    `play`."""
    tap_mix_hf = Column(np.float32, TAPS, default=1)
    """gain_hf of each echo with the head's shadow. Set by `play`."""
    audibility = Column(np.float64)
    """Largest amplitude of it anywhere in the mix, linear. Set by `play`."""
    hush = Column(np.float64)
    """How long it has been inaudible, or as a virtual loop louder than one that plays [s]. Set by `play`."""
    voice = Column(np.int32, default=-1)
    """Lane that plays it, -1 for none. Set by `play`."""
    tap_voice = Column(np.int32, TAPS, default=-1)
    """Lane that plays each echo, -1 for none. Set by `play`."""
    tap_taken = Column(np.int64, TAPS)
    """`tap_serial` of the echo that this lane plays. Set by `play`."""
    state = Column(np.uint8)
    """State. Set by `play`."""
    slot = Column(np.int32, default=-1)
    """Where the render loop of live output knows it, -1 for nowhere. Set by `live`."""
    take = Column(np.int64)
    """Number of what it plays there; another take is another sound. Set by `live`."""
