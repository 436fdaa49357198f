"""pace: ticks, which a host makes when it comes to it, against frames, which a device takes evenly."""

from __future__ import annotations

from ecs_audio.components.master import QUANTUM

LATE_TICKS = 4
"""So many ticks in a row that come too late are no accident: their time is moved."""
HANG = 0.5
"""Nor is a single one that comes so late [s]."""
MOST = 0.1
"""A host may be ahead of the device by so much more than the slack [s]."""
EASED = 0.02
"""Share that a new lead has in the eased one."""
STEEPEST = 0.005
"""Ticks are moved by so much of their distance to put the lead right."""


class Pace:
    """How far ticks lead over what is mixed, and when their frames are moved to keep that.

    A tick is due when its frame is to be mixed. A few that come late do no harm: voices go on as they were,
    and what a tick says of them is said of frames, so that they come back to it. But a host that stood still,
    or whose seconds are not those of the device, has to be moved, or all it says is late for ever. That is
    inaudible, as clips go on at their own speed by frames.
    """

    def __init__(self, rate: int, slack: int) -> None:
        self.rate, self.slack = rate, slack
        self.lead = float(slack)
        """Frames from what is mixed to what ticks speak of, eased."""
        self.late_ticks = 0
        """Ticks so far whose frame was mixed already."""
        self._begun, self._run, self._least = False, 0, 0

    def move(self, frame: int, mixed: int, frames: int) -> int:
        """By how many frames the coming tick, at `frame`, lies elsewhere; never before the last one.

        mixed: frames mixed so far. frames: since the last tick.
        """
        lead = frame - mixed
        if not self._begun:
            self._begun = True
            return self.slack - lead if lead < -2 * QUANTUM else 0
        if lead < -2 * QUANTUM:
            self.late_ticks += 1
            self._least = min(self._least, -lead) if self._run else -lead
            self._run += 1
            if self._run < LATE_TICKS and -lead < HANG * self.rate:
                return 0
            self._run = 0
            return self._least
        self._run = 0
        if (excess := lead - self.slack - round(MOST * self.rate)) > 0:
            return -min(excess, frames)
        self.lead += EASED * (lead - self.lead)
        error = self.slack - self.lead
        if abs(error) <= 0.5 * self.slack:
            return 0
        step = min(round(STEEPEST * frames), frames)
        return step if error > 0.0 else -step
