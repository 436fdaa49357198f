"""Without a device sound goes by as fast as with one, unheard."""

from __future__ import annotations

from ecs_audio.output.ring import (
    BEGUN,
    CALLBACKS,
    DELIVERED,
    LATENCY_HIGH,
    LATENCY_LOW,
    LATENCY_SUM,
    MUTE,
    READ,
    STARVED,
    UNDERRUN_EVENTS,
    UNDERRUN_FRAMES,
    WRITTEN,
    Ring,
)

PERIOD = 0.01
"""How often to call `Silence.read` [s]."""


class Silence:
    """Reads a ring at the pace of a clock, and counts as a device does."""

    def __init__(self, ring: Ring, now: float) -> None:
        self.ring, self.began, self.last = ring, now, now
        self.asked = 0
        """Frames that were due by the last call."""
        self.owed = 0
        """Those of them that were not there because the call came late: the ring holds less than that."""

    def read(self, now: float) -> None:
        """Take what is due by now [s]. What a late call could not take is made up for in the next ones."""
        clock, late = self.ring.clock, now - self.last > 4 * PERIOD
        due = int((now - self.began) * self.ring.rate) - self.asked
        self.last, self.asked = now, self.asked + due
        fill = int(clock[WRITTEN] - clock[READ])
        if clock[CALLBACKS] == 0 or fill < clock[LATENCY_LOW]:
            clock[LATENCY_LOW] = fill
        clock[LATENCY_HIGH] = max(clock[LATENCY_HIGH], fill)
        clock[LATENCY_SUM] += fill
        clock[CALLBACKS] += 1

        taken = 0 if clock[MUTE] else min(fill, due + self.owed)
        missing = due + self.owed - taken
        self.owed = missing if late else min(missing, self.owed)
        lost = missing - self.owed  # nothing was there in time: a device would have been silent
        if clock[BEGUN] and not clock[MUTE]:
            clock[UNDERRUN_FRAMES] += lost
            clock[UNDERRUN_EVENTS] += lost > 0 and not clock[STARVED]
        clock[STARVED] = lost > 0
        clock[BEGUN] |= taken > 0
        clock[DELIVERED] += taken + lost
        clock[READ] += taken
