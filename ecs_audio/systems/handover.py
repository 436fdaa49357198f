"""handover: what sounds goes from an engine's own tables to a render loop, and back."""

from __future__ import annotations

import numpy as np

from ecs_audio.components import Lane, Sources, Voices
from ecs_audio.components.cues import Roster

SHARED = ("take", "state", "voice", "hush", "tap_voice", "tap_taken")
"""What the loop keeps by slot, under the same names as the columns of sources."""


def take_over(sources: Sources, roster: Roster) -> int:
    """Give every source a slot and a take, and what plays it to the roster; returns takes given."""
    s, count = sources, sources.count
    s.slot[:], s.take[:] = np.arange(count), np.arange(1, count + 1)
    for name in SHARED:
        getattr(roster, name)[:count] = s.storage[name][:count]
    s.voice[:], s.tap_voice[:] = -1, -1
    return count


def give_back(sources: Sources, roster: Roster, voices: Voices) -> None:
    """Give every source its voices back; those that have none any more are silent by now, and free."""
    s = sources
    for i in range(s.count):
        slot = int(s.slot[i])
        if slot >= 0 and roster.take[slot] == s.take[i]:
            for name in SHARED:
                s.storage[name][i] = getattr(roster, name)[slot]
            roster.take[slot] = 0
    for slot in np.flatnonzero(roster.take).tolist():  # their sources went after the last cue
        for lane in (int(roster.voice[slot]), *roster.tap_voice[slot].tolist()):
            if lane >= 0:
                voices.storage["lane"][lane] = Lane.FREE
    s.slot[:], s.take[:] = -1, 0
