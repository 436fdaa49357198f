"""The voice pool: which source gets a lane, who has to give one up, and who waits in silence."""

from __future__ import annotations

from ecs_audio.kernels.jit import Array, law
from ecs_audio.kernels.strip import FADE_TARGET

FREE, PLAYING, ORPHAN, OVER = 0, 1, 2, 3
WAITING, SOUNDING, VIRTUAL, REFUSED, STOLEN, ENDED = 0, 1, 2, 3, 4, 5

PATIENCE = 0.5
"""So long [s] a source has been inaudible before it gives up its voice, or louder before it takes one."""
LOUDER = 1.4125375446227544
"""3 dB: so much louder is a virtual loop than the playing one of equal priority that it replaces."""
INAUDIBLE = 1e-5
"""-100 dBFS: below it a source needs no voice; it is heard again from twice as much."""


@law
def weakest(state: Array, priority: Array, started: Array, lanes: int) -> int:
    """The playing lane of lowest priority, among equals the oldest; -1 if none plays."""
    found = -1
    for lane in range(lanes):
        if state[lane] == PLAYING and (
            found < 0
            or priority[lane] < priority[found]
            or (priority[lane] == priority[found] and started[lane] < started[found])
        ):
            found = lane
    return found


@law
def free_lane(state: Array, start: int, stop: int) -> int:
    """The first free lane from start up to stop, -1 if there is none."""
    found = -1
    for lane in range(start, stop):
        if state[lane] == FREE:
            found = lane
            break
    return found


@law
def let_go(lane: int, state: Array, jump: Array, signal: Array) -> None:
    """Let a lane fade out without its source."""
    if lane >= 0 and (state[lane] == PLAYING or state[lane] == OVER):
        state[lane] = ORPHAN if state[lane] == PLAYING else FREE
        signal[FADE_TARGET, lane] = 0.0
        jump[lane] = 0


@law
def silence_source(i: int, voice: Array, tap_voice: Array, state: Array, jump: Array, signal: Array) -> None:
    """Let the voice of source i and all its echoes fade out."""
    let_go(voice[i], state, jump, signal)
    voice[i] = -1
    for a in range(tap_voice.shape[1]):
        let_go(tap_voice[i, a], state, jump, signal)
        tap_voice[i, a] = -1


@law
def owner_of(lane: int, voice: Array, count: int) -> int:
    """The source that a lane plays, -1 for none."""
    found = -1
    for i in range(count):
        if voice[i] == lane:
            found = i
            break
    return found


@law
def quietest_loop(
    lowest: int, count: int, state: Array, looping: Array, priority: Array, voice: Array, audibility: Array
) -> int:
    """The least audible of the loops with a voice that have the lowest priority; -1 if there is none."""
    found = -1
    for i in range(count):
        if (
            voice[i] >= 0
            and state[i] == SOUNDING
            and looping[i]
            and priority[i] == lowest
            and (found < 0 or audibility[i] < audibility[found])
        ):
            found = i
    return found
