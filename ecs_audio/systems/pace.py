"""pace: ticks, which a host makes when it comes to it, against frames, which go by evenly or in blocks."""

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


REMEMBERED = 256
"""So many ticks in a row that all come earlier than they need to are no accident either."""
GENTLY = 8
"""What is taken back of a delay in one tick is an eighth of what has passed since the last, at most."""


class Delay:
    """By how many frames ticks are heard late, where a host renders blocks and ticks when it gets there.

    A tick speaks of a frame; with blocks of 512 and ticks of 800 frames, up to 511 more are mixed by then.
    All ticks are moved by the most that one of them was late, or each would move what it says by another
    amount, and clips would be read now faster, now slower. Where a host makes up for what it was late, the
    delay goes back, gently. Neither is audible, as clips go on at their own speed by frames. Ticks that come
    in time are never moved.
    """

    def __init__(self) -> None:
        self.frames = 0
        self._early, self._ticks, self._back = 0, 0, 0

    def move(self, frame: int, mixed: int, frames: int) -> int:
        """By how many frames the coming tick, at `frame`, lies elsewhere; never before the last one.

        mixed: frames mixed so far; what speaks of 128 before is heard. frames: since the last tick.
        """
        early = frame - (mixed - 2 * QUANTUM)
        if early < 0:
            self.frames -= early
            self._ticks = self._back = 0
            return -early
        if self.frames == 0:
            return 0
        self._early = min(self._early, early) if self._ticks else early
        self._ticks += 1
        if self._ticks == REMEMBERED:
            self._ticks, self._back = 0, min(max(self._early - 2 * QUANTUM, 0), self.frames)
        step = min(self._back, frames // GENTLY)
        self._back -= step
        self.frames -= step
        return -step
