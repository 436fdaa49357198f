"""The governor: live and under overload it lowers counts in steps, and takes the steps back in calm."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from ecs_audio.settings import Settings

TOO_MUCH = 0.8
"""Above this share of the time that there is, a tick or a block is overloaded."""
RELAXED = 0.5
"""Below this share it has time to spare."""
SMOOTHING = 0.25
"""Time constant of both shares [s]: one late tick is no overload."""
MOST = 2.0
"""A share counts no higher, or a single pause of the host would be remembered for seconds."""
PAUSE = 0.5
"""Time between two steps [s]; what a step brought is seen only after some blocks."""
PATIENCE = 5.0
"""Time that must be relaxed before a step back [s]."""
LONGEST_PATIENCE = 80.0
"""What it doubles to while steps back prove wrong [s]."""
WRONG_WITHIN = 10.0
"""A step back proves wrong if a step down follows so soon [s]."""
PROVEN_AFTER = 60.0
"""A step back that has held so long ends the doubling [s]."""
NEVER = math.nan
"""Time since something that did not happen: neither short nor long."""

FEWEST_FULL = 4
FEWEST_VOICES = 16


class Governor:
    """How much an engine does while it plays live. Step 0 is everything; each step adds to the one before.

    First there are fewer echoes, then fewer FULL sources, then fewer voices. What the settings do not
    ask for anyway is not among the steps. It has no clock of its own: `note` is told what time passes.
    """

    def __init__(self, settings: Settings) -> None:
        # All of them beforehand: a tick takes no memory.
        self._steps = [(lowered, _held_back(settings, lowered)) for lowered in _lowered(settings)]
        self.step = 0
        self._block, self._tick = 0.0, 0.0
        self._since_step, self._since_back = PAUSE, NEVER
        self._relaxed, self._patience = 0.0, PATIENCE

    @property
    def settings(self) -> Settings:
        """The settings of this step."""
        return self._steps[self.step][0]

    @property
    def held_back(self) -> str:
        """What is missing, such as "echoes 0 of 64, full sources 8 of 16"; "" at step 0."""
        return self._steps[self.step][1]

    @property
    def last_step(self) -> int:
        """The step that holds back most; 0 where nothing can be lowered."""
        return len(self._steps) - 1

    def note(self, dt: float, load: float, tick_share: float, underruns: int) -> bool:
        """Take in one tick; True if the step has changed.

        dt: seconds since the last call. load: time to render a block over its length. tick_share: time
        the tick took over dt. underruns: since the last call; a single one is an overload.
        """
        self._since_step += dt
        self._since_back += dt
        weight = 1.0 - math.exp(-dt / SMOOTHING)
        self._block += weight * (min(MOST, load) - self._block)
        self._tick += weight * (min(MOST, tick_share) - self._tick)
        share = max(self._block, self._tick)
        if self._since_back >= PROVEN_AFTER:
            self._patience = PATIENCE
        if share > TOO_MUCH or underruns:
            self._relaxed = 0.0
            return self._step_down()
        self._relaxed = self._relaxed + dt if share < RELAXED else 0.0
        return self._step_back()

    def _step_down(self) -> bool:
        if self.step == self.last_step or self._since_step < PAUSE:
            return False
        if self._since_back <= WRONG_WITHIN:
            self._patience = min(2.0 * self._patience, LONGEST_PATIENCE)
        self.step += 1
        self._since_step, self._since_back = 0.0, NEVER
        return True

    def _step_back(self) -> bool:
        if self.step == 0 or self._relaxed < self._patience:
            return False
        self.step -= 1
        self._relaxed, self._since_step, self._since_back = 0.0, 0.0, 0.0
        return True


def _lowered(settings: Settings) -> Iterator[Settings]:
    """The settings of every step, the first as they are."""
    yield settings
    if settings.reflects and settings.echoes:
        for count in _below(settings.max_taps, 0):
            settings = replace(settings, max_taps=count)
            yield settings
    if settings.acoustics != "off":
        for count in _below(settings.full_count, FEWEST_FULL):
            settings = replace(settings, full_count=count)
            yield settings
    for count in _below(settings.max_voices, FEWEST_VOICES)[:2]:
        settings = replace(settings, max_voices=count)
        yield settings


def _below(count: int, least: int) -> list[int]:
    """A half, a quarter and the least of a count, falling; none where it is no more than the least."""
    parts = {max(part, least) for part in (count // 2, count // 4, least)}
    return sorted((part for part in parts if part < count), reverse=True)


def _held_back(whole: Settings, lowered: Settings) -> str:
    counts = [("echoes", "max_taps"), ("full sources", "full_count"), ("voices", "max_voices")]
    pairs = [(what, getattr(lowered, name), getattr(whole, name)) for what, name in counts]
    return ", ".join(f"{what} {now} of {most}" for what, now, most in pairs if now < most)
