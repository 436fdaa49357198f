"""What is noted while a scenario runs, for its report."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ecs_audio.components import Sources, State
from ecs_audio.perform import Census
from ecs_audio.report.ground import Ground, ground_of
from ecs_audio.scenario import Scenario, Stage
from ecs_audio.telemetry import Telemetry

INTERVAL = 0.1
"""Time between two looks at where everything is [s]."""

EAR = np.dtype([("position", "f4", 3), ("forward", "f4", 3), ("rt60", "f4", (2, 4))])
"""The listener and its room at a tick."""
SEEN = np.dtype(
    [
        ("position", "f4", 3),  # from where what is heard now was emitted [m]
        ("transmission", "f4"),  # at 5 kHz, 1 clear to 0
        ("distance", "f4"),  # [m]
        ("serial", "i4"),
        ("tier", "u1"),
        ("state", "u1"),
    ]
)
"""A source at a look."""
ECHO = np.dtype([("position", "f4", 3), ("gain", "f4"), ("delay", "f4"), ("serial", "i4")])
"""An echo at a look, as far from the listener as its sound has gone."""


class Log:
    """Records that come a few at a time, in an array that doubles when it is full."""

    def __init__(self, kind: np.dtype[Any], capacity: int) -> None:
        self._records = np.zeros(max(capacity, 1), kind)
        self._count = 0
        self.first: list[int] = [0]
        """Where each look begins; the last is the end."""

    @property
    def records(self) -> NDArray[Any]:
        """All of them, shape (records,)."""
        return self._records[: self._count]

    def take(self, count: int) -> NDArray[Any]:
        """The place for the `count` records of a new look."""
        end = self._count + count
        if end > len(self._records):
            larger = np.zeros(max(2 * len(self._records), end), self._records.dtype)
            larger[: self._count] = self.records
            self._records = larger
        self._count = end
        self.first.append(end)
        return self._records[end - count : end]


class Diary(Census):
    """A census that also notes the room at every tick and, ten times a second, where everything is."""

    def __init__(self, scenario: Scenario) -> None:
        super().__init__()
        looks = int(scenario.seconds / INTERVAL) + 2
        self.scenario = scenario
        self.ground: Ground = ground_of(scenario.world)
        """The world before the first tick, from above."""
        self.looks: list[float] = []
        """Times of the looks [s]."""
        self.ears = Log(EAR, int(scenario.seconds * scenario.tick_rate) + 2)
        """A record a tick."""
        self.sources = Log(SEEN, looks * max(len(scenario.spawns) // 2, 8))
        """Those that are somewhere, at each look."""
        self.echoes = Log(ECHO, looks * 16)
        """Those that sound, at each look."""
        self.names: dict[int, str] = {}
        """Of every source by its serial: its own, or its clip's."""
        self._due = 0.0

    def __call__(self, stage: Stage, telemetry: Telemetry) -> None:
        """Take in one tick."""
        super().__call__(stage, telemetry)
        engine, ear = stage.engine, self.ears.take(1)
        ear["position"], ear["forward"] = engine.listener.position, engine.listener.forward
        # A scale without rays has the shortest time there is, which nobody hears.
        ear["rt60"] = np.where(engine.probe.room_gain[:, None] > 0.0, engine.probe.rt60, np.nan)
        if stage.time >= self._due - 1e-9:
            self._due = stage.time + INTERVAL
            self._look(stage)

    def _look(self, stage: Stage) -> None:
        engine, s = stage.engine, stage.engine.sources
        self.looks.append(stage.time)
        self._name(stage, s)
        placed = np.flatnonzero(s.positioned)
        seen = self.sources.take(len(placed))
        is_heard = s.state[placed] != State.WAITING
        seen["position"] = np.where(is_heard[:, None], s.heard_position[placed], s.position[placed])
        for name in ("transmission", "distance", "serial", "tier", "state"):
            seen[name] = getattr(s, name)[placed]
        row, slot = np.nonzero((s.tap_delay > 0.0) & (s.tap_level > 0.0))
        echo, delay = self.echoes.take(len(row)), s.tap_delay[row, slot]
        way = delay * engine.settings.speed_of_sound
        echo["position"] = engine.listener.position + s.tap_direction[row, slot] * way[:, None]
        echo["gain"], echo["delay"], echo["serial"] = s.tap_gain[row, slot], delay, s.serial[row]

    def _name(self, stage: Stage, s: Sources) -> None:
        new = [row for row, serial in enumerate(s.serial.tolist()) if serial not in self.names]
        if new:
            clips = stage.engine.clips
            of_clip = {clips.id(name): name for name in clips.names}
            given = {source.index: name for name, source in stage.sources.items() if source.alive}
            for row in new:
                clip = int(s.clip[row])
                self.names[int(s.serial[row])] = given.get(row) or of_clip.get(clip, "stream")
