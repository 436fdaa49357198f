"""Meters of a play: what its ticks and its speakers say, gathered for whoever looks."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from ecs_audio.perform import Census

if TYPE_CHECKING:
    from ecs_audio.output.speakers import Speakers
    from ecs_audio.scenario import Scenario, Stage
    from ecs_audio.telemetry import Telemetry

HOLD: Final = 1.5
"""How long a peak stays [s]."""
KEPT_TICKS: Final = 10_000
"""The last ticks whose rows are kept, some KiB each: a play may last for days."""


class Meters:
    """What is known of a play so far. Use it as the `watch` of `perform.play`."""

    def __init__(self, name: str, scenario: Scenario, speakers: Speakers, telemetry: Telemetry) -> None:
        self.name, self.scenario, self.speakers = name, scenario, speakers
        self.telemetry = telemetry
        """Of the last tick."""
        self.census = Census()
        self.ticks, self.time = 0, 0.0
        """Played so far, and in seconds."""
        self.tick_share, self.worst_tick = 0.0, 0.0
        """Time that a tick takes over the time that there is: of the last one, and the largest."""
        self.lowest_step, self.most_held_back = 0, ""
        """The governor's step that held back most, and what that was."""
        self.seconds_held_back = 0.0
        """Time that anything was held back [s]."""
        self.status = dict[str, Any]()
        """The speakers', as last looked at."""
        self.levels, self.held = (0.0, 0.0), [0.0, 0.0]
        """Largest sample on the left and on the right since the last look, and of the last seconds."""
        self._held_at = [0.0, 0.0]

    def __call__(self, stage: Stage, telemetry: Telemetry) -> None:
        """Take in one tick."""
        self.census(stage, telemetry)
        if len(self.census.rows) >= KEPT_TICKS + 100:
            del self.census.rows[:100]
        rate = self.scenario.tick_rate
        self.ticks, self.time = self.ticks + 1, stage.time + 1.0 / rate
        self.tick_share = 1e-6 * sum(telemetry.microseconds.values()) * rate
        self.worst_tick = max(self.worst_tick, self.tick_share)
        if telemetry.quality > 0:
            self.seconds_held_back += 1.0 / rate
        if telemetry.quality > self.lowest_step:
            self.lowest_step, self.most_held_back = telemetry.quality, telemetry.held_back

    def look(self) -> None:
        """Bring the speakers' status and the levels up to date."""
        self.status = self.speakers.status()
        now, self.levels = monotonic(), self.speakers.peaks
        for k, level in enumerate(self.levels):
            if level >= self.held[k] or now - self._held_at[k] > HOLD:
                self.held[k], self._held_at[k] = level, now
