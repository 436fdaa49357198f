"""Buses: the near and the far reverberation of a listener's room."""

from __future__ import annotations

import math

import numpy as np

from ecs_audio.components.aligned import aligned_zeros

LINES, ALL_PASSES = 8, 4
PRE_DELAY = LINES + ALL_PASSES
"""Place of the pre-delay among the delays; lines and all-passes come before it."""
QUANTUM = 64
SHORTEST_LINE = 67
"""A quantum can be taken from a line before any of it comes back [frames]."""
PRE_DELAY_SECONDS = (0.005, 0.040)
"""The mean free path over the speed of sound, within these [s]."""
LOWEST_RATE, HIGHEST_RATE = 1, 192_000
"""Above it float32 no longer holds the poles of a shelf at 250 Hz [Hz]."""
COEFFICIENTS = 16
"""Rows of 8 lines: b0, b1, b2, a1, a2 of three filters, and the factor of what goes in."""

# The order of the lines decides, with the signs of the outputs, how alike the ears are; the all-passes how
# soon echoes are dense. Both were searched for until all figures of the tests held by the widest margin.
NEAR_ORDER, NEAR_EARLY = (0, 3, 4, 7, 1, 6, 5, 2), (79, 83, 211, 223)
FAR_ORDER, FAR_EARLY = (0, 1, 5, 7, 3, 4, 2, 6), (67, 179, 211, 277)

# Places in `Bus.clock`.
WANTED, NOW, BEFORE, FADING, QUIET, AWAKE, CLOSING, CLOSES, MOVED, PLACE, OPENING = range(11)


class Bus:
    """One reverb: a pre-delay, four all-passes, and eight delay lines that feed each other.

    The arrays are what `reverberate` takes; the attributes stand in its order.
    """

    def __init__(
        self,
        rate: int,
        shortest: float,
        longest: float,
        order: tuple[int, ...] = NEAR_ORDER,
        early: tuple[int, ...] = NEAR_EARLY,
    ) -> None:
        """Make a silent bus.

        rate: [Hz]. shortest, longest: of the lines [s], and the order in which they stand. early: delays of
        the all-passes [frames at 48 kHz].
        Raises ValueError for a rate that is no whole number from 1 to 192000.
        """
        number = isinstance(rate, (int, float, np.integer)) and not isinstance(rate, bool)
        if not number or not LOWEST_RATE <= rate <= HIGHEST_RATE or rate % 1:
            raise ValueError(
                f"reverberation needs a whole rate from {LOWEST_RATE} to {HIGHEST_RATE} Hz, not {rate!r}"
            )
        rate = int(rate)
        lines = _primes([rate * shortest * (longest / shortest) ** (k / (LINES - 1)) for k in range(LINES)])
        all_passes = _primes([rate * frames / 48_000 for frames in early])
        self.rate = rate
        """[Hz]."""
        self.length = np.array([lines[k] for k in order] + all_passes, np.int64)
        """Frames of the 8 lines and of the 4 all-passes, all different."""
        longest_delay = max(lines[-1], all_passes[-1], math.ceil(rate * PRE_DELAY_SECONDS[1]))
        self.rings = aligned_zeros(len(self.length) + 1, (-(-longest_delay // QUANTUM) + 2) * QUANTUM)
        """Samples in the lines, the all-passes, and the pre-delay: the quanta of the longest, the one that is
        written, and a copy of the first."""
        self.memory = aligned_zeros(6 * LINES)
        """Two rows of 8 lines for each of three filters."""
        self.now = aligned_zeros(COEFFICIENTS * LINES)
        """Coefficients as they are: COEFFICIENTS rows of 8 lines."""
        self.target = aligned_zeros(COEFFICIENTS * LINES)
        """Coefficients as they are to be. Set by `solve_losses`."""
        self.rt60 = np.zeros(4)
        """Reverberation times that `target` was solved for [s]. Set by `play`."""
        self.clock = np.zeros(11, np.int64)
        """Pre-delay WANTED, heard NOW and BEFORE, frames left of the FADING between them; frames for which it
        has been QUIET; AWAKE or not; frames left of the CLOSING, and those it CLOSES in, 10 ms; frames for
        which filters are watched since coefficients MOVED; PLACE in the rings; frames left of the
        OPENING after it, while what is sent rises.
        The host sets WANTED by `delay` and CLOSING by `close`."""
        self.clock[CLOSES] = max(rate // 100, 1)
        self.scratch = aligned_zeros(19 * QUANTUM + 2 * COEFFICIENTS * LINES)
        """Samples of one quantum, and coefficients on their way."""
        self.guess = np.zeros((LINES, 4))
        """Three shelves and the gain of each line [dB], where the next one begins. Set by `solve_losses`."""

    @property
    def awake(self) -> bool:
        """Whether anything sounds."""
        return bool(self.clock[AWAKE])

    def delay(self, seconds: float) -> None:
        """Ask for a pre-delay, held within 5 and 40 ms; it is cross-faded over 1024 frames."""
        low, high = PRE_DELAY_SECONDS
        self.clock[WANTED] = round(self.rate * (min(seconds, high) if seconds > low else low))

    def close(self) -> None:
        """Ask for silence: what sounds is faded out within 10 ms and then forgotten.

        What is sent on meanwhile rises again in the 10 ms after that, or it would begin with a step.
        """
        if self.clock[AWAKE] and not self.clock[CLOSING]:
            self.clock[CLOSING] = self.clock[CLOSES]


class Buses:
    """The near and the far reverb: lines of 7 to 40 ms for rooms, of 7 to 80 ms for halls and canyons."""

    def __init__(self, rate: int) -> None:
        self.near = Bus(rate, 0.007, 0.040, NEAR_ORDER, NEAR_EARLY)
        """7 to 40 ms."""
        self.far = Bus(rate, 0.007, 0.080, FAR_ORDER, FAR_EARLY)
        """7 to 80 ms."""
        self.both = (self.near, self.far)
        """In the order of the probe's scales."""

    def follow(self, others: Buses) -> None:
        """Head for the same reverberation as others."""
        for bus, other in zip(self.both, others.both, strict=True):
            bus.target[:], bus.rt60[:], bus.guess[:] = other.target, other.rt60, other.guess
            bus.clock[WANTED] = other.clock[WANTED]


def _primes(wanted: list[float]) -> list[int]:
    """For each number a different prime not below it, nor below the shortest line; in ascending order."""
    found: list[int] = []
    for x in sorted(wanted):
        n = max(round(x), SHORTEST_LINE, found[-1] + 1 if found else 0)
        while any(n % k == 0 for k in range(2, math.isqrt(n) + 1)):
            n += 1
        found.append(n)
    return found
